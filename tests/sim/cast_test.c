/* Conversions: every pair and rounding mode of cast.def against rounding by the C library. */
#include "base/rng.h"
#include "tests/sim/rig.h"

enum { A = 0, D = 32768, N = 1024 };

static double round_whole(double v, uint8_t mode)
{
    switch (mode) {
    case NPU_ROUND_FLOOR: return floor(v);
    case NPU_ROUND_CEIL: return ceil(v);
    case NPU_ROUND_ROUND: return round(v);
    case NPU_ROUND_TRUNC: return trunc(v);
    case NPU_ROUND_ODD:
        return trunc(v) == v || fmod(trunc(v), 2) != 0 ? trunc(v) : trunc(v) + copysign(1, v);
    default: return rint(v);
    }
}

/* v in a float format with `digits` digits and least exponent `least`. */
static double round_to(double v, int digits, int least, double most, uint8_t mode)
{
    if (v == 0 || !isfinite(v))
        return v;
    int e;
    frexp(v, &e);
    int unit = e - digits < least ? least : e - digits;
    double r = ldexp(round_whole(ldexp(v, -unit), mode), unit);
    return fabs(r) > most ? copysign(INFINITY, v) : r;
}

static double wanted(uint8_t src, uint8_t dst, uint8_t mode, double v)
{
    static const struct {
        uint8_t dtype;
        double low, high;
    } range[] = {{NPU_DT_I8, -128, 127},
                 {NPU_DT_U8, 0, 255},
                 {NPU_DT_I16, -32768, 32767},
                 {NPU_DT_I32, -0x1p31, 0x1p31 - 1},
                 {NPU_DT_I64, -0x1p63, 0x1p63}};
    for (size_t i = 0; i < 5; i++)
        if (range[i].dtype == dst)
            return isnan(v) ? 0 : fmin(range[i].high, fmax(range[i].low, round_whole(v, mode)));
    if (dst == NPU_DT_F16)
        return round_to(v, 11, -24, 65504, mode);
    if (dst == NPU_DT_BF16)
        return round_to(v, 8, -133, 0x1.fep127, mode);
    if (src == NPU_DT_F32)
        return round_whole(v, mode) + 0.0;
    return round_to(v, 24, -149, 0x1.fffffep127, mode);
}

static void source(uint8_t dtype, size_t batch, void *to)
{
    static const double special[] = {
        0,       -0.0,   0.5,       -0.5,      1.5,          2.5,           -2.5,
        126.5,   127.5,  128,       -128.5,    255.5,        256,           -0.25,
        32767.5, -32769, 65504,     65520,     2147483648.0, -2147483649.0, 1e10,
        1e20,    -1e20,  INFINITY,  -INFINITY, NAN,          1e-8,          6e-8,
        3.4e38,  9.3e18, 0x1.001p0, 0x1.003p0, 0x1.008p0};
    const size_t specials = sizeof special / sizeof *special;
    for (size_t i = 0; i < N; i++) {
        double v = i < specials ? special[i]
                                : rng_normal(9, batch, i) *
                                      pow(10, (double)rng_range(9, batch + 50, i, -6, 10));
        if (dtype == NPU_DT_F16 && batch < 64)
            ((uint16_t *)to)[i] = (uint16_t)(batch * N + i);
        else
            dtype_store((DType)dtype, to, i, v);
    }
}

