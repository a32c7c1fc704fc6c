/* Building nodes of a rewritten graph. In: operands. Out: the value of a new node; after a node
 * that could not be made, any value, and `failed`. */
#include "gen/plan/rewrite.h"

#include <string.h>

const Value *rw_value(const Rewrite *r, ValueId id) { return graph_value(r->to, id); }

ValueId rw_in(const Rewrite *r, const Node *node, uint32_t i)
{
    return i < node->n_in && node->in[i] != VALUE_NONE ? r->map[node->in[i]] : VALUE_NONE;
}

ValueId rw_make(Rewrite *r, Op op, int kind, uint32_t n_in, const ValueId *in, uint32_t n_attr,
                const Attr *attr)
{
    NodeSpec spec = {.op = op,
                     .kind = kind,
                     .n_in = n_in,
                     .in = in,
                     .n_attr = n_attr,
                     .attr = attr,
                     .at = r->node->at,
                     .scope = r->node->scope};
    ValueId out = 0;
    if (r->failed || !graph_add(r->to, &spec, r->diag, &out))
        r->failed = true;
    return r->failed ? 0 : out;
}

ValueId rw_number(Rewrite *r, double value) { return graph_const_float(r->to, value); }

ValueId rw_integer(Rewrite *r, int64_t value) { return graph_const_int(r->to, value); }

ValueId rw_unary(Rewrite *r, UNARY_Kind kind, ValueId x)
{
    return rw_make(r, OP_UNARY, (int)kind, 1, &x, 0, NULL);
}

ValueId rw_binary(Rewrite *r, BINARY_Kind kind, ValueId a, ValueId b)
{
    return rw_make(r, OP_BINARY, (int)kind, 2, (ValueId[]){a, b}, 0, NULL);
}

ValueId rw_where(Rewrite *r, ValueId cond, ValueId a, ValueId b)
{
    return rw_make(r, OP_WHERE, 0, 3, (ValueId[]){cond, a, b}, 0, NULL);
}

ValueId rw_clamp(Rewrite *r, ValueId x, ValueId low, ValueId high)
{
    return rw_make(r, OP_CLAMP, 0, 3, (ValueId[]){x, low, high}, 0, NULL);
}

ValueId rw_cast(Rewrite *r, ValueId x, DType dtype)
{
    Attr to = {.key = AT_DTYPE, .dtype = dtype};
    return rw_value(r, x)->dtype == dtype ? x : rw_make(r, OP_CAST, 0, 1, &x, 1, &to);
}

static Attr ints(Rewrite *r, AttrKey key, const int64_t *at, uint32_t len)
{
    int64_t *copy = arena_array(r->arena, int64_t, len + 1);
    memcpy(copy, at, len * sizeof *at);
    Attr a = {.key = key};
    a.ints.at = copy;
    a.ints.len = len;
    return a;
}

ValueId rw_reduce(Rewrite *r, REDUCE_Kind kind, ValueId x, uint32_t dims, bool keep)
{
    int64_t list[GRAPH_MAX_RANK];
    uint32_t n = 0;
    for (int i = 0; i < GRAPH_MAX_RANK; i++)
        if (dims >> i & 1)
            list[n++] = i;
    Attr attrs[] = {ints(r, AT_DIMS, list, n), {.key = AT_KEEPDIM, .i = keep}};
    return n ? rw_make(r, OP_REDUCE, (int)kind, 1, &x, 2, attrs) : x;
}

ValueId rw_reshape(Rewrite *r, ValueId x, Shape shape)
{
    Attr a = ints(r, AT_SHAPE, shape.dim, (uint32_t)shape.rank);
    return shape_equal(rw_value(r, x)->shape, shape) ? x : rw_make(r, OP_RESHAPE, 0, 1, &x, 1, &a);
}

ValueId rw_expand(Rewrite *r, ValueId x, Shape shape)
{
    Attr a = ints(r, AT_SHAPE, shape.dim, (uint32_t)shape.rank);
    return shape_equal(rw_value(r, x)->shape, shape) ? x : rw_make(r, OP_EXPAND, 0, 1, &x, 1, &a);
}

ValueId rw_permute(Rewrite *r, ValueId x, const int64_t *dims)
{
    Attr a = ints(r, AT_DIMS, dims, (uint32_t)rw_value(r, x)->shape.rank);
    return rw_make(r, OP_PERMUTE, 0, 1, &x, 1, &a);
}

ValueId rw_swap(Rewrite *r, ValueId x, int a, int b)
{
    int64_t dims[GRAPH_MAX_RANK];
    for (int i = 0; i < GRAPH_MAX_RANK; i++)
        dims[i] = i == a ? b : i == b ? a : i;
    return a == b ? x : rw_permute(r, x, dims);
}

