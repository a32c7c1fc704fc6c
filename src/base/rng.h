/* Random numbers without state: the same (seed, stream, index) gives the same number on every
 * machine, in any order, on any thread. A stream is one tensor, one test, one choice. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

uint64_t rng_u64(uint64_t seed, uint64_t stream, uint64_t index);
double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* [0, 1), 53 bits */
double rng_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* rng_normal of `first`, `first` + 1, ...: the same numbers, some times faster. */
void rng_normals(uint64_t seed, uint64_t stream, uint64_t first, size_t n, double *out);
/* Uniform over lo .. hi-1; lo when the range is empty. */
int64_t rng_range(uint64_t seed, uint64_t stream, uint64_t index, int64_t lo, int64_t hi);

#endif
