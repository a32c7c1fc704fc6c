/* Type conversion: every pair of cast.def with its rounding modes; integers saturate, NaN to 0. */
#include "base/dtype.h"
#include "sim/math.h"
#include "sim/vec.h"

typedef struct CastArgs {
    uint8_t src, dst, round;
    bool saturate;
    double scale; /* s32 to f16 */
} CastArgs;

/* A double to an integral double. The shift rounds to nearest even; the others start there. */
static inline double integral(double v, uint8_t round)
{
    const double shift = 0x1.8p52;
    if (!(v < 0x1p51 && v > -0x1p51))
        return v;
    double near = (v + shift) - shift;
    double low = near - (near > v ? 1.0 : 0.0), high = near + (near < v ? 1.0 : 0.0);
    double zero = v < 0 ? high : low;
    double half = v < 0 ? -0.5 : 0.5;
    switch (round) {
    case NPU_ROUND_FLOOR: return low;
    case NPU_ROUND_CEIL: return high;
    case NPU_ROUND_TRUNC: return zero;
    case NPU_ROUND_ROUND: return v - zero == half || (v - zero) / half > 1 ? zero + 2 * half : zero;
    case NPU_ROUND_ODD: {
        double rest = zero - 2 * (((zero / 2 + shift) - shift));
        return zero == v || rest != 0 ? zero : zero + 2 * half;
    }
    default: return near;
    }
}

static double power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* v rounded to `digits` binary digits, least exponent `least`; beyond `most` it is infinite. */
static double round_float(double v, int digits, int least, double most, uint8_t round)
{
    if (v == 0 || v != v || v > 0x1p1000 || v < -0x1p1000)
        return v;
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int unit = (int)(bits >> 52 & 0x7FF) - 1023 - digits + 1;
    if (unit < least)
        unit = least;
    double whole = integral(v * power_of_two(-unit), round);
    double result = whole * power_of_two(unit);
    if (result > most || result < -most)
        return v > 0 ? __builtin_inf() : -__builtin_inf();
    return result == 0 && v < 0 ? -0.0 : result;
}

static double load(uint8_t dtype, const void *from, uint32_t i)
{
    switch (dtype) {
    case NPU_DT_F32: return (double)((const float *)from)[i];
    case NPU_DT_BF16: return (double)bf16_to_float(((const uint16_t *)from)[i]);
    case NPU_DT_I8: return ((const int8_t *)from)[i];
    case NPU_DT_U8: return ((const uint8_t *)from)[i];
    case NPU_DT_I16: return ((const int16_t *)from)[i];
    case NPU_DT_I32: return ((const int32_t *)from)[i];
    default: return (double)half_to_float(((const uint16_t *)from)[i]);
    }
}

static int64_t to_integer(double v, uint8_t round, double low, double high)
{
    double whole = integral(v, round);
    if (v != v)
        return 0;
    if (whole <= low)
        return (int64_t)low;
    return whole >= high ? (high >= 0x1p63 ? INT64_MAX : (int64_t)high) : (int64_t)whole;
}

static uint16_t store_half(double v, const CastArgs *c)
{
    double rounded = round_float(v, 11, -24, 65504, c->round);
    float f = (float)rounded;
    uint16_t half;
    math_float_to_half(&half, &f, 1, c->saturate);
    return half;
}

static uint16_t store_bf16(double v, const CastArgs *c)
{
    double rounded = round_float(v, 8, -133, 0x1.fep127, c->round);
    if (c->saturate) {
        rounded = rounded != rounded ? 0 : rounded;
        rounded = rounded > 0x1.fep127 ? 0x1.fep127 : rounded < -0x1.fep127 ? -0x1.fep127 : rounded;
    }
    return bf16_from_float((float)rounded);
}