static void check_pair(Rig *rig, const NpuCast *cast, uint8_t mode, size_t batch)
{
    _Alignas(8) uint8_t in[8 * N];
    source((uint8_t)cast->src, batch, in);
    uint32_t ss = npu_dtype_bits(cast->src) / 8, ds = npu_dtype_bits(cast->dst) / 8;
    rig_put(rig, A, in, N * ss);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, N);
    r.dtype[0] = (uint8_t)cast->dst, r.dtype[1] = (uint8_t)cast->src;
    r.mode = mode;
    uint32_t widest = ss > ds ? ss : ds;
    r.operand[0].repeat_stride = (uint16_t)(8 * ds / widest);
    r.operand[1].repeat_stride = (uint16_t)(8 * ss / widest);
    rig_run(rig, r);
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < N; i++) {
        double v = dtype_load((DType)cast->src, in, i);
        double got = dtype_load((DType)cast->dst, rig_ub(rig, D), i);
        double want = wanted((uint8_t)cast->src, (uint8_t)cast->dst, mode, v);
        if (!(got == want || (isnan(got) && isnan(want)))) {
            first = bad ? first : i;
            bad++;
        }
    }
    CHECK_MSG(bad == 0, "%s to %s mode %u: %zu wrong, first %g gives %g", npu_dtype_text(cast->src),
              npu_dtype_text(cast->dst), mode, bad, dtype_load((DType)cast->src, in, first),
              dtype_load((DType)cast->dst, rig_ub(rig, D), first));
}

T_TEST(cast_every_pair_and_mode)
{
    Rig rig = rig_open();
    rig_run(&rig, rig_register(REC_REG_DEQ_SCALE, half_from_float(1)));
    for (uint32_t i = 0; i < npu_cast_count; i++) {
        const NpuCast *c = &npu_casts[i];
        if (c->src == NPU_DT_I4 || c->dst == NPU_DT_I4 || c->src == NPU_DT_I64)
            continue;
        bool scaled = c->src == NPU_DT_I32 && c->dst == NPU_DT_F16;
        for (uint8_t mode = 0; mode < NPU_ROUND_COUNT; mode++)
            for (size_t batch = 0;
                 (c->rounds >> mode & 1) && batch < (c->src == NPU_DT_F16 ? 65 : 2); batch++)
                if (!scaled || mode == NPU_ROUND_NONE)
                    check_pair(&rig, c, mode, batch);
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(cast_64_bit_integers)
{
    Rig rig = rig_open();
    int64_t in[8] = {0, 1, -1, INT64_MAX, INT64_MIN, (1ll << 40) + 1, -(1ll << 40) - 1, 16777217};
    rig_put(&rig, A, in, sizeof in);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, 8);
    r.dtype[0] = NPU_DT_F32, r.dtype[1] = NPU_DT_I64;
    r.operand[0].repeat_stride = 4;
    static const struct {
        uint8_t mode;
        double want[3];
    } modes[] = {{NPU_ROUND_RINT, {0x1p40, -0x1p40, 16777216}},
                 {NPU_ROUND_CEIL, {0x1p40 + 0x1p17, -0x1p40, 16777218}},
                 {NPU_ROUND_FLOOR, {0x1p40, -0x1p40 - 0x1p17, 16777216}},
                 {NPU_ROUND_TRUNC, {0x1p40, -0x1p40, 16777216}},
                 {NPU_ROUND_ROUND, {0x1p40, -0x1p40, 16777218}}};
    for (size_t i = 0; i < 5; i++) {
        r.mode = modes[i].mode;
        rig_run(&rig, r);
        const float *got = rig_ub(&rig, D);
        CHECK(got[1] == 1 && got[2] == -1 && got[4] == -0x1p63f);
        for (int k = 0; k < 3; k++)
            CHECK_MSG((double)got[5 + k] == modes[i].want[k], "mode %u value %d: %.9g", r.mode, k,
                      (double)got[5 + k]);
    }
    r.dtype[0] = NPU_DT_I32;
    r.mode = NPU_ROUND_NONE;
    rig_run(&rig, r);
    const int32_t *narrow = rig_ub(&rig, D);
    CHECK_EQ_INT(narrow[3], INT32_MAX);
    CHECK_EQ_INT(narrow[4], INT32_MIN);
    CHECK_EQ_INT(narrow[2], -1);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(cast_4_bit_integers)
{
    Rig rig = rig_open();
    uint16_t in[64];
    for (int i = 0; i < 64; i++)
        in[i] = half_from_float((float)(i - 32) * 0.5f);
    rig_put(&rig, A, in, sizeof in);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, 64);
    r.dtype[0] = NPU_DT_I4, r.dtype[1] = NPU_DT_F16;
    r.mode = NPU_ROUND_RINT;
    rig_run(&rig, r);
    Record back = rig_vec(NPU_CAST, 0, 2 * D, D, ~0ull, 64);
    back.dtype[0] = NPU_DT_F16, back.dtype[1] = NPU_DT_I4;
    rig_run(&rig, back);
    RIG_CLEAN(&rig);
    for (int i = 0; i < 64; i++)
        CHECK((double)half_to_float(((uint16_t *)rig_ub(&rig, 2 * D))[i]) ==
              fmax(-8, fmin(7, rint((i - 32) * 0.5))));
    r.mask[0] = 63;
    RIG_FAULT(&rig, r, "S014");
    rig_close(&rig);
}

/* Three repeats of which every other pair is taken; packed results lie in every second block. */
T_TEST(cast_4_bit_integers_by_mask)
{
    enum { REPEATS = 3, LANES = 128 };
    Rig rig = rig_open();
    uint16_t in[REPEATS * LANES];
    uint8_t before[REPEATS * 128];
    for (int i = 0; i < REPEATS * LANES; i++)
        in[i] = half_from_float((float)(i % 13 - 6));
    memset(before, 0x55, sizeof before);
    rig_put(&rig, A, in, sizeof in);
    rig_put(&rig, D, before, sizeof before);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, 0);
    r.flags &= (uint8_t)~REC_COUNTER;
    r.mask[1] = r.mask[0] = 0x3333333333333333ull;
    r.dtype[0] = NPU_DT_I4, r.dtype[1] = NPU_DT_F16;
    r.mode = NPU_ROUND_RINT;
    r.n[0] = REPEATS;
    r.operand[0].block_stride = 2, r.operand[0].repeat_stride = 4;
    r.operand[1].block_stride = 1, r.operand[1].repeat_stride = 8;
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    for (int i = 0; i < REPEATS * LANES; i++) {
        int lane = i % LANES, byte = i / LANES * 128 + lane / 64 * 64 + lane % 64 / 2;
        int got = ((uint8_t *)rig_ub(&rig, D))[byte] >> (lane % 2 ? 4 : 0) & 15;
        CHECK_EQ_INT(got, lane % 4 < 2 ? (i % 13 - 6) & 15 : 5);
    }
    r.mask[0] = 1;
    RIG_FAULT(&rig, r, "S011");
    rig_close(&rig);
}

