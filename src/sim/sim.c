/* The simulator's frame: cores, GM, the dispatch of records to instructions, the end of a run.
 * In: records of each core. Out: what sim.h promises. */
#include "sim/sim_int.h"
#include <stdio.h>

static uint32_t cores_per_block(SimKind kind)
{
    return kind == SIM_MIX_1_2 ? 3 : kind == SIM_MIX_1_1 ? 2 : 1;
}

static void *take_memory(Sim *sim, uint32_t core, const char *what, size_t bytes)
{
    if (!sim->config.map)
        return heap_alloc(bytes);
    char name[64];
    snprintf(name, sizeof name, "core%u.%s", core, what);
    void *memory = sim->config.map(sim->config.context, name, bytes);
    return memory ? memory : heap_alloc(bytes);
}

static void release(Sim *sim, void *memory, size_t bytes)
{
    if (!memory)
        return;
    if (!sim->config.map)
        heap_free(memory);
    else if (sim->config.unmap)
        sim->config.unmap(sim->config.context, memory, bytes);
}

static bool core_has(const CoreState *core, uint32_t space)
{
    if (space == NPU_UB)
        return !core->pub.aic;
    return core->pub.aic && space >= NPU_L1 && space <= NPU_FB;
}

/* Memories are made when a core is first looked at, so that many blocks cost little. */
static void attach(Sim *sim, uint32_t index)
{
    CoreState *core = &sim->core[index];
    if (core->attached)
        return;
    core->attached = true;
    core->pub.view = take_memory(sim, index, "view", sizeof(RecordView));
    if (!sim->config.no_data)
        history_open(core);
    for (uint32_t space = NPU_UB; space < NPU_SPACE_COUNT; space++) {
        if (!core_has(core, space))
            continue;
        uint32_t bytes = npu_space_bytes(sim->config.chip, space);
        core->memory[space].bytes = core->pub.bytes[space] = bytes;
        if (sim->config.no_data && (space != NPU_UB || !sim->config.image))
            continue;
        uint8_t *at = take_memory(sim, index, npu_space_name(space), bytes);
        if (sim->config.no_data)
            memcpy(at, sim->config.image, bytes);
        else
            memset(at, sim->config.littered ? 0x5B : 0xFF, bytes);
        core->pub.memory[space] = at;
        SimMemory *m = &core->memory[space];
        *m = (SimMemory){at, heap_alloc((bytes / 64 + 1) * sizeof(uint64_t)), bytes};
    }
}

static void detach(Sim *sim, CoreState *core)
{
    for (uint32_t space = NPU_UB; space < NPU_SPACE_COUNT; space++) {
        heap_free(core->memory[space].known);
        release(sim, core->pub.memory[space], core->pub.bytes[space]);
        core->memory[space] = (SimMemory){0};
        core->pub.memory[space] = NULL;
    }
    heap_free(core->unchanged.known);
    core->unchanged = (SimMemory){0};
}

static void place_cores(Sim *sim)
{
    SimKind kind = sim->config.kind;
    uint32_t per = cores_per_block(kind);
    for (uint32_t i = 0; i < sim->cores; i++) {
        SimCore *c = &sim->core[i].pub;
        c->block = i / per;
        c->aic = kind == SIM_AIC || (per > 1 && i % per == 0);
        c->sub = c->aic || per == 1 ? 0 : i % per - 1;
    }
}

Sim *sim_open(const SimConfig *config)
{
    if (!config->chip || !config->chip->simulated || config->blocks == 0 || config->blocks > 65535)
        return NULL;
    Sim *sim = heap_alloc(sizeof *sim);
    sim->config = *config;
    sim->cores = sim->alive = config->blocks * cores_per_block(config->kind);
    sim->core = arena_array(&sim->arena, CoreState, sim->cores);
    place_cores(sim);
    if (config->no_data && !config->no_memo && !config->image)
        sim->memo = memo_open(sim);
    return sim;
}

