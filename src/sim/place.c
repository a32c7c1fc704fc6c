/* Where a programmer must change something. The instruction at which a fault shows is often sound: the
 * buffer was made too small, the window on GM was set wrong, the values were never brought. In: the
 * record at fault, the core's buffers, declared windows and last records. Out: a place in the text. */
#include "sim/sim_int.h"

SimSpot spot_of(const CoreState *core, const Record *r)
{
    return r ? (SimSpot){sim_name(core, r->file), r->line} : (SimSpot){0};
}

/* --- buffers --- */

const SimBuffer *spot_buffer(const CoreState *core, uint64_t address)
{
    uint64_t at = rec_byte(address);
    const SimBuffer *before = NULL;
    for (uint32_t i = 0; i < core->buffers.len; i++) {
        const SimBuffer *b = &core->buffers.at[i];
        uint64_t from = rec_byte(b->address), to = from + (uint64_t)b->bytes * b->slots;
        if (rec_space(b->address) != rec_space(address) || from > at)
            continue;
        if (at < to)
            return b;
        if (at == to)
            before = b;
    }
    return before;
}

/* A window that begins at its tensor's end or behind it has one byte: it is of the buffer before. */
const SimBuffer *spot_operand_buffer(const CoreState *core, const RecordOperand *o)
{
    uint64_t at = rec_byte(o->address);
    if (o->bytes != 1 || !at)
        return spot_buffer(core, o->address);
    const SimBuffer *b = spot_buffer(core, rec_address(rec_space(o->address), at - 1));
    return b ? b : spot_buffer(core, o->address);
}

static SimSpot buffer_spot(const CoreState *core, const SimBuffer *b)
{
    return b ? (SimSpot){sim_name(core, b->file), b->line} : (SimSpot){0};
}

SimSpot spot_largest_buffer(const CoreState *core, uint32_t space)
{
    const SimBuffer *largest = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < core->buffers.len; i++) {
        const SimBuffer *b = &core->buffers.at[i];
        uint64_t all = (uint64_t)b->bytes * b->slots;
        if (rec_space(b->address) == space && all > most) {
            most = all;
            largest = b;
        }
    }
    return buffer_spot(core, largest);
}

static uint64_t end_of(const SimAccess *a)
{
    return a->at + (a->outer ? a->outer - 1 : 0) * a->outer_step +
           (a->inner ? a->inner - 1 : 0) * a->inner_step + a->run;
}

/* Whether an access stays inside what it is given: its own operand, or a tensor in GM. */
static bool has_room(const Step *s, const SimAccess *a)
{
    const SimGm *gm = a->space == NPU_GM ? sim_gm_find(s->sim, a->at) : NULL;
    if (a->space == NPU_GM)
        return gm && end_of(a) <= gm->region.base + gm->region.bytes;
    for (int i = 0; i < 4; i++) {
        const RecordOperand *o = &s->r->operand[i];
        uint64_t base = rec_byte(o->address);
        if (rec_space(o->address) == a->space && base == a->at && o->bytes)
            return end_of(a) <= (base + o->bytes + 31) / 32 * 32;
    }
    return true;
}

/* An access that fills its slot of the buffer to the last block exactly. */
static bool fills(const SimBuffer *b, const SimAccess *a)
{
    uint64_t start = rec_byte(b->address), from = a->at, to = a->at + sim_access_bytes(a);
    if (a->space != rec_space(b->address) || from < start || !b->bytes)
        return false;
    uint64_t end = start + ((from - start) / b->bytes + 1) * b->bytes;
    return from - start < (uint64_t)b->bytes * b->slots && to <= end && to + 32 > end;
}

/* Another call has filled the buffer: then its length is meant, and the count of this call, which begins where
 * the buffer does, is wrong. */
static bool is_filled_by_others(const Step *s, const SimBuffer *b, uint64_t base)
{
    SimAccess access[SIM_ACCESS_MOST];
    uint64_t start = rec_byte(b->address);
    if (!b->bytes || base < start || (base - start) % b->bytes ||
        base - start >= (uint64_t)b->bytes * b->slots)
        return false;
    for (uint32_t back = 0; back < history_len(s->core); back++) {
        const Record *r = history_at(s->core, back);
        if (r->line == s->r->line)
            continue;
        uint32_t n = sim_accesses(r, s->core->va, access);
        for (uint32_t i = 0; i < n; i++)
            if (fills(b, &access[i]))
                return true;
    }
    return false;
}

SimSpot spot_short_operand(Step *s, int operand, bool write)
{
    const RecordOperand *o = &s->r->operand[operand];
    const SimBuffer *b = spot_operand_buffer(s->core, o);
    const SimTouched *t = sim_touched(s->sim, s->core, s->r);
    uint64_t base = rec_byte(o->address), touched = 0;
    if (!b || (s->r->flags & REC_OPEN_TENSOR) || is_filled_by_others(s, b, base))
        return (SimSpot){0};
    for (uint32_t i = 0; i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        if (a->space == rec_space(o->address) && a->at == base)
            touched = a->write == write ? sim_access_bytes(a) : touched;
        else if (!has_room(s, a))
            return (SimSpot){0};
    }
    return touched > (o->bytes + 31u) / 32 * 32 ? buffer_spot(s->core, b) : (SimSpot){0};
}

/* --- GM --- */

static const SimPlace *place_at(const CoreState *core, uint16_t id)
{
    return id && id < core->places.len ? &core->places.at[id] : NULL;
}

