/* Inside src/graph: the shape and dtype rules that op.def names. A rule reads the node and
 * its inputs and fills out[] and, for dtype rule `own`, dtype[]; false with a diagnostic. */
#ifndef GRAPH_INFER_INT_H
#define GRAPH_INFER_INT_H

#include "graph/graph.h"

typedef struct Infer {
    const Graph *graph;
    const Node *node;
    Diag *diag;
    Shape out[3];
    DType dtype[3];
} Infer;

typedef bool InferRule(Infer *);

bool infer_node(Infer *infer);

/* Reports a broken rule at the node's line; always false. */
bool infer_fail(Infer *infer, const char *format, ...) ATTR_PRINTF(2, 3);
bool infer_has(const Infer *infer, uint32_t input);        /* present */
const Value *infer_in(const Infer *infer, uint32_t input); /* must be present */
/* Attribute dim (or `fallback`) as 0..rank-1 of `shape`. */
bool infer_dim(Infer *infer, Shape shape, int64_t fallback, int *dim);
/* Attribute that must be a list of `count` numbers, each at least `least`. */
bool infer_ints(Infer *infer, AttrKey key, uint32_t count, int64_t least, const int64_t **out);
/* a*b + c without overflow, else an error. */
bool infer_muladd(Infer *infer, int64_t a, int64_t b, int64_t c, int64_t *out);
const char *infer_text(Infer *infer, Shape shape); /* "[8,4]" for messages */

#define INFER_RULES(X)                                                                             \
    X(shape)                                                                                       \
    X(arange)                                                                                      \
    X(linspace) X(same) X(broadcast) X(reshape) X(permute) X(expand) X(slice) X(slice_scatter)     \
        X(cat) X(flip) X(roll) X(repeat) X(repeat_interleave) X(pad) X(unfold) X(im2col) X(col2im) \
            X(tri) X(diag) X(diagonal) X(reduce) X(scan) X(sort) X(topk) X(histc) X(bincount)      \
                X(gather) X(scatter) X(index_select) X(index_write) X(index) X(index_put)          \
                    X(masked_select) X(nonzero) X(embedding) X(embedding_grad) X(one_hot)          \
                        X(matmul) X(linear) X(einsum) X(cdist) X(grouped_matmul) X(conv) X(pool)   \
                            X(adaptive_pool) X(unpool) X(layer_norm) X(group_norm)                 \
                                X(instance_norm) X(interpolate) X(grid_sample) X(affine_grid)      \
                                    X(sdpa) X(mha) X(rnn) X(loss) X(nll_loss) X(triplet) X(cosine) \
                                        X(fft) X(view_as_real) X(view_as_complex)

#define DECLARE(rule) InferRule infer_##rule;
INFER_RULES(DECLARE)
#undef DECLARE

#endif
