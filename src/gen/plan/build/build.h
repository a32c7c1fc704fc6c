/* From a schedule to a Craft program. */
#ifndef GEN_PLAN_BUILD_BUILD_H
#define GEN_PLAN_BUILD_BUILD_H

#include "gen/plan/plan.h"
#include "gen/plan/schedule/schedule.h"

enum {
    BUILD_DEPTH = 2
}; /* buffers of a copy, so that the next one runs while it is computed with */

typedef struct BuildTask {
    Arena *arena;
    Nest *nest; /* with the schedule's shared reductions */
    const NpuChip *chip;
    const char *name;
    bool bare; /* one kernel, no comments */
} BuildTask;

/* The program of just this schedule. False, with a diagnostic: it cannot be built or does not fit on chip. */
bool build_plan(const BuildTask *task, const Schedule *schedule, Plan *plan, Diag *diag);
/* Builds the schedule with smaller tiles and fewer buffers until it fits, and adds a second
 * kernel for sizes at which an axis is no longer whole on chip. The schedule becomes what was
 * built. */
bool build_fit(const BuildTask *task, Schedule *schedule, Plan *plan, Diag *diag);
/* Smaller tiles. False: nothing is left to give. */
bool build_shrink(Schedule *schedule);

#endif
