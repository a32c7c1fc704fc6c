/* The boundary of a planned program: what its host function takes is what the task takes.
 *
 *     def m3(x0: gm[f32, n0, n1], x1: gm[f32, n1], y0: out[f32, n0, n1])        as it was planned
 *
 *     n0_0 = dim(1, 1073741824)
 *     n0_1 = dim(1, 1073741824)
 *     n0 = dim(1, 1073741824, of=n0_0 * n0_1)
 *     def m3(x: gm[f32, n0_0, n0_1, n1], weight: gm[f32, n1], output0: out[f32, n0_0, n0_1, n1])
 *
 * Kernels stay as they are: a launch hands a tensor over under another shape of as many elements. */
#ifndef GEN_PLAN_BOUNDARY_H
#define GEN_PLAN_BOUNDARY_H

#include "gen/plan/plan.h"

/* Rewrites the program and its operands: inputs of forward in order, parameters, results, all with
 * the task's names and shapes. A size whose axes are not to be told from the task's shapes becomes
 * the number it has there. False with a diagnostic: the program has no such boundary. */
bool plan_boundary(Arena *arena, const Graph *graph, Plan *plan, Diag *diag);

#endif
