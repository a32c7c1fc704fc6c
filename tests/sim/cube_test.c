/* The cube path: fractal loads, products, Fixpipe; layouts computed here from their definition. */
#include "base/rng.h"
#include "tests/sim/rig.h"

static Rig aic_rig(void) { return rig_open_kind(SIM_AIC, 1); }

static Record rec(uint16_t op, uint8_t dtype, uint64_t d, uint64_t s)
{
    Record r = {
        .op = op, .pipe = (uint8_t)npu_isa(op)->pipe, .dtype = {dtype, dtype, dtype}, .line = 3};
    r.operand[0].address = d;
    r.operand[1].address = s;
    return r;
}
#define L1(at) rec_address(NPU_L1, (at))
#define L0A(at) rec_address(NPU_L0A, (at))
#define L0B(at) rec_address(NPU_L0B, (at))
#define L0C(at) rec_address(NPU_L0C, (at))

/* ND rows x columns from GM into L1 as Nz with rows padded to 16. */
static void nd2nz(Rig *rig, uint8_t dtype, uint64_t l1, uint64_t gm, uint32_t rows,
                  uint32_t columns)
{
    Record r = rec(NPU_ND2NZ_GM_L1, dtype, L1(l1), GM(gm));
    r.n[0] = 1, r.n[1] = rows, r.n[2] = columns, r.n[4] = columns;
    r.n[5] = (rows + 15) / 16 * 16;
    r.mask[0] = 1;
    rig_run(rig, r);
}

T_TEST(cube_nd_to_nz)
{
    Rig rig = aic_rig();
    uint16_t *gm = (uint16_t *)(void *)rig.gm;
    for (int i = 0; i < 18 * 23; i++)
        gm[i] = (uint16_t)(i + 1);
    nd2nz(&rig, NPU_DT_F16, 0, 0, 18, 23);
    RIG_CLEAN(&rig);
    const uint16_t *l1 = rig_memory(&rig, NPU_L1, 0);
    for (int row = 0; row < 18; row++)
        for (int c = 0; c < 32; c++)
            CHECK_EQ_INT(l1[c / 16 * 32 * 16 + row * 16 + c % 16], c < 23 ? row * 23 + c + 1 : 0);
    rig_close(&rig);
}

/* A (m x k) row-major and B (k x n) row-major as a kernel would bring them to L0, and the product. */
static void product(uint8_t dtype, uint32_t m, uint32_t n, uint32_t k)
{
    Rig rig = aic_rig();
    DType d = (DType)dtype;
    bool integer = dtype == NPU_DT_I8;
    uint32_t size = (uint32_t)dtype_bytes(d), k0 = 32 / size;
    uint32_t k1 = (k + k0 - 1) / k0, m1 = (m + 15) / 16, n1 = (n + 15) / 16;
    static double a[128][256], b[256][128];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < k; j++) {
            dtype_store(d, rig.gm, i * k + j,
                        integer ? (double)rng_range(1, 0, i * k + j, -9, 9)
                                : rng_normal(1, 0, i * k + j));
            a[i][j] = dtype_load(d, rig.gm, i * k + j);
        }
    uint8_t *gm_b = rig.gm + 262144;
    for (uint32_t j = 0; j < n; j++) /* B transposed: n rows of k */
        for (uint32_t i = 0; i < k; i++) {
            dtype_store(d, gm_b, j * k + i,
                        integer ? (double)rng_range(1, 1, j * k + i, -9, 9)
                                : rng_normal(1, 1, j * k + i));
            b[i][j] = dtype_load(d, gm_b, j * k + i);
        }
    nd2nz(&rig, dtype, 0, 0, m, k);
    nd2nz(&rig, dtype, 262144, 262144, n, k);
    for (uint32_t i = 0; i < m1; i++) { /* Nz in L1 to Zz in L0A, a row of fractals at a time */
        Record r = rec(NPU_LOAD2D, dtype, L0A(i * k1 * 512), L1(0));
        r.n[0] = i, r.n[1] = k1, r.n[2] = m1;
        rig_run(&rig, r);
    }
    Record rb = rec(NPU_LOAD2D, dtype, L0B(0), L1(262144));
    rb.n[0] = 0, rb.n[1] = k1 * n1, rb.n[2] = 1; /* Nz of B^T is Zn of B */
    rig_run(&rig, rb);
    Record mm = rec(NPU_MMAD, integer ? NPU_DT_I32 : NPU_DT_F32, L0C(0), L0A(0));
    mm.operand[2].address = L0B(0);
    mm.dtype[1] = mm.dtype[2] = dtype;
    mm.n[0] = m, mm.n[1] = n, mm.n[2] = k;
    mm.mode = 1;
    rig_run(&rig, mm);
    Record fix = rec(NPU_FIXPIPE_GM, integer ? NPU_DT_I32 : NPU_DT_F32, GM(524288), L0C(0));
    fix.dtype[1] = fix.dtype[0];
    fix.n[0] = n, fix.n[1] = m, fix.n[2] = m1 * 16, fix.n[3] = n, fix.n[4] = 1;
    fix.mode = 1;
    rig_run(&rig, fix);
    RIG_CLEAN(&rig);
    double worst = 0;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            double want = 0, got = integer
                                       ? (double)((int32_t *)(void *)(rig.gm + 524288))[i * n + j]
                                       : (double)((float *)(void *)(rig.gm + 524288))[i * n + j];
            for (uint32_t x = 0; x < k; x++)
                want += a[i][x] * b[x][j];
            worst = fmax(worst, fabs(got - want));
        }
    CHECK_MSG(worst < (integer ? 0.5 : 1e-4), "%s %u %u %u: %g", npu_dtype_text(dtype), m, n, k,
              worst);
    rig_close(&rig);
}