void sim_close(Sim *sim)
{
    if (!sim)
        return;
    for (uint32_t i = 0; i < sim->cores; i++) {
        detach(sim, &sim->core[i]);
        release(sim, sim->core[i].pub.view, sizeof(RecordView));
        history_close(&sim->core[i]);
        buf_free(&sim->core[i].text);
    }
    for (uint32_t i = 0; i < sim->gm.len; i++)
        cover_close(&sim->gm.at[i]->cover);
    memo_close(sim->memo);
    buf_free(&sim->printed);
    arena_drop(&sim->arena);
    heap_free(sim);
}

bool sim_gm_add(Sim *sim, const SimRegion *region)
{
    const uint64_t top = 1ull << 56;
    if (region->bytes == 0 || (!region->memory && !sim->config.no_data) || region->base >= top ||
        region->bytes > top - region->base)
        return false;
    uint32_t at = 0;
    while (at < sim->gm.len && sim->gm.at[at]->region.base < region->base)
        at++;
    if (at > 0) {
        const SimRegion *before = &sim->gm.at[at - 1]->region;
        if (before->base + before->bytes > region->base)
            return false;
    }
    if (at < sim->gm.len && region->base + region->bytes > sim->gm.at[at]->region.base)
        return false;
    SimGm *gm = arena_new(&sim->arena, SimGm);
    gm->region = *region;
    gm->number = sim->gm.len;
    gm->region.name = str_dup(&sim->arena, str_from(region->name));
    bool written = region->role == SIM_OUT || region->role == SIM_WORKSPACE ||
                   region->role == SIM_INOUT;
    if (region->role == SIM_IN || (sim->config.no_data && region->role == SIM_OUT))
        cover_open(&gm->cover, region->bytes);
    memory_open(&gm->memory, region->memory, region->bytes, sim->config.no_data || !written,
                &sim->arena);
    if (region->role == SIM_INOUT)
        memory_set_known(&gm->memory, 0, region->bytes, true);
    vec_push(&sim->arena, &sim->gm, gm);
    memmove(&sim->gm.at[at + 1], &sim->gm.at[at], (sim->gm.len - 1 - at) * sizeof *sim->gm.at);
    sim->gm.at[at] = gm;
    return true;
}

void sim_observe(Sim *sim, SimObserver *observer, void *context)
{
    sim_observe_repeats(sim, observer, NULL, context);
}

void sim_observe_repeats(Sim *sim, SimObserver *observer, const SimRepeat *repeat, void *context)
{
    vec_push(&sim->arena, &sim->watchers, ((SimWatcher){observer, context, repeat}));
}

uint32_t sim_core_count(const Sim *sim) { return sim->cores; }

const SimCore *sim_core(Sim *sim, uint32_t core)
{
    if (core >= sim->cores)
        return NULL;
    attach(sim, core);
    return &sim->core[core].pub;
}

/* --- text records --- */

enum { PRINTED_MOST = 1 << 20 };

/* The one copy of a name: cores number their names differently and mean the same. */
static const char *intern(Sim *sim, Str text)
{
    uint32_t at;
    if (!map_get(&sim->name_numbers, text, &at)) {
        const char *kept = str_dup(&sim->arena, text);
        at = sim->names.len;
        vec_push(&sim->arena, &sim->names, kept);
        map_put(&sim->arena, &sim->name_numbers, (Str){kept, text.len}, at);
    }
    return sim->names.at[at];
}

static void define_name(Sim *sim, CoreState *core, uint16_t id)
{
    while (core->names.len <= id)
        vec_push(&sim->arena, &core->names, NULL);
    core->names.at[id] = intern(sim, buf_view(&core->text));
}

static void define_place(Sim *sim, CoreState *core, const RecordText *t)
{
    Str text = buf_view(&core->text);
    SimPlace place = {.spot = {sim_name(core, t->file), t->line}};
    if (text.len == sizeof place.window)
        memcpy(&place.window, text.at, sizeof place.window);
    while (core->places.len <= t->id)
        vec_push(&sim->arena, &core->places, (SimPlace){.spot.file = ""});
    core->places.at[t->id] = place;
}

