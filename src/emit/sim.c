/* Records from the lowered program; see sim.h. This file: what is made once, what a launch is,
 * and the turns of the cores. */
#include "emit/sim_int.h"

#include "base/rng.h"
#include "sim/cycle.h"
#include "sim/place.h"
#include "sim/turns.h"
#include <string.h>

/* ---- once ---- */

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

EmitSim *emit_sim_open(Arena *arena, const EmitInput *in, Diag *diag)
{
    EmitSim *sim = arena_new(arena, EmitSim);
    const AscProgram *p = in->variants.at[0];
    *sim = (EmitSim){.arena = arena, .p = p};
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        IrRole role = p->ir->tensors.at[i].role;
        if (role != IR_ROLE_IN_LIST && role != IR_ROLE_OUT_LIST)
            continue;
        diag_error(diag, "E099", (Span){0}, "tensor lists have records only through the text");
        return NULL;
    }
    sim->craft_file = esim_name(sim, in->file);
    sim->text_file = esim_name(sim, str_format(arena, "%s.cpp", p->name));
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++)
        sim->pipes[op] = (uint8_t)npu_isa(op)->pipe;
    print_lines(arena, in, &sim->lines);
    sim->kernels = arena_array(arena, SimKernel, p->kernels.len + 1);
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        SimKernel *k = &sim->kernels[i];
        if (!p->kernels.at[i].launched)
            continue;
        if (!esim_build_kernel(sim, i, diag))
            return NULL;
        sim->most_slots = larger(sim->most_slots, k->slots);
        sim->most_locals = larger(sim->most_locals, k->locals);
        sim->most_tensors = larger(sim->most_tensors, k->tensors);
        sim->most_buffers = larger(sim->most_buffers, k->buffers.len);
    }
    return sim;
}

void emit_sim_close(EmitSim *sim)
{
    EmitSimRun *run = sim ? sim->run : NULL;
    if (!run)
        return;
    for (uint32_t i = 0; i < run->core_cap; i++) {
        SimCoreRun *c = &run->cores[i];
        heap_free(c->slots);
        heap_free(c->locals);
        heap_free(c->bypass);
        heap_free(c->queues);
        heap_free(c->out);
    }
    heap_free(run->cores);
    arena_drop(&run->arena);
    heap_free(run);
    sim->run = NULL;
}

/* ---- a launch ---- */

/* The fields of the tiling struct, as emit_tiling laid them out. */
static SimValue field_value(const AscProgram *p, Str bytes, uint32_t field)
{
    size_t at = 0;
    SimValue v = {.i = 0};
    for (uint32_t i = 0; i <= field; i++) {
        DType type = p->fields.at[i].type;
        size_t size = type == DT_F32 ? 4 : type == DT_BOOL ? 1 : 8;
        at = (at + size - 1) / size * size;
        if (i == field && at + size <= bytes.len)
            memcpy(&v, bytes.at + at, size);
        at += size;
    }
    return v;
}

static SimValue constant_value(const IrProgram *ir, IrExprId e, DType type)
{
    const IrExpr *x = &ir->exprs.at[e];
    bool is_float = x->op == IR_E_FLOAT;
    SimValue v = is_float ? (SimValue){.f = (float)x->of.f} : (SimValue){.i = x->of.i};
    return esim_convert(v, is_float, type);
}

static SimValue member_value(const EmitSimRun *run, const AscLaunch *launch, IrVarId var)
{
    const AscProgram *p = run->of->p;
    for (uint32_t i = 0; i < launch->binds.len; i++) {
        const AscBind *b = &launch->binds.at[i];
        if (b->var != var)
            continue;
        return b->field == UINT32_MAX ? constant_value(p->ir, b->value, p->ir->vars.at[var].type)
                                      : field_value(p, run->tiling.bytes, b->field);
    }
    return (SimValue){.i = 0};
}

