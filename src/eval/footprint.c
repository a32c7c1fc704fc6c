/* Elements of each value that a task needs; see footprint.h. The graph is walked from its outputs back:
 * an operator that needs all of an input for all of its result asks for all, a view for as much as is
 * asked of it, one that picks by index, mask or position for nothing that could be named. */
#include "eval/footprint.h"

#include "eval/bound.h"

static double count_of(const Graph *g, ValueId id)
{
    double n = 1;
    const Value *v = graph_value(g, id);
    for (int i = 0; i < v->shape.rank; i++)
        n *= (double)v->shape.dim[i];
    return n;
}

/* Every element of the input is in some element of the result. */
static bool takes_all(const Node *node, uint32_t input)
{
    switch (node->op) {
    case OP_CAT:
    case OP_EXPAND:
    case OP_REPEAT:
    case OP_REPEAT_INTERLEAVE:
    case OP_REDUCE:
    case OP_REDUCE_INDEX:
    case OP_MEDIAN:
    case OP_SCAN:
    case OP_SORT:
    case OP_TOPK:
    case OP_SOFTMAX:
    case OP_MATMUL:
    case OP_LINEAR:
    case OP_CDIST:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM:
    case OP_RMS_NORM:
    case OP_LRN:
    case OP_LOSS:
    case OP_TRIPLET_LOSS:
    case OP_COSINE_SIMILARITY:
    case OP_PAIRWISE_DISTANCE: return true;
    case OP_BATCH_NORM:
    case OP_CROSS_ENTROPY:
    case OP_ADAPTIVE_POOL: return input == 0;
    default: return false;
    }
}

/* The result's elements are the input's, one each. */
static bool one_to_one(const Node *node)
{
    return op_is_elementwise(node->op) || node->op == OP_CAST || node->op == OP_SLICE ||
           ((op_move(node).flags & MOVE_ALL) && node->op != OP_CAT);
}

static bool only_grows(const Graph *g, const Node *node)
{
    Shape in = graph_value(g, node->in[0])->shape, out = graph_value(g, node->out)->shape;
    bool grows = in.rank == out.rank;
    for (int i = 0; grows && i < in.rank; i++)
        grows = out.dim[i] >= in.dim[i];
    return grows;
}

/* Padding takes a little from what windows cover at the edges. */
static const double window_part = 0.9;

static double asked_of(const Graph *g, const Node *node, uint32_t i, const double *need)
{
    double all = count_of(g, node->in[i]), out = count_of(g, node->out), asked = need[node->out];
    bool whole = false;
    for (uint32_t o = 0; o < node->n_out; o++)
        whole |= need[node->out + o] > 0 && need[node->out + o] >= count_of(g, node->out + o);
    if (node->op == OP_WHERE && i > 0)
        return 0;
    if (one_to_one(node))
        return (node->op == OP_SLICE || all == out) ? (asked < all ? asked : all) : whole ? all : 0;
    if (!whole)
        return 0;
    if ((node->op == OP_CONV || node->op == OP_POOL) && i == 0)
        return window_part * bound_windows(g, node) * all;
    if (node->op == OP_PAD && i == 0)
        return only_grows(g, node) ? all : 0;
    return takes_all(node, i) ? all : 0;
}

double *eval_footprint(Arena *arena, const Graph *g)
{
    double *need = arena_array(arena, double, g->values.len + 1);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        need[g->outputs.at[i]] = count_of(g, g->outputs.at[i]);
    for (uint32_t n = g->nodes.len; n-- > 0;) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in; i++) {
            double asked = node->in[i] == VALUE_NONE ? 0 : asked_of(g, node, i, need);
            if (asked > 0 && asked > need[node->in[i]])
                need[node->in[i]] = asked;
        }
    }
    return need;
}

bool eval_lengths_by_data(const Graph *g)
{
    for (uint32_t n = 0; n < g->nodes.len; n++)
        if (g->nodes.at[n].op == OP_NONZERO || g->nodes.at[n].op == OP_MASKED_SELECT)
            return true;
    return false;
}
