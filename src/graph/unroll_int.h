/* Inside the unroller: unroll.c walks the graph, unroll_move.c moves elements and computes what is
 * constant, unroll_many.c adds up. */
#ifndef GRAPH_UNROLL_INT_H
#define GRAPH_UNROLL_INT_H

#include "graph/unroll.h"

typedef struct Unroll {
    Exprs *x;
    Arena *arena;
    const Graph *graph;
    Tensor **values; /* by ValueId: i64, the number of each element's expression */
    int64_t budget;
} Unroll;

/* The node's first output; NULL: it is not of this kind, or memory is short. */
typedef Tensor *UnrollRule(Unroll *u, const Node *node);
UnrollRule unroll_elementwise, unroll_move, unroll_constant, unroll_lookup;
UnrollRule unroll_reduce, unroll_softmax, unroll_matmul, unroll_index_add;

const Value *unroll_info(const Unroll *u, ValueId id);
static inline int64_t *unroll_ids(const Unroll *u, ValueId id)
{
    return TENSOR_AT(u->values[id], int64_t);
}
bool unroll_spend(Unroll *u, int64_t steps);
Tensor *unroll_new(Unroll *u, ValueId id); /* numbers for a value, not yet written */
/* The elements of a tensor of numbers, when all are constants; NULL: not all are. */
Tensor *unroll_known(Unroll *u, const Tensor *ids, DType dtype);
/* Runs one node on tensors of its inputs (NULL: absent); its first output or NULL. */
Tensor *unroll_run(Unroll *u, const NodeSpec *spec, Tensor *const *in);
/* A copy in the given dtype. */
Tensor *unroll_cast(Unroll *u, const Tensor *ids, DType dtype);
/* How far apart elements of `shape`, broadcast to `to`, lie along each dim of `to`. */
void unroll_strides(Shape shape, Shape to, int64_t *stride);

#endif
