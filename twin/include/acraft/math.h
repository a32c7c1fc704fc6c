/* Elementwise mathematics of the high-level API (Tanh, Sin, Erf, Power, ...), written over basic
 * vector calls in float; half goes through float. In: src, optional scratch, count. Out: records of
 * the basic calls under the high-level API's name.
 *
 * Work goes in chunks as large as the scratch allows. An operation has `live` scratch buffers and
 * writes its result only in its last step, so that dst may be src. */
#ifndef ACRAFT_MATH_H
#define ACRAFT_MATH_H

#include "acraft/list.h"

namespace acraft {
namespace math {

using F = LocalTensor<float>;
using AscendC::HardEvent;
using AscendC::RoundMode;

inline void between(const Site &s) { put_barrier(NPU_PIPE_V, s); }

/* y = c[0] x^(n-1) + ... + c[n-1] by Horner; y and x are different buffers. */
template <size_t N> inline void polynomial(const F &y, const F &x, const float (&c)[N], int n, const Site &s)
{
    AscendC::Muls(y, x, c[0], n, s);
    for (size_t i = 1; i + 1 < N; i++) {
        AscendC::Adds(y, y, c[i], n, s);
        AscendC::Mul(y, y, x, n, s);
    }
    AscendC::Adds(y, y, c[N - 1], n, s);
}

/* Comparing needs whole repeats: bits of `x op value` for count rounded up to 64. */
inline LocalTensor<uint8_t> bits_where(const F &scratch, const F &x, float value, AscendC::CMPMODE mode, int n, const Site &s)
{
    LocalTensor<uint8_t> bits = scratch.ReinterpretCast<uint8_t>();
    AscendC::CompareScalar(bits, x, value, mode, uint32_t((n + 63) / 64 * 64), s);
    return bits;
}

/* y = bits ? a : b, bits ? a : scalar. */
inline void choose(const F &y, const LocalTensor<uint8_t> &bits, const F &a, const F &b, int n, const Site &s)
{
    AscendC::Select(y, bits, a, b, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, uint32_t(n), s);
}
inline void choose(const F &y, const LocalTensor<uint8_t> &bits, const F &a, float b, int n, const Site &s)
{
    AscendC::Select(y, bits, a, b, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, uint32_t(n), s);
}

struct Sigmoid {
    static constexpr int live = 2;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Muls(t[0], x, -1.0f, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Adds(t[0], t[0], 1.0f, n, s);
        AscendC::Duplicate(t[1], 1.0f, n, s);
        AscendC::Div(y, t[1], t[0], n, s);
    }
};

struct Tanh {
    static constexpr int live = 2;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Mins(t[0], x, 8.8f, n, s);
        AscendC::Maxs(t[0], t[0], -8.8f, n, s);
        AscendC::Muls(t[0], t[0], 2.0f, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Adds(t[1], t[0], -1.0f, n, s);
        AscendC::Adds(t[0], t[0], 1.0f, n, s);
        AscendC::Div(y, t[1], t[0], n, s);
    }
};

struct Log {
    static constexpr int live = 0;
    static void run(const F &y, const F &x, const F *, int n, const Site &s) { AscendC::Ln(y, x, n, s); }
};
struct Log2 {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Ln(t[0], x, n, s);
        AscendC::Muls(y, t[0], 1.44269504088896341f, n, s);
    }
};
struct Log10 {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Ln(t[0], x, n, s);
        AscendC::Muls(y, t[0], 0.434294481903251828f, n, s);
    }
};

/* pi in four parts: k times the first three is exact for |k| < 2^11 or so. */
constexpr float pi_parts[4] = {3.140625f, 9.67025756835937e-4f, 6.2771141529083251953e-7f, 1.21644916362129151821e-10f};

/* x - k pi for k = round(x / pi + shift) - shift; k is left in t. */
inline void reduce_pi(const F &r, const F &k, const F &x, float shift, int n, const Site &s)
{
    AscendC::Muls(k, x, 0.318309886183790672f, n, s);
    AscendC::Adds(k, k, -shift, n, s);
    AscendC::Cast(k, k, RoundMode::CAST_RINT, uint32_t(n), s);
    AscendC::Adds(r, k, shift, n, s);
    F kk = r;
    AscendC::Muls(kk, kk, -pi_parts[0], n, s);
    AscendC::Add(r, x, kk, n, s);
}

