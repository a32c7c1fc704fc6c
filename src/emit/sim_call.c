/* AscendC calls as instructions, split as the twin's headers split them (twin/include/acraft: vec.h,
 * copy.h, reduce.h, select.h). In: a call of the lowered program, its operands. Out: records. */
#include "emit/sim_int.h"

#include <string.h>

enum { REPEAT_BYTES = 256, BLOCK_BYTES = 32, MOST_REPEATS = 255 };

typedef struct Mask {
    uint64_t low, high;
    bool counter;
} Mask;

static Mask mask_count(int64_t count) { return (Mask){(uint64_t)(count < 0 ? 0 : count), 0, true}; }

static Mask mask_first(uint64_t n)
{
    return (Mask){n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1,
                  n <= 64    ? 0
                  : n >= 128 ? ~UINT64_C(0)
                             : (UINT64_C(1) << (n - 64)) - 1,
                  false};
}

static void use_mask(Record *r, Mask m)
{
    r->mask[0] = m.low;
    r->mask[1] = m.high;
    if (m.counter)
        r->flags |= REC_COUNTER;
}

static void set_dtypes(Record *r, uint8_t dst, uint8_t a, uint8_t b)
{
    r->dtype[0] = dst;
    r->dtype[1] = a;
    r->dtype[2] = b;
}

static int64_t number(SimCoreRun *c, const SimIns *s, int which)
{
    return s->e[which].given ? esim_value(c, s->e[which]).i : 0;
}

static uint64_t scalar_bits(SimCoreRun *c, const SimIns *s, uint8_t dtype)
{
    return esim_bits_as(esim_value(c, s->e[SE_SCALAR]), s->e[SE_SCALAR].is_float, (DType)dtype);
}

/* ---- elementwise ---- */

/* The count form: one instruction over the whole. `signed32`: the parameter is an int32_t. */
static Record *put_counted(SimCoreRun *c, const SimIns *s, uint16_t op, bool two, bool signed32)
{
    int64_t count = number(c, s, SE_COUNT);
    Record *r = esim_put(c, s, op);
    uint32_t wide = s->dst.bytes > s->a.bytes ? s->dst.bytes : s->a.bytes;
    bool cast = op == NPU_CAST || op == NPU_MUL_ADD_DST || op == NPU_AXPY;
    set_dtypes(r, s->dst.dtype, s->a.dtype, two ? s->b.dtype : s->a.dtype);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst), 1, cast ? 8 * s->dst.bytes / wide : 8);
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a), 1, cast ? 8 * s->a.bytes / wide : 8);
    if (two)
        r->operand[2] = esim_operand(esim_local_ref(c, &s->b), 1, cast ? 8 * s->b.bytes / wide : 8);
    r->n[0] = 1;
    use_mask(r, mask_count(signed32 ? (int64_t)(int32_t)count : (int64_t)(uint32_t)count));
    return r;
}

/* Mask and repeats. */
static Record *put_repeated(SimCoreRun *c, const SimIns *s, uint16_t op, bool two)
{
    Record *r = esim_put(c, s, op);
    uint32_t blocks = two ? 0xff : 0xffff; /* as wide as the parameters */
    set_dtypes(r, s->dst.dtype, s->a.dtype, two ? s->b.dtype : s->a.dtype);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst),
                                 (uint32_t)number(c, s, SE_DST_BLOCK) & blocks,
                                 (uint8_t)number(c, s, SE_DST_REPEAT));
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a),
                                 (uint32_t)number(c, s, SE_A_BLOCK) & blocks,
                                 (uint8_t)number(c, s, SE_A_REPEAT));
    if (two)
        r->operand[2] = esim_operand(esim_local_ref(c, &s->b), (uint8_t)number(c, s, SE_B_BLOCK),
                                     (uint8_t)number(c, s, SE_B_REPEAT));
    r->n[0] = (uint8_t)number(c, s, SE_REPEAT);
    use_mask(r, mask_first((uint64_t)number(c, s, SE_MASK)));
    return r;
}

static Record *put_elementwise(SimCoreRun *c, const SimIns *s, bool two)
{
    uint16_t op = (uint16_t)asc_apis[s->api].op;
    return s->e[SE_COUNT].given ? put_counted(c, s, op, two, true) : put_repeated(c, s, op, two);
}

