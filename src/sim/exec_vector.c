/* Elementwise vector instructions: two tensors, one tensor, a tensor and a scalar, filling.
 *
 * Half is computed in float and rounded once per operation, which equals rounding the exact
 * result (float has more than twice the digits of half); fused forms round after each step, as the
 * vendor's special-value tables show. Kernels are total: they also run on masked-out elements. */
#include "base/dtype.h"
#include "sim/math.h"
#include "sim/vec.h"

typedef struct VecArgs {
    VecKernel *inner; /* the float kernel under a half one */
    float scalar;
    int64_t integer;
    uint64_t bits;
    bool saturate, round;
} VecArgs;

enum { CHUNK = 256 };

#define KERNEL(name, type, ...)                                                 \
    static void name(void *dst, const void *src0, const void *src1, uint32_t n, \
                     const void *arguments)                                     \
    {                                                                           \
        type *d = dst;                                                          \
        const type *x = src0, *y = src1;                                        \
        const VecArgs *args = arguments;                                        \
        (void)x, (void)y, (void)args;                                           \
        for (uint32_t i = 0; i < n; i++)                                        \
            d[i] = (__VA_ARGS__);                                               \
    }

static inline float larger(float a, float b)
{
    float m = a > b ? a : b;
    m = a == b && math_bits(a) >> 31 == 0 ? a : m; /* +0 over -0 */
    return a != a ? a : b != b ? b : m;
}
static inline float smaller(float a, float b)
{
    float m = a < b ? a : b;
    m = a == b && math_bits(a) >> 31 ? a : m;
    return a != a ? a : b != b ? b : m;
}
static inline float rectified(float a) { return a > 0 || a != a ? a : 0.0f; }

KERNEL(f32_add, float, x[i] + y[i])
KERNEL(f32_sub, float, x[i] - y[i])
KERNEL(f32_mul, float, x[i] * y[i])
KERNEL(f32_div, float, x[i] / y[i])
KERNEL(f32_max, float, larger(x[i], y[i]))
KERNEL(f32_min, float, smaller(x[i], y[i]))
KERNEL(f32_add_relu, float, rectified(x[i] + y[i]))
KERNEL(f32_sub_relu, float, rectified(x[i] - y[i]))
KERNEL(f32_mul_add_dst, float, x[i] * y[i] + d[i])
KERNEL(f32_fused_mul_add, float, x[i] * d[i] + y[i])
KERNEL(f32_mul_add_relu, float, rectified(x[i] * d[i] + y[i]))
KERNEL(f32_abs, float, math_float(math_bits(x[i]) & 0x7FFFFFFF))
KERNEL(f32_sqrt, float, __builtin_sqrtf(x[i]))
KERNEL(f32_rsqrt, float, (float)(1.0 / __builtin_sqrt((double)x[i])))
KERNEL(f32_rec, float, 1.0f / x[i])
KERNEL(f32_relu, float, rectified(x[i]))
KERNEL(f32_adds, float, x[i] + args->scalar)
KERNEL(f32_muls, float, x[i] * args->scalar)
KERNEL(f32_maxs, float, larger(x[i], args->scalar))
KERNEL(f32_mins, float, smaller(x[i], args->scalar))
KERNEL(f32_leaky, float, math_bits(x[i]) >> 31 ? x[i] * args->scalar : x[i])
KERNEL(f32_axpy, float, x[i] * args->scalar + d[i])

static void f32_exp(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    math_exp_array(d, a, n);
}
static void f32_ln(void *d, const void *a, const void *b, uint32_t n, const void *args)
{
    (void)b, (void)args;
    math_ln_array(d, a, n);
}

/* The float kernel over chunks of widened halves, narrowed again. */
static void half_kernel(void *dst, const void *src0, const void *src1, uint32_t n,
                        const void *arguments)
{
    const VecArgs *args = arguments;
    float d[CHUNK] = {0}, x[CHUNK], y[CHUNK] = {0};
    uint16_t *out = dst;
    for (uint32_t at = 0; at < n; at += CHUNK) {
        uint32_t m = n - at < CHUNK ? n - at : CHUNK;
        math_half_to_float(x, (const uint16_t *)src0 + at, m);
        if (src1)
            math_half_to_float(y, (const uint16_t *)src1 + at, m);
        args->inner(d, x, y, m, args);
        math_float_to_half(out + at, d, m, args->saturate);
    }
}

