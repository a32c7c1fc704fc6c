/* Reductions, scans and sorts, rewritten into those that are planned: reductions of floats, integers
 * added up along the last dimension, scans along another than the last, rows in order. */
#include "gen/plan/rewrite.h"

#include "gen/plan/prim_int.h"
#include "graph/bounds.h"

static int dim_of(const Node *node, Shape shape)
{
    int dim = 0;
    shape_dim(shape, node_int(node, AT_DIM, -1), &dim);
    return dim;
}

/* ---- reductions ---- */

static ValueId is_nonzero(Rewrite *r, ValueId x)
{
    if (rw_value(r, x)->dtype == DT_BOOL)
        return x;
    bool floats = dtype_is_float(rw_value(r, x)->dtype);
    return rw_binary(r, BINARY_ne, x, floats ? rw_number(r, 0) : rw_integer(r, 0));
}

static ValueId norm(Rewrite *r, ValueId x, uint32_t dims, bool keep, double p)
{
    DType own = rw_value(r, x)->dtype;
    ValueId size = rw_unary(r, UNARY_abs, x);
    if (p > 1e300 || p < -1e300)
        return rw_reduce(r, p > 0 ? REDUCE_max : REDUCE_min, size, dims, keep);
    if (p == 0) {
        ValueId ones = rw_cast(r, is_nonzero(r, x), own);
        return rw_reduce(r, REDUCE_sum, ones, dims, keep);
    }
    ValueId sum = rw_reduce(r, REDUCE_sum, rw_binary(r, BINARY_pow, size, rw_number(r, p)), dims,
                            keep);
    return rw_binary(r, BINARY_pow, sum, rw_number(r, 1 / p));
}

/* The reduced dimensions last and in one, the others before in one. */
static ValueId as_rows(Rewrite *r, ValueId x, uint32_t dims)
{
    Shape s = rw_value(r, x)->shape, rows = {2, {1, 1}};
    int64_t order[GRAPH_MAX_RANK];
    int n = 0;
    bool sorted = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s.rank; i++) {
            if ((int)(dims >> i & 1) != pass)
                continue;
            rows.dim[pass] *= s.dim[i];
            sorted = sorted && i == n;
            order[n++] = i;
        }
    return rw_reshape(r, sorted ? x : rw_permute(r, x, order), rows);
}

/* Integers: rows of them, which are planned by their own. */
static bool reduce_integers(Rewrite *r, const Node *node, ValueId x, uint32_t dims, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    Shape s = rw_value(r, x)->shape;
    bool plain = s.rank == 2 && dims == 2 && !node_attr(node, AT_DTYPE) &&
                 rw_value(r, x)->dtype != DT_BOOL;
    if (plain)
        return false;
    if (rw_value(r, x)->dtype == DT_BOOL)
        x = rw_cast(r, x, DT_I32);
    ValueId rows = rw_reduce(r, (REDUCE_Kind)node->kind, as_rows(r, x, dims), 2, false);
    out[0] = rw_reshape(r, rw_cast(r, rows, y->dtype), y->shape);
    return true;
}

/* Over dimensions of size 1 only there is nothing to reduce. */
static bool reduce_one(Rewrite *r, const Node *node, ValueId x, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    switch (node->kind) {
    case REDUCE_sum:
    case REDUCE_mean:
    case REDUCE_prod:
    case REDUCE_max:
    case REDUCE_min:
    case REDUCE_logsumexp: break;
    case REDUCE_norm: x = rw_unary(r, UNARY_abs, x); break;
    case REDUCE_any:
    case REDUCE_all:
    case REDUCE_count_nonzero: x = is_nonzero(r, x); break;
    case REDUCE_argmax:
    case REDUCE_argmin: out[0] = rw_full(r, y->shape, y->dtype, 0); return true;
    default: return false;
    }
    out[0] = rw_cast(r, rw_reshape(r, x, y->shape), y->dtype);
    if (rw_value(r, out[0])->kind != VALUE_NODE)
        out[0] = rw_make(r, OP_DROPOUT, 0, 1, &x, 0, NULL);
    return true;
}

