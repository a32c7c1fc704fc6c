/* Reads off a graph what a tolerance depends on: the longest reduction, the number of roundings in
 * a row, and where floats are rounded to whole numbers. */
#include "graph/compare.h"

static int64_t count_of(Shape s)
{
    int64_t n = 0;
    return shape_count(s, &n) ? n : 0;
}

static Shape in_shape(const Graph *g, const Node *node, uint32_t i)
{
    return i < node->n_in && node->in[i] != VALUE_NONE ? graph_value(g, node->in[i])->shape
                                                       : (Shape){0};
}

static int64_t last_dim(Shape s) { return s.rank ? s.dim[s.rank - 1] : 1; }

/* Input elements per output element. */
static int64_t ratio(const Graph *g, const Node *node)
{
    int64_t in = count_of(in_shape(g, node, 0)), out = count_of(graph_value(g, node->out)->shape);
    return out > 0 ? in / out : in;
}

static int64_t ints_product(const Node *node, AttrKey key)
{
    const Attr *a = node_attr(node, key);
    int64_t n = 1;
    for (uint32_t i = 0; a && i < a->ints.len; i++)
        n *= a->ints.at[i];
    return n;
}

static int64_t einsum_length(const Graph *g, const Node *node)
{
    int64_t most = 1;
    for (uint32_t i = 0; i < node->n_in; i++) {
        int64_t n = count_of(in_shape(g, node, i));
        most = n > most ? n : most;
    }
    int64_t out = count_of(graph_value(g, node->out)->shape);
    return out > 0 && most > out ? most / out : last_dim(in_shape(g, node, 0));
}

int64_t compare_reduction(const Graph *g, const Node *node)
{
    Shape x = in_shape(g, node, 0), w = in_shape(g, node, 1);
    switch (node->op) {
    case OP_MATMUL:
    case OP_LINEAR:
    case OP_CDIST:
    case OP_GROUPED_MATMUL: return last_dim(x);
    case OP_EINSUM: return einsum_length(g, node);
    case OP_CONV:
        return w.rank > 0 && w.dim[0] > 0
                   ? count_of(w) / (node_bool(node, AT_TRANSPOSED) ? w.dim[1] : w.dim[0])
                   : 1;
    case OP_CONV_TAPS: return w.dim[0] > 0 ? count_of(w) / w.dim[0] : 1;
    case OP_POOL: return ints_product(node, AT_KERNEL);
    case OP_REDUCE:
    case OP_ADAPTIVE_POOL: return ratio(g, node);
    case OP_LOSS:
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY:
    case OP_TRIPLET_LOSS: return count_of(x);
    case OP_SOFTMAX:
    case OP_SCAN:
    case OP_COSINE_SIMILARITY:
    case OP_PAIRWISE_DISTANCE: {
        int dim = 0;
        return x.rank && shape_dim(x, node_int(node, AT_DIM, -1), &dim) ? x.dim[dim] : 1;
    }
    case OP_LAYER_NORM:
    case OP_RMS_NORM: return ints_product(node, AT_SHAPE);
    case OP_BATCH_NORM: return x.rank > 1 && x.dim[1] > 0 ? count_of(x) / x.dim[1] : 1;
    case OP_GROUP_NORM:
        return x.rank > 1 && x.dim[0] > 0 ? count_of(x) / (x.dim[0] * node_int(node, AT_GROUPS, 1))
                                          : 1;
    case OP_INSTANCE_NORM:
        return x.rank > 1 && x.dim[0] * x.dim[1] > 0 ? count_of(x) / (x.dim[0] * x.dim[1]) : 1;
    case OP_SDPA:
    case OP_MHA:
        return last_dim(x) > last_dim(w) ? last_dim(x) : x.rank > 1 ? x.dim[x.rank - 2] : 1;
    case OP_RNN: return last_dim(x);
    case OP_FFT: return last_dim(x);
    default: return 1;
    }
}

/* Operators that only move elements round nothing. */
static bool rounds(const Node *node)
{
    return node->op >= OP_UNARY && !(node->op >= OP_RESHAPE && node->op <= OP_DIAGONAL);
}