T_TEST(cube_product_half) { product(NPU_DT_F16, 48, 64, 96); }
T_TEST(cube_product_ragged) { product(NPU_DT_F16, 17, 33, 50); }
T_TEST(cube_product_bf16) { product(NPU_DT_BF16, 32, 32, 64); }
T_TEST(cube_product_float) { product(NPU_DT_F32, 32, 48, 40); }
T_TEST(cube_product_int8) { product(NPU_DT_I8, 32, 32, 96); }

T_TEST(cube_accumulates_and_adds_bias)
{
    Rig rig = aic_rig();
    uint16_t one[256];
    float bias[16];
    for (int i = 0; i < 256; i++)
        one[i] = half_from_float(1);
    for (int i = 0; i < 16; i++)
        bias[i] = (float)(100 * i);
    rig_put_in(&rig, NPU_L1, 0, one, sizeof one);
    rig_put_in(&rig, NPU_L1, 1024, bias, sizeof bias);
    Record load = rec(NPU_LOAD2D, NPU_DT_F16, L0A(0), L1(0));
    load.n[1] = 1;
    rig_run(&rig, load);
    load.operand[0].address = L0B(0);
    rig_run(&rig, load);
    Record bt = rec(NPU_COPY_L1_BT, NPU_DT_F32, rec_address(NPU_BT, 0), L1(1024));
    bt.n[0] = 1, bt.n[1] = 64;
    rig_run(&rig, bt);
    Record mm = rec(NPU_MMAD, NPU_DT_F32, L0C(0), L0A(0));
    mm.operand[2].address = L0B(0);
    mm.operand[3].address = rec_address(NPU_BT, 0);
    mm.dtype[1] = mm.dtype[2] = NPU_DT_F16;
    mm.n[0] = mm.n[1] = mm.n[2] = 16;
    mm.mode = 2;
    rig_run(&rig, mm);
    mm.mode = 0; /* onto what is there */
    rig_run(&rig, mm);
    RIG_CLEAN(&rig);
    const float *c = rig_memory(&rig, NPU_L0C, 0);
    for (int i = 0; i < 256; i++)
        CHECK(c[i] == (float)(100 * (i % 16)) + 32);
    mm.operand[0].address = L0C(512);
    RIG_FAULT(&rig, mm, "S009");
    mm.operand[0].address = L0C(131072 - 1024);
    mm.n[0] = 32;
    RIG_FAULT(&rig, mm, "S005");
    mm.n[0] = 5000;
    RIG_FAULT(&rig, mm, "S043");
    rig_close(&rig);
}

