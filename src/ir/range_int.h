/* Inside ir: what asserts add to the ranges; bound.c. */
#ifndef IR_RANGE_INT_H
#define IR_RANGE_INT_H

#include "ir/range.h"

/* Fills p->bounds from the asserts that the host always executes; it is annotated. */
void ir_find_bounds(IrProgram *p, const NpuChip *chip);
/* The largest value of a variable or a product by p->bounds; INT64_MAX: they say nothing of it. */
int64_t ir_bound_of(const IrProgram *p, const NpuChip *chip, IrExprId product);

#endif
