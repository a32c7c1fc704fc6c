/* How many cores and which pieces a task of one axis is worth. */
#ifndef GEN_PLAN_CORES_H
#define GEN_PLAN_CORES_H

#include "base/arena.h"

/* What an element of the axis costs: bytes in, bytes out, vector cycles of 64 of them, in how many
 * instructions. */
typedef struct CoresWork {
    double in, out, cycles, calls;
} CoresWork;

/* n elements are worth all cores from `least` on, and sqrt(factor n) of those with a port alone below. */
typedef struct CoresRule {
    double factor, least;
} CoresRule;

CoresRule cores_rule(CoresWork work);

/* The cycles of 64 elements, with what `calls` instructions of `elements` each take before their first one. */
double cores_cycles(double cycles, double calls, double elements);

/* Lines of a host function that has `tile`: they set `cores` and `piece`. */
const char *cores_lines(Arena *arena, const char *axis, CoresWork work);

#endif
