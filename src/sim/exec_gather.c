/* Gather by element offsets, by block offsets, and by a bit pattern. */
#include "sim/vec.h"

typedef struct Source {
    SimMemory *memory;
    uint64_t base;
} Source;

static bool source_open(Step *s, int operand, Source *o, uint64_t bytes)
{
    o->memory = sim_local(s, operand, 1u << NPU_UB);
    o->base = rec_byte(s->r->operand[operand].address);
    return o->memory && sim_aligned(s, operand, VEC_BLOCK) &&
           sim_local_range(s, operand, o->memory, o->base, bytes, operand == 0);
}

static uint32_t offset_at(const Source *offsets, uint64_t index, bool *known)
{
    uint32_t offset;
    memcpy(&offset, offsets->memory->at + offsets->base + 4 * index, 4);
    *known = memory_known(offsets->memory, offsets->base + 4 * index, 4);
    return offset;
}

/* An offset must be known, a multiple of the unit, inside the source tensor. */
static bool offset_ok(Step *s, const Source *table, uint64_t offset, uint32_t unit, uint32_t bytes,
                      bool known)
{
    uint32_t reach = s->r->operand[1].bytes;
    uint64_t room = table->memory->bytes - table->base;
    if (!known) {
        sim_report(s, SIM_FAULT_UNINITIALISED, "an offset was never written");
        return false;
    }
    if (offset % unit == 0 && offset + bytes <= room && (!reach || offset + bytes <= reach))
        return true;
    sim_report_range(s, SIM_FAULT_OFFSET_RANGE,
                     (SimRange){NPU_UB, false, table->base + offset, table->base + offset + bytes},
                     "offset %llu into a source of %llu bytes, in steps of %u",
                     (unsigned long long)offset, (unsigned long long)(reach ? reach : room), unit);
    return false;
}

/* The last byte an element may be put at. */
static uint64_t reach(const VecPlan *p)
{
    return p->repeats ? vec_byte(&p->o[0], p->repeats - 1, p->per_repeat - 1) : 0;
}

static void gather_bytes(SimMemory *d, uint64_t to, const SimMemory *from, uint64_t at,
                         uint32_t bytes)
{
    memmove(d->at + to, from->at + at, bytes);
    memory_copy_known(d, to, from, at, bytes);
}

static bool gather_elements(Step *s)
{
    uint32_t size = npu_dtype_bits(s->r->dtype[0]) / 8;
    VecPlan p;
    VecShape shape = {.operands = 1, .size = {size}};
    if (!vec_plan(&p, s, &shape))
        return false;
    Source table, offsets;
    uint64_t indices = p.repeats ? (uint64_t)(p.repeats - 1) * p.per_repeat + p.last : 0;
    if (!source_open(s, 1, &table, 0) || !source_open(s, 2, &offsets, 4 * indices))
        return false;
    sim_unchanged_open(s, vec_byte(&p.o[0], 0, 0), reach(&p) + size);
    for (uint32_t r = 0; r < p.repeats; r++)
        for (uint32_t e = 0; e < p.per_repeat; e++) {
            if (!vec_active(&p, r, e))
                continue;
            bool known;
            uint64_t offset = offset_at(&offsets, (uint64_t)r * p.per_repeat + e, &known);
            offset += (uint32_t)s->r->scalar;
            if (!offset_ok(s, &table, offset, size, size, known)) {
                if (s->failed)
                    return false;
                continue;
            }
            uint64_t to = vec_byte(&p.o[0], r, e), from = table.base + offset;
            if (memory_known(table.memory, from, size))
                sim_unchanged_note(s, to, table.memory->at + from, size);
            gather_bytes(p.o[0].memory, to, table.memory, from, size);
        }
    sim_count(s, 0, indices * (4 + size), 0);
    return true;
}

static uint64_t block_step(const Record *r)
{
    return (r->operand[0].block_stride ? r->operand[0].block_stride : 1) * (uint64_t)VEC_BLOCK;
}

static bool repeats_ok(Step *s)
{
    if (s->r->n[0] <= 255)
        return true;
    sim_report(s, SIM_FAULT_BAD_REPEAT, "%u repeats; one instruction takes 255", s->r->n[0]);
    return false;
}

