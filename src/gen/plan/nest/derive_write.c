/* Index writes in general nests. A result asks which of the writes meet it: a reduction over all
 * writes, of which those that go elsewhere leave no trace. Nothing is written twice, so the order of threads does not
 * matter. In: a node and an index of its result. Out: the value there. */
#include "gen/plan/nest/derive_int.h"

#include <math.h>
#include <string.h>

/* ---- index writes ---- */

typedef enum WriteKind { WRITE_SET, WRITE_ADD, WRITE_MULTIPLY, WRITE_MAX, WRITE_MIN } WriteKind;

typedef struct Write {
    const Node *node;
    ValueId x, places, from;
    int dim;
    bool elements; /* places have the shape of what is written: one for each element */
    WriteKind kind;
    double alpha;
} Write;

static bool read_scatter(const Node *node, Write *w)
{
    static const WriteKind kinds[] = {[SCATTER_set] = WRITE_SET,
                                      [SCATTER_add] = WRITE_ADD,
                                      [SCATTER_multiply] = WRITE_MULTIPLY,
                                      [SCATTER_max] = WRITE_MAX,
                                      [SCATTER_min] = WRITE_MIN};
    if (node->kind == SCATTER_mean || node_int(node, AT_B, 0))
        return false;
    w->kind = kinds[node->kind];
    w->elements = true;
    return true;
}

static bool read_write(const Graph *g, const Node *node, Write *w)
{
    Shape shape = graph_value(g, node->in[0])->shape;
    int64_t dim = node_int(node, AT_DIM, 0);
    *w = (Write){.node = node,
                 .x = node->in[0],
                 .places = node->in[1],
                 .from = node->in[2],
                 .dim = (int)(dim < 0 ? dim + shape.rank : dim),
                 .alpha = 1};
    switch (node->op) {
    case OP_SCATTER: return read_scatter(node, w);
    case OP_INDEX_ADD:
        w->kind = str_is(node_text(node, AT_REDUCTION), "max")   ? WRITE_MAX
                  : str_is(node_text(node, AT_REDUCTION), "min") ? WRITE_MIN
                                                                 : WRITE_ADD;
        w->alpha = node_float(node, AT_ALPHA, 1);
        return true;
    case OP_INDEX_COPY: return true;
    default: break;
    }
    const Attr *dims = node_attr(node, AT_DIMS);
    if (node->n_in != 3 || !dims || dims->ints.len != 1)
        return false;
    w->places = node->in[2];
    w->from = node->in[1];
    w->dim = (int)dims->ints.at[0];
    w->kind = node_bool(node, AT_ACCUMULATE) ? WRITE_ADD : WRITE_SET;
    return graph_value(g, w->places)->shape.rank == 1;
}

/* Whether write and result have the same sizes along all other dimensions. */
static bool fits(const Graph *g, const Write *w)
{
    Shape x = graph_value(g, w->x)->shape, at = graph_value(g, w->places)->shape;
    Shape from = graph_value(g, w->from)->shape;
    if (!dtype_is_int(graph_value(g, w->places)->dtype) || x.dim[w->dim] >= EXACT_INT ||
        at.rank != (w->elements ? x.rank : 1))
        return false;
    if (from.rank != x.rank)
        return false;
    for (int i = 0; i < x.rank; i++)
        if (i != w->dim && (from.dim[i] != x.dim[i] || (w->elements && at.dim[i] != x.dim[i])))
            return false;
    return from.dim[w->dim] == at.dim[w->elements ? w->dim : 0];
}

static NestId none_of(Derive *d, WriteKind kind)
{
    return nest_number(d->nest, kind == WRITE_MULTIPLY ? 1
                                : kind == WRITE_MAX    ? -INFINITY
                                : kind == WRITE_MIN    ? INFINITY
                                                       : 0);
}

static NestId join(Derive *d, WriteKind kind, NestId a, NestId b)
{
    static const char *const forms[] = {[WRITE_ADD] = "$0 + $1",
                                        [WRITE_MULTIPLY] = "$0 * $1",
                                        [WRITE_MAX] = "max($0, $1)",
                                        [WRITE_MIN] = "min($0, $1)"};
    return nest_map2(d->nest, forms[kind], a, b);
}

static NestId choose(Derive *d, NestId mask, NestId a, NestId b)
{
    return nest_map(d->nest, "where($0, $1, $2)", false, 3, (NestId[]){mask, a, b});
}

/* A set: the last write that meets the result, if any does. */
static bool at_set(Derive *d, const Write *w, const NestDim *walked, NestIndex inner, NestId meets,
                   NestId x, NestId *out)
{
    NestId step = nest_place(d->nest, &walked->index), minus = nest_number(d->nest, -1), from;
    NestId last = nest_reduce(d->nest, PRIM_MAX, choose(d, meets, step, minus), walked->axes);
    NestId found = nest_map(d->nest, "$0 >= $1", true, 2,
                            (NestId[]){last, nest_number(d->nest, 0)});
    NestId place = nest_map2(d->nest, "max($0, $1)", last, nest_number(d->nest, 0));
    if (!derive_at(d, w->from, &inner, &from) ||
        !derive_replace_axis(d, from, walked->index.term[0].axis, place, &from))
        return derive_refuse(d, w->node,
                             "the tensor it writes would have to be written to memory first");
    *out = choose(d, found, from, x);
    return true;
}

bool derive_write(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    static const PrimReduce reduces[] = {[WRITE_ADD] = PRIM_SUM,
                                         [WRITE_MULTIPLY] = PRIM_PROD,
                                         [WRITE_MAX] = PRIM_MAX,
                                         [WRITE_MIN] = PRIM_MIN};
    Write w;
    NestId x, place, from, here;
    if (!read_write(d->graph, node, &w) || !fits(d->graph, &w))
        return derive_refuse(d, node, "writes of this form are not planned");
    int64_t writes = graph_value(d->graph, w.from)->shape.dim[w.dim];
    if (!derive_at(d, w.x, index, &x))
        return false;
    const NestDim *found = writes > 1 ? derive_dim(d, writes, derive_axes(index)) : NULL;
    if (!found || found->index.n != 1)
        return derive_refuse(d, node, "its writes have too many dimensions");
    NestDim walked = *found;
    NestIndex inner = *index, at = {.rank = 1};
    here = nest_place(d->nest, &index->dim[w.dim]);
    inner.dim[w.dim] = at.dim[0] = walked.index;
    if (!derive_at(d, w.places, w.elements ? &inner : &at, &place))
        return false;
    NestId less = nest_map(d->nest, "$0 < $1", true, 2, (NestId[]){place, nest_number(d->nest, 0)});
    int64_t size = graph_value(d->graph, w.x)->shape.dim[w.dim];
    place = choose(d, less,
                   nest_map2(d->nest, "$0 + $1", place, nest_number(d->nest, (double)size)), place);
    NestId meets = nest_map(d->nest, "$0 == $1", true, 2, (NestId[]){place, here});
    if (w.kind == WRITE_SET)
        return at_set(d, &w, &walked, inner, meets, x, out);
    if (!derive_at(d, w.from, &inner, &from))
        return false;
    from = w.alpha == 1 ? from : nest_map2(d->nest, "$0 * $1", from, nest_number(d->nest, w.alpha));
    from = nest_reduce(d->nest, reduces[w.kind], choose(d, meets, from, none_of(d, w.kind)),
                       walked.axes);
    *out = join(d, w.kind, x, from);
    return true;
}