static void put_fill(SimCoreRun *c, const SimIns *s)
{
    uint64_t bits = scalar_bits(c, s, s->dst.dtype);
    int64_t count = (int32_t)number(c, s, SE_COUNT);
    Record *r = esim_put(c, s, NPU_DUPLICATE);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, s->dst.dtype);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst), 1, 8);
    r->scalar = bits;
    r->n[0] = 1;
    use_mask(r, mask_count(count));
}

static void put_select(SimCoreRun *c, const SimIns *s, bool tensor)
{
    Record *r = put_counted(c, s, NPU_SELECT, tensor, false);
    r->dtype[2] = s->dst.dtype;
    r->mode = tensor ? NPU_SEL_TENSOR : NPU_SEL_SCALAR;
    r->operand[3] = esim_operand(esim_local_ref(c, &s->c), 0, 0);
    if (!tensor)
        r->scalar = scalar_bits(c, s, s->dst.dtype);
}

/* ---- reductions ---- */

typedef struct Reduce {
    uint16_t op;
    uint8_t mode, dtype;
    uint32_t element; /* bytes */
} Reduce;

static Record *put_reduce(SimCoreRun *c, const SimIns *s, Reduce what, SimTensor dst, SimTensor src,
                          Mask m, int32_t repeat, uint32_t dst_stride, uint32_t block,
                          uint32_t stride)
{
    Record *r = esim_put(c, s, what.op);
    set_dtypes(r, what.dtype, what.dtype, what.dtype);
    r->operand[0] = esim_operand(dst, 0, dst_stride);
    r->operand[1] = esim_operand(src, block, stride);
    r->n[0] = (uint32_t)repeat;
    r->mode = what.mode;
    use_mask(r, m);
    return r;
}

static Reduce reduce_of(const SimIns *s, uint16_t op, uint8_t mode)
{
    return (Reduce){op, mode, s->dst.dtype, s->dst.bytes};
}

static void put_repeat_reduce(SimCoreRun *c, const SimIns *s, uint8_t mode)
{
    Reduce what = reduce_of(s, (uint16_t)asc_apis[s->api].op, mode);
    SimTensor dst = esim_local_ref(c, &s->dst), src = esim_local_ref(c, &s->a);
    Mask m = mask_first((uint64_t)(int64_t)(int32_t)number(c, s, SE_MASK));
    put_reduce(c, s, what, dst, src, m, (int32_t)number(c, s, SE_REPEAT),
               (uint32_t)number(c, s, SE_DST_REPEAT), (uint32_t)number(c, s, SE_A_BLOCK),
               (uint32_t)number(c, s, SE_A_REPEAT));
}

static void put_element(SimCoreRun *c, const SimIns *s, SimTensor t, uint32_t bytes, uint8_t dtype,
                        uint64_t bits, uint32_t behind)
{
    Record *r = esim_put(c, s, NPU_LOCAL_SET);
    r->dtype[0] = dtype;
    r->n[1] = behind;
    r->operand[0] = (RecordOperand){.address = rec_address(NPU_UB, t.address), .bytes = bytes};
    r->scalar = bits;
}

/* 1 + bytes of an element after the tensor's last whole block; 0: inside, or the size is not
 * known. */
static uint32_t behind(SimTensor t, uint32_t offset, uint32_t element)
{
    uint64_t at = (uint64_t)offset * element, end = ((uint64_t)t.bytes + 31) / 32 * 32;
    return t.bytes && at >= end ? (uint32_t)(at - end + 1) : 0;
}

static void set_value(SimCoreRun *c, const SimIns *s, SimTensor t, uint32_t index, uint8_t dtype,
                      uint32_t element, uint64_t bits)
{
    SimTensor at = esim_tensor_at(t, index, element);
    put_element(c, s, at, at.bytes, dtype, bits, behind(t, index, element));
}

static bool get_value(SimCoreRun *c, const SimIns *s, SimTensor t, uint32_t index, uint8_t dtype,
                      uint32_t element, uint64_t *bits)
{
    SimTensor at = esim_tensor_at(t, index, element);
    Record *r = esim_put(c, s, NPU_LOCAL_GET);
    r->dtype[1] = dtype;
    r->n[1] = behind(t, index, element);
    r->operand[1] = (RecordOperand){.address = rec_address(NPU_UB, at.address), .bytes = at.bytes};
    SimRead read = {SIM_READ_ELEMENT, rec_address(NPU_UB, at.address), element};
    return esim_read(c, read, bits);
}