static bool gather_blocks(Step *s)
{
    const Record *r = s->r;
    uint64_t n = r->n[0], step = block_step(r);
    uint64_t repeat = r->operand[0].repeat_stride * (uint64_t)VEC_BLOCK;
    Source d, table, offsets;
    if (!repeats_ok(s) || !source_open(s, 0, &d, n ? (n - 1) * repeat + 7 * step + VEC_BLOCK : 0) ||
        !source_open(s, 1, &table, 0) || !source_open(s, 2, &offsets, 32 * n))
        return false;
    for (uint64_t i = 0; i < 8 * n; i++) {
        bool known;
        uint64_t offset = offset_at(&offsets, i, &known);
        if (!offset_ok(s, &table, offset, VEC_BLOCK, VEC_BLOCK, known))
            return false;
        gather_bytes(d.memory, d.base + i / 8 * repeat + i % 8 * step, table.memory,
                     table.base + offset, VEC_BLOCK);
    }
    sim_count(s, n, n * 288, n * 256);
    return true;
}

/* The built-in patterns 1..7: which of four neighbours are kept. */
static bool pattern_keeps(uint8_t pattern, uint64_t e)
{
    switch (pattern) {
    case 1: return e % 2 == 0;
    case 2: return e % 2 == 1;
    case 7: return true;
    default: return e % 4 == (uint64_t)pattern - 3;
    }
}

typedef struct MaskGather {
    Source d, table, bits;
    uint32_t size;
    uint64_t per, repeats, block, repeat, bit_repeat;
} MaskGather;

static bool mask_gather_open(Step *s, MaskGather *g)
{
    const Record *r = s->r;
    g->size = npu_dtype_bits(r->dtype[0]) / 8;
    g->per = r->flags & REC_COUNTER ? r->mask[0] : VEC_REPEAT / g->size;
    g->repeats = r->n[0];
    g->block = r->operand[1].block_stride * (uint64_t)VEC_BLOCK;
    g->repeat = r->operand[1].repeat_stride * (uint64_t)VEC_BLOCK;
    g->bit_repeat = r->operand[2].repeat_stride * (uint64_t)VEC_BLOCK;
    if (g->per > (1u << 18) || r->mode > 7) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "%llu elements a repeat, pattern %u",
                   (unsigned long long)g->per, r->mode);
        return false;
    }
    uint64_t end = 0;
    if (g->per && g->repeats) {
        uint64_t last = (g->per - 1) * g->size;
        end = (g->repeats - 1) * g->repeat + last / VEC_BLOCK * g->block + last % VEC_BLOCK +
              g->size;
    }
    if (!repeats_ok(s) || !source_open(s, 0, &g->d, 0) || !source_open(s, 1, &g->table, end))
        return false;
    uint64_t bit_bytes = end ? (g->repeats - 1) * g->bit_repeat + (g->per + 7) / 8 : 0;
    return r->mode != 0 || source_open(s, 2, &g->bits, bit_bytes);
}

static bool keeps(const Step *s, const MaskGather *g, uint64_t repeat, uint64_t e, bool *known)
{
    *known = true;
    if (s->r->mode)
        return pattern_keeps(s->r->mode, e);
    uint64_t at = g->bits.base + repeat * g->bit_repeat + e / 8;
    *known = memory_known(g->bits.memory, at, 1);
    return g->bits.memory->at[at] >> (e % 8) & 1;
}

static bool gather_mask(Step *s)
{
    MaskGather g = {.size = 0};
    if (!mask_gather_open(s, &g))
        return false;
    uint64_t kept = 0;
    for (uint64_t r = 0; r < g.repeats; r++)
        for (uint64_t e = 0; e < g.per; e++) {
            bool known;
            if (!keeps(s, &g, r, e, &known))
                continue;
            if (!known)
                sim_report(s, SIM_FAULT_UNINITIALISED, "the pattern was never written");
            uint64_t to = g.d.base + kept++ * g.size, byte = e * g.size;
            if (to + g.size > g.d.memory->bytes)
                return sim_local_range(s, 0, g.d.memory, g.d.base, kept * g.size, true);
            gather_bytes(g.d.memory, to, g.table.memory,
                         g.table.base + r * g.repeat + byte / VEC_BLOCK * g.block +
                             byte % VEC_BLOCK,
                         g.size);
        }
    s->core->pub.view->kept = kept;
    sim_count(s, g.repeats, g.repeats * g.per * g.size, kept * g.size);
    return sim_local_range(s, 0, g.d.memory, g.d.base, kept * g.size, true);
}

bool exec_gather(Step *s)
{
    switch (s->r->op) {
    case NPU_GATHER: return gather_elements(s);
    case NPU_GATHER_BLOCK: return gather_blocks(s);
    default: return gather_mask(s);
    }
}