/* 1 + 2^-12 has one fraction bit too many for HF32: a tie, to even and to zero alike; 1 + 3 2^-12
 * tells the two apart. */
T_TEST(cube_hf32_rounds_its_inputs)
{
    const float in[2] = {1 + 0x1p-12f, 1 + 3 * 0x1p-12f};
    const float want[2][3] = {{in[0], 1, 1}, {in[1], 1 + 0x1p-10f, 1 + 0x1p-11f}};
    for (int which = 0; which < 2; which++)
        for (int mode = 0; mode < 3; mode++) {
            Rig rig = aic_rig();
            Record fill = rec(NPU_FILL, NPU_DT_F32, L0A(0), 0);
            fill.n[0] = fill.n[1] = 1;
            fill.scalar = rig_bits(in[which]);
            rig_run(&rig, fill);
            fill.operand[0].address = L0B(0);
            fill.scalar = rig_bits(1);
            rig_run(&rig, fill);
            rig_run(&rig, rig_register(REC_REG_HF32, mode == 0 ? 0 : mode == 1 ? 1 : 3));
            Record mm = rec(NPU_MMAD, NPU_DT_F32, L0C(0), L0A(0));
            mm.operand[2].address = L0B(0);
            mm.n[0] = mm.n[1] = 16, mm.n[2] = 1;
            mm.mode = 1;
            rig_run(&rig, mm);
            RIG_CLEAN(&rig);
            CHECK(*(float *)rig_memory(&rig, NPU_L0C, 0) == want[which][mode]);
            rig_close(&rig);
        }
}

T_TEST(cube_undefined_rows_stay_in_their_rows)
{
    Rig rig = aic_rig();
    uint16_t one[128]; /* only 8 of 16 rows of A are loaded */
    for (int i = 0; i < 128; i++)
        one[i] = half_from_float(1);
    rig_put_in(&rig, NPU_L1, 0, one, sizeof one);
    rig_put_in(&rig, NPU_L1, 1024, one, sizeof one);
    rig_put_in(&rig, NPU_L1, 1280, one, sizeof one);
    Record load = rec(NPU_LOAD2D, NPU_DT_F16, L0B(0), L1(1024));
    load.n[1] = 1;
    rig_run(&rig, load);
    Record fill = rec(NPU_FILL, NPU_DT_F16, L0A(0), 0);
    fill.n[0] = 1, fill.n[1] = 1;
    fill.scalar = half_from_float(2);
    rig_run(&rig, fill);
    Record mm = rec(NPU_MMAD, NPU_DT_F32, L0C(0), L0A(0));
    mm.operand[2].address = L0B(0);
    mm.dtype[1] = mm.dtype[2] = NPU_DT_F16;
    mm.n[0] = mm.n[1] = mm.n[2] = 16;
    mm.mode = 1;
    rig_run(&rig, mm);
    RIG_CLEAN(&rig);
    Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_F32}};
    get.operand[1].address = L0C(0);
    rig_run(&rig, get);
    RIG_CLEAN(&rig);
    load.operand[0].address = L0A(0);
    load.operand[1].address = L1(0); /* half of this fractal was never written */
    rig_run(&rig, load);
    rig_run(&rig, mm);
    rig_run(&rig, get);
    RIG_CLEAN(&rig);
    get.operand[1].address = L0C(8 * 64);
    RIG_FAULT(&rig, get, "S017");
    rig_close(&rig);
}

