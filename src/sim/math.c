/* Half conversions over arrays, exp and ln. See math.h.
 *
 * Every array function is compiled twice from the same lines, once for AVX2 where the machine has
 * it: wider vectors, the same IEEE operations, the same bits. */
#include "sim/math.h"
#include "base/attr.h"

#if defined(__x86_64__)
#define WIDE ATTR_TARGET("avx2")
#define HAS_WIDE (__builtin_cpu_supports("avx2") != 0)
#else
#define WIDE
#define HAS_WIDE false
#endif

/* Written with selections instead of branches so that the compiler makes vector code of it. */
static inline float widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7FFFu;
    uint32_t normal = (rest << 13) + (112u << 23);
    uint32_t special = normal + (112u << 23); /* infinity, NaN: exponent 255 */
    uint32_t tiny = math_bits((float)(int32_t)rest * 0x1p-24f);
    uint32_t bits = rest >= 0x7C00 ? special : rest >= 0x0400 ? normal : tiny;
    return math_float(sign | bits);
}

static inline uint16_t narrow(float value)
{
    uint32_t bits = math_bits(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7FFFFFFF;
    uint32_t normal = ((rest + 0xFFF + (rest >> 13 & 1)) >> 13) - (112u << 10);
    /* Adding 1/2 makes the float unit round at 2^-24, the unit of a subnormal half. */
    uint32_t tiny = math_bits(math_float(rest) + 0.5f) - 0x3F000000;
    uint32_t half = rest < 0x38800000 ? tiny : normal;
    half = rest >= 0x477FF000 ? 0x7C00u : half;
    half = rest > 0x7F800000 ? 0x7E00u : half;
    return (uint16_t)(sign | half);
}

/* name(to, from, n) applies `one` to every element. */
#define ARRAY(name, out, in, one)                                   \
    static void name##_plain(out *to, const in *from, size_t n)     \
    {                                                               \
        for (size_t i = 0; i < n; i++)                              \
            to[i] = one(from[i]);                                   \
    }                                                               \
    WIDE static void name##_wide(out *to, const in *from, size_t n) \
    {                                                               \
        for (size_t i = 0; i < n; i++)                              \
            to[i] = one(from[i]);                                   \
    }                                                               \
    static void name(out *to, const in *from, size_t n)             \
    {                                                               \
        (HAS_WIDE ? name##_wide : name##_plain)(to, from, n);       \
    }

ARRAY(widen_array, float, uint16_t, widen)
ARRAY(narrow_array, uint16_t, float, narrow)

void math_half_to_float(float *to, const uint16_t *from, size_t n)
{
    if (n == 1)
        *to = widen(*from);
    else
        widen_array(to, from, n);
}

static uint16_t saturated(uint16_t half)
{
    uint16_t rest = half & 0x7FFF;
    if (rest > 0x7C00)
        return 0;
    return rest == 0x7C00 ? (uint16_t)((half & 0x8000) | 0x7BFF) : half;
}

void math_float_to_half(uint16_t *to, const float *from, size_t n, bool saturate)
{
    if (n == 1)
        *to = narrow(*from);
    else
        narrow_array(to, from, n);
    for (size_t i = 0; saturate && i < n; i++)
        to[i] = saturated(to[i]);
}

static inline double double_from(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b39p-40

/* exp(x) = 2^k exp(r), |r| <= ln2/2, by its Taylor series in double: 1e-11 relative. */
static inline float exp_one(float value)
{
    double x = (double)value;
    x = x > 89.0 ? 89.0 : x;
    x = x < -105.0 ? -105.0 : x;
    const double shift = 0x1.8p52;
    double moved = x * 0x1.71547652b82fep0 + shift;
    double k = moved - shift;
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double p = 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    /* The low bits of `moved` hold k as an integer. */
    double scale = double_from((double_bits(moved) + 1023) << 52);
    return (float)(p * scale);
}

/* ln(m 2^e) = e ln2 + 2 atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt(2)). */
static inline float ln_one(float value)
{
    double x = (double)value;
    uint64_t bits = double_bits(x);
    uint64_t fraction = bits & 0xFFFFFFFFFFFFFull;
    uint64_t up = fraction >= 0x6A09E667F3BCDull ? 1 : 0;
    double m = double_from(fraction | ((1023 - up) << 52));
    double e = (double)(int32_t)((bits >> 52) & 0x7FF) - 1023.0 + (double)(int32_t)up;
    double f = (m - 1.0) / (m + 1.0), s = f * f;
    double p = 1.0 / 13;
    p = p * s + 1.0 / 11;
    p = p * s + 1.0 / 9;
    p = p * s + 1.0 / 7;
    p = p * s + 1.0 / 5;
    p = p * s + 1.0 / 3;
    p = p * s + 1.0;
    double result = (e * LN2_HIGH + 2.0 * f * p) + e * LN2_LOW;
    float answer = (float)result;
    answer = x == 0.0 ? -__builtin_inff() : answer;
    answer = x < 0.0 ? __builtin_nanf("") : answer;
    answer = value > 0x1.fffffep127f ? value : answer;
    return value != value ? value : answer;
}

float math_exp(float x) { return exp_one(x); }
float math_ln(float x) { return ln_one(x); }

ARRAY(exp_array, float, float, exp_one)
ARRAY(ln_array, float, float, ln_one)

static void add_scaled_plain(double *sum, const double *line, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += factor * line[i];
}

WIDE static void add_scaled_wide(double *sum, const double *line, double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += factor * line[i];
}

void math_add_scaled(double *sum, const double *line, double factor, size_t n)
{
    (HAS_WIDE ? add_scaled_wide : add_scaled_plain)(sum, line, factor, n);
}

void math_exp_array(float *to, const float *from, size_t n) { exp_array(to, from, n); }
void math_ln_array(float *to, const float *from, size_t n) { ln_array(to, from, n); }
