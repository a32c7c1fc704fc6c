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

#define RULE(name) InferRule infer_##name;
#include "graph/infer.def"
#undef RULE

#endif
