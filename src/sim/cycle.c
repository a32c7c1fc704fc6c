/* Time of the records, core by core; see cycle.h.
 *
 * A core: the scalar unit's clock, and per pipe when it can start the next instruction and when
 * all it was given is finished. A flag carries the time its source pipe has finished. Memory: a
 * GM port per AI core shared by its cores, an L2 that keeps lines once touched. */
#include "sim/cycle.h"
#include "sim/cycle_cost.h"
#include "sim/cycle_memory.h"
#include "sim/sim_int.h"
#include <stdlib.h>

enum { PIPES = NPU_PIPE_ALL, EVENTS = 8, DEPTH = 32, WRITES = 16, PENDING = 16 };

typedef struct Wrote {
    uint64_t from, to;
} Wrote;

typedef struct CycleCore {
    double scalar;       /* the scalar unit's clock */
    double ready[PIPES]; /* the pipe can start its next instruction */
    double done[PIPES];  /* all it was given is finished */
    double busy[PIPES];
    double start[PIPES][DEPTH]; /* of the last instructions, a ring */
    uint32_t given[PIPES];
    double flag[PIPES][PIPES][EVENTS][2]; /* the oldest set first */
    uint8_t flags[PIPES][PIPES][EVENTS];
    Wrote wrote[WRITES]; /* UB written by the vector pipe since its last barrier */
    uint32_t wrotes;
    double sent[3][16][PENDING], arrived[16][PENDING];
    uint32_t sents[3][16], arriveds[16];
    uint64_t sync_calls[2];
    bool ran;
} CycleCore;

struct Cycle {
    Sim *sim;
    Arena arena;
    const NpuChip *chip;
    CycleCore *core;
    uint32_t cores;
    CycleMemory memory;
    CycleSink *sink;
    void *sink_context;
    double conflict;
    double sync_time[2];
    uint64_t sync_epoch[2];
    VEC(CycleLine) lines;
};

static double later(double a, double b) { return a > b ? a : b; }

/* --- copies --- */

static InstructionCost cost_copy(Cycle *c, uint32_t core, const Record *r, const SimTouched *t)
{
    const SimAccess *access = t->access;
    uint32_t n = t->n;
    InstructionCost cost = {0};
    MemoryHow how = {.aic = c->sim->core[core].pub.aic,
                     .bypass = r->flags & REC_L2_BYPASS,
                     .rows = r->op == NPU_ND2NZ_GM_L1,
                     .now = c->core[core].ready[r->pipe]};
    for (uint32_t i = 0; i < n; i++) {
        if (access[i].space != NPU_GM || access[i].outer == 0 || access[i].inner == 0)
            continue;
        cost.work += access[i].write ? cycle_memory_write(&c->memory, core, &access[i], how)
                                     : cycle_memory_read(&c->memory, core, &access[i], how);
        cost.tail = access[i].write ? 0 : cost_constant(NPU_C_MTE2_LATENCY);
    }
    double issue = cost_constant(NPU_C_MTE_ISSUE);
    cost.work = cost.work < issue ? issue : cost.work;
    return cost;
}

static InstructionCost cost_of(Cycle *c, uint32_t core, const Record *r, const SimTouched *t)
{
    const NpuIsa *row = npu_isa(r->op);
    if (row->pipe == NPU_PIPE_V)
        return cost_vector(r);
    if (r->op == NPU_FIXPIPE_GM) {
        InstructionCost cost = cost_copy(c, core, r, t);
        return cost;
    }
    if (row->pipe == NPU_PIPE_MTE2 || row->pipe == NPU_PIPE_MTE3)
        return cost_copy(c, core, r, t);
    return cost_cube(r, c->chip, t->access, t->n);
}

/* --- the barrier the compiler puts between dependent vector instructions --- */

static uint64_t end_of(const SimAccess *a)
{
    return a->at + (a->outer ? a->outer - 1 : 0) * a->outer_step +
           (a->inner ? a->inner - 1 : 0) * a->inner_step + a->run;
}

static bool depends(const CycleCore *core, const SimTouched *t)
{
    for (uint32_t i = 0; core->wrotes && i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        uint64_t end = end_of(a);
        for (uint32_t k = 0; a->space == NPU_UB && k < core->wrotes; k++)
            if (a->at < core->wrote[k].to && core->wrote[k].from < end)
                return true;
    }
    return false;
}

