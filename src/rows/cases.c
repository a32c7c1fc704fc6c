/* Judging at small odd sizes. In: a task, a program. Out: a verdict.
 *
 * Sizes are drawn so that no tensor has more than ROWS_ELEMENTS elements. A size that the program
 * fixes stays as it is in the task. */
#include "rows/rows_int.h"

#include "craft/craft.h"
#include "ir/prove.h"
#include "lower/lower.h"
#include <math.h>

enum {
    TRIES = 24,
    LARGE = 4,
    STEPS = 1000000, /* of the interpreter for a case: a right program takes some ten thousand */
    SHORT_MOST = 1 << 17,
};

const RowsSizes rows_sizes = {ROWS_ELEMENTS, ROWS_ELEMENTS, SHORT_MOST};
const RowsSizes rows_sizes_brief = {ROWS_ELEMENTS / 4, ROWS_ELEMENTS / 2, SHORT_MOST / 4};

static const IrProgram *read_program(Arena *arena, Str craft, Diag *diag)
{
    CraftFile *file = craft_read(arena, "kernel.craft", craft, diag);
    return file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
}

/* ---- sizes ---- */

static bool is_small(const Graph *g, int64_t most)
{
    for (ValueId i = 0; i < g->values.len; i++) {
        int64_t n;
        if (!shape_count(graph_value(g, i)->shape, &n) || n > most || n < 1)
            return false;
    }
    return true;
}

/* At most `most`, or 1. */
static int64_t odd_size(Dice *dice, int64_t most)
{
    static const int64_t odd[] = {1,  3,  5,  7,  9,   11,  13,  15,  17,  19,
                                  31, 33, 37, 63, 65,  67,  97,  127, 129, 133,
                                  3,  5,  7,  9,  255, 257, 511, 777, 999, 1025};
    int64_t size;
    do
        size = odd[dice_below(dice, 30)];
    while (size > most && size > 1);
    return size;
}

/* The task at other sizes than its own where its program does not fix them; their product is at most `most`, or 1. */
static const TorchTask *read_at(Arena *arena, const RowsTask *task, int64_t most, Dice *dice)
{
    TorchSet sets[ROWS_KNOBS];
    uint32_t n = 0, knobs = task->knobs.len;
    uint32_t first = knobs ? (uint32_t)dice_below(dice, knobs) : 0;
    for (uint32_t i = 0; i < knobs && n < ROWS_KNOBS; i++) {
        uint32_t knob = (first + i) % knobs;
        if (knob < ROWS_KNOBS && task->pinned >> knob & 1)
            continue;
        sets[n] = (TorchSet){task->knobs.at[knob].name, odd_size(dice, most)};
        most = most > sets[n].value ? most / sets[n].value : 1;
        n++;
    }
    return rows_read(arena, task->model, sets, n);
}

static bool is_finite(const EvalReference *ref)
{
    for (uint32_t i = 0; i < ref->graph->outputs.len; i++) {
        const Tensor *t = ref->want[i];
        for (int64_t k = 0; k < t->count; k++)
            if (!isfinite(dtype_load(t->dtype, t->at, (size_t)k)))
                return false;
    }
    return true;
}