T_TEST(cube_load_transposes)
{
    Rig rig = aic_rig();
    uint8_t in[1024];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)rng_u64(2, 0, i);
    rig_put_in(&rig, NPU_L1, 0, in, sizeof in);
    Record r = rec(NPU_LOAD2D, NPU_DT_F16, L0A(0), L1(0));
    r.n[1] = 1;
    r.mode = 1;
    rig_run(&rig, r);
    const uint8_t *l0 = rig_memory(&rig, NPU_L0A, 0);
    for (int i = 0; i < 256; i++)
        CHECK(memcmp(l0 + 2 * (i % 16 * 16 + i / 16), in + 2 * i, 2) == 0);
    r = rec(NPU_LOAD_TRANSPOSE, NPU_DT_I8, L0A(0), L1(0));
    r.n[1] = 1;
    rig_run(&rig, r);
    for (int row = 0; row < 32; row++)
        for (int c = 0; c < 32; c++)
            CHECK_EQ_INT(l0[c * 32 + row], in[row * 32 + c]);
    r.dtype[0] = NPU_DT_F32;
    r.n[4] = 1; /* a fractal between the two halves */
    rig_run(&rig, r);
    for (int row = 0; row < 16; row++) /* two 16x8 fractals side by side make a 16x16 square */
        for (int c = 0; c < 16; c++)
            CHECK(memcmp(l0 + row / 8 * 1024 + c * 32 + row % 8 * 4,
                         in + c / 8 * 512 + row * 32 + c % 8 * 4, 4) == 0);
    RIG_CLEAN(&rig);
    r.op = NPU_LOAD2D;
    r.mode = 1;
    RIG_FAULT(&rig, r, "S010");
    rig_close(&rig);
}

/* A 5x6 map with one channel block, 3x3 filter, padding 1: unfolded rows against direct look-up. */
T_TEST(cube_image_to_column)
{
    enum { H = 5, W = 6, C0 = 16, K = 9 * C0, M = H * W };
    Rig rig = aic_rig();
    uint16_t map[H * W * C0];
    for (int i = 0; i < H * W * C0; i++)
        map[i] = (uint16_t)(i + 1);
    rig_put_in(&rig, NPU_L1, 0, map, sizeof map);
    Record f = rig_register(REC_REG_FMATRIX_A, 1 | 1 << 8 | 1 << 16 | 1u << 24);
    f.mask[0] = H | W << 16;
    rig_run(&rig, f);
    rig_run(&rig, rig_register(REC_REG_LOAD3D_PAD, 7777));
    Record r = rec(NPU_LOAD3D, NPU_DT_F16, L0A(0), L1(0));
    r.n[0] = K, r.n[1] = 32, r.n[4] = C0, r.n[5] = 3 | 3 << 16;
    r.mask[0] = 1 | 1 << 8 | 1 << 16 | 1u << 24;
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    const uint16_t *l0 = rig_memory(&rig, NPU_L0A, 0);
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++) {
            int y = m / W + k / C0 / 3 - 1, x = m % W + k / C0 % 3 - 1;
            int want = y < 0 || x < 0 || y >= H || x >= W ? 7777 : (y * W + x) * C0 + k % C0 + 1;
            CHECK_EQ_INT(l0[(m / 16 * 9 + k / 16) * 256 + m % 16 * 16 + k % 16], want);
        }
    r.operand[0].address = L0B(0);
    rig_run(&rig, r);
    l0 = rig_memory(&rig, NPU_L0B, 0);
    CHECK_EQ_INT(l0[(0 * 9 + 4) * 256 + 3 * 16 + 5], 5 * C0 + 3 + 1); /* centre tap of m = 5 */
    r.n[5] = 0;
    RIG_FAULT(&rig, r, "S043");
    rig_close(&rig);
}

static Record fixpipe(uint8_t to, uint8_t from, uint64_t quant, uint64_t word)
{
    Record r = rec(NPU_FIXPIPE_GM, to, GM(0), L0C(0));
    r.dtype[1] = from;
    r.n[0] = 16, r.n[1] = 16, r.n[2] = 16, r.n[3] = 16, r.n[4] = 1;
    r.mask[0] = quant;
    r.scalar = word;
    r.mode = 1;
    return r;
}