static bool reduce_sum(SimCoreRun *c, const SimIns *s)
{
    SimTensor dst = esim_local_ref(c, &s->dst), src = esim_local_ref(c, &s->a);
    uint64_t bits, room = s->dst.bytes == 2 ? 0xffff : 0xffffffff;
    Mask m = mask_count((int32_t)number(c, s, SE_COUNT));
    put_reduce(c, s, reduce_of(s, NPU_REPEAT_SUM, 1), dst, src, m, 1, 1, 1, 8);
    esim_put_pair(c, s, EV_V_S);
    if (!esim_read(c, (SimRead){.kind = SIM_READ_ACCUMULATED}, &bits))
        return false;
    put_element(c, s, dst, s->dst.bytes, s->dst.dtype, bits & room, 0);
    esim_put_pair(c, s, EV_S_V);
    esim_put_pair(c, s, EV_S_MTE3);
    return true;
}

/* One stage of a maximum: results follow each other at dst. Returns how many there are. */
static int32_t stage(SimCoreRun *c, const SimIns *s, Reduce what, SimTensor dst, SimTensor src,
                     int32_t count, bool index)
{
    int32_t lanes = (int32_t)(REPEAT_BYTES / what.element);
    int32_t whole = count / lanes, tail = count % lanes, step = index ? 2 : 1;
    what.mode = index ? REC_VALUE_INDEX : REC_ONLY_VALUE;
    for (int32_t done = 0; done < whole; done += MOST_REPEATS) {
        int32_t part = whole - done < MOST_REPEATS ? whole - done : MOST_REPEATS;
        put_reduce(c, s, what, esim_tensor_at(dst, (uint32_t)(done * step), what.element),
                   esim_tensor_at(src, (uint32_t)(done * lanes), what.element),
                   mask_first((uint64_t)lanes), part, 1, 1, 8);
    }
    if (tail)
        put_reduce(c, s, what, esim_tensor_at(dst, (uint32_t)(whole * step), what.element),
                   esim_tensor_at(src, (uint32_t)(whole * lanes), what.element),
                   mask_first((uint64_t)tail), 1, 1, 1, 8);
    return whole + (tail ? 1 : 0);
}

static Mask every_second(int32_t elements)
{
    Mask m = mask_first((uint64_t)elements);
    m.low &= UINT64_C(0x5555555555555555);
    m.high &= UINT64_C(0x5555555555555555);
    return m;
}

/* A stage over pairs of value and index. */
static int32_t pair_stage(SimCoreRun *c, const SimIns *s, Reduce what, SimTensor dst, SimTensor src,
                          int32_t pairs)
{
    int32_t lanes = (int32_t)(REPEAT_BYTES / what.element);
    int32_t elements = pairs * 2, whole = elements / lanes, tail = elements % lanes;
    what.mode = REC_VALUE_INDEX;
    if (whole)
        put_reduce(c, s, what, dst, src, every_second(lanes), whole, 1, 1, 8);
    if (tail)
        put_reduce(c, s, what, esim_tensor_at(dst, (uint32_t)(whole * 2), what.element),
                   esim_tensor_at(src, (uint32_t)(whole * lanes), what.element), every_second(tail),
                   1, 1, 1, 8);
    return whole + (tail ? 1 : 0);
}

/* Through the stages with scalar reads, from the last to the first. */
static bool find_index(SimCoreRun *c, const SimIns *s, SimTensor tmp, const uint32_t *at,
                       int32_t stages, uint64_t *index)
{
    uint32_t element = s->dst.bytes, lanes = REPEAT_BYTES / element, pick = 0;
    uint8_t dtype = element == 2 ? NPU_DT_U16 : NPU_DT_U32;
    uint64_t bits;
    for (int32_t i = stages; i > 0; i--) {
        if (!get_value(c, s, tmp, at[i] + pick * 2 + 1, dtype, element, &bits))
            return false;
        pick = pick * lanes / 2 + (uint32_t)bits / 2;
    }
    if (!get_value(c, s, tmp, pick * 2 + 1, dtype, element, &bits))
        return false;
    *index = (uint32_t)(pick * lanes + (uint32_t)bits);
    return true;
}

