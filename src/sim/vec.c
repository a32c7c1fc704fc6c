/* Plans of vector instructions: checks, the walk over repeats, definedness. See vec.h. */
#include "sim/vec.h"

#include "sim/nudge.h"

bool vec_active(const VecPlan *p, uint32_t r, uint32_t element)
{
    if (!p->sparse)
        return element < vec_prefix(p, r);
    return p->mask[element / 64] >> (element % 64) & 1;
}

/* Mask and repeats from the record; what takes part is a prefix, a bit mask, or a count. */
static bool plan_mask(VecPlan *p)
{
    const Record *r = p->step->r;
    uint32_t per = p->per_repeat;
    if (r->flags & REC_COUNTER) {
        uint64_t count = r->mask[0];
        if (count > (1u << 20)) {
            sim_report(p->step, SIM_FAULT_BAD_COUNT, "%llu elements are more than UB holds",
                       (unsigned long long)count);
            return false;
        }
        p->repeats = (uint32_t)((count + per - 1) / per);
        p->prefix = per;
        p->last = (uint32_t)(count - (uint64_t)(p->repeats ? p->repeats - 1 : 0) * per);
        p->elements = count;
        return true;
    }
    if (r->n[0] > 255) {
        sim_report(p->step, SIM_FAULT_BAD_REPEAT, "%u repeats; one instruction takes 255", r->n[0]);
        return false;
    }
    if (r->flags & REC_MASK_OVER)
        sim_report(p->step, SIM_FAULT_BAD_MASK, "more than 128 lanes; a repeat of this type has %u",
                   per);
    p->repeats = r->n[0];
    p->mask[0] = per >= 64 ? r->mask[0] : r->mask[0] & ((1ull << per) - 1);
    p->mask[1] = per > 64 ? r->mask[1] : 0;
    uint32_t bits = (uint32_t)(__builtin_popcountll(p->mask[0]) + __builtin_popcountll(p->mask[1]));
    uint32_t low = p->mask[0] == ~0ull ? 64 + (uint32_t)__builtin_ctzll(~p->mask[1] | 1ull << 63)
                                       : (uint32_t)__builtin_ctzll(~p->mask[0]);
    if (p->mask[0] == ~0ull && p->mask[1] == ~0ull)
        low = 128;
    p->sparse = low != bits;
    p->prefix = p->last = bits;
    p->elements = (uint64_t)bits * p->repeats;
    if (bits == 0)
        p->repeats = 0;
    return true;
}

/* One past the last byte of the first `count` elements of a repeat, from its start. */
static uint64_t prefix_end(const VecOperand *o, uint32_t count)
{
    uint32_t in_block = VEC_BLOCK / o->size;
    if (count == 0)
        return 0;
    if (o->block == 0)
        return (uint64_t)(count < in_block ? count : in_block) * o->size;
    return (count - 1) / in_block * o->block + ((count - 1) % in_block + 1) * (uint64_t)o->size;
}

/* One past the last byte of a repeat, from its start. */
static uint64_t repeat_end(const VecPlan *p, const VecOperand *o, uint32_t r)
{
    if (!p->sparse)
        return prefix_end(o, vec_prefix(p, r));
    uint64_t end = 0;
    for (uint32_t e = 0; e < p->per_repeat; e++) {
        uint64_t last = vec_byte(o, 0, e) - o->base + o->size;
        end = vec_active(p, r, e) && last > end ? last : end;
    }
    return end;
}

static uint64_t operand_end(const VecPlan *p, const VecOperand *o)
{
    uint64_t end = (p->repeats - 1) * o->repeat + repeat_end(p, o, p->repeats - 1);
    if (p->repeats > 1 && p->last != p->prefix) {
        uint64_t before = (p->repeats - 2) * o->repeat + repeat_end(p, o, p->repeats - 2);
        end = before > end ? before : end;
    }
    return end;
}

static bool plan_operand(VecPlan *p, int i, const VecShape *shape)
{
    const RecordOperand *from = &p->step->r->operand[i];
    VecOperand *o = &p->o[i];
    o->memory = sim_local(p->step, i, 1u << NPU_UB);
    if (!o->memory)
        return false;
    o->base = rec_byte(from->address);
    o->size = shape->size[i];
    o->block = (uint64_t)from->block_stride * VEC_BLOCK;
    o->repeat = (uint64_t)from->repeat_stride * VEC_BLOCK;
    if (!sim_aligned(p->step, i, shape->align[i] ? shape->align[i] : VEC_BLOCK))
        return false;
    if (i == 0 && o->block == 0 && p->repeats && p->prefix * o->size > VEC_BLOCK) {
        sim_report(p->step, SIM_FAULT_BAD_STRIDE, "destination block stride 0");
        return false;
    }
    if (p->repeats == 0)
        return true;
    o->end = operand_end(p, o);
    return sim_local_range(p->step, i, o->memory, o->base, o->end, i == 0);
}

static bool contiguous(const VecPlan *p, const VecOperand *o)
{
    bool one_block = p->repeats == 1 && p->prefix * o->size <= VEC_BLOCK;
    if (o->block != VEC_BLOCK && !one_block)
        return false;
    return p->repeats == 1 || o->repeat == (uint64_t)p->per_repeat * o->size;
}

