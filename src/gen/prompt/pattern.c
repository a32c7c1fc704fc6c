/* How the work of a task lies in memory, read off the operators of its graph: the last reduction
 * decides, else the first operator that moves elements about. */
#include "gen/prompt/exemplar.h"

enum { SHORT_ROW = 2048 }; /* elements: many such rows fit a tile */

static Shape input_shape(const Graph *g, const Node *n)
{
    return n->n_in && n->in[0] != VALUE_NONE ? graph_value(g, n->in[0])->shape : (Shape){0};
}

static const char *row_or_axis(Shape s, int dim)
{
    if (dim != s.rank - 1)
        return "other axis";
    return s.dim[dim] <= SHORT_ROW ? "short row" : "long row";
}

/* Reduced dimensions: all, the last ones, or others. */
static const char *reduction(const Graph *g, const Node *n)
{
    Shape s = input_shape(g, n);
    const Attr *dims = node_attr(n, AT_DIMS);
    if (!dims || (int)dims->ints.len == s.rank)
        return s.rank == 1 ? row_or_axis(s, 0) : "all";
    int last = 0;
    for (uint32_t i = 0; i < dims->ints.len; i++) {
        int d;
        if (shape_dim(s, dims->ints.at[i], &d) && d > last)
            last = d;
    }
    return row_or_axis(s, last);
}

static const char *along(const Graph *g, const Node *n)
{
    Shape s = input_shape(g, n);
    int d;
    return shape_dim(s, node_int(n, AT_DIM, -1), &d) ? row_or_axis(s, d) : "long row";
}

/* Both operands are spread: every pair of their elements. */
static bool is_outer(const Graph *g, const Node *n)
{
    Shape out = graph_value(g, n->out)->shape;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const Value *v = graph_value(g, n->in[i]);
        if (v->weak || shape_equal(v->shape, out))
            return false;
    }
    return true;
}

static const char *of_node(const Graph *g, const Node *n)
{
    switch (n->op) {
    case OP_REDUCE:
    case OP_REDUCE_INDEX:
    case OP_MEDIAN: return reduction(g, n);
    case OP_SOFTMAX:
    case OP_COSINE_SIMILARITY:
    case OP_SORT:
    case OP_TOPK: return along(g, n);
    case OP_LAYER_NORM:
    case OP_RMS_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM: {
        Shape s = input_shape(g, n);
        return s.rank ? row_or_axis(s, s.rank - 1) : NULL;
    }
    case OP_BATCH_NORM:
    case OP_LRN: return "other axis";
    case OP_LOSS:
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY:
    case OP_TRIPLET_LOSS: return "all";
    case OP_POOL:
    case OP_ADAPTIVE_POOL:
    case OP_UNFOLD:
    case OP_IM2COL:
    case OP_INTERPOLATE:
    case OP_SLICE: return "window";
    case OP_BINARY: return is_outer(g, n) ? "outer" : NULL;
    case OP_SCAN: return "scan";
    case OP_GATHER:
    case OP_SCATTER:
    case OP_INDEX:
    case OP_INDEX_SELECT:
    case OP_INDEX_ADD:
    case OP_INDEX_COPY:
    case OP_INDEX_PUT:
    case OP_EMBEDDING:
    case OP_MASKED_SELECT:
    case OP_ONE_HOT:
    case OP_GRID_SAMPLE: return "index";
    default: return NULL;
    }
}

const char *exemplar_pattern(const Graph *graph)
{
    const char *pattern = NULL;
    for (uint32_t i = graph->nodes.len; i-- > 0 && !pattern;)
        pattern = of_node(graph, &graph->nodes.at[i]);
    return pattern ? pattern : "flat";
}