static void text_done(Step *s, const RecordText *t)
{
    CoreState *core = s->core;
    Str text = buf_view(&core->text);
    if (t->kind == REC_TEXT_NAME)
        define_name(s->sim, core, t->id);
    else if (t->kind == REC_TEXT_PLACE)
        define_place(s->sim, core, t);
    else if (t->kind == REC_TEXT_PRINT && s->sim->printed.len + text.len <= PRINTED_MOST)
        buf_str(&s->sim->printed, text);
    else if (t->kind == REC_TEXT_ASSERT)
        sim_report(s, SIM_FAULT_ASSERTED, "%.*s", STR_ARG(text));
    buf_clear(&core->text);
    core->in_text = false;
}

static bool exec_text(Step *s)
{
    RecordText t;
    memcpy(&t, s->r, sizeof t);
    CoreState *core = s->core;
    bool follows = !core->in_text || (core->text_kind == t.kind && core->text_id == t.id);
    if (t.op != REC_TEXT || t.kind >= REC_TEXT_KIND_COUNT || t.length > REC_TEXT_BYTES ||
        !follows || core->text.len + t.length > REC_TEXT_LONGEST) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "text record of kind %u, %u bytes", t.kind, t.length);
        return false;
    }
    buf_add(&core->text, t.text, t.length);
    core->in_text = true;
    core->text_kind = t.kind;
    core->text_id = t.id;
    if (!t.more) {
        Record place = {.op = NPU_TRAP, .file = t.file, .line = t.line};
        s->r = &place;
        text_done(s, &t);
    }
    return !s->failed;
}

/* --- dispatch --- */

static bool exec_form(Step *s, enum NpuForm form)
{
    switch (form) {
    case NPU_F_BINARY:
    case NPU_F_TERNARY:
    case NPU_F_UNARY:
    case NPU_F_SCALAR:
    case NPU_F_AXPY:
    case NPU_F_DUP: return exec_vector(s);
    case NPU_F_CAST: return exec_cast(s);
    case NPU_F_REDUCE: return exec_reduce(s);
    case NPU_F_COMPARE: return exec_compare(s);
    case NPU_F_SELECT: return exec_select(s);
    case NPU_F_GATHER: return exec_gather(s);
    case NPU_F_MOVE: return exec_move(s);
    case NPU_F_SORT: return exec_sort(s);
    case NPU_F_COPY: return exec_copy(s);
    case NPU_F_LOAD: return exec_load(s);
    case NPU_F_CUBE: return exec_mmad(s);
    case NPU_F_FIXPIPE: return exec_fixpipe(s);
    case NPU_F_SYNC: return exec_sync(s);
    case NPU_F_SCALAR_ACCESS: return exec_scalar_access(s);
    case NPU_F_REGISTER: return exec_register(s);
    case NPU_F_BOOK: return exec_queue(s);
    case NPU_F_COUNT: break;
    }
    return false;
}

/* What holds for every record before its own function looks at it. */
static bool check_common(Step *s, const NpuIsa *row)
{
    const Record *r = s->r;
    for (int i = 0; i < 3; i++)
        if (r->dtype[i] >= NPU_DT_COUNT) {
            sim_report(s, SIM_FAULT_BAD_RECORD, "element type %u", r->dtype[i]);
            return false;
        }
    if (r->pipe >= NPU_PIPE_ALL) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "pipe %u", r->pipe);
        return false;
    }
    if (row->dtypes && !(row->dtypes >> r->dtype[0] & 1) && row->form != NPU_F_CAST &&
        row->form != NPU_F_COMPARE && row->form != NPU_F_SCALAR_ACCESS) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "%s does not take %s on %s", row->instruction,
                   npu_dtype_text(r->dtype[0]), s->sim->config.chip->name);
        return false;
    }
    bool cube = row->pipe == NPU_PIPE_M || row->pipe == NPU_PIPE_MTE1 || row->pipe == NPU_PIPE_FIX;
    if ((cube && !s->core->pub.aic) || (row->pipe == NPU_PIPE_V && s->core->pub.aic)) {
        sim_report(s, SIM_FAULT_NOT_HERE, "%s runs on %s cores", row->instruction,
                   cube ? "cube" : "vector");
        return false;
    }
    return true;
}