static void round_half(float *x, uint32_t n, bool saturate)
{
    uint16_t h[CHUNK];
    math_float_to_half(h, x, n, saturate);
    math_half_to_float(x, h, n);
}

/* d = x * y + z in two roundings; z and d in half. */
static void half_fused(uint16_t *d, float *x, const float *y, const float *z, uint32_t n,
                       bool saturate, bool relu)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] *= y[i];
    round_half(x, n, saturate);
    for (uint32_t i = 0; i < n; i++)
        x[i] += z[i];
    if (relu) {
        round_half(x, n, saturate);
        for (uint32_t i = 0; i < n; i++)
            x[i] = rectified(x[i]);
    }
    math_float_to_half(d, x, n, saturate);
}

/* Which operand plays which part in x * y + z: of d, src0, src1 and the scalar. */
static void half_ternary(uint16_t op, uint16_t *d, const uint16_t *a, const uint16_t *b, uint32_t n,
                         const VecArgs *args)
{
    float x[CHUNK], y[CHUNK], z[CHUNK];
    math_half_to_float(x, a, n);
    if (op == NPU_AXPY)
        for (uint32_t i = 0; i < n; i++)
            y[i] = args->scalar;
    else
        math_half_to_float(y, op == NPU_MUL_ADD_DST ? b : d, n);
    math_half_to_float(z, op == NPU_MUL_ADD_DST || op == NPU_AXPY ? d : b, n);
    half_fused(d, x, y, z, n, args->saturate, op == NPU_MUL_ADD_RELU);
}

#define HALF_TERNARY(name, op)                                                                \
    static void name(void *d, const void *a, const void *b, uint32_t n, const void *args)     \
    {                                                                                         \
        for (uint32_t at = 0; at < n; at += CHUNK) {                                          \
            const uint16_t *y = b;                                                            \
            half_ternary(op, (uint16_t *)d + at, (const uint16_t *)a + at, y ? y + at : NULL, \
                         n - at < CHUNK ? n - at : CHUNK, args);                              \
        }                                                                                     \
    }
HALF_TERNARY(f16_mul_add_dst, NPU_MUL_ADD_DST)
HALF_TERNARY(f16_fused_mul_add, NPU_FUSED_MUL_ADD)
HALF_TERNARY(f16_mul_add_relu, NPU_MUL_ADD_RELU)
HALF_TERNARY(f16_axpy, NPU_AXPY)

/* Half sources, float destination. */
static void mixed_ternary(void *dst, const void *src0, const void *src1, uint32_t n,
                          const void *arguments)
{
    const VecArgs *args = arguments;
    float *d = dst, x[CHUNK], y[CHUNK] = {0};
    for (uint32_t at = 0; at < n; at += CHUNK) {
        uint32_t m = n - at < CHUNK ? n - at : CHUNK;
        math_half_to_float(x, (const uint16_t *)src0 + at, m);
        if (src1)
            math_half_to_float(y, (const uint16_t *)src1 + at, m);
        args->inner(d + at, x, y, m, args);
    }
}

