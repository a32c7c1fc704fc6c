/* Happens-before over the records of all cores; see hazard.h.
 *
 * Clock of a pipe: for every pipe of the core, how many of its instructions have finished before the
 * next one here starts. Edges:
 *   issue          the scalar unit's clock flows into the pipe an instruction goes to
 *   flag           SetFlag keeps the source pipe's clock with all its earlier instructions
 *                  finished; WaitFlag takes it into the target pipe
 *   barrier        a pipe's own earlier instructions have finished; ALL: everybody's
 *   between cores  a cross-core flag or SyncAll carries what the setting core knows
 *   inserted       between overlapping accesses in the cells of the vendor's table (asc-devkit
 *                  docs/zh/api/SIMD-API/基础API/同步控制/核内同步/关键特性说明.md), not under strict
 * The scalar unit finishes its instructions in order, but what it stored may not have arrived yet
 * when it issues the next instruction to a pipe. */
#include "sim/hazard_int.h"

/* The instruction being looked at. */
typedef struct Look {
    Hazard *h;
    uint32_t core;
    const Record *r;
    uint8_t space;
    bool write;
    const HazardRegion *region; /* in GM */
    SpanAccess me;
    uint8_t flags; /* of all its accesses; an atomic one reads as any other */
} Look;

/* --- pages of GM --- */

static HazardRegion *region_of(Hazard *h, const SimGm *gm)
{
    if (gm->number >= h->region_count) {
        uint32_t count = h->sim->gm.len;
        h->regions = heap_grow(h->regions, h->region_count * sizeof *h->regions,
                               count * sizeof *h->regions);
        h->region_count = count;
    }
    HazardRegion *region = &h->regions[gm->number];
    if (!region->pages) {
        region->base = gm->region.base;
        region->count = (gm->region.bytes + GM_SLACK + PAGE - 1) / PAGE;
        region->pages = heap_alloc(region->count * sizeof *region->pages);
    }
    return region;
}

static Spans *page_of(const HazardRegion *region, uint64_t number)
{
    Spans *page = &region->pages[number];
    uint64_t from = region->base + number * PAGE;
    if (!page->at)
        spans_open(page, from, from + PAGE);
    return page;
}

/* --- is a finished before b starts? --- */

static bool finished(const Look *b, const SpanAccess *a)
{
    const HazardCore *core = &b->h->core[b->core];
    if (a->core == b->core) {
        if (a->pipe == NPU_PIPE_S && b->r->pipe == NPU_PIPE_S)
            return true;
        return core->pipe[b->r->pipe].done[a->pipe] >= a->when;
    }
    return core->others && core->others[a->core].done[a->pipe] >= a->when;
}

/* The vendor's table of what the compiler inserts on a vector core. */
static bool compiler_inserts(const Look *b, const SpanAccess *a)
{
    if (a->core != b->core || b->h->sim->core[b->core].pub.aic)
        return false;
    bool scalar = a->pipe == NPU_PIPE_S || b->r->pipe == NPU_PIPE_S;
    return scalar || (a->pipe == NPU_PIPE_V && b->r->pipe == NPU_PIPE_V);
}

/* Within a pipe an earlier instruction has read before a later one writes. Products into the same
 * accumulators pipeline by themselves when the first has ten fractals or more (Mmad.md); unit flags
 * order Mmad and Fixpipe fractal by fractal; atomics commute. */
static bool hardware_orders(const Look *b, const SpanAccess *a, bool a_writes)
{
    if (a->core == b->core && a->pipe == b->r->pipe && !a_writes)
        return true;
    if (a->core == b->core && a->pipe == NPU_PIPE_M && b->r->pipe == NPU_PIPE_M)
        return a->flags & SPAN_LARGE;
    bool cube_pair = (a->pipe == NPU_PIPE_M && b->r->pipe == NPU_PIPE_FIX) ||
                     (a->pipe == NPU_PIPE_FIX && b->r->pipe == NPU_PIPE_M);
    if (a->core == b->core && cube_pair && ((a->flags | b->me.flags) & SPAN_UNIT))
        return true;
    return b->write && (a->flags & SPAN_ATOMIC) && (b->me.flags & SPAN_ATOMIC);
}

