/* Last bits that no document fixes: with a seed, results of instructions whose row in isa.def allows
 * an error are moved by up to that many units in the last place, in the same direction in every run. */
#ifndef SIM_NUDGE_H
#define SIM_NUDGE_H

#include "sim/vec.h"

typedef struct Nudge {
    VecKernel *kernel; /* what computes */
    const void *args;
    uint32_t bytes; /* of a result: 4 float, 2 half */
    uint32_t most;  /* units in the last place */
    uint64_t seed;
    uint64_t index; /* of the next element */
} Nudge;

/* True when this instruction is one to nudge. */
bool nudge_plan(const VecPlan *p, VecKernel *kernel, const void *args, Nudge *nudge);
void nudge_kernel(void *d, const void *a, const void *b, uint32_t count, const void *arguments);

#endif
