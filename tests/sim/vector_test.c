/* Elementwise instructions against values computed here, in every dtype, dense, strided, masked. */
#include "base/rng.h"
#include "tests/sim/rig.h"

enum { N = 300, A = 0, B = 4096, D = 8192 };

typedef double Wanted(double a, double b, double d, double scalar);

static double w_add(double a, double b, double d, double s) { return (void)d, (void)s, a + b; }
static double w_sub(double a, double b, double d, double s) { return (void)d, (void)s, a - b; }
static double w_mul(double a, double b, double d, double s) { return (void)d, (void)s, a * b; }
static double w_div(double a, double b, double d, double s) { return (void)d, (void)s, a / b; }
static double w_max(double a, double b, double d, double s) { return (void)d, (void)s, fmax(a, b); }
static double w_min(double a, double b, double d, double s) { return (void)d, (void)s, fmin(a, b); }
static double w_add_relu(double a, double b, double d, double s)
{
    return (void)d, (void)s, fmax(a + b, 0);
}
static double w_sub_relu(double a, double b, double d, double s)
{
    return (void)d, (void)s, fmax(a - b, 0);
}
static double w_abs(double a, double b, double d, double s)
{
    return (void)b, (void)d, (void)s, fabs(a);
}
static double w_sqrt(double a, double b, double d, double s)
{
    return (void)b, (void)d, (void)s, sqrt(fabs(a));
}
static double w_relu(double a, double b, double d, double s)
{
    return (void)b, (void)d, (void)s, fmax(a, 0);
}
static double w_rec(double a, double b, double d, double s)
{
    return (void)b, (void)d, (void)s, 1 / a;
}
static double w_adds(double a, double b, double d, double s) { return (void)b, (void)d, a + s; }
static double w_muls(double a, double b, double d, double s) { return (void)b, (void)d, a * s; }
static double w_maxs(double a, double b, double d, double s)
{
    return (void)b, (void)d, fmax(a, s);
}
static double w_mins(double a, double b, double d, double s)
{
    return (void)b, (void)d, fmin(a, s);
}
static double w_leaky(double a, double b, double d, double s)
{
    return (void)b, (void)d, a < 0 ? a * s : a;
}

static const struct {
    uint16_t op;
    Wanted *wanted;
    const char *dtypes; /* h half, f float, s int16, i int32 */
    bool two, absolute;
} cases[] = {
    {NPU_ADD, w_add, "hfsi", true, false},          {NPU_SUB, w_sub, "hfsi", true, false},
    {NPU_MUL, w_mul, "hfsi", true, false},          {NPU_DIV, w_div, "hf", true, false},
    {NPU_MAX, w_max, "hfsi", true, false},          {NPU_MIN, w_min, "hfsi", true, false},
    {NPU_ADD_RELU, w_add_relu, "hfs", true, false}, {NPU_SUB_RELU, w_sub_relu, "hfs", true, false},
    {NPU_ABS, w_abs, "hf", false, false},           {NPU_SQRT, w_sqrt, "hf", false, true},
    {NPU_RELU, w_relu, "hfi", false, false},        {NPU_RECIPROCAL, w_rec, "hf", false, false},
    {NPU_ADDS, w_adds, "hfsi", false, false},       {NPU_MULS, w_muls, "hfsi", false, false},
    {NPU_MAXS, w_maxs, "hfsi", false, false},       {NPU_MINS, w_mins, "hfsi", false, false},
    {NPU_LEAKY_RELU, w_leaky, "hf", false, false},
};

static uint8_t dtype_of(char c)
{
    return c == 'h' ? NPU_DT_F16 : c == 'f' ? NPU_DT_F32 : c == 's' ? NPU_DT_I16 : NPU_DT_I32;
}

