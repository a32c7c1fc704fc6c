/* Time of the records, core by core; see cycle.h.
 *
 * A core: the scalar unit's clock, and per pipe when it can start the next instruction and when
 * all it was given is finished. A flag carries the time its source pipe has finished. Memory: a
 * GM port per AI core shared by its cores, an L2 that keeps lines once touched. */
#include "sim/cycle.h"
#include "sim/cycle_cost.h"
#include "sim/sim_int.h"
#include <stdlib.h>

enum { PIPES = NPU_PIPE_ALL, EVENTS = 8, DEPTH = 32, WRITES = 16, LINE = 512, PENDING = 16 };

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

/* 64 lines of L2: which of them were touched. */
typedef struct L2Page {
    uint64_t key, lines;
} L2Page;

struct Cycle {
    Sim *sim;
    Arena arena;
    const NpuChip *chip;
    CycleCore *core;
    uint32_t cores, per_ai; /* cores sharing a GM port */
    CycleSink *sink;
    void *sink_context;
    L2Page *pages; /* a hash table; key 0: empty slot */
    uint32_t page_count, page_cap;
    uint64_t line_count;
    uint64_t gm_read, gm_written, l2_hits;
    double conflict;
    double sync_time[2];
    uint64_t sync_epoch[2];
    VEC(CycleLine) lines;
};

static double later(double a, double b) { return a > b ? a : b; }

/* --- L2: lines once touched stay, while all fit --- */

static void grow_pages(Cycle *c)
{
    uint32_t cap = c->page_cap ? 2 * c->page_cap : 256;
    L2Page *old = c->pages;
    c->pages = heap_alloc(cap * sizeof *c->pages);
    for (uint32_t i = 0; i < c->page_cap; i++) {
        uint32_t slot = (uint32_t)(old[i].key * 0x9E3779B97F4A7C15ull >> 33) & (cap - 1);
        while (old[i].key && c->pages[slot].key)
            slot = (slot + 1) & (cap - 1);
        if (old[i].key)
            c->pages[slot] = old[i];
    }
    c->page_cap = cap;
    heap_free(old);
}

static L2Page *page_of(Cycle *c, uint64_t page)
{
    if (2 * c->page_count >= c->page_cap)
        grow_pages(c);
    uint64_t key = page + 1;
    uint32_t slot = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 33) & (c->page_cap - 1);
    while (c->pages[slot].key && c->pages[slot].key != key)
        slot = (slot + 1) & (c->page_cap - 1);
    c->page_count += !c->pages[slot].key;
    c->pages[slot].key = key;
    return &c->pages[slot];
}

/* Touches the lines of one run of bytes; were all of them there before? */
static bool run_seen(Cycle *c, uint64_t from, uint64_t to)
{
    bool seen = true;
    for (uint64_t line = from / LINE; line <= (to - 1) / LINE;) {
        uint64_t first = line % 64, left = (to - 1) / LINE - line + 1;
        uint64_t count = left < 64 - first ? left : 64 - first;
        uint64_t mask = (count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
        L2Page *page = page_of(c, line / 64);
        seen = seen && (page->lines & mask) == mask;
        c->line_count += (uint64_t)__builtin_popcountll(mask & ~page->lines);
        page->lines |= mask;
        line += count;
    }
    return seen;
}

static bool in_l2(Cycle *c, const SimAccess *a)
{
    bool fits = c->line_count * LINE < (uint64_t)c->chip->l2_mib << 20, seen = true;
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++) {
            uint64_t from = a->at + o * (uint64_t)a->outer_step + i * (uint64_t)a->inner_step;
            seen = (a->run == 0 || run_seen(c, from, from + a->run)) && seen;
        }
    return seen && fits;
}

/* --- copies --- */

static double gm_rate(const Cycle *c) { return cost_constant(NPU_C_GM_PORT) / c->per_ai; }

static double read_cycles(Cycle *c, const SimAccess *a, bool aic)
{
    uint64_t bytes = cost_gm_bytes(a);
    c->gm_read += sim_access_bytes(a);
    if (!in_l2(c, a))
        return (double)bytes / gm_rate(c);
    c->l2_hits += sim_access_bytes(a);
    return (double)bytes / (aic ? c->chip->l2_read_rate : cost_constant(NPU_C_L2_READ_AIV));
}

/* L2 takes writes until half of it is full; what comes after goes at the speed of GM. */
static double write_cycles(Cycle *c, const SimAccess *a)
{
    uint64_t bytes = cost_gm_bytes(a), half = (uint64_t)c->chip->l2_mib << 19;
    c->gm_written += sim_access_bytes(a);
    (void)in_l2(c, a);
    double port = (double)c->chip->ub_gm_rate, l2 = (double)c->chip->l2_write_rate / c->per_ai;
    double rate = port < l2 ? port : l2;
    if (c->gm_written > half)
        rate = gm_rate(c) < rate ? gm_rate(c) : rate;
    return (double)bytes / rate;
}

static InstructionCost cost_copy(Cycle *c, const SimTouched *t, bool aic)
{
    const SimAccess *access = t->access;
    uint32_t n = t->n;
    InstructionCost cost = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (access[i].space != NPU_GM || access[i].outer == 0 || access[i].inner == 0)
            continue;
        cost.work += access[i].write ? write_cycles(c, &access[i])
                                     : read_cycles(c, &access[i], aic);
        cost.tail = cost_constant(access[i].write ? NPU_C_MTE3_LATENCY : NPU_C_MTE2_LATENCY);
    }
    double issue = cost_constant(NPU_C_MTE_ISSUE);
    cost.work = cost.work < issue ? issue : cost.work;
    return cost;
}

static InstructionCost cost_of(Cycle *c, const Record *r, const SimTouched *t, bool aic)
{
    const NpuIsa *row = npu_isa(r->op);
    if (row->pipe == NPU_PIPE_V)
        return cost_vector(r);
    if (r->op == NPU_FIXPIPE_GM) {
        InstructionCost cost = cost_copy(c, t, aic);
        double out = t->n ? (double)sim_access_bytes(&t->access[t->n - 1]) : 0;
        double least = out / cost_constant(NPU_C_FIX_GM);
        cost.work = later(cost.work, least);
        return cost;
    }
    if (row->pipe == NPU_PIPE_MTE2 || row->pipe == NPU_PIPE_MTE3)
        return cost_copy(c, t, aic);
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
    InstructionCost cost = cost_of(c, r, t, c->sim->core[index].pub.aic);
    core->scalar += cost_constant(NPU_C_ISSUE);
    uint32_t slot = core->given[p]++ % DEPTH;
    core->scalar = later(core->scalar, core->start[p][slot]); /* a full queue stalls the issue */
    double start = later(core->scalar, core->ready[p]);
    double head = start >= core->done[p] ? cost.head : 0;
    core->start[p][slot] = start;
    core->ready[p] = start + head + cost.work;
    double end = core->ready[p] + cost.tail;
    core->done[p] = later(core->done[p], end);
    core->busy[p] += head + cost.work;
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
    c->per_ai = kind == SIM_MIX_1_2 || (kind == SIM_AIV && blocks > aic) ? 2 : 1;
    sim_observe(sim, observe, c);
    return c;
}

void cycle_close(Cycle *c)
{
    if (!c)
        return;
    heap_free(c->pages);
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

void cycle_report(const Cycle *c, CycleReport *report)
{
    *report = (CycleReport){.launch_us = cost_constant(NPU_C_LAUNCH_US),
                            .gm_read = c->gm_read,
                            .gm_written = c->gm_written,
                            .l2_hits = c->l2_hits,
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