static uint64_t operand_base(const EmitSimRun *run, uint32_t tensor)
{
    const SimPlaced *workspace = &run->placed[run->placed_count - 1];
    for (uint32_t i = 0; i < run->path->rooms.len; i++) {
        const AscRoom *room = &run->path->rooms.at[i];
        if (room->tensor != tensor)
            continue;
        int64_t offset = room->field == UINT32_MAX
                             ? 0
                             : field_value(run->of->p, run->tiling.bytes, room->field).i;
        return workspace->base + SIM_SYSTEM_WORKSPACE + (uint64_t)offset;
    }
    return tensor < run->tensor_count ? run->placed[tensor].base : 0;
}

static void set_stage(EmitSimRun *run, uint32_t number)
{
    const AscProgram *p = run->of->p;
    const AscLaunch *launch = &run->path->launches.at[number];
    SimStage *stage = &run->stages[number];
    const AscKernel *k = &p->kernels.at[launch->kernel];
    *stage = (SimStage){.kernel = &run->of->kernels[launch->kernel], .cores = -1};
    stage->base = arena_array(&run->arena, uint64_t, launch->operands.len + 1);
    stage->members = arena_array(&run->arena, SimValue, k->members.len + 1);
    for (uint32_t i = 0; i < launch->operands.len; i++)
        stage->base[i] = operand_base(run, launch->operands.at[i]);
    for (uint32_t i = 0; i < k->members.len; i++)
        stage->members[i] = member_value(run, launch, k->members.at[i]);
    if (asc_is_guarded(p, run->path))
        stage->cores = field_value(p, run->tiling.bytes, launch->cores_field).i;
}

static void place_all(EmitSimRun *run)
{
    uint64_t address = SIM_GM_BASE, total = SIM_SYSTEM_WORKSPACE + run->tiling.workspace;
    run->placed_count = run->tensor_count + 2;
    run->placed = arena_array(&run->arena, SimPlaced, run->placed_count);
    for (uint32_t i = 0; i < run->placed_count; i++) {
        SimPlaced *p = &run->placed[i];
        bool tensor = i < run->tensor_count, tiling = i == run->tensor_count;
        p->base = address;
        p->bytes = tensor   ? run->tensors[i].bytes
                   : tiling ? run->tiling.bytes.len
                            : SIM_SYSTEM_WORKSPACE + run->tiling.workspace;
        p->data = tensor   ? run->tensors[i].data
                  : tiling ? (const uint8_t *)run->tiling.bytes.at
                           : NULL;
        address = sim_gm_after(address, p->bytes);
        total += tensor ? p->bytes : 0;
    }
    run->pattern = sim_pattern_bytes(total);
}

static uint32_t cores_per_block(AscTask task)
{
    return task == ASC_TASK_MIX_1_2 ? 3 : task == ASC_TASK_MIX_1_1 ? 2 : 1;
}

static void make_cores(EmitSimRun *run, uint32_t count)
{
    const EmitSim *sim = run->of;
    if (count > run->core_cap) {
        run->cores = heap_grow(run->cores, run->core_cap * sizeof *run->cores,
                               count * sizeof *run->cores);
        for (uint32_t i = run->core_cap; i < count; i++)
            run->cores[i] = (SimCoreRun){
                .slots = heap_alloc((sim->most_slots + 1) * sizeof(SimValue)),
                .locals = heap_alloc((sim->most_locals + 1) * sizeof(SimTensor)),
                .bypass = heap_alloc((sim->most_tensors + 1) * sizeof(bool)),
                .queues = heap_alloc((sim->most_buffers + 1) * sizeof(SimQueue))};
        run->core_cap = count;
    }
    run->core_count = count;
    uint32_t per = cores_per_block(sim->p->task), vectors = per > 1 ? per - 1 : 1;
    for (uint32_t i = 0; i < count; i++) {
        SimCoreRun *c = &run->cores[i];
        bool aic = sim->p->task == ASC_TASK_CUBE || (per > 1 && i % per == 0);
        esim_core_start(c, run, i);
        c->aic = aic;
        c->number = per == 1 ? i : aic ? i / per : i / per * vectors + i % per - 1;
    }
}