/* --- reporting --- */

/* A flag that would order the two was set behind the first and is not waited for. */
static bool set_not_waited(const Look *b, const SpanAccess *a)
{
    const HazardCore *core = &b->h->core[b->core];
    uint8_t by_hand = b->h->sim->core[b->core].flag_hand[a->pipe][b->r->pipe];
    for (uint32_t id = 0; id < EVENTS; id++)
        for (uint32_t k = 0; k < core->flags[a->pipe][b->r->pipe][id]; k++)
            if (by_hand >> id & 1 &&
                core->flag[a->pipe][b->r->pipe][id][k].done[a->pipe] >= a->when)
                return true;
    return false;
}

static const char *what_to_do(const Look *b, const SpanAccess *a, Arena *arena)
{
    const char *from = npu_pipe_name(a->pipe), *to = npu_pipe_name(b->r->pipe);
    if (a->pipe == b->r->pipe)
        return str_format(arena, "PipeBarrier<PIPE_%s> is missing between them", from);
    if (set_not_waited(b, a))
        return str_format(arena, "the flag %s_%s is set, and nothing waits for it", from, to);
    if (b->space == NPU_GM)
        return str_format(arena, "let %s wait for %s (%s_%s)", to, from, from, to);
    const char *queue = b->write ? "free the tensor after its last use"
                                 : "put EnQue and DeQue between them";
    return str_format(arena, "%s, or let %s wait for %s (%s_%s)", queue, to, from, from, to);
}

static const char *repair_of(const Look *b, const SpanAccess *a, bool a_writes, SimSpot spot,
                             uint64_t from)
{
    SimSpot set = a->core == b->core || b->space != NPU_GM
                      ? (SimSpot){0}
                      : spot_window(&b->h->sim->core[b->core], b->r, from).spot;
    if (set.line && set.line == spot.line && set.file == spot.file)
        return "give each core a part of its own: those that SetGlobalBuffer declares here overlap";
    bool both = a_writes && b->write;
    if (a->core != b->core && both && a->line == b->r->line)
        return "give each core a range of its own: the offset and the count of this store must "
               "follow from GetBlockIdx()";
    if (a->core != b->core && a_writes != b->write)
        return str_format(&b->h->sim->arena,
                          "put SyncAll or cross-core flags between the store of line %u and the "
                          "load of line %u, or let each core have its own range",
                          a_writes ? a->line : b->r->line, a_writes ? b->r->line : a->line);
    if (a->core == b->core && b->space == NPU_GM && a->pipe == b->r->pipe && both)
        return "two stores of one core meet here: give each a place of its own, or put a "
               "PipeBarrier of that pipe between them";
    if (a->core == b->core && b->space == NPU_GM && a->pipe != b->r->pipe)
        return "SetFlag and WaitFlag between the two pipes; EnQue and DeQue order on-chip tensors, "
               "not "
               "GM";
    return NULL;
}

/* The record of an earlier access, as far as it is remembered. */
static const Record *record_of(const Look *b, const SpanAccess *a, uint64_t from, uint64_t to)
{
    const CoreState *core = &b->h->sim->core[a->core];
    SimAccess access[SIM_ACCESS_MOST];
    for (uint32_t back = 0; back < history_len(core); back++) {
        const Record *r = history_at(core, back);
        if (r->op != a->op || r->line != a->line || r->file != a->file)
            continue;
        uint32_t n = sim_accesses(r, core->va, access);
        for (uint32_t i = 0; i < n; i++)
            if (access[i].space == b->space && history_touches(&access[i], from, to))
                return r;
    }
    return NULL;
}

/* Whether the access keeps to the window its GlobalTensor declared, a part of the tensor only. */
static bool keeps_to_part(const Look *b, uint32_t core, const Record *r, uint64_t from, uint64_t to)
{
    SimPlace set = spot_window(&b->h->sim->core[core], r, from);
    const SimGm *gm = set.window.bytes ? sim_gm_find(b->h->sim, set.window.base) : NULL;
    return gm && set.window.bytes < gm->region.bytes && from >= set.window.base &&
           to <= set.window.base + set.window.bytes;
}

