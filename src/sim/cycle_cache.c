/* The data cache of a core's scalar unit; see cycle_cache.h. */
#include "sim/cycle_cache.h"

#include <string.h>

static uint32_t set_of(uint64_t line)
{
    return (uint32_t)(line * 0x9E3779B97F4A7C15ull >> 40) % CACHE_SETS;
}

/* Whether the line was there. */
static bool touch_line(DataCache *cache, uint64_t line)
{
    uint32_t set = set_of(line), oldest = 0;
    uint64_t *lines = cache->line[set], *used = cache->used[set];
    cache->now++;
    for (uint32_t way = 0; way < CACHE_WAYS; way++) {
        if (lines[way] == line + 1) {
            used[way] = cache->now;
            return true;
        }
        oldest = used[way] < used[oldest] ? way : oldest;
    }
    lines[oldest] = line + 1;
    used[oldest] = cache->now;
    return false;
}

uint32_t data_cache_touch(DataCache *cache, uint64_t at, uint64_t bytes)
{
    uint32_t missing = 0;
    for (uint64_t line = at / CACHE_LINE; bytes && line <= (at + bytes - 1) / CACHE_LINE; line++)
        missing += !touch_line(cache, line);
    return missing;
}

void data_cache_drop(DataCache *cache, uint64_t at, bool all)
{
    uint64_t line = at / CACHE_LINE;
    uint32_t set = set_of(line);
    if (all)
        *cache = (DataCache){0};
    for (uint32_t way = 0; !all && way < CACHE_WAYS; way++)
        if (cache->line[set][way] == line + 1)
            cache->line[set][way] = cache->used[set][way] = 0;
}