/* The remaining parts of pi and the sign (-1)^k; u is scratch. */
inline void finish_pi(const F &r, const F &k, const F &u, float shift, int n, const Site &s)
{
    for (int i = 1; i < 4; i++) {
        AscendC::Adds(u, k, shift, n, s);
        AscendC::Muls(u, u, -pi_parts[i], n, s);
        AscendC::Add(r, r, u, n, s);
    }
}

/* k becomes 1 - 2 (k mod 2), u is scratch. */
inline void parity_sign(const F &k, const F &u, int n, const Site &s)
{
    AscendC::Muls(u, k, 0.5f, n, s);
    AscendC::Cast(u, u, RoundMode::CAST_FLOOR, uint32_t(n), s);
    AscendC::Muls(u, u, -2.0f, n, s);
    AscendC::Add(k, k, u, n, s);
    AscendC::Muls(k, k, -2.0f, n, s);
    AscendC::Adds(k, k, 1.0f, n, s);
}

/* sin r for |r| <= pi/2 into p, q is scratch: r + r^3 P(r^2). */
inline void sin_core(const F &p, const F &q, const F &r, int n, const Site &s)
{
    constexpr float c[] = {-2.3889859e-8f, 2.7525562e-6f, -1.9840874e-4f, 8.3333310e-3f, -1.6666667e-1f};
    AscendC::Mul(q, r, r, n, s);
    polynomial(p, q, c, n, s);
    AscendC::Mul(p, p, q, n, s);
    AscendC::Mul(p, p, r, n, s);
    AscendC::Add(p, p, r, n, s);
}

struct Sin {
    static constexpr int live = 4;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        reduce_pi(t[0], t[1], x, 0.0f, n, s);
        finish_pi(t[0], t[1], t[2], 0.0f, n, s);
        sin_core(t[2], t[3], t[0], n, s);
        parity_sign(t[1], t[3], n, s);
        AscendC::Mul(y, t[2], t[1], n, s);
    }
};

/* cos x = -(-1)^k sin(x - (k + 1/2) pi). */
struct Cos {
    static constexpr int live = 4;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        reduce_pi(t[0], t[1], x, 0.5f, n, s);
        finish_pi(t[0], t[1], t[2], 0.5f, n, s);
        sin_core(t[2], t[3], t[0], n, s);
        parity_sign(t[1], t[3], n, s);
        AscendC::Muls(t[1], t[1], -1.0f, n, s);
        AscendC::Mul(y, t[2], t[1], n, s);
    }
};

/* sin x / cos x, each reduced on its own: near a pole the cosine has its full precision. */
struct Tan {
    static constexpr int live = 5;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        Sin::run(t[4], x, t, n, s);
        Cos::run(t[0], x, t, n, s);
        AscendC::Div(y, t[4], t[0], n, s);
    }
};

