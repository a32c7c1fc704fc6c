/* Saying an operator that no planner takes by others that are planned, as one would on paper:
 *
 *     any(x, 1)        cast(max(cast(x != 0, f32), 1), bool)
 *     gather(x, 0, i)  permute(gather(permute(x), last, permute(i)))
 *     cdist(a, b)      sqrt(sum((a[:, None] - b[None]) ^ 2))
 *
 * In: a graph. Out: another with the same inputs and results, for the chain. */
#ifndef GEN_PLAN_REWRITE_H
#define GEN_PLAN_REWRITE_H

#include "graph/graph.h"

/* The parts of a complex value; VALUE_NONE: not taken apart, or im is 0. */
typedef struct RewritePair {
    ValueId re, im;
} RewritePair;

typedef struct Rewrite {
    Arena *arena;
    const Graph *from;
    Graph *to;
    ValueId *map;         /* per value of `from`: what it is in `to` */
    VEC(ValueId) outer;   /* per value of `to`: what it is in `from`; VALUE_NONE: nothing */
    RewritePair *pair;    /* per value of `from` that is complex */
    const Node *node;     /* the one that is being rewritten */
    bool changed, failed; /* failed: a node could not be made */
    Diag *diag;
    bool composites; /* also losses and distances that the planner takes whole */
    bool products;   /* products of two matrices and convolutions stay as they are */
} Rewrite;

/* The graph with operators that have no schedule rewritten into ones that have; NULL: there is nothing to rewrite.
 * *outer: per value of it the value of `graph`, or VALUE_NONE. */
Graph *rewrite_graph(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag);

/* Rewrites also losses and distances that the planner would take whole. */
Graph *rewrite_composites(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag);

/* Rewrites composites, but keeps products of two matrices and convolutions. */
Graph *rewrite_around_products(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag);

/* Whether a node reads a tensor of several numbers that the file itself holds. */
bool rewrite_has_constant(const Graph *graph);
enum { REWRITE_CONSTANT = 64 }; /* most of them that a kernel makes itself */

/* Each: false where the node is not of its kind or is planned as it is. out[i] becomes the i-th
 * output. Operands are those of the new graph. */
bool rewrite_complex(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_reduce(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_index(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_loss(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_shape(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_special(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_sum(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_pool(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_small(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_slice(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_window(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_fold(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_conv(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_attention(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_recurrent(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_product(Rewrite *r, const Node *node, ValueId *out);
bool rewrite_written(Rewrite *r, const Node *node, ValueId *out);

/* ---- building ---- */

const Value *rw_value(const Rewrite *r, ValueId id);
ValueId rw_in(const Rewrite *r, const Node *node, uint32_t i); /* the operand in the new graph */
ValueId rw_number(Rewrite *r, double value);
ValueId rw_integer(Rewrite *r, int64_t value);
ValueId rw_unary(Rewrite *r, UNARY_Kind kind, ValueId x);
ValueId rw_binary(Rewrite *r, BINARY_Kind kind, ValueId a, ValueId b);
ValueId rw_where(Rewrite *r, ValueId cond, ValueId a, ValueId b);
ValueId rw_clamp(Rewrite *r, ValueId x, ValueId low, ValueId high);
ValueId rw_cast(Rewrite *r, ValueId x, DType dtype); /* x itself where it has the dtype */
ValueId rw_reduce(Rewrite *r, REDUCE_Kind kind, ValueId x, uint32_t dims, bool keep);
ValueId rw_reshape(Rewrite *r, ValueId x, Shape shape);
ValueId rw_expand(Rewrite *r, ValueId x, Shape shape);
ValueId rw_permute(Rewrite *r, ValueId x, const int64_t *dims);
ValueId rw_swap(Rewrite *r, ValueId x, int a, int b); /* two dimensions change places */
ValueId rw_slice(Rewrite *r, ValueId x, int dim, int64_t start, int64_t end, int64_t step);
ValueId rw_roll(Rewrite *r, ValueId x, int dim, int64_t by);
/* `pads` as F.pad takes them for the last `dims` dimensions, filled with `value`. */
ValueId rw_pad(Rewrite *r, ValueId x, int dims, const int64_t *pads, double value);
ValueId rw_range(Rewrite *r, DType dtype, int64_t from, int64_t to, int64_t step);
ValueId rw_full(Rewrite *r, Shape shape, DType dtype, double value);
ValueId rw_softmax(Rewrite *r, ValueId x, int dim, bool log);
ValueId rw_with_dim(Rewrite *r, ValueId x, int dim); /* a new dimension of size 1 */
/* The node itself with other operands, attributes as they are. */
ValueId rw_again(Rewrite *r, const Node *node, const ValueId *in);
/* Numbers of the new graph are computed from the size of this dimension: it is the task's own. */
void rw_hold(Rewrite *r, ValueId x, int dim);
/* An attribute of the node replaced or added: for rw_again. */
Node rw_node(Rewrite *r, const Node *node);
void rw_attr(Rewrite *r, Node *node, Attr attr);
ValueId rw_make(Rewrite *r, Op op, int kind, uint32_t n_in, const ValueId *in, uint32_t n_attr,
                const Attr *attr);

#endif
