/* Reductions of a repeat, a block, or pairs. Sums are binary trees with neighbours first, rounded
 * at each addition; maxima keep the smallest index among equals and let NaN win. */
#include "sim/math.h"
#include "sim/vec.h"

typedef struct Reduction {
    VecPlan plan;
    bool half, saturate;
    uint32_t size;
    float value[128];
    bool active[128];
    bool known[128];
    bool all_known; /* of the whole source */
    bool whole;     /* the repeat loaded last is full and known */
    bool flags_set; /* active and known say so already */
} Reduction;

static float rounded(const Reduction *x, float v)
{
    if (!x->half)
        return v;
    uint16_t h;
    math_float_to_half(&h, &v, 1, x->saturate);
    math_half_to_float(&v, &h, 1);
    return v;
}

/* A whole repeat of known floats: the tree level by level, without bookkeeping. */
static float quick_sum(const float *from, uint32_t count)
{
    float v[128];
    memcpy(v, from, count * sizeof *v);
    for (; count > 1; count /= 2)
        for (uint32_t i = 0; i < count / 2; i++)
            v[i] = v[2 * i] + v[2 * i + 1];
    return v[0];
}

static void load_repeat(Reduction *x, uint32_t r)
{
    _Alignas(32) uint8_t raw[VEC_REPEAT];
    const VecPlan *p = &x->plan;
    vec_gather(p, 1, r, raw);
    if (x->half)
        math_half_to_float(x->value, (const uint16_t *)(const void *)raw, p->per_repeat);
    else
        memcpy(x->value, raw, sizeof(float) * p->per_repeat);
    x->whole = x->all_known && !p->sparse && vec_prefix(p, r) == p->per_repeat;
    if (x->whole && x->flags_set)
        return;
    x->flags_set = x->whole;
    for (uint32_t e = 0; e < p->per_repeat; e++) {
        x->active[e] = vec_active(p, r, e);
        x->known[e] = x->all_known || !x->active[e] ||
                      memory_known(p->o[1].memory, vec_byte(&p->o[1], r, e), x->size);
    }
}

/* The tree over elements from .. from+count-1 (a power of two); *any: one took part. */
static float tree_sum(Reduction *x, uint32_t from, uint32_t count, bool *any)
{
    *any = true;
    if (x->whole && !x->half)
        return quick_sum(x->value + from, count);
    float v[128];
    bool on[128];
    memcpy(v, x->value + from, count * sizeof *v);
    memcpy(on, x->active + from, count * sizeof *on);
    for (; count > 1; count /= 2)
        for (uint32_t i = 0; i < count / 2; i++) {
            bool left = on[2 * i], right = on[2 * i + 1];
            float a = v[2 * i], b = v[2 * i + 1];
            v[i] = left && right ? rounded(x, a + b) : left ? a : b;
            on[i] = left || right;
        }
    *any = on[0];
    return on[0] ? v[0] : 0.0f;
}

/* The extreme of whole, NaN-free values: the value first, in a loop the compiler can widen. */
static int quick_extreme(const float *v, uint32_t from, uint32_t count, bool max)
{
    float best = v[from];
    bool nan = false;
    for (uint32_t i = from; i < from + count; i++) {
        best = (max ? v[i] > best : v[i] < best) ? v[i] : best;
        nan |= v[i] != v[i];
    }
    for (uint32_t i = from; !nan && i < from + count; i++)
        if (v[i] == best)
            return (int)i;
    return -1;
}

/* The extreme element; an index into value, or -1. */
static int extreme(const Reduction *x, uint32_t from, uint32_t count, bool max)
{
    int best = x->whole ? quick_extreme(x->value, from, count, max) : -1;
    if (best >= 0)
        return best;
    for (uint32_t i = from; i < from + count; i++) {
        if (!x->active[i])
            continue;
        float v = x->value[i], b = best >= 0 ? x->value[best] : 0;
        if (best < 0 || (b == b && (v != v || (max ? v > b : v < b))))
            best = (int)i;
    }
    return best;
}

