/* Programs of one operator for several dtypes become one Craft file:
 *
 *     def relu(x0: gm[f32, n0], ...)      T = dtype(f32, f16)
 *     def relu(x0: gm[f16, n0], ...) ─▶   def relu(x0: gm[T, n0], ...):
 *                                             if T == f32: ... relu_f32_kernel
 *                                             elif T == f16: ... relu_f16_kernel */
#ifndef LOOP_MAKE_JOIN_H
#define LOOP_MAKE_JOIN_H

#include "gen/plan/plan.h"

typedef struct MakeVariant {
    const Plan *plan;
    DType dtype;
} MakeVariant;

/* One variant comes back as it is. False with a diagnostic: their sizes or operands differ. */
bool make_join(Arena *arena, const MakeVariant *variants, uint32_t count, Str *craft, Diag *diag);

#endif
