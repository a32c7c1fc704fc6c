/* The decisions that a program takes at given sizes, as a set that can be compared for two sizes.
 *
 *     IrDecisions *small, *full;
 *     ir_decide(arena, p, chip, &small_shapes, seed, &small, &diag);
 *     ir_decide(arena, p, chip, &full_shapes, seed, &full, &diag);
 *     if (!ir_decided_in(p, full, small, &place)) ... full size goes where no values were seen
 *
 * The host function and its kernels are walked without data, on every kind of core: each launch, `if`,
 * `a if c else b`, comparison, min, max, abs, //, %, loop and extent notes its outcome (which side; zero, one
 * or more; a whole last tile or a part of one). Long loops and many cores are sampled: their first, their
 * last, and some drawn by the seed. Where a value read from memory decides, both sides are walked. */
#ifndef IR_DECIDE_H
#define IR_DECIDE_H

#include "ir/host.h"

typedef struct IrDecisions IrDecisions;

/* False with a diagnostic: the operator refuses these shapes, or the walk is too long. */
bool ir_decide(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
               uint64_t seed, IrDecisions **decisions, Diag *diag);
/* Whether everything decided in `full` was decided so in `seen`; if not, where the first is. That a loop
 * turns never, once or often may have been in any of the `others` instead. */
bool ir_decided_in(const IrProgram *p, const IrDecisions *full, const IrDecisions *seen,
                   IrDecisions *const *others, uint32_t n, Span *place);

/* Outcomes of conditions, comparisons and operators of sizes (not: how often a loop turns, how long a piece is) that
 * `one` has and none of `seen`; *branches: those of conditions among them. */
uint32_t ir_decided_new(const IrProgram *p, const IrDecisions *one, IrDecisions *const *seen,
                        uint32_t n, uint32_t *branches);
/* Whether a branch has gone one way only in all of `seen`. */
bool ir_decided_one_way(const IrProgram *p, IrDecisions *const *seen, uint32_t n);
/* An operator of sizes of which an outcome is missing, and what its first operand lacks to be its second. */
typedef struct IrGap {
    IrStmtId launch;
    uint32_t expr;
    double gap; /* not 0 */
} IrGap;
/* Those of `one` of which none of `seen` had both outcomes; at most so many. */
uint32_t ir_decided_gaps(const IrProgram *p, const IrDecisions *one, IrDecisions *const *seen,
                         uint32_t n, IrGap *gaps, uint32_t most);
/* The gap of the same operator in another walk; 0: it was not executed there, or both operands
 * were equal. */
double ir_decided_gap(const IrDecisions *one, const IrGap *of);

#endif
