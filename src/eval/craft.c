/* A Craft program judged against a task. In: text, reference. Out: a verdict. */
#include "craft/craft.h"

#include "eval/candidate_int.h"
#include "eval/eval_int.h"
#include "graph/operand.h"
#include "ir/falsify.h"
#include "ir/host.h"
#include <string.h>

const char *eval_first_error(const EvalRun *run)
{
    for (uint32_t i = 0; i < run->diag->items.len; i++)
        if (run->diag->items.at[i].level == DIAG_ERROR)
            return run->diag->items.at[i].text;
    return "";
}

static bool fail_craft(EvalRun *run, VerdictStatus status, VerdictStage stage, const char *reason)
{
    verdict_fail(run->verdict, status, stage, reason);
    return false;
}

/* ---- the program of the right dtypes ---- */

/* Craft sees a complex tensor as pairs of f32, a last axis of 2. */
static DType dtype_in_craft(DType dtype) { return dtype == DT_C64 ? DT_F32 : dtype; }

static bool dtypes_fit(const EvalRun *run, const IrProgram *p)
{
    for (uint32_t i = 0; i < p->operand_count && i < run->candidate->operand_count; i++) {
        const Value *v = graph_value(run->ref->graph, run->candidate->operands[i].value);
        if (p->tensors.at[i].dtype != dtype_in_craft(v->dtype))
            return false;
    }
    return p->operand_count == run->candidate->operand_count;
}

static bool read_program(EvalRun *run)
{
    const EvalCraft *c = run->candidate;
    CraftFile *file = craft_read(run->arena, c->file, c->text, run->diag);
    uint32_t variants = file && diag_ok(run->diag) ? craft_variant_count(file) : 0;
    for (uint32_t v = 0; v < variants && !run->program; v++) {
        IrProgram *p = craft_program(run->arena, file, v, run->diag);
        if (p && dtypes_fit(run, p))
            run->program = p;
    }
    if (!diag_ok(run->diag))
        return fail_craft(run, VERDICT_NOT_PARSED, STAGE_CHECK, eval_first_error(run));
    if (!run->program)
        return fail_craft(run, VERDICT_NOT_PARSED, STAGE_CHECK,
                          "no variant of the program has the task's number and dtypes of operands");
    return true;
}

static bool prove(EvalRun *run)
{
    IrReport report;
    if (run->config->no_proofs)
        return true;
    ir_prove(run->arena, run->program, run->config->chip, &report, run->diag);
    ir_falsify(run->arena, run->program, run->config->chip, &report, run->diag);
    run->verdict->proved = report.count[IR_PROVED];
    run->verdict->watched = report.count[IR_WATCHED];
    if (report.count[IR_REFUSED])
        return fail_craft(run, VERDICT_NOT_PARSED, STAGE_CHECK, eval_first_error(run));
    if (report.count[IR_WATCHED] && run->config->deny_unproven)
        return fail_craft(run, VERDICT_NOT_PARSED, STAGE_CHECK, "not everything is proved");
    return true;
}

/* ---- operands ---- */

static const Tensor *given(const EvalReference *ref, ValueId value)
{
    const Graph *g = ref->graph;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == value)
            return ref->in.inputs[i];
    for (uint32_t i = 0; i < g->params.len; i++)
        if (g->params.at[i] == value)
            return ref->in.params[i];
    return NULL;
}

/* The tensor's bytes under another shape; complex numbers become pairs of f32. */
static Tensor *seen_as(Tensor *from, Shape shape)
{
    if (from->dtype != DT_C64)
        return tensor_alias(from, shape);
    Tensor *pairs = tensor_new(DT_F32, shape);
    if (pairs && pairs->count == 2 * from->count)
        memcpy(pairs->at, from->at, (size_t)pairs->count * sizeof(float));
    return pairs;
}

/* A complex result, from the pairs that a program gave. */
static Tensor *from_pairs(const EvalRun *run, uint32_t output, const Tensor *pairs)
{
    const Value *v = graph_value(run->ref->graph, run->ref->graph->outputs.at[output]);
    Tensor *t = pairs && v->dtype == DT_C64 ? tensor_new(DT_C64, v->shape) : NULL;
    if (t && pairs->count == 2 * t->count)
        memcpy(t->at, pairs->at, (size_t)pairs->count * sizeof(float));
    return t;
}

