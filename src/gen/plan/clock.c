/* Timing of candidates. In: a plan. Out: microseconds of the cycle model. */
#include "gen/plan/clock.h"

#include "craft/craft.h"
#include "emit/sim.h"
#include "ir/prove.h"
#include "ir/range.h"
#include "lower/lower.h"
#include "sim/cycle.h"

#define MOST_BYTES 2.5e9      /* of operands, over all programs that are timed for a task */
#define MOST_MULTIPLIED 2.5e8 /* the same of a task with products */
#define FEW_PRODUCTS 6 /* programs that are timed for products of any size, up to MOST_RECORDS */
#define MOST_RECORDS 6000000
#define ON_CHIP 4 /* bytes that are computed for one that is copied take as long to simulate */

/* Scalars that hold values of tensors: read from memory, found in tiles, or computed from such. */
typedef struct Tainted {
    const IrProgram *p;
    bool *vars;
} Tainted;

static bool is_tainted(const Tainted *t, IrExprId id)
{
    const IrExpr *e = &t->p->exprs.at[id];
    if (e->op == IR_E_VAR)
        return t->vars[e->of.var];
    for (int k = 0; k < ir_expr_rows[e->op].arity; k++)
        if (is_tainted(t, e->arg[k]))
            return true;
    return false;
}

/* Marks the variable that the statement sets; true: it was not marked before. */
static bool taint_statement(Tainted *t, const IrStmt *s)
{
    bool found = s->kind == IR_S_GM_READ || (s->kind == IR_S_OP && s->dst.rank == 0);
    if (s->kind == IR_S_ASSIGN)
        found = is_tainted(t, s->value);
    bool fresh = found && !t->vars[s->var];
    if (found)
        t->vars[s->var] = true;
    return fresh;
}

/* Per expression: it is only made a float of, which decides nothing. */
static const bool *only_converted(Arena *arena, const IrProgram *p)
{
    bool *converted = arena_array(arena, bool, p->exprs.len + 1);
    for (uint32_t i = 1; i < p->exprs.len; i++)
        for (int k = 0; k < ir_expr_rows[p->exprs.at[i].op].arity; k++)
            converted[p->exprs.at[i].arg[k]] = true;
    for (uint32_t i = 1; i < p->exprs.len; i++)
        for (int k = 0; k < ir_expr_rows[p->exprs.at[i].op].arity; k++)
            if (!dtype_is_float(p->exprs.at[i].type))
                converted[p->exprs.at[i].arg[k]] = false;
    return converted;
}

/* Whether integers that are made of values are used as such: then a launch without values tells nothing. */
static bool values_decide(Arena *arena, const IrProgram *p)
{
    Tainted t = {p, arena_array(arena, bool, p->vars.len + 1)};
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < p->stmts.len; i++)
            again = taint_statement(&t, &p->stmts.at[i]) || again;
    }
    const bool *converted = only_converted(arena, p);
    for (uint32_t i = 0; i < p->exprs.len; i++)
        if (!dtype_is_float(p->exprs.at[i].type) && !converted[i] && is_tainted(&t, i))
            return true;
    return false;
}

static SimRole role_of(const IrTensor *t)
{
    bool writes = t->role == IR_ROLE_OUT;
    return writes && !t->upto ? SIM_OUT : writes || t->role == IR_ROLE_INOUT ? SIM_INOUT : SIM_IN;
}

