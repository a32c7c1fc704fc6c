/* The pooling strategy; it plans from the graph itself, since windows are no primitives. */
#ifndef GEN_PLAN_POOL_H
#define GEN_PLAN_POOL_H

#include "gen/plan/plan.h"

bool plan_pool(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);

#endif
