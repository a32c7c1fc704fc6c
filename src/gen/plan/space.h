/* The iteration space of a task: its axes in memory order, neighbours that always go together
 * made one, each kept or reduced. */
#ifndef GEN_PLAN_SPACE_H
#define GEN_PLAN_SPACE_H

#include "gen/plan/plan.h"
#include "gen/plan/prim.h"

typedef struct SpaceAxis {
    uint64_t members; /* bits of prim axes */
    int64_t size;     /* in the task at hand */
    bool reduced, scanned;
    const char *name; /* "n0" */
} SpaceAxis;

typedef struct Space {
    uint32_t len;
    SpaceAxis axis[PLAN_MAX_AXES];
    uint32_t kept, reduced, scanned; /* how many of each */
    uint64_t outer;  /* prim axes of a second reduction, over everything that is kept */
    uint64_t across; /* the same, where what it takes varies along what is reduced */
} Space;

/* False, with a diagnostic, when the tensors disagree about the order of axes, or reductions
 * about which axes they take. */
bool space_make(PrimGraph *g, Space *space);
uint64_t space_reduced(const Space *space); /* prim axes that are reduced, as bits */
/* Axes of the space that the primitive varies along, as bits. */
uint32_t space_axes(const Space *space, uint64_t prim_axes);

#endif