bool sim_execute(Step *s)
{
    if (s->r->op & REC_TEXT)
        return exec_text(s);
    const NpuIsa *row = npu_isa(s->r->op);
    if (!row) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "operation %u", s->r->op);
        return false;
    }
    s->sim->stat[s->r->op].records++;
    bool dry = s->sim->config.no_data && row->form != NPU_F_SYNC && row->form != NPU_F_REGISTER &&
               row->form != NPU_F_BOOK && !dry_can_compute(s, row->form);
    bool fine = check_common(s, row) && (dry ? exec_dry(s) : exec_form(s, row->form)) && !s->failed;
    if (fine && !s->sim->config.no_data)
        exec_note_reads(s);
    return fine;
}

static void stop_core(Sim *sim, CoreState *core)
{
    sim->alive -= !core->ended;
    core->stopped = core->ended = true;
    core->pub.view->stopped = 1;
}

static void end_core(Step *s)
{
    queue_finish(s);
    s->sim->alive -= !s->core->ended;
    s->core->ended = true;
    detach(s->sim, s->core);
}

SimState sim_feed(Sim *sim, uint32_t index, const Record *records, size_t n, size_t *used)
{
    *used = 0;
    if (index >= sim->cores)
        return SIM_STOPPED;
    CoreState *core = &sim->core[index];
    attach(sim, index);
    core->wait = WAIT_NOTHING;
    for (size_t i = 0; i < n; i++) {
        if (core->ended) {
            *used = n;
            return core->stopped ? SIM_STOPPED : SIM_ENDED;
        }
        if (sim->memo && memo_skip(sim->memo, index, &records[i])) {
            core->pub.view->done = ++core->index;
            continue;
        }
        Step s = {.sim = sim, .core = core, .r = &records[i], .core_index = index};
        if (records[i].op == NPU_CORE_END) {
            if (sim->memo)
                memo_end(sim->memo, index);
            end_core(&s);
            *used = i + 1;
            return SIM_ENDED;
        }
        if ((records[i].op == NPU_CROSS_WAIT || records[i].op == NPU_SYNC_ALL) &&
            sync_must_wait(&s)) {
            *used = i;
            return SIM_BLOCKED;
        }
        core->wrote_same = core->some_same = false;
        sim->touched.of = NULL;
        bool fine = sim_execute(&s);
        if (fine && !(records[i].op & REC_TEXT))
            for (uint32_t w = 0; w < sim->watchers.len; w++)
                sim->watchers.at[w].call(sim->watchers.at[w].context, sim, index, core->index,
                                         &records[i]);
        if (fine && !(records[i].op & REC_TEXT))
            history_add(core, &records[i]);
        if (!(records[i].op & REC_TEXT) && records[i].line && records[i].line != core->lines[0]) {
            memmove(core->lines + 1, core->lines, (SIM_BEFORE - 1) * sizeof *core->lines);
            core->lines[0] = records[i].line;
        }
        core->pub.view->done = ++core->index;
        if (sim->memo)
            memo_note(sim->memo, index, &records[i]);
        if (!fine && !sim->config.keep_going) {
            stop_core(sim, core);
            *used = n;
            return SIM_STOPPED;
        }
    }
    *used = n;
    return core->ended ? (core->stopped ? SIM_STOPPED : SIM_ENDED) : SIM_MORE;
}

bool sim_gave_up(Sim *sim, uint32_t core)
{
    if (core < sim->cores && sim->core[core].faulted)
        stop_core(sim, &sim->core[core]);
    return core < sim->cores && sim->core[core].faulted;
}

bool sim_can_run(const Sim *sim, uint32_t core)
{
    if (core >= sim->cores || sim->core[core].ended)
        return false;
    return sim->core[core].wait == WAIT_NOTHING || sync_ready(sim, core);
}

