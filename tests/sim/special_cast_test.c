/* The vendor's tables of special values, 26 to 29 and 32: conversions, alone or at the end of an
 * arithmetic instruction (cannmirror/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md).
 * Rows that the page itself contradicts are named. */
#include "tests/sim/rig.h"

enum { A = 0, B = 4096, D = 8192 };

#define INF (float)INFINITY
#define NAN_ (float)NAN
#define HMAX 65504.0f
#define FMAX 3.4028235e+38f
#define BMAX 3.3895314e+38f

/* A value in the bytes of its type. */
static void encode(uint8_t dtype, double v, void *to)
{
    float f = (float)v;
    int64_t whole = dtype == NPU_DT_I64 && v >= 0x1p63 ? INT64_MAX : isfinite(v) ? (int64_t)v : 0;
    uint16_t half = dtype == NPU_DT_BF16 ? bf16_from_float(f) : half_from_float(f);
    switch (dtype) {
    case NPU_DT_F32: memcpy(to, &f, 4); break;
    case NPU_DT_F16:
    case NPU_DT_BF16: memcpy(to, &half, 2); break;
    default: memcpy(to, &whole, 8); break;
    }
}

static double decode(uint8_t dtype, const void *from)
{
    uint16_t half;
    float f;
    int64_t whole = 0;
    memcpy(&half, from, 2);
    memcpy(&f, from, 4);
    uint32_t bits = npu_dtype_bits(dtype);
    memcpy(&whole, from, bits / 8);
    switch (dtype) {
    case NPU_DT_F32: return (double)f;
    case NPU_DT_F16: return (double)half_to_float(half);
    case NPU_DT_BF16: return (double)bf16_to_float(half);
    case NPU_DT_U8: return (double)whole;
    default: return (double)((int64_t)((uint64_t)whole << (64 - bits)) >> (64 - bits));
    }
}

static bool same(double a, double b) { return rig_same((float)a, (float)b); }

/* --- tables 26 to 28: add, subtract or multiply, then convert --- */

typedef struct Fused {
    uint16_t op;
    uint8_t src, dst;
    double a, b, want;
} Fused;

/* Float sources: the page prints +0 for NaN and MAX for the greatest float, though its note says the
 * column agrees with IEEE 754 and table 32 has NaN and infinity for the same conversion. NaN stays
 * NaN here. The row of negative infinities lists -0 + inf, which is positive. */
static const Fused fused[] = {
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, 0, -0.0, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -0.0, -0.0, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, INFINITY, -FMAX, INFINITY},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, FMAX, FMAX, INFINITY},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -INFINITY, FMAX, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -FMAX, -FMAX, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, 65472, 32, HMAX},
    {NPU_ADD_RELU_CAST, NPU_DT_F32, NPU_DT_F16, INFINITY, -INFINITY, NAN},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, 0, -0.0, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, INFINITY, -HMAX, 127},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, HMAX, 127},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, 0, 127},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, -INFINITY, HMAX, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, -HMAX, -HMAX, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, NAN, 1, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_F16, NPU_DT_I8, INFINITY, -INFINITY, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_I16, NPU_DT_I8, 0, 0, 0},
    {NPU_ADD_RELU_CAST, NPU_DT_I16, NPU_DT_I8, INT16_MAX, INT16_MAX, 127},
    {NPU_ADD_RELU_CAST, NPU_DT_I16, NPU_DT_I8, INT16_MIN, INT16_MIN, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -0.0, 0, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -0.0, -0.0, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, INFINITY, -INFINITY, INFINITY},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, FMAX, -FMAX, INFINITY},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -INFINITY, 0, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, -FMAX, FMAX, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F32, NPU_DT_F16, INFINITY, INFINITY, NAN},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, 0, -INFINITY, 127},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, -HMAX, 127},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, -HMAX, HMAX, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, -0.0, INFINITY, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, -INFINITY, -INFINITY, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_F16, NPU_DT_I8, NAN, NAN, 0},
    {NPU_SUB_RELU_CAST, NPU_DT_I16, NPU_DT_I8, INT16_MAX, INT16_MIN, 127},
    {NPU_SUB_RELU_CAST, NPU_DT_I16, NPU_DT_I8, INT16_MIN, INT16_MAX, 0},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, -0.0, HMAX, 0},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, HMAX, 127},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, -INFINITY, -HMAX, 127},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, -HMAX, -128},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, -INFINITY, HMAX, -128},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, HMAX, 1, 127},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, -HMAX, 1, -128},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, NAN, 1, 0},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_I8, 0, -INFINITY, 0},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_U8, HMAX, HMAX, 255},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_U8, HMAX, -HMAX, 0},
    {NPU_MUL_CAST, NPU_DT_F16, NPU_DT_U8, -0.0, INFINITY, 0},
};

