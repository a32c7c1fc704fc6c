/* Units: reductions that are accumulated together, lane by lane.
 *
 *     plain     acc = acc + x                         folded once, behind the loop
 *     online    m = max(m, x), s = sum exp(x - m)     softmax and logsumexp in one pass
 *     moments   sum (x - k), sum (x - k)^2            mean and variance in one pass; k is the mean
 *                                                     of the first tile, so that nothing cancels
 *
 * In two dimensions each row has its accumulator, and the rows of a tile are folded into them by
 * vector instructions. In one dimension an accumulator is as wide as the tile. Either way the
 * scalar unit is not waited for inside the loop. */
#ifndef GEN_PLAN_UNITS_H
#define GEN_PLAN_UNITS_H

#include "gen/plan/write.h"

typedef enum UnitKind { UNIT_PLAIN, UNIT_ONLINE, UNIT_MOMENTS } UnitKind;

typedef struct Unit {
    UnitKind kind;
    PrimId first, second; /* the reductions; second 0: plain */
    PrimId of;            /* what is reduced */
    const char *lane[2];  /* accumulators */
    const char *shift;    /* moments: k */
} Unit;

typedef VEC(Unit) UnitList;

extern const char *const unit_starts[]; /* by PrimReduce: the neutral element */
extern const char *const unit_steps[];  /* two operands: "%s + %s" */
extern const char *const unit_folds[];  /* "reduce_sum" */
const char *unit_format(Writer *w, const char *form, const char *so_far, const char *operand);

/* Finds the reductions that can be computed with one they need: fills w->pair. */
void units_pair(Writer *w);
/* The units of a pass. */
UnitList units_of(Writer *w, uint32_t pass);

/* Accumulators at their start; statements for the body, with their own compute stage. */
void unit_start(Writer *w, Unit *u);
/* Inside `with compute()`. `first`: a condition that holds for the first tile only; tiles of
 * lanes that are results themselves take a copy of it as k. */
void unit_step(Writer *w, Unit *u, const char *first);
/* Behind the loop, inside `with compute()`: the results get their names. Scalars where the last
 * axis is reduced, else the lanes themselves. */
void unit_finish(Writer *w, Unit *u);

#endif