static bool reduce(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    ValueId x = rw_in(r, node, 0);
    DType own = rw_value(r, x)->dtype, as = node_dtype(node, AT_DTYPE, own);
    uint32_t dims = prim_dims(node, rw_value(r, x)->shape.rank);
    bool keep = node_bool(node, AT_KEEPDIM);
    double p = node_float(node, AT_P, 2);
    int64_t count = 1;
    for (int i = 0; i < rw_value(r, x)->shape.rank; i++)
        count *= dims >> i & 1 ? rw_value(r, x)->shape.dim[i] : 1;
    if (count == 1 && reduce_one(r, node, x, out))
        return true;
    switch (node->kind) {
    case REDUCE_any:
    case REDUCE_all: {
        ValueId ones = rw_cast(r, is_nonzero(r, x), DT_F32);
        bool any = node->kind == REDUCE_any;
        ValueId most = rw_reduce(r, any ? REDUCE_max : REDUCE_min, ones, dims, keep);
        out[0] = rw_cast(r, most, DT_BOOL);
        return true;
    }
    case REDUCE_count_nonzero: {
        ValueId ones = rw_cast(r, is_nonzero(r, x), DT_I32);
        out[0] = rw_reshape(r, rw_reduce(r, REDUCE_sum, ones, dims, keep), y->shape);
        return true;
    }
    case REDUCE_norm:
        if (p == 1 || p == 2 || !dtype_is_float(own))
            return false;
        out[0] = norm(r, x, dims, keep, p);
        return true;
    case REDUCE_argmax:
    case REDUCE_argmin:
        if (own != DT_I8 && own != DT_U8 && own != DT_I16 && own != DT_BOOL)
            return false;
        x = rw_cast(r, x, DT_F32);
        out[0] = rw_again(r, node, &x);
        return true;
    case REDUCE_sum:
    case REDUCE_prod:
    case REDUCE_max:
    case REDUCE_min:
        if (!dtype_is_float(own) && !dtype_is_float(as))
            return reduce_integers(r, node, x, dims, out);
        break;
    default: break;
    }
    if (as == own || !dtype_is_float(as))
        return false;
    x = rw_cast(r, x, as);
    out[0] = rw_reduce(r, (REDUCE_Kind)node->kind, x, dims, keep);
    return true;
}

static bool reduce_index(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    uint32_t dims = prim_dims(node, rw_value(r, x)->shape.rank);
    bool keep = node_bool(node, AT_KEEPDIM), max = node->kind == REDUCE_max;
    out[0] = rw_reduce(r, max ? REDUCE_max : REDUCE_min, x, dims, keep);
    out[1] = rw_reduce(r, max ? REDUCE_argmax : REDUCE_argmin, x, dims, keep);
    return true;
}

/* ---- scans ---- */

/* Numbers that 32 bits do not hold: rows of them are taken one after the other. */
static bool is_wide(const Value *v)
{
    return v->dtype == DT_I64 && v->bounds.known && !bounds_within(v, -0x1p31, 0x1p31 - 1);
}

/* Along the last dimension: that one changes places with another. */
static bool scan(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    DType own = rw_value(r, x)->dtype, to = graph_value(r->from, node->out)->dtype;
    Shape s = rw_value(r, x)->shape;
    int dim = dim_of(node, s);
    if (dtype_is_float(own))
        return false;
    Node other = rw_node(r, node);
    if (is_wide(graph_value(r->from, node->out)) && own != DT_BOOL) {
        if (s.rank == 0 || dim == s.rank - 1)
            return false;
        x = rw_swap(r, x, dim, s.rank - 1);
        rw_attr(r, &other, (Attr){.key = AT_DIM, .i = s.rank - 1});
        out[0] = rw_swap(r, rw_again(r, &other, &x), dim, s.rank - 1);
        return true;
    }
    if (s.rank == 1) {
        x = rw_reshape(r, x, (Shape){2, {s.dim[0], 1}});
        rw_attr(r, &other, (Attr){.key = AT_DIM, .i = 0});
        out[0] = rw_reshape(r, rw_again(r, &other, &x), s);
        return true;
    }
    if (own == DT_BOOL) {
        x = rw_cast(r, x, DT_I32);
        out[0] = rw_cast(r, rw_again(r, &other, &x), to);
        return true;
    }
    if (dim != s.rank - 1)
        return false;
    x = rw_swap(r, x, dim, dim - 1);
    rw_attr(r, &other, (Attr){.key = AT_DIM, .i = dim - 1});
    out[0] = rw_swap(r, rw_again(r, &other, &x), dim, dim - 1);
    return true;
}

/* ---- orders ---- */

static bool ordered_dtype(DType d) { return d == DT_F32 || d == DT_F16; }

