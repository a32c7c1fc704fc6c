/* The operator projects that acraft run accepts. In: a directory or a Craft file. Out: its texts. */
#include "cmd/run.h"

#include "craft/craft.h"
#include "emit/emit.h"

/* The project that acraft build would write, in memory. */
static bool project_of_craft(Arena *arena, const char *path, const NpuChip *chip,
                             TwinProject *project, Diag *diag)
{
    EmitInput in = {.file = path, .lines = true};
    EmitFiles files = {0};
    EvalCandidate c = {.form = FORM_PROJECT, .name = path, .entry = "", .extracted = ""};
    if (!file_read(arena, path, 16 << 20, &in.source, diag))
        return false;
    diag->source = in.source;
    CraftFile *file = craft_read(arena, path, in.source, diag);
    for (uint32_t v = 0; file && diag_ok(diag) && v < craft_variant_count(file); v++) {
        IrProgram *ir = craft_program(arena, file, v, diag);
        AscProgram *p = ir ? lower_program(arena, ir, chip, LOWER_ALIGN, diag) : NULL;
        if (p)
            vec_push(arena, &in.variants, p);
    }
    if (!diag_ok(diag) || !in.variants.len ||
        !emit_target(STR("project"))->emit(arena, &in, &files, diag))
        return false;
    for (uint32_t i = 0; i < files.len; i++) {
        EvalText text = {files.at[i].path, files.at[i].text};
        vec_push(arena, &c.texts, text);
    }
    eval_candidate_project(arena, &c, project);
    const IrProgram *ir = in.variants.at[0]->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (ir->tensors.at[i].upto)
            vec_push(arena, &project->open, ir->tensors.at[i].name);
    return true;
}

bool run_read_project(Arena *arena, const char *path, const RunOptions *options,
                      TwinProject *project, Diag *diag)
{
    if (str_ends(str_from(path), ".craft"))
        return project_of_craft(arena, path, options->chip, project, diag);
    return twin_project_read(arena, path, project, diag);
}
