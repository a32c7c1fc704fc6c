/* Values of single operations at the edges: rounding, saturation, NaN, wrapping, order. */
#include "tests/ir/help.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

enum { N = 8 };

/* Runs `ops` between x (type `in`) in a and y (type `out`) from d; both of N elements. */
static void run_ops(Arena *arena, DType in, const double *x, DType out, const char *ops, double *y)
{
    const char *text = str_format(
        arena,
        "tile_ir 1\nprogram one\ntensor x in %s [8]\ntensor y out %s [8]\n"
        "host\nlaunch one_kernel [1] (x, y)\nend\nkernel one_kernel vector\n"
        "tensor x in %s [8]\ntensor y out %s [8]\nub a %s [32]\nub d %s [32]\nub p i32 [8]\n"
        "mask m bool [8]\nlocal f f32\nlocal i i64\nlocal b bool\n"
        "copyin\nload a[0:+8] <- x[0:+8]\nend\ncompute\n%send\n"
        "copyout\nstore y[0:+8] <- d[0:+8]\nend\nend\n",
        dtype_name(in), dtype_name(out), dtype_name(in), dtype_name(out), dtype_name(in),
        dtype_name(out), ops);
    IrProgram *p = help_program(arena, text);
    IrOperand operands[2] = {help_tensor(arena, in, 1, (int64_t[]){N}, 1, 0, 1),
                             help_output(arena)};
    for (size_t i = 0; i < N; i++)
        dtype_store(in, operands[0].items[0].data, i, x[i]);
    IrRun run = {.p = p, .chip = chip(), .operands = operands};
    REQUIRE(help_run(arena, &run));
    for (size_t i = 0; i < N; i++)
        y[i] = dtype_load(out, operands[1].items[0].data, i);
}

static void expect(DType in, DType out, const char *ops, const double *x, const double *want)
{
    Arena arena = {0};
    double y[N];
    run_ops(&arena, in, x, out, ops, y);
    for (int i = 0; i < N; i++)
        CHECK_MSG(y[i] == want[i] || (y[i] != y[i] && want[i] != want[i]),
                  "%s to %s, '%s' at %d: got %.9g, want %.9g", dtype_name(in), dtype_name(out), ops,
                  i, y[i], want[i]);
    arena_drop(&arena);
}

#define D(...) ((const double[N]){__VA_ARGS__})
#define UNARY(op) op " d[0:+8] <- a[0:+8]\n"

T_TEST(casts_round_by_their_mode_and_saturate)
{
    const double *x = D(2.5, -2.5, 3.5, 0.4, -0.6, 1e10, -INFINITY, NAN);
    expect(DT_F32, DT_I32, UNARY("cast.rint"), x, D(2, -2, 4, 0, -1, INT32_MAX, INT32_MIN, 0));
    expect(DT_F32, DT_I32, UNARY("cast.floor"), x, D(2, -3, 3, 0, -1, INT32_MAX, INT32_MIN, 0));
    expect(DT_F32, DT_I32, UNARY("cast.ceil"), x, D(3, -2, 4, 1, 0, INT32_MAX, INT32_MIN, 0));
    expect(DT_F32, DT_I32, UNARY("cast.round"), x, D(3, -3, 4, 0, -1, INT32_MAX, INT32_MIN, 0));
    expect(DT_F32, DT_I32, UNARY("cast.trunc"), x, D(2, -2, 3, 0, 0, INT32_MAX, INT32_MIN, 0));
    expect(DT_F32, DT_U8, UNARY("cast"), x, D(2, 0, 4, 0, 0, 255, 0, 0));
    expect(DT_F32, DT_F32, UNARY("cast.floor"), x, D(2, -3, 3, 0, -1, 1e10f, -INFINITY, NAN));
    expect(DT_I32, DT_I16, UNARY("cast"), D(40000, -40000, 1, 2, 3, 4, 5, 6),
           D(32767, -32768, 1, 2, 3, 4, 5, 6));
}

