/* Whether a verdict holds when what no document fixes is varied: last bits of functions, the order of
 * cores and so of atomic additions. */
#ifndef EVAL_FRAGILE_H
#define EVAL_FRAGILE_H

#include "eval/candidate.h"

/* Judges as eval_candidate does. A candidate that is ok is judged `rounds` times more, with
 * other last bits and another order each time; one that fails then is fragile. */
bool eval_fragile(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                  const EvalConfig *config, uint32_t rounds, Verdict *verdict, Diag *diag);

#endif
