/* Programs of a task at points of the schedule space, and their predicted times. */
#include "rows/rows_int.h"

#include "craft/craft.h"
#include "emit/sim.h"
#include "gen/plan/boundary.h"
#include "gen/plan/clock.h"
#include "gen/plan/rewrite.h"
#include "ir/prove.h"
#include "lower/lower.h"
#include "sim/cycle.h"
#include <string.h>

enum { ROUND_TILE = 2048, SMALL_TILE = 256 };

static uint32_t count_lines(Str text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n;
}

/* Bytes of the buffers of UB that the kernels declare; rows of two-dimensional ones begin at whole 32 bytes. */
int64_t rows_ub_bytes(const IrProgram *p, bool with_scratch)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < p->kernels.len; k++)
        for (uint32_t i = 0; i < p->kernels.at[k].buffers.len; i++) {
            const IrBuffer *b = &p->kernels.at[k].buffers.at[i];
            int64_t n = 1, rows = 1, depth = 1;
            if (b->memory != IR_UB || (b->scratch && !with_scratch))
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

static bool has_operation(const IrProgram *p, IrTileOp op)
{
    for (uint32_t i = 1; i < p->stmts.len; i++)
        if (p->stmts.at[i].kind == IR_S_OP && p->stmts.at[i].op == op)
            return true;
    return false;
}

/* Gathers on chip: programs of the families up to MIXED have none, as brief rows never had. */
static bool is_left_out(const IrProgram *p, const RowsTask *task)
{
    return task->family <= FAMILY_MIXED && has_operation(p, IR_T_GATHER);
}

static bool has_double_buffer(const IrProgram *p)
{
    int64_t depth;
    for (uint32_t k = 0; k < p->kernels.len; k++)
        for (uint32_t i = 0; i < p->kernels.at[k].buffers.len; i++) {
            const IrBuffer *b = &p->kernels.at[k].buffers.at[i];
            if (b->depth && ir_is_int(p, b->depth, &depth) && depth > 1)
                return true;
        }
    return false;
}

/* A loop over pieces of which the last may be shorter. */
static bool has_tail(const IrProgram *p)
{
    for (uint32_t i = 1; i < p->stmts.len; i++)
        for (uint32_t k = 0; p->stmts.at[i].kind == IR_S_FOR && k < p->stmts.at[i].axis_count; k++)
            if (p->stmts.at[i].axes[k].tile)
                return true;
    return false;
}

/* What its buffers of the cube hold; a program has one of each size. */
static void note_cube(const IrProgram *p, RowsProgram *program)
{
    for (uint32_t k = 0; k < p->kernels.len; k++)
        for (uint32_t i = 0; i < p->kernels.at[k].buffers.len; i++) {
            const IrBuffer *b = &p->kernels.at[k].buffers.at[i];
            int64_t rows = 1, columns = 1;
            if (b->memory == IR_CHANNEL)
                program->cube.channels++;
            if (b->memory == IR_CHANNEL || b->memory == IR_UB || b->rank != 2 ||
                !ir_is_int(p, b->shape[0], &rows) || !ir_is_int(p, b->shape[1], &columns))
                continue;
            if (b->memory == IR_L0C && !program->cube.products++) {
                program->cube.m = rows;
                program->cube.n = columns;
            }
            if (b->memory == IR_L0A && !program->cube.k)
                program->cube.k = columns;
        }
}

/* Without the lines of reasons at its beginning. */
static Str without_reasons(Str craft)
{
    while (str_starts(craft, "#")) {
        ptrdiff_t end = str_find(craft, STR("\n"));
        if (end < 0)
            break;
        craft = str_slice(craft, (size_t)end + 1, craft.len);
    }
    return craft;
}

/* Operators without a loop nest, and one value of all elements. */
static bool has_no_nest(const Graph *graph)
{
    bool one = true;
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        if (graph->nodes.at[i].op == OP_CROSS_ENTROPY)
            return true;
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        one = one && !graph_value(graph, graph->outputs.at[i])->shape.rank;
    return one;
}

/* The planner's other strategies, if one kernel does it. There is no schedule then. */
static bool plan_otherwise(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t most,
                           RowsProgram *program, Diag *diag)
{
    Plan plan = {0};
    if (!plan_first_strategy(arena, graph, chip, most, &plan, diag) || plan.stages.len)
        return false;
    program->plan = plan;
    program->craft = without_reasons(plan.craft);
    return true;
}

/* A nest of the graph, or of the graph with losses, distances and the like rewritten into plainer operators. */
static const Graph *plan_nested(Arena *arena, const Graph *graph, const NpuChip *chip,
                                const PlanPoint *point, PlanBuilt *built)
{
    Diag quiet = diag_make(arena, "model.py", STR(""));
    const ValueId *outer;
    if (plan_nest_at(arena, graph, chip, point, "op", built, &quiet))
        return graph;
    const Graph *plain = rewrite_composites(arena, graph, &outer, &quiet);
    quiet = diag_make(arena, "model.py", STR(""));
    return plain && plan_nest_at(arena, plain, chip, point, "op", built, &quiet) ? plain : NULL;
}

static bool plan_program(Arena *arena, const RowsTask *task, const Graph *graph,
                         const NpuChip *chip, const PlanPoint *point, RowsProgram *program,
                         Diag *diag)
{
    PlanBuilt built;
    const Graph *planned = plan_nested(arena, graph, chip, point, &built);
    bool other = task->family > FAMILY_MIXED && !point->roles && point->parts != 1;
    if (!planned && other) {
        Graph *renamed = arena_new(arena, Graph);
        *renamed = *graph;
        renamed->name = "op";
        return plan_otherwise(arena, renamed, chip, point->smaller ? SMALL_TILE : 0, program, diag);
    }
    if (!planned)
        return point->rounded && has_no_nest(graph) &&
               plan_otherwise(arena, graph, chip, ROUND_TILE, program, diag);
    if (!plan_boundary(arena, planned, &built.plan, diag))
        return false;
    program->nest = built.nest;
    program->schedule = built.schedule;
    program->plan = built.plan;
    program->craft = built.plan.craft;
    return true;
}

/* Running sums, products and extremes: what they walk is not reduced. */
static bool has_scan(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        if (graph->nodes.at[i].op == OP_SCAN)
            return true;
    return false;
}

bool rows_program(Arena *arena, const RowsTask *task, const NpuChip *chip, const PlanPoint *point,
                  RowsProgram *program)
{
    Diag quiet = diag_make(arena, "model.py", task->model);
    const Graph *graph = graph_share(arena, task->read->graph);
    *program = (RowsProgram){.point = *point, .us = -1};
    if (!plan_program(arena, task, graph, chip, point, program, &quiet))
        return false;
    program->lines = count_lines(program->craft);
    quiet = diag_make(arena, "kernel.craft", program->craft);
    CraftFile *file = craft_read(arena, "kernel.craft", program->craft, &quiet);
    const IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    if (!p || program->lines > ROWS_LINES || is_left_out(p, task))
        return false;
    program->ub = rows_ub_bytes(p, false);
    program->double_buffered = has_double_buffer(p);
    program->tail = has_tail(p);
    note_cube(p, program);
    program->scans = has_scan(task->read->graph);
    return true;
}

enum { MOST_RECORDS = 1000000 }; /* instructions of a launch that is timed: under half a second */

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
    if (!p)
        return false;
    ir_prove(arena, p, chip, &report, &quiet);
    AscProgram *lowered = lower_program(arena, p, chip, LOWER_ALIGN, &quiet);
    if (!lowered)
        return false;
    vec_push(arena, &in.variants, lowered);
    EmitSim *sim = emit_sim_open(arena, &in, &quiet);
    EmitSimLaunch launch;
    bool ok = sim && clock_launch(arena, &program->plan, p, &launch);
    launch.most_records = MOST_RECORDS;
    ok = ok && simulate(sim, &launch, program, &quiet);
    emit_sim_close(sim);
    return ok;
}
