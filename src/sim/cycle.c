/* Time of the records, core by core; see cycle.h.
 *
 * A core: the scalar unit's clock, and per pipe when it can start the next instruction and when
 * all it was given is finished. A flag carries the time its source pipe has finished. Memory: a
 * GM port per AI core shared by its cores, an L2 that keeps lines once touched. */
#include "sim/cycle_int.h"
#include <stdlib.h>

/* --- copies --- */

/* Bursts of less than a block of UB: each is a request of its own, and the next waits for it. */
static double narrow_bursts(const Record *r)
{
    bool padded = r->op == NPU_PAD_GM_UB || r->op == NPU_PAD_UB_GM;
    return padded && r->n[1] < 32 ? r->n[0] * cost_constant(NPU_C_NARROW_BURST) : 0;
}

static InstructionCost cost_copy(Cycle *c, uint32_t core, const Record *r, const SimTouched *t,
                                 double start)
{
    const SimAccess *access = t->access;
    uint32_t n = t->n;
    InstructionCost cost = {0};
    MemoryHow how = {.aic = c->sim->core[core].pub.aic,
                     .bypass = r->flags & REC_L2_BYPASS,
                     .rows = r->op == NPU_ND2NZ_GM_L1,
                     .now = start};
    for (uint32_t i = 0; i < n; i++) {
        if (access[i].space != NPU_GM || access[i].outer == 0 || access[i].inner == 0)
            continue;
        cost.work += access[i].write ? cycle_memory_write(&c->memory, core, &access[i], how)
                                     : cycle_memory_read(&c->memory, core, &access[i], how);
        cost.tail = access[i].write ? 0 : cost_constant(NPU_C_MTE2_LATENCY);
        cost.bytes += sim_access_bytes(&access[i]);
    }
    cost.work = later(cost.work, narrow_bursts(r));
    double issue = cost_constant(NPU_C_MTE_ISSUE);
    cost.small = issue > cost.work ? issue - cost.work : 0;
    cost.work += cost.small;
    c->copies++;
    c->copied += cost.bytes;
    return cost;
}

static InstructionCost cost_of(Cycle *c, uint32_t core, const Record *r, const SimTouched *t,
                               double start)
{
    const NpuIsa *row = npu_isa(r->op);
    bool copies = r->op == NPU_FIXPIPE_GM || row->pipe == NPU_PIPE_MTE2 ||
                  row->pipe == NPU_PIPE_MTE3;
    if (copies)
        return cost_copy(c, core, r, t, start);
    if (c->kept && c->kept->set)
        return c->kept->cost;
    InstructionCost cost = row->pipe == NPU_PIPE_V
                               ? cost_vector(r)
                               : cost_cube(r, c->chip, t->access, t->n, c->sim->core[core].hf32);
    if (c->kept)
        *c->kept = (Kept){true, cost, c->kept->line};
    return cost;
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

/* When there is no more room the last entry grows to hold the new one as well: nothing is forgotten, a
 * little more may seem to depend on it. */
static void note_write(CycleCore *core, const SimTouched *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        Wrote w = {t->access[i].at, end_of(&t->access[i])};
        if (!t->access[i].write || t->access[i].space != NPU_UB)
            continue;
        if (core->wrotes < WRITES) {
            core->wrote[core->wrotes++] = w;
            continue;
        }
        Wrote *last = &core->wrote[WRITES - 1];
        last->from = w.from < last->from ? w.from : last->from;
        last->to = w.to > last->to ? w.to : last->to;
    }
}

/* Who makes room is done before the scalar unit's own time, or the first to be done. */
static void note_results(CycleCore *core, const SimTouched *t, double when)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->access[i].write || t->access[i].space != NPU_UB)
            continue;
        Result *slot = &core->result[0];
        for (uint32_t k = 1; k < RESULTS && slot->when > core->scalar; k++)
            slot = core->result[k].when < slot->when ? &core->result[k] : slot;
        *slot = (Result){t->access[i].at, end_of(&t->access[i]), when};
    }
}

static void hold(CycleCore *core, uint8_t pipe, Gate gate)
{
    if (gate.until > core->gate[pipe].until)
        core->gate[pipe] = gate;
}

static void pipe_barrier(CycleCore *core, uint8_t pipe)
{
    hold(core, pipe, (Gate){core->done[pipe], CYCLE_WAIT_BARRIER, (enum NpuPipe)pipe});
    if (pipe == NPU_PIPE_V)
        core->wrotes = 0;
}

/* --- instructions --- */