bool clock_launch(Arena *arena, const Plan *plan, const IrProgram *p, EmitSimLaunch *launch)
{
    EmitSimTensor *tensors = arena_array(arena, EmitSimTensor, plan->operands.len + 1);
    IrShape *shapes = arena_array(arena, IrShape, plan->operands.len + 1);
    if (plan->operands.len != p->operand_count)
        return false;
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const IrTensor *t = &p->tensors.at[i];
        Shape shape = plan->operands.at[i].shape;
        tensors[i] = (EmitSimTensor){.name = t->name,
                                     .dtype = t->dtype,
                                     .role = role_of(t),
                                     .bytes = (uint64_t)dtype_bytes(t->dtype)};
        shapes[i].rank = (uint32_t)shape.rank;
        for (int d = 0; d < shape.rank; d++) {
            shapes[i].dim[d] = shape.dim[d];
            tensors[i].bytes *= (uint64_t)shape.dim[d];
        }
    }
    *launch = (EmitSimLaunch){.host = {.operands = shapes},
                              .tensors = tensors,
                              .tensor_count = plan->operands.len,
                              .time_only = true};
    return true;
}

/* The largest kernel's, at most. */
static int64_t ub_bytes(const AscProgram *p)
{
    int64_t most = 0;
    for (uint32_t k = 0; k < p->kernels.len; k++) {
        int64_t bytes = 0;
        for (uint32_t i = 0; i < p->kernels.at[k].buffers.len; i++) {
            const AscBuffer *b = &p->kernels.at[k].buffers.at[i];
            int64_t each = ir_interval(p->ir, p->chip, b->bytes).hi;
            int64_t slots = asc_is_queue(b->storage) ? ir_interval(p->ir, p->chip, b->depth).hi : 1;
            if (b->memory == IR_UB && each <= (int64_t)p->chip->ub && slots <= (int64_t)p->chip->ub)
                bytes += each * slots;
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

static bool cost_in(Arena *arena, const Plan *plan, const NpuChip *chip, uint64_t most,
                    ClockCost *cost)
{
    Diag diag = diag_make(arena, "plan", plan->craft);
    CraftFile *file = craft_read(arena, "plan", plan->craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    EmitInput in = {.file = "plan", .source = plan->craft};
    *cost = (ClockCost){.why = "it does not run at these sizes"};
    if (!p)
        return false;
    if (values_decide(arena, p)) {
        *cost = (ClockCost){.why = "values decide what it does", .by_values = true};
        return false;
    }
    ir_annotate(p, chip);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &diag);
    if (!lowered)
        return false;
    vec_push(arena, &in.variants, lowered);
    EmitSim *sim = emit_sim_open(arena, &in, &diag);
    EmitSimLaunch launch;
    CycleReport report;
    uint64_t records = 0;
    bool ok = sim && clock_launch(arena, plan, p, &launch);
    launch.most_records = most;
    ok = ok && emit_sim_report(sim, &launch, &report, &records, &diag);
    emit_sim_close(sim);
    if (ok)
        *cost = (ClockCost){.us = report.us,
                            .launch_us = report.launch_us,
                            .records = records,
                            .cores = report.cores,
                            .bound = npu_pipe_name(report.bound),
                            .gm_read = report.gm_read,
                            .gm_written = report.gm_written,
                            .l2_read = report.l2_hits,
                            .ub = ub_bytes(lowered)};
    return ok;
}

const char *clock_fault(Arena *arena, const Plan *plan, const NpuChip *chip)
{
    Diag diag = diag_make(arena, "plan", plan->craft);
    CraftFile *file = craft_read(arena, "plan", plan->craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    IrReport report;
    if (p && ir_prove(arena, p, chip, &report, &diag))
        lower_program(arena, p, chip, LOWER_ALIGN, &diag);
    for (uint32_t i = 0; i < diag.items.len; i++)
        if (diag.items.at[i].level == DIAG_ERROR)
            return diag.items.at[i].text;
    return p ? NULL : "it is no program";
}

bool clock_is_sound(const Plan *plan, const NpuChip *chip)
{
    Arena arena = {0};
    bool ok = !clock_fault(&arena, plan, chip);
    arena_drop(&arena);
    return ok;
}

bool clock_cost_within(const Plan *plan, const NpuChip *chip, uint64_t most, ClockCost *cost)
{
    Arena arena = {0};
    bool ok = cost_in(&arena, plan, chip, most, cost);
    arena_drop(&arena);
    return ok;
}

bool clock_cost(const Plan *plan, const NpuChip *chip, ClockCost *cost)
{
    return clock_cost_within(plan, chip, MOST_RECORDS, cost);
}

bool clock_plan(const Plan *plan, const NpuChip *chip, double *us)
{
    ClockCost cost;
    bool ok = clock_cost(plan, chip, &cost);
    if (ok)
        *us = cost.us;
    return ok;
}

static double value_bytes(const Graph *graph, ValueId id)
{
    const Value *v = graph_value(graph, id);
    int64_t count;
    return shape_count(v->shape, &count) ? (double)count * (double)dtype_bytes(v->dtype) : 0;
}

/* Every operand read or written once. */
static NpuWork operand_work(const Graph *graph)
{
    NpuWork work = {0};
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        work.read += value_bytes(graph, graph->inputs.at[i]);
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        work.written += value_bytes(graph, graph->outputs.at[i]);
    return work;
}

double clock_least(const Graph *graph, const NpuChip *chip)
{
    NpuWork work = operand_work(graph);
    return npu_attainable(chip, &work).us;
}

const char plan_untimed[] = "no program is timed";

double clock_bytes(const Graph *graph)
{
    NpuWork work = operand_work(graph);
    return work.read + work.written;
}

/* The bytes of the largest value that the graph computes. */
static double largest_bytes(const Graph *graph)
{
    double most = 0;
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Value *v = graph_value(graph, graph->nodes.at[i].out);
        int64_t bytes = 0;
        if (shape_bytes(v->shape, v->dtype, &bytes) && (double)bytes > most)
            most = (double)bytes;
    }
    return most;
}

static bool has_product(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        Op op = graph->nodes.at[i].op;
        if (op == OP_MATMUL || op == OP_LINEAR || op == OP_CONV_TAPS)
            return true;
    }
    return false;
}

uint32_t clock_budget(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->notes.len; i++)
        if (graph->notes.at[i] == plan_untimed)
            return 1;
    double operands = clock_bytes(graph), inside = largest_bytes(graph) / ON_CHIP;
    bool product = has_product(graph);
    double most = product ? MOST_MULTIPLIED : MOST_BYTES;
    double times = most / (operands > inside ? operands : inside);
    /* Tiles of the cube are large: few instructions move many bytes, and a poor choice costs much more time. */
    if (times < FEW_PRODUCTS && product)
        return FEW_PRODUCTS;
    return times < 1 ? 1 : times < CLOCK_MOST ? (uint32_t)times : CLOCK_MOST;
}

/* ---- the fastest of several ---- */

ClockBest clock_best(const Graph *graph)
{
    uint32_t budget = clock_budget(graph);
    return (ClockBest){.left = budget > 1 ? budget : 0};
}

bool clock_wants(const ClockBest *best) { return !best->found || best->left; }

void clock_offer(ClockBest *best, const Plan *plan, const NpuChip *chip)
{
    enum { SLOWER = 4 }; /* a program of so many times the records is not timed to its end */
    ClockCost cost;
    bool first = !best->found;
    if (first)
        best->plan = best->first = *plan;
    best->found = true;
    uint64_t most = best->records ? SLOWER * best->records : MOST_RECORDS;
    if (!best->left || !clock_cost_within(plan, chip, most, &cost))
        return;
    best->left--;
    if (first || best->us <= 0 || cost.us < best->us * CLOCK_GAIN) {
        best->plan = *plan;
        best->us = cost.us;
        best->records = cost.records;
    }
}

bool clock_take(const ClockBest *best, const NpuChip *chip, Plan *plan)
{
    *plan = best->plan;
    if (!best->found || clock_is_sound(plan, chip))
        return best->found;
    bool other = best->first.craft.at != best->plan.craft.at;
    *plan = best->first;
    return other && clock_is_sound(plan, chip);
}
