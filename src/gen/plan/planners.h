/* The strategies that choose.c tries, in this order. Each says false, with a diagnostic,
 * when the task is not for it. */
#ifndef GEN_PLAN_PLANNERS_H
#define GEN_PLAN_PLANNERS_H

#include "gen/plan/arg.h"
#include "gen/plan/chain.h"
#include "gen/plan/elementwise.h"
#include "gen/plan/index.h"
#include "gen/plan/lanes.h"
#include "gen/plan/move.h"
#include "gen/plan/pool.h"
#include "gen/plan/resize.h"
#include "gen/plan/rewrite.h"
#include "gen/plan/hyper_connections.h"

/* From primitives: maps, reductions, scans, norms, losses of floats. */
bool plan_prims(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag);

/* Constant padding of the last dimensions, many rows at once. */
bool plan_pad(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
              const char *name, Plan *plan, Diag *diag);

/* One direction of one recurrent layer. */
bool plan_recurrent(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                    const char *name, Plan *plan, Diag *diag);

/* One kernel, or a few that one planner makes: without a chain. */
bool plan_alone(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                Plan *plan, Diag *diag);

/* The graph whose loop nests a task has: its own, or where that has none the rewritten one; *outer then has the
 * task's value for each of its operands. NULL, with a diagnostic: there is none. */
const Graph *plan_nest_graph(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag);

bool plan_is_valid(Arena *arena, const Plan *plan);

#endif