static bool with_index(SimCoreRun *c, const SimIns *s, Reduce what, SimTensor dst, SimTensor tmp,
                       int32_t first)
{
    uint32_t block = BLOCK_BYTES / what.element, at[8] = {0};
    uint8_t index_type = what.element == 2 ? NPU_DT_U16 : NPU_DT_U32;
    int32_t stages = 0, left = first;
    uint64_t index, value;
    while (left > 1 && stages < 7) {
        at[stages + 1] = at[stages] + ((uint32_t)left * 2 + block - 1) / block * block;
        esim_put_barrier(c, s, NPU_PIPE_V);
        left = pair_stage(c, s, what, esim_tensor_at(tmp, at[stages + 1], what.element),
                          esim_tensor_at(tmp, at[stages], what.element), left);
        stages++;
    }
    esim_put_pair(c, s, EV_V_S);
    if (!find_index(c, s, tmp, at, stages, &index) ||
        !get_value(c, s, tmp, at[stages], what.dtype, what.element, &value))
        return false;
    set_value(c, s, dst, 0, what.dtype, what.element, value);
    set_value(c, s, dst, 1, index_type, what.element, what.element == 2 ? index & 0xffff : index);
    esim_put_pair(c, s, EV_S_V);
    return true;
}

static bool reduce_extreme(SimCoreRun *c, const SimIns *s)
{
    Reduce what = reduce_of(s, s->api == ASC_REDUCE_MAX ? NPU_REPEAT_MAX : NPU_REPEAT_MIN, 0);
    SimTensor dst = esim_local_ref(c, &s->dst), src = esim_local_ref(c, &s->a);
    SimTensor tmp = esim_local_ref(c, &s->c);
    int32_t count = (int32_t)number(c, s, SE_COUNT);
    bool index = s->mode != 0;
    if (count <= 0)
        return true;
    int32_t left = stage(c, s, what, tmp, src, count, index);
    if (index)
        return with_index(c, s, what, dst, tmp, left);
    while (left > (int32_t)(REPEAT_BYTES / what.element)) {
        esim_put_barrier(c, s, NPU_PIPE_V);
        left = stage(c, s, what, tmp, tmp, left, false);
    }
    esim_put_barrier(c, s, NPU_PIPE_V);
    stage(c, s, what, dst, tmp, left, false);
    return true;
}

/* ---- gathering, broadcasting, indices ---- */

static void put_gather(SimCoreRun *c, const SimIns *s)
{
    uint64_t base = scalar_bits(c, s, DT_U32);
    int64_t count = (uint32_t)number(c, s, SE_COUNT);
    Record *r = esim_put(c, s, NPU_GATHER);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, NPU_DT_U32);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst), 1, 8);
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a), 0, 0);
    r->operand[2] = esim_operand(esim_local_ref(c, &s->b), 1, 8);
    r->scalar = base;
    r->n[0] = 1;
    use_mask(r, mask_count(count));
}

static bool gather_mask(SimCoreRun *c, const SimIns *s)
{
    uint64_t kept;
    uint32_t count = (uint32_t)number(c, s, SE_COUNT);
    Record *r = esim_put(c, s, NPU_GATHER_MASK);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, s->b.dtype);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst), 1, 8);
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a), 1, 8);
    r->operand[2] = esim_operand(esim_local_ref(c, &s->b), 1, 8);
    r->n[0] = 1;
    use_mask(r, (Mask){count, 0, true});
    if (!esim_read(c, (SimRead){.kind = SIM_READ_KEPT}, &kept))
        return false;
    c->slots[s->var].i = (int64_t)kept;
    return true;
}

static void put_broadcast(SimCoreRun *c, const SimIns *s)
{
    Record *r = esim_put(c, s, NPU_BRCB);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, s->dst.dtype);
    uint32_t step = (uint32_t)number(c, s, SE_DST_REPEAT);
    r->operand[0] = esim_operand(esim_local_ref(c, &s->dst), 1, step ? step : 8);
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a), 0, 0);
    r->n[0] = (uint8_t)number(c, s, SE_REPEAT);
}