T_TEST(cast_i32_to_half_is_scaled)
{
    Rig rig = rig_open();
    int32_t in[8] = {0, 1, -3, 100000, 65504, -65504, INT32_MAX, INT32_MIN};
    rig_put(&rig, A, in, sizeof in);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, 8);
    r.dtype[0] = NPU_DT_F16, r.dtype[1] = NPU_DT_I32;
    r.operand[0].repeat_stride = 4;
    RIG_FAULT(&rig, r, "S044");
    rig_run(&rig, rig_register(REC_REG_DEQ_SCALE, half_from_float(0.5f)));
    rig_run(&rig, r);
    for (int i = 0; i < 8; i++)
        CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[i], half_from_double(in[i] * 0.5));
    rig_close(&rig);
}

T_TEST(cast_refuses_what_the_chip_lacks)
{
    Rig rig = rig_open();
    float in[8] = {1};
    rig_put(&rig, A, in, sizeof in);
    Record r = rig_vec(NPU_CAST, 0, D, A, ~0ull, 8);
    r.dtype[0] = NPU_DT_F16, r.dtype[1] = NPU_DT_BF16;
    r.mode = NPU_ROUND_RINT;
    RIG_FAULT(&rig, r, "S010");
    r.dtype[0] = NPU_DT_I32, r.dtype[1] = NPU_DT_F32;
    r.mode = NPU_ROUND_NONE; /* on the device this compiles and converts nothing */
    RIG_FAULT(&rig, r, "S015");
    r.mode = 99;
    RIG_FAULT(&rig, r, "");
    rig_close(&rig);
}