static bool all_known(const Reduction *x, uint32_t from, uint32_t count)
{
    if (x->whole)
        return true;
    for (uint32_t i = from; i < from + count; i++)
        if (!x->known[i])
            return false;
    return true;
}

static uint32_t value_bits(const Reduction *x, float v)
{
    if (!x->half)
        return math_bits(v);
    uint16_t h;
    math_float_to_half(&h, &v, 1, x->saturate);
    return h;
}

/* --- results --- */

typedef struct Result {
    SimMemory *memory;
    uint64_t base, stride; /* bytes between repeats */
} Result;

static bool result_open(Step *s, const VecPlan *p, Result *d, uint32_t align, uint64_t stride,
                        uint64_t bytes)
{
    d->memory = sim_local(s, 0, 1u << NPU_UB);
    if (!d->memory || !sim_aligned(s, 0, align))
        return false;
    d->base = rec_byte(s->r->operand[0].address);
    d->stride = stride;
    uint64_t end = p->repeats ? (p->repeats - 1) * stride + bytes : 0;
    sim_count(s, 0, 0, p->repeats * bytes);
    return sim_local_range(s, 0, d->memory, d->base, end, true);
}

static void put(Result *d, uint64_t at, uint32_t bits, uint32_t size, bool known)
{
    memcpy(d->memory->at + at, &bits, size);
    memory_set_known(d->memory, at, size, known);
}

static bool repeat_sum(Step *s, Reduction *x)
{
    const VecPlan *p = &x->plan;
    bool only_register = s->r->mode == 1;
    Result d = {0};
    uint64_t stride = (uint64_t)s->r->operand[0].repeat_stride * x->size;
    if (!only_register && !result_open(s, p, &d, x->size, stride, x->size))
        return false;
    float total = 0;
    bool total_known = true;
    for (uint32_t r = 0; r < p->repeats; r++) {
        load_repeat(x, r);
        bool any, known = all_known(x, 0, p->per_repeat);
        float sum = tree_sum(x, 0, p->per_repeat, &any);
        total = r ? rounded(x, total + sum) : sum;
        total_known = total_known && known;
        if (!only_register)
            put(&d, d.base + r * stride, value_bits(x, sum), x->size, known);
    }
    s->core->pub.view->accumulated = value_bits(x, total);
    if (only_register && !total_known)
        sim_report(s, SIM_FAULT_UNINITIALISED, "the sum includes elements nobody wrote");
    return true;
}

/* Bytes of one result and the offsets of value and index in it; -1: absent. */
static uint32_t order_layout(uint8_t order, uint32_t size, int *value, int *index)
{
    switch (order) {
    case REC_VALUE_INDEX: *value = 0, *index = (int)size; return 2 * size;
    case REC_INDEX_VALUE: *value = (int)size, *index = 0; return 2 * size;
    case REC_ONLY_VALUE: *value = 0, *index = -1; return size;
    default: *value = -1, *index = 0; return 4;
    }
}

static bool repeat_extreme(Step *s, Reduction *x, bool max)
{
    const VecPlan *p = &x->plan;
    if (s->r->mode >= REC_REDUCE_ORDER_COUNT) {
        sim_report(s, SIM_FAULT_BAD_MODE, "result order %u", s->r->mode);
        return false;
    }
    int value_at, index_at;
    uint32_t bytes = order_layout(s->r->mode, x->size, &value_at, &index_at);
    Result d;
    if (!result_open(s, p, &d, bytes, (uint64_t)s->r->operand[0].repeat_stride * bytes, bytes))
        return false;
    uint64_t best_index = 0;
    float best = 0;
    for (uint32_t r = 0; r < p->repeats; r++) {
        load_repeat(x, r);
        int at = extreme(x, 0, p->per_repeat, max);
        bool known = all_known(x, 0, p->per_repeat);
        uint64_t to = d.base + r * d.stride;
        float v = at < 0 ? 0 : x->value[at];
        if (value_at >= 0)
            put(&d, to + (uint64_t)value_at, value_bits(x, v), x->size, known);
        if (index_at >= 0)
            put(&d, to + (uint64_t)index_at, (uint32_t)at, bytes == 4 && value_at < 0 ? 4 : x->size,
                known);
        if (r == 0 || (max ? v > best : v < best)) {
            best = v;
            best_index = (uint64_t)r * p->per_repeat + (uint64_t)at;
        }
    }
    s->core->pub.view->max_min_count = value_bits(x, best) | best_index << 32;
    return true;
}