/* atan: |x| > 1 by pi/2 - atan(1/|x|), above tan(pi/8) by pi/4 + atan((a-1)/(a+1)). */
inline void atan_core(const F &out, const F &x, const F *t, int n, const Site &s)
{
    constexpr float c[] = {8.05374449538e-2f, -1.38776856032e-1f, 1.99777106478e-1f, -3.33329491539e-1f};
    const F &a = t[0], &b = t[1], &z = t[2], &p = t[3];
    AscendC::Abs(a, x, n, s);
    AscendC::Duplicate(b, 1.0f, n, s);
    AscendC::Div(b, b, a, n, s);
    AscendC::Min(a, a, b, n, s);
    AscendC::Adds(b, a, -1.0f, n, s);
    AscendC::Adds(p, a, 1.0f, n, s);
    AscendC::Div(b, b, p, n, s);
    LocalTensor<uint8_t> high = bits_where(z, a, 0.414213562373095f, AscendC::CMPMODE::GT, n, s);
    choose(b, high, b, a, n, s);
    AscendC::Duplicate(p, 0.785398163397448f, n, s);
    choose(a, high, p, 0.0f, n, s);
    AscendC::Mul(z, b, b, n, s);
    polynomial(p, z, c, n, s);
    AscendC::Mul(p, p, z, n, s);
    AscendC::Mul(p, p, b, n, s);
    AscendC::Add(p, p, b, n, s);
    AscendC::Add(a, a, p, n, s);
    /* back from 1/|x|, then the sign of x */
    AscendC::Abs(b, x, n, s);
    LocalTensor<uint8_t> big = bits_where(z, b, 1.0f, AscendC::CMPMODE::GT, n, s);
    AscendC::Muls(b, a, -1.0f, n, s);
    AscendC::Adds(b, b, 1.57079632679489662f, n, s);
    choose(a, big, b, a, n, s);
    LocalTensor<uint8_t> positive = bits_where(z, x, 0.0f, AscendC::CMPMODE::GE, n, s);
    AscendC::Muls(b, a, -1.0f, n, s);
    choose(out, positive, a, b, n, s);
}

struct Atan {
    static constexpr int live = 5;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        atan_core(t[4], x, t, n, s);
        AscendC::Adds(y, t[4], 0.0f, n, s);
    }
};

/* asin x = atan(x / sqrt((1-x)(1+x))) */
inline void asin_core(const F &out, const F &x, const F *t, int n, const Site &s)
{
    AscendC::Muls(t[0], x, -1.0f, n, s);
    AscendC::Adds(t[0], t[0], 1.0f, n, s);
    AscendC::Adds(t[1], x, 1.0f, n, s);
    AscendC::Mul(t[0], t[0], t[1], n, s);
    AscendC::Sqrt(t[0], t[0], n, s);
    AscendC::Div(t[4], x, t[0], n, s);
    atan_core(out, t[4], t, n, s);
}
struct Asin {
    static constexpr int live = 6;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        asin_core(t[5], x, t, n, s);
        AscendC::Adds(y, t[5], 0.0f, n, s);
    }
};
struct Acos {
    static constexpr int live = 6;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        asin_core(t[5], x, t, n, s);
        AscendC::Muls(t[5], t[5], -1.0f, n, s);
        AscendC::Adds(y, t[5], 1.57079632679489662f, n, s);
    }
};

struct Sinh {
    static constexpr int live = 2;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Adds(t[0], x, -0.693147180559945309f, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Muls(t[1], x, -1.0f, n, s);
        AscendC::Adds(t[1], t[1], -0.693147180559945309f, n, s);
        AscendC::Exp(t[1], t[1], n, s);
        AscendC::Sub(y, t[0], t[1], n, s);
    }
};
struct Cosh {
    static constexpr int live = 2;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Adds(t[0], x, -0.693147180559945309f, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Muls(t[1], x, -1.0f, n, s);
        AscendC::Adds(t[1], t[1], -0.693147180559945309f, n, s);
        AscendC::Exp(t[1], t[1], n, s);
        AscendC::Add(y, t[0], t[1], n, s);
    }
};
/* asinh x = sign(x) ln(|x| + sqrt(x^2 + 1)) */
struct Asinh {
    static constexpr int live = 3;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Abs(t[0], x, n, s);
        AscendC::Mul(t[1], t[0], t[0], n, s);
        AscendC::Adds(t[1], t[1], 1.0f, n, s);
        AscendC::Sqrt(t[1], t[1], n, s);
        AscendC::Add(t[0], t[0], t[1], n, s);
        AscendC::Ln(t[0], t[0], n, s);
        LocalTensor<uint8_t> positive = bits_where(t[2], x, 0.0f, AscendC::CMPMODE::GE, n, s);
        AscendC::Muls(t[1], t[0], -1.0f, n, s);
        choose(y, positive, t[0], t[1], n, s);
    }
};
struct Acosh {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Mul(t[0], x, x, n, s);
        AscendC::Adds(t[0], t[0], -1.0f, n, s);
        AscendC::Sqrt(t[0], t[0], n, s);
        AscendC::Add(t[0], t[0], x, n, s);
        AscendC::Ln(y, t[0], n, s);
    }
};
struct Atanh {
    static constexpr int live = 2;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Adds(t[0], x, 1.0f, n, s);
        AscendC::Muls(t[1], x, -1.0f, n, s);
        AscendC::Adds(t[1], t[1], 1.0f, n, s);
        AscendC::Div(t[0], t[0], t[1], n, s);
        AscendC::Ln(t[0], t[0], n, s);
        AscendC::Muls(y, t[0], 0.5f, n, s);
    }
};