/* Two cores: where the windows overlap, it is where they were set; else behind the store, be it the
 * earlier or the later of the two. */
static SimSpot spot_of_core_race(const Look *b, const SpanAccess *a, bool a_writes, uint64_t from,
                                 uint64_t to)
{
    const Sim *sim = b->h->sim;
    const CoreState *here = &sim->core[b->core], *there = &sim->core[a->core];
    const Record *other = record_of(b, a, from, to);
    if (other && keeps_to_part(b, b->core, b->r, from, to) &&
        keeps_to_part(b, a->core, other, from, to))
        return spot_window(here, b->r, from).spot;
    SimSpot mine = spot_offset(here, b->r, from), theirs = {0};
    if (other)
        theirs = spot_offset(there, other, from);
    if (b->write || !a_writes)
        return mine;
    return theirs.line ? theirs : (SimSpot){sim_name(there, a->file), a->line};
}

static SimSpot spot_of_race(const Look *b, const SpanAccess *a, bool a_writes, uint64_t from,
                            uint64_t to)
{
    if (a->core != b->core)
        return spot_of_core_race(b, a, a_writes, from, to);
    bool between_pipes = a->pipe != b->r->pipe && a->pipe != NPU_PIPE_S && b->r->pipe != NPU_PIPE_S;
    if (!between_pipes || set_not_waited(b, a))
        return (SimSpot){0};
    return (SimSpot){sim_name(&b->h->sim->core[a->core], a->file), a->line};
}

/* Bytes stored where the same bytes are: the same in every order. */
static bool changes_nothing(const Look *b, uint64_t from, uint64_t to)
{
    const CoreState *core = &b->h->sim->core[b->core];
    bool here = core->some_same && b->space == NPU_UB &&
                memory_known(&core->unchanged, from, to - from);
    return b->write && (core->wrote_same || here);
}

static enum SimFaultCode race_code(const Look *b, const SpanAccess *a, bool a_writes, uint64_t from,
                                   uint64_t to)
{
    if (changes_nothing(b, from, to))
        return SIM_FAULT_SAME_BYTES;
    if (a->core != b->core)
        return SIM_FAULT_CORE_RACE;
    if (a->pipe == b->r->pipe)
        return SIM_FAULT_NO_BARRIER;
    if (!b->write)
        return SIM_FAULT_READ_TOO_EARLY;
    return a_writes ? SIM_FAULT_WRITE_ORDER : SIM_FAULT_WRITE_TOO_EARLY;
}

static const char *other_api(const SpanAccess *a)
{
    const NpuIsa *row = npu_isa(a->op);
    return row && *row->api ? row->api : row ? row->instruction : "";
}

/* What two cores do to the same elements, the store first. */
static const char *cores_text(const Look *b, const SpanAccess *a, bool a_writes, uint64_t from,
                              uint64_t to)
{
    Sim *sim = b->h->sim;
    const NpuIsa *row = npu_isa(b->r->op);
    const char *range = sim_range_text(sim, b->space, from, to), *mine = row ? row->api : "";
    if (a_writes && b->write)
        return str_format(&sim->arena, "core %u (line %u) and core %u (line %u) both store %s",
                          a->core, a->line, b->core, b->r->line, range);
    if (a_writes)
        return str_format(&sim->arena,
                          "core %u stores %s at line %u (%s), core %u reads it at line %u (%s)",
                          a->core, range, a->line, other_api(a), b->core, b->r->line, mine);
    return str_format(&sim->arena,
                      "core %u stores %s at line %u (%s), core %u reads it at line %u (%s)",
                      b->core, range, b->r->line, mine, a->core, a->line, other_api(a));
}