T_TEST(cube_fixpipe_conversions)
{
    Rig rig = aic_rig();
    float v[256];
    for (int i = 0; i < 256; i++)
        v[i] = (float)(i - 128) * 1.37f;
    memcpy(rig_memory(&rig, NPU_L0C, 0), v, sizeof v); /* undefined for the shadow, seen below */
    rig_run(&rig, fixpipe(NPU_DT_F16, NPU_DT_F32, REC_QUANT_F32_F16, 0));
    for (int i = 0; i < 256; i++)
        CHECK_EQ_INT(((uint16_t *)(void *)rig.gm)[i], half_from_float(v[i]));
    Record r = fixpipe(NPU_DT_BF16, NPU_DT_F32, REC_QUANT_F32_BF16, 0);
    r.mode |= 2; /* relu */
    rig_run(&rig, r);
    for (int i = 0; i < 256; i++)
        CHECK_EQ_INT(((uint16_t *)(void *)rig.gm)[i], bf16_from_float(fmaxf(v[i], 0)));
    uint64_t word = rig_bits(0.5f) | 3ull << 37 | 1ull << 46;
    rig_run(&rig, fixpipe(NPU_DT_I8, NPU_DT_F32, REC_QUANT_QF32_B8, word));
    for (int i = 0; i < 256; i++)
        CHECK_EQ_INT(((int8_t *)rig.gm)[i],
                     (int)fmax(-128, fmin(127, rint((double)(v[i] * 0.5f) + 3))));
    int32_t w[256];
    for (int i = 0; i < 256; i++)
        w[i] = (i - 128) * 1000;
    memcpy(rig_memory(&rig, NPU_L0C, 0), w, sizeof w);
    rig_run(&rig, fixpipe(NPU_DT_F16, NPU_DT_I32, REC_QUANT_DEQ_F16, rig_bits(0.25f)));
    for (int i = 0; i < 256; i++)
        CHECK_EQ_INT(((uint16_t *)(void *)rig.gm)[i], half_from_double(w[i] * 0.25));
    RIG_CLEAN(&rig);
    RIG_FAULT(&rig, fixpipe(NPU_DT_F16, NPU_DT_F32, REC_QUANT_NONE, 0), "S010");
    rig_close(&rig);
}