T_TEST(narrowing_floats_rounds_by_its_mode)
{
    /* f16 has steps of 2 from 2048 on */
    const double *x = D(2049, 2051, -2049, 2049.5, 70000, -70000, 65504, 0x1p-25);
    expect(DT_F32, DT_F16, UNARY("cast"), x,
           D(2048, 2052, -2048, 2050, INFINITY, -INFINITY, 65504, 0));
    expect(DT_F32, DT_F16, UNARY("cast.floor"), x,
           D(2048, 2050, -2050, 2048, 65504, -INFINITY, 65504, 0));
    expect(DT_F32, DT_F16, UNARY("cast.ceil"), x,
           D(2050, 2052, -2048, 2050, INFINITY, -65504, 65504, 0x1p-24));
    expect(DT_F32, DT_F16, UNARY("cast.trunc"), x,
           D(2048, 2050, -2048, 2048, 65504, -65504, 65504, 0));
    expect(DT_F32, DT_F16, UNARY("cast.round"), x,
           D(2050, 2052, -2050, 2050, INFINITY, -INFINITY, 65504, 0x1p-24));
    expect(DT_F32, DT_BF16, UNARY("cast"), D(257, 259, 1, 0, -0.0, 3e38, 3.4e38, NAN),
           D(256, 260, 1, 0, 0, 226 * 0x1p120, INFINITY, NAN));
}

T_TEST(arithmetic_rounds_once_to_its_type)
{
    const double *x = D(2048, 1, 0.1, -3, 60000, 65504, -1, 0);
    expect(DT_F16, DT_F16, "adds d[0:+8] <- a[0:+8], 1.0\n", x,
           D(2048, 2, 1.099609375, -2, 60000, 65504, 0, 1));
    expect(DT_F16, DT_F16, "mul d[0:+8] <- a[0:+8], a[0:+8]\n", x,
           D(INFINITY, 1, 0.00999450683593750, 9, INFINITY, INFINITY, 1, 0));
    expect(DT_I8, DT_I8, "adds d[0:+8] <- a[0:+8], 100\n", D(27, 28, 100, -100, 0, -128, 1, 2),
           D(127, 127, 127, 0, 100, -28, 101, 102));
    expect(DT_U8, DT_U8, "subs d[0:+8] <- a[0:+8], 10\n", D(5, 10, 15, 255, 0, 1, 2, 3),
           D(0, 0, 5, 245, 0, 0, 0, 0));
    expect(DT_I16, DT_I16, "adds d[0:+8] <- a[0:+8], 1\n", D(32767, 0, 1, 2, 3, 4, 5, -1),
           D(-32768, 1, 2, 3, 4, 5, 6, 0));
    expect(DT_F32, DT_F32, "fill d[0:+8] <- 1.0\nfma d[0:+8] <- a[0:+8], a[0:+8], d[0:+8]\n",
           D(4097, 1, 2, 3, 0, -1, 0.5, INFINITY), D(16785410, 2, 5, 10, 1, 2, 1.25, INFINITY));
}

T_TEST(nan_spreads_through_min_max_and_reductions)
{
    const double *x = D(1, NAN, -INFINITY, 5, 2, 2, 0, 9);
    expect(DT_F32, DT_F32, "maxs d[0:+8] <- a[0:+8], 2.0\n", x, D(2, NAN, 2, 5, 2, 2, 2, 9));
    expect(DT_F32, DT_F32, UNARY("relu"), x, D(1, NAN, 0, 5, 2, 2, 0, 9));
    expect(DT_F32, DT_F32, "f = reduce_max <- a[0:+8]\nfill d[0:+8] <- f\n", x,
           D(NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN));
    expect(DT_F32, DT_F32, "sort d[0:+8], p[0:+8] <- a[0:+8]\n", x,
           D(NAN, 9, 5, 2, 2, 1, 0, -INFINITY));
    expect(DT_F32, DT_I32, "i = argmax <- a[0:+8]\nfill d[0:+8] <- i\n", x,
           D(1, 1, 1, 1, 1, 1, 1, 1));
    expect(DT_F32, DT_F32,
           "eq m[0:+8] <- a[0:+8], a[0:+8]\nselectss d[0:+8] <- m[0:+8], 1.0, 0.0\n", x,
           D(1, 0, 1, 1, 1, 1, 1, 1));
}