void sim_hang(Sim *sim)
{
    for (uint32_t i = 0; i < sim->cores; i++) {
        CoreState *core = &sim->core[i];
        if (core->ended || core->wait == WAIT_NOTHING)
            continue;
        Record place = {.op = core->wait == WAIT_ALL ? NPU_SYNC_ALL : NPU_CROSS_WAIT,
                        .file = core->wait_file,
                        .line = core->wait_line};
        Step s = {.sim = sim, .core = core, .r = &place, .core_index = i};
        sim_report(&s, SIM_FAULT_CROSS_NEVER_SET, "%s", sync_wait_text(&sim->arena, sim, i));
        stop_core(sim, core);
    }
}

/* --- the end --- */

static uint64_t count_missing(const Sim *sim, const SimGm *gm, uint64_t *first)
{
    return sim->config.no_data ? cover_missing(&gm->cover, first)
                               : memory_count_unknown(&gm->memory, first);
}

/* Whether another output is complete: then one that nobody touched is optional by its mode. */
static bool other_is_complete(const Sim *sim, const SimGm *but)
{
    uint64_t first;
    for (uint32_t i = 0; i < sim->gm.len; i++) {
        const SimGm *gm = sim->gm.at[i];
        if (gm != but && gm->region.role == SIM_OUT && gm->region.bytes &&
            count_missing(sim, gm, &first) == 0)
            return true;
    }
    return false;
}

/* Where windows on this region were set, if none of them holds the byte. */
static SimSpot uncovered_by_windows(const Sim *sim, const SimGm *gm, uint64_t byte)
{
    SimSpot found = {0};
    for (uint32_t c = 0; c < sim->cores; c++)
        for (uint32_t i = 0; i < sim->core[c].places.len; i++) {
            const SimPlace *p = &sim->core[c].places.at[i];
            uint64_t base = p->window.base;
            if (base < gm->region.base || base - gm->region.base >= gm->region.bytes)
                continue;
            if (!p->window.bytes || (byte >= base && byte - base < p->window.bytes))
                return (SimSpot){0};
            found = p->spot;
        }
    return found;
}

/* When a byte that nobody wrote lies between the parts of two cores: says where one part ends and the next begins.
 * NULL: it does not. */
static const char *between_parts(Sim *sim, const SimGm *gm, uint64_t byte)
{
    uint32_t before = sim->cores, behind = sim->cores;
    for (uint32_t c = 0; gm->part && c < sim->cores; c++) {
        const SimPart *part = &gm->part[c];
        if (part->to && part->from <= byte && byte < part->to)
            return NULL;
        if (part->to && part->to <= byte &&
            (before == sim->cores || part->to > gm->part[before].to))
            before = c;
        if (part->from > byte && (behind == sim->cores || part->from < gm->part[behind].from))
            behind = c;
    }
    if (before == sim->cores || behind == sim->cores || before == behind)
        return NULL;
    return str_format(&sim->arena, "; core %u ends with %s, core %u begins with %s", before,
                      sim_element_text(sim, gm, gm->part[before].to - 1), behind,
                      sim_element_text(sim, gm, gm->part[behind].from));
}

/* "is" or "are", for so many elements. */
static const char *is_or_are(uint64_t elements) { return elements == 1 ? "is" : "are"; }

