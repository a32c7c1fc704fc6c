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

/* ---- zeros that a program may know of ---- */

/* Which values have zeros at places that are known without data: triangles, diagonals, padding, products
 * with constant masks. A program may pass those places over. */
typedef struct Zeros {
    bool *constant; /* made of no drawn or given number, and of more than one element */
    bool *some;
} Zeros;

static bool makes_zeros(const Node *node)
{
    switch (node->op) {
    case OP_EYE:
    case OP_TRI:
    case OP_DIAG:
    case OP_PAD:
    case OP_SLICE_SCATTER: return true;
    default: return false;
    }
}

static bool multiplies(const Node *node)
{
    return (node->op == OP_BINARY && node->kind == BINARY_mul) || node->op == OP_WHERE;
}

static bool is_one_number(const Graph *g, ValueId id)
{
    const Value *v = graph_value(g, id);
    return count_of(g, id) <= 1 || (v->kind == VALUE_NODE && g->nodes.at[v->node].op == OP_FULL);
}

static void zeros_of_node(const Graph *g, const Node *node, Zeros *z)
{
    bool constant = node->op != OP_RANDOM && node->op != OP_FULL, some = makes_zeros(node);
    for (uint32_t i = 0; i < node->n_in; i++) {
        ValueId in = node->in[i];
        if (in == VALUE_NONE)
            continue;
        constant &= z->constant[in] || is_one_number(g, in);
        some |= z->some[in] || (z->constant[in] && multiplies(node));
    }
    for (uint32_t o = 0; o < node->n_out; o++) {
        z->constant[node->out + o] = constant && count_of(g, node->out + o) > 1;
        z->some[node->out + o] = some;
    }
}

static Zeros zeros_of(Arena *arena, const Graph *g)
{
    Zeros z = {arena_array(arena, bool, g->values.len + 1),
               arena_array(arena, bool, g->values.len + 1)};
    Zeros source = g->source ? zeros_of(arena, g->source) : (Zeros){0};
    for (uint32_t i = 0; i < g->values.len; i++) {
        const Value *v = &g->values.at[i];
        if (v->kind == VALUE_CONST)
            z.constant[i] = count_of(g, i) > 1;
        else if (v->kind != VALUE_NODE && source.some && v->source < g->source->outputs.len)
            z.some[i] = source.some[g->source->outputs.at[v->source]];
    }
    for (uint32_t n = 0; n < g->nodes.len; n++)
        zeros_of_node(g, &g->nodes.at[n], &z);
    return z;
}

/* The other factors may be zero where this one is then not needed. */
static bool has_zero_factor(const Node *node, uint32_t input, const Zeros *z)
{
    bool any = false;
    if (!multiplies(node) && node->op != OP_MATMUL && node->op != OP_LINEAR &&
        node->op != OP_EINSUM)
        return false;
    for (uint32_t i = 0; i < node->n_in; i++)
        any |= i != input && node->in[i] != VALUE_NONE &&
               (z->some[node->in[i]] || z->constant[node->in[i]]);
    return any;
}

/* ---- from the results back ---- */

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
    Zeros zeros = zeros_of(arena, g);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        need[g->outputs.at[i]] = count_of(g, g->outputs.at[i]);
    for (uint32_t n = g->nodes.len; n-- > 0;) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in; i++) {
            bool taken = node->in[i] != VALUE_NONE && !has_zero_factor(node, i, &zeros);
            double asked = taken ? asked_of(g, node, i, need) : 0;
            if (asked > 0 && asked > need[node->in[i]])
                need[node->in[i]] = asked;
        }
    }
    for (uint32_t i = 0; i < g->values.len; i++)
        if (g->values.at[i].kind != VALUE_NODE && zeros.some[i])
            need[i] = 0;
    return need;
}

bool eval_lengths_by_data(const Graph *g)
{
    for (uint32_t n = 0; n < g->nodes.len; n++)
        if (g->nodes.at[n].op == OP_NONZERO || g->nodes.at[n].op == OP_MASKED_SELECT)
            return true;
    return false;
}
