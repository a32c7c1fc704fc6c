/* The rows of one task as AscendC: a kernel for one shape, with its numbers as literals, as NPUKernelBench's
 * kernel-only form has it, and such kernels with an error that the twin finds.
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

bool rows_ascendc(Arena *arena, Str craft, const Graph *graph, const NpuChip *chip,
                  RowsKernel *kernel)
{
    Diag quiet = diag_make(arena, "kernel.craft", craft);
    CraftFile *file = craft_read(arena, "kernel.craft", craft, &quiet);
    IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    IrReport report;
    EmitTiling tiling;
    if (!p)
        return false;
    IrHostInput input = {.operands = operand_shapes(arena, p, graph, &quiet)};
    ir_prove(arena, p, chip, &report, &quiet);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &quiet);
    if (!input.operands || !lowered || !diag_ok(&quiet) ||
        !emit_tiling(arena, lowered, &input, &tiling, &quiet) || tiling.workspace)
        return false;
    EmitInput in = {.file = "kernel.craft", .fixed = &tiling};
    Buf out = {0};
    vec_push(arena, &in.variants, lowered);
    emit_kernel_text(arena, &in, &out);
    *kernel = (RowsKernel){without_comments(arena, buf_view(&out)), tiling.blocks};
    buf_free(&out);
    return true;
}

bool rows_judge_kernel(Arena *arena, Str text, const EvalReference *ref, const NpuChip *chip,
                       EvalCandidate *candidate, Verdict *verdict, Diag *diag)
{
    EvalConfig config = {.chip = chip, .engine = EVAL_TWIN, .trust = true};
    *candidate = (EvalCandidate){
        .form = FORM_NPUKB_KERNEL, .name = "kernel.cpp", .entry = "", .extracted = ""};
    vec_push(arena, &candidate->texts, ((EvalText){"kernel.cpp", text}));
    *diag = diag_make(arena, "kernel.cpp", text);
    *verdict = verdict_make();
    return eval_candidate(arena, candidate, ref, &config, verdict, diag);
}

/* ---- questions and answers ---- */

void rows_ask_kernel(const Graph *graph, const NpuChip *chip, Buf *out)
{
    buf_printf(
        out,
        "Write an AscendC kernel for this task on %s: the kernel alone, for these sizes, with "
        "its tiling as literals; all cores are launched.\n\n",
        chip->name);
    prompt_rows_graph(graph, out);
}

void rows_put_kernel(Str text, Buf *out)
{
    buf_printf(out, "<kernel_impl>\n```cpp\n%.*s```\n</kernel_impl>\n", STR_ARG(text));
}