/* Cores number names as they come; the text of one is kept once for all. */
static uint32_t find_line(Cycle *c, uint32_t core, const Record *r)
{
    const char *file = sim_name(&c->sim->core[core], r->file);
    for (uint32_t k = 0, i = c->last_line; k < c->lines.len; k++, i++) {
        i = i < c->lines.len ? i : 0;
        if (c->lines.at[i].line == r->line && c->lines.at[i].file == file)
            return i;
    }
    CycleLine other = {.file = "", .line = 0}; /* for all that find no place */
    if (c->lines.len < MOST_LINES)
        other = (CycleLine){.file = file, .line = r->line};
    if (c->lines.len <= MOST_LINES)
        vec_push(&c->arena, &c->lines, other);
    return c->lines.len - 1;
}

static CycleLine *line_of(Cycle *c, uint32_t core, const Record *r)
{
    if (c->kept && c->kept->line)
        return &c->lines.at[c->kept->line - 1];
    c->last_line = find_line(c, core, r);
    if (c->kept)
        c->kept->line = c->last_line + 1;
    return &c->lines.at[c->last_line];
}

/* What the start of an instruction waited for after its pipe was free. */
static CycleWait note_wait(CycleCore *core, uint8_t p, double start, double *waited)
{
    const Gate *gate = &core->gate[p];
    *waited = start - core->ready[p];
    if (*waited <= 0)
        return CYCLE_WAIT_NONE;
    CycleWait why = gate->until >= core->scalar ? gate->why : CYCLE_WAIT_ISSUE;
    core->waits[p][why] += *waited;
    if (why == CYCLE_WAIT_FLAG)
        core->flag_waits[p][gate->on] += *waited;
    return why;
}

static void tell(const Cycle *c, const CycleEvent *event)
{
    if (c->sink)
        c->sink(c->sink_context, event);
}

/* What is left of an instruction's head after it has waited in the queue of its pipe: it is decoded meanwhile. */
static double head_left(double head, double waited) { return later(head - waited, 0); }

static void run_on_pipe(Cycle *c, uint32_t index, const Record *r)
{
    CycleCore *core = &c->core[index];
    uint8_t p = r->pipe;
    const SimTouched *t = sim_touched(c->sim, &c->sim->core[index], r);
    if (p == NPU_PIPE_V && depends(core, t))
        pipe_barrier(core, p);
    core->scalar += cost_constant(p == NPU_PIPE_V ? NPU_C_VECTOR_CALL : NPU_C_ISSUE);
    uint32_t slot = core->given[p]++ % DEPTH;
    core->scalar = later(core->scalar, core->start[p][slot]); /* a full queue stalls the issue */
    double start = later(later(core->scalar, core->ready[p]), core->gate[p].until), waited;
    CycleWait why = note_wait(core, p, start, &waited);
    InstructionCost cost = cost_of(c, index, r, t, start);
    double head = start >= core->done[p] ? head_left(cost.head, start - core->scalar) : 0;
    core->start[p][slot] = start;
    core->ready[p] = start + head + cost.work;
    double end = later(core->ready[p] + cost.tail, core->done[p]);
    core->busy[p] += end - later(start, core->done[p]);
    core->done[p] = end;
    core->conflict += cost.conflict;
    core->small[p] += cost.small;
    c->conflict += cost.conflict;
    if (p == NPU_PIPE_V)
        note_write(core, t);
    if (p == NPU_PIPE_V || p == NPU_PIPE_MTE2)
        note_results(core, t, end);
    CycleLine *line = line_of(c, index, r);
    line->cycles += head + cost.work;
    line->instructions++;
    line->bytes += cost.bytes;
    line->conflict += cost.conflict;
    line->waited += waited > 0 ? waited : 0;
    tell(c, &(CycleEvent){.core = index,
                          .pipe = (enum NpuPipe)p,
                          .start = start,
                          .end = core->ready[p],
                          .done = end,
                          .r = r,
                          .waited = waited > 0 ? waited : 0,
                          .why = why,
                          .on = core->gate[p].on});
}

/* A scalar read waits for the instruction that writes what it reads, as the compiler's flag makes
 * it do; from GM it waits for nothing. */
static double result_time(const CycleCore *core, const SimTouched *t)
{
    double when = 0;
    for (uint32_t i = 0; i < t->n && t->access[i].space == NPU_UB; i++)
        for (uint32_t k = 0; k < RESULTS; k++) {
            const Result *w = &core->result[k];
            if (t->access[i].at < w->to && w->from < end_of(&t->access[i]))
                when = later(when, w->when);
        }
    return when;
}

