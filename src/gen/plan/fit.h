/* Does a planned program fit into UB, scratch of the compiler included? */
#ifndef GEN_PLAN_FIT_H
#define GEN_PLAN_FIT_H

#include "base/str.h"
#include "npu/npu.h"

/* Bit i: the kernel that stands at place i in the text does not fit. 0: all do, or the program is
 * refused for another reason. */
uint64_t fit_exceeds(Str craft, const NpuChip *chip);

#endif
