/* exp, tanh, erfc as straight-line code, so that loops over them vectorise. Relative error below
 * 1e-12 for the double versions, below 3e-7 for the float ones (measured in
 * tests/graph/eval_fast_test.c). Plain C without fused multiply-add, so every instruction set
 * gives the same bits. */
#ifndef GRAPH_EVAL_FAST_H
#define GRAPH_EVAL_FAST_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^k for -1023 <= k <= 1023, k a whole number given as a double. */
static inline double fast_power_of_two(double k)
{
    int64_t bits;
    double shifted = k + (0x1.8p52 + 1023), out;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int64_t)((uint64_t)bits << 52);
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* exp by x = k ln 2 + r, |r| <= ln 2 / 2, and a polynomial in r. Results below 2^-1021 are 0. */
static inline double fast_exp(double x)
{
    double k = x * 1.4426950408889634 + 0x1.8p52 - 0x1.8p52;
    k = k > 1024 ? 1024 : k < -1022 ? -1022 : k;
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    double half = (k - 1) * 0.5, whole = half + 0x1.8p52 - 0x1.8p52; /* in two steps: no overflow */
    double y = p * fast_power_of_two(whole) * fast_power_of_two(k - whole);
    y = x > 709.782712893384 ? INFINITY : y;
    y = x < -708 ? 0 : y;
    return x != x ? x : y;
}

/* The exponential in f32, by a polynomial of degree 6. Results below 2^-125 are 0. */
static inline float fast_exp_f32(float x)
{
    float k = x * 1.44269504f + 0x1.8p23f - 0x1.8p23f;
    k = k > 128 ? 128 : k >= -126 ? k : -126; /* also for nan */
    float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    int32_t bits = ((int32_t)k - 1 + 127) << 23; /* 2^(k-1): k = 128 must not overflow */
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    float y = p * scale * 2;
    y = x > 88.7228394f ? INFINITY : y;
    y = x < -86.6f ? 0 : y;
    return x != x ? x : y;
}

static inline double fast_sigmoid(double x) { return 1 / (1 + fast_exp(-x)); }

static inline double fast_tanh(double x)
{
    double e = fast_exp(2 * (x > 20 ? 20 : x < -20 ? -20 : x));
    double y = (e - 1) / (e + 1);
    y = x < 1e-3 && x > -1e-3 ? x - x * x * x * (1.0 / 3) : y;
    return x != x ? x : y;
}

/* t exp(-z^2 + P(u)), t = 2 / (2 + z), z = |x|, u = 2 t - 1. P, of `terms` coefficients (an even
 * number), is summed as two polynomials in u^2, which do not wait for each other. */
static inline double fast_erfc_series(double x, const double *c, int terms)
{
    double z = x < 0 ? -x : x, t = 2 / (2 + z), u = 2 * t - 1, w = u * u;
    double even = c[terms - 2], odd = c[terms - 1];
    _Pragma("GCC unroll 16") for (int j = terms - 4; j >= 0; j -= 2)
    {
        even = even * w + c[j];
        odd = odd * w + c[j + 1];
    }
    double y = t * fast_exp(even + u * odd - z * z);
    return x < 0 ? 2 - y : y;
}

static inline double fast_erfc(double x)
{
    static const double c[24] = {
        -0.6717940840566906,     0.6726432239776583,     0.04734330684142489,
        -0.04689561023132892,    -0.00987268934319109,   0.008824938561312326,
        0.0017589331171176882,   -0.002345812552995894,  -0.00014624252395767715,
        0.0006736791352568864,   -9.376035760297014e-05, -0.00017430412986925938,
        7.149530982602198e-05,   3.174693542327236e-05,  -3.0421097531594203e-05,
        1.3989370477611017e-07,  8.952692300720023e-06,  -2.963484230959699e-06,
        -1.7128780471140371e-06, 1.283394915356199e-06,  1.5975482569412025e-07,
        -2.895626567435524e-07,  7.992047577730608e-10,  2.980513364515168e-08};
    return fast_erfc_series(x, c, 24);
}

/* Off by 1e-8 at most, for results in f32. */
static inline double fast_erfc_short(double x)
{
    static const double c[14] = {
        -0.6717940851517215,    0.6726432205460083,     0.0473434175210675,
        -0.046895482160995004,  -0.009874534918291376,  0.00882355817764504,
        0.001770666118629671,   -0.002339277724052592,  -0.0001827821417160127,
        0.0006579538477710235,  -3.211377231212548e-05, -0.00015463379082966594,
        1.3371503491274448e-05, 2.0723070957778818e-05};
    return fast_erfc_series(x, c, 14);
}

#endif