static void report(const Look *b, const SpanAccess *a, bool a_writes, uint64_t from, uint64_t to)
{
    Sim *sim = b->h->sim;
    Step s = {.sim = sim, .core = &sim->core[b->core], .r = b->r, .core_index = b->core};
    SimFault race = {.code = race_code(b, a, a_writes, from, to),
                     .range = {{b->space, b->write, from, to}, {b->space, a_writes, from, to}},
                     .other_file = sim_name(&sim->core[a->core], a->file),
                     .other_line = a->line,
                     .inserted = compiler_inserts(b, a)};
    if (sim_repeats_fault(&s, race))
        return;
    SimSpot spot = spot_of_race(b, a, a_writes, from, to);
    race.file = spot.file;
    race.line = spot.line;
    race.repair = repair_of(b, a, a_writes, spot, from);
    if (a->core != b->core) {
        sim_report_fault(&s, race, "%s: nothing orders the two cores",
                         cores_text(b, a, a_writes, from, to));
        return;
    }
    sim_report_fault(
        &s, race, "%s %s %s at line %u that %s (%s, line %u) %s: %s%s", npu_pipe_name(b->r->pipe),
        b->write ? "may write" : "may read", sim_range_text(sim, b->space, from, to), b->r->line,
        other_api(a), npu_pipe_name(a->pipe), a->line, a_writes ? "writes" : "still reads",
        what_to_do(b, a, &sim->arena), race.inserted ? " (the device compiler inserts it)" : "");
}

/* Cores that talk through GM words with their scalar units (polling, message queues) synchronise
 * by that: what one reads after another wrote it tells of all the other did before it wrote. */
static void note_told(Hazard *h, HazardCore *core, uint32_t when)
{
    const Told *last = core->told.len ? &vec_last(&core->told) : NULL;
    Told now = {when, core->issued, last ? last->others : NULL};
    now.issued.done[NPU_PIPE_S] = 0; /* `when` stands for it */
    if (last && !core->learnt && memcmp(&now.issued, &last->issued, sizeof now.issued) == 0)
        return;
    if (core->learnt) {
        Clock *others = arena_array(&h->arena, Clock, h->cores);
        memcpy(others, core->others, h->cores * sizeof *others);
        now.others = others;
    }
    core->learnt = false;
    vec_push(&h->arena, &core->told, now);
}

static const Told *told_at(const HazardCore *core, uint32_t when)
{
    uint32_t low = 0, high = core->told.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (core->told.at[middle].when <= when)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &core->told.at[low - 1] : NULL;
}

static Clock *others_of(Hazard *h, HazardCore *core)
{
    if (!core->others)
        core->others = arena_array(&h->arena, Clock, h->cores);
    return core->others;
}

static void hear(Hazard *h, uint32_t index, const SpanAccess *a)
{
    HazardCore *core = &h->core[index];
    Clock *others = others_of(h, core);
    const Told *told = told_at(&h->core[a->core], a->when);
    if (!told || others[a->core].done[NPU_PIPE_S] >= a->when)
        return;
    for (uint32_t i = 0; told->others && i < h->cores; i++)
        if (i != index)
            learn(&others[i], &told->others[i]);
    learn(&others[a->core], &told->issued);
    others[a->core].done[NPU_PIPE_S] = a->when;
    core->learnt = true;
}

static bool scalar_talk(const Look *b, const SpanAccess *a, bool a_writes)
{
    if (a->core == b->core || a->pipe != NPU_PIPE_S || b->r->pipe != NPU_PIPE_S)
        return false;
    if (a_writes && !b->write)
        hear(b->h, b->core, a);
    return true;
}

/* False: nothing orders a before b, and that was reported. */
static bool order(Look *b, const SpanAccess *a, bool a_writes, uint64_t from, uint64_t to)
{
    if (a->when == 0 || scalar_talk(b, a, a_writes))
        return true;
    HazardCore *core = &b->h->core[b->core];
    ++*(b->space == NPU_GM ? &b->h->pairs : &core->pairs);
    if (finished(b, a) || hardware_orders(b, a, a_writes))
        return true;
    if (!b->h->strict && compiler_inserts(b, a)) {
        uint32_t *done = &core->pipe[b->r->pipe].done[a->pipe];
        *done = a->when > *done ? a->when : *done;
        ++*(b->space == NPU_GM ? &b->h->inserted : &core->inserted);
        return true;
    }
    report(b, a, a_writes, from, to);
    return false;
}

