/* Random numbers as a function of (seed, stream, index). Only operations that IEEE 754 rounds
 * exactly are used, so that every machine and C library gives the same bits. */
#include "base/rng.h"
#include "base/attr.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* The finaliser of SplitMix64: a bijection in which each input bit moves half the output. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t rng_u64(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t x = mix(seed + 0x9E3779B97F4A7C15u);
    x = mix(x ^ (stream * 0xD1342543DE82EF95u + 0x632BE59BD9B4E019u));
    return mix(x + (index + 1) * 0x9E3779B97F4A7C15u);
}

static double to_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return to_unit(rng_u64(seed, stream, index));
}

enum { LOG_TERMS = 11 };
static const double log_odd[LOG_TERMS] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                          1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,
                                          1.0 / 5,  1.0 / 3,  1};

/* ln(x) for finite x > 0, by the series of 2 artanh((m-1)/(m+1)) around the nearest power of
 * two; the C library's log differs in the last bit between versions. */
static double natural_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (int k = 0; k < LOG_TERMS; k++)
        sum = sum * square + log_odd[k];
    return 2 * t * sum + exponent * 0.69314718055994531;
}

static const uint64_t NORMAL = 0x6E6F726D616Cu; /* sets these streams apart */

/* Marsaglia's polar method; the pair of try number k comes from a stream of its own. */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t base = rng_u64(seed ^ NORMAL, stream, index);
    for (uint64_t k = 0;; k += 2) {
        double a = 2 * to_unit(mix(base + k * 0x9E3779B97F4A7C15u)) - 1;
        double b = 2 * to_unit(mix(base + (k + 1) * 0x9E3779B97F4A7C15u)) - 1;
        double s = a * a + b * b;
        if (s > 0 && s < 1)
            return a * sqrt(-2 * natural_log(s) / s);
    }
}

/* ---- many at once ---- */

enum { RUN = 64 };

/* Numbers of which the pair of some try is looked at together. */
typedef struct Tries {
    uint32_t n;
    uint32_t at[RUN]; /* which number */
    uint64_t base[RUN];
    double a[RUN], s[RUN], log[RUN];
} Tries;

/* natural_log of each s, in steps that a compiler turns into vector instructions; of s outside (0, 1) nothing
 * sensible. */
static inline void take_logs(Tries *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t bits;
        double m, sum = 0;
        memcpy(&bits, &t->s[i], sizeof bits);
        int32_t exponent = (int32_t)(bits >> 52) - 1022;
        bits = (bits & 0xFFFFFFFFFFFFFu) | UINT64_C(1022) << 52;
        memcpy(&m, &bits, sizeof m);
        bool low = m < 0.70710678118654752;
        m = low ? 2 * m : m;
        exponent -= low;
        double u = (m - 1) / (m + 1), square = u * u;
        for (int k = 0; k < LOG_TERMS; k++)
            sum = sum * square + log_odd[k];
        t->log[i] = 2 * u * sum + exponent * 0.69314718055994531;
    }
}

static inline void take_pairs(Tries *t, uint64_t k)
{
    for (uint32_t i = 0; i < t->n; i++) {
        double a = 2 * to_unit(mix(t->base[i] + k * 0x9E3779B97F4A7C15u)) - 1;
        double b = 2 * to_unit(mix(t->base[i] + (k + 1) * 0x9E3779B97F4A7C15u)) - 1;
        t->a[i] = a;
        t->s[i] = a * a + b * b;
    }
}

static void try_any(Tries *t, uint64_t k)
{
    take_pairs(t, k);
    take_logs(t);
}

#if defined(__x86_64__)
ATTR_TARGET("avx2") static void try_avx2(Tries *t, uint64_t k)
{
    take_pairs(t, k);
    take_logs(t);
}

ATTR_TARGET("avx512f,avx512dq,avx512vl") static void try_avx512(Tries *t, uint64_t k)
{
    take_pairs(t, k);
    take_logs(t);
}

static void try_pairs(Tries *t, uint64_t k)
{
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        try_avx512(t, k);
    else if (__builtin_cpu_supports("avx2"))
        try_avx2(t, k);
    else
        try_any(t, k);
}
#else
static void try_pairs(Tries *t, uint64_t k) { try_any(t, k); }
#endif

/* Numbers whose pair is good are done; the others stay for the next try. */
static void keep_untried(Tries *t, double *out)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        double s = t->s[i];
        if (s > 0 && s < 1) {
            out[t->at[i]] = t->a[i] * sqrt(-2 * t->log[i] / s);
        } else {
            t->at[left] = t->at[i];
            t->base[left++] = t->base[i];
        }
    }
    t->n = left;
}

void rng_normals(uint64_t seed, uint64_t stream, uint64_t first, size_t n, double *out)
{
    Tries t;
    for (size_t i = 0; i < n; i += RUN) {
        t.n = n - i < RUN ? (uint32_t)(n - i) : RUN;
        for (uint32_t k = 0; k < t.n; k++) {
            t.at[k] = k;
            t.base[k] = rng_u64(seed ^ NORMAL, stream, first + i + k);
        }
        for (uint64_t k = 0; t.n; k += 2) {
            try_pairs(&t, k);
            keep_untried(&t, out + i);
        }
    }
}

int64_t rng_range(uint64_t seed, uint64_t stream, uint64_t index, int64_t lo, int64_t hi)
{
    if (hi <= lo)
        return lo;
    uint64_t width = (uint64_t)hi - (uint64_t)lo;
    unsigned __int128 scaled = (unsigned __int128)rng_u64(seed, stream, index) * width;
    return (int64_t)((uint64_t)lo + (uint64_t)(scaled >> 64));
}
