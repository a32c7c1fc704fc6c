/* Which axes of a tensor are kept (A) and which are reduced (R), outermost first: kernels and tiling
 * functions name them alike. */
#ifndef ACRAFT_REDUCE_PATTERN_H
#define ACRAFT_REDUCE_PATTERN_H

#include <cstdint>

namespace AscendC {
enum class ReducePattern : uint32_t {
    AR, RA, R, ARA, ARAR, ARARA, ARARAR, ARARARA, ARARARAR, ARARARARA, RAR, RARA, RARAR, RARARA, RARARAR, RARARARA
};
}

#endif
