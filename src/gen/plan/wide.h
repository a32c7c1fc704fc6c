/* 64-bit integers that 32 bits do not hold. Tiles have no arithmetic of 64 bits, so such values are
 * computed by the scalar unit, one after the other (each_wide.c). */
#ifndef GEN_PLAN_WIDE_H
#define GEN_PLAN_WIDE_H

#include "graph/graph.h"

/* The graph with what is known of its values' bounds. */
const Graph *wide_bounds(Arena *arena, const Graph *graph);
/* Per value: whether it must be held in 64 bits; NULL: none must. What only its last 32 bits are
 * asked of, as in (a * b) & 0xffff, need not. */
const bool *wide_values(Arena *arena, const Graph *graph);
/* The first node that computes with such a value; NULL: none does. */
const Node *wide_node(Arena *arena, const Graph *graph);
/* Says why it is not planned. */
void wide_refuse(Arena *arena, const Graph *graph, Diag *diag);

#endif
