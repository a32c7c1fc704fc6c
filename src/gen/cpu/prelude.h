/* What generated kernels use: functions that a compiler turns into vector instructions (no branches, no calls),
 * joins of reductions, element types, stores that leave the caches alone. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* One copy of a kernel for each generation of vector units; the machine's own is taken when the program is
 * loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
/* By what a processor can do: names of one maker's models would leave the others with the default. */
#define VERSIONS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define VERSIONS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VERSIONS
#endif
#define INLINE static inline __attribute__((always_inline, unused))

INLINE float bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

INLINE uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Element types: f16 and bf16 as their bits, rounded to nearest, ties to even. */
INLINE float f16_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = (uint32_t)(h & 0x7fffu) << 13;
    const float scaled = bits_float(rest) * 0x1p112f;
    const uint32_t special = rest | 0x7f800000u; /* inf and nan */
    return bits_float((rest >= 0x0f800000u ? special : float_bits(scaled)) | sign);
}

INLINE uint16_t float_f16(float x)
{
    const uint32_t u = float_bits(x), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    const uint32_t small = float_bits(bits_float(a) + 0.5f) - 0x3f000000u; /* no normal f16 */
    const uint32_t normal = (a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13;
    const uint32_t large = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return (uint16_t)((a < 0x38800000u ? small : a >= 0x477ff000u ? large : normal) | sign);
}

INLINE float bf16_float(uint16_t h) { return bits_float((uint32_t)h << 16); }

INLINE uint16_t float_bf16(float x)
{
    const uint32_t u = float_bits(x), even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return (uint16_t)(x != x ? 0x7fc0u : even);
}

/* Functions. Maxima and minima give NaN where an operand is NaN, as PyTorch's do. */
INLINE float op_max(float a, float b) { return a > b || a != a ? a : b; }
INLINE float op_min(float a, float b) { return a < b || a != a ? a : b; }
INLINE float op_abs(float x) { return fabsf(x); }
INLINE float op_sign(float x) { return x != x ? x : (float)((x > 0.0f) - (x < 0.0f)); }
INLINE float op_where(int c, float a, float b) { return c ? a : b; }

/* exp(x) = 2^n exp(r), |r| <= log(2) / 2; the scale in two steps, so that results below the least normal number
 * are rounded once. */
INLINE float op_exp(float x)
{
    const float c = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
    const float shifted = c * 1.4426950408889634f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (c - n * 0.693359375f) + n * 2.12194440e-4f;
    const int32_t k = (int32_t)float_bits(shifted) - 0x4b400000, half = k >> 1;
    float p = 1.3951720e-3f;
    p = p * r + 8.3695982e-3f;
    p = p * r + 4.1666187e-2f;
    p = p * r + 0.16666513f;
    p = p * r + 0.50000001f;
    p = p * (r * r) + r + 1.0f;
    return p * bits_float((uint32_t)(half + 127) << 23) *
           bits_float((uint32_t)(k - half + 127) << 23);
}

/* log(x) = e log(2) + log(1 + f), 1 + f between 1 / sqrt(2) and sqrt(2). */
INLINE float op_log(float x)
{
    const int tiny = x < 0x1p-126f;
    const uint32_t u = float_bits(tiny ? x * 0x1p23f : x);
    const int32_t up = (int32_t)(u - 0x3f3504f3u) >> 23;
    const float f = bits_float(u - ((uint32_t)up << 23)) - 1.0f;
    const float e = (float)(up - (tiny ? 23 : 0));
    float p = 6.9210414e-2f;
    p = p * f - 0.11780693f;
    p = p * f + 0.11865130f;
    p = p * f - 0.12385553f;
    p = p * f + 0.14220022f;
    p = p * f - 0.16669216f;
    p = p * f + 0.20002146f;
    p = p * f - 0.24999986f;
    p = p * f + 0.33333312f;
    const float y = ((p * f - 0.5f) * f * f + e * -2.12194440e-4f) + f + e * 0.693359375f;
    const float edge = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
    return x > 0.0f && x < INFINITY ? y : edge;
}

INLINE float op_log1p(float x)
{
    const float u = 1.0f + x, y = op_log(u) + (x - (u - 1.0f)) / u;
    return u < INFINITY && u > 0.0f ? y : op_log(u);
}

INLINE float op_tanh(float x)
{
    const float a = fabsf(x), t = x * x;
    float p = -5.5731526e-3f;
    p = p * t + 2.0531656e-2f;
    p = p * t - 5.3711402e-2f;
    p = p * t + 0.13331186f;
    p = p * t - 0.33333277f;
    const float near = x + x * t * p, far = 1.0f - 2.0f / (op_exp(a + a) + 1.0f);
    return a < 0.65f ? near : copysignf(far, x);
}

INLINE float op_erf(float x)
{
    const float a = fabsf(x), t = x * x, c = a < 4.0f ? a : a != a ? a : 4.0f;
    float p = 7.8891232e-5f, q = 2.5129771e-7f;
    p = p * t - 8.0208423e-4f;
    p = p * t + 5.1895354e-3f;
    p = p * t - 2.6854445e-2f;
    p = p * t + 0.11283600f;
    p = p * t - 0.37612627f;
    p = p * t + 1.1283792f;
    q = q * c - 2.5314404e-5f;
    q = q * c + 4.6378560e-4f;
    q = q * c - 4.2823745e-3f;
    q = q * c + 2.5373539e-2f;
    q = q * c - 0.10863898f;
    q = q * c - 0.63303963f;
    q = q * c - 1.1296611f;
    q = q * c + 2.0435848e-4f;
    return a < 1.0f ? x * p : copysignf(1.0f - op_exp(q), x);
}

INLINE float op_log2(float x) { return op_log(x) * 1.4426950408889634f; }
INLINE float op_log10(float x) { return op_log(x) * 0.43429448190325183f; }
INLINE float op_sqrt(float x) { return sqrtf(x); }
INLINE float op_rsqrt(float x) { return 1.0f / sqrtf(x); }
INLINE float op_recip(float x) { return 1.0f / x; }
INLINE float op_sin(float x) { return sinf(x); }
INLINE float op_cos(float x) { return cosf(x); }
INLINE float op_tan(float x) { return tanf(x); }
INLINE float op_asin(float x) { return asinf(x); }
INLINE float op_acos(float x) { return acosf(x); }
INLINE float op_atan(float x) { return atanf(x); }
INLINE float op_sinh(float x) { return sinhf(x); }
INLINE float op_cosh(float x) { return coshf(x); }
INLINE float op_pow(float x, float y) { return powf(x, y); }
INLINE float op_floor(float x) { return floorf(x); }
INLINE float op_ceil(float x) { return ceilf(x); }
INLINE float op_trunc(float x) { return truncf(x); }
INLINE float op_round(float x) { return rintf(x); }
INLINE float op_relu(float x) { return op_max(x, 0.0f); }
INLINE float op_sigmoid(float x) { return 1.0f / (1.0f + op_exp(-x)); }
INLINE float op_silu(float x) { return x / (1.0f + op_exp(-x)); }
INLINE float op_gelu(float x) { return 0.5f * x * (1.0f + op_erf(x * 0.70710678118654752f)); }
INLINE float op_softplus(float x) { return op_max(x, 0.0f) + op_log1p(op_exp(-fabsf(x))); }
INLINE float op_mish(float x) { return x * op_tanh(op_softplus(x)); }

enum { as_f32, as_f16, as_bf16, as_i32, as_rint };
#define op_cast(x, ...) cast_as(x, __VA_ARGS__, 0)
#define cast_as(x, to, ...) cast_to(x, to)
INLINE float cast_to(float x, int to)
{
    return to == as_f16    ? f16_float(float_f16(x))
           : to == as_bf16 ? bf16_float(float_bf16(x))
           : to == as_i32  ? rintf(x)
                           : x;
}

/* How partial results are joined, and what joins without effect. */
#define none_sum 0.0f
#define none_prod 1.0f
#define none_max (-INFINITY)
#define none_min INFINITY
#define none_logsumexp (-INFINITY)
INLINE float join_sum(float a, float b) { return a + b; }
INLINE float join_prod(float a, float b) { return a * b; }
INLINE float join_max(float a, float b) { return op_max(a, b); }
INLINE float join_min(float a, float b) { return op_min(a, b); }
INLINE float join_logsumexp(float a, float b)
{
    const float most = op_max(a, b), least = op_min(a, b);
    return least == -INFINITY ? most : most + op_log1p(op_exp(least - most));
}

/* The join of n lanes, which it overwrites: each step joins the second half to the first. */
#define FOLD(name)                                     \
    INLINE float fold_##name(float *r, int n)          \
    {                                                  \
        while (n > 1) {                                \
            const int half = (n + 1) / 2;              \
            for (int i = 0; i < n - half; i++)         \
                r[i] = join_##name(r[i], r[i + half]); \
            n = half;                                  \
        }                                              \
        return r[0];                                   \
    }
FOLD(sum)
FOLD(prod)
FOLD(max)
FOLD(min)
FOLD(logsumexp)

/* Results that nobody reads soon go past the caches: memory is not read before it is written. */
INLINE void stream_out(float *restrict to, const float *restrict from, int n)
{
    int i = 0;
#if defined(__x86_64__)
    for (; i < n && (uintptr_t)(to + i) % 16; i++)
        to[i] = from[i];
    for (; i + 4 <= n; i += 4)
        _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
    for (; i < n; i++)
        to[i] = from[i];
}

/* A thread's block of a product and its panels of both factors; all products of the file share them, as they lie on the
 * thread's stack. */
enum { product_rows = 384, product_columns = 256, product_slice = 256 };
__attribute__((unused)) static _Thread_local float product_sums[product_rows * product_columns],
    product_left[product_rows * product_slice], product_right[product_columns * product_slice];

/* 6 x 16 sums of products over n places: `left` has 6 numbers for each, `right` 16. They are added to c, whose rows stand
 * `apart` numbers from each other. */
typedef float Sixteen __attribute__((vector_size(64), aligned(4), may_alias));
INLINE void product_tile(float *restrict c, int64_t apart, const float *restrict left,
                         const float *restrict right, int n)
{
    Sixteen s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0};
    for (int k = 0; k < n; k++) {
        const Sixteen b = *(const Sixteen *)(right + 16 * k);
        s0 += left[6 * k] * b;
        s1 += left[6 * k + 1] * b;
        s2 += left[6 * k + 2] * b;
        s3 += left[6 * k + 3] * b;
        s4 += left[6 * k + 4] * b;
        s5 += left[6 * k + 5] * b;
    }
    *(Sixteen *)c += s0;
    *(Sixteen *)(c + apart) += s1;
    *(Sixteen *)(c + 2 * apart) += s2;
    *(Sixteen *)(c + 3 * apart) += s3;
    *(Sixteen *)(c + 4 * apart) += s4;
    *(Sixteen *)(c + 5 * apart) += s5;
}