static void store(const CastArgs *c, void *to, uint32_t i, double v)
{
    switch (c->dst) {
    case NPU_DT_F32:
        /* From float: to an integral value, and -0 becomes +0 (the one departure from IEEE that
         * the special-value tables name). */
        ((float *)to)[i] = (float)(c->src == NPU_DT_F32
                                       ? integral(v, c->round) + 0.0
                                       : round_float(v, 24, -149, 0x1.fffffep127, c->round));
        break;
    case NPU_DT_F16: ((uint16_t *)to)[i] = store_half(v, c); break;
    case NPU_DT_BF16: ((uint16_t *)to)[i] = store_bf16(v, c); break;
    case NPU_DT_I8: ((int8_t *)to)[i] = (int8_t)to_integer(v, c->round, -128, 127); break;
    case NPU_DT_U8: ((uint8_t *)to)[i] = (uint8_t)to_integer(v, c->round, 0, 255); break;
    case NPU_DT_I16: ((int16_t *)to)[i] = (int16_t)to_integer(v, c->round, -32768, 32767); break;
    case NPU_DT_I32:
        ((int32_t *)to)[i] = (int32_t)to_integer(v, c->round, -0x1p31, 0x1p31 - 1);
        break;
    default: ((int64_t *)to)[i] = to_integer(v, c->round, -0x1p63, 0x1p63); break;
    }
}

/* Any pair without i64 sources. */
static void cast_any(void *d, const void *a, const void *b, uint32_t n, const void *arguments)
{
    const CastArgs *c = arguments;
    (void)b;
    for (uint32_t i = 0; i < n; i++)
        store(c, d, i, load(c->src, a, i));
}

static void cast_f16_f32(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    math_half_to_float(d, a, n);
}

static void cast_f32_f16(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b;
    math_float_to_half(d, a, n, ((const CastArgs *)args)->saturate);
}

static void cast_bf16_f32(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    float *d = dst;
    const uint16_t *a = src;
    for (uint32_t i = 0; i < n; i++)
        d[i] = math_float((uint32_t)a[i] << 16);
}

static void cast_f32_bf16(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    uint16_t *d = dst;
    const float *a = src;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bits = math_bits(a[i]), nan = (bits & 0x7FFFFFFF) > 0x7F800000;
        d[i] = (uint16_t)(nan ? bits >> 16 | 0x40 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
}

static void cast_i32_f32(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    float *d = dst;
    const int32_t *a = src;
    for (uint32_t i = 0; i < n; i++)
        d[i] = (float)a[i];
}

static void cast_i32_i16(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    int16_t *d = dst;
    const int32_t *a = src;
    for (uint32_t i = 0; i < n; i++)
        d[i] = (int16_t)(a[i] < -32768 ? -32768 : a[i] > 32767 ? 32767 : a[i]);
}

static void cast_i32_i64(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    for (uint32_t i = 0; i < n; i++)
        ((int64_t *)dst)[i] = ((const int32_t *)src)[i];
}

static void cast_i64_i32(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = ((const int64_t *)src)[i];
        ((int32_t *)dst)[i] = (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
    }
}

/* Whether a magnitude cut to an even or odd `kept` with the rest `lost` grows by one. */
static bool rounds_up(uint64_t kept, uint64_t lost, uint64_t half, bool negative, uint8_t round)
{
    switch (round) {
    case NPU_ROUND_FLOOR: return lost && negative;
    case NPU_ROUND_CEIL: return lost && !negative;
    case NPU_ROUND_TRUNC: return false;
    case NPU_ROUND_ROUND: return lost >= half;
    default: return lost > half || (lost == half && (kept & 1));
    }
}

/* 64-bit integers have more digits than double, so this one rounds by hand. */
static float round_i64(int64_t v, uint8_t round)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int digits = size ? 64 - __builtin_clzll(size) : 0, shift = digits > 24 ? digits - 24 : 0;
    uint64_t kept = size >> shift, lost = size & ((1ull << shift) - 1);
    if (shift && rounds_up(kept, lost, 1ull << (shift - 1), v < 0, round))
        kept++;
    float result = (float)(uint32_t)kept * (float)(1ull << shift);
    return v < 0 ? -result : result;
}

