/* Programs of a task at points of the schedule space, and their predicted times. */
#include "rows/rows_int.h"

#include "craft/craft.h"
#include "emit/sim.h"
#include "gen/plan/boundary.h"
#include "ir/prove.h"
#include "lower/lower.h"
#include "sim/cycle.h"
#include <string.h>

static uint32_t count_lines(Str text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n;
}

/* Bytes of the buffers that the kernels declare; rows of two-dimensional ones begin at whole 32 bytes. */
static int64_t declared_bytes(const IrProgram *p)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < p->kernels.len; k++)
        for (uint32_t i = 0; i < p->kernels.at[k].buffers.len; i++) {
            const IrBuffer *b = &p->kernels.at[k].buffers.at[i];
            int64_t n = 1, rows = 1, depth = 1;
            if (b->scratch)
                continue;
            if (!ir_is_int(p, b->shape[b->rank - 1], &n) ||
                (b->rank == 2 && !ir_is_int(p, b->shape[0], &rows)) ||
                (b->depth && !ir_is_int(p, b->depth, &depth)))
                return -1;
            int64_t row = b->mask ? (n + 7) / 8 : n * (int64_t)dtype_bytes(b->dtype);
            sum += (row + 31) / 32 * 32 * rows * depth;
        }
    return sum;
}

/* A gather from a buffer of two slots: the twin finds a race in what is emitted for some of them, which the
 * interpreter cannot see. Such programs are left out until that is repaired. */
static bool gathers(const IrProgram *p)
{
    for (uint32_t i = 1; i < p->stmts.len; i++)
        if (p->stmts.at[i].kind == IR_S_OP && p->stmts.at[i].op == IR_T_GATHER)
            return true;
    return false;
}

bool rows_program(Arena *arena, const RowsTask *task, const NpuChip *chip, const PlanPoint *point,
                  RowsProgram *program)
{
    Diag quiet = diag_make(arena, "model.py", task->model);
    const Graph *graph = graph_share(arena, task->read->graph);
    PlanBuilt built;
    *program = (RowsProgram){.point = *point, .us = -1};
    if (!plan_nest_at(arena, graph, chip, point, "op", &built, &quiet) ||
        !plan_boundary(arena, graph, &built.plan, &quiet))
        return false;
    program->nest = built.nest;
    program->schedule = built.schedule;
    program->plan = built.plan;
    program->craft = built.plan.craft;
    program->lines = count_lines(program->craft);
    CraftFile *file = craft_read(arena, "kernel.craft", program->craft, &quiet);
    const IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    if (!p || program->lines > ROWS_LINES || gathers(p))
        return false;
    program->ub = declared_bytes(p);
    return true;
}

static SimRole role_of(const IrTensor *t)
{
    return t->role == IR_ROLE_OUT ? SIM_OUT : t->role == IR_ROLE_INOUT ? SIM_INOUT : SIM_IN;
}

/* The launch at the task's own sizes. */
static EmitSimLaunch launch_of(Arena *arena, const RowsProgram *program, const IrProgram *p)
{
    uint32_t n = program->plan.operands.len;
    EmitSimTensor *tensors = arena_array(arena, EmitSimTensor, n + 1);
    IrShape *shapes = arena_array(arena, IrShape, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const IrTensor *t = &p->tensors.at[i];
        Shape shape = program->plan.operands.at[i].shape;
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
    return (EmitSimLaunch){
        .host = {.operands = shapes}, .tensors = tensors, .tensor_count = n, .time_only = true};
}

/* One launch without values, straight from the lowered program: no compiler. */
static bool simulate(EmitSim *sim, const EmitSimLaunch *launch, RowsProgram *program, Diag *diag)
{
    EmitSimRun *run = emit_sim_start(sim, launch, diag);
    Sim *chip = run ? emit_sim_simulator(run, (SimConfig){.keep_going = true}) : NULL;
    bool ok = chip != NULL;
    if (chip) {
        CycleReport report;
        Cycle *cycle = cycle_open(chip);
        ok = emit_sim_feed(run, chip, NULL, NULL) == EMIT_SIM_DONE;
        if (ok)
            sim_finish(chip);
        cycle_report(cycle, &report);
        for (uint32_t i = 0; i < sim_fault_count(chip) && ok; i++)
            ok = sim_fault_row(sim_fault(chip, i)->code)->kind == SIM_KIND_WARNING;
        program->us = ok ? report.us : -1;
        memcpy(program->share, report.share, sizeof report.share);
        cycle_close(cycle);
        sim_close(chip);
    }
    if (run)
        emit_sim_stop(run);
    return ok;
}

bool rows_time(Arena *arena, const NpuChip *chip, RowsProgram *program)
{
    Diag quiet = diag_make(arena, "kernel.craft", program->craft);
    CraftFile *file = craft_read(arena, "kernel.craft", program->craft, &quiet);
    IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    IrReport report;
    EmitInput in = {.file = "kernel.craft", .source = program->craft};
    if (!p || p->operand_count != program->plan.operands.len)
        return false;
    ir_prove(arena, p, chip, &report, &quiet);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &quiet);
    if (!lowered)
        return false;
    vec_push(arena, &in.variants, lowered);
    EmitSim *sim = emit_sim_open(arena, &in, &quiet);
    EmitSimLaunch launch = launch_of(arena, program, p);
    bool ok = sim && simulate(sim, &launch, program, &quiet);
    emit_sim_close(sim);
    return ok;
}
