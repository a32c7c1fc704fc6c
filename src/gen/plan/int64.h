/* 64-bit integers that 32 bits do not hold. Tiles have no arithmetic of 64 bits, so such values are
 * computed by the scalar unit, one after the other (elementwise_int64.c). */
#ifndef GEN_PLAN_INT64_H
#define GEN_PLAN_INT64_H

#include "graph/graph.h"

/* The graph with what is known of its values' bounds. */
const Graph *int64_bounds(Arena *arena, const Graph *graph);
/* Per value: whether it must be held in 64 bits; NULL: none must. What only its last 32 bits are
 * asked of, as in (a * b) & 0xffff, need not. */
const bool *int64_values(Arena *arena, const Graph *graph);
/* The first node that computes with such a value; NULL: none does. */
const Node *int64_node(Arena *arena, const Graph *graph);
/* Says why it is not planned. */
void int64_refuse(Arena *arena, const Graph *graph, Diag *diag);

#endif
