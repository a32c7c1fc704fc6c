/* Random numbers as a function of (seed, stream, index). Only operations that IEEE 754 rounds
 * exactly are used, so that every machine and C library gives the same bits. */
#include "base/rng.h"
#include <math.h>
#include <stddef.h>

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
    static const double odd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1};
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        sum = sum * square + odd[k];
    return 2 * t * sum + exponent * 0.69314718055994531;
}

/* Marsaglia's polar method; the pair of try number k comes from a stream of its own. */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t base = rng_u64(seed ^ 0x6E6F726D616Cu, stream, index);
    for (uint64_t k = 0;; k += 2) {
        double a = 2 * to_unit(mix(base + k * 0x9E3779B97F4A7C15u)) - 1;
        double b = 2 * to_unit(mix(base + (k + 1) * 0x9E3779B97F4A7C15u)) - 1;
        double s = a * a + b * b;
        if (s > 0 && s < 1)
            return a * sqrt(-2 * natural_log(s) / s);
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
