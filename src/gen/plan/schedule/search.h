/* The search for a schedule: bands and roles by analytic cost, then programs timed by the cycle model. */
#ifndef GEN_PLAN_SCHEDULE_SEARCH_H
#define GEN_PLAN_SCHEDULE_SEARCH_H

#include "gen/plan/clock.h"
#include "gen/plan/schedule/schedule.h"

/* A program for one schedule. */
typedef struct PlanBuilt {
    Nest *nest;
    Schedule schedule; /* as it fits on chip */
    Plan plan;
    bool timed;
    ClockCost cost; /* where it is timed */
} PlanBuilt;

typedef VEC(PlanBuilt) PlanTried;

/* Plans a graph as one kernel from its nests: maps, reductions, views, joins. False, with a diagnostic:
 * an operator is not understood, or no schedule is legal. */
bool plan_nest(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);
/* Searches and returns every program that was timed on the way, `most` of them at most, whatever
 * the task's size. *best is the number of the one that is kept. */
bool plan_nest_tried(Arena *arena, const Graph *graph, const NpuChip *chip, const char *name,
                     uint32_t most, PlanTried *tried, uint32_t *best, Diag *diag);
/* The program of the schedule that the text says (docs/planner.md). False, with a diagnostic at its place in
 * the text. */
bool plan_nest_text(Arena *arena, const Graph *graph, const NpuChip *chip, const char *file,
                    Str text, const char *name, PlanBuilt *built, Diag *diag);

/* One point of the schedule space. */
typedef struct PlanPoint {
    uint32_t roles;   /* of every band: 0 those of least analytic cost, 1 the next ones, ... */
    int64_t parts;    /* pieces of work for each core, about */
    uint32_t smaller; /* tiles are reduced by a quarter so many times */
    bool rounded; /* tiles are powers of two, at most half of what fits, not fitted to the byte */
} PlanPoint;

/* A program for one point: one kernel, no branches on sizes, no comments. False, with a diagnostic: no such
 * roles, or they cannot be built. */
bool plan_nest_at(Arena *arena, const Graph *graph, const NpuChip *chip, const PlanPoint *point,
                  const char *name, PlanBuilt *built, Diag *diag);

#endif