static const AscPath *path_of(const AscProgram *p, uint32_t key)
{
    for (uint32_t i = 0; i < p->paths.len; i++)
        if (p->paths.at[i].key == key)
            return &p->paths.at[i];
    return NULL;
}

EmitSimRun *emit_sim_start(EmitSim *sim, const EmitSimLaunch *launch, Diag *diag)
{
    EmitSimRun *run = sim->run ? sim->run : heap_alloc(sizeof *run);
    sim->run = run;
    arena_drop(&run->arena);
    run->of = sim;
    run->time_only = launch->time_only;
    run->most_records = launch->most_records;
    run->seed = launch->seed;
    run->tensor_count = launch->tensor_count;
    run->records = 0;
    EmitSimTensor *tensors = arena_array(&run->arena, EmitSimTensor, launch->tensor_count + 1);
    if (launch->tensor_count)
        memcpy(tensors, launch->tensors, launch->tensor_count * sizeof *tensors);
    run->tensors = tensors;
    if (!emit_tiling(&run->arena, sim->p, &launch->host, &run->tiling, diag))
        return NULL;
    run->path = path_of(sim->p, run->tiling.key);
    place_all(run);
    run->stages = arena_array(&run->arena, SimStage, run->path->launches.len + 1);
    for (uint32_t i = 0; i < run->path->launches.len; i++)
        set_stage(run, i);
    make_cores(run, run->tiling.blocks * cores_per_block(sim->p->task));
    return run;
}

void emit_sim_stop(EmitSimRun *run)
{
    if (run)
        arena_drop(&run->arena);
}

const EmitTiling *emit_sim_tiling(const EmitSimRun *run) { return &run->tiling; }

uint64_t emit_sim_records(const EmitSimRun *run) { return run->records; }

/* ---- the simulator ---- */

Sim *emit_sim_simulator(EmitSimRun *run, SimConfig config)
{
    static const SimKind kinds[] = {[ASC_TASK_VECTOR] = SIM_AIV,
                                    [ASC_TASK_CUBE] = SIM_AIC,
                                    [ASC_TASK_MIX_1_1] = SIM_MIX_1_1,
                                    [ASC_TASK_MIX_1_2] = SIM_MIX_1_2};
    config.chip = run->of->p->chip;
    config.kind = kinds[run->of->p->task];
    config.blocks = run->tiling.blocks;
    config.no_data = run->time_only;
    Sim *sim = sim_open(&config);
    for (uint32_t i = 0; sim && i < run->placed_count; i++) {
        const SimPlaced *p = &run->placed[i];
        bool tensor = i < run->tensor_count, tiling = i == run->tensor_count;
        SimRegion region = {.name = tensor   ? run->tensors[i].name
                                    : tiling ? "tiling"
                                             : "workspace",
                            .base = p->base,
                            .bytes = p->bytes,
                            .memory = tensor && !(run->time_only && run->tensors[i].role != SIM_IN)
                                          ? run->tensors[i].data
                                          : NULL,
                            .dtype = tensor ? (uint32_t)run->tensors[i].dtype : DT_U8,
                            .role = tensor   ? run->tensors[i].role
                                    : tiling ? SIM_TILING
                                             : SIM_WORKSPACE};
        if (!tensor && !run->time_only) {
            region.memory = arena_alloc(&run->arena, p->bytes);
            if (tiling)
                memcpy(region.memory, p->data, p->bytes);
            run->placed[i].data = region.memory;
        }
        if (p->bytes && !sim_gm_add(sim, &region)) {
            sim_close(sim);
            return NULL;
        }
    }
    return sim;
}