/* Lines of GM that a scalar access waits for: those the data cache does not hold. A store waits for none. */
static uint32_t missing_lines(CycleCore *core, const Record *r, const SimAccess *a)
{
    if (a->run == 0)
        return 0;
    if (!core->cache)
        core->cache = heap_alloc(sizeof *core->cache);
    uint32_t missing = r->flags & REC_UNCACHED ? 1 : data_cache_touch(core->cache, a->at, a->run);
    return a->write ? 0 : missing;
}

/* What the scalar unit takes for an instruction of its own. Access to UB, also by a plain pointer, is slow; to GM it is
 * an instruction like others as long as the data cache holds the line. */
static double scalar_cycles(Cycle *c, uint32_t index, const Record *r)
{
    const NpuIsa *row = npu_isa(r->op);
    if (r->op == NPU_SCALAR_WORK)
        return row->per_repeat * r->n[0];
    const SimTouched *t = sim_touched(c->sim, &c->sim->core[index], r);
    double cycles = row->per_repeat;
    for (uint32_t i = 0; i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        if (a->space == NPU_GM)
            cycles += missing_lines(&c->core[index], r, a) * cost_constant(NPU_C_GM_LINE);
        else
            cycles = npu_isa(a->write ? NPU_LOCAL_SET : NPU_LOCAL_GET)->per_repeat;
    }
    return cycles;
}

static void clean_cache(CycleCore *core, const Record *r)
{
    core->scalar += 1;
    if (core->cache)
        data_cache_drop(core->cache, rec_byte(r->operand[0].address), r->mode == 1);
}

