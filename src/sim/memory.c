/* Memories and their shadow: a bit per byte says whether something defined was put there.
 * In: byte ranges an instruction means to touch. Out: checked pointers, or a fault. */
#include "sim/sim_int.h"

void memory_open(SimMemory *m, uint8_t *at, uint64_t bytes, bool known, Arena *arena)
{
    *m = (SimMemory){.at = at, .bytes = bytes};
    if (!known)
        m->known = arena_array(arena, uint64_t, bytes / 64 + 1);
}

/* The bits of word `w` that fall into [from, to). */
static uint64_t word_mask(uint64_t w, uint64_t from, uint64_t to)
{
    uint64_t mask = ~0ull;
    if (w == from / 64)
        mask &= ~0ull << (from % 64);
    if (w == (to - 1) / 64)
        mask &= ~0ull >> (63 - (to - 1) % 64);
    return mask;
}

bool memory_known(const SimMemory *m, uint64_t from, uint64_t bytes)
{
    if (!m->known || bytes == 0)
        return true;
    uint64_t to = from + bytes, first = from / 64, last = (to - 1) / 64, all = ~0ull;
    if ((m->known[first] | ~word_mask(first, from, to)) != ~0ull)
        return false;
    for (uint64_t w = first + 1; w < last; w++)
        all &= m->known[w];
    return (all & (m->known[last] | ~word_mask(last, from, to))) == ~0ull;
}

static void set_word(uint64_t *word, uint64_t mask, bool known)
{
    *word = known ? *word | mask : *word & ~mask;
}

void memory_set_known(SimMemory *m, uint64_t from, uint64_t bytes, bool known)
{
    if (!m->known || bytes == 0)
        return;
    uint64_t to = from + bytes, first = from / 64, last = (to - 1) / 64;
    set_word(&m->known[first], word_mask(first, from, to), known);
    if (last == first)
        return;
    memset(&m->known[first + 1], known ? 0xFF : 0, (last - first - 1) * sizeof *m->known);
    set_word(&m->known[last], word_mask(last, from, to), known);
}

static bool any_known(const SimMemory *m, uint64_t from, uint64_t bytes)
{
    uint64_t to = from + bytes, any = 0;
    for (uint64_t w = from / 64; bytes && w <= (to - 1) / 64; w++)
        any |= m->known[w] & word_mask(w, from, to);
    return any;
}

void sim_forget(const Sim *sim, SimMemory *m, uint64_t from, uint64_t bytes)
{
    const uint8_t *image = sim->config.image;
    if (image && m->known && any_known(m, from, bytes))
        memcpy(m->at + from, image + from, bytes);
    memory_set_known(m, from, bytes, false);
}

void memory_copy_known(SimMemory *d, uint64_t to, const SimMemory *s, uint64_t from, uint64_t n)
{
    if (memory_known(s, from, n)) {
        memory_set_known(d, to, n, true);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        memory_set_known(d, to + i, 1, memory_known(s, from + i, 1));
}

uint64_t memory_count_unknown(const SimMemory *m, uint64_t *first)
{
    uint64_t count = 0;
    *first = 0;
    if (!m->known || m->bytes == 0)
        return 0;
    for (uint64_t w = 0; w <= (m->bytes - 1) / 64; w++) {
        uint64_t missing = ~m->known[w] & word_mask(w, 0, m->bytes);
        if (missing && count == 0)
            *first = w * 64 + (uint64_t)__builtin_ctzll(missing);
        count += (uint64_t)__builtin_popcountll(missing);
    }
    return count;
}

static const char *const operand_name[4] = {"destination", "source", "second source",
                                            "third operand"};

/* Tensors of L0 at fixed addresses: their sizes are what the kernel says, often of the matrix and not of
 * the whole fractals that instructions write. To run over such an end is a fault where another tensor
 * starts, be it used before or later; else it is only a warning. */
enum { START_UNIT = 512 };

static bool is_l0(uint32_t space)
{
    return space == NPU_L0A || space == NPU_L0B || space == NPU_L0C;
}

static void note_start(Step *s, int operand, uint32_t space)
{
    const RecordOperand *o = &s->r->operand[operand];
    uint64_t at = rec_byte(o->address), unit = at / START_UNIT;
    if (!is_l0(space) || o->bytes <= 1 || unit >= 256)
        return;
    uint64_t *word = &s->core->starts[space][unit / 64], bit = 1ull << unit % 64;
    if (!(*word & bit) && at > s->core->overrun[space].from && at < s->core->overrun[space].to)
        sim_report(
            s, SIM_FAULT_TENSOR_BOUNDS,
            "%s starts at byte %llu of %s, where an earlier call ran past the end of another",
            operand_name[operand], (unsigned long long)at, npu_space_name(space));
    *word |= bit;
}

static bool some_tensor_in(const CoreState *core, uint32_t space, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < core->buffers.len; i++)
        if (rec_space(core->buffers.at[i].address) == space)
            return true; /* made by InitBuffer: sizes are sizes */
    for (uint64_t unit = (from + START_UNIT - 1) / START_UNIT; unit * START_UNIT < to; unit++)
        if (unit >= 256 || core->starts[space][unit / 64] >> unit % 64 & 1)
            return true;
    return false;
}