static const char *inputs_text(Arena *arena, const Graph *g)
{
    Buf out = {0};
    for (uint32_t i = 0; i < g->inputs.len; i++) {
        const Value *v = graph_value(g, g->inputs.at[i]);
        buf_printf(&out, "%s%s %s", i ? ", " : "", v->name, dtype_name(v->dtype));
        shape_print(v->shape, &out);
    }
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* Cases are probed until one is found that trivial answers do not pass; the others follow its law. */
static bool add_case(Arena *arena, const Graph *graph, uint64_t seed, RowsCases *cases)
{
    Diag quiet = diag_make(arena, "model.py", STR(""));
    EvalReference *ref = &cases->ref[cases->n];
    bool ok = cases->telling ? eval_reference_strewn(arena, graph, seed, RULE_ACRAFT, &cases->law,
                                                     NULL, ref, &quiet)
                             : eval_reference(arena, graph, seed, RULE_ACRAFT, ref, &quiet);
    if (!ok)
        return false;
    if (!cases->telling) {
        cases->telling = !(ref->probe.left & PROBE_TRIVIAL);
        cases->law = ref->probe.law;
    }
    cases->inputs[cases->n++] = inputs_text(arena, graph);
    return is_finite(ref);
}

/* Elements that a tensor of the next case may have: more where tries with fewer found no four cases. */
static int64_t most_elements(const RowsSizes *sizes, int tries)
{
    return tries < TRIES / 3   ? sizes->cases
           : tries < TRIES / 2 ? ROWS_ELEMENTS
                               : LARGE * ROWS_ELEMENTS;
}

bool rows_cases(Arena *arena, const RowsTask *task, Str craft, const NpuChip *chip,
                const RowsSizes *sizes, Dice *dice, RowsCases *cases)
{
    Diag quiet = diag_make(arena, "kernel.craft", craft);
    const IrProgram *p = read_program(arena, craft, &quiet);
    *cases = (RowsCases){0};
    if (!p)
        return false;
    static const int smaller[ROWS_CASES] = {2, 4, 2, 0}; /* one case of full size */
    bool several = task->family > FAMILY_MIXED; /* no tensor has all axes of a product: any sizes */
    int halves = 0; /* of the sizes' product, after sizes that were too large */
    for (int i = 0; i < TRIES && cases->n < ROWS_CASES; i++) {
        bool last = i >= TRIES - LARGE; /* at last the task's own sizes */
        bool any = several && i < TRIES / 2;
        int64_t product = any ? INT64_MAX : sizes->cases >> (smaller[cases->n] + halves);
        const TorchTask *t = last ? task->read : read_at(arena, task, product, dice);
        bool small = t && is_small(t->graph, most_elements(sizes, i));
        halves += t && !small && !any;
        if (!small || !eval_takes(arena, p, t->graph, chip))
            continue;
        if (!add_case(arena, t->graph, dice_u64(dice) >> 1, cases))
            return false;
    }
    return cases->n == ROWS_CASES && cases->telling;
}

void rows_cases_free(RowsCases *cases)
{
    for (uint32_t i = 0; i < cases->n; i++)
        eval_reference_free(&cases->ref[i]);
    cases->n = 0;
}

const EvalReference *rows_kernel_case(const RowsCases *cases)
{
    const EvalReference *best = &cases->ref[0];
    int64_t most = 0;
    for (uint32_t i = 0; i < cases->n; i++) {
        const EvalReference *ref = &cases->ref[i];
        int64_t n = 0;
        shape_count(graph_value(ref->graph, ref->graph->outputs.at[0])->shape, &n);
        if (n > most) {
            most = n;
            best = ref;
        }
    }
    return best;
}

/* ---- verdicts ---- */

/* `p`: what `craft` is read as; NULL: `diag` says why not. */
static bool judge_case(Arena *arena, Str craft, const IrProgram *p, const EvalReference *ref,
                       const EvalConfig *config, Verdict *verdict, Diag *diag)
{
    EvalOperand *operands = NULL;
    if (!p || !eval_bind(arena, p, ref->graph, &operands, diag)) {
        const char *why = "it does not parse";
        for (uint32_t i = 0; i < diag->items.len; i++)
            if (diag->items.at[i].level == DIAG_ERROR) {
                why = diag->items.at[i].text;
                break;
            }
        verdict_fail(verdict, VERDICT_NOT_PARSED, STAGE_CHECK, why);
        return false;
    }
    EvalCraft candidate = {.file = "kernel.craft",
                           .text = craft,
                           .operands = operands,
                           .operand_count = p->operand_count};
    Diag own = diag_make(arena, "kernel.craft", craft);
    bool ok = eval_craft(arena, &candidate, ref, config, verdict, &own);
    *diag = own;
    return ok;
}

/* What the text would be refused for: slots, copies, scratch. */
static bool lowers(Arena *arena, Str craft, const NpuChip *chip, Verdict *verdict, Diag *diag)
{
    Diag own = diag_make(arena, "kernel.craft", craft);
    CraftFile *file = craft_read(arena, "kernel.craft", craft, &own);
    IrProgram *p = file && diag_ok(&own) ? craft_program(arena, file, 0, &own) : NULL;
    IrReport report;
    if (p)
        ir_prove(arena, p, chip, &report, &own);
    if (p && lower_program(arena, p, chip, LOWER_ALIGN, &own) && diag_ok(&own))
        return true;
    *diag = own;
    verdict_fail(verdict, VERDICT_NOT_PARSED, STAGE_CHECK, "it cannot be lowered");
    return false;
}

bool rows_judge(Arena *arena, Str craft, const RowsCases *cases, const NpuChip *chip, bool texts,
                Verdict *verdict, Diag *diag)
{
    EvalConfig config = {
        .chip = chip, .engine = texts ? EVAL_TWIN : EVAL_INTERP, .steps = STEPS, .trust = true};
    *diag = diag_make(arena, "kernel.craft", craft);
    const IrProgram *p = read_program(arena, craft, diag);
    for (uint32_t i = 0; i < cases->n; i++) {
        *verdict = verdict_make();
        if (i > 0)
            *diag = diag_make(arena, "kernel.craft", craft);
        verdict->inputs = cases->inputs[i];
        config.no_proofs = i > 0;
        if (!judge_case(arena, craft, p, &cases->ref[i], &config, verdict, diag) ||
            (i == 0 && !texts && !lowers(arena, craft, chip, verdict, diag)))
            return false;
    }
    return true;
}

bool rows_is_unjudged(VerdictStatus status)
{
    return status == VERDICT_UNSUPPORTED || status == VERDICT_TIMEOUT || status == VERDICT_NO_TOOL;
}

/* ---- tolerance ---- */

enum { MARGIN_TRIES = 12 };

/* The task at its own sizes, or at smaller ones that are not small. In 16 bits single elements of many
 * decide. */
static const Graph *larger_graph(Arena *arena, const RowsTask *task, const IrProgram *p,
                                 const NpuChip *chip, const RowsSizes *sizes, Dice *dice)
{
    const Graph *best = NULL;
    int64_t most = rows_is_short(task->read->graph) ? sizes->tolerance_short : sizes->tolerance;
    if (is_small(task->read->graph, most))
        return task->read->graph;
    for (int i = 0; i < MARGIN_TRIES && !best; i++) {
        const TorchTask *t = read_at(arena, task, most, dice);
        if (t && is_small(t->graph, most) && !is_small(t->graph, most / 16) &&
            eval_takes(arena, p, t->graph, chip))
            best = t->graph;
    }
    return best || !is_small(task->read->graph, SHORT_MOST) ? best : task->read->graph;
}

/* Frees the reference. */
static bool is_within_half(Arena *arena, Str craft, const IrProgram *p, EvalReference *ref,
                           const NpuChip *chip)
{
    Diag diag = diag_make(arena, "kernel.craft", craft);
    EvalConfig config = {.chip = chip, .engine = EVAL_INTERP, .trust = true, .no_proofs = true};
    Verdict verdict = verdict_make();
    bool ok = judge_case(arena, craft, p, ref, &config, &verdict, &diag) &&
              verdict.tolerance_used <= 0.5;
    eval_reference_free(ref);
    return ok;
}

bool rows_margin(Arena *arena, const RowsTask *task, Str craft, const NpuChip *chip,
                 const RowsSizes *sizes, InputLaw law, Dice *dice)
{
    Diag diag = diag_make(arena, "kernel.craft", craft);
    const IrProgram *p = read_program(arena, craft, &diag);
    const Graph *graph = p ? larger_graph(arena, task, p, chip, sizes, dice) : NULL;
    EvalReference ref;
    uint64_t seed = dice_u64(dice) >> 1;
    /* Large numbers, zeros and equal numbers where the task bears them: the judge has cases of these. */
    Strew strewn[] = {{{0}, NULL, 0}, strew_all(STREW_BIT(LARGE)), strew_all(STREW_BIT(FLAT))};
    for (int i = 0; graph && i < 3; i++) {
        bool drawn = eval_reference_strewn(arena, graph, seed, RULE_ACRAFT, &law,
                                           i ? &strewn[i] : NULL, &ref, &diag);
        if (drawn ? !is_within_half(arena, craft, p, &ref, chip) : i == 0)
            return false;
    }
    return graph != NULL;
}