T_TEST(cube_fixpipe_keeps_nz)
{
    Rig rig = aic_rig();
    float v[512];
    for (int i = 0; i < 512; i++)
        v[i] = (float)i;
    memcpy(rig_memory(&rig, NPU_L0C, 0), v, sizeof v);
    Record r = fixpipe(NPU_DT_F32, NPU_DT_F32, REC_QUANT_NONE, 0);
    r.mode = 0;
    r.n[0] = 32, r.n[1] = 10, r.n[2] = 16, r.n[3] = 20; /* column blocks 640 bytes apart */
    rig_run(&rig, r);
    const float *gm = (const float *)(const void *)rig.gm;
    for (int row = 0; row < 10; row++)
        for (int c = 0; c < 32; c++)
            CHECK(gm[c / 16 * 160 + row * 16 + c % 16] == v[c / 16 * 256 + row * 16 + c % 16]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* A product of 30 x 40 writes 32 x 48; its tensor is said to have `said` bytes. */
static Record product_of_40(uint32_t line, uint32_t at, uint32_t said)
{
    Record r = rec(NPU_MMAD, NPU_DT_F32, L0C(at), L0A(0));
    r.operand[0].bytes = said;
    r.line = line;
    r.operand[2].address = L0B(0);
    r.dtype[1] = r.dtype[2] = NPU_DT_F16;
    r.n[0] = 30, r.n[1] = 40, r.n[2] = 16;
    r.mode = 1;
    return r;
}

/* The code of the first fault that is not about the operands, which nobody filled. */
static const char *fault_of_size(Rig *rig, Record r)
{
    const char *code;
    rig_run(rig, r);
    do
        code = rig_fault(rig);
    while (strcmp(code, "S017") == 0);
    return code;
}

T_TEST(cube_tensors_at_fixed_addresses_overrun)
{
    Rig rig = aic_rig();
    memset(rig_memory(&rig, NPU_L0A, 0), 0, 1024);
    memset(rig_memory(&rig, NPU_L0B, 0), 0, 2048);
    CHECK_EQ_STR(fault_of_size(&rig, product_of_40(1, 0, 6144)), "");
    CHECK_EQ_STR(fault_of_size(&rig, product_of_40(2, 0, 5120)), "S065");
    CHECK_EQ_STR(fault_of_size(&rig, product_of_40(3, 5632, 6144)),
                 "S006"); /* starts in what is lost */
    CHECK_EQ_STR(fault_of_size(&rig, product_of_40(4, 0, 5120)),
                 "S006"); /* and there is another now */
    CHECK_EQ_STR(fault_of_size(&rig, product_of_40(5, 16384, 6144)), "");
    rig_close(&rig);
}

/* --- elements of 4 bits --- */

static int nibble(const uint8_t *at, uint32_t i) { return ((at[i / 2] >> i % 2 * 4 & 15) ^ 8) - 8; }

/* 20 x 130 by 130 x 36; B comes as it lies (turned on its way) or as n x k. */
static void product_of_nibbles(bool turned)
{
    enum { M = 20, N = 36, K = 130, K0 = 64, N_ALL = 64, FIX_AT = 524288 };
    Rig rig = aic_rig();
    for (uint32_t i = 0; i < M * K / 2 + N * K / 2; i++)
        rig.gm[i < M * K / 2 ? i : 262144 + i - M * K / 2] = (uint8_t)rng_range(1, 2, i, 0, 255);
    const uint8_t *a = rig.gm, *b = rig.gm + 262144;
    Record za = rec(NPU_ND2NZ_GM_L1, NPU_DT_I4, L1(0), GM(0));
    za.n[0] = 1, za.n[1] = M, za.n[2] = K / 2, za.n[4] = K / 2, za.n[5] = 32, za.mask[0] = 1;
    rig_run(&rig, za);
    Record zb = rec(NPU_ND2NZ_GM_L1, NPU_DT_I4, L1(262144), GM(262144));
    zb.n[0] = 1, zb.n[1] = turned ? K : N, zb.n[2] = turned ? N / 2 : K / 2, zb.n[4] = zb.n[2];
    zb.n[5] = turned ? 192 : 48, zb.mask[0] = 1;
    rig_run(&rig, zb);
    for (uint32_t i = 0; i < 2; i++) {
        Record r = rec(NPU_LOAD2D, NPU_DT_I4, L0A(i * 3 * 512), L1(0));
        r.n[0] = i, r.n[1] = 3, r.n[2] = 2;
        rig_run(&rig, r);
    }
    for (uint32_t i = 0; i < 3 && turned; i++) {
        Record r = rec(NPU_LOAD_TRANSPOSE, NPU_DT_I4, L0B(i * 4 * 512), L1(262144));
        r.n[0] = i, r.n[1] = 1, r.n[2] = 3, r.n[3] = 3;
        rig_run(&rig, r);
    }
    Record rb = rec(NPU_LOAD2D, NPU_DT_I4, L0B(0), L1(262144));
    rb.n[1] = 9, rb.n[2] = 1;
    if (!turned)
        rig_run(&rig, rb);
    Record mm = rec(NPU_MMAD, NPU_DT_I32, L0C(0), L0A(0));
    mm.operand[2].address = L0B(0);
    mm.dtype[1] = mm.dtype[2] = NPU_DT_I4;
    mm.n[0] = M, mm.n[1] = turned ? N_ALL : N, mm.n[2] = K;
    mm.mode = 1;
    rig_run(&rig, mm);
    Record fix = rec(NPU_FIXPIPE_GM, NPU_DT_I32, GM(FIX_AT), L0C(0));
    fix.dtype[1] = NPU_DT_I32;
    fix.n[0] = N, fix.n[1] = M, fix.n[2] = 32, fix.n[3] = N, fix.n[4] = 1;
    fix.mode = 1;
    rig_run(&rig, fix);
    RIG_CLEAN(&rig);
    for (uint32_t i = 0; i < M * N; i++) {
        int32_t got, want = 0;
        memcpy(&got, rig.gm + FIX_AT + 4 * i, 4);
        for (uint32_t k = 0; k < K; k++)
            want += nibble(a, i / N * K + k) * nibble(b, turned ? k * N + i % N : i % N * K + k);
        CHECK_EQ_INT(got, want);
    }
    rig_close(&rig);
}

T_TEST(cube_product_int4) { product_of_nibbles(false); }
T_TEST(cube_product_int4_turned) { product_of_nibbles(true); }