static void cast_i64_f32(void *dst, const void *src, const void *b, uint32_t n, const void *args)
{
    (void)b;
    for (uint32_t i = 0; i < n; i++)
        ((float *)dst)[i] = round_i64(((const int64_t *)src)[i], ((const CastArgs *)args)->round);
}

static void cast_deq(void *dst, const void *src, const void *b, uint32_t n, const void *arguments)
{
    (void)b;
    CastArgs c = *(const CastArgs *)arguments;
    c.round = NPU_ROUND_RINT;
    for (uint32_t i = 0; i < n; i++)
        ((uint16_t *)dst)[i] = store_half(((const int32_t *)src)[i] * c.scale, &c);
}

static VecKernel *kernel_for(const CastArgs *c)
{
    bool nearest = c->round == NPU_ROUND_NONE || c->round == NPU_ROUND_RINT;
    switch (c->src << 8 | c->dst) {
    case NPU_DT_F16 << 8 | NPU_DT_F32: return cast_f16_f32;
    case NPU_DT_F32 << 8 | NPU_DT_F16: return nearest ? cast_f32_f16 : cast_any;
    case NPU_DT_BF16 << 8 | NPU_DT_F32: return cast_bf16_f32;
    case NPU_DT_F32 << 8 | NPU_DT_BF16: return nearest && !c->saturate ? cast_f32_bf16 : cast_any;
    case NPU_DT_I32 << 8 | NPU_DT_F32: return nearest ? cast_i32_f32 : cast_any;
    case NPU_DT_I32 << 8 | NPU_DT_I16: return cast_i32_i16;
    case NPU_DT_I32 << 8 | NPU_DT_I64: return cast_i32_i64;
    case NPU_DT_I64 << 8 | NPU_DT_I32: return cast_i64_i32;
    case NPU_DT_I64 << 8 | NPU_DT_F32: return cast_i64_f32;
    case NPU_DT_I32 << 8 | NPU_DT_F16: return cast_deq;
    default: return cast_any;
    }
}

/* --- packed 4-bit integers: two in a byte, the even element in the low half --- */

static int nibble(const uint8_t *bytes, uint64_t i)
{
    int v = i % 2 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
    return v >= 8 ? v - 16 : v;
}

static void set_nibble(uint8_t *bytes, uint64_t i, int64_t v)
{
    uint8_t bits = (uint8_t)(v & 15), old = bytes[i / 2];
    bytes[i / 2] = (uint8_t)(i % 2 ? (old & 0x0F) | bits << 4 : (old & 0xF0) | bits);
}

/* Where lane i of a repeat lies, in half bytes from the operand's start: a block holds 64 packed
 * elements or 16 of two bytes. */
static uint64_t half_byte(const RecordOperand *o, bool packed, uint64_t repeat, uint32_t lane)
{
    uint32_t per = packed ? 64 : 16;
    uint64_t block = repeat * o->repeat_stride + (uint64_t)(lane / per) * o->block_stride;
    return block * 64 + lane % per * (packed ? 1 : 4);
}

typedef struct Packed {
    uint32_t lanes;   /* of a repeat */
    uint32_t repeats; /* at most 255 */
    bool to4, counted;
} Packed;

