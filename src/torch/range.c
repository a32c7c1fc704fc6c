/* Are drawn indices always inside what they index? Follows index inputs back through casts and
 * views, over into the source graph, to where they are drawn; a range that is too wide for what
 * it indexes (by the file's own mistake, or after scaling) is narrowed, with a note. */
#include "torch/knob.h"

typedef struct Bounds {
    bool known;
    double low, high; /* high is the first value outside */
} Bounds;

static Bounds bounds_of(const Graph *graph, ValueId id, int depth);

static Bounds node_bounds(const Graph *graph, const Node *node, int depth)
{
    Bounds b = {0};
    switch (node->op) {
    case OP_CAST: return bounds_of(graph, node->in[0], depth + 1);
    case OP_RANDOM:
        if (node->kind == RANDOM_integer)
            b = (Bounds){true, node_float(node, AT_A, 0), node_float(node, AT_B, 0)};
        return b;
    case OP_FULL:
        return (Bounds){true, node_float(node, AT_VALUE, 0), node_float(node, AT_VALUE, 0) + 1};
    case OP_ARANGE:
        return (Bounds){node_float(node, AT_C, 1) > 0, node_float(node, AT_A, 0),
                        node_float(node, AT_B, 0)};
    default:
        return op_only_moves(node) && op_move(node).inputs == 1
                   ? bounds_of(graph, node->in[0], depth + 1)
                   : b;
    }
}

static Bounds bounds_of(const Graph *graph, ValueId id, int depth)
{
    const Value *value = graph_value(graph, id);
    Bounds none = {0};
    if (depth > 100)
        return none;
    if (value->kind == VALUE_NODE)
        return node_bounds(graph, &graph->nodes.at[value->node], depth);
    if (value->kind == VALUE_CONST || !graph->source)
        return none;
    return bounds_of(graph->source, graph->source->outputs.at[value->source], depth + 1);
}

/* The integer draw that an index is made of by views and casts alone, or NULL. */
static Node *draw_of(Graph *graph, ValueId id)
{
    for (int depth = 0; depth < 100; depth++) {
        const Value *value = graph_value(graph, id);
        if (value->kind != VALUE_NODE) {
            if (value->kind == VALUE_CONST || !graph->source)
                return NULL;
            graph = graph->source;
            id = graph->outputs.at[value->source];
            continue;
        }
        Node *node = &graph->nodes.at[value->node];
        if (node->op == OP_RANDOM)
            return node->kind == RANDOM_integer ? node : NULL;
        if (node->n_in != 1)
            return NULL;
        id = node->in[0];
    }
    return NULL;
}

static bool narrow(Graph *graph, ValueId index, int64_t size)
{
    Node *draw = draw_of(graph, index);
    if (!draw || size < 1 || node_float(draw, AT_A, 0) < 0 ||
        node_float(draw, AT_A, 0) >= (double)size)
        return false;
    for (uint32_t i = 0; i < draw->n_attr; i++) {
        if (draw->attr[i].key != AT_B)
            continue;
        vec_push(graph->arena, &graph->notes,
                 str_format(graph->arena,
                            "line %u: indices are drawn below %lld, not %.0f, which lies outside "
                            "what they index",
                            draw->at.line, (long long)size, draw->attr[i].f));
        draw->attr[i].f = (double)size;
    }
    return true;
}

static bool fits(Graph *graph, ValueId index, int64_t size)
{
    int64_t count;
    Bounds b = bounds_of(graph, index, 0);
    if (!shape_count(graph_value(graph, index)->shape, &count) || count == 0)
        return true;
    return !b.known || (b.low >= -(double)size && b.high <= (double)size) ||
           narrow(graph, index, size);
}

static int64_t dim_of(const Graph *graph, ValueId id, int64_t dim)
{
    Shape shape = graph_value(graph, id)->shape;
    return shape.rank ? shape.dim[dim] : 1;
}

static bool node_in_range(Graph *graph, const Node *node)
{
    const Attr *dims;
    Shape shape;
    switch (node->op) {
    case OP_GATHER:
    case OP_SCATTER:
    case OP_INDEX_SELECT:
    case OP_INDEX_ADD:
    case OP_INDEX_COPY:
        return fits(graph, node->in[1], dim_of(graph, node->in[0], node_int(node, AT_DIM, 0)));
    case OP_EMBEDDING: return fits(graph, node->in[1], dim_of(graph, node->in[0], 0));
    case OP_EMBEDDING_GRAD:
    case OP_ONE_HOT:
    case OP_BINCOUNT:
        return fits(graph, node->in[node->op == OP_EMBEDDING_GRAD], node_int(node, AT_SIZE, 0));
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY:
        shape = graph_value(graph, node->in[0])->shape;
        return fits(graph, node->in[1], shape.dim[shape.rank > 1 ? 1 : 0]);
    case OP_INDEX:
    case OP_INDEX_PUT:
        dims = node_attr(node, AT_DIMS);
        for (uint32_t i = 0; i < dims->ints.len; i++) {
            uint32_t input = i + (node->op == OP_INDEX ? 1 : 2);
            if (!fits(graph, node->in[input], dim_of(graph, node->in[0], dims->ints.at[i])))
                return false;
        }
        return true;
    default: return true;
    }
}

bool torch_fit_indices(Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        if (!node_in_range(graph, &graph->nodes.at[i]))
            return false;
    }
    return true;
}
