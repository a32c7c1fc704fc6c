/* The bound lies below what boards have measured: the vendor's own kernels on 910B2 (hicann/cann-bench
 * 462c88f, L2 flushed before each call). None of these rows gave a constant. */
#include "npu/npu.h"
#include "tests/t.h"

typedef struct Row {
    const char *what;
    double read, written, products, us; /* MB, millions */
} Row;

static const Row rows[] = {
    {"sigmoid f16 1024x1024", 2.097, 2.097, 0, 5.3},
    {"sigmoid f32 512x2049", 4.196, 4.196, 0, 5.92},
    {"sigmoid f16 1009x1021", 2.06, 2.06, 0, 5.02},
    {"sigmoid f32 3x7x13x4001", 4.369, 4.369, 0, 6.32},
    {"sigmoid f16 4097x511", 4.187, 4.187, 0, 6.8},
    {"maximum f16 1023x1023", 4.186, 2.093, 0, 5.7},
    {"maximum f16 1024x1024", 4.194, 2.097, 0, 5.76},
    {"sigmoid f32 11x13x17x67x67", 43.65, 43.65, 0, 37.14},
    {"sigmoid bf16 363x367x373", 99.38, 99.38, 0, 100.08},
    {"sigmoid bf16 4096x4096", 33.55, 33.55, 0, 35.86},
    {"sigmoid f32 8192x8192", 268.4, 268.4, 0, 360.23},
    {"gelu f32 8192x8192", 268.4, 268.4, 0, 354.19},
    {"gelu f32 11x13x17x67x67", 43.65, 43.65, 0, 39.22},
    {"softmax f32 8192x8192", 268.4, 268.4, 0, 422.73},
    {"rms_norm f32 8x512x8192", 134.2, 134.2, 0, 145.76},
    {"transpose i64 4096x8192", 268.4, 268.4, 0, 814.9},
    {"addcdiv f16 two of 8192x4096", 402.7, 134.2, 0, 481.27},
    {"matmul f16 4096^3", 67.1, 33.55, 68719.5, 525.95},
    {"matmul bf16 2048x4096x2048", 33.55, 8.39, 17179.9, 156.5},
    {"matmul f16 1024^3", 4.19, 2.1, 1073.7, 15.65},
    {"matmul f16 1x4096x4096", 33.56, 0.008, 16.8, 29.93},
    {"matmul f16 512x4096x4096", 37.7, 4.19, 8589.9, 95.29},
    {"mha f16 60x1x16x256, 512 keys", 503.8, 0.492, 125.8, 345.29},
};

/* Where the launch is nearly all of it. */
static const Row launches[] = {
    {"matmul f16 64^3", 0.016, 0.008, 0.262, 1.91},
    {"matmul f16 128x64x30720, core time", 3.95, 7.86, 251.7, 7.87},
    {"moe_re_routing f16 1024x512", 1.053, 1.049, 0, 5.58},
    {"dequant_swiglu_quant f16", 0.26, 0.066, 0, 7.82},
};

T_TEST(bound_is_below_what_was_measured)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Row *r = &rows[i];
        NpuWork work = {
            .read = r->read * 1e6, .written = r->written * 1e6, .products = r->products * 1e6};
        NpuBound bound = npu_bound(chip, &work);
        CHECK_MSG(bound.us <= r->us && bound.us > 0.15 * r->us, "%s: bound %.1f us by %s, %.1f us",
                  r->what, bound.us, bound.by, r->us);
    }
}

/* The same rows: what the cycle model could grant at best is above the bound, and no board was faster;
 * also below 10 us, where the launch is most of it. */
static void check_attainable(const Row *all, uint32_t n)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    for (uint32_t i = 0; i < n; i++) {
        const Row *r = &all[i];
        NpuWork work = {
            .read = r->read * 1e6, .written = r->written * 1e6, .products = r->products * 1e6};
        double bound = npu_bound(chip, &work).us, attainable = npu_attainable(chip, &work).us;
        CHECK_MSG(bound < attainable && attainable <= r->us,
                  "%s: bound %.1f, attainable %.1f, measured %.1f us", r->what, bound, attainable,
                  r->us);
    }
}

T_TEST(attainable_time_lies_between_the_bound_and_what_was_measured)
{
    check_attainable(rows, sizeof rows / sizeof *rows);
    check_attainable(launches, sizeof launches / sizeof *launches);
}

T_TEST(attainable_time_takes_as_many_cores_as_pay)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    NpuWork small = {.read = 1e4}, large = {.read = 1e9}, both = {.read = 1e9, .written = 1e9};
    CHECK(npu_attainable(chip, &small).us < 2.1);
    CHECK(npu_attainable(chip, &large).us > 1e9 / 1.46e6);
    CHECK(npu_attainable(chip, &large).us < 1e9 / 1.43e6);
    CHECK_EQ_STR(npu_attainable(chip, &both).by, "reading, and storing what L2 does not keep");
    CHECK(npu_attainable(chip, &both).us > 2e9 / 1.62e6);
    CHECK(npu_attainable(chip, &both).us < 2e9 / 1.40e6);
}

T_TEST(bound_says_what_takes_the_time)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    const NpuWork work[] = {{.read = 1e9},
                            {.read = 1e8, .written = 4e8},
                            {.read = 1e3, .written = 1e8},
                            {.read = 1e6, .special = 1e9},
                            {.read = 1e6, .products = 1e12}};
    static const char *const by[] = {"reading the inputs",
                                     "reading, and storing what L2 cannot hold", "storing into L2",
                                     "exponentials and the like", "matrix products"};
    for (int i = 0; i < 5; i++)
        CHECK_EQ_STR(npu_bound(chip, &work[i]).by, by[i]);
    NpuWork twice = {.read = 1e9, .written = 1e9, .again = 1e9};
    CHECK_EQ_STR(npu_bound(chip, &twice).by, "reading twice, and storing");
    CHECK(npu_bound(chip, &twice).us < 3e9 / 1.8e6);
    twice.again = 1e8; /* the chip holds it */
    CHECK_EQ_STR(npu_bound(chip, &twice).by, "reading, and storing what L2 cannot hold");
    NpuWork narrow = {.products = 1e12, .narrow = true}, wide = {.products = 1e12};
    CHECK(npu_bound(chip, &narrow).us * 2 == npu_bound(chip, &wide).us);
}

/* Wider for what the model knows less well, and a gap inside the interval is none. */
T_TEST(interval_is_around_the_prediction)
{
    for (int class = NPU_TIME_VECTOR; class <= NPU_TIME_MIXED; class ++)
        for (double us = 1; us < 1e5; us *= 3) {
            NpuInterval i = npu_interval((NpuTimeClass) class, us);
            CHECK_MSG(i.low < us && us < i.high && i.low > 0, "class %d, %g us: %g to %g", class,
                      us, i.low, i.high);
            CHECK(!npu_is_faster((NpuTimeClass) class, us * 0.99, us));
            CHECK(npu_is_faster((NpuTimeClass) class, i.low * 0.99, us));
        }
}