/* --- the accesses of one instruction --- */

/* Where to keep this access beside the readers: a pipe's later one stands for its earlier ones. NULL:
 * no room. */
static SpanAccess *reader_slot(const Look *b, Span *span, uint32_t readers)
{
    for (uint32_t i = 0; i < readers; i++) {
        SpanAccess *a = &span->reader[i];
        if (a->when == 0 || (a->core == b->core && a->pipe == b->r->pipe))
            return a;
    }
    return NULL;
}

/* Readers came after the writer: a write ordered after them is ordered after it. Not where a reader
 * leans on what the compiler inserts and that does not count. */
static bool writer_counts(const Span *span, uint32_t readers)
{
    bool counts = span->reader[0].when == 0;
    for (uint32_t i = 0; i < readers; i++)
        counts |= span->reader[i].flags & (SPAN_SAME | SPAN_LOOSE);
    return counts;
}

/* Atomic stores commute with each other and with nothing else: they stand beside the readers, so
 * that the plain store before them still counts for the atomic stores of other cores. A store of the
 * same bytes that nothing orders stands there too: what is read later need not wait for it, what is
 * written later must. */
static bool visit(void *context, uint64_t from, uint64_t to, Span *span, uint32_t readers)
{
    Look *b = context;
    bool ordered = true, atomic = b->write && (b->me.flags & SPAN_ATOMIC);
    bool beside = !b->write || atomic;
    SpanAccess *slot = beside || changes_nothing(b, from, to) ? reader_slot(b, span, readers)
                                                              : &span->writer;
    if (!slot)
        return false;
    if (beside || writer_counts(span, readers))
        ordered = order(b, &span->writer, true, from, to);
    for (uint32_t i = 0; i < readers && span->reader[i].when; i++) {
        const SpanAccess *a = &span->reader[i];
        if (b->write || (a->flags & SPAN_ATOMIC))
            ordered &= order(b, a, a->flags & (SPAN_SAME | SPAN_ATOMIC), from, to);
    }
    if (beside) {
        *slot = b->me;
        if (!ordered && !b->write && compiler_inserts(b, &span->writer))
            slot->flags |= SPAN_LOOSE;
    } else if (!ordered && changes_nothing(b, from, to)) {
        *slot = b->me;
        slot->flags |= SPAN_SAME;
    } else {
        memset(span->reader, 0, readers * sizeof *span->reader);
        span->writer = b->me;
    }
    return true;
}

/* The region an access begins in; NULL where nothing can race, as inputs are never written. */
static HazardRegion *gm_that_matters(Hazard *h, uint64_t byte)
{
    const SimGm *gm = sim_gm_find(h->sim, byte);
    bool written = gm && gm->region.role != SIM_IN && gm->region.role != SIM_TILING;
    return written ? region_of(h, gm) : NULL;
}

static void look_run(Look *b, uint64_t from, uint64_t to)
{
    if (b->space != NPU_GM) {
        Spans *spans = &b->h->core[b->core].spans[b->space];
        if (spans->at)
            spans_visit(spans, from, to, visit, b);
        return;
    }
    const HazardRegion *region = b->region;
    uint64_t first = (from - region->base) / PAGE, last = (to - 1 - region->base) / PAGE;
    for (uint64_t page = first; page <= last && page < region->count; page++) {
        uint64_t begin = region->base + page * PAGE, end = begin + PAGE;
        spans_visit(page_of(region, page), from > begin ? from : begin, to < end ? to : end, visit,
                    b);
    }
}