/* x P(x^2) / Q(x^2) on [-3.92, 3.92]. */
struct Erf {
    static constexpr int live = 4;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        constexpr float p[] = {-2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                               -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f};
        constexpr float q[] = {-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f,
                               -1.42647390514189e-02f};
        AscendC::Mins(t[0], x, 4.0f, n, s);
        AscendC::Maxs(t[0], t[0], -4.0f, n, s);
        AscendC::Mul(t[1], t[0], t[0], n, s);
        polynomial(t[2], t[1], p, n, s);
        AscendC::Mul(t[2], t[2], t[0], n, s);
        polynomial(t[3], t[1], q, n, s);
        AscendC::Div(y, t[2], t[3], n, s);
    }
};

/* t exp(-x^2 + P(t)), t = 1 / (1 + |x| / 2), relative error about 1e-7; 2 - that for x < 0. */
struct Erfc {
    static constexpr int live = 5;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        constexpr float c[] = {0.17087277f,  -0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f,
                               -0.18628806f, 0.09678418f,  0.37409196f, 1.00002368f,  -1.26551223f};
        AscendC::Abs(t[0], x, n, s);
        AscendC::Muls(t[1], t[0], 0.5f, n, s);
        AscendC::Adds(t[1], t[1], 1.0f, n, s);
        AscendC::Duplicate(t[2], 1.0f, n, s);
        AscendC::Div(t[1], t[2], t[1], n, s);
        polynomial(t[2], t[1], c, n, s);
        AscendC::Mul(t[3], t[0], t[0], n, s);
        AscendC::Sub(t[2], t[2], t[3], n, s);
        AscendC::Exp(t[2], t[2], n, s);
        AscendC::Mul(t[2], t[2], t[1], n, s);
        LocalTensor<uint8_t> positive = bits_where(t[4], x, 0.0f, AscendC::CMPMODE::GE, n, s);
        AscendC::Muls(t[3], t[2], -1.0f, n, s);
        AscendC::Adds(t[3], t[3], 2.0f, n, s);
        choose(y, positive, t[2], t[3], n, s);
    }
};

/* Scaled up until anything not zero is out of [-1, 1], then clamped. */
struct Sign {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Muls(t[0], x, 1.0e38f, n, s);
        AscendC::Muls(t[0], t[0], 1.0e38f, n, s);
        AscendC::Mins(t[0], t[0], 1.0f, n, s);
        AscendC::Maxs(y, t[0], -1.0f, n, s);
    }
};

template <RoundMode mode> struct Rounded {
    static constexpr int live = 0;
    static void run(const F &y, const F &x, const F *, int n, const Site &s) { AscendC::Cast(y, x, mode, uint32_t(n), s); }
};
struct Frac {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Cast(t[0], x, RoundMode::CAST_TRUNC, uint32_t(n), s);
        AscendC::Sub(y, x, t[0], n, s);
    }
};