/* With values: what the scalar unit sees once the core's records are executed. */
static uint64_t read_now(const EmitSimRun *run, Sim *sim, const SimCoreRun *c)
{
    const SimCore *core = sim_core(sim, c->core);
    uint64_t bits = 0, at = rec_byte(c->wanted.address);
    switch (c->wanted.kind) {
    case SIM_READ_ACCUMULATED: return core->view->accumulated;
    case SIM_READ_KEPT: return core->view->kept;
    case SIM_READ_ELEMENT: break;
    }
    if (rec_space(c->wanted.address) != NPU_GM) {
        const uint8_t *memory = core->memory[NPU_UB];
        if (memory && at + c->wanted.bytes <= core->bytes[NPU_UB])
            memcpy(&bits, memory + at, c->wanted.bytes);
        return bits;
    }
    for (uint32_t i = 0; i < run->placed_count; i++) {
        const SimPlaced *p = &run->placed[i];
        if (p->data && at >= p->base && at - p->base + c->wanted.bytes <= p->bytes)
            memcpy(&bits, p->data + (at - p->base), c->wanted.bytes);
    }
    return bits;
}

typedef struct Feed {
    EmitSimRun *run;
    Sim *sim;
    EmitSimUsed *used;
    void *context;
    bool *done;
    bool trapped;
    uint32_t *parts; /* by core: the launch that its next records belong to; NULL: nobody asks */
} Feed;

enum { BATCH = 128 };

/* Records of the core, or none when it has ended. */
static bool has_records(Feed *f, SimCoreRun *c)
{
    while (c->out_at == c->out_len) {
        if (c->state == CORE_READS)
            esim_core_answer(c, read_now(f->run, f->sim, c));
        if (c->state != CORE_RUNS)
            return false;
        esim_core_fill(c, BATCH);
    }
    return true;
}

/* All cores synchronise between two launches: the text says it in the entry. */
static bool is_meeting(const EmitSimRun *run, const Record *r)
{
    return r->op == NPU_SYNC_ALL && r->line == run->of->lines.entry.line;
}

/* Records before the next meeting, or that one alone. */
static uint32_t upto_meeting(const Feed *f, const Record *records, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_meeting(f->run, &records[i]))
            return i ? i : 1;
    return n;
}

/* False: the core waits for another, has ended, or its turn is over. */
static bool feed_some(Feed *f, SimCoreRun *c, int64_t *left)
{
    uint32_t there = c->out_len - c->out_at;
    const Record *records = c->out + c->out_at;
    there = there < BATCH ? there : BATCH;
    if (f->parts)
        there = upto_meeting(f, records, there);
    uint32_t ready = sim_turn_ready(records, there, left);
    size_t used = 0;
    if (!ready)
        return false;
    SimState state = sim_feed(f->sim, c->core, records, ready, &used);
    if (f->parts && used && is_meeting(f->run, &records[used - 1]))
        f->parts[c->core]++;
    if (f->used)
        f->used(f->context, c->core, records, used);
    c->out_at += (uint32_t)used;
    f->run->records += used;
    f->done[c->core] = state == SIM_ENDED || state == SIM_STOPPED;
    return state == SIM_MORE && *left > 0;
}

static void take_turn(Feed *f, uint32_t core)
{
    SimCoreRun *c = &f->run->cores[core];
    int64_t left = SIM_TURN;
    do {
        if (!has_records(f, c)) {
            f->trapped = f->trapped || c->state == CORE_TRAPPED;
            if (c->state == CORE_GAVE_UP)
                sim_gave_up(f->sim, core);
            f->done[core] = true;
            return;
        }
    } while (feed_some(f, c, &left));
}

/* Cores of one kind in starting order: as numbered, or shuffled by the seed. */
static uint32_t order_of_kind(EmitSimRun *run, bool aic, uint32_t *order)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->core_count; i++)
        if (run->cores[i].aic == aic)
            order[count++] = i;
    for (uint32_t i = count; run->seed && i > 1; i--) {
        uint32_t j = (uint32_t)rng_range(run->seed, 77, i, 0, i), swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    return count;
}

