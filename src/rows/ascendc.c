/* The rows of one task as AscendC: a kernel for one shape, with its numbers as literals, as NPUKernelBench's
 * kernel-only form has it; a whole operator, as its full form has it; and both with an error that the twin finds.
 *
 * In: a task with a right Craft program and its cases. Out: rows. The kernel is what our lowering gives for the
 * sizes of one of the cases, so that the judge compares it at the very sizes that its question names. */
#include "rows/rows_int.h"

#include "craft/craft.h"
#include "emit/emit.h"
#include "emit/tiling.h"
#include "eval/candidate.h"
#include "gen/prompt/prompt.h"
#include "ir/prove.h"
#include "lower/lower.h"
#include <string.h>

/* ---- the text ---- */

static IrShape *operand_shapes(Arena *arena, const IrProgram *p, const Graph *graph, Diag *diag)
{
    EvalOperand *operands = NULL;
    if (!eval_bind(arena, p, graph, &operands, diag))
        return NULL;
    IrShape *shapes = arena_array(arena, IrShape, p->operand_count + 1);
    for (uint32_t i = 0; i < p->operand_count; i++) {
        shapes[i].rank = (uint32_t)operands[i].shape.rank;
        for (int k = 0; k < operands[i].shape.rank; k++)
            shapes[i].dim[k] = operands[i].shape.dim[k];
    }
    return shapes;
}

/* Without comments: they speak of Craft. */
static Str without_comments(Arena *arena, Str text)
{
    Buf out = {0};
    Str line;
    while (text.len && str_next(&text, '\n', &line))
        if (!str_starts(str_trim(line), "//"))
            buf_printf(&out, "%.*s\n", STR_ARG(line));
    Str made = str_from(buf_take(&out, arena));
    buf_free(&out);
    return made;
}

/* Lowered, with the shapes of the operands at the graph's sizes. NULL: it does not lower. */
static AscProgram *lower_craft(Arena *arena, Str craft, const Graph *graph, const NpuChip *chip,
                               IrShape **shapes)
{
    Diag quiet = diag_make(arena, "kernel.craft", craft);
    CraftFile *file = craft_read(arena, "kernel.craft", craft, &quiet);
    IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    IrReport report;
    *shapes = p ? operand_shapes(arena, p, graph, &quiet) : NULL;
    if (!*shapes)
        return NULL;
    ir_prove(arena, p, chip, &report, &quiet);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &quiet);
    return diag_ok(&quiet) ? lowered : NULL;
}

static bool put_one_kernel(Arena *arena, AscProgram *lowered, const IrShape *shapes,
                           EvalCandidate *candidate)
{
    Diag quiet = diag_make(arena, "kernel.craft", STR(""));
    IrHostInput input = {.operands = shapes};
    EmitTiling tiling;
    if (!emit_tiling(arena, lowered, &input, &tiling, &quiet) || tiling.workspace)
        return false;
    EmitInput in = {.file = "kernel.craft", .fixed = &tiling};
    Buf out = {0};
    vec_push(arena, &in.variants, lowered);
    emit_kernel_text(arena, &in, &out);
    vec_push(arena, &candidate->texts,
             ((EvalText){"kernel.cpp", without_comments(arena, buf_view(&out))}));
    buf_free(&out);
    return true;
}

/* The host file with the header that the form has no place for put in where it is included. */
static Str with_plan(Arena *arena, Str host, const EmitFiles *files)
{
    Buf out = {0};
    Str line;
    while (host.len && str_next(&host, '\n', &line)) {
        const EmitFile *plan = NULL;
        for (uint32_t i = 0; i < files->len && str_ends(line, "_plan.h\""); i++)
            if (str_ends(str_from(files->at[i].path), "_plan.h"))
                plan = &files->at[i];
        Str text = plan ? without_comments(arena, plan->text) : line, rest = text, kept;
        while (str_next(&rest, '\n', &kept))
            if (!str_is(kept, "#pragma once"))
                buf_printf(&out, "%.*s\n", STR_ARG(kept));
    }
    Str made = str_from(buf_take(&out, arena));
    buf_free(&out);
    return made;
}

