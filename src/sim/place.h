/* Where a launch has its GM, and what heads its workspace: the same for records from text and
 * from a lowered program. */
#ifndef SIM_PLACE_H
#define SIM_PLACE_H

#include <stdint.h>

/* GM starts where no program is ever loaded; a hole of at least one page follows each region. */
#define SIM_GM_BASE 0x100000000000ull
#define SIM_GM_PAGE 4096ull
#define SIM_GM_STEP (1ull << 21)

/* The system's part at the head of every workspace; the vendor's GetLibApiWorkSpaceSize. */
#define SIM_SYSTEM_WORKSPACE (16ull << 20)

/* In a run without values, a region is a short pattern of arbitrary bytes, mapped again and again. The
 * pattern's length is a power of two between these bounds, such that 128 copies cover all regions. */
#define SIM_PATTERN_LEAST (1ull << 20)
#define SIM_PATTERN_MOST (1ull << 25)
#define SIM_PATTERN_PIECES 128ull
/* rng streams: of that pattern; of an on-chip memory its NpuSpace */
#define SIM_PATTERN_STREAM 78ull

static inline uint64_t sim_gm_after(uint64_t address, uint64_t bytes)
{
    return address + (bytes + SIM_GM_PAGE + SIM_GM_STEP - 1) / SIM_GM_STEP * SIM_GM_STEP;
}

/* total: bytes of all tensors and of the whole workspace. */
static inline uint64_t sim_pattern_bytes(uint64_t total)
{
    uint64_t bytes = SIM_PATTERN_LEAST;
    while (bytes < SIM_PATTERN_MOST && bytes < total / SIM_PATTERN_PIECES)
        bytes *= 2;
    return bytes;
}

#endif