static void plan_flat(VecPlan *p)
{
    p->flat = !p->sparse && (p->repeats <= 1 || p->prefix == p->per_repeat);
    for (int i = p->first; i < p->operands; i++)
        p->flat = p->flat && contiguous(p, &p->o[i]);
    p->flat_count = p->repeats ? (p->repeats - 1) * p->per_repeat + p->last : 0;
}

/* The second-source accumulation the documents allow: dst and src1 overlap over repeats. */
static bool may_accumulate(const VecPlan *p, int i)
{
    return i == 2 && (p->o[0].repeat == 0 || p->o[2].repeat == 0);
}

/* Bytes of a repeat touched, as a range; exact enough for block strides of 1. */
static bool meets(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* A conversion over its own source, as kernels do it to save room: narrower results from the start,
 * or a source that stands in the upper half of its wider results. A repeat is read before it is
 * written; wrong is only what overwrites the source of a later repeat. */
static bool hits_later_source(const VecPlan *p, int i)
{
    const VecOperand *d = &p->o[0], *o = &p->o[i];
    uint64_t bytes = repeat_end(p, d, 0);
    for (uint32_t r = 0; r + 1 < p->repeats; r++) {
        uint64_t later = (r + 1) * o->repeat;
        if (later < o->end &&
            meets(d->base + r * d->repeat, bytes, o->base + later, o->end - later))
            return true;
    }
    return false;
}

/* Whether source i is partly overwritten: inside a repeat (not the same bytes), or by an earlier
 * repeat. Only for dense blocks; wide block strides interleave legally. */
static bool partly_overlaps(const VecPlan *p, int i)
{
    const VecOperand *d = &p->o[0], *o = &p->o[i];
    if (!meets(d->base, d->end, o->base, o->end) || d->block > VEC_BLOCK || o->block > VEC_BLOCK)
        return false;
    if (p->operands == 2 && d->size != o->size)
        return hits_later_source(p, i);
    uint64_t d_bytes = repeat_end(p, d, 0), o_bytes = repeat_end(p, o, 0);
    bool same = d->base == o->base && d->block == o->block && d->size == o->size;
    if (!same && meets(d->base, d_bytes, o->base, o_bytes))
        return true;
    if (same && (d->repeat == o->repeat || p->repeats == 1))
        return false;
    if (may_accumulate(p, i))
        return false;
    for (uint32_t r = 0; r + 1 < p->repeats; r++)
        if (meets(d->base + r * d->repeat, d_bytes, o->base + (r + 1) * o->repeat, o_bytes))
            return true;
    return false;
}

static void check_overlap(VecPlan *p)
{
    for (int i = 1; i < p->operands; i++) {
        if (!partly_overlaps(p, i))
            continue;
        const VecOperand *d = &p->o[0], *o = &p->o[i];
        p->flat = false;
        sim_report_range(p->step, SIM_FAULT_OVERLAP,
                         (SimRange){NPU_UB, true, d->base, d->base + d->end},
                         "destination UB %llu to %llu overlaps source %llu to %llu, but is not "
                         "the same tensor",
                         (unsigned long long)d->base, (unsigned long long)(d->base + d->end),
                         (unsigned long long)o->base, (unsigned long long)(o->base + o->end));
        return;
    }
}

bool vec_plan(VecPlan *p, Step *s, const VecShape *shape)
{
    *p = (VecPlan){.step = s,
                   .first = shape->no_dst ? 1 : 0,
                   .operands = shape->operands,
                   .reads_dst = shape->reads_dst};
    uint32_t widest = 1;
    for (int i = p->first; i < p->operands; i++)
        widest = shape->size[i] > widest ? shape->size[i] : widest;
    p->per_repeat = VEC_REPEAT / widest;
    if (p->per_repeat > 128)
        p->per_repeat = 128;
    if (!plan_mask(p))
        return false;
    for (int i = p->first; i < p->operands; i++)
        if (!plan_operand(p, i, shape))
            return false;
    if (p->repeats == 0)
        return true;
    plan_flat(p);
    if (!shape->no_dst)
        check_overlap(p);
    uint64_t read = 0;
    for (int i = p->reads_dst ? 0 : 1; i < p->operands; i++)
        read += p->elements * p->o[i].size;
    sim_count(s, p->repeats, read, shape->no_dst ? 0 : p->elements * p->o[0].size);
    return true;
}

void vec_gather(const VecPlan *p, int operand, uint32_t r, void *to)
{
    const VecOperand *o = &p->o[operand];
    uint8_t *out = to;
    uint64_t left = (uint64_t)p->per_repeat * o->size;
    uint64_t from = o->base + r * o->repeat;
    for (; left > 0; from += o->block) {
        uint64_t n = left < VEC_BLOCK ? left : VEC_BLOCK;
        uint64_t room = from < o->memory->bytes ? o->memory->bytes - from : 0;
        memset(out, 0, n);
        memcpy(out, o->memory->at + (room ? from : 0), n < room ? n : room);
        out += n;
        left -= n;
    }
}

static void scatter(const VecPlan *p, uint32_t r, const uint8_t *from)
{
    const VecOperand *o = &p->o[0];
    for (uint32_t e = 0; e < p->per_repeat; e++)
        if (vec_active(p, r, e))
            memcpy(o->memory->at + vec_byte(o, r, e), from + (size_t)e * o->size, o->size);
}

static void *at(const VecOperand *o, uint32_t r)
{
    return o->memory ? o->memory->at + o->base + r * o->repeat : NULL;
}

/* One repeat through dense copies of its operands. */
static void run_copied(VecPlan *p, uint32_t r, VecKernel *kernel, const void *args)
{
    _Alignas(32) uint8_t d[VEC_MOST * 8], a[VEC_MOST * 8], b[VEC_MOST * 8];
    if (p->reads_dst)
        vec_gather(p, 0, r, d);
    if (p->operands > 1)
        vec_gather(p, 1, r, a);
    if (p->operands > 2)
        vec_gather(p, 2, r, b);
    kernel(d, a, b, p->per_repeat, args);
    scatter(p, r, d);
}

/* A repeat whose operands are dense prefixes, apart or in place, needs no copies. */
static bool direct_repeat(const VecPlan *p)
{
    if (p->sparse)
        return false;
    const VecOperand *d = &p->o[0];
    for (int i = 0; i < p->operands; i++) {
        const VecOperand *o = &p->o[i];
        if (o->block != VEC_BLOCK && p->prefix * o->size > VEC_BLOCK)
            return false;
        if (i > 0 && !(o->base == d->base && o->repeat == d->repeat && o->size == d->size) &&
            meets(d->base, d->end, o->base, o->end))
            return false;
    }
    return true;
}

void vec_run(VecPlan *p, VecKernel *kernel, const void *args)
{
    if (p->repeats == 0)
        return;
    Nudge nudge;
    if (nudge_plan(p, kernel, args, &nudge)) {
        kernel = nudge_kernel;
        args = &nudge;
    }
    bool direct = direct_repeat(p);
    if (p->flat && direct) {
        kernel(at(&p->o[0], 0), at(&p->o[1], 0), at(&p->o[2], 0), p->flat_count, args);
    } else if (direct) {
        for (uint32_t r = 0; r < p->repeats; r++)
            kernel(at(&p->o[0], r), at(&p->o[1], r), at(&p->o[2], r), vec_prefix(p, r), args);
    } else {
        for (uint32_t r = 0; r < p->repeats; r++)
            run_copied(p, r, kernel, args);
    }
    vec_shadow(p);
}

bool vec_all_known(const VecPlan *p, int operand)
{
    const VecOperand *o = &p->o[operand];
    return memory_known(o->memory, o->base, o->end);
}

static bool bytes_known(const VecPlan *p, uint32_t r, uint32_t e, uint32_t from, uint32_t size)
{
    for (int i = p->reads_dst ? 0 : 1; i < p->operands; i++)
        if (!memory_known(p->o[i].memory, vec_byte(&p->o[i], r, e) + from,
                          size ? size : p->o[i].size))
            return false;
    return true;
}

/* Bitwise operations keep bytes apart, which masks rest on: the end of a mask may fill only half
 * of its last word. */
static bool is_bitwise(const VecPlan *p)
{
    uint32_t op = p->step->r->op;
    return op == NPU_AND || op == NPU_OR || op == NPU_NOT;
}

static void shadow_element(VecPlan *p, uint32_t r, uint32_t e)
{
    VecOperand *d = &p->o[0];
    if (!is_bitwise(p)) {
        memory_set_known(d->memory, vec_byte(d, r, e), d->size, bytes_known(p, r, e, 0, 0));
        return;
    }
    for (uint32_t i = 0; i < d->size; i++)
        memory_set_known(d->memory, vec_byte(d, r, e) + i, 1, bytes_known(p, r, e, i, 1));
}

/* Marks every element of the destination that was written. */
static void shadow_written(VecPlan *p)
{
    VecOperand *d = &p->o[0];
    if (p->flat) {
        memory_set_known(d->memory, d->base, (uint64_t)p->flat_count * d->size, true);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++) {
        if (!p->sparse && d->block == VEC_BLOCK) {
            memory_set_known(d->memory, d->base + r * d->repeat,
                             (uint64_t)vec_prefix(p, r) * d->size, true);
            continue;
        }
        for (uint32_t e = 0; e < p->per_repeat; e++)
            if (vec_active(p, r, e))
                memory_set_known(d->memory, vec_byte(d, r, e), d->size, true);
    }
}

void vec_shadow(VecPlan *p)
{
    bool all = true;
    for (int i = p->reads_dst ? 0 : 1; i < p->operands; i++)
        all = all && vec_all_known(p, i);
    if (all) {
        shadow_written(p);
        return;
    }
    for (uint32_t r = 0; r < p->repeats; r++)
        for (uint32_t e = 0; e < p->per_repeat; e++)
            if (vec_active(p, r, e))
                shadow_element(p, r, e);
}
