/* Between which numbers the elements of a value lie, as far as the file says it:
 *
 *     torch.randint(0, 50000, ...)   0 .. 49999
 *     a * b                          the products of their ends
 *
 * In: a graph with its source graph. Out: `bounds` of every value. What is not known stays so; integers
 * of up to 32 bits have at least their dtype's. */
#ifndef GRAPH_BOUNDS_H
#define GRAPH_BOUNDS_H

#include "graph/graph.h"

/* Inputs that have bounds already keep them. */
void graph_bounds(Graph *graph);
/* Whether all elements are known to lie in low .. high. */
bool bounds_within(const Value *value, double low, double high);

#endif