/* x / (1 + exp(-k x)): Silu for k = 1. */
struct SwishBy {
    static constexpr int live = 1;
    float k;
    void operator()(const F &y, const F &x, const F *t, int n, const Site &s) const
    {
        AscendC::Muls(t[0], x, -k, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Adds(t[0], t[0], 1.0f, n, s);
        AscendC::Div(y, x, t[0], n, s);
    }
};
struct Silu {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s) { SwishBy{1.0f}(y, x, t, n, s); }
};
/* x / (1 + exp(-1.59576912 (x + 0.0447 x^3))): the tanh form of gelu. */
struct Gelu {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Mul(t[0], x, x, n, s);
        AscendC::Muls(t[0], t[0], 0.044715f, n, s);
        AscendC::Adds(t[0], t[0], 1.0f, n, s);
        AscendC::Mul(t[0], t[0], x, n, s);
        AscendC::Muls(t[0], t[0], -1.5957691216057308f, n, s);
        AscendC::Exp(t[0], t[0], n, s);
        AscendC::Adds(t[0], t[0], 1.0f, n, s);
        AscendC::Div(y, x, t[0], n, s);
    }
};
struct FasterGelu {
    static constexpr int live = 1;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s) { SwishBy{1.702f}(y, x, t, n, s); }
};
/* x (sign(x) (0.5 - 0.1444 (min(|0.7071 x|, 1.769) - 1.769)^2) + 0.5) */
struct FasterGeluV2 {
    static constexpr int live = 3;
    static void run(const F &y, const F &x, const F *t, int n, const Site &s)
    {
        AscendC::Muls(t[0], x, 0.7071f, n, s);
        AscendC::Abs(t[0], t[0], n, s);
        AscendC::Mins(t[0], t[0], 1.769f, n, s);
        AscendC::Adds(t[0], t[0], -1.769f, n, s);
        AscendC::Mul(t[0], t[0], t[0], n, s);
        AscendC::Muls(t[0], t[0], -0.1444f, n, s);
        AscendC::Adds(t[0], t[0], 0.5f, n, s);
        AscendC::Adds(t[1], x, 1e-12f, n, s);
        AscendC::Abs(t[2], t[1], n, s);
        AscendC::Div(t[1], t[1], t[2], n, s);
        AscendC::Mul(t[0], t[0], t[1], n, s);
        AscendC::Adds(t[0], t[0], 0.5f, n, s);
        AscendC::Mul(y, t[0], x, n, s);
    }
};

/* Buffers of `chunk` floats in scratch. */
inline F buffer(const LocalTensor<uint8_t> &tmp, uint32_t chunk, int i)
{
    F f = tmp.ReinterpretCast<float>()[chunk * uint32_t(i)];
    f.SetSize(chunk);
    return f;
}

/* Run `op` over count elements of half or float. */
template <int live, typename T, typename Op>
inline void in_chunks(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, uint32_t count, const Site &s,
                      const Op &op)
{
    static_assert(std::is_same<T, half>::value || std::is_same<T, float>::value, "acraft: this API exists only for half and float on Atlas A2");
    constexpr int need = live + (std::is_same<T, half>::value ? 2 : 0);
    uint32_t chunk = need == 0 ? count : tmp.GetSize() / uint32_t((need == 0 ? 1 : need) * 4);
    chunk = chunk >= 64 ? chunk / 64 * 64 : chunk / 8 * 8;
    if (chunk > count) chunk = (count + 63) / 64 * 64;
    if (chunk == 0) chunk = 8;
    F t[live > 0 ? live : 1];
    for (int i = 0; i < live; i++) t[i] = buffer(tmp, chunk, i);
    for (uint32_t at = 0; at < count; at += chunk) {
        int n = int(count - at < chunk ? count - at : chunk);
        if constexpr (std::is_same<T, half>::value) {
            F x = buffer(tmp, chunk, live), y = buffer(tmp, chunk, live + 1);
            AscendC::Cast(x, src[at], RoundMode::CAST_NONE, uint32_t(n), s);
            op(y, x, t, n, s);
            AscendC::Cast(dst[at], y, RoundMode::CAST_NONE, uint32_t(n), s);
        } else {
            op(dst[at], src[at], t, n, s);
        }
    }
}

inline LocalTensor<uint8_t> stack()
{
    LocalTensor<uint8_t> tmp;
    AscendC::PopStackBuffer<uint8_t, AscendC::TPosition::LCM>(tmp);
    return tmp;
}

}  // namespace math
}  // namespace acraft

