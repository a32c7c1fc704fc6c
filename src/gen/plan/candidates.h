/* What the planner considers for a task, with costs: for `acraft plan`. */
#ifndef GEN_PLAN_CANDIDATES_H
#define GEN_PLAN_CANDIDATES_H

#include "gen/plan/clock.h"

typedef struct PlanCandidate {
    Plan plan;  /* plan.schedule: its text; NULL: a strategy or a chain wrote it */
    bool timed; /* else values decide what it does, and `cost` says nothing */
    ClockCost cost;
    bool taken; /* `acraft make` builds it */
} PlanCandidate;

typedef struct PlanCandidates {
    VEC(PlanCandidate) rows; /* the fastest first, those that are not timed last */
    double least_us;         /* each operand once at the attainable rate, and a launch */
    const char *why;         /* the one that is taken is taken */
    const char *nest;        /* text of the loop nests; NULL: the task has none */
    const char
        *legend; /* which tensors and axes of the task their names stand for; NULL: as above */
    const char *no_nest; /* why there is no schedule of loop nests; NULL: there is */
} PlanCandidates;

/* Up to `most` schedules of loop nests are timed; 0: nothing is, and of nests the first schedule by analytic cost
 * is there. False, with a diagnostic: the task cannot be planned at all. */
bool plan_candidates(Arena *arena, const Graph *graph, const NpuChip *chip, uint32_t most,
                     PlanCandidates *out, Diag *diag);

#endif