static void note_write(CycleCore *core, const SimTouched *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->access[i].write && core->wrotes < WRITES)
            core->wrote[core->wrotes++] = (Wrote){t->access[i].at, end_of(&t->access[i])};
}

static void pipe_barrier(CycleCore *core, uint8_t pipe)
{
    core->ready[pipe] = later(core->ready[pipe], core->done[pipe]);
    if (pipe == NPU_PIPE_V)
        core->wrotes = 0;
}

/* --- instructions --- */

static void note_line(Cycle *c, const Record *r, double cycles)
{
    for (uint32_t i = 0; i < c->lines.len; i++)
        if (c->lines.at[i].line == r->line && c->lines.at[i].file == r->file) {
            c->lines.at[i].cycles += cycles;
            c->lines.at[i].instructions++;
            return;
        }
    if (c->lines.len < 4096)
        vec_push(&c->arena, &c->lines, ((CycleLine){r->file, r->line, cycles, 1}));
}

static void run_on_pipe(Cycle *c, uint32_t index, const Record *r)
{
    CycleCore *core = &c->core[index];
    uint8_t p = r->pipe;
    const SimTouched *t = sim_touched(c->sim, &c->sim->core[index], r);
    if (p == NPU_PIPE_V && depends(core, t))
        pipe_barrier(core, p);
    InstructionCost cost = cost_of(c, index, r, t);
    core->scalar += cost_constant(NPU_C_ISSUE);
    uint32_t slot = core->given[p]++ % DEPTH;
    core->scalar = later(core->scalar, core->start[p][slot]); /* a full queue stalls the issue */
    double start = later(core->scalar, core->ready[p]);
    double head = start >= core->done[p] ? cost.head : 0;
    core->start[p][slot] = start;
    core->ready[p] = start + head + cost.work;
    double end = later(core->ready[p] + cost.tail, core->done[p]);
    core->busy[p] += end - later(start, core->done[p]);
    core->done[p] = end;
    c->conflict += cost.conflict;
    if (p == NPU_PIPE_V)
        note_write(core, t);
    note_line(c, r, head + cost.work);
    if (c->sink)
        c->sink(c->sink_context, index, (enum NpuPipe)p, start, end, r);
}

static void run_scalar(Cycle *c, uint32_t index, const Record *r)
{
    CycleCore *core = &c->core[index];
    const NpuIsa *row = npu_isa(r->op);
    bool get = r->op == NPU_LOCAL_GET || r->op == NPU_GLOBAL_GET;
    for (int p = 1; get && p < PIPES; p++) /* what the compiler makes it wait for */
        core->scalar = later(core->scalar, core->done[p]);
    double cost = row->per_repeat * (r->op == NPU_SCALAR_WORK ? r->n[0] : 1), start = core->scalar;
    core->scalar += cost;
    core->done[NPU_PIPE_S] = core->scalar;
    core->busy[NPU_PIPE_S] += cost;
    note_line(c, r, cost);
    if (c->sink)
        c->sink(c->sink_context, index, NPU_PIPE_S, start, core->scalar, r);
}

/* --- flags and barriers --- */

static void set_flag(CycleCore *core, const Record *r)
{
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    core->scalar += 1;
    uint8_t *sets = &core->flags[r->pipe][r->mode][r->n[0]];
    *sets = *sets < 2 ? (uint8_t)(*sets + 1) : 2;
    core->flag[r->pipe][r->mode][r->n[0]][*sets - 1] = r->pipe == NPU_PIPE_S
                                                           ? core->scalar
                                                           : later(core->done[r->pipe],
                                                                   core->ready[r->pipe]);
}

static void wait_flag(CycleCore *core, const Record *r)
{
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    double *flag = core->flag[r->pipe][r->mode][r->n[0]], when = flag[0];
    uint8_t *sets = &core->flags[r->pipe][r->mode][r->n[0]];
    flag[0] = *sets > 1 ? flag[1] : when;
    *sets = (uint8_t)(*sets ? *sets - 1 : 0);
    core->scalar += 1;
    if (r->mode == NPU_PIPE_S)
        core->scalar = later(core->scalar, when);
    else
        core->ready[r->mode] = later(core->ready[r->mode], when);
    if (r->mode == NPU_PIPE_V && when >= core->done[NPU_PIPE_V])
        core->wrotes = 0;
}