static bool only_overrun(Step *s, SimRange range, uint64_t end)
{
    CoreState *core = s->core;
    if (!is_l0(range.space) || range.from > range.to ||
        some_tensor_in(core, range.space, end, range.to))
        return false;
    if (core->overrun[range.space].to == 0 || end < core->overrun[range.space].from)
        core->overrun[range.space].from = end;
    if (range.to > core->overrun[range.space].to)
        core->overrun[range.space].to = range.to;
    return true;
}

SimMemory *sim_local(Step *s, int operand, uint32_t spaces)
{
    uint32_t space = rec_space(s->r->operand[operand].address);
    if (space >= NPU_SPACE_COUNT || space == NPU_NOWHERE) {
        sim_report(s, SIM_FAULT_BAD_RECORD, "%s names no memory", operand_name[operand]);
        return NULL;
    }
    if (!(spaces >> space & 1)) {
        sim_report(s, SIM_FAULT_BAD_SPACE, "%s lies in %s, which this call does not take",
                   operand_name[operand], npu_space_name(space));
        return NULL;
    }
    SimMemory *m = &s->core->memory[space];
    if (m->bytes == 0) {
        sim_report(s, SIM_FAULT_NO_MEMORY_HERE, "%s lies in %s, but this is a %s core",
                   operand_name[operand], npu_space_name(space),
                   s->core->pub.aic ? "cube" : "vector");
        return NULL;
    }
    note_start(s, operand, space);
    return m;
}

static bool past_memory(Step *s, int operand, const SimMemory *m, SimRange range)
{
    if (range.to <= m->bytes && range.from <= range.to)
        return false;
    if (sim_repeats_fault(s, (SimFault){.code = SIM_FAULT_OVERFLOW}))
        return true;
    SimSpot spot = spot_largest_buffer(s->core, range.space);
    sim_report_fault(
        s,
        (SimFault){
            .code = SIM_FAULT_OVERFLOW, .range = {range}, .file = spot.file, .line = spot.line},
        "%s touches %s bytes %llu to %llu; the memory has %llu%s", operand_name[operand],
        npu_space_name(range.space), (unsigned long long)range.from, (unsigned long long)range.to,
        (unsigned long long)m->bytes, spot.line ? ", and the largest buffer is made here" : "");
    return true;
}

/* A window that begins at its tensor's end or behind it has one byte (LocalTensor::operand). */
static const char *past_text(Step *s, int operand, SimRange range)
{
    const RecordOperand *o = &s->r->operand[operand];
    const SimBuffer *b = spot_operand_buffer(s->core, o);
    uint64_t base = rec_byte(o->address);
    Arena *arena = &s->sim->arena;
    if (o->bytes == 1 && b && base >= rec_byte(b->address) + b->bytes)
        return str_format(arena, "%s begins at or behind the end of its buffer of %u bytes",
                          operand_name[operand], b->bytes);
    if (o->bytes == 1)
        return str_format(arena, "%s begins at or behind the end of its tensor",
                          operand_name[operand]);
    return str_format(arena, "%s reaches %llu bytes past the end of its tensor of %u bytes",
                      operand_name[operand], (unsigned long long)(range.to - (base + o->bytes)),
                      o->bytes);
}