static void fill(uint8_t dtype, void *to, uint64_t stream, bool absolute)
{
    for (size_t i = 0; i < N; i++) {
        double v = dtype_is_float((DType)dtype) ? rng_normal(1, stream, i) * 8
                                                : (double)rng_range(1, stream, i, -90, 90);
        dtype_store((DType)dtype, to, i, absolute ? fabs(v) : v);
    }
}

static uint64_t scalar_bits(uint8_t dtype, double value)
{
    uint64_t bits = 0;
    dtype_store((DType)dtype, &bits, 0, value);
    return bits;
}

/* The exact result rounded once to the type is what every one of these must give. */
T_TEST(vector_elementwise_is_correctly_rounded)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (const char *t = cases[c].dtypes; *t; t++) {
            Rig rig = rig_open();
            uint8_t dtype = dtype_of(*t);
            _Alignas(8) uint8_t a[4 * N], b[4 * N], want[8];
            fill(dtype, a, 2 * c, cases[c].absolute);
            fill(dtype, b, 2 * c + 1, false);
            rig_put(&rig, A, a, sizeof a);
            rig_put(&rig, B, b, sizeof b);
            Record r = rig_vec(cases[c].op, dtype, D, A, cases[c].two ? B : ~0ull, N);
            r.scalar = scalar_bits(dtype, 3);
            CHECK_EQ_INT(rig_run(&rig, r), SIM_MORE);
            RIG_CLEAN(&rig);
            size_t bad = 0;
            for (size_t i = 0; i < N; i++) {
                double v = cases[c].wanted(dtype_load((DType)dtype, a, i),
                                           dtype_load((DType)dtype, b, i), 0, 3);
                dtype_store((DType)dtype, want, 0, v);
                bad += dtype_load((DType)dtype, want, 0) !=
                       dtype_load((DType)dtype, rig_ub(&rig, D), i);
            }
            CHECK_MSG(bad == 0, "%s %c: %zu wrong", npu_isa(cases[c].op)->api, *t, bad);
            rig_close(&rig);
        }
}

static double ulps(float got, double want)
{
    int e;
    frexp(want, &e);
    double unit = ldexp(1, e < -125 ? -149 : e - 24);
    return fabs((double)got - want) / unit;
}

