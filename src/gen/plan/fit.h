/* Does a planned program fit into UB, scratch of the compiler included, and into the queue slots? */
#ifndef GEN_PLAN_FIT_H
#define GEN_PLAN_FIT_H

#include "base/str.h"
#include "npu/npu.h"

/* Bit i: of the kernel that stands at place i in the text. None: all is well, or the program is
 * refused for another reason. */
typedef struct Fit {
    uint64_t exceeds; /* UB */
    uint64_t crowded; /* the queue slots of one direction */
} Fit;

Fit fit_program(Str craft, const NpuChip *chip);
/* The message about the first thing that does not fit; NULL: everything fits. */
const char *fit_reason(Arena *arena, Str craft, const NpuChip *chip);
/* Whether a program fits whose parts fit alone; lowers it without proving anything. */
bool fit_lowered(Str craft, const NpuChip *chip);

#endif
