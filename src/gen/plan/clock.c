/* Timing of candidates. In: a plan. Out: microseconds of the cycle model. */
#include "gen/plan/clock.h"

#include "craft/craft.h"
#include "emit/sim.h"
#include "ir/prove.h"
#include "lower/lower.h"

#define LAUNCH_US 5.0
#define MOST_BYTES 1e9 /* of operands, over all programs that are timed for a task */

/* Whether integers are read or made of values: then a launch without values tells nothing. */
static bool values_decide(const IrProgram *p)
{
    for (uint32_t i = 0; i < p->stmts.len; i++) {
        const IrStmt *s = &p->stmts.at[i];
        bool reads = s->kind == IR_S_GM_READ || (s->kind == IR_S_OP && s->dst.rank == 0);
        if (reads && !dtype_is_float(p->vars.at[s->var].type))
            return true;
    }
    for (uint32_t i = 0; i < p->exprs.len; i++) {
        const IrExpr *e = &p->exprs.at[i];
        for (int k = 0; k < ir_expr_rows[e->op].arity; k++)
            if (!dtype_is_float(e->type) && dtype_is_float(p->exprs.at[e->arg[k]].type))
                return true;
    }
    return false;
}

static SimRole role_of(const IrTensor *t)
{
    bool writes = t->role == IR_ROLE_OUT;
    return writes && !t->upto ? SIM_OUT : writes || t->role == IR_ROLE_INOUT ? SIM_INOUT : SIM_IN;
}

static bool time_launch(Arena *arena, const Plan *plan, const IrProgram *p, EmitSim *sim,
                        double *us, Diag *diag)
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
    EmitSimLaunch launch = {.host = {.operands = shapes},
                            .tensors = tensors,
                            .tensor_count = plan->operands.len,
                            .time_only = true};
    return emit_sim_us(sim, &launch, us, diag);
}

static bool time_in(Arena *arena, const Plan *plan, const NpuChip *chip, double *us)
{
    Diag diag = diag_make(arena, "plan", plan->craft);
    CraftFile *file = craft_read(arena, "plan", plan->craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    IrReport report;
    EmitInput in = {.file = "plan", .source = plan->craft};
    if (!p || values_decide(p))
        return false;
    ir_prove(arena, p, chip, &report, &diag);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &diag);
    if (!lowered)
        return false;
    vec_push(arena, &in.variants, lowered);
    EmitSim *sim = emit_sim_open(arena, &in, &diag);
    bool ok = sim && time_launch(arena, plan, p, sim, us, &diag);
    emit_sim_close(sim);
    return ok;
}

bool clock_plan(const Plan *plan, const NpuChip *chip, double *us)
{
    Arena arena = {0};
    bool ok = time_in(&arena, plan, chip, us);
    arena_drop(&arena);
    return ok;
}

static double operand_bytes(const Graph *graph)
{
    double bytes = 0;
    int64_t count;
    for (uint32_t i = 0; i < graph->inputs.len; i++) {
        const Value *v = graph_value(graph, graph->inputs.at[i]);
        bytes += shape_count(v->shape, &count) ? (double)count * (double)dtype_bytes(v->dtype) : 0;
    }
    for (uint32_t i = 0; i < graph->outputs.len; i++) {
        const Value *v = graph_value(graph, graph->outputs.at[i]);
        bytes += shape_count(v->shape, &count) ? (double)count * (double)dtype_bytes(v->dtype) : 0;
    }
    return bytes;
}

double clock_least(const Graph *graph, const NpuChip *chip)
{
    double rate = chip->gm_tbps * 1e6 * npu_constants[NPU_C_GM_REACHED].value;
    return (rate > 0 ? operand_bytes(graph) / rate : 0) + LAUNCH_US;
}

uint32_t clock_budget(const Graph *graph)
{
    double times = MOST_BYTES / operand_bytes(graph);
    return times < 1 ? 1 : times < CLOCK_MOST ? (uint32_t)times : CLOCK_MOST;
}