static void report_past_tensor(Step *s, int operand, SimRange range, uint64_t end)
{
    bool behind = range.from >= rec_byte(s->r->operand[operand].address);
    enum SimFaultCode code = behind && only_overrun(s, range, end) ? SIM_FAULT_FRACTAL_PAST
                                                                   : SIM_FAULT_TENSOR_BOUNDS;
    if (sim_repeats_fault(s, (SimFault){.code = code}))
        return;
    SimSpot spot = spot_short_operand(s, operand, range.write);
    const SimBuffer *made = s->r->flags & REC_OPEN_TENSOR
                                ? NULL
                                : spot_operand_buffer(s->core, &s->r->operand[operand]);
    sim_report_fault(s,
                     (SimFault){.code = code,
                                .range = {range},
                                .file = spot.file,
                                .line = spot.line,
                                .made_line = made ? made->line : 0},
                     "%s%s", past_text(s, operand, range),
                     spot.line
                         ? str_format(&s->sim->arena,
                                      "; its buffer is made at line %u, and all else that the call "
                                      "touches is long enough",
                                      spot.line)
                         : "");
}

bool sim_local_range(Step *s, int operand, const SimMemory *m, uint64_t from, uint64_t bytes,
                     bool write)
{
    const RecordOperand *o = &s->r->operand[operand];
    uint64_t base = rec_byte(o->address);
    SimRange range = {rec_space(o->address), write, from, from + bytes};
    if (past_memory(s, operand, m, range))
        return false;
    /* Buffers are whole blocks: InitBuffer rounds up, the bytes behind a short tensor are its. */
    uint64_t end = (base + o->bytes + 31) / 32 * 32;
    if (o->bytes && bytes && (range.to > end || from < base))
        report_past_tensor(s, operand, range, end);
    return true;
}

bool sim_aligned(Step *s, int operand, uint32_t unit)
{
    uint64_t address = s->r->operand[operand].address, byte = rec_byte(address);
    if (byte % unit == 0)
        return true;
    sim_report_range(
        s, SIM_FAULT_MISALIGNED, (SimRange){rec_space(address), operand == 0, byte, byte + unit},
        "%s starts at %s byte %llu, which is not a multiple of %u", operand_name[operand],
        npu_space_name(rec_space(address)), (unsigned long long)byte, unit);
    return false;
}

void sim_unchanged_open(Step *s, uint64_t from, uint64_t to)
{
    SimMemory *u = &s->core->unchanged;
    const SimMemory *ub = &s->core->memory[NPU_UB];
    s->core->some_same = s->sim->watchers.len && from < to && to <= ub->bytes;
    if (!s->core->some_same)
        return;
    if (!u->known)
        *u = (SimMemory){NULL, heap_alloc((ub->bytes / 64 + 1) * sizeof *u->known), ub->bytes};
    memory_set_known(u, from, to - from, false);
}

/* A tensor just allocated counts as undefined, but still holds what was last put there. All ones are
 * what memory starts with here: those are not checked. */
static bool holds_something(const SimMemory *m, uint64_t from, uint64_t bytes)
{
    bool written = memory_known(m, from, bytes);
    for (uint64_t i = 0; !written && i < bytes; i++)
        if (m->at[from + i] == 0xFF)
            return false;
    return true;
}

void sim_unchanged_note(Step *s, uint64_t to, const void *from, uint64_t bytes)
{
    const SimMemory *ub = &s->core->memory[NPU_UB];
    if (s->core->some_same && memcmp(ub->at + to, from, bytes) == 0 &&
        holds_something(ub, to, bytes))
        memory_set_known(&s->core->unchanged, to, bytes, true);
}

SimGm *sim_gm_find(Sim *sim, uint64_t byte)
{
    SimGm *last = sim->last_gm;
    if (last && byte >= last->region.base && byte - last->region.base < last->region.bytes)
        return last;
    uint32_t low = 0, high = sim->gm.len;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        SimGm *gm = sim->gm.at[mid];
        if (byte < gm->region.base)
            high = mid;
        else if (byte - gm->region.base >= gm->region.bytes)
            low = mid + 1;
        else
            return sim->last_gm = gm;
    }
    return NULL;
}