static bool packed_shape(Step *s, const CastArgs *c, Packed *p)
{
    const Record *r = s->r;
    *p = (Packed){128, (uint32_t)r->n[0], c->dst == NPU_DT_I4, r->flags & REC_COUNTER};
    if (p->counted && (r->mask[0] % 2 || r->mask[0] > (1u << 18))) {
        sim_report(s, SIM_FAULT_BAD_COUNT, "4-bit conversions take an even count");
        return false;
    }
    if (p->counted)
        *p = (Packed){(uint32_t)r->mask[0], 1, p->to4, true};
    for (uint64_t m = r->mask[0] | r->mask[1], i = 0; !p->counted && i < 64; i += 2)
        if ((r->mask[0] >> i & 1) != (r->mask[0] >> (i + 1) & 1) ||
            (r->mask[1] >> i & 1) != (r->mask[1] >> (i + 1) & 1) || !m) {
            sim_report(s, SIM_FAULT_BAD_MASK, "4-bit conversions take elements in pairs");
            return false;
        }
    return true;
}

static bool lane_on(const Record *r, const Packed *p, uint32_t lane)
{
    return p->counted || (r->mask[lane / 64] >> (lane % 64) & 1);
}

static uint64_t place(const Record *r, const Packed *p, int operand, uint64_t repeat, uint32_t lane)
{
    bool packed = (operand == 0) == p->to4;
    if (p->counted)
        return (uint64_t)lane * (packed ? 1 : 4);
    return half_byte(&r->operand[operand], packed, repeat, lane);
}

static bool packed_range(Step *s, const Packed *p, int i, SimMemory **m, uint64_t *base)
{
    uint32_t last = p->lanes;
    while (last && !lane_on(s->r, p, last - 1))
        last--;
    uint64_t end = last && p->repeats ? place(s->r, p, i, p->repeats - 1, last - 1) / 2 : 0;
    uint32_t bytes = last ? (uint32_t)end + ((i == 0) == p->to4 ? 1 : 2) : 0;
    *m = sim_local(s, i, 1u << NPU_UB);
    *base = rec_byte(s->r->operand[i].address);
    return *m && sim_aligned(s, i, 32) && sim_local_range(s, i, *m, *base, bytes, i == 0);
}

static bool cast_packed(Step *s, CastArgs *c)
{
    const Record *r = s->r;
    Packed p;
    SimMemory *d, *a;
    uint64_t to, from, done = 0;
    if (!packed_shape(s, c, &p) || !packed_range(s, &p, 0, &d, &to) ||
        !packed_range(s, &p, 1, &a, &from))
        return false;
    for (uint32_t repeat = 0; repeat < p.repeats; repeat++)
        for (uint32_t i = 0; i < p.lanes; i++) {
            if (!lane_on(r, &p, i))
                continue;
            uint64_t x = from * 2 + place(r, &p, 1, repeat, i);
            uint64_t y = to * 2 + place(r, &p, 0, repeat, i);
            if (p.to4)
                set_nibble(d->at, y, to_integer(load(c->src, a->at + x / 2, 0), c->round, -8, 7));
            else
                store(c, d->at + y / 2, 0, nibble(a->at, x));
            memory_set_known(d, y / 2, p.to4 ? 1 : 2, memory_known(a, x / 2, p.to4 ? 2 : 1));
            done++;
        }
    sim_count(s, (done + 127) / 128, p.to4 ? done * 2 : done / 2, p.to4 ? done / 2 : done * 2);
    return true;
}

/* --- dequantisation of i16 to 8 bits --- */

/* One block of 16 sources fills half of a block: mode bit 1 says the upper one. The other half keeps
 * what it held. Bit 0: sixteen words in UB, one for each place of a block, instead of the register. */
enum { DEQ_BY_PLACE = 1, DEQ_UPPER = 2, DEQ_PLACES = 16 };

/* The factor has 10 fraction bits, the offset 9 bits with sign, bit 46 says a signed result. */
static uint8_t dequantised(int16_t v, uint64_t word)
{
    int32_t offset = (int32_t)(word >> 37 & 0x1FF);
    double factor = (double)math_float((uint32_t)word & ~0x1FFFu);
    bool is_signed = word >> 46 & 1;
    return (uint8_t)to_integer(v * factor + (offset >= 256 ? offset - 512 : offset), NPU_ROUND_RINT,
                               is_signed ? -128 : 0, is_signed ? 127 : 255);
}