static double all_done(const CycleCore *core)
{
    double t = core->scalar;
    for (int p = 0; p < PIPES; p++)
        t = later(t, core->done[p]);
    return t;
}

static void stand_until(CycleCore *core, double t)
{
    core->scalar = t;
    for (int p = 0; p < PIPES; p++)
        core->ready[p] = later(core->ready[p], t);
    core->wrotes = 0;
}

static void barrier(CycleCore *core, uint8_t which)
{
    core->scalar += 1;
    if (which == NPU_PIPE_ALL)
        stand_until(core, all_done(core));
    else if (which < PIPES)
        pipe_barrier(core, which);
}

/* --- between cores --- */

static bool partners(const Sim *sim, uint32_t a, uint32_t b, uint32_t mode)
{
    const SimCore *x = &sim->core[a].pub, *y = &sim->core[b].pub;
    return x->aic == y->aic && (mode == 0 || x->block == y->block);
}

static double pop(double *queue, uint32_t *len)
{
    double first = queue[0];
    memmove(queue, queue + 1, --*len * sizeof *queue);
    return first;
}

static void cross_set(Cycle *c, uint32_t index, const Record *r)
{
    uint32_t mode = r->mode, flag = r->n[0];
    CycleCore *core = &c->core[index];
    if (mode > 2 || flag > 15 || core->sents[mode][flag] >= PENDING)
        return;
    double when = r->pipe && r->pipe < PIPES ? core->done[r->pipe] : core->scalar;
    core->sent[mode][flag][core->sents[mode][flag]++] = later(when, core->scalar);
    for (uint32_t i = 0; i < c->cores; i++)
        if (partners(c->sim, index, i, mode) && c->core[i].sents[mode][flag] == 0)
            return;
    double last = 0;
    for (uint32_t i = 0; i < c->cores; i++)
        if (partners(c->sim, index, i, mode))
            last = later(last, pop(c->core[i].sent[mode][flag], &c->core[i].sents[mode][flag]));
    const SimCore *me = &c->sim->core[index].pub;
    for (uint32_t i = 0; i < c->cores; i++) {
        const SimCore *o = &c->sim->core[i].pub;
        bool told = mode == 2 ? o->block == me->block && o->aic != me->aic
                              : partners(c->sim, index, i, mode);
        if (told && c->core[i].arriveds[flag] < PENDING)
            c->core[i].arrived[flag][c->core[i].arriveds[flag]++] = last +
                                                                    cost_constant(NPU_C_CROSS_FLAG);
    }
}

static void cross_wait(CycleCore *core, const Record *r)
{
    uint32_t flag = r->n[0];
    if (flag > 15 || core->arriveds[flag] == 0)
        return;
    double when = pop(core->arrived[flag], &core->arriveds[flag]);
    if (r->pipe == NPU_PIPE_S || r->pipe >= PIPES)
        core->scalar = later(core->scalar, when);
    else
        core->ready[r->pipe] = later(core->ready[r->pipe], when);
}

/* The first core through sees all the others standing at the same call. */
static void sync_all(Cycle *c, uint32_t index, const Record *r)
{
    uint32_t which = r->mode & 1;
    CycleCore *core = &c->core[index];
    if (++core->sync_calls[which] > c->sync_epoch[which]) {
        c->sync_epoch[which] = core->sync_calls[which];
        double last = 0;
        for (uint32_t i = 0; i < c->cores; i++)
            if (which == 1 || partners(c->sim, index, i, 0))
                last = later(last, all_done(&c->core[i]));
        c->sync_time[which] = last + cost_constant(NPU_C_SYNC_ALL);
    }
    stand_until(core, c->sync_time[which]);
}

static void observe(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    Cycle *c = context;
    const NpuIsa *row = npu_isa(r->op);
    (void)sim, (void)index;
    c->core[core].ran = true;
    switch (row->form) {
    case NPU_F_SYNC:
        switch (r->op) {
        case NPU_SET_FLAG: set_flag(&c->core[core], r); return;
        case NPU_WAIT_FLAG: wait_flag(&c->core[core], r); return;
        case NPU_BARRIER: barrier(&c->core[core], r->mode); return;
        case NPU_CROSS_SET: cross_set(c, core, r); return;
        case NPU_CROSS_WAIT: cross_wait(&c->core[core], r); return;
        case NPU_SYNC_ALL: sync_all(c, core, r); return;
        default: c->core[core].scalar += 1; return;
        }
    case NPU_F_REGISTER: c->core[core].scalar += 1; return;
    case NPU_F_SCALAR_ACCESS: run_scalar(c, core, r); return;
    case NPU_F_BOOK: return;
    default:
        if (r->pipe != NPU_PIPE_S && r->pipe < PIPES)
            run_on_pipe(c, core, r);
    }
}

