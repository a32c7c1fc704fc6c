/* The data cache of a core's scalar unit; inside src/sim only.
 *
 *     scalar unit ── data cache, 32 KiB in lines of 64 bytes ── L2 ── GM
 *
 * A read of GM by the scalar unit finds its line there or waits until it has come. What is stored stays in the cache and
 * holds up nothing. Vendor documents state size and line (asc-devkit docs/zh: hardware constraints of NPU architecture 2201,
 * the overview of caches); they do not state in how many ways it is divided: here a line may lie in 16 places, and the one
 * that was used longest ago makes room. */
#ifndef SIM_CYCLE_CACHE_H
#define SIM_CYCLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_LINE = 64, CACHE_WAYS = 16, CACHE_SETS = 32768 / CACHE_LINE / CACHE_WAYS };

typedef struct DataCache {
    uint64_t line[CACHE_SETS][CACHE_WAYS]; /* 1 + number of the line; 0: none */
    uint64_t used[CACHE_SETS][CACHE_WAYS];
    uint64_t now; /* uses so far */
} DataCache;

/* How many lines `bytes` at `at` bring in; they are there afterwards. */
uint32_t data_cache_touch(DataCache *cache, uint64_t at, uint64_t bytes);

/* The line that holds `at` leaves, or all. */
void data_cache_drop(DataCache *cache, uint64_t at, bool all);

#endif
