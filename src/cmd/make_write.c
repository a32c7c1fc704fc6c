/* The directory of a made kernel. */
#include "cmd/make.h"

#include "craft/craft.h"
#include "emit/emit.h"
#include "ir/range.h"

static bool lower_all(Arena *arena, const char *file, Str craft, const NpuChip *chip, EmitInput *in,
                      Diag *diag)
{
    CraftFile *read = craft_read(arena, file, craft, diag);
    for (uint32_t v = 0; read && v < craft_variant_count(read); v++) {
        IrProgram *p = craft_program(arena, read, v, diag);
        if (p)
            ir_annotate(p, chip);
        AscProgram *asc = p ? lower_program(arena, p, chip, LOWER_ALIGN, diag) : NULL;
        if (!asc)
            return false;
        vec_push(arena, &in->variants, asc);
    }
    return read != NULL;
}

bool make_write(Arena *arena, const char *name, Str craft, const MakeVerdicts *verdicts,
                const NpuChip *chip, const char *dir, Diag *diag)
{
    const char *file = str_format(arena, "%s.craft", name);
    const Target *target = emit_target(STR("project"));
    EmitInput in = {.file = file, .source = craft};
    EmitFiles files = {0};
    if (!target || !lower_all(arena, file, craft, chip, &in, diag) ||
        !target->emit(arena, &in, &files, diag))
        return false;
    EmitFile source = {.path = file, .text = craft};
    vec_push(arena, &files, source);
    Buf lines = {0};
    for (uint32_t i = 0; i < verdicts->len; i++) {
        verdict_to_json(verdicts->at[i], &lines);
        buf_char(&lines, '\n');
    }
    EmitFile judged = {.path = "verdicts.jsonl", .text = str_copy(arena, buf_view(&lines))};
    buf_free(&lines);
    vec_push(arena, &files, judged);
    return emit_write(arena, dir, &files, diag);
}