static bool deq_words(Step *s, SimMemory *ub, uint64_t words[DEQ_PLACES])
{
    for (int i = 0; i < DEQ_PLACES; i++)
        words[i] = s->core->deq_scale;
    if (!(s->r->mode & DEQ_BY_PLACE))
        return true;
    uint64_t at = s->core->deq_scale, bytes = DEQ_PLACES * sizeof *words;
    if (at > ub->bytes || bytes > ub->bytes - at) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "the factors of CastDequant are not in UB");
        return false;
    }
    memcpy(words, ub->at + at, bytes);
    return true;
}

static bool exec_cast_deq(Step *s)
{
    const Record *r = s->r;
    uint64_t words[DEQ_PLACES];
    VecShape shape = {.operands = 2, .size = {2, 2}};
    VecPlan p;
    if (r->dtype[1] != NPU_DT_I16 || (r->dtype[0] != NPU_DT_I8 && r->dtype[0] != NPU_DT_U8)) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "CastDequant from %s to %s", npu_dtype_text(r->dtype[1]),
                   npu_dtype_text(r->dtype[0]));
        return false;
    }
    if (!s->core->deq_set)
        sim_report(s, SIM_FAULT_UNINITIALISED, "SetDeqScale was not called");
    if (!vec_plan(&p, s, &shape) || (p.repeats && !deq_words(s, p.o[1].memory, words)))
        return false;
    for (uint32_t i = 0; i < p.repeats * p.per_repeat; i++) {
        uint32_t repeat = i / p.per_repeat, e = i % p.per_repeat, place = e % DEQ_PLACES;
        if (!vec_active(&p, repeat, e))
            continue;
        uint64_t from = vec_byte(&p.o[1], repeat, e);
        uint64_t to = vec_byte(&p.o[0], repeat, e - place) + place +
                      (r->mode & DEQ_UPPER ? VEC_BLOCK / 2 : 0);
        int16_t v;
        memcpy(&v, p.o[1].memory->at + from, sizeof v);
        p.o[0].memory->at[to] = dequantised(v, words[place]);
        memory_set_known(p.o[0].memory, to, 1, memory_known(p.o[1].memory, from, sizeof v));
    }
    return true;
}

bool exec_cast(Step *s)
{
    const Record *r = s->r;
    if (r->op == NPU_CAST_DEQ)
        return exec_cast_deq(s);
    CastArgs c = {r->dtype[1], r->dtype[0], r->mode, s->core->saturate, 1.0};
    if (!npu_cast_ok(c.src, c.dst, c.round)) {
        bool pair = npu_cast_ok(c.src, c.dst, NPU_ROUND_NONE) ||
                    npu_cast_ok(c.src, c.dst, NPU_ROUND_RINT);
        sim_report(s, pair ? SIM_FAULT_BAD_MODE : SIM_FAULT_BAD_DTYPE,
                   "no conversion from %s to %s with rounding mode %u", npu_dtype_text(c.src),
                   npu_dtype_text(c.dst), c.round);
        return false;
    }
    if (c.src == NPU_DT_I4 || c.dst == NPU_DT_I4)
        return cast_packed(s, &c);
    if (c.src == NPU_DT_I32 && c.dst == NPU_DT_F16) {
        if (!s->core->deq_set)
            sim_report(s, SIM_FAULT_SCALE_NOT_SET, "i32 to f16 multiplies by the scale register");
        else
            c.scale = (double)half_to_float((uint16_t)s->core->deq_scale);
    }
    VecShape shape = {.operands = 2,
                      .size = {npu_dtype_bits(c.dst) / 8, npu_dtype_bits(c.src) / 8}};
    VecPlan plan;
    if (!vec_plan(&plan, s, &shape))
        return false;
    vec_run(&plan, kernel_for(&c), &c);
    return true;
}