/* A cube core before its vector cores. */
static uint32_t *make_order(EmitSimRun *run)
{
    uint32_t *cube = arena_array(&run->arena, uint32_t, run->core_count + 1);
    uint32_t *vector = arena_array(&run->arena, uint32_t, run->core_count + 1);
    uint32_t *order = arena_array(&run->arena, uint32_t, run->core_count + 1);
    uint32_t cubes = order_of_kind(run, true, cube), vectors = order_of_kind(run, false, vector);
    uint32_t share = cubes ? (vectors + cubes - 1) / cubes : 1, at = 0, c = 0, v = 0;
    while (at < run->core_count) {
        if (c < cubes)
            order[at++] = cube[c++];
        for (uint32_t i = 0; i < share && v < vectors; i++)
            order[at++] = vector[v++];
    }
    return order;
}

/* One turn for each of `most` cores that can go on. False: nothing moved. */
static bool round_of_turns(Feed *f, SimTurns *turns, const uint32_t *order, uint32_t most,
                           bool *all_done)
{
    uint32_t live = sim_turns_round(turns, order, f->run->core_count, most, f->done);
    bool moved = false;
    *all_done = live == 0;
    for (uint32_t k = 0; k < live && !f->trapped; k++) {
        uint32_t core = order[turns->live[k]];
        if (!sim_can_run(f->sim, core))
            continue;
        moved = true;
        take_turn(f, core);
    }
    return moved && !f->trapped;
}

static EmitSimEnd feed_all(EmitSimRun *run, Sim *sim, EmitSimUsed *used, void *context,
                           uint32_t *parts)
{
    const uint32_t *order = make_order(run);
    AscTask task = run->of->p->task;
    const NpuChip *on = run->of->p->chip;
    uint32_t together = task == ASC_TASK_VECTOR ? on->aiv : on->aic * cores_per_block(task);
    SimTurns turns = {.live = arena_array(&run->arena, uint32_t, run->core_count + 1)};
    Feed f = {.run = run,
              .sim = sim,
              .used = used,
              .context = context,
              .done = arena_array(&run->arena, bool, run->core_count + 1),
              .parts = parts};
    bool all_done = run->core_count == 0;
    while (
        round_of_turns(&f, &turns, order, together, &all_done) ||
        (!all_done && !f.trapped && round_of_turns(&f, &turns, order, run->core_count, &all_done)))
        if (run->most_records && run->records > run->most_records)
            break;
    return f.trapped ? EMIT_SIM_TRAP : all_done ? EMIT_SIM_DONE : EMIT_SIM_HANG;
}

EmitSimEnd emit_sim_feed(EmitSimRun *run, Sim *sim, EmitSimUsed *used, void *context)
{
    return feed_all(run, sim, used, context, NULL);
}

/* "S051 (line 14)": the first finding that is no warning; NULL: none. */
static const char *first_finding(Arena *arena, const Sim *sim)
{
    for (uint32_t i = 0; i < sim_fault_count(sim); i++) {
        const SimFault *f = sim_fault(sim, i);
        if (sim_fault_row(f->code)->kind != SIM_KIND_WARNING)
            return str_format(arena, "%s (line %u)", sim_fault_row(f->code)->code, f->line);
    }
    return NULL;
}

bool emit_sim_report(EmitSim *sim, const EmitSimLaunch *launch, CycleReport *report,
                     uint64_t *records, Diag *diag)
{
    EmitSimLaunch own = *launch;
    own.time_only = true;
    EmitSimRun *run = emit_sim_start(sim, &own, diag);
    Sim *chip = run ? emit_sim_simulator(run, (SimConfig){.keep_going = true}) : NULL;
    if (!chip) {
        emit_sim_stop(run);
        return false;
    }
    Cycle *cycle = cycle_open(chip);
    EmitSimEnd end = emit_sim_feed(run, chip, NULL, NULL);
    if (end == EMIT_SIM_DONE)
        sim_finish(chip);
    cycle_report(cycle, report);
    const char *found = end == EMIT_SIM_DONE ? first_finding(diag->arena, chip) : "it does not end";
    cycle_close(cycle);
    sim_close(chip);
    if (records)
        *records = run->records;
    emit_sim_stop(run);
    if (found)
        diag_error(diag, "E099", (Span){0}, "the program has a fault or hangs at these shapes: %s",
                   found);
    return !found;
}