ValueId rw_slice(Rewrite *r, ValueId x, int dim, int64_t start, int64_t end, int64_t step)
{
    Attr attrs[] = {{.key = AT_DIM, .i = dim},
                    {.key = AT_START, .i = start},
                    {.key = AT_END, .i = end},
                    {.key = AT_STEP, .i = step}};
    bool all = start == 0 && step == 1 && end == rw_value(r, x)->shape.dim[dim];
    return all ? x : rw_make(r, OP_SLICE, 0, 1, &x, 4, attrs);
}

ValueId rw_roll(Rewrite *r, ValueId x, int dim, int64_t by)
{
    int64_t at = dim;
    Attr attrs[] = {ints(r, AT_DIMS, &at, 1), ints(r, AT_SHAPE, &by, 1)};
    return rw_make(r, OP_ROLL, 0, 1, &x, 2, attrs);
}

ValueId rw_pad(Rewrite *r, ValueId x, int dims, const int64_t *pads, double value)
{
    Attr attrs[] = {
        {.key = AT_PADS}, {.key = AT_MODE, .text = STR("constant")}, {.key = AT_VALUE, .f = value}};
    int64_t *own = arena_array(r->arena, int64_t, 2 * (size_t)dims);
    memcpy(own, pads, 2 * (size_t)dims * sizeof *own);
    attrs[0].ints.at = own;
    attrs[0].ints.len = 2 * (uint32_t)dims;
    return rw_make(r, OP_PAD, 0, 1, &x, 3, attrs);
}

ValueId rw_range(Rewrite *r, DType dtype, int64_t from, int64_t to, int64_t step)
{
    Attr range[] = {{.key = AT_DTYPE, .dtype = dtype},
                    {.key = AT_A, .f = (double)from},
                    {.key = AT_B, .f = (double)to},
                    {.key = AT_C, .f = (double)step}};
    return rw_make(r, OP_ARANGE, 0, 0, NULL, 4, range);
}

ValueId rw_full(Rewrite *r, Shape shape, DType dtype, double value)
{
    Attr attrs[] = {ints(r, AT_SHAPE, shape.dim, (uint32_t)shape.rank),
                    {.key = AT_DTYPE, .dtype = dtype},
                    {.key = AT_VALUE, .f = value}};
    return rw_make(r, OP_FULL, 0, 0, NULL, 3, attrs);
}

ValueId rw_softmax(Rewrite *r, ValueId x, int dim, bool log)
{
    Attr attrs[] = {{.key = AT_DIM, .i = dim}, {.key = AT_LOG, .i = log}};
    return rw_make(r, OP_SOFTMAX, 0, 1, &x, 2, attrs);
}

ValueId rw_with_dim(Rewrite *r, ValueId x, int dim)
{
    Shape s = rw_value(r, x)->shape, to = {.rank = s.rank + 1};
    if (s.rank == GRAPH_MAX_RANK) {
        r->failed = true;
        return 0;
    }
    for (int i = 0, k = 0; i < to.rank; i++)
        to.dim[i] = i == dim ? 1 : s.dim[k++];
    return rw_reshape(r, x, to);
}

Node rw_node(Rewrite *r, const Node *node)
{
    Node copy = *node;
    copy.attr = arena_array(r->arena, Attr, node->n_attr + 4);
    if (node->n_attr)
        memcpy(copy.attr, node->attr, node->n_attr * sizeof *node->attr);
    return copy;
}

void rw_hold(Rewrite *r, ValueId x, int dim)
{
    if (!r->failed)
        r->to->values.at[x].held_axes |= UINT32_C(1) << dim;
}

/* The array has room for four more: rw_node. */
void rw_attr(Rewrite *r, Node *node, Attr attr)
{
    uint32_t at = 0;
    (void)r;
    while (at < node->n_attr && node->attr[at].key < attr.key)
        at++;
    if (at == node->n_attr || node->attr[at].key != attr.key) {
        for (uint32_t i = node->n_attr; i > at; i--)
            node->attr[i] = node->attr[i - 1];
        node->n_attr++;
    }
    node->attr[at] = attr;
}

ValueId rw_again(Rewrite *r, const Node *node, const ValueId *in)
{
    NodeSpec spec = {.op = node->op,
                     .kind = node->kind,
                     .n_in = node->n_in,
                     .n_out = node->n_out,
                     .in = in,
                     .n_attr = node->n_attr,
                     .attr = node->attr,
                     .at = node->at,
                     .scope = node->scope};
    ValueId out = 0;
    if (r->failed || !graph_add(r->to, &spec, r->diag, &out))
        r->failed = true;
    return r->failed ? 0 : out;
}
