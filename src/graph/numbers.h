/* Whether two readings of a task compute with the same numbers: they may differ in sizes alone. */
#ifndef GRAPH_NUMBERS_H
#define GRAPH_NUMBERS_H

#include "graph/graph.h"

/* Whether both graphs have the same operators in the same order, with equal constants and
 * attributes. Attributes that are sizes (of a view, of a range) may differ. */
bool graph_same_numbers(const Graph *a, const Graph *b);

#endif