/* first + i as an element of the type; first comes as its bits. */
static uint64_t progressed(uint64_t first, int64_t by, DType type)
{
    SimValue v = esim_element_value(first, type, dtype_is_float(type) ? DT_F32 : DT_I64);
    if (dtype_is_float(type))
        return esim_bits_as((SimValue){.f = v.f + (float)by}, true, type);
    return esim_bits_as((SimValue){.i = v.i + by}, false, type);
}

static void create_index(SimCoreRun *c, const SimIns *s)
{
    DType type = (DType)s->dst.dtype;
    SimTensor dst = esim_local_ref(c, &s->dst);
    uint64_t first = scalar_bits(c, s, s->dst.dtype);
    uint32_t element = s->dst.bytes;
    int64_t block = BLOCK_BYTES / element, count = (uint32_t)number(c, s, SE_COUNT);
    for (int64_t i = 0; i < block && i < count; i++)
        set_value(c, s, dst, (uint32_t)i, s->dst.dtype, element, progressed(first, i, type));
    esim_put_pair(c, s, EV_S_V);
    for (int64_t done = block; done < count; done *= 2) {
        int64_t part = count - done < done ? count - done : done;
        bool real = dtype_is_float(type);
        SimValue by = real ? (SimValue){.f = (float)done} : (SimValue){.i = done};
        Record *r = esim_put(c, s, NPU_ADDS);
        set_dtypes(r, s->dst.dtype, s->dst.dtype, s->dst.dtype);
        r->operand[0] = esim_operand(esim_tensor_at(dst, (uint32_t)done, element), 1, 8);
        r->operand[1] = esim_operand(dst, 1, 8);
        r->n[0] = 1;
        r->scalar = esim_bits_as(by, real, type);
        use_mask(r, mask_count((int32_t)part));
        esim_put_barrier(c, s, NPU_PIPE_V);
    }
}

/* ---- sorting ---- */

/* Value and index of one element take 8 bytes, whatever the value's type. */
static uint32_t sort_offset(const SimIns *s, uint32_t elements)
{
    return elements * (8 / s->dst.bytes);
}

static void put_local_copy(SimCoreRun *c, const SimIns *s, SimTensor dst, SimTensor src,
                           uint32_t count)
{
    Record *r = esim_put(c, s, NPU_COPY_UB_UB);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, s->dst.dtype);
    r->operand[0] = esim_operand(dst, 0, 0);
    r->operand[1] = esim_operand(src, 0, 0);
    r->n[0] = 1;
    r->n[1] = count * s->dst.bytes;
}

/* Up to four runs after each other become one. */
static void merge_runs(SimCoreRun *c, const SimIns *s, SimTensor to, SimTensor from, uint32_t at,
                       uint32_t run, uint32_t total)
{
    uint32_t valid = 0, element = s->dst.bytes;
    uint16_t counts[4] = {0};
    SimTensor lists[4] = {from, from, from, from};
    for (uint32_t k = 0; k < 4 && at + k * run < total; k++) {
        uint32_t left = total - at - k * run;
        counts[k] = (uint16_t)(left < run ? left : run);
        lists[k] = esim_tensor_at(from, sort_offset(s, at + k * run), element);
        valid |= 1u << k;
    }
    to = esim_tensor_at(to, sort_offset(s, at), element);
    esim_put_barrier(c, s, NPU_PIPE_V);
    if (valid == 1) {
        put_local_copy(c, s, to, lists[0], sort_offset(s, counts[0]));
        return;
    }
    Record *r = esim_put(c, s, NPU_MERGE_SORT);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, s->dst.dtype);
    r->operand[0] = esim_operand(to, 0, 0);
    for (int k = 0; k < 3; k++)
        r->operand[k + 1] = esim_operand(lists[k], 0, 0);
    r->n[0] = 1;
    for (int k = 0; k < 4; k++)
        r->n[k + 1] = counts[k];
    r->n[5] = lists[3].address;
    r->mode = (uint8_t)(valid & 15u);
}