static void finish_region(Sim *sim, SimGm *gm)
{
    uint64_t first, missing = count_missing(sim, gm, &first);
    bool in_place = gm->region.role == SIM_INOUT && gm->dirty;
    if (missing == 0 || !(gm->region.role == SIM_OUT || in_place))
        return;
    Record place = {.op = gm->op, .file = gm->file, .api = gm->api, .line = gm->line};
    Step s = {.sim = sim, .core = &sim->core[gm->core], .r = &place, .core_index = gm->core};
    uint32_t bits = npu_dtype_bits(gm->region.dtype) ? npu_dtype_bits(gm->region.dtype) : 8;
    uint64_t elements = (missing * 8 + bits - 1) / bits; /* one of which a byte is missing counts */
    SimRange range = {NPU_GM, true, gm->region.base + first, gm->region.base + first + 1};
    if (!gm->dirty && missing == gm->region.bytes && other_is_complete(sim, gm)) {
        sim_report_range(&s, SIM_FAULT_UNTOUCHED, range, "nothing is written to %s",
                         gm->region.name);
        return;
    }
    const char *where = sim_element_text(sim, gm, first);
    if (!gm->dirty) {
        place = (Record){.op = gm->op, .file = gm->store_file, .line = gm->store_line};
        s.core_index = gm->store_core;
        s.core = &sim->core[s.core_index];
        SimSpot set = uncovered_by_windows(sim, gm, gm->region.base + first);
        const char *parts = set.line ? NULL : between_parts(sim, gm, first);
        sim_report_fault(&s,
                         (SimFault){.code = SIM_FAULT_NOT_WRITTEN,
                                    .range = {range},
                                    .split = parts != NULL,
                                    .file = set.file,
                                    .line = set.line},
                         "%llu of %llu elements of %s %s never written, the first is %s%s",
                         (unsigned long long)elements,
                         (unsigned long long)(gm->region.bytes * 8 / bits), gm->region.name,
                         is_or_are(elements), where,
                         set.line         ? "; no core's GlobalTensor, as set here, holds it"
                         : parts          ? parts
                         : gm->store_line ? "; the last store to it is here"
                                          : "; no instruction stores to it");
        return;
    }
    sim_report_fault(
        &s,
        (SimFault){.code = SIM_FAULT_UNINITIALISED,
                   .range = {range},
                   .file = gm->origin.file,
                   .line = gm->origin.line},
        "%llu %s of %s %s undefined, the first is %s%s", (unsigned long long)elements,
        elements == 1 ? "element" : "elements", gm->region.name, is_or_are(elements), where,
        gm->origin.line && gm->origin.line != gm->line
            ? str_format(&sim->arena, "; they come from here and are copied out at line %u",
                         gm->line)
            : "; they are copied out here");
}

void sim_finish(Sim *sim)
{
    if (sim->finished)
        return;
    sim->finished = true;
    for (uint32_t i = 0; i < sim->cores; i++) {
        CoreState *core = &sim->core[i];
        if (sim->memo)
            memo_leave(sim->memo, i);
        Record place = {.op = NPU_CORE_END};
        Step s = {.sim = sim, .core = core, .r = &place, .core_index = i};
        if (!core->ended && core->wait == WAIT_NOTHING)
            sim_report(&s, SIM_FAULT_NOT_ENDED, "after %llu records",
                       (unsigned long long)core->index);
        for (uint32_t flag = 0; flag < 16; flag++)
            if (core->cross_ready[flag] && !core->stopped)
                sim_report(&s, SIM_FAULT_CROSS_LEFT, "flag %u, raised %u times and not waited for",
                           flag, core->cross_ready[flag]);
    }
    for (uint32_t i = 0; i < sim->gm.len; i++)
        finish_region(sim, sim->gm.at[i]);
}

const SimStat *sim_stat(const Sim *sim, uint32_t op)
{
    return op < NPU_OP_COUNT ? &sim->stat[op] : NULL;
}

uint64_t sim_passed_over(const Sim *sim) { return sim->memo ? memo_passed(sim->memo) : 0; }

Str sim_printed(const Sim *sim) { return buf_view(&sim->printed); }

bool sim_read_of(const Sim *sim, uint32_t number, SimReadOf *of)
{
    uint64_t first;
    for (uint32_t i = 0; i < sim->gm.len; i++) {
        const SimGm *gm = sim->gm.at[i];
        if (gm->number != number)
            continue;
        bool known = gm->region.role == SIM_IN;
        *of = (SimReadOf){.known = known, .bytes = gm->region.bytes};
        of->read = known ? of->bytes - cover_missing(&gm->cover, &first) : 0;
        return true;
    }
    return false;
}

uint64_t sim_unwritten(const Sim *sim, uint32_t region, uint64_t *first)
{
    *first = 0;
    if (region >= sim->gm.len)
        return 0;
    return count_missing(sim, sim->gm.at[region], first);
}