bool emit_sim_us(EmitSim *sim, const EmitSimLaunch *launch, double *us, Diag *diag)
{
    CycleReport report;
    bool ok = emit_sim_report(sim, launch, &report, NULL, diag);
    *us = ok ? report.us : -1;
    return ok;
}

/* ---- launch by launch ---- */

typedef struct PartNotes {
    EmitSimPart *part;
    uint32_t parts, cores;
    uint32_t *at; /* by core */
    double *end;  /* by launch, in cycles */
    double *busy; /* [launch][core][pipe] */
} PartNotes;

static void note_event(void *context, const CycleEvent *e)
{
    PartNotes *n = context;
    uint32_t part = n->at[e->core];
    if (part >= n->parts || e->r->op == NPU_WAIT_FLAG || e->pipe >= NPU_PIPE_ALL)
        return;
    double last = e->done > e->end ? e->done : e->end;
    n->end[part] = last > n->end[part] ? last : n->end[part];
    n->busy[(part * n->cores + e->core) * NPU_PIPE_ALL + e->pipe] += e->end - e->start;
}

/* Cycles to microseconds and shares. */
static void close_parts(PartNotes *n, const EmitSimRun *run, const CycleReport *report)
{
    double before = 0, per_us = run->of->p->chip->mhz;
    for (uint32_t i = 0; i < n->parts; i++) {
        EmitSimPart *p = &n->part[i];
        double cycles = n->end[i] > before ? n->end[i] - before : 0;
        p->kernel = run->path->launches.at[i].kernel;
        p->us = cycles / per_us + (i ? 0 : report->launch_us);
        for (uint32_t c = 0; c < n->cores; c++) {
            bool used = false;
            for (uint32_t k = 0; k < NPU_PIPE_ALL; k++) {
                double busy = n->busy[(i * n->cores + c) * NPU_PIPE_ALL + k];
                used = used || busy > 0;
                if (cycles > 0 && busy / cycles > p->busy[k])
                    p->busy[k] = busy / cycles;
            }
            p->cores += used;
        }
        before += cycles;
    }
}

bool emit_sim_parts(EmitSim *sim, const EmitSimLaunch *launch, Arena *arena, EmitSimPart **parts,
                    uint32_t *count, uint64_t *workspace, Diag *diag)
{
    EmitSimLaunch own = *launch;
    own.time_only = true;
    EmitSimRun *run = emit_sim_start(sim, &own, diag);
    Sim *chip = run ? emit_sim_simulator(run, (SimConfig){.keep_going = true}) : NULL;
    if (!chip) {
        emit_sim_stop(run);
        return false;
    }
    uint32_t n = run->path->launches.len, cores = run->core_count;
    PartNotes notes = {.part = arena_array(arena, EmitSimPart, n + 1),
                       .parts = n,
                       .cores = cores,
                       .at = arena_array(arena, uint32_t, cores + 1),
                       .end = arena_array(arena, double, n + 1),
                       .busy = arena_array(arena, double, (size_t)n *cores *NPU_PIPE_ALL + 1)};
    Cycle *cycle = cycle_open(chip);
    CycleReport report;
    cycle_trace(cycle, note_event, &notes);
    bool ok = feed_all(run, chip, NULL, NULL, notes.at) == EMIT_SIM_DONE;
    cycle_report(cycle, &report);
    close_parts(&notes, run, &report);
    cycle_close(cycle);
    sim_close(chip);
    *parts = notes.part;
    *count = n;
    *workspace = run->tiling.workspace;
    emit_sim_stop(run);
    return ok;
}