static double worst(uint16_t op, double (*f)(double), double from, double to)
{
    Rig rig = rig_open();
    double most = 0;
    for (int block = 0; block < 40; block++) {
        float x[1024];
        for (int i = 0; i < 1024; i++)
            x[i] = (float)(from + (to - from) * rng_uniform(3, (uint64_t)block, (uint64_t)i));
        rig_put(&rig, A, x, sizeof x);
        rig_run(&rig, rig_vec(op, NPU_DT_F32, D, A, ~0ull, 1024));
        const float *y = rig_ub(&rig, D);
        for (int i = 0; i < 1024; i++) {
            double u = ulps(y[i], f((double)x[i]));
            most = u > most ? u : most;
        }
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
    return most;
}

static double rsqrt_of(double x) { return 1 / sqrt(x); }

T_TEST(vector_functions_are_within_one_ulp)
{
    CHECK(worst(NPU_EXP, exp, -87, 88) < 0.501);
    CHECK(worst(NPU_EXP, exp, -1, 1) < 0.501);
    CHECK(worst(NPU_EXP, exp, -103, -87) <= 0.501);
    CHECK(worst(NPU_LN, log, 1e-30, 3) < 0.501);
    CHECK(worst(NPU_LN, log, 0.9, 1.1) < 0.501);
    CHECK(worst(NPU_LN, log, 1, 3e38) < 0.501);
    CHECK(worst(NPU_RSQRT, rsqrt_of, 1e-20, 4) < 0.501);
    CHECK(worst(NPU_SQRT, sqrt, 0, 1e30) <= 0.5);
}

/* The nearest half, or its neighbour: the value is rounded to float first. */
static bool near_half(uint16_t got, double value)
{
    uint16_t want = half_from_double(value);
    if (value != value)
        return (got & 0x7FFF) > 0x7C00;
    return got == want || got + 1 == want || got == want + 1;
}

T_TEST(vector_half_functions_over_all_values)
{
    Rig rig = rig_open();
    for (uint32_t from = 0; from < 65536; from += 1024) {
        uint16_t x[1024];
        for (uint32_t i = 0; i < 1024; i++)
            x[i] = (uint16_t)(from + i);
        rig_put(&rig, A, x, sizeof x);
        rig_run(&rig, rig_vec(NPU_EXP, NPU_DT_F16, D, A, ~0ull, 1024));
        rig_run(&rig, rig_vec(NPU_LN, NPU_DT_F16, 2 * D, A, ~0ull, 1024));
        const uint16_t *e = rig_ub(&rig, D), *l = rig_ub(&rig, 2 * D);
        for (uint32_t i = 0; i < 1024; i++) {
            double v = (double)half_to_float(x[i]);
            CHECK_MSG(near_half(e[i], exp(v)), "exp %g", v);
            CHECK_MSG(near_half(l[i], log(v)), "ln %g", v);
        }
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* Fused forms round after the product and after the sum. */
T_TEST(vector_fused_forms_round_twice)
{
    Rig rig = rig_open();
    uint16_t a[N], b[N], d[N];
    for (size_t i = 0; i < N; i++) {
        a[i] = half_from_double(rng_normal(5, 0, i));
        b[i] = half_from_double(rng_normal(5, 1, i));
        d[i] = half_from_double(rng_normal(5, 2, i));
    }
    static const uint16_t ops[] = {NPU_MUL_ADD_DST, NPU_FUSED_MUL_ADD, NPU_MUL_ADD_RELU, NPU_AXPY};
    for (size_t o = 0; o < 4; o++) {
        rig_put(&rig, A, a, sizeof a);
        rig_put(&rig, B, b, sizeof b);
        rig_put(&rig, D, d, sizeof d);
        Record r = rig_vec(ops[o], NPU_DT_F16, D, A, ops[o] == NPU_AXPY ? ~0ull : B, N);
        r.scalar = half_from_float(0.3f);
        rig_run(&rig, r);
        const uint16_t *got = rig_ub(&rig, D);
        for (size_t i = 0; i < N; i++) {
            float x = half_to_float(a[i]), y = half_to_float(b[i]), z = half_to_float(d[i]);
            float left = ops[o] == NPU_MUL_ADD_DST ? y
                         : ops[o] == NPU_AXPY      ? half_to_float((uint16_t)r.scalar)
                                                   : z;
            float right = ops[o] == NPU_MUL_ADD_DST || ops[o] == NPU_AXPY ? z : y;
            float want = half_to_float(
                half_from_float(half_to_float(half_from_float(x * left)) + right));
            if (ops[o] == NPU_MUL_ADD_RELU && want < 0)
                want = 0;
            CHECK_MSG(half_to_float(got[i]) == want, "op %zu element %zu", o, i);
        }
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(vector_mixed_axpy_adds_half_to_float)
{
    Rig rig = rig_open();
    float d[64];
    uint16_t a[64];
    for (int i = 0; i < 64; i++)
        d[i] = (float)i, a[i] = half_from_float((float)(64 - i));
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, D, d, sizeof d);
    Record r = rig_vec(NPU_AXPY, NPU_DT_F32, D, A, ~0ull, 64);
    r.dtype[1] = NPU_DT_F16;
    r.operand[1].repeat_stride = 4;
    r.scalar = half_from_float(0.5f);
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    for (int i = 0; i < 64; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == (float)i + 0.5f * (float)(64 - i));
    rig_close(&rig);
}

T_TEST(vector_shifts_and_bits)
{
    Rig rig = rig_open();
    int16_t a[16] = {17, -17, 1, -1, 0x4000, -32768, 100, 31}, got[16];
    uint16_t b[16] = {0xF0F0, 0xFFFF, 3, 0, 1, 2, 3, 4};
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, B, b, sizeof b);
    Record r = rig_vec(NPU_SHIFT_RIGHT, NPU_DT_I16, D, A, ~0ull, 8);
    r.scalar = 5;
    r.mode = 1; /* rounding: bit 4 is added */
    rig_run(&rig, r);
    memcpy(got, rig_ub(&rig, D), sizeof got);
    CHECK_EQ_INT(got[0], 1);
    CHECK_EQ_INT(got[1], -1 + ((-17 >> 4) & 1));
    r.mode = 0;
    rig_run(&rig, r);
    memcpy(got, rig_ub(&rig, D), sizeof got);
    for (int i = 0; i < 8; i++)
        CHECK_EQ_INT(got[i], a[i] >> 5);
    r.op = NPU_SHIFT_LEFT;
    rig_run(&rig, r);
    memcpy(got, rig_ub(&rig, D), sizeof got);
    CHECK_EQ_INT(got[0], 17 << 5);
    CHECK_EQ_INT((uint16_t)got[4], 0);
    r.scalar = 17;
    RIG_FAULT(&rig, r, "S043");
    rig_run(&rig, rig_vec(NPU_AND, NPU_DT_U16, D, A, B, 8));
    CHECK_EQ_INT(*(uint16_t *)rig_ub(&rig, D), 17 & 0xF0F0);
    rig_run(&rig, rig_vec(NPU_OR, NPU_DT_U16, D, A, B, 8));
    CHECK_EQ_INT(*(uint16_t *)rig_ub(&rig, D), 17 | 0xF0F0);
    rig_run(&rig, rig_vec(NPU_NOT, NPU_DT_I16, D, A, ~0ull, 8));
    CHECK_EQ_INT(*(int16_t *)rig_ub(&rig, D), ~17);
    rig_close(&rig);
}

T_TEST(vector_combined_casts)
{
    Rig rig = rig_open();
    float x[64], y[64];
    uint16_t h[64], g[64];
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i * 0.37f - 9, y[i] = 1.5f - (float)i * 0.11f;
        h[i] = half_from_float((float)i * 5 - 160), g[i] = half_from_float(1.5f);
    }
    rig_put(&rig, A, x, sizeof x);
    rig_put(&rig, B, y, sizeof y);
    Record r = rig_vec(NPU_ADD_RELU_CAST, NPU_DT_F32, D, A, B, 64);
    r.dtype[0] = NPU_DT_F16;
    r.operand[0].repeat_stride = 4;
    rig_run(&rig, r);
    for (int i = 0; i < 64; i++)
        CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[i], half_from_float(fmaxf(x[i] + y[i], 0)));
    rig_put(&rig, A, h, sizeof h);
    rig_put(&rig, B, g, sizeof g);
    r = rig_vec(NPU_MUL_CAST, NPU_DT_F16, D, A, B, 64);
    r.dtype[0] = NPU_DT_I8;
    r.operand[0].repeat_stride = 4;
    rig_run(&rig, r);
    for (int i = 0; i < 64; i++) {
        double v = rint((i * 5 - 160) * 1.5);
        CHECK_EQ_INT(((int8_t *)rig_ub(&rig, D))[i], (int)fmin(127, fmax(-128, v)));
    }
    RIG_CLEAN(&rig);
    r.dtype[0] = NPU_DT_F32;
    RIG_FAULT(&rig, r, "S010");
    rig_close(&rig);
}

/* --- masks and strides --- */

T_TEST(vector_mask_leaves_the_rest_alone)
{
    Rig rig = rig_open();
    float a[128], d[128];
    for (int i = 0; i < 128; i++)
        a[i] = (float)i, d[i] = -1;
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, D, d, sizeof d);
    Record r = rig_repeat(rig_vec(NPU_ADDS, NPU_DT_F32, D, A, ~0ull, 0), 0x5, 0, 2);
    r.scalar = rig_bits(100);
    rig_run(&rig, r);
    const float *got = rig_ub(&rig, D);
    for (int i = 0; i < 128; i++)
        CHECK(got[i] == (i % 64 == 0 || i % 64 == 2 ? a[i] + 100 : -1));
    r.mask[0] = 0; /* nothing takes part */
    rig_run(&rig, r);
    CHECK(got[1] == -1);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(vector_block_stride_zero_reuses_a_block)
{
    Rig rig = rig_open();
    float a[64], b[8];
    for (int i = 0; i < 64; i++)
        a[i] = (float)i;
    for (int i = 0; i < 8; i++)
        b[i] = (float)(100 * i);
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, B, b, sizeof b);
    Record r = rig_repeat(rig_vec(NPU_ADD, NPU_DT_F32, D, A, B, 0), ~0ull, 0, 1);
    r.operand[2].block_stride = 0;
    rig_run(&rig, r);
    const float *got = rig_ub(&rig, D);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == (float)(i + 100 * (i % 8)));
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* Destination repeat stride 0 with the second source on it: the documented accumulation. */
T_TEST(vector_accumulates_over_repeats)
{
    Rig rig = rig_open();
    float a[320], zero[64] = {0};
    for (int i = 0; i < 320; i++)
        a[i] = (float)i;
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, D, zero, sizeof zero);
    Record r = rig_repeat(rig_vec(NPU_ADD, NPU_DT_F32, D, A, D, 0), ~0ull, 0, 5);
    r.operand[0].repeat_stride = r.operand[2].repeat_stride = 0;
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    const float *got = rig_ub(&rig, D);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == (float)(5 * i + 640));
    rig_close(&rig);
}