static float block_value(Reduction *x, uint16_t op, uint32_t from, uint32_t count, bool *any)
{
    if (op == NPU_BLOCK_SUM)
        return tree_sum(x, from, count, any);
    int at = extreme(x, from, count, op == NPU_BLOCK_MAX);
    *any = at >= 0;
    return at >= 0 ? x->value[at] : 0;
}

/* Eight blocks of a repeat give eight results, dense. */
static bool block_reduce(Step *s, Reduction *x)
{
    const VecPlan *p = &x->plan;
    uint32_t in_block = VEC_BLOCK / x->size;
    Result d;
    uint64_t unit = 8ull * x->size;
    if (!result_open(s, p, &d, 8 * x->size, s->r->operand[0].repeat_stride * unit, unit))
        return false;
    for (uint32_t r = 0; r < p->repeats; r++) {
        load_repeat(x, r);
        for (uint32_t b = 0; b < 8; b++) {
            bool any;
            float v = block_value(x, s->r->op, b * in_block, in_block, &any);
            if (any)
                put(&d, d.base + r * d.stride + b * x->size, value_bits(x, v), x->size,
                    all_known(x, b * in_block, in_block));
        }
    }
    return true;
}

/* Neighbours added; half as many results per repeat, 128 bytes. */
static bool pair_sum(Step *s, Reduction *x)
{
    const VecPlan *p = &x->plan;
    Result d;
    uint64_t pairs = (p->prefix + 1) / 2; /* pairs of the last repeat that the mask names */
    if (!result_open(s, p, &d, VEC_BLOCK, s->r->operand[0].repeat_stride * (VEC_REPEAT / 2ull),
                     pairs * x->size))
        return false;
    for (uint32_t r = 0; r < p->repeats; r++) {
        load_repeat(x, r);
        for (uint32_t e = 0; e < p->per_repeat; e += 2) {
            bool any;
            float v = tree_sum(x, e, 2, &any);
            if (any)
                put(&d, d.base + r * d.stride + e / 2 * x->size, value_bits(x, v), x->size,
                    all_known(x, e, 2));
        }
    }
    return true;
}

bool exec_reduce(Step *s)
{
    const Record *r = s->r;
    if (r->dtype[0] != r->dtype[1]) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "source of %s, result of %s",
                   npu_dtype_text(r->dtype[1]), npu_dtype_text(r->dtype[0]));
        return false;
    }
    Reduction x = {.half = r->dtype[0] == NPU_DT_F16, .saturate = s->core->saturate};
    x.size = x.half ? 2 : 4;
    VecShape shape = {.operands = 2, .size = {x.size, x.size}, .no_dst = true};
    if (!vec_plan(&x.plan, s, &shape))
        return false;
    if (x.plan.repeats == 0)
        return true;
    x.all_known = vec_all_known(&x.plan, 1);
    switch (r->op) {
    case NPU_REPEAT_SUM: return repeat_sum(s, &x);
    case NPU_REPEAT_MAX: return repeat_extreme(s, &x, true);
    case NPU_REPEAT_MIN: return repeat_extreme(s, &x, false);
    case NPU_PAIR_SUM: return pair_sum(s, &x);
    default: return block_reduce(s, &x);
    }
}