namespace AscendC {

/* The vendor's four forms: with or without scratch, with or without a count. */
#define ACRAFT_MATH(NAME, OP)                                                                      \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        acraft::math::in_chunks<OP::live>(dst, src, tmp, calCount, site.in(#NAME), &OP::run);      \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE) \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, tmp, src.GetSize(), site);                                \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, acraft::math::stack(), calCount, site);                   \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, ACRAFT_SITE)            \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, acraft::math::stack(), src.GetSize(), site);              \
    }                                                                                              \
    template <typename T, bool isReuseSource = false, typename R>                                  \
    inline R NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t calCount) \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, tmp, calCount, acraft::site_of_last());                   \
    }                                                                                              \
    template <typename T, bool isReuseSource = false, typename R>                                  \
    inline R NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp) \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, tmp, src.GetSize(), acraft::site_of_last());              \
    }                                                                                              \
    template <typename T, bool isReuseSource = false, typename R>                                  \
    inline R NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount)   \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, calCount, acraft::site_of_last());                        \
    }                                                                                              \
    template <typename T, bool isReuseSource = false, typename R>                                  \
    inline R NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src)                            \
    {                                                                                              \
        NAME<T, isReuseSource>(dst, src, src.GetSize(), acraft::site_of_last());                   \
    }

ACRAFT_MATH(Sigmoid, acraft::math::Sigmoid)
ACRAFT_MATH(Tanh, acraft::math::Tanh)
ACRAFT_MATH(Log, acraft::math::Log)
ACRAFT_MATH(Log2, acraft::math::Log2)
ACRAFT_MATH(Log10, acraft::math::Log10)
ACRAFT_MATH(Sin, acraft::math::Sin)
ACRAFT_MATH(Cos, acraft::math::Cos)
ACRAFT_MATH(Tan, acraft::math::Tan)
ACRAFT_MATH(Asin, acraft::math::Asin)
ACRAFT_MATH(Acos, acraft::math::Acos)
ACRAFT_MATH(Atan, acraft::math::Atan)
ACRAFT_MATH(Sinh, acraft::math::Sinh)
ACRAFT_MATH(Cosh, acraft::math::Cosh)
ACRAFT_MATH(Asinh, acraft::math::Asinh)
ACRAFT_MATH(Acosh, acraft::math::Acosh)
ACRAFT_MATH(Atanh, acraft::math::Atanh)
ACRAFT_MATH(Erf, acraft::math::Erf)
ACRAFT_MATH(Erfc, acraft::math::Erfc)
ACRAFT_MATH(Sign, acraft::math::Sign)
ACRAFT_MATH(Floor, acraft::math::Rounded<RoundMode::CAST_FLOOR>)
ACRAFT_MATH(Ceil, acraft::math::Rounded<RoundMode::CAST_CEIL>)
ACRAFT_MATH(Round, acraft::math::Rounded<RoundMode::CAST_RINT>)
ACRAFT_MATH(Trunc, acraft::math::Rounded<RoundMode::CAST_TRUNC>)
ACRAFT_MATH(Frac, acraft::math::Frac)
ACRAFT_MATH(Silu, acraft::math::Silu)
ACRAFT_MATH(Gelu, acraft::math::Gelu)
ACRAFT_MATH(FasterGelu, acraft::math::FasterGelu)
ACRAFT_MATH(FasterGeluV2, acraft::math::FasterGeluV2)

/* These three may say how precise and how fast they shall be. */
#define ACRAFT_GELU(NAME)                                                                          \
    template <typename T, bool highPrecision, bool highPerformance>                                \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t dataSize, ACRAFT_SITE) \
    {                                                                                              \
        NAME<T>(dst, src, tmp, dataSize, site);                                                    \
    }                                                                                              \
    template <typename T, bool highPrecision, bool highPerformance>                                \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dataSize, ACRAFT_SITE) \
    {                                                                                              \
        NAME<T>(dst, src, dataSize, site);                                                         \
    }
ACRAFT_GELU(Gelu)
ACRAFT_GELU(FasterGelu)
ACRAFT_GELU(FasterGeluV2)
#undef ACRAFT_GELU
#undef ACRAFT_MATH