/* Tiling header and host first, the kernel last. */
static bool put_operator(Arena *arena, AscProgram *lowered, EvalCandidate *candidate)
{
    Diag quiet = diag_make(arena, "kernel.craft", STR(""));
    EmitInput in = {.file = "kernel.craft"};
    EmitFiles files = {0};
    vec_push(arena, &in.variants, lowered);
    if (!emit_target(STR("project"))->emit(arena, &in, &files, &quiet))
        return false;
    for (int kernel = 0; kernel < 2; kernel++)
        for (uint32_t i = 0; i < files.len; i++) {
            Str path = str_from(files.at[i].path);
            bool source = str_ends(path, ".cpp") || str_ends(path, "_tiling.h");
            if (source && str_starts(path, kernel ? "op_kernel/" : "op_host/")) {
                Str text = without_comments(arena, files.at[i].text);
                vec_push(arena, &candidate->texts,
                         ((EvalText){files.at[i].path, with_plan(arena, text, &files)}));
            }
        }
    return candidate->texts.len == 3;
}

bool rows_ascendc(Arena *arena, Str craft, EvalForm form, const Graph *graph, const NpuChip *chip,
                  EvalCandidate *candidate)
{
    IrShape *shapes;
    AscProgram *lowered = lower_craft(arena, craft, graph, chip, &shapes);
    *candidate = (EvalCandidate){.form = form, .name = "answer", .entry = "", .extracted = ""};
    return lowered && (form == FORM_NPUKB_FULL ? put_operator(arena, lowered, candidate)
                                               : put_one_kernel(arena, lowered, shapes, candidate));
}

Str rows_kernel_text(const EvalCandidate *candidate) { return vec_last(&candidate->texts).text; }

EvalCandidate rows_with_kernel(Arena *arena, const EvalCandidate *candidate, Str kernel)
{
    EvalCandidate other = *candidate;
    other.texts.at = NULL;
    other.texts.len = other.texts.cap = 0;
    for (uint32_t i = 0; i < candidate->texts.len; i++)
        vec_push(arena, &other.texts, candidate->texts.at[i]);
    vec_last(&other.texts).text = kernel;
    return other;
}

bool rows_judge_ascendc(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                        const NpuChip *chip, Verdict *verdict, Diag *diag)
{
    EvalConfig config = {.chip = chip, .engine = EVAL_TWIN, .trust = true};
    *diag = diag_make(arena, vec_last(&candidate->texts).path, rows_kernel_text(candidate));
    *verdict = verdict_make();
    return eval_candidate(arena, candidate, ref, &config, verdict, diag);
}

/* ---- questions and answers ---- */

void rows_ask_ascendc(EvalForm form, const Graph *graph, const NpuChip *chip, Buf *out)
{
    if (form == FORM_NPUKB_FULL)
        buf_printf(out,
                   "Write an AscendC operator for this task on %s: tiling header, host and "
                   "kernel, for any sizes.\n\n",
                   chip->name);
    else
        buf_printf(
            out,
            "Write an AscendC kernel for this task on %s: the kernel alone, for these sizes, with "
            "its tiling as literals; all cores are launched.\n\n",
            chip->name);
    prompt_rows_graph(graph, out);
}

void rows_put_ascendc(const EvalCandidate *candidate, Buf *out)
{
    if (candidate->form == FORM_NPUKB_KERNEL) {
        buf_printf(out, "<kernel_impl>\n```cpp\n%.*s```\n</kernel_impl>\n",
                   STR_ARG(rows_kernel_text(candidate)));
        return;
    }
    for (uint32_t i = 0; i < candidate->texts.len; i++)
        buf_printf(out, "===== %s =====\n```cpp\n%.*s```\n", candidate->texts.at[i].path,
                   STR_ARG(candidate->texts.at[i].text));
}