T_TEST(sorting_is_stable_and_scans_run)
{
    const double *x = D(3, 1, 3, 2, 1, 3, 0, 7);
    expect(DT_F32, DT_F32, "sort d[0:+8], p[0:+8] <- a[0:+8]\ncast d[0:+8] <- p[0:+8]\n", x,
           D(7, 0, 2, 5, 3, 1, 4, 6));
    expect(DT_F32, DT_F32, UNARY("cumsum"), x, D(3, 4, 7, 9, 10, 13, 13, 20));
    expect(DT_I32, DT_I32, UNARY("cumprod"), x, D(3, 3, 9, 18, 18, 54, 0, 0));
    expect(DT_I32, DT_I32, UNARY("cummax"), x, D(3, 3, 3, 3, 3, 3, 3, 7));
    expect(DT_F32, DT_F32, UNARY("cummin"), x, D(3, 1, 1, 1, 1, 1, 0, 0));
    expect(DT_F32, DT_F32, UNARY("reverse"), x, D(7, 0, 3, 1, 2, 3, 1, 3));
    expect(DT_F32, DT_F32,
           "fill d[0:+8] <- -1.0\ngts m[0:+8] <- a[0:+8], 2.0\n"
           "i = compact d[0:+8] <- a[0:+8], m[0:+8]\n",
           x, D(3, 3, 3, 7, -1, -1, -1, -1));
}

T_TEST(scans_of_infinities_and_nan)
{
    const double inf = INFINITY;
    const double *x = D(-inf, -inf, 0, 0, inf, inf, NAN, 1);
    expect(DT_F32, DT_F32, UNARY("logcumsumexp"), x,
           D(-inf, -inf, 0, 0.693147182464599609375, inf, inf, NAN, NAN));
    expect(DT_F32, DT_F32, UNARY("cummax"), x, D(-inf, -inf, 0, 0, inf, inf, NAN, NAN));
    expect(DT_F32, DT_F32, UNARY("cummin"), x, D(-inf, -inf, -inf, -inf, -inf, -inf, NAN, NAN));
}

T_TEST(sums_accumulate_in_double)
{
    /* in f32 one by one 1 + 2^-25 + 2^-25 + ... would stay 1 */
    const double *x = D(1, 0x1p-25, 0x1p-25, 0x1p-25, 0x1p-25, 0, 0, 0);
    double s = 1 + 0x1p-23;
    expect(DT_F32, DT_F32, "f = reduce_sum <- a[0:+8]\nfill d[0:+8] <- f\n", x,
           D(s, s, s, s, s, s, s, s));
}

T_TEST(bits_and_shifts)
{
    const double *x = D(1, 2, 255, -1, 0x7fff, -32768, 12, 0);
    expect(DT_I16, DT_I16, "shr d[0:+8] <- a[0:+8], 1\n", x,
           D(0, 1, 127, -1, 0x3fff, -16384, 6, 0));
    expect(DT_I16, DT_I16, "shl d[0:+8] <- a[0:+8], 4\n", x, D(16, 32, 4080, -16, -16, 0, 192, 0));
    expect(DT_I16, DT_I16, UNARY("not"), x, D(-2, -3, -256, 0, -32768, 32767, -13, -1));
    expect(DT_U16, DT_U16, "shr d[0:+8] <- a[0:+8], 15\n", D(65535, 32768, 1, 0, 0, 0, 0, 0),
           D(1, 1, 0, 0, 0, 0, 0, 0));
}