/* The operand in GM that begins nearest before a byte. */
static const RecordOperand *gm_operand(const Record *r, uint64_t byte)
{
    const RecordOperand *best = NULL;
    for (int i = 0; i < 4; i++) {
        const RecordOperand *o = &r->operand[i];
        if (rec_space(o->address) == NPU_GM && rec_byte(o->address) <= byte && o->address &&
            (!best || o->address > best->address))
            best = o;
    }
    return best;
}

SimPlace spot_window(const CoreState *core, const Record *r, uint64_t byte)
{
    const RecordOperand *o = gm_operand(r, byte);
    const SimPlace *set = o ? place_at(core, o->block_stride) : NULL;
    return set ? *set : (SimPlace){0};
}

static bool in_headers(SimSpot spot) { return strstr(spot.file, "/twin/include/") != NULL; }

SimSpot spot_offset(const CoreState *core, const Record *r, uint64_t byte)
{
    const RecordOperand *o = gm_operand(r, byte);
    const SimPlace *cut = o ? place_at(core, o->repeat_stride) : NULL;
    return cut && !in_headers(cut->spot) ? cut->spot : (SimSpot){0};
}

SimSpot spot_gm(const Step *s, uint64_t from, uint64_t to)
{
    SimPlace set = spot_window(s->core, s->r, from);
    bool inside = set.window.bytes && from >= set.window.base &&
                  to <= set.window.base + set.window.bytes;
    return inside && !in_headers(set.spot) ? set.spot : spot_offset(s->core, s->r, from);
}

/* --- undefined values --- */

/* A record that hands out a tensor: [from, to) of its memory is new, or is used under a new name. */
static bool hands_out(const Record *r, uint32_t space, uint64_t byte, bool *fresh)
{
    uint64_t from = rec_byte(r->operand[0].address), bytes = r->operand[0].bytes;
    bool makes = r->op == NPU_QUEUE_ALLOC || r->op == NPU_BUFFER_INIT;
    if (!(makes || r->op == NPU_BUFFER_GET) || rec_space(r->operand[0].address) != space)
        return false;
    if (r->op == NPU_BUFFER_INIT)
        bytes *= r->n[2];
    *fresh = makes;
    return byte >= from && byte < from + bytes;
}

static bool writes_in(const CoreState *core, const Record *r, uint32_t space, uint64_t from,
                      uint64_t to)
{
    SimAccess access[SIM_ACCESS_MOST];
    uint32_t n = sim_accesses(r, core->va, access);
    for (uint32_t i = 0; i < n; i++)
        if (access[i].write && access[i].space == space && history_touches(&access[i], from, to))
            return true;
    return false;
}

/* An undefined byte among what a record read; false: none. */
static bool undefined_source(const CoreState *core, const Record *r, uint32_t *space,
                             uint64_t *byte)
{
    SimAccess access[SIM_ACCESS_MOST];
    uint32_t n = sim_accesses(r, core->va, access);
    for (uint32_t i = 0; i < n; i++) {
        const SimAccess *a = &access[i];
        const SimMemory *m = a->space < NPU_SPACE_COUNT ? &core->memory[a->space] : NULL;
        if (a->write || a->space == NPU_GM || !m || !m->known)
            continue;
        for (uint32_t o = 0; o < a->outer && o < 256; o++)
            for (uint64_t k = 0; k < a->run * (a->inner_step == a->run ? a->inner : 1); k++) {
                uint64_t at = a->at + o * a->outer_step + k;
                if (at < m->bytes && !memory_known(m, at, 1)) {
                    *space = a->space;
                    *byte = at;
                    return true;
                }
            }
    }
    return false;
}

/* Nobody wrote this byte since its tensor was handed out: whoever wrote another part of it, or else
 * where it was handed out. */
static SimSpot unwritten_part(const CoreState *core, uint32_t space, uint64_t byte, uint32_t back)
{
    const SimBuffer *b = spot_buffer(core, rec_address(space, byte));
    const Record *got = NULL;
    if (!b || !b->bytes)
        return (SimSpot){0};
    uint64_t first = rec_byte(b->address), slot = (byte - first) / b->bytes;
    uint64_t from = first + slot * b->bytes;
    for (; back < history_len(core); back++) {
        const Record *r = history_at(core, back);
        bool fresh = false;
        if (writes_in(core, r, space, from, from + b->bytes))
            return spot_of(core, r);
        if (hands_out(r, space, byte, &fresh)) {
            got = got ? got : r;
            if (fresh)
                return spot_of(core, got);
        }
    }
    return got ? spot_of(core, got) : (SimSpot){0};
}

/* Follows undefined values back through the instructions that made them from others. */
static SimSpot follow(const CoreState *core, uint32_t space, uint64_t byte)
{
    uint32_t back = 0, from = 0;
    for (; back < history_len(core); back++) {
        const Record *r = history_at(core, back);
        bool fresh = false;
        if (hands_out(r, space, byte, &fresh) && fresh)
            break;
        if (!writes_in(core, r, space, byte, byte + 1))
            continue;
        if (!undefined_source(core, r, &space, &byte))
            return spot_of(core, r);
        from = back + 1;
    }
    return unwritten_part(core, space, byte, from);
}

SimSpot spot_undefined(const Step *s, uint64_t address, uint64_t bytes)
{
    uint32_t space = rec_space(address);
    const SimMemory *m = space < NPU_SPACE_COUNT ? &s->core->memory[space] : NULL;
    for (uint64_t at = rec_byte(address); m && m->known && bytes && at < m->bytes; at++, bytes--)
        if (!memory_known(m, at, 1))
            return follow(s->core, space, at);
    return (SimSpot){0};
}
