/* Indexing: rows taken, added or replaced by number, elements gathered and scattered in rows. */
#ifndef GEN_PLAN_INDEX_H
#define GEN_PLAN_INDEX_H

#include "gen/plan/plan.h"

bool plan_index(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag);

#endif
