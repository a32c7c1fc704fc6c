/* Resampling: interpolation by separable taps, sampling on a grid.
 *
 *     at(o) = (a o + b) / c      the place in the input of output o, per dimension
 *     y(o)  = sum over k of weight_k(o) x(first(o) + k)
 *
 * Places and weights are tables on chip, made once per core by vector arithmetic. */
#ifndef GEN_PLAN_RESIZE_H
#define GEN_PLAN_RESIZE_H

#include "gen/plan/script.h"

bool plan_resize(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag);

/* For sample.c: the kernel of an interpolate node, that writes to `to`, declared as `role`. */
const char *resize_kernel(Arena *arena, const Graph *g, const Node *node, const char *name,
                          const char *role, Buf *out);
bool plan_sample(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag);

#endif