/* A recurrent network rounds once a step. */
static int64_t rounding_steps(const Graph *g, const Node *node)
{
    if (node->op == OP_RNN) {
        Shape x = in_shape(g, node, 0);
        return node_int(node, AT_LAYERS, 1) *
               (x.rank ? x.dim[x.rank == 3 && node_bool(node, AT_BATCH_FIRST) ? 1 : 0] : 1);
    }
    return rounds(node) ? 1 : 0;
}

/* Rounds a float to a whole number. */
static bool rounds_off(const Graph *g, const Node *node)
{
    if (node->op == OP_CAST)
        return dtype_is_int(graph_value(g, node->out)->dtype);
    return node->op == OP_UNARY && (node->kind == UNARY_round || node->kind == UNARY_floor ||
                                    node->kind == UNARY_ceil || node->kind == UNARY_trunc);
}

/* Makes whole numbers of whole numbers. */
static bool keeps_whole(const Node *node)
{
    switch (node->op) {
    case OP_CAST:
    case OP_CLAMP:
    case OP_WHERE: return true;
    case OP_BINARY:
        return node->kind == BINARY_add || node->kind == BINARY_sub || node->kind == BINARY_mul ||
               node->kind == BINARY_maximum || node->kind == BINARY_minimum;
    case OP_COL2IM: return false;
    default: return node->op >= OP_RESHAPE && node->op <= OP_DIAGONAL;
    }
}

/* By value: whole numbers, whatever their dtype: a cast of them rounds nothing. */
static bool *find_whole(const Graph *g)
{
    bool *whole = heap_alloc(sizeof *whole * (g->values.len + 1));
    for (ValueId v = 0; v < g->values.len; v++)
        whole[v] = !dtype_is_float(graph_value(g, v)->dtype) ||
                   graph_value(g, v)->kind == VALUE_CONST;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool all = keeps_whole(node);
        for (uint32_t i = 0; i < node->n_in; i++)
            all &= node->in[i] == VALUE_NONE || whole[node->in[i]];
        for (uint32_t o = 0; o < node->n_out; o++)
            whole[node->out + o] |= all || rounds_off(g, node);
    }
    return whole;
}

/* By value: numbers that are known exactly, since nothing but moves stands between them and the inputs. */
static bool *find_exact(const Graph *g)
{
    bool *exact = heap_alloc(sizeof *exact * (g->values.len + 1));
    for (ValueId v = 0; v < g->values.len; v++)
        exact[v] = graph_value(g, v)->kind != VALUE_NODE;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        exact[node->out] = node->n_in && op_only_moves(node) && exact[node->in[0]];
    }
    return exact;
}

bool *compare_roundings(const Graph *g)
{
    bool *whole = find_whole(g), *rounds = heap_alloc(sizeof *rounds * (g->nodes.len + 1));
    bool *exact = find_exact(g);
    bool any = false;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool digits = node->op == OP_UNARY && node_float(node, AT_A, 0) != 0;
        rounds[n] = rounds_off(g, node) && !whole[node->in[0]] && (digits || !exact[node->in[0]]);
        any |= rounds[n];
    }
    heap_free(whole);
    heap_free(exact);
    if (any)
        return rounds;
    heap_free(rounds);
    return NULL;
}

CompareSpec compare_spec(const Graph *g, CompareRule rule)
{
    CompareSpec spec = {.rule = rule, .reduction = 1, .depth = 1};
    int64_t *depth = heap_alloc(sizeof *depth * (g->values.len + 1));
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        int64_t deepest = 0, length = compare_reduction(g, node);
        for (uint32_t i = 0; i < node->n_in; i++)
            if (node->in[i] != VALUE_NONE)
                deepest = depth[node->in[i]] > deepest ? depth[node->in[i]] : deepest;
        for (uint32_t o = 0; o < node->n_out; o++)
            depth[node->out + o] = deepest + rounding_steps(g, node);
        spec.reduction = length > spec.reduction ? length : spec.reduction;
    }
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        ValueId v = g->outputs.at[i];
        spec.depth = depth[v] > spec.depth ? depth[v] : spec.depth;
    }
    heap_free(depth);
    return spec;
}
