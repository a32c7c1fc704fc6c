/* Vector products, diagonals, norms with their statistics, norms of what is computed. */
#include "gen/plan/rewrite.h"

#include "gen/plan/script.h"

static ValueId mul(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_mul, a, b); }
static ValueId add_values(Rewrite *r, ValueId a, ValueId b)
{
    return rw_binary(r, BINARY_add, a, b);
}
static ValueId sub(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_sub, a, b); }

/* c[i] = a[i+1] b[i+2] - a[i+2] b[i+1] */
static bool cross(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId a = rw_in(r, node, 0), b = rw_in(r, node, 1);
    Shape s = graph_value(r->from, node->out)->shape;
    int dim = 0;
    if (!shape_dim(s, node_int(node, AT_DIM, -1), &dim))
        return false;
    DType own = graph_value(r->from, node->out)->dtype;
    DType as = dtype_is_float(own) ? DT_F32 : own;
    a = rw_cast(r, rw_expand(r, a, s), as);
    b = rw_cast(r, rw_expand(r, b, s), as);
    ValueId plus = mul(r, rw_roll(r, a, dim, -1), rw_roll(r, b, dim, -2));
    ValueId less = mul(r, rw_roll(r, a, dim, -2), rw_roll(r, b, dim, -1));
    out[0] = rw_cast(r, sub(r, plus, less), own);
    return true;
}

/* The vector beside the unit matrix, zero elsewhere. */
static bool diag(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    const Value *y = graph_value(r->from, node->out);
    int64_t n = rw_value(r, x)->shape.dim[0], off = node_int(node, AT_DIAGONAL, 0);
    int64_t shape[] = {n, n};
    Attr attrs[] = {{.key = AT_SHAPE}, {.key = AT_DTYPE, .dtype = y->dtype}};
    attrs[0].ints.at = shape;
    attrs[0].ints.len = 2;
    if (rw_value(r, x)->shape.rank != 1 || !dtype_is_float(y->dtype))
        return false;
    ValueId square = mul(r, rw_make(r, OP_EYE, 0, 0, NULL, 2, attrs), rw_with_dim(r, x, 1));
    int64_t pads[4] = {off > 0 ? off : 0, off < 0 ? -off : 0, off < 0 ? -off : 0,
                       off > 0 ? off : 0};
    Attr pad = {.key = AT_PADS};
    pad.ints.at = pads;
    pad.ints.len = 4;
    out[0] = off ? rw_make(r, OP_PAD, 0, 1, &square, 1, &pad) : square;
    return true;
}

/* ---- norms with their mean and deviation as results ---- */

typedef struct Moments {
    ValueId mean, rstd, y;
} Moments;

static Moments moments(Rewrite *r, ValueId x, uint32_t dims, double eps)
{
    Moments m;
    m.mean = rw_reduce(r, REDUCE_mean, x, dims, true);
    ValueId centred = sub(r, x, m.mean);
    ValueId var = rw_reduce(r, REDUCE_mean, rw_unary(r, UNARY_square, centred), dims, true);
    m.rstd = rw_unary(r, UNARY_rsqrt, add_values(r, var, rw_number(r, eps)));
    m.y = mul(r, centred, m.rstd);
    return m;
}

static ValueId affine(Rewrite *r, const Node *node, ValueId y, Shape shape)
{
    ValueId w = rw_in(r, node, 1), b = rw_in(r, node, 2);
    if (w != VALUE_NONE)
        y = mul(r, y, rw_reshape(r, w, shape));
    return b == VALUE_NONE ? y : add_values(r, y, rw_reshape(r, b, shape));
}

static ValueId result(Rewrite *r, const Node *node, uint32_t k, ValueId x)
{
    const Value *y = graph_value(r->from, node->out + k);
    return rw_cast(r, rw_reshape(r, x, y->shape), y->dtype);
}

static void statistics(Rewrite *r, const Node *node, const Moments *m, ValueId *out)
{
    if (node->n_out > 1)
        out[1] = result(r, node, 1, m->mean);
    if (node->n_out > 2)
        out[2] = result(r, node, 2, m->rstd);
}

static bool layer_norm(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *shape = node_attr(node, AT_SHAPE);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape, last = {0};
    if (node->n_out == 1 || !shape)
        return false;
    last.rank = (int)shape->ints.len;
    for (int i = 0; i < last.rank; i++)
        last.dim[i] = shape->ints.at[i];
    uint32_t dims = ((1u << last.rank) - 1) << (s.rank - last.rank);
    Moments m = moments(r, rw_cast(r, x, DT_F32), dims, node_float(node, AT_EPS, 1e-5));
    out[0] = result(r, node, 0, affine(r, node, m.y, last));
    statistics(r, node, &m, out);
    return true;
}

/* The channels as (groups, channels of a group). */
static bool group_norm(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape, cut = {.rank = 3}, weight = {.rank = 3};
    int64_t groups = node_int(node, AT_GROUPS, 1), inner = script_product(s, 2, s.rank);
    if (node->n_out == 1)
        return false;
    cut = (Shape){4, {s.dim[0], groups, s.dim[1] / groups, inner}};
    weight = (Shape){3, {groups, s.dim[1] / groups, 1}};
    Moments m = moments(r, rw_reshape(r, rw_cast(r, x, DT_F32), cut), 12,
                        node_float(node, AT_EPS, 1e-5));
    out[0] = result(r, node, 0, affine(r, node, m.y, weight));
    statistics(r, node, &m, out);
    return true;
}

