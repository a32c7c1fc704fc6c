/* How much of each input a task cannot do without, whatever the values are. In: its graph. Out: elements
 * that must be read at least once, a lower bound: 0 where data or masks decide. */
#ifndef EVAL_FOOTPRINT_H
#define EVAL_FOOTPRINT_H

#include "graph/graph.h"

/* By value id; lives in the arena. */
double *eval_footprint(Arena *arena, const Graph *graph);
/* Whether the length of a result depends on values: only then may a program leave the end of an output
 * unwritten. */
bool eval_lengths_by_data(const Graph *graph);

#endif
