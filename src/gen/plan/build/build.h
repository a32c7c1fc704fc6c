/* From a schedule to a Craft program. */
#ifndef GEN_PLAN_BUILD_BUILD_H
#define GEN_PLAN_BUILD_BUILD_H

#include "gen/plan/plan.h"
#include "gen/plan/schedule/schedule.h"

/* Plans a graph as one kernel from its nests: maps, reductions, views, joins. False, with a diagnostic:
 * an operator is not understood, or no schedule is legal. */
bool plan_nest(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);

/* One point of the schedule space. */
typedef struct PlanPoint {
    uint32_t roles;   /* of every band: 0 those of least analytic cost, 1 the next ones, ... */
    int64_t parts;    /* pieces of work for each core, about */
    uint32_t smaller; /* tiles are reduced by a quarter so many times */
} PlanPoint;

enum { PLAN_POINT_ROLES = 8 };

/* A program for one schedule: one kernel, no branches on sizes, no comments. */
typedef struct PlanBuilt {
    Nest *nest;
    Schedule schedule; /* as it fits on chip */
    Plan plan;
} PlanBuilt;

/* False, with a diagnostic: no such roles, or they cannot be built. */
bool plan_nest_at(Arena *arena, const Graph *graph, const NpuChip *chip, const PlanPoint *point,
                  const char *name, PlanBuilt *built, Diag *diag);

#endif
