/* Where the largest or smallest element stands. */
#ifndef GEN_PLAN_ARG_H
#define GEN_PLAN_ARG_H

#include "gen/plan/plan.h"

bool plan_arg(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
              const char *name, Plan *plan, Diag *diag);

#endif