#define FAR_FROM_ALL (1ull << 36) /* bytes: no offset of a tensor is so long */

/* The region that ends or begins nearest to `byte`; NULL: all are far. */
static const SimGm *nearest_region(const Sim *sim, uint64_t byte)
{
    const SimGm *best = NULL;
    uint64_t least = FAR_FROM_ALL;
    for (uint32_t i = 0; i < sim->gm.len; i++) {
        const SimRegion *r = &sim->gm.at[i]->region;
        uint64_t end = r->base + r->bytes, away = byte < r->base ? r->base - byte : byte - end;
        if (away < least) {
            least = away;
            best = sim->gm.at[i];
        }
    }
    return best;
}

/* The tensor an access outside of all means: the one its GlobalTensor was set to; else the nearest. */
static const SimGm *meant_region(Step *s, uint64_t byte)
{
    SimPlace set = spot_window(s->core, s->r, byte);
    const SimGm *gm = set.window.base ? sim_gm_find(s->sim, set.window.base) : NULL;
    return gm ? gm : nearest_region(s->sim, set.window.base ? set.window.base : byte);
}

/* The elements of a tensor that some bytes would be, also before its start. */
static const char *elements_text(Sim *sim, const SimGm *gm, uint64_t byte, uint64_t bytes)
{
    const SimRegion *r = &gm->region;
    int64_t bits = npu_dtype_bits(r->dtype) ? (int64_t)npu_dtype_bits(r->dtype) : 8;
    int64_t from = ((int64_t)byte - (int64_t)r->base) * 8, to = from + (int64_t)bytes * 8;
    long long first = from < 0 ? -((-from + bits - 1) / bits) : from / bits;
    long long last = to <= 0 ? -(-to / bits) - 1 : (to + bits - 1) / bits - 1;
    const char *range = first == last
                            ? str_format(&sim->arena, "element %lld", first)
                            : str_format(&sim->arena, "elements %lld to %lld", first, last);
    return str_format(&sim->arena, "%s of %s, which has %llu of %s", range, r->name,
                      (unsigned long long)(r->bytes * 8 / (uint64_t)bits),
                      npu_dtype_text(r->dtype));
}

static void report_gm(Step *s, uint64_t byte, uint64_t bytes, bool write)
{
    if (sim_repeats_fault(s, (SimFault){.code = SIM_FAULT_GM_BOUNDS}))
        return;
    const SimGm *gm = meant_region(s, byte);
    SimSpot spot = spot_gm(s, byte, byte + bytes);
    SimFault fault = {.code = SIM_FAULT_GM_BOUNDS,
                      .range = {{NPU_GM, write, byte, byte + bytes}},
                      .file = spot.file,
                      .line = spot.line};
    const char *verb = write ? "writes" : "reads";
    if (!gm) {
        sim_report_fault(s, fault,
                         "%s %llu bytes at an address far from every tensor: it does not come from "
                         "a parameter of the kernel",
                         verb, (unsigned long long)bytes);
        return;
    }
    fault.tail = byte >= gm->region.base && byte - gm->region.base < gm->region.bytes;
    sim_report_fault(s, fault, "%s %s", verb, elements_text(s->sim, gm, byte, bytes));
}

static bool in_slack(const SimGm *gm, uint64_t end)
{
    return end <= (gm->region.bytes + GM_SLACK - 1) / GM_SLACK * GM_SLACK;
}

static void report_slack(Step *s, const SimGm *gm, uint64_t byte, uint64_t bytes, bool write)
{
    sim_report_range(s, write ? SIM_FAULT_GM_SLACK_WRITE : SIM_FAULT_GM_SLACK,
                     (SimRange){NPU_GM, write, byte, byte + bytes}, "%s %s",
                     write ? "writes" : "reads", elements_text(s->sim, gm, byte, bytes));
}

/* Notes for an output the range that each core stores to. */
static void note_part(Step *s, SimGm *gm, uint64_t from, uint64_t to)
{
    if (gm->region.role != SIM_OUT)
        return;
    if (!gm->part)
        gm->part = arena_array(&s->sim->arena, SimPart, s->sim->cores);
    SimPart *part = &gm->part[s->core_index];
    part->from = part->to && part->from < from ? part->from : from;
    part->to = part->to > to ? part->to : to;
}

