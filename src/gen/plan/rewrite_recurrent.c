/* Recurrent layers and directions one by one. In: nn.LSTM, nn.GRU or nn.RNN. Out: one node per layer and
 * direction, steps first, in f32, forward, of a kind that recurrent.c plans; what it is not is made of flips,
 * transposes and concatenations. */
#include "gen/plan/rewrite.h"

enum { IN_X, IN_H, IN_C, IN_W };

typedef struct Net {
    Rewrite *r;
    const Node *node;
    int64_t layers, ways, hidden, batch;
    bool bias, first, flat;
    DType dtype;
} Net;

static bool is_plain(const Rewrite *r, const Net *n)
{
    return n->layers == 1 && n->ways == 1 && !n->first && !n->flat &&
           rw_value(r, rw_in(r, n->node, IN_X))->dtype == DT_F32;
}

/* A state of one layer and direction, [1, batch, hidden]. */
static ValueId state_of(const Net *n, uint32_t input, int64_t number)
{
    ValueId all = rw_in(n->r, n->node, input);
    if (all == VALUE_NONE)
        return all;
    Shape whole = {3, {n->layers * n->ways, n->batch, n->hidden}};
    ValueId one = rw_slice(n->r, rw_reshape(n->r, all, whole), 0, number, number + 1, 1);
    return rw_cast(n->r, one, DT_F32);
}

static ValueId flipped(const Net *n, ValueId x)
{
    static const int64_t steps[] = {0};
    Attr dims = {.key = AT_DIMS};
    dims.ints.at = steps;
    dims.ints.len = 1;
    return rw_make(n->r, OP_FLIP, 0, 1, &x, 1, &dims);
}

/* The first output of one layer in one direction; the states follow it. */
static ValueId one_layer(const Net *n, ValueId x, int64_t number)
{
    uint32_t each = n->bias ? 4 : 2, from = IN_W + (uint32_t)number * each;
    ValueId in[IN_W + 4] = {x, state_of(n, IN_H, number), state_of(n, IN_C, number)};
    for (uint32_t i = 0; i < each; i++)
        in[IN_W + i] = rw_cast(n->r, rw_in(n->r, n->node, from + i), DT_F32);
    Node node = rw_node(n->r, n->node);
    node.n_in = IN_W + each;
    rw_attr(n->r, &node, (Attr){.key = AT_LAYERS, .i = 1});
    rw_attr(n->r, &node, (Attr){.key = AT_BATCH_FIRST, .i = 0});
    rw_attr(n->r, &node, (Attr){.key = AT_BIDIRECTIONAL, .i = 0});
    return rw_again(n->r, &node, in);
}

static ValueId joined(const Net *n, ValueId *parts, uint32_t count, int dim)
{
    Attr at = {.key = AT_DIM, .i = dim};
    return count == 1 ? parts[0] : rw_make(n->r, OP_CAT, 0, count, parts, 1, &at);
}

/* Brings a result into the task's form: its dtype, samples first, and no axis of samples where
 * the task has none. */
static ValueId as_asked(const Net *n, ValueId x, uint32_t output)
{
    Shape want = graph_value(n->r->from, n->node->out + output)->shape;
    x = rw_cast(n->r, x, n->dtype);
    if (output == 0 && n->first && !n->flat)
        x = rw_swap(n->r, x, 0, 1);
    return rw_reshape(n->r, x, want);
}

static Net read_net(Rewrite *r, const Node *node)
{
    Shape x = graph_value(r->from, node->in[IN_X])->shape;
    Net n = {.r = r,
             .node = node,
             .layers = node_int(node, AT_LAYERS, 1),
             .ways = node_bool(node, AT_BIDIRECTIONAL) ? 2 : 1,
             .hidden = node_int(node, AT_HIDDEN, 1),
             .bias = node_bool(node, AT_BIAS),
             .first = node_bool(node, AT_BATCH_FIRST),
             .flat = x.rank == 2,
             .dtype = graph_value(r->from, node->out)->dtype};
    n.batch = n.flat ? 1 : x.dim[n.first ? 0 : 1];
    return n;
}

static ValueId steps_first(const Net *n)
{
    ValueId x = rw_in(n->r, n->node, IN_X);
    Shape s = rw_value(n->r, x)->shape;
    if (n->flat)
        x = rw_reshape(n->r, x, (Shape){3, {s.dim[0], 1, s.dim[1]}});
    else if (n->first)
        x = rw_swap(n->r, x, 0, 1);
    return rw_cast(n->r, x, DT_F32);
}

bool rewrite_recurrent(Rewrite *r, const Node *node, ValueId *out)
{
    enum { MOST = 64 };
    if (node->op != OP_RNN || node_int(node, AT_SIZE, 0))
        return false;
    Net n = read_net(r, node);
    if (is_plain(r, &n) || n.layers * n.ways > MOST)
        return false;
    ValueId states[2][MOST], y = steps_first(&n);
    uint32_t count = 0, kept = node->kind == RNN_lstm ? 2 : 1;
    for (int64_t layer = 0; layer < n.layers && !r->failed; layer++) {
        ValueId both[2], x = y;
        for (int64_t way = 0; way < n.ways; way++, count++) {
            ValueId made = one_layer(&n, way ? flipped(&n, x) : x, layer * n.ways + way);
            both[way] = way ? flipped(&n, made) : made;
            for (uint32_t k = 0; k < kept; k++)
                states[k][count] = made + 1 + k;
        }
        y = joined(&n, both, (uint32_t)n.ways, 2);
    }
    if (r->failed)
        return true;
    out[0] = as_asked(&n, y, 0);
    for (uint32_t k = 0; k < kept; k++)
        out[1 + k] = as_asked(&n, joined(&n, states[k], count, 0), 1 + k);
    return true;
}