/* False: nothing can race there. */
static bool begin_gm(Look *b, const SimAccess *a)
{
    HazardCore *core = &b->h->core[b->core];
    b->region = b->h->sim->again ? NULL : gm_that_matters(b->h, a->at);
    if (!b->region)
        return false;
    core->scalar_gm |= b->r->pipe == NPU_PIPE_S;
    hazard_repeat_note(core, b->r->pipe, b->me.when);
    if (b->r->pipe == NPU_PIPE_S && a->write)
        note_told(b->h, core, b->me.when);
    return true;
}

/* What lies end to end is one run; what is read again and again at one place is read once. */
static SimAccess joined(const SimAccess *a)
{
    SimAccess j = *a;
    if (j.inner_step == j.run || (!j.write && j.inner_step == 0 && j.inner)) {
        j.run *= j.inner_step ? j.inner : 1;
        j.inner = 1;
    }
    if (j.inner == 1 && (j.outer_step == j.run || (!j.write && j.outer_step == 0 && j.outer))) {
        j.run *= j.outer_step ? j.outer : 1;
        j.outer = 1;
    }
    return j;
}

static void look_access(Look *b, const SimAccess *access)
{
    b->space = access->space;
    b->write = access->write;
    b->me.flags = b->write ? b->flags : b->flags & (uint8_t)~SPAN_ATOMIC;
    if (access->run == 0 || access->run > 1ull << 32 ||
        (access->space == NPU_GM && !begin_gm(b, access)))
        return;
    SimAccess a = joined(access);
    for (uint32_t o = 0; o < a.outer; o++)
        for (uint32_t i = 0; i < a.inner; i++) {
            uint64_t from = a.at + o * a.outer_step + i * a.inner_step;
            look_run(b, from, from + a.run);
        }
}

static bool is_large(const Record *r)
{
    return r->op == NPU_MMAD &&
           ((uint64_t)r->n[0] + 15) / 16 * (((uint64_t)r->n[1] + 15) / 16) >= 10;
}

static uint8_t access_flags(const HazardCore *core, const Record *r)
{
    uint8_t flags = 0;
    bool out = r->pipe == NPU_PIPE_MTE3 || r->pipe == NPU_PIPE_FIX;
    if (core->atomic && out)
        flags |= SPAN_ATOMIC;
    if ((r->op == NPU_MMAD && r->n[3]) ||
        ((r->op == NPU_FIXPIPE_GM || r->op == NPU_FIXPIPE_L1) && r->mask[1]))
        flags |= SPAN_UNIT;
    if (is_large(r))
        flags |= SPAN_LARGE;
    return flags;
}

static Look look_at(Hazard *h, uint32_t index, const Record *r, uint32_t when)
{
    return (Look){.h = h,
                  .core = index,
                  .r = r,
                  .flags = access_flags(&h->core[index], r),
                  .me = {.when = when,
                         .line = r->line,
                         .file = r->file,
                         .op = r->op,
                         .core = (uint16_t)index,
                         .pipe = r->pipe}};
}

static void look(Hazard *h, uint32_t index, const Record *r)
{
    HazardCore *core = &h->core[index];
    const SimTouched *t = sim_touched(h->sim, &h->sim->core[index], r);
    if (t->n == 0)
        return;
    if (r->pipe != NPU_PIPE_S)
        learn(&core->pipe[r->pipe], &core->pipe[NPU_PIPE_S]);
    Look b = look_at(h, index, r, core->issued.done[r->pipe] + 1);
    for (int writes = 0; writes < 2; writes++) /* what it reads, then what it writes */
        for (uint32_t i = 0; i < t->n; i++)
            if (t->access[i].write == writes && t->access[i].space < NPU_SPACE_COUNT)
                look_access(&b, &t->access[i]);
    core->issued.done[r->pipe]++;
}

void hazard_look_gm(Hazard *h, uint32_t index, const Record *r, uint32_t when)
{
    const SimTouched *t = sim_touched(h->sim, &h->sim->core[index], r);
    Look b = look_at(h, index, r, when);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->access[i].space == NPU_GM)
            look_access(&b, &t->access[i]);
}

/* --- synchronisation inside a core --- */

