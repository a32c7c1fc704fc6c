/* nn.MultiheadAttention as the products it is made of. In: mha without a padding mask, of which only the
 * result is read. Out: projections, sdpa over heads, the output projection; other rules rewrite sdpa.
 *
 *     q w_q^T + b_q  ─▶ [N, heads, L, width] ─▶ sdpa ─▶ [N, L, E] ─▶ w_out, b_out
 */
#include "gen/plan/rewrite.h"

enum { IN_Q, IN_WQ = 3, IN_BIAS = 6, IN_WO, IN_BO, IN_MASK, IN_KEY_MASK };

typedef struct Heads {
    Rewrite *r;
    const Node *node;
    int64_t heads, width; /* width of all heads together */
    bool batch_first;
} Heads;

static ValueId linear(Rewrite *r, ValueId x, ValueId w, ValueId bias)
{
    return rw_make(r, OP_LINEAR, 0, 3, (ValueId[]){x, w, bias}, 0, NULL);
}

/* [L, N, E] and [L, E] as [N, L, E]. */
static ValueId samples_first(const Heads *h, ValueId x)
{
    Shape s = rw_value(h->r, x)->shape;
    if (s.rank == 2)
        return rw_reshape(h->r, x, (Shape){3, {1, s.dim[0], s.dim[1]}});
    return h->batch_first ? x : rw_swap(h->r, x, 0, 1);
}

/* Projection `which` of its input: [N, heads, L, width / heads]. */
static ValueId projected(const Heads *h, uint32_t which)
{
    ValueId x = samples_first(h, rw_in(h->r, h->node, IN_Q + which)), bias = VALUE_NONE;
    if (h->node->in[IN_BIAS] != VALUE_NONE)
        bias = rw_slice(h->r, rw_in(h->r, h->node, IN_BIAS), 0, which * h->width,
                        (which + 1) * h->width, 1);
    ValueId y = linear(h->r, x, rw_in(h->r, h->node, IN_WQ + which), bias);
    Shape s = rw_value(h->r, y)->shape;
    Shape split = {4, {s.dim[0], s.dim[1], h->heads, h->width / h->heads}};
    return rw_swap(h->r, rw_reshape(h->r, y, split), 1, 2);
}

/* The mask of the scores. A boolean mask of sdpa keeps what is true, one of mha what is false. */
static ValueId mask_of(const Heads *h)
{
    if (h->node->in[IN_MASK] == VALUE_NONE)
        return VALUE_NONE;
    ValueId mask = rw_in(h->r, h->node, IN_MASK);
    bool truth = rw_value(h->r, mask)->dtype == DT_BOOL;
    return truth ? rw_unary(h->r, UNARY_logical_not, mask) : mask;
}

static bool takes(const Rewrite *r, const Node *node)
{
    if (node->op != OP_MHA || node->in[IN_KEY_MASK] != VALUE_NONE)
        return false;
    bool mask = node->in[IN_MASK] != VALUE_NONE;
    if (mask && graph_value(r->from, node->in[IN_MASK])->shape.rank != 2)
        return false;
    return node->n_out == 1 || graph_readers(r->from, node->out + 1) == 0;
}

bool rewrite_attention(Rewrite *r, const Node *node, ValueId *out)
{
    if (!takes(r, node))
        return false;
    Heads h = {.r = r,
               .node = node,
               .heads = node_int(node, AT_HEADS, 1),
               .width = rw_value(r, rw_in(r, node, IN_WQ))->shape.dim[0],
               .batch_first = node_bool(node, AT_BATCH_FIRST)};
    bool causal = node_bool(node, AT_CAUSAL) && node->in[IN_MASK] == VALUE_NONE;
    ValueId q = projected(&h, 0), k = projected(&h, 1), v = projected(&h, 2);
    Attr only_before = {.key = AT_CAUSAL, .i = 1};
    ValueId y = rw_make(r, OP_SDPA, 0, 4, (ValueId[]){q, k, v, mask_of(&h)}, causal, &only_before);
    Shape s = rw_value(r, y)->shape, was = graph_value(r->from, node->out)->shape;
    y = rw_reshape(r, rw_swap(r, y, 1, 2), (Shape){3, {s.dim[0], s.dim[2], h.width}});
    ValueId bias = node->in[IN_BO] == VALUE_NONE ? VALUE_NONE : rw_in(r, node, IN_BO);
    y = linear(r, y, rw_in(r, node, IN_WO), bias);
    if (was.rank == 2)
        y = rw_reshape(r, y, was);
    else if (!h.batch_first)
        y = rw_swap(r, y, 0, 1);
    out[0] = y;
    for (uint32_t i = 1; i < node->n_out; i++)
        out[i] = VALUE_NONE;
    return true;
}