/* Silu's and Swish's documented order has the count before the scalar. */
template <typename T, bool isReuseSource = false>
inline void Swish(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t dataSize, const T scalarValue, ACRAFT_SITE)
{
    acraft::math::in_chunks<1>(dst, src, acraft::math::stack(), dataSize, site.in("Swish"), acraft::math::SwishBy{float(scalarValue)});
}

/* The precise Exp of the high-level API; ours is precise anyway. */
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const uint32_t calCount, ACRAFT_SITE)
{
    Exp<T>(dst, src, int32_t(calCount), site);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount, ACRAFT_SITE)
{
    Exp<T>(dst, src, int32_t(calCount), site);
}

template <typename T, bool isReuseSource = false>
inline void ClampMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const T scalar, const uint32_t calCount, ACRAFT_SITE)
{
    Mins(dst, src, scalar, int32_t(calCount), site.in("ClampMax"));
}
template <typename T, bool isReuseSource = false>
inline void ClampMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T scalar, const uint32_t calCount, ACRAFT_SITE)
{
    Mins(dst, src, scalar, int32_t(calCount), site.in("ClampMax"));
}
template <typename T, bool isReuseSource = false>
inline void ClampMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, const T scalar, const uint32_t calCount, ACRAFT_SITE)
{
    Maxs(dst, src, scalar, int32_t(calCount), site.in("ClampMin"));
}
template <typename T, bool isReuseSource = false>
inline void ClampMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T scalar, const uint32_t calCount, ACRAFT_SITE)
{
    Maxs(dst, src, scalar, int32_t(calCount), site.in("ClampMin"));
}

template <typename T, bool isReuseSource = false>
inline void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, const uint32_t calCount, ACRAFT_SITE)
{
    acraft::Site s = site.in("Xor");
    LocalTensor<T> both = tmp.template ReinterpretCast<T>();
    uint32_t chunk = both.GetSize() / 16 * 16;
    for (uint32_t at = 0; at < calCount; at += chunk) {
        int32_t n = int32_t(calCount - at < chunk ? calCount - at : chunk);
        And(both, a[at], b[at], n, s);
        Not(both, both, n, s);
        Or(dst[at], a[at], b[at], n, s);
        And(dst[at], dst[at], both, n, s);
    }
}
template <typename T, bool isReuseSource = false>
inline void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const uint32_t calCount, ACRAFT_SITE)
{
    Xor<T, isReuseSource>(dst, a, b, acraft::math::stack(), calCount, site);
}
template <typename T, bool isReuseSource = false>
inline void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    Xor<T, isReuseSource>(dst, a, b, tmp, a.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, ACRAFT_SITE)
{
    Xor<T, isReuseSource>(dst, a, b, acraft::math::stack(), a.GetSize(), site);
}

/* ---- Power: tensor or scalar on either side; half, float, int32 ---- */