SimGm *sim_gm_range(Step *s, uint64_t address, uint64_t bytes, bool write, uint64_t *offset,
                    uint64_t *inside)
{
    uint64_t byte = rec_byte(address);
    SimGm *gm = sim_gm_find(s->sim, byte);
    if (!gm) {
        report_gm(s, byte, bytes, write);
        return NULL;
    }
    *offset = byte - gm->region.base;
    uint64_t room = gm->region.bytes - *offset;
    *inside = bytes < room ? bytes : room;
    if (bytes > room && !in_slack(gm, *offset + bytes)) {
        report_gm(s, byte, bytes, write);
        return NULL;
    }
    if (bytes > room)
        report_slack(s, gm, byte, bytes, write);
    if (write && (gm->region.role == SIM_IN || gm->region.role == SIM_TILING))
        sim_report_range(s, SIM_FAULT_GM_READ_ONLY, (SimRange){NPU_GM, true, byte, byte + bytes},
                         "writes %s; %s is an input",
                         sim_range_text(s->sim, NPU_GM, byte, byte + *inside), gm->region.name);
    if (write) {
        gm->store_core = s->core_index;
        gm->store_file = s->r->file;
        gm->store_line = s->r->line;
        note_part(s, gm, *offset, *offset + *inside);
    }
    return gm;
}

const char *sim_element_text(Sim *sim, const SimGm *gm, uint64_t offset)
{
    const SimRegion *region = &gm->region;
    uint32_t bits = npu_dtype_bits(region->dtype) ? npu_dtype_bits(region->dtype) : 8;
    uint64_t element = offset * 8 / bits, index[8], inner = 1;
    for (uint32_t i = region->rank; i-- > 0;)
        inner *= region->shape[i] ? region->shape[i] : 1;
    if (region->rank < 2 || region->rank > 8 || element >= inner)
        return str_format(&sim->arena, "%s[%llu]", region->name, (unsigned long long)element);
    for (uint32_t i = region->rank; i-- > 0;) {
        index[i] = element % region->shape[i];
        element /= region->shape[i];
    }
    const char *text = str_format(&sim->arena, "%s[", region->name);
    for (uint32_t i = 0; i < region->rank; i++)
        text = str_format(&sim->arena, "%s%s%llu", text, i ? "," : "",
                          (unsigned long long)index[i]);
    return str_format(&sim->arena, "%s]", text);
}

const char *sim_range_text(Sim *sim, uint32_t space, uint64_t from, uint64_t to)
{
    const SimGm *gm = space == NPU_GM ? sim_gm_find(sim, from) : NULL;
    if (!gm)
        return str_format(&sim->arena, "%s bytes %llu to %llu", npu_space_name(space),
                          (unsigned long long)from, (unsigned long long)(to - 1));
    uint64_t first = from - gm->region.base, last = to - 1 - gm->region.base;
    const char *begin = sim_element_text(sim, gm, first);
    uint32_t bits = npu_dtype_bits(gm->region.dtype) ? npu_dtype_bits(gm->region.dtype) : 8;
    if (first * 8 / bits == last * 8 / bits)
        return begin;
    return str_format(&sim->arena, "%s to %s", begin, sim_element_text(sim, gm, last));
}

void sim_gm_taint(Step *s, SimGm *gm, uint64_t offset, uint64_t bytes, uint64_t source)
{
    if (gm->dirty)
        return;
    gm->origin = spot_undefined(s, source, bytes);
    gm->dirty = true;
    gm->op = s->r->op;
    gm->core = s->core_index;
    gm->file = s->r->file;
    gm->api = s->r->api;
    gm->line = s->r->line;
    gm->from = offset;
    gm->to = offset + bytes;
}

void sim_count(Step *s, uint64_t repeats, uint64_t read, uint64_t written)
{
    SimStat *stat = &s->sim->stat[s->r->op];
    stat->repeats += repeats;
    stat->bytes_read += read;
    stat->bytes_written += written;
}
