/* From a schedule to a Craft program. */
#ifndef GEN_PLAN_BUILD_BUILD_H
#define GEN_PLAN_BUILD_BUILD_H

#include "gen/plan/plan.h"

/* Plans a graph as one kernel from its nests: maps, reductions, views, joins. False, with a diagnostic:
 * an operator is not understood, or no schedule is legal. */
bool plan_nest(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);

#endif