/* Rows of f32 or f16, descending, are planned. */
static bool order(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    const Value *v = rw_value(r, x);
    DType own = v->dtype;
    Shape s = v->shape;
    int dim = dim_of(node, s), last = s.rank - 1;
    bool down = node_bool(node, node->op == OP_SORT ? AT_DESCENDING : AT_LARGEST);
    bool small = own == DT_BF16 || own == DT_I8 || own == DT_U8 || own == DT_I16 ||
                 own == DT_BOOL ||
                 (dtype_is_int(own) &&
                  bounds_within(graph_value(r->from, node->in[0]), -0x1p24, 0x1p24));
    if (s.rank == 0 || (!ordered_dtype(own) && !small) ||
        (ordered_dtype(own) && dim == last && down))
        return false;
    Node other = rw_node(r, node);
    x = rw_swap(r, rw_cast(r, x, small ? DT_F32 : own), dim, last);
    if (!down)
        x = rw_unary(r, UNARY_neg, x);
    rw_attr(r, &other, (Attr){.key = AT_DIM, .i = last});
    rw_attr(r, &other, (Attr){.key = node->op == OP_SORT ? AT_DESCENDING : AT_LARGEST, .i = true});
    ValueId made = rw_again(r, &other, &x), values = made;
    if (!down)
        values = rw_unary(r, UNARY_neg, values);
    out[0] = rw_cast(r, rw_swap(r, values, dim, last), own);
    out[1] = rw_swap(r, made + 1, dim, last);
    return true;
}

/* The lower median: in the middle of the ascending order. */
static bool median(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    uint32_t dims = prim_dims(node, s.rank);
    int dim = 0;
    while (dim < s.rank && !(dims >> dim & 1))
        dim++;
    if ((dims & (dims - 1)) || node->n_out == 1) {
        int64_t count = 1;
        shape_count(s, &count);
        x = rw_reshape(r, x, (Shape){1, {count}});
        s = (Shape){1, {count}};
        dim = 0;
    }
    Attr attrs[] = {{.key = AT_DIM, .i = dim}, {.key = AT_DESCENDING, .i = false}};
    ValueId made = rw_make(r, OP_SORT, 0, 1, &x, 2, attrs);
    int64_t at = (s.dim[dim] - 1) / 2;
    for (uint32_t k = 0; k < node->n_out; k++)
        out[k] = rw_reshape(r, rw_slice(r, made + k, dim, at, at + 1, 1), y->shape);
    return true;
}

/* The node that made it, behind a cast. */
static const Node *made_by(const Graph *g, ValueId id, Op op)
{
    const Node *node = graph_maker(g, id);
    if (node && node->op == OP_CAST)
        return made_by(g, node->in[0], op);
    return node && node->op == op ? node : NULL;
}

/* How often each number occurs: one_hot(i).sum(-2) asks along rows of i, for one number at a time. */
static bool count_each(Rewrite *r, const Node *node, ValueId *out)
{
    const Node *hot = made_by(r->from, node->in[0], OP_ONE_HOT);
    const Value *y = graph_value(r->from, node->out);
    if (!hot || (node->kind != REDUCE_sum && node->kind != REDUCE_mean) || y->dtype == DT_F64)
        return false;
    Shape s = graph_value(r->from, hot->in[0])->shape;
    int64_t size = graph_value(r->from, hot->out)->shape.dim[s.rank];
    if (s.rank < 1 || s.dim[s.rank - 1] >= 1 << 24 ||
        prim_dims(node, s.rank + 1) != 1u << (s.rank - 1))
        return false;
    ValueId index = rw_cast(r, rw_in(r, hot, 0), DT_I32);
    ValueId numbers = rw_reshape(r, rw_range(r, DT_I32, 0, size, 1), (Shape){2, {size, 1}});
    ValueId same = rw_binary(r, BINARY_eq, rw_with_dim(r, index, s.rank - 1), numbers);
    ValueId ones = rw_where(r, same, rw_number(r, 1), rw_number(r, 0));
    ValueId found = rw_reduce(r, (REDUCE_Kind)node->kind, rw_cast(r, ones, DT_F32), 1u << s.rank,
                              false);
    out[0] = rw_reshape(r, rw_cast(r, found, y->dtype), y->shape);
    return true;
}

bool rewrite_reduce(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_REDUCE: return count_each(r, node, out) || reduce(r, node, out);
    case OP_REDUCE_INDEX: return reduce_index(r, node, out);
    case OP_SCAN: return scan(r, node, out);
    case OP_SORT:
    case OP_TOPK: return order(r, node, out);
    case OP_MEDIAN: return median(r, node, out);
    default: return false;
    }
}