/* x / (c + a * mean over neighbouring channels of x^2) ^ b */
static bool local_response(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    int64_t size = node_int(node, AT_SIZE, 5), before = size / 2;
    int64_t pads[2 * GRAPH_MAX_RANK] = {0};
    if (s.rank < 2 || size < 1 || size > 32)
        return false;
    pads[2 * (s.rank - 2)] = before;
    pads[2 * (s.rank - 2) + 1] = (size - 1) / 2;
    ValueId sum = VALUE_NONE;
    ValueId wide = rw_pad(r, rw_unary(r, UNARY_square, x), s.rank - 1, pads, 0);
    for (int64_t k = 0; k < size; k++) {
        ValueId part = rw_slice(r, wide, 1, k, k + s.dim[1], 1);
        sum = k ? add_values(r, sum, part) : part;
    }
    double a = node_float(node, AT_A, 1e-4) / (double)size;
    ValueId scale = add_values(r, mul(r, sum, rw_number(r, a)),
                               rw_number(r, node_float(node, AT_C, 1)));
    ValueId power = rw_binary(r, BINARY_pow, scale, rw_number(r, node_float(node, AT_B, 0.75)));
    out[0] = rw_binary(r, BINARY_div, x, power);
    return true;
}

/* Dimensions of one element behind the joined one: without them it is the last. */
static bool join_before_ones(Rewrite *r, const Node *node, ValueId *out)
{
    Shape s = graph_value(r->from, node->out)->shape;
    int dim = 0;
    if (!shape_dim(s, node_int(node, AT_DIM, 0), &dim) || dim == s.rank - 1)
        return false;
    for (int i = dim + 1; i < s.rank; i++)
        if (s.dim[i] != 1)
            return false;
    ValueId *parts = arena_array(r->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++) {
        Shape own = rw_value(r, rw_in(r, node, i))->shape;
        if (own.rank != s.rank)
            return false;
        own.rank = dim + 1;
        parts[i] = rw_reshape(r, rw_in(r, node, i), own);
    }
    Attr at = {.key = AT_DIM, .i = dim};
    out[0] = rw_reshape(r, rw_make(r, OP_CAT, 0, node->n_in, parts, 1, &at), s);
    return true;
}

/* Single elements beside others: whole tensors one after the other, that dimension put last. */
static bool join_last(Rewrite *r, const Node *node, ValueId *out)
{
    Shape s = graph_value(r->from, node->out)->shape;
    int dim = 0;
    bool single = false;
    if (node->n_in < 2 || s.rank < 2 || !shape_dim(s, node_int(node, AT_DIM, 0), &dim) ||
        dim != s.rank - 1)
        return false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        Shape own = rw_value(r, rw_in(r, node, i))->shape;
        if (own.rank != s.rank)
            return false;
        single = single || own.dim[dim] == 1;
    }
    if (!single)
        return false;
    ValueId *parts = arena_array(r->arena, ValueId, node->n_in + 1);
    int64_t back[GRAPH_MAX_RANK] = {0}, forth[GRAPH_MAX_RANK] = {dim};
    for (int i = 0; i + 1 < s.rank; i++) {
        back[i] = i + 1;
        forth[i + 1] = i;
    }
    for (uint32_t i = 0; i < node->n_in; i++) {
        ValueId part = rw_in(r, node, i);
        Shape own = rw_value(r, part)->shape, first = {.rank = s.rank, .dim = {1}};
        for (int k = 0; k + 1 < s.rank; k++)
            first.dim[k + 1] = own.dim[k];
        parts[i] = own.dim[dim] == 1 ? rw_reshape(r, part, first) : rw_permute(r, part, forth);
    }
    Attr at = {.key = AT_DIM, .i = 0};
    out[0] = rw_permute(r, rw_make(r, OP_CAT, 0, node->n_in, parts, 1, &at), back);
    return true;
}

static bool linspace(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *y = graph_value(r->from, node->out);
    double a = node_float(node, AT_A, 0), b = node_float(node, AT_B, 1);
    int64_t size = y->shape.dim[0];
    if (!dtype_is_float(y->dtype) || size < 2)
        return false;
    ValueId at = rw_range(r, DT_F32, 0, size, 1);
    at = mul(r, at, rw_number(r, (b - a) / (double)(size - 1)));
    out[0] = rw_cast(r, add_values(r, at, rw_number(r, a)), y->dtype);
    return true;
}

/* Vector instructions turn and gather elements of up to 32 bits: 64-bit integers that are known to fit
 * are moved as such. */
static bool move_narrow(Rewrite *r, const Node *node, ValueId *out)
{
    const Value *x = graph_value(r->from, node->in[0]);
    GraphBounds b = x->bounds;
    if (x->dtype != DT_I64 || !b.known || b.low < INT32_MIN || b.high > INT32_MAX)
        return false;
    ValueId narrow = rw_cast(r, rw_in(r, node, 0), DT_I32);
    out[0] = rw_cast(r, rw_again(r, node, &narrow), DT_I64);
    return true;
}

bool rewrite_shape(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_PERMUTE:
    case OP_FLIP: return move_narrow(r, node, out);
    case OP_CROSS: return cross(r, node, out);
    case OP_CAT: return join_before_ones(r, node, out) || join_last(r, node, out);
    case OP_LINSPACE: return linspace(r, node, out);
    case OP_DIAG: return diag(r, node, out);
    case OP_LAYER_NORM: return layer_norm(r, node, out);
    case OP_GROUP_NORM: return group_norm(r, node, out);
    case OP_LRN: return local_response(r, node, out);
    default: return false;
    }
}
