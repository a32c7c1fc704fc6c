/* How many cores and which pieces a task of one axis is worth. */
#ifndef GEN_PLAN_CORES_H
#define GEN_PLAN_CORES_H

#include "base/arena.h"

/* Lines of a host function that has `tile`: they set `cores` and `piece`, for `bytes` read (and half
 * of those written) per element of the axis. */
const char *cores_lines(Arena *arena, const char *axis, double bytes);

#endif