/* Groups of 32 sorted, then merged four at a time between the two buffers. */
static void sort_all(SimCoreRun *c, const SimIns *s)
{
    SimTensor dst = esim_local_ref(c, &s->dst), tmp = esim_local_ref(c, &s->c);
    int32_t repeat = (int32_t)number(c, s, SE_REPEAT);
    uint32_t total = (uint32_t)repeat * 32;
    Record *r = esim_put(c, s, NPU_SORT32);
    set_dtypes(r, s->dst.dtype, s->dst.dtype, NPU_DT_U32);
    r->operand[0] = esim_operand(dst, 0, 0);
    r->operand[1] = esim_operand(esim_local_ref(c, &s->a), 0, 0);
    r->operand[2] = esim_operand(esim_local_ref(c, &s->b), 0, 0);
    r->n[0] = (uint32_t)repeat;
    SimTensor from = dst, to = tmp;
    for (uint32_t run = 32; run < total; run *= 4) {
        for (uint32_t at = 0; at < total; at += run * 4)
            merge_runs(c, s, to, from, at, run, total);
        SimTensor swap = from;
        from = to;
        to = swap;
    }
    esim_put_barrier(c, s, NPU_PIPE_V);
    if (from.address != dst.address)
        put_local_copy(c, s, dst, from, sort_offset(s, total));
}

static void put_extracted(SimCoreRun *c, const SimIns *s, SimTensor dst, SimTensor src,
                          uint8_t dtype, uint8_t pattern)
{
    Record *r = esim_put(c, s, NPU_GATHER_MASK);
    r->dtype[0] = r->dtype[1] = dtype;
    r->operand[0] = esim_operand(dst, 1, 8);
    r->operand[1] = esim_operand(src, 1, 8);
    r->n[0] = (uint16_t)number(c, s, SE_REPEAT);
    r->mode = pattern;
    use_mask(r, (Mask){~UINT64_C(0), ~UINT64_C(0), false});
}

static void extract(SimCoreRun *c, const SimIns *s)
{
    SimTensor sorted = esim_local_ref(c, &s->a);
    put_extracted(c, s, esim_local_ref(c, &s->dst), sorted, s->dst.dtype,
                  s->dst.bytes == 4 ? 1 : 3);
    put_extracted(c, s, esim_local_ref(c, &s->b), sorted, NPU_DT_U32, 2);
}

/* ---- all of them ---- */

bool esim_call(SimCoreRun *c, const SimIns *s)
{
    uint64_t bits;
    switch (asc_apis[s->api].form) {
    case ASC_F_BINARY: put_elementwise(c, s, true); return true;
    case ASC_F_UNARY: put_elementwise(c, s, false); return true;
    case ASC_F_SCALAR:
        bits = scalar_bits(c, s, s->dst.dtype);
        put_elementwise(c, s, false)->scalar = bits;
        return true;
    case ASC_F_FILL: put_fill(c, s); return true;
    case ASC_F_CAST:
        (s->e[SE_COUNT].given ? put_counted(c, s, NPU_CAST, false, false)
                              : put_repeated(c, s, NPU_CAST, false))
            ->mode = (uint8_t)s->mode;
        return true;
    case ASC_F_COMPARE:
        put_counted(c, s, NPU_COMPARE, true, false)->mode = (uint8_t)s->mode;
        return true;
    case ASC_F_COMPARES: {
        bits = scalar_bits(c, s, s->a.dtype);
        Record *r = put_counted(c, s, NPU_COMPARE_SCALAR, false, false);
        r->mode = (uint8_t)s->mode;
        r->scalar = bits;
        return true;
    }
    case ASC_F_SELECT: put_select(c, s, true); return true;
    case ASC_F_SELECTS: put_select(c, s, false); return true;
    case ASC_F_REDUCE: return reduce_sum(c, s);
    case ASC_F_REDUCE_AT: return reduce_extreme(c, s);
    case ASC_F_REPEAT_SUM: put_repeat_reduce(c, s, 0); return true;
    case ASC_F_REPEAT_AT: put_repeat_reduce(c, s, REC_ONLY_VALUE); return true;
    case ASC_F_BLOCK: put_repeat_reduce(c, s, 0); return true;
    case ASC_F_GATHER: put_gather(c, s); return true;
    case ASC_F_GATHER_MASK: return gather_mask(c, s);
    case ASC_F_INDEX: create_index(c, s); return true;
    case ASC_F_BROADCAST: put_broadcast(c, s); return true;
    case ASC_F_SORT: sort_all(c, s); return true;
    case ASC_F_EXTRACT: extract(c, s); return true;
    }
    return true;
}
