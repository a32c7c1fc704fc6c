/* What a graph costs at least: arithmetic operations, and bytes that must move. */
#include "graph/graph.h"

static double count_of(const Graph *graph, ValueId id)
{
    const Shape *shape = &graph_value(graph, id)->shape;
    double count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= (double)shape->dim[i];
    return count;
}

static double bytes_of(const Graph *graph, ValueId id)
{
    return count_of(graph, id) * (double)dtype_bytes(graph_value(graph, id)->dtype);
}

static double last_dim(const Graph *graph, ValueId id, int from_end)
{
    const Shape *shape = &graph_value(graph, id)->shape;
    return shape->rank >= from_end ? (double)shape->dim[shape->rank - from_end] : 1;
}

/* Products of a result element: weight elements behind one output (or input) channel. */
static double conv_flops(const Graph *graph, const Node *node)
{
    const Shape *weight = &graph_value(graph, node->in[1])->shape;
    double window = weight->rank > 1 ? (double)weight->dim[1] : 1;
    for (int i = 2; i < weight->rank; i++)
        window *= (double)weight->dim[i];
    ValueId over = node_bool(node, AT_TRANSPOSED) ? node->in[0] : node->out;
    return 2 * count_of(graph, over) * window;
}

static double window_flops(const Graph *graph, const Node *node)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    double window = 1;
    for (uint32_t i = 0; kernel && i < kernel->ints.len; i++)
        window *= (double)kernel->ints.at[i];
    return count_of(graph, node->out) * window;
}

/* Every index letter is a loop. */
static double einsum_flops(const Graph *graph, const Node *node)
{
    Str equation = node_text(node, AT_EQUATION);
    double extent[128] = {0}, total = 2;
    uint32_t operand = 0;
    int dim = 0;
    for (size_t i = 0; i < equation.len && equation.at[i] != '-'; i++) {
        unsigned char c = (unsigned char)equation.at[i];
        if (c == ',') {
            operand++;
            dim = 0;
        } else if (c < 128 && operand < node->n_in) {
            const Shape *shape = &graph_value(graph, node->in[operand])->shape;
            double size = dim < shape->rank ? (double)shape->dim[dim++] : 1;
            extent[c] = size > extent[c] ? size : extent[c];
        }
    }
    for (int c = 0; c < 128; c++)
        total *= extent[c] > 0 ? extent[c] : 1;
    return total;
}

static double rnn_flops(const Graph *graph, const Node *node)
{
    double steps = count_of(graph, node->in[0]) / last_dim(graph, node->in[0], 1), weights = 0;
    for (uint32_t i = 3; i < node->n_in; i++)
        weights += count_of(graph, node->in[i]);
    return 2 * steps * weights;
}

static double mha_flops(const Graph *graph, const Node *node)
{
    double rows = count_of(graph, node->in[0]) / last_dim(graph, node->in[0], 1);
    double keys = count_of(graph, node->in[1]) / last_dim(graph, node->in[1], 1);
    double width = last_dim(graph, node->in[0], 1), length = 0;
    const Shape *k = &graph_value(graph, node->in[1])->shape;
    length = k->rank == 3 ? (double)k->dim[node_bool(node, AT_BATCH_FIRST) ? 1 : 0]
                          : (double)k->dim[0];
    return 4 * rows * width * width + 4 * keys * width * width + 4 * rows * length * width;
}

static double node_flops(const Graph *graph, const Node *node)
{
    double out = node->n_out ? count_of(graph, node->out) : 0;
    switch (node->op) {
    case OP_MATMUL: return 2 * out * last_dim(graph, node->in[0], 1);
    case OP_LINEAR: return 2 * out * last_dim(graph, node->in[1], 1);
    case OP_GROUPED_MATMUL: return 2 * out * last_dim(graph, node->in[0], 1);
    case OP_CDIST: return 3 * out * last_dim(graph, node->in[0], 1);
    case OP_EINSUM: return einsum_flops(graph, node);
    case OP_CONV: return conv_flops(graph, node);
    case OP_CONV_TAPS:
        return 2 * out * count_of(graph, node->in[1]) /
               (double)graph_value(graph, node->in[1])->shape.dim[0];
    case OP_POOL: return window_flops(graph, node);
    case OP_SDPA: return 4 * count_of(graph, node->in[0]) * last_dim(graph, node->in[1], 2);
    case OP_MHA: return mha_flops(graph, node);
    case OP_RNN: return rnn_flops(graph, node);
    case OP_CAST:
    case OP_FULL:
    case OP_VIEW_AS_REAL:
    case OP_VIEW_AS_COMPLEX: return 0;
    case OP_SOFTMAX:
    case OP_BATCH_NORM:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM:
    case OP_RMS_NORM: return 5 * count_of(graph, node->in[0]);
    case OP_REDUCE:
    case OP_REDUCE_INDEX:
    case OP_SCAN:
    case OP_LOSS:
    case OP_SORT:
    case OP_TOPK: return count_of(graph, node->in[0]);
    default: return op_move(node).inputs ? 0 : out;
    }
}

GraphCost graph_cost(const Graph *graph)
{
    GraphCost cost = {0};
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        cost.flops += node_flops(graph, &graph->nodes.at[i]);
    for (uint32_t i = 0; i < graph->values.len; i++) {
        if (graph->values.at[i].kind != VALUE_NODE)
            cost.bytes += bytes_of(graph, i);
    }
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        cost.bytes += bytes_of(graph, graph->outputs.at[i]);
    return cost;
}
