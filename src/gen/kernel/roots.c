/* Where a task with products of matrices is cut into parts. In: a graph. Out: the values that are in memory between
 * parts. Every part then computes one of them, or results, and has what follows a product in the product's kernel. */
#include "gen/kernel/kernel_int.h"

static bool is_product(Op op)
{
    return op == OP_MATMUL || op == OP_LINEAR || op == OP_EINSUM || op == OP_CONV;
}

/* It reads element [i, j] of its operand for element [i, j] of its result, or whole rows of it. */
static bool keeps_places(const Node *node)
{
    switch (node->op) {
    case OP_DROPOUT:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_REDUCE:
    case OP_SOFTMAX:
    case OP_BATCH_NORM:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM:
    case OP_RMS_NORM: return true;
    default: return op_is_elementwise(node->op);
    }
}

/* A transposed convolution with a stride is written in parts. */
static bool is_in_parts(const Node *node)
{
    const Attr *stride = node_attr(node, AT_STRIDE);
    bool any = false;
    for (uint32_t i = 0; stride && i < stride->ints.len; i++)
        any = any || stride->ints.at[i] > 1;
    return any && node->op == OP_CONV && node_bool(node, AT_TRANSPOSED);
}

/* What a product reads is in memory: views of it are accesses. */
static void mark_operand(const Graph *g, ValueId id, bool *root)
{
    const Node *node = graph_maker(g, id);
    while (node && (op_move(node).flags & MOVE_VIEW) && node->n_in) {
        id = node->in[0];
        node = graph_maker(g, id);
    }
    if (node)
        root[id] = true;
}

/* The part that a value belongs to is named by what the part computes. */
static const ValueId NOWHERE = VALUE_NONE, RESULTS = VALUE_NONE - 1, SEVERAL = VALUE_NONE - 2;

static ValueId join_parts(ValueId a, ValueId b)
{
    return a == NOWHERE || a == b ? b : b == NOWHERE ? a : SEVERAL;
}

/* The part that reads the node's result. */
static ValueId part_of(const Graph *g, const Node *node, const ValueId *part, const bool *root)
{
    ValueId all = NOWHERE;
    for (uint32_t i = 0; i < node->n_out; i++) {
        ValueId id = node->out + i;
        all = join_parts(all, root[id]                 ? id
                              : graph_is_output(g, id) ? join_parts(RESULTS, part[id])
                                                       : part[id]);
    }
    return all;
}

bool *kernel_roots(Arena *arena, const Graph *g)
{
    bool *root = arena_array(arena, bool, g->values.len + 1);
    bool *rests = arena_array(arena, bool, g->values.len + 1); /* on a product of its own part */
    bool *pieces = arena_array(arena, bool,
                               g->values.len + 1); /* on one that is written in parts */
    ValueId *part = arena_array(arena, ValueId, g->values.len + 1);
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const Node *node = &g->nodes.at[i];
        bool any = is_product(node->op), in_parts = is_in_parts(node);
        for (uint32_t k = 0; k < node->n_in; k++) {
            ValueId id = node->in[k];
            if (id == VALUE_NONE)
                continue;
            if (is_product(node->op))
                mark_operand(g, id, root);
            else if (rests[id] &&
                     (!keeps_places(node) || (pieces[id] && !op_is_elementwise(node->op))))
                root[id] = true;
            any = any || (rests[id] && !root[id]);
            in_parts = in_parts || (pieces[id] && !root[id]);
        }
        for (uint32_t k = 0; k < node->n_out; k++)
            rests[node->out + k] = any, pieces[node->out + k] = in_parts;
    }
    for (uint32_t i = 0; i < g->values.len; i++)
        part[i] = NOWHERE;
    for (uint32_t i = g->nodes.len; i-- > 0;) {
        const Node *node = &g->nodes.at[i];
        for (uint32_t k = 0; k < node->n_out; k++) {
            ValueId id = node->out + k;
            bool again = graph_is_output(g, id) && part[id] != NOWHERE;
            root[id] = root[id] || (rests[id] && (part[id] == SEVERAL || again));
        }
        ValueId of = part_of(g, node, part, root);
        for (uint32_t k = 0; k < node->n_in; k++)
            if (node->in[k] != VALUE_NONE)
                part[node->in[k]] = join_parts(part[node->in[k]], of);
    }
    return root;
}