namespace power {
using acraft::math::F;

/* |x|^y by exp(y ln|x|); y == 0 gives 1; x < 0 takes the sign of (-1)^y, or NaN for y not whole. */
inline void core(const F &out, const F &x, const F &y, const F *t, int n, const acraft::Site &s)
{
    using acraft::math::bits_where;
    using acraft::math::choose;
    const F &p = t[0], &u = t[1], &v = t[2], &m = t[3];
    Abs(p, x, n, s);
    Ln(p, p, n, s);
    Mul(p, p, y, n, s);
    Exp(p, p, n, s);
    Cast(u, y, RoundMode::CAST_FLOOR, uint32_t(n), s);
    Sub(v, y, u, n, s);
    LocalTensor<uint8_t> whole = bits_where(m, v, 0.0f, CMPMODE::EQ, n, s);
    Muls(v, u, 0.5f, n, s);
    Cast(v, v, RoundMode::CAST_FLOOR, uint32_t(n), s);
    Muls(v, v, -2.0f, n, s);
    Add(v, v, u, n, s);
    Muls(v, v, -2.0f, n, s);
    Adds(v, v, 1.0f, n, s);
    choose(v, whole, v, acraft::float_of_bits(0x7fc00000u), n, s);
    Mul(u, p, v, n, s);
    LocalTensor<uint8_t> negative = bits_where(m, x, 0.0f, CMPMODE::LT, n, s);
    choose(p, negative, u, p, n, s);
    LocalTensor<uint8_t> not_zero = bits_where(m, y, 0.0f, CMPMODE::NE, n, s);
    choose(out, not_zero, p, 1.0f, n, s);
}

template <typename T> inline void widen(const F &to, const LocalTensor<T> &from, int n, const acraft::Site &s)
{
    if constexpr (std::is_same<T, float>::value) Adds(to, from, 0.0f, n, s);
    else Cast(to, from, RoundMode::CAST_NONE, uint32_t(n), s);
}
template <typename T> inline void narrow(const LocalTensor<T> &to, const F &from, int n, const acraft::Site &s)
{
    if constexpr (std::is_same<T, float>::value) Adds(to, from, 0.0f, n, s);
    else Cast(to, from, std::is_same<T, int32_t>::value ? RoundMode::CAST_RINT : RoundMode::CAST_NONE, uint32_t(n), s);
}

/* Either operand may be a scalar (tensor pointer null). */
template <typename T>
inline void run(const LocalTensor<T> &dst, const LocalTensor<T> *x, T xs, const LocalTensor<T> *y, T ys, const LocalTensor<uint8_t> &tmp,
                uint32_t count, const acraft::Site &s)
{
    static_assert(SupportType<T, half, float, int32_t>(), "acraft: Power exists only for half, float and int32_t on Atlas A2");
    uint32_t chunk = tmp.GetSize() / (6 * 4);
    chunk = chunk >= 64 ? chunk / 64 * 64 : chunk / 8 * 8;
    if (chunk > count) chunk = (count + 63) / 64 * 64;
    if (chunk == 0) chunk = 8;
    F t[6];
    for (int i = 0; i < 6; i++) t[i] = acraft::math::buffer(tmp, chunk, i);
    for (uint32_t at = 0; at < count; at += chunk) {
        int n = int(count - at < chunk ? count - at : chunk);
        if (x) widen(t[4], (*x)[at], n, s);
        else Duplicate(t[4], float(xs), n, s);
        if (y) widen(t[5], (*y)[at], n, s);
        else Duplicate(t[5], float(ys), n, s);
        core(t[4], t[4], t[5], t, n, s);
        narrow(dst[at], t[4], n, s);
    }
}
}  // namespace power

#define ACRAFT_POWER(PARAMS, X, XS, Y, YS, SIZE)                                                   \
    template <typename T, bool isReuseSource = false>                                              \
    inline void Power(const LocalTensor<T> &dst, PARAMS, const LocalTensor<uint8_t> &tmp, uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        power::run<T>(dst, X, XS, Y, YS, tmp, calCount, site.in("Power"));                         \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void Power(const LocalTensor<T> &dst, PARAMS, uint32_t calCount, ACRAFT_SITE)           \
    {                                                                                              \
        power::run<T>(dst, X, XS, Y, YS, acraft::math::stack(), calCount, site.in("Power"));       \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void Power(const LocalTensor<T> &dst, PARAMS, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE) \
    {                                                                                              \
        power::run<T>(dst, X, XS, Y, YS, tmp, SIZE, site.in("Power"));                             \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void Power(const LocalTensor<T> &dst, PARAMS, ACRAFT_SITE)                              \
    {                                                                                              \
        power::run<T>(dst, X, XS, Y, YS, acraft::math::stack(), SIZE, site.in("Power"));           \
    }
#define ACRAFT_COMMA ,
ACRAFT_POWER(const LocalTensor<T> &a ACRAFT_COMMA const LocalTensor<T> &b, &a, T(0), &b, T(0), a.GetSize())
ACRAFT_POWER(const LocalTensor<T> &a ACRAFT_COMMA const T &b, &a, T(0), nullptr, b, a.GetSize())
ACRAFT_POWER(const T &a ACRAFT_COMMA const LocalTensor<T> &b, nullptr, a, &b, T(0), b.GetSize())
#undef ACRAFT_POWER
#undef ACRAFT_COMMA

}  // namespace AscendC

#endif
