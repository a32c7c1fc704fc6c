/* The straight-line exp, tanh and erfc against libm, over their whole range. */
#include "graph/eval_fast.h"
#include "base/rng.h"
#include "tests/t.h"

typedef double Function(double x);

static double worst_error(Function *fast, Function *exact, double low, double high)
{
    double worst = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        double x = low + (high - low) * rng_uniform(1, 2, i), want = exact(x);
        worst = fmax(worst, fabs(fast(x) - want) / fabs(want));
    }
    return worst;
}

T_TEST(fast_exp_is_close)
{
    CHECK(worst_error(fast_exp, exp, -707, 709) < 1e-13);
    CHECK(worst_error(fast_exp, exp, -1, 1) < 1e-15);
    CHECK(fast_exp(0) == 1);
    CHECK(fast_exp(INFINITY) == INFINITY);
    CHECK(fast_exp(-INFINITY) == 0);
    CHECK(fast_exp(710) == INFINITY);
    CHECK(fast_exp(-800) == 0);
    CHECK(isnan(fast_exp((double)NAN)));
}

static double exp_f32(double x) { return (double)fast_exp_f32((float)x); }
static double exp_of_float(double x) { return exp((double)(float)x); }

T_TEST(fast_exp_f32_is_close)
{
    CHECK(worst_error(exp_f32, exp_of_float, -86, 88.7) < 3e-7);
    CHECK(fast_exp_f32(0) == 1);
    CHECK(fast_exp_f32(INFINITY) == INFINITY);
    CHECK(fast_exp_f32(-INFINITY) == 0);
    CHECK(fast_exp_f32(-200) == 0);
    CHECK(fast_exp_f32(89) == INFINITY);
    CHECK(isnan(fast_exp_f32((float)NAN)));
    CHECK(worst_error(fast_erfc_short, erfc, -6, 6) < 1e-7);
}

T_TEST(fast_tanh_is_close)
{
    CHECK(worst_error(fast_tanh, tanh, -30, 30) < 1e-12);
    CHECK(worst_error(fast_tanh, tanh, -0.01, 0.01) < 1e-12);
    CHECK(fast_tanh(INFINITY) == 1);
    CHECK(fast_tanh(-INFINITY) == -1);
    CHECK(fast_tanh(0) == 0);
    CHECK(isnan(fast_tanh((double)NAN)));
}

T_TEST(fast_erfc_is_close)
{
    CHECK(worst_error(fast_erfc, erfc, -6, 6) < 1e-12);
    CHECK(worst_error(fast_erfc, erfc, 6, 25) < 1e-11);
    CHECK(fast_erfc(INFINITY) == 0);
    CHECK(fast_erfc(-INFINITY) == 2);
    CHECK(isnan(fast_erfc((double)NAN)));
}