static void set_flag(HazardCore *core, const Record *r)
{
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    uint8_t *sets = &core->flags[r->pipe][r->mode][r->n[0]];
    *sets = *sets < 2 ? (uint8_t)(*sets + 1) : 2;
    Clock *flag = &core->flag[r->pipe][r->mode][r->n[0]][*sets - 1];
    *flag = core->pipe[r->pipe];
    learn(flag, &core->pipe[NPU_PIPE_S]);
    flag->done[r->pipe] = core->issued.done[r->pipe];
}

static void wait_flag(HazardCore *core, const Record *r)
{
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    Clock *flag = core->flag[r->pipe][r->mode][r->n[0]];
    uint8_t *sets = &core->flags[r->pipe][r->mode][r->n[0]];
    if (*sets == 0)
        return;
    learn(&core->pipe[r->mode], &flag[0]);
    flag[0] = flag[1];
    --*sets;
}

static void barrier(HazardCore *core, uint8_t which)
{
    for (uint32_t p = 0; p < PIPES; p++) {
        if (which == NPU_PIPE_ALL)
            learn(&core->pipe[p], &core->issued);
        else if (p == which)
            core->pipe[p].done[p] = core->issued.done[p];
    }
}

/* --- between cores --- */

static Clock *snapshot(Hazard *h, uint32_t index, uint8_t pipe)
{
    HazardCore *core = &h->core[index];
    Clock *all = arena_array(&h->arena, Clock, h->cores);
    for (uint32_t i = 0; core->others && i < h->cores; i++)
        all[i] = core->others[i];
    all[index] = core->pipe[pipe];
    learn(&all[index], &core->pipe[NPU_PIPE_S]);
    all[index].done[pipe] = core->issued.done[pipe];
    return all;
}

static void take_clocks(Hazard *h, uint32_t index, const Clock *all)
{
    Clock *others = others_of(h, &h->core[index]);
    for (uint32_t i = 0; i < h->cores; i++)
        learn(&others[i], &all[i]);
    h->core[index].learnt = true;
}

static void push(Parcel *p, Clock *all)
{
    if (p->len < PENDING)
        p->sent[p->len++] = all;
}

static Clock *pop(Parcel *p)
{
    if (p->len == 0)
        return NULL;
    Clock *first = p->sent[0];
    memmove(p->sent, p->sent + 1, --p->len * sizeof *p->sent);
    return first;
}

static bool partners(const Sim *sim, uint32_t a, uint32_t b, uint32_t mode)
{
    const SimCore *x = &sim->core[a].pub, *y = &sim->core[b].pub;
    return x->aic == y->aic && (mode == 0 || x->block == y->block);
}

/* Everybody of the group has sent: one joined snapshot to all who will wait for it. */
static void cross_set(Hazard *h, uint32_t index, const Record *r)
{
    uint32_t mode = r->mode, flag = r->n[0];
    if (mode > 2 || flag > 15)
        return;
    push(&h->core[index].sent[mode][flag], snapshot(h, index, r->pipe < PIPES ? r->pipe : 0));
    for (uint32_t i = 0; i < h->cores; i++)
        if (partners(h->sim, index, i, mode) && h->core[i].sent[mode][flag].len == 0)
            return;
    Clock *joined = arena_array(&h->arena, Clock, h->cores);
    for (uint32_t i = 0; i < h->cores; i++) {
        Clock *part = partners(h->sim, index, i, mode) ? pop(&h->core[i].sent[mode][flag]) : NULL;
        for (uint32_t k = 0; part && k < h->cores; k++)
            learn(&joined[k], &part[k]);
    }
    const SimCore *me = &h->sim->core[index].pub;
    for (uint32_t i = 0; i < h->cores; i++) {
        const SimCore *c = &h->sim->core[i].pub;
        bool told = mode == 2 ? c->block == me->block && c->aic != me->aic
                              : partners(h->sim, index, i, mode);
        if (told)
            push(&h->core[i].ready[flag], joined);
    }
}

static void cross_wait(Hazard *h, uint32_t index, const Record *r)
{
    Clock *all = r->n[0] < 16 ? pop(&h->core[index].ready[r->n[0]]) : NULL;
    if (all)
        take_clocks(h, index, all);
}

