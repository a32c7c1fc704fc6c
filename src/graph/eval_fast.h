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

/* The same in f32: a polynomial of degree 6. Results below 2^-125 are 0. */
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

/* t exp(-z^2 + P(t)), t = 2 / (2 + z), z = |x|; P is a Chebyshev series on [0, 1], of which
 * `terms` are used: 28 for double, 13 (1e-8) where the result is f32. */
static inline double fast_erfc_terms(double x, int terms)
{
    static const double c[28] = {
        -0.6513268598908547,     0.64196979235649021,     0.019476473204185836,
        -0.0095615147868086323,  -0.00094659534448203692, 0.00036683949785276145,
        4.2523324806907769e-05,  -2.0278578112534242e-05, -1.6242900046470256e-06,
        1.3036558355805232e-06,  1.5626441722066142e-08,  -8.5238095914926541e-08,
        6.5290544390988515e-09,  5.0593434955514693e-09,  -9.9136415649303307e-10,
        -2.273651222931836e-10,  9.646791102015527e-11,   2.3940380830391146e-12,
        -6.8860275264975532e-12, 8.9448792730907253e-13,  3.1309213993429581e-13,
        -1.1270822361367252e-13, 3.8109052551892321e-16,  7.1060976136092371e-15,
        -1.5230282014571043e-15, -9.4574945712912334e-17, 1.210237189224279e-16,
        -2.8166630877471771e-17};
    double z = x < 0 ? -x : x, t = 2 / (2 + z), twice = 4 * t - 2, d = 0, dd = 0;
    _Pragma("GCC unroll 28") for (int j = terms - 1; j > 0; j--)
    {
        double old = d;
        d = twice * d - dd + c[j];
        dd = old;
    }
    double y = t * fast_exp(-z * z + 0.5 * (2 * c[0] + twice * d) - dd);
    return x < 0 ? 2 - y : y;
}

static inline double fast_erfc(double x) { return fast_erfc_terms(x, 28); }
static inline double fast_erfc_short(double x) { return fast_erfc_terms(x, 13); }

#endif