static bool make_operands(EvalRun *run)
{
    const EvalCraft *c = run->candidate;
    run->operands = arena_array(run->arena, Tensor *, c->operand_count + 1);
    for (uint32_t i = 0; i < c->operand_count; i++) {
        const EvalOperand *o = &c->operands[i];
        IrRole role = run->program->tensors.at[i].role;
        const Tensor *from = given(run->ref, o->value);
        Tensor *copy = from && role != IR_ROLE_OUT ? tensor_copy(from) : NULL;
        if (role == IR_ROLE_OUT)
            run->operands[i] = tensor_new(
                dtype_in_craft(graph_value(run->ref->graph, o->value)->dtype), o->shape);
        else if (copy)
            run->operands[i] = seen_as(copy, o->shape);
        tensor_free(copy);
        if (!run->operands[i])
            return fail_craft(run, VERDICT_NOT_PARSED, STAGE_CHECK,
                              str_format(run->arena,
                                         "operand '%s' has no value of that size in the task",
                                         run->program->tensors.at[i].name));
    }
    return true;
}

static void free_operands(EvalRun *run)
{
    for (uint32_t i = 0; run->operands && i < run->candidate->operand_count; i++)
        tensor_free(run->operands[i]);
}

/* ---- comparison ---- */

static Tensor *output_of(const EvalRun *run, ValueId value)
{
    for (uint32_t i = 0; i < run->candidate->operand_count; i++)
        if ((run->candidate->operands[i].value == value &&
             run->program->tensors.at[i].role != IR_ROLE_IN) ||
            (run->candidate->operands[i].updates && run->candidate->operands[i].result == value))
            return run->operands[i];
    return NULL;
}

static bool compare(EvalRun *run)
{
    bool ok = run->ref->graph->outputs.len > 0;
    for (uint32_t i = 0; i < run->ref->graph->outputs.len; i++) {
        Tensor *out = output_of(run, run->ref->graph->outputs.at[i]);
        Tensor *complex = from_pairs(run, i, out);
        out = complex ? complex : out;
        ok = eval_compare(run->arena, run->ref, i, out, true, run->verdict) && ok;
        tensor_free(complex);
    }
    run->verdict->correct = ok ? VERDICT_YES : VERDICT_NO;
    return ok;
}

bool eval_read_craft(EvalRun *run) { return read_program(run) && prove(run); }

bool eval_craft(Arena *arena, const EvalCraft *candidate, const EvalReference *ref,
                const EvalConfig *config, Verdict *verdict, Diag *diag)
{
    EvalRun run = {.arena = arena,
                   .candidate = candidate,
                   .ref = ref,
                   .config = config,
                   .verdict = verdict,
                   .diag = diag};
    bool ok = eval_read_craft(&run) && make_operands(&run);
    if (ok)
        verdict->bound_us = eval_bound_us(&run, candidate->operands);
    run.need = ok ? eval_needed_bytes(arena, ref->graph, candidate) : NULL;
    if (ok)
        ok = config->engine == EVAL_TWIN ? eval_run_twin(&run) : eval_run_interp(&run);
    ok = ok && compare(&run);
    if (ok && run.unread)
        verdict_fail(verdict, VERDICT_NOT_COMPUTED, STAGE_RUN, run.unread);
    ok = ok && !run.unread;
    free_operands(&run);
    return ok ? verdict_settle(verdict) : verdict->status == VERDICT_OK;
}

/* ---- a file that was not planned here ---- */

static bool next_of(const Graph *g, bool output, uint32_t *next, ValueId *value)
{
    uint32_t inputs = g->inputs.len, n = output ? g->outputs.len : inputs + g->params.len;
    if (*next == n)
        return false;
    *value = output           ? g->outputs.at[*next]
             : *next < inputs ? g->inputs.at[*next]
                              : g->params.at[*next - inputs];
    ++*next;
    return true;
}

/* A program over one axis sees the elements of a tensor in their order in memory; complex ones are
 * pairs. */
