/* One operator along one dimension, of any dtype, for the stages of a chain:
 *
 *     column.c   running sums, products, extremes, log-sum-exp along another than the last one
 *     int_reduce.c  integers of a row added up, multiplied, compared
 *     sort.c        rows sorted, or their k largest
 *     select.c   elements under a mask */
#ifndef GEN_PLAN_LANES_H
#define GEN_PLAN_LANES_H

#include "gen/plan/plan.h"

bool plan_column(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag);
bool plan_int_reduce(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                     const char *name, Plan *plan, Diag *diag);
bool plan_sort(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);
bool plan_select(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag);

#endif