/* All that a core has done, and what it knows of others. */
static void join(const Hazard *h, uint32_t index, Clock *all)
{
    const HazardCore *core = &h->core[index];
    for (uint32_t i = 0; core->others && i < h->cores; i++)
        if (i != index)
            learn(&all[i], &core->others[i]);
    learn(&all[index], &core->issued);
}

/* The first core through sees all the others standing at the same call. */
static void sync_all(Hazard *h, uint32_t index, const Record *r)
{
    uint32_t which = r->mode & 1;
    HazardCore *core = &h->core[index];
    barrier(core, NPU_PIPE_ALL);
    if (++core->sync_calls[which] > h->sync_epoch[which]) {
        h->sync_epoch[which] = core->sync_calls[which];
        Clock *all = arena_array(&h->arena, Clock, h->cores);
        for (uint32_t i = 0; i < h->cores; i++)
            if (which == 1 || partners(h->sim, index, i, 0))
                join(h, i, all);
        h->sync_snapshot[which] = all;
    }
    take_clocks(h, index, h->sync_snapshot[which]);
}

/* --- the observer --- */

static void note_register(HazardCore *core, const Record *r)
{
    if (r->mode == REC_REG_ATOMIC)
        core->atomic = (r->scalar & 0xFF) != REC_ATOMIC_NONE;
}

static void open_core(Hazard *h, uint32_t index)
{
    const NpuChip *chip = h->sim->config.chip;
    if (h->core[index].opened)
        return;
    h->core[index].opened = true;
    for (uint32_t space = NPU_UB; space < NPU_SPACE_COUNT; space++)
        if (!h->core[index].spans[space].at && h->sim->core[index].memory[space].bytes)
            spans_open(&h->core[index].spans[space], 0, npu_space_bytes(chip, space));
}

static void observe(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    Hazard *h = context;
    HazardCore *c = &h->core[core];
    (void)sim, (void)index;
    open_core(h, core);
    switch (r->op) {
    case NPU_SET_FLAG: set_flag(c, r); break;
    case NPU_WAIT_FLAG: wait_flag(c, r); break;
    case NPU_BARRIER: barrier(c, r->mode); break;
    case NPU_CROSS_SET: cross_set(h, core, r); break;
    case NPU_CROSS_WAIT: cross_wait(h, core, r); break;
    case NPU_SYNC_ALL: sync_all(h, core, r); break;
    case NPU_SET_REGISTER: note_register(c, r); break;
    default:
        if (r->pipe < PIPES) {
            look(h, core, r);
            hazard_look_at_use(h, core, r);
        }
    }
}

Hazard *hazard_open(Sim *sim, bool strict)
{
    Hazard *h = heap_alloc(sizeof *h);
    h->sim = sim;
    h->strict = strict;
    h->cores = sim->cores;
    h->core = arena_array(&h->arena, HazardCore, h->cores);
    sim_observe_repeats(sim, observe, &hazard_repeat, h);
    return h;
}

void hazard_close(Hazard *h)
{
    if (!h)
        return;
    for (uint32_t i = 0; i < h->cores; i++)
        for (uint32_t space = 0; space < NPU_SPACE_COUNT; space++)
            spans_close(&h->core[i].spans[space]);
    for (uint32_t i = 0; i < h->region_count; i++) {
        for (uint64_t k = 0; k < h->regions[i].count; k++)
            spans_close(&h->regions[i].pages[k]);
        heap_free(h->regions[i].pages);
    }
    heap_free(h->regions);
    hazard_repeat_close(h);
    hazard_use_close(h);
    arena_drop(&h->arena);
    heap_free(h);
}

void hazard_counts(const Hazard *hazard, uint64_t *pairs, uint64_t *inserted)
{
    *pairs = hazard->pairs;
    *inserted = hazard->inserted;
    for (uint32_t i = 0; i < hazard->cores; i++) {
        *pairs += hazard->core[i].pairs;
        *inserted += hazard->core[i].inserted;
    }
}