T_TEST(vector_wide_block_stride_on_both_sides)
{
    Rig rig = rig_open();
    uint16_t a[512], zero[512] = {0};
    for (int i = 0; i < 512; i++)
        a[i] = half_from_float((float)i);
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, D, zero, sizeof zero);
    Record r = rig_repeat(rig_vec(NPU_ADDS, NPU_DT_F16, D, A, ~0ull, 0), ~0ull, ~0ull, 2);
    r.scalar = half_from_float(1);
    r.operand[0].block_stride = 2, r.operand[0].repeat_stride = 1;
    r.operand[1].block_stride = 1, r.operand[1].repeat_stride = 8;
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    const uint16_t *got = rig_ub(&rig, D);
    for (int rep = 0; rep < 2; rep++)
        for (int e = 0; e < 128; e++)
            CHECK(half_to_float(got[rep * 16 + e / 16 * 32 + e % 16]) ==
                  (float)(rep * 128 + e + 1));
    rig_close(&rig);
}

T_TEST(vector_count_zero_does_nothing)
{
    Rig rig = rig_open();
    rig_run(&rig, rig_vec(NPU_ADD, NPU_DT_F32, D, A, B, 0));
    RIG_CLEAN(&rig);
    CHECK(isnan(*(float *)rig_ub(&rig, D))); /* still the poison of fresh memory */
    rig_close(&rig);
}

T_TEST(vector_duplicate_in_every_width)
{
    Rig rig = rig_open();
    Record r = rig_vec(NPU_DUPLICATE, NPU_DT_BF16, D, ~0ull, ~0ull, 77);
    r.scalar = 0x3F80;
    rig_run(&rig, r);
    CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[76], 0x3F80);
    CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[77], 0xFFFF);
    r = rig_vec(NPU_DUPLICATE, NPU_DT_I32, D, ~0ull, ~0ull, 5);
    r.scalar = (uint32_t)-3;
    rig_run(&rig, r);
    CHECK_EQ_INT(((int32_t *)rig_ub(&rig, D))[4], -3);
    r.dtype[0] = NPU_DT_I8;
    RIG_FAULT(&rig, r, "S010");
    rig_close(&rig);
}
