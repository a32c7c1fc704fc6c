/* Unrolls a graph: each element of each result as a scalar expression (expr.h).
 *
 *     graph + leaves ──▶ per output a tensor of i64: the number of each element's expression
 *
 * Loops over rows, slices, masks and index tables that are known, stacks and views all vanish, so
 * that a file which fills a result piece by piece and one which works on whole tensors come out
 * equal. What it holds for are the sizes at hand. Operators it does not take apart are kept
 * whole: their elements are equal when the operator, its attributes and all its inputs are.
 */
#ifndef GRAPH_UNROLL_H
#define GRAPH_UNROLL_H

#include "graph/expr.h"

/* What an input, parameter or buffer is. */
typedef struct UnrollLeaf {
    uint32_t tensor;      /* leaves of one number are the same tensor */
    DType drawn;          /* its own dtype, of which the value is an exact cast */
    const Tensor *pinned; /* its elements, where they are known; NULL: any */
} UnrollLeaf;

/* Fills out[graph->outputs.len], the caller's to free. `leaves` by Value.source. False when it
 * takes more than `budget` steps (elements made, products added) or memory is short; all NULL. */
bool unroll_graph(Exprs *x, const Graph *graph, const UnrollLeaf *leaves, int64_t budget,
                  Tensor **out);

#endif