/* Integers wrap, or clamp when the saturation flag is set. */
static inline int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}
#define FIT16(v) (args->saturate ? (int16_t)clamp((v), INT16_MIN, INT16_MAX) : (int16_t)(v))
#define FIT32(v) (args->saturate ? (int32_t)clamp((v), INT32_MIN, INT32_MAX) : (int32_t)(v))
#define INT_KERNELS(w)                                                                           \
    KERNEL(i##w##_add, int##w##_t, FIT##w((int64_t)x[i] + y[i]))                                 \
    KERNEL(i##w##_sub, int##w##_t, FIT##w((int64_t)x[i] - y[i]))                                 \
    KERNEL(i##w##_mul, int##w##_t, FIT##w((int64_t)x[i] * y[i]))                                 \
    KERNEL(i##w##_max, int##w##_t, x[i] > y[i] ? x[i] : y[i])                                    \
    KERNEL(i##w##_min, int##w##_t, x[i] < y[i] ? x[i] : y[i])                                    \
    KERNEL(i##w##_adds, int##w##_t, FIT##w((int64_t)x[i] + args->integer))                       \
    KERNEL(i##w##_muls, int##w##_t, FIT##w((int64_t)x[i] * args->integer))                       \
    KERNEL(i##w##_maxs, int##w##_t, x[i] > args->integer ? x[i] : (int##w##_t)args->integer)     \
    KERNEL(i##w##_mins, int##w##_t, x[i] < args->integer ? x[i] : (int##w##_t)args->integer)     \
    KERNEL(i##w##_shr, int##w##_t,                                                               \
           (int##w##_t)(                                                                         \
               ((int64_t)x[i] >> args->integer) +                                                \
               (args->round && args->integer ? ((int64_t)x[i] >> (args->integer - 1) & 1) : 0))) \
    KERNEL(u##w##_shr, uint##w##_t, (uint##w##_t)((uint64_t)x[i] >> args->integer))              \
    KERNEL(u##w##_shl, uint##w##_t, (uint##w##_t)((uint64_t)x[i] << args->integer))              \
    KERNEL(u##w##_fill, uint##w##_t, (uint##w##_t)args->bits)
INT_KERNELS(16)
INT_KERNELS(32)
KERNEL(i16_add_relu, int16_t,
       (int16_t)(FIT16((int64_t)x[i] + y[i]) > 0 ? FIT16((int64_t)x[i] + y[i]) : 0))
KERNEL(i16_sub_relu, int16_t,
       (int16_t)(FIT16((int64_t)x[i] - y[i]) > 0 ? FIT16((int64_t)x[i] - y[i]) : 0))
KERNEL(i32_relu, int32_t, x[i] > 0 ? x[i] : 0)
KERNEL(u16_and, uint16_t, x[i] & y[i])
KERNEL(u16_or, uint16_t, x[i] | y[i])
KERNEL(u16_not, uint16_t, (uint16_t)~x[i])

/* By operation: the kernel for f32, the float kernel under f16 (or f16's own), i16, i32. */
typedef struct VecRow {
    VecKernel *f32, *f16_inner, *f16, *i16, *i32;
} VecRow;

static const VecRow vec_rows[NPU_OP_COUNT] = {
    [NPU_ADD] = {f32_add, f32_add, NULL, i16_add, i32_add},
    [NPU_SUB] = {f32_sub, f32_sub, NULL, i16_sub, i32_sub},
    [NPU_MUL] = {f32_mul, f32_mul, NULL, i16_mul, i32_mul},
    [NPU_DIV] = {f32_div, f32_div, NULL, NULL, NULL},
    [NPU_MAX] = {f32_max, f32_max, NULL, i16_max, i32_max},
    [NPU_MIN] = {f32_min, f32_min, NULL, i16_min, i32_min},
    [NPU_ADD_RELU] = {f32_add_relu, f32_add_relu, NULL, i16_add_relu, NULL},
    [NPU_SUB_RELU] = {f32_sub_relu, f32_sub_relu, NULL, i16_sub_relu, NULL},
    [NPU_MUL_ADD_DST] = {f32_mul_add_dst, NULL, f16_mul_add_dst, NULL, NULL},
    [NPU_FUSED_MUL_ADD] = {f32_fused_mul_add, NULL, f16_fused_mul_add, NULL, NULL},
    [NPU_MUL_ADD_RELU] = {f32_mul_add_relu, NULL, f16_mul_add_relu, NULL, NULL},
    [NPU_ABS] = {f32_abs, f32_abs, NULL, NULL, NULL},
    [NPU_EXP] = {f32_exp, f32_exp, NULL, NULL, NULL},
    [NPU_LN] = {f32_ln, f32_ln, NULL, NULL, NULL},
    [NPU_SQRT] = {f32_sqrt, f32_sqrt, NULL, NULL, NULL},
    [NPU_RSQRT] = {f32_rsqrt, f32_rsqrt, NULL, NULL, NULL},
    [NPU_RECIPROCAL] = {f32_rec, f32_rec, NULL, NULL, NULL},
    [NPU_RELU] = {f32_relu, f32_relu, NULL, NULL, i32_relu},
    [NPU_ADDS] = {f32_adds, f32_adds, NULL, i16_adds, i32_adds},
    [NPU_MULS] = {f32_muls, f32_muls, NULL, i16_muls, i32_muls},
    [NPU_MAXS] = {f32_maxs, f32_maxs, NULL, i16_maxs, i32_maxs},
    [NPU_MINS] = {f32_mins, f32_mins, NULL, i16_mins, i32_mins},
    [NPU_LEAKY_RELU] = {f32_leaky, f32_leaky, NULL, NULL, NULL},
    [NPU_AXPY] = {f32_axpy, NULL, f16_axpy, NULL, NULL},
};

static VecKernel *arithmetic_kernel(uint16_t op, uint32_t dtype, VecArgs *args)
{
    const VecRow *row = &vec_rows[op];
    if (!row->f32)
        return NULL;
    switch (dtype) {
    case NPU_DT_F32: return row->f32;
    case NPU_DT_F16: args->inner = row->f16_inner; return row->f16 ? row->f16 : half_kernel;
    case NPU_DT_I16: return row->i16;
    case NPU_DT_I32: return row->i32;
    default: return NULL;
    }
}

static VecKernel *bit_kernel(uint16_t op, uint32_t dtype)
{
    bool wide = dtype == NPU_DT_I32 || dtype == NPU_DT_U32 || dtype == NPU_DT_F32;
    bool is_signed = dtype == NPU_DT_I16 || dtype == NPU_DT_I32;
    switch (op) {
    case NPU_AND: return u16_and;
    case NPU_OR: return u16_or;
    case NPU_NOT: return u16_not;
    case NPU_SHIFT_LEFT: return wide ? u32_shl : u16_shl;
    case NPU_SHIFT_RIGHT:
        if (is_signed)
            return wide ? i32_shr : i16_shr;
        return wide ? u32_shr : u16_shr;
    case NPU_DUPLICATE: return wide ? u32_fill : u16_fill;
    default: return NULL;
    }
}

static void read_scalar(VecArgs *args, const Record *r, uint32_t dtype)
{
    args->bits = r->scalar;
    args->integer = dtype == NPU_DT_I16   ? (int16_t)r->scalar
                    : dtype == NPU_DT_U16 ? (uint16_t)r->scalar
                    : dtype == NPU_DT_U32 ? (int64_t)(uint32_t)r->scalar
                                          : (int32_t)r->scalar;
    if (dtype == NPU_DT_F32) {
        args->scalar = math_float((uint32_t)r->scalar);
    } else {
        uint16_t half = (uint16_t)r->scalar;
        math_half_to_float(&args->scalar, &half, 1);
    }
}

static bool shift_ok(Step *s, uint32_t dtype, int64_t count)
{
    if (count >= 0 && count <= npu_dtype_bits(dtype))
        return true;
    sim_report(s, SIM_FAULT_BAD_PARAMETER, "shift by %lld; the range is 0 to %u", (long long)count,
               npu_dtype_bits(dtype));
    return false;
}

static bool same_dtypes(Step *s, int sources)
{
    const uint8_t *t = s->r->dtype;
    if ((sources < 1 || t[1] == t[0]) && (sources < 2 || t[2] == t[0]))
        return true;
    sim_report(s, SIM_FAULT_BAD_DTYPE, "operands of types %s, %s, %s; they must be the same",
               npu_dtype_text(t[0]), npu_dtype_text(t[1]), npu_dtype_text(t[2]));
    return false;
}

static int source_count(enum NpuForm form)
{
    if (form == NPU_F_DUP)
        return 0;
    return form == NPU_F_BINARY || form == NPU_F_TERNARY ? 2 : 1;
}

/* Axpy and MulAddDst may have half sources and a float destination. */
static bool is_mixed(const Record *r)
{
    return (r->op == NPU_AXPY || r->op == NPU_MUL_ADD_DST) && r->dtype[0] == NPU_DT_F32 &&
           r->dtype[1] == NPU_DT_F16;
}

static bool run_mixed(Step *s, int sources, bool reads_dst)
{
    const Record *r = s->r;
    VecArgs args = {.inner = vec_rows[r->op].f32, .saturate = s->core->saturate};
    read_scalar(&args, r, NPU_DT_F16);
    VecShape shape = {.operands = 1 + sources, .size = {4, 2, 2}, .reads_dst = reads_dst};
    VecPlan plan;
    if (!vec_plan(&plan, s, &shape))
        return false;
    vec_run(&plan, mixed_ternary, &args);
    return true;
}

/* MulCast, AddReluCast, SubReluCast: compute in the sources' type, then convert. */
typedef struct CastArgs {
    uint16_t op;
    uint8_t src, dst;
    bool saturate;
} CastArgs;

static float combined(uint16_t op, float x, float y)
{
    if (op == NPU_MUL_CAST)
        return x * y;
    return rectified(op == NPU_ADD_RELU_CAST ? x + y : x - y);
}

static float load_source(uint8_t dtype, const void *from, uint32_t i)
{
    float value;
    if (dtype == NPU_DT_F32)
        return ((const float *)from)[i];
    if (dtype == NPU_DT_I16)
        return (float)((const int16_t *)from)[i];
    math_half_to_float(&value, (const uint16_t *)from + i, 1);
    return value;
}

static void combine_cast(void *dst, const void *src0, const void *src1, uint32_t n,
                         const void *arguments)
{
    const CastArgs *c = arguments;
    for (uint32_t i = 0; i < n; i++) {
        float v = combined(c->op, load_source(c->src, src0, i), load_source(c->src, src1, i));
        if (c->src == NPU_DT_F16)
            round_half(&v, 1, c->saturate);
        if (c->dst == NPU_DT_F16) {
            math_float_to_half((uint16_t *)dst + i, &v, 1, c->saturate);
            continue;
        }
        int64_t low = c->dst == NPU_DT_U8 ? 0 : -128, high = c->dst == NPU_DT_U8 ? 255 : 127;
        float whole = v != v ? 0 : v > 1000 ? 1000 : v < -1000 ? -1000 : __builtin_rintf(v);
        ((uint8_t *)dst)[i] = (uint8_t)clamp((int64_t)whole, low, high);
    }
}

static bool combine_ok(const Record *r)
{
    if (r->dtype[1] != r->dtype[2])
        return false;
    if (r->op == NPU_MUL_CAST)
        return r->dtype[1] == NPU_DT_F16 && (r->dtype[0] == NPU_DT_I8 || r->dtype[0] == NPU_DT_U8);
    if (r->dtype[0] == NPU_DT_F16)
        return r->dtype[1] == NPU_DT_F32;
    return r->dtype[0] == NPU_DT_I8 && (r->dtype[1] == NPU_DT_F16 || r->dtype[1] == NPU_DT_I16);
}

static bool run_combine_cast(Step *s)
{
    const Record *r = s->r;
    if (!combine_ok(r)) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "no form from %s to %s", npu_dtype_text(r->dtype[1]),
                   npu_dtype_text(r->dtype[0]));
        return false;
    }
    CastArgs args = {r->op, r->dtype[1], r->dtype[0], s->core->saturate};
    uint32_t from = npu_dtype_bits(r->dtype[1]) / 8;
    VecShape shape = {.operands = 3, .size = {npu_dtype_bits(r->dtype[0]) / 8, from, from}};
    VecPlan plan;
    if (!vec_plan(&plan, s, &shape))
        return false;
    vec_run(&plan, combine_cast, &args);
    return true;
}

/* AddDeqRelu: the sum of two int32, by the half in the scale register, to a half that is not negative. */
typedef struct DeqArgs {
    double scale;
    bool saturate;
} DeqArgs;

static void add_deq_relu(void *dst, const void *src0, const void *src1, uint32_t n,
                         const void *arguments)
{
    const DeqArgs *q = arguments;
    for (uint32_t i = 0; i < n; i++) {
        int64_t sum = (int64_t)((const int32_t *)src0)[i] + ((const int32_t *)src1)[i];
        sum = q->saturate ? clamp(sum, INT32_MIN, INT32_MAX) : (int32_t)(uint32_t)sum;
        uint16_t half = half_from_double((double)sum * q->scale);
        float v;
        math_half_to_float(&v, &half, 1);
        v = rectified(v);
        math_float_to_half((uint16_t *)dst + i, &v, 1, q->saturate);
    }
}

static bool run_add_deq_relu(Step *s)
{
    const uint8_t *t = s->r->dtype;
    if (t[0] != NPU_DT_F16 || t[1] != NPU_DT_I32 || t[2] != NPU_DT_I32) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "no form from %s to %s", npu_dtype_text(t[1]),
                   npu_dtype_text(t[0]));
        return false;
    }
    if (!s->core->deq_set)
        sim_report(s, SIM_FAULT_UNINITIALISED, "SetDeqScale was not called");
    DeqArgs args = {(double)half_to_float((uint16_t)s->core->deq_scale), s->core->saturate};
    VecShape shape = {.operands = 3, .size = {2, 4, 4}};
    VecPlan plan;
    if (!vec_plan(&plan, s, &shape))
        return false;
    vec_run(&plan, add_deq_relu, &args);
    return true;
}

/* Notes for the observers how far Duplicate finds its value already there; only when dense. */
static void note_filled(Step *s, const VecPlan *p, uint32_t size, uint64_t bits)
{
    const VecOperand *d = &p->o[0];
    uint32_t n = 0;
    if (!p->flat || p->flat_count == 0)
        return;
    while (n < p->flat_count &&
           memcmp(d->memory->at + d->base + (uint64_t)n * size, &bits, size) == 0)
        n++;
    sim_unchanged_open(s, d->base, d->base + (uint64_t)p->flat_count * size);
    sim_unchanged_note(s, d->base, d->memory->at + d->base, (uint64_t)n * size);
}

static bool run_uniform(Step *s, int sources, bool reads_dst)
{
    const Record *r = s->r;
    uint32_t dtype = r->dtype[0];
    VecArgs args = {.saturate = s->core->saturate, .round = r->mode & 1};
    VecKernel *kernel = arithmetic_kernel(r->op, dtype, &args);
    if (!kernel)
        kernel = bit_kernel(r->op, dtype);
    if (!kernel) {
        sim_report(s, SIM_FAULT_UNSUPPORTED, "%s is not modelled", npu_isa(r->op)->instruction);
        return false;
    }
    read_scalar(&args, r, dtype);
    if ((r->op == NPU_SHIFT_LEFT || r->op == NPU_SHIFT_RIGHT) && !shift_ok(s, dtype, args.integer))
        return false;
    uint32_t size = npu_dtype_bits(dtype) / 8;
    VecShape shape = {.operands = 1 + sources, .size = {size, size, size}, .reads_dst = reads_dst};
    VecPlan plan;
    if (!vec_plan(&plan, s, &shape))
        return false;
    if (r->op == NPU_DUPLICATE && s->sim->watchers.len)
        note_filled(s, &plan, size, args.bits);
    vec_run(&plan, kernel, &args);
    return true;
}

bool exec_vector(Step *s)
{
    const Record *r = s->r;
    enum NpuForm form = npu_isa(r->op)->form;
    int sources = source_count(form);
    bool reads_dst = form == NPU_F_TERNARY || form == NPU_F_AXPY;
    if (r->op == NPU_MUL_CAST || r->op == NPU_ADD_RELU_CAST || r->op == NPU_SUB_RELU_CAST)
        return run_combine_cast(s);
    if (r->op == NPU_ADD_DEQ_RELU)
        return run_add_deq_relu(s);
    if (is_mixed(r))
        return run_mixed(s, sources, reads_dst);
    return same_dtypes(s, sources) && run_uniform(s, sources, reads_dst);
}