T_TEST(special_tables_26_to_28_arithmetic_then_cast)
{
    Rig rig = rig_open();
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++) {
        const Fused *f = &fused[i];
        uint8_t a[8], b[8];
        encode(f->src, f->a, a);
        encode(f->src, f->b, b);
        rig_put(&rig, A, a, 8);
        rig_put(&rig, B, b, 8);
        Record r = rig_vec(f->op, f->src, D, A, B, 1);
        r.dtype[0] = f->dst;
        rig_run(&rig, r);
        double got = decode(f->dst, rig_ub(&rig, D));
        CHECK_MSG(same(got, f->want), "%s %s to %s (%g, %g): got %g, table says %g",
                  npu_isa(f->op)->api, npu_dtype_text(f->src), npu_dtype_text(f->dst), f->a, f->b,
                  got, f->want);
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* --- table 29 --- */

T_TEST(special_table_29_dequantise)
{
    static const struct {
        double in, plain, saturated;
    } wide[] = {{0, 0, 0},
                {65504, HMAX, HMAX},
                {-65504, -HMAX, -HMAX},
                {INT32_MAX, INFINITY, HMAX},
                {INT32_MIN, -INFINITY, -HMAX}};
    static const double narrow[3][2] = {{0, 0}, {INT16_MAX, 127}, {INT16_MIN, -128}};
    Rig rig = rig_open();
    uint8_t in[8];
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (int sat = 0; sat < 2; sat++) {
            rig_run(&rig, rig_register(REC_REG_SATURATE, (uint64_t)sat));
            rig_run(&rig, rig_register(REC_REG_DEQ_SCALE, half_from_float(1)));
            encode(NPU_DT_I32, wide[i].in, in);
            rig_put(&rig, A, in, 8);
            Record r = rig_vec(NPU_CAST, NPU_DT_I32, D, A, ~0ull, 1);
            r.dtype[0] = NPU_DT_F16;
            rig_run(&rig, r);
            double got = decode(NPU_DT_F16, rig_ub(&rig, D));
            CHECK_MSG(same(got, sat ? wide[i].saturated : wide[i].plain), "%g sat %d: %g",
                      wide[i].in, sat, got);
        }
    for (size_t i = 0; i < 3; i++) {
        rig_run(&rig, rig_register(REC_REG_DEQ_SCALE, rig_bits(1)));
        encode(NPU_DT_I16, narrow[i][0], in);
        rig_put(&rig, A, in, 8);
        Record r = rig_vec(NPU_CAST_DEQ, NPU_DT_I16, D, A, ~0ull, 1);
        r.dtype[0] = NPU_DT_I8;
        rig_run(&rig, r);
        CHECK_EQ_INT((int)decode(NPU_DT_I8, rig_ub(&rig, D)), (int)narrow[i][1]);
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* --- table 32 --- */

typedef struct Conversion {
    uint8_t src, dst, round;
    double in, plain, saturated;
} Conversion;

#define N NPU_ROUND_NONE
#define R NPU_ROUND_RINT
#define T NPU_ROUND_TRUNC

/* Not used as they stand: half to int16 prints 65504, which int16 cannot hold (it clamps here);
 * int16 to float prints 32768 for 32767. The greatest int32 as a float is the table's 2147483520
 * when the mode truncates. int16 to 8 bits has no row in Cast's own table for this chip. */
static const Conversion casts[] = {
    {NPU_DT_U8, NPU_DT_F16, N, 255, 255, 255},
    {NPU_DT_U8, NPU_DT_F16, N, 0, 0, 0},
    {NPU_DT_I8, NPU_DT_F16, N, 127, 127, 127},
    {NPU_DT_I8, NPU_DT_F16, N, -128, -128, -128},
    {NPU_DT_F16, NPU_DT_I8, R, HMAX, 127, 127},
    {NPU_DT_F16, NPU_DT_I8, R, -HMAX, -128, -128},
    {NPU_DT_F16, NPU_DT_I8, R, -0.0, 0, 0},
    {NPU_DT_F16, NPU_DT_I8, R, NAN, 0, 0},
    {NPU_DT_F16, NPU_DT_I8, R, INFINITY, 127, 127},
    {NPU_DT_F16, NPU_DT_I8, R, -INFINITY, -128, -128},
    {NPU_DT_F16, NPU_DT_U8, R, HMAX, 255, 255},
    {NPU_DT_F16, NPU_DT_U8, R, -HMAX, 0, 0},
    {NPU_DT_F16, NPU_DT_U8, R, NAN, 0, 0},
    {NPU_DT_F16, NPU_DT_U8, R, INFINITY, 255, 255},
    {NPU_DT_F16, NPU_DT_U8, R, -INFINITY, 0, 0},
    {NPU_DT_F16, NPU_DT_I16, R, HMAX, 32767, 32767},
    {NPU_DT_F16, NPU_DT_I16, R, -INFINITY, -32768, -32768},
    {NPU_DT_F16, NPU_DT_I16, R, NAN, 0, 0},
    {NPU_DT_F16, NPU_DT_I32, R, HMAX, 65504, 65504},
    {NPU_DT_F16, NPU_DT_I32, R, -HMAX, -65504, -65504},
    {NPU_DT_F16, NPU_DT_I32, R, -0.0, 0, 0},
    {NPU_DT_F16, NPU_DT_I32, R, NAN, 0, 0},
    {NPU_DT_F16, NPU_DT_I32, R, INFINITY, INT32_MAX, INT32_MAX},
    {NPU_DT_F16, NPU_DT_I32, R, -INFINITY, INT32_MIN, INT32_MIN},
    {NPU_DT_F16, NPU_DT_F32, N, HMAX, HMAX, HMAX},
    {NPU_DT_F16, NPU_DT_F32, N, NAN, NAN, NAN},
    {NPU_DT_F16, NPU_DT_F32, N, INFINITY, INFINITY, INFINITY},
    {NPU_DT_F16, NPU_DT_F32, N, -INFINITY, -INFINITY, -INFINITY},
    {NPU_DT_I16, NPU_DT_F16, R, INT16_MAX, 32768, 32768},
    {NPU_DT_I16, NPU_DT_F16, R, INT16_MIN, -32768, -32768},
    {NPU_DT_I16, NPU_DT_F16, R, 0, 0, 0},
    {NPU_DT_I16, NPU_DT_F32, N, INT16_MIN, -32768, -32768},
    {NPU_DT_BF16, NPU_DT_I32, R, BMAX, INT32_MAX, INT32_MAX},
    {NPU_DT_BF16, NPU_DT_I32, R, -BMAX, INT32_MIN, INT32_MIN},
    {NPU_DT_BF16, NPU_DT_I32, R, INFINITY, INT32_MAX, INT32_MAX},
    {NPU_DT_BF16, NPU_DT_I32, R, -INFINITY, INT32_MIN, INT32_MIN},
    {NPU_DT_BF16, NPU_DT_I32, R, NAN, 0, 0},
    {NPU_DT_BF16, NPU_DT_F32, N, BMAX, BMAX, BMAX},
    {NPU_DT_BF16, NPU_DT_F32, N, -INFINITY, -INFINITY, -INFINITY},
    {NPU_DT_BF16, NPU_DT_F32, N, NAN, NAN, NAN},
    {NPU_DT_I32, NPU_DT_I16, N, INT32_MAX, INT16_MAX, INT16_MAX},
    {NPU_DT_I32, NPU_DT_I16, N, INT32_MIN, INT16_MIN, INT16_MIN},
    {NPU_DT_I32, NPU_DT_F32, T, INT32_MAX, 2147483520.0, 2147483520.0},
    {NPU_DT_I32, NPU_DT_F32, R, INT32_MIN, -2147483648.0, -2147483648.0},
    {NPU_DT_I32, NPU_DT_I64, N, INT32_MAX, INT32_MAX, INT32_MAX},
    {NPU_DT_I32, NPU_DT_I64, N, INT32_MIN, INT32_MIN, INT32_MIN},
    {NPU_DT_F32, NPU_DT_I16, R, FMAX, 32767, 32767},
    {NPU_DT_F32, NPU_DT_I16, R, -FMAX, -32768, -32768},
    {NPU_DT_F32, NPU_DT_I16, R, INFINITY, 32767, 32767},
    {NPU_DT_F32, NPU_DT_I16, R, NAN, 0, 0},
    {NPU_DT_F32, NPU_DT_BF16, R, FMAX, INFINITY, BMAX},
    {NPU_DT_F32, NPU_DT_BF16, R, -FMAX, -INFINITY, -BMAX},
    {NPU_DT_F32, NPU_DT_BF16, R, -0.0, -0.0, -0.0},
    {NPU_DT_F32, NPU_DT_BF16, R, INFINITY, INFINITY, BMAX},
    {NPU_DT_F32, NPU_DT_BF16, R, -INFINITY, -INFINITY, -BMAX},
    {NPU_DT_F32, NPU_DT_BF16, R, NAN, NAN, 0},
    {NPU_DT_F32, NPU_DT_F16, R, FMAX, INFINITY, HMAX},
    {NPU_DT_F32, NPU_DT_F16, R, -FMAX, -INFINITY, -HMAX},
    {NPU_DT_F32, NPU_DT_F16, R, 0, 0, 0},
    {NPU_DT_F32, NPU_DT_F16, R, INFINITY, INFINITY, HMAX},
    {NPU_DT_F32, NPU_DT_F16, R, -INFINITY, -INFINITY, -HMAX},
    {NPU_DT_F32, NPU_DT_F16, R, NAN, NAN, 0},
    {NPU_DT_F32, NPU_DT_I32, R, FMAX, INT32_MAX, INT32_MAX},
    {NPU_DT_F32, NPU_DT_I32, R, -FMAX, INT32_MIN, INT32_MIN},
    {NPU_DT_F32, NPU_DT_I32, R, INFINITY, INT32_MAX, INT32_MAX},
    {NPU_DT_F32, NPU_DT_I32, R, -INFINITY, INT32_MIN, INT32_MIN},
    {NPU_DT_F32, NPU_DT_I32, R, NAN, 0, 0},
    {NPU_DT_F32, NPU_DT_F32, R, FMAX, FMAX, FMAX},
    {NPU_DT_F32, NPU_DT_F32, R, -FMAX, -FMAX, -FMAX},
    {NPU_DT_F32, NPU_DT_F32, R, -0.0, 0, 0},
    {NPU_DT_F32, NPU_DT_F32, R, INFINITY, INFINITY, INFINITY},
    {NPU_DT_F32, NPU_DT_F32, R, -INFINITY, -INFINITY, -INFINITY},
    {NPU_DT_F32, NPU_DT_F32, R, NAN, NAN, NAN},
    {NPU_DT_F32, NPU_DT_I64, R, FMAX, 0x1p63, 0x1p63},
    {NPU_DT_F32, NPU_DT_I64, R, -FMAX, -0x1p63, -0x1p63},
    {NPU_DT_F32, NPU_DT_I64, R, INFINITY, 0x1p63, 0x1p63},
    {NPU_DT_F32, NPU_DT_I64, R, NAN, 0, 0},
    {NPU_DT_I64, NPU_DT_I32, N, 0x1p63, INT32_MAX, INT32_MAX},
    {NPU_DT_I64, NPU_DT_I32, N, -0x1p63, INT32_MIN, INT32_MIN},
    {NPU_DT_I64, NPU_DT_F32, R, 0x1p63, 0x1p63, 0x1p63},
    {NPU_DT_I64, NPU_DT_F32, R, -0x1p63, -0x1p63, -0x1p63},
};

T_TEST(special_table_32_cast)
{
    Rig rig = rig_open();
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
        for (int sat = 0; sat < 2; sat++) {
            const Conversion *c = &casts[i];
            uint8_t in[8];
            rig_run(&rig, rig_register(REC_REG_SATURATE, (uint64_t)sat));
            encode(c->src, c->in, in);
            rig_put(&rig, A, in, 8);
            Record r = rig_vec(NPU_CAST, c->src, D, A, ~0ull, 1);
            r.dtype[0] = c->dst;
            r.mode = c->round;
            rig_run(&rig, r);
            double got = decode(c->dst, rig_ub(&rig, D));
            double want = sat ? c->saturated : c->plain;
            CHECK_MSG(same(got, want), "%s to %s of %g%s: got %g, table says %g",
                      npu_dtype_text(c->src), npu_dtype_text(c->dst), c->in,
                      sat ? " saturated" : "", got, want);
        }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(special_table_32_four_bits)
{
    static const float in[8] = {HMAX, -HMAX, 0, -0.0f, NAN_, INF, -INF, 3};
    static const uint8_t want[4] = {0x87, 0x00, 0x70, 0x38};
    uint16_t half[8];
    for (int i = 0; i < 8; i++)
        half[i] = half_from_float(in[i]);
    Rig rig = rig_open();
    rig_put(&rig, A, half, sizeof half);
    Record r = rig_vec(NPU_CAST, NPU_DT_F16, D, A, ~0ull, 8);
    r.dtype[0] = NPU_DT_I4;
    r.mode = NPU_ROUND_RINT;
    rig_run(&rig, r);
    CHECK(memcmp(rig_ub(&rig, D), want, sizeof want) == 0);
    static const uint8_t ends[1] = {0x78};
    rig_put(&rig, A, ends, 1);
    r = rig_vec(NPU_CAST, NPU_DT_I4, D, A, ~0ull, 2);
    r.dtype[0] = NPU_DT_F16;
    r.mode = NPU_ROUND_NONE;
    rig_run(&rig, r);
    const uint16_t *back = rig_ub(&rig, D);
    CHECK(half_to_float(back[0]) == -8.0f && half_to_float(back[1]) == 7.0f);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}