/* --- opening and reporting --- */

Cycle *cycle_open(Sim *sim)
{
    Cycle *c = heap_alloc(sizeof *c);
    c->sim = sim;
    c->chip = sim->config.chip;
    c->cores = sim->cores;
    c->core = arena_array(&c->arena, CycleCore, c->cores);
    uint32_t blocks = sim->config.blocks, aic = c->chip->aic;
    SimKind kind = sim->config.kind;
    uint32_t per_ai = kind == SIM_MIX_1_2 || (kind == SIM_AIV && blocks > aic) ? 2 : 1;
    cycle_memory_open(&c->memory, c->chip, c->cores, per_ai);
    sim_observe(sim, observe, c);
    return c;
}

void cycle_close(Cycle *c)
{
    if (!c)
        return;
    cycle_memory_close(&c->memory);
    arena_drop(&c->arena);
    heap_free(c);
}

void cycle_trace(Cycle *c, CycleSink *sink, void *context)
{
    c->sink = sink;
    c->sink_context = context;
}

/* Blocks beyond the chip's cores run one after the other on the same core. */
static uint32_t slowest(const Cycle *c, double *cycles)
{
    uint32_t per = c->cores / (c->sim->config.blocks ? c->sim->config.blocks : 1), worst = 0;
    uint32_t chip = (c->sim->config.kind == SIM_AIV ? c->chip->aiv : c->chip->aic) * per;
    *cycles = -1;
    for (uint32_t i = 0; i < c->cores && i < chip; i++) {
        double sum = 0;
        for (uint32_t k = i; k < c->cores; k += chip)
            sum += all_done(&c->core[k]);
        if (sum > *cycles) {
            *cycles = sum;
            worst = i;
        }
    }
    return worst;
}

/* The cores are started one after the other. */
static double launch_us(const Cycle *c)
{
    uint32_t most = c->chip->aic + c->chip->aiv, cores = c->cores < most ? c->cores : most;
    return cost_constant(NPU_C_LAUNCH_US) + cores * cost_constant(NPU_C_CORE_US);
}

void cycle_report(const Cycle *c, CycleReport *report)
{
    *report = (CycleReport){.launch_us = launch_us(c),
                            .gm_read = c->memory.read,
                            .gm_written = c->memory.written,
                            .l2_hits = c->memory.hits,
                            .conflict_cycles = (uint64_t)c->conflict};
    uint32_t worst = slowest(c, &report->cycles), used[PIPES] = {0};
    report->us = report->launch_us + report->cycles / c->chip->mhz;
    for (uint32_t i = 0; i < c->cores; i++) {
        report->cores += c->core[i].ran;
        for (int p = 0; p < PIPES; p++)
            if (c->core[i].busy[p] > 0) {
                report->busy_us[p] += c->core[i].busy[p] / c->chip->mhz;
                used[p]++;
            }
    }
    double most = -1;
    for (int p = 0; p < PIPES; p++) {
        report->busy_us[p] /= used[p] ? used[p] : 1;
        double busy = c->core[worst].busy[p], all = all_done(&c->core[worst]);
        report->share[p] = all > 0 ? busy / all : 0;
        if (busy > most) {
            most = busy;
            report->bound = (enum NpuPipe)p;
        }
    }
}

static int by_cycles(const void *a, const void *b)
{
    const CycleLine *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

uint32_t cycle_lines(const Cycle *c, CycleLine *lines, uint32_t most)
{
    CycleLine *all = heap_alloc((c->lines.len + 1) * sizeof *all);
    if (c->lines.len)
        memcpy(all, c->lines.at, c->lines.len * sizeof *all);
    qsort(all, c->lines.len, sizeof *all, by_cycles);
    uint32_t n = c->lines.len < most ? c->lines.len : most;
    memcpy(lines, all, n * sizeof *lines);
    heap_free(all);
    return n;
}