static void run_scalar(Cycle *c, uint32_t index, const Record *r)
{
    CycleCore *core = &c->core[index];
    bool get = r->op == NPU_LOCAL_GET || r->op == NPU_GLOBAL_GET;
    double before = core->scalar;
    if (get) {
        double there = result_time(core, sim_touched(c->sim, &c->sim->core[index], r));
        if (there > core->scalar)
            core->scalar = there + cost_constant(NPU_C_FLAG);
    }
    core->waits[NPU_PIPE_S][CYCLE_WAIT_FLAG] += core->scalar - before;
    double cost = scalar_cycles(c, index, r), start = core->scalar;
    core->scalar += cost;
    core->done[NPU_PIPE_S] = core->scalar;
    core->busy[NPU_PIPE_S] += cost;
    CycleLine *line = line_of(c, index, r);
    line->cycles += cost;
    line->stood += start - before;
    line->instructions++;
    tell(c, &(CycleEvent){
                .core = index, .pipe = NPU_PIPE_S, .start = start, .end = core->scalar, .r = r});
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

static void wait_flag(Cycle *c, uint32_t index, const Record *r)
{
    CycleCore *core = &c->core[index];
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    double *flag = core->flag[r->pipe][r->mode][r->n[0]];
    double when = flag[0] + cost_constant(NPU_C_FLAG);
    uint8_t *sets = &core->flags[r->pipe][r->mode][r->n[0]];
    flag[0] = *sets > 1 ? flag[1] : flag[0];
    *sets = (uint8_t)(*sets ? *sets - 1 : 0);
    core->scalar += 1;
    if (r->mode == NPU_PIPE_S)
        core->scalar = later(core->scalar, when);
    else
        hold(core, r->mode, (Gate){when, CYCLE_WAIT_FLAG, (enum NpuPipe)r->pipe});
    if (r->mode == NPU_PIPE_V && when >= core->done[NPU_PIPE_V])
        core->wrotes = 0;
    tell(c, &(CycleEvent){.core = index,
                          .pipe = (enum NpuPipe)r->pipe,
                          .start = when,
                          .end = later(when, core->ready[r->mode]),
                          .r = r});
}

static double all_done(const CycleCore *core)
{
    double t = core->scalar;
    for (int p = 0; p < PIPES; p++)
        t = later(t, core->done[p]);
    return t;
}

static void stand_until(CycleCore *core, double t, CycleWait why)
{
    core->scalar = t;
    for (uint8_t p = 0; p < PIPES; p++)
        hold(core, p, (Gate){t, why, NPU_PIPE_S});
    core->wrotes = 0;
}

static void barrier(CycleCore *core, uint8_t which)
{
    core->scalar += 1;
    if (which == NPU_PIPE_ALL)
        stand_until(core, all_done(core), CYCLE_WAIT_BARRIER);
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
        hold(core, r->pipe, (Gate){when, CYCLE_WAIT_CORES, NPU_PIPE_S});
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
    stand_until(core, c->sync_time[which], CYCLE_WAIT_CORES);
}

static void note_buffers(Cycle *c, uint32_t core, const Record *r)
{
    bool in = r->n[1] == NPU_POS_VECIN || r->n[1] == NPU_POS_A1 || r->n[1] == NPU_POS_B1;
    if (r->op != NPU_BUFFER_INIT || r->n[3] != 0 || !in)
        return;
    c->buffers.queues++;
    if (r->n[2] > 1 || c->buffers.single_line)
        return;
    c->buffers.single_file = sim_name(&c->sim->core[core], r->file);
    c->buffers.single_line = r->line;
}

/* Calls of the queue framework are no instructions, but the scalar unit works through their code. */
static void keep_books(Cycle *c, uint32_t core, const Record *r)
{
    switch (r->op) {
    case NPU_QUEUE_ALLOC:
    case NPU_QUEUE_PUSH:
    case NPU_QUEUE_POP:
    case NPU_QUEUE_FREE: c->core[core].scalar += cost_constant(NPU_C_QUEUE_CALL); return;
    case NPU_CORE_END: cycle_memory_end(&c->memory, core); return;
    default: note_buffers(c, core, r); return;
    }
}

static void observe(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    Cycle *c = context;
    const NpuIsa *row = npu_isa(r->op);
    (void)index, (void)sim;
    c->core[core].ran = true;
    switch (row->form) {
    case NPU_F_SYNC:
        switch (r->op) {
        case NPU_SET_FLAG: set_flag(&c->core[core], r); return;
        case NPU_WAIT_FLAG: wait_flag(c, core, r); return;
        case NPU_BARRIER: barrier(&c->core[core], r->mode); return;
        case NPU_CROSS_SET: cross_set(c, core, r); return;
        case NPU_CROSS_WAIT: cross_wait(&c->core[core], r); return;
        case NPU_SYNC_ALL: sync_all(c, core, r); return;
        case NPU_CACHE_CLEAN: clean_cache(&c->core[core], r); return;
        default: c->core[core].scalar += 1; return;
        }
    case NPU_F_REGISTER: c->core[core].scalar += 1; return;
    case NPU_F_SCALAR_ACCESS: run_scalar(c, core, r); return;
    case NPU_F_BOOK: keep_books(c, core, r); return;
    default:
        if (r->pipe != NPU_PIPE_S && r->pipe < PIPES)
            run_on_pipe(c, core, r);
    }
}

/* --- records that repeat: every clock moves as always, costs on chip are known --- */

static void begin_repeat(void *context, uint32_t core, uint32_t period)
{
    CycleCore *c = &((Cycle *)context)->core[core];
    if (c->kept_cap < period) {
        heap_free(c->kept);
        c->kept = heap_alloc(period * sizeof *c->kept);
        c->kept_cap = period;
    }
    memset(c->kept, 0, period * sizeof *c->kept);
}

static void repeat_seen(void *context, uint32_t core) { (void)context, (void)core; }

static bool repeat_same(void *context, uint32_t core, bool again)
{
    (void)context, (void)core, (void)again;
    return true;
}

static void skip(void *context, uint32_t core, uint64_t periods, uint32_t slot, const Record *r)
{
    Cycle *c = context;
    (void)periods;
    c->kept = &c->core[core].kept[slot];
    observe(c, c->sim, core, 0, r);
    c->kept = NULL;
}

static const SimRepeat cycle_repeat = {begin_repeat, repeat_seen, repeat_same, skip, NULL};

/* --- opening and reporting --- */

/* Cores of the launch that the chip runs at the same time; further blocks follow them. */
static uint32_t cores_at_once(const Cycle *c)
{
    uint32_t per = c->cores / (c->sim->config.blocks ? c->sim->config.blocks : 1);
    return (c->sim->config.kind == SIM_AIV ? c->chip->aiv : c->chip->aic) * per;
}

/* Vector cores take the AI cores one by one first, then each the second vector core. */
static void open_memory(Cycle *c)
{
    uint32_t per = c->cores / (c->sim->config.blocks ? c->sim->config.blocks : 1),
             aic = c->chip->aic;
    uint32_t running = cores_at_once(c);
    MemoryPlace *place = heap_alloc((c->cores + 1) * sizeof *place);
    for (uint32_t i = 0; i < c->cores; i++) {
        uint32_t at = i % running / per % aic;
        place[i] = (MemoryPlace){.wave = i / running,
                                 .port = c->sim->core[i].pub.aic ? aic + at : at};
    }
    cycle_memory_open(&c->memory, c->chip, place, c->cores, c->cores < running ? c->cores : running,
                      c->cores / running + 1);
    heap_free(place);
}

Cycle *cycle_open(Sim *sim)
{
    Cycle *c = heap_alloc(sizeof *c);
    c->sim = sim;
    c->chip = sim->config.chip;
    c->cores = sim->cores;
    c->core = arena_array(&c->arena, CycleCore, c->cores);
    open_memory(c);
    sim_observe_repeats(sim, observe, &cycle_repeat, c);
    return c;
}

void cycle_close(Cycle *c)
{
    if (!c)
        return;
    cycle_memory_close(&c->memory);
    for (uint32_t i = 0; i < c->cores; i++) {
        heap_free(c->core[i].cache);
        heap_free(c->core[i].kept);
    }
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
    uint32_t chip = cores_at_once(c), worst = 0;
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

/* Dispatch: the task is read, then the cores are started one after the other. */
static double dispatch_us(const Cycle *c)
{
    uint32_t most = c->chip->aic + c->chip->aiv, cores = c->cores < most ? c->cores : most;
    return cost_constant(NPU_C_LAUNCH_US) + cores * cost_constant(NPU_C_CORE_US);
}

/* Prologue: a core fetches code that no cache has, sets itself up and reads its tiling data from GM before its
 * first instruction. */
static double prologue_us(const Cycle *c)
{
    double tiling = 0;
    for (uint32_t i = 0; i < c->sim->gm.len; i++) {
        const SimRegion *g = &c->sim->gm.at[i]->region;
        tiling += g->role == SIM_TILING ? (double)g->bytes : 0;
    }
    double lines = tiling / CACHE_LINE;
    return (cost_constant(NPU_C_PROLOGUE) + lines * cost_constant(NPU_C_GM_LINE)) / c->chip->mhz;
}

static void report_pipes(const Cycle *c, CycleReport *report)
{
    uint32_t used[PIPES] = {0};
    for (uint32_t i = 0; i < c->cores; i++) {
        report->cores += c->core[i].ran;
        report->mean_cycles += c->core[i].ran ? all_done(&c->core[i]) : 0;
        for (int p = 0; p < PIPES; p++)
            if (c->core[i].busy[p] > 0) {
                report->busy_us[p] += c->core[i].busy[p] / c->chip->mhz;
                used[p]++;
            }
    }
    report->mean_cycles /= report->cores ? report->cores : 1;
    for (int p = 0; p < PIPES; p++)
        report->busy_us[p] /= used[p] ? used[p] : 1;
}

static void report_slowest(const Cycle *c, const CycleCore *core, CycleReport *report)
{
    double most = -1, all = all_done(core), mhz = c->chip->mhz;
    for (int p = 0; p < PIPES; p++) {
        report->share[p] = all > 0 ? core->busy[p] / all : 0;
        report->small_us[p] = core->small[p] / mhz;
        for (int w = 0; w < CYCLE_WAIT_COUNT; w++)
            report->wait_us[p][w] = core->waits[p][w] / mhz;
        for (int q = 0; q < PIPES; q++)
            report->flag_us[p][q] = core->flag_waits[p][q] / mhz;
        if (core->busy[p] > most) {
            most = core->busy[p];
            report->bound = (enum NpuPipe)p;
        }
    }
    report->conflict_us = core->conflict / mhz;
}

void cycle_report(const Cycle *c, CycleReport *report)
{
    *report = (CycleReport){.launch_us = dispatch_us(c) + prologue_us(c),
                            .gm_read = c->memory.read,
                            .gm_written = c->memory.written,
                            .gm_wasted = c->memory.wasted,
                            .gm_returned = c->memory.returned,
                            .l2_hits = c->memory.hits,
                            .past_l2 = c->memory.past,
                            .copies = c->copies,
                            .copied = c->copied,
                            .conflict_cycles = (uint64_t)c->conflict};
    report->chip_cores = c->sim->config.kind == SIM_AIV ? c->chip->aiv : c->chip->aic;
    uint32_t worst = slowest(c, &report->cycles);
    report_pipes(c, report);
    report_slowest(c, &c->core[worst], report);
    report->us = report->launch_us + report->cycles / c->chip->mhz;
}

const char *cycle_wait_name(CycleWait wait)
{
    static const char *const names[CYCLE_WAIT_COUNT] = {"", "issue", "flag", "barrier",
                                                        "other cores"};
    return wait < CYCLE_WAIT_COUNT ? names[wait] : "";
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
