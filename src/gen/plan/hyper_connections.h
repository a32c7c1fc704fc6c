/* Hyper-connections: a few residual streams of each token mixed by small matrices. */
#ifndef GEN_PLAN_HYPER_CONNECTIONS_H
#define GEN_PLAN_HYPER_CONNECTIONS_H

#include "gen/plan/plan.h"

bool plan_hyper_connections(Arena *arena, const Graph *graph, const NpuChip *chip,
                            int64_t tile_limit, const char *name, Plan *plan, Diag *diag);

#endif