static Shape bound_shape(const Value *v, uint32_t rank)
{
    Shape shape = v->shape;
    int64_t count = 0;
    if (v->dtype == DT_C64 && shape.rank < GRAPH_MAX_RANK)
        shape.dim[shape.rank++] = 2;
    if (shape.rank == 0 && rank)
        return (Shape){.rank = 1, .dim = {1}};
    if (rank == 1 && shape.rank > 1 && shape_count(shape, &count))
        return (Shape){.rank = 1, .dim = {count}};
    return shape;
}

static bool value_named(const Graph *g, const GraphNames *names, bool output, const char *name,
                        ValueId *value)
{
    for (uint32_t i = 0; output && i < g->outputs.len; i++)
        if (strcmp(names->outputs[i], name) == 0) {
            *value = g->outputs.at[i];
            return true;
        }
    for (uint32_t i = 0; !output && i < g->inputs.len + g->params.len; i++) {
        bool input = i < g->inputs.len;
        const char *own = input ? names->inputs[i] : names->params[i - g->inputs.len];
        if (strcmp(own, name) == 0) {
            *value = input ? g->inputs.at[i] : g->params.at[i - g->inputs.len];
            return true;
        }
    }
    return false;
}

/* Every parameter that comes in (or goes out) has the name of a tensor of the task: then names count,
 * and the order does not. */
static bool all_named(const IrProgram *p, const Graph *g, const GraphNames *names, bool output)
{
    for (uint32_t i = 0; i < p->operand_count; i++) {
        ValueId value;
        if ((p->tensors.at[i].role == IR_ROLE_OUT) == output &&
            !value_named(g, names, output, p->tensors.at[i].name, &value))
            return false;
    }
    return true;
}

bool eval_bind(Arena *arena, const IrProgram *p, const Graph *graph, EvalOperand **operands,
               Diag *diag)
{
    GraphNames names = graph_names(arena, graph);
    bool by_name[2] = {all_named(p, graph, &names, false), all_named(p, graph, &names, true)};
    uint32_t next[2] = {0, 0};
    *operands = arena_array(arena, EvalOperand, p->operand_count + 1);
    for (uint32_t i = 0; i < p->operand_count; i++) {
        const IrTensor *t = &p->tensors.at[i];
        EvalOperand *o = &(*operands)[i];
        bool output = t->role == IR_ROLE_OUT;
        if (by_name[output] ? !value_named(graph, &names, output, t->name, &o->value)
                            : !next_of(graph, output, &next[output], &o->value)) {
            diag_error(diag, "V012", t->at, "'%s' has no %s in the task to stand for", t->name,
                       output ? "output" : "input");
            return false;
        }
        o->shape = bound_shape(graph_value(graph, o->value), t->rank);
        if (t->role == IR_ROLE_INOUT)
            o->updates = value_named(graph, &names, true, t->name, &o->result) ||
                         next_of(graph, true, &next[true], &o->result);
    }
    return true;
}

bool eval_has_dtypes(const IrProgram *p, const Graph *graph)
{
    Arena scratch = {0};
    Diag said = diag_make(&scratch, "", (Str){0});
    EvalOperand *operands;
    bool same = eval_bind(&scratch, p, graph, &operands, &said);
    for (uint32_t i = 0; same && i < p->operand_count; i++)
        same = p->tensors.at[i].dtype ==
               dtype_in_craft(graph_value(graph, operands[i].value)->dtype);
    arena_drop(&scratch);
    return same;
}

bool eval_takes(Arena *arena, const IrProgram *p, const Graph *graph, const NpuChip *chip)
{
    Diag said = diag_make(arena, p->file, (Str){0});
    EvalOperand *operands;
    IrShape *shapes = arena_array(arena, IrShape, p->operand_count + 1);
    IrHostRun run;
    if (!eval_bind(arena, p, graph, &operands, &said))
        return false;
    for (uint32_t i = 0; i < p->operand_count; i++) {
        shapes[i] = (IrShape){.rank = (uint32_t)operands[i].shape.rank};
        for (int d = 0; d < operands[i].shape.rank; d++)
            shapes[i].dim[d] = operands[i].shape.dim[d];
    }
    IrHostInput input = {.operands = shapes};
    return ir_host_run(arena, p, chip, &input, &run, &said);
}
