/* Losses, distances and norms, rewritten into arithmetic and reductions. */
#include "gen/plan/rewrite.h"

#include "gen/plan/script.h"

static ValueId add_values(Rewrite *r, ValueId a, ValueId b)
{
    return rw_binary(r, BINARY_add, a, b);
}
static ValueId sub(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_sub, a, b); }
static ValueId mul(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_mul, a, b); }
static ValueId quotient(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_div, a, b); }

static uint32_t all_dims(const Rewrite *r, ValueId x)
{
    return (1u << rw_value(r, x)->shape.rank) - 1;
}

static ValueId reduced(Rewrite *r, const Node *node, ValueId x)
{
    Str how = node_text(node, AT_REDUCTION);
    uint32_t all = all_dims(r, x);
    if (str_is(how, "none") || !all)
        return x;
    if (str_is(how, "sum"))
        return rw_reduce(r, REDUCE_sum, x, all, false);
    if (!str_is(how, "batchmean"))
        return rw_reduce(r, REDUCE_mean, x, all, false);
    double rows = (double)rw_value(r, x)->shape.dim[0];
    rw_hold(r, x, 0);
    return quotient(r, rw_reduce(r, REDUCE_sum, x, all, false), rw_number(r, rows));
}

/* ---- element by element ---- */

static ValueId limited_log(Rewrite *r, ValueId x)
{
    return rw_clamp(r, rw_unary(r, UNARY_log, x), rw_number(r, -100), VALUE_NONE);
}

static ValueId softplus(Rewrite *r, ValueId x)
{
    ValueId tail = rw_unary(
        r, UNARY_log1p, rw_unary(r, UNARY_exp, rw_unary(r, UNARY_neg, rw_unary(r, UNARY_abs, x))));
    return add_values(r, rw_unary(r, UNARY_relu, x), tail);
}

static ValueId loss_value(Rewrite *r, const Node *node, ValueId x, ValueId y)
{
    ValueId one = rw_number(r, 1);
    double a = node_float(node, AT_A, 1);
    switch (node->kind) {
    case LOSS_mse: return rw_unary(r, UNARY_square, sub(r, x, y));
    case LOSS_l1: return rw_unary(r, UNARY_abs, sub(r, x, y));
    case LOSS_huber:
    case LOSS_smooth_l1: {
        ValueId d = rw_unary(r, UNARY_abs, sub(r, x, y));
        if (a == 0)
            return d;
        ValueId low = rw_binary(r, BINARY_minimum, d, rw_number(r, a));
        ValueId v = mul(r, low, sub(r, d, mul(r, low, rw_number(r, 0.5))));
        return node->kind == LOSS_huber ? v : quotient(r, v, rw_number(r, a));
    }
    case LOSS_kl_div:
        if (node_bool(node, AT_LOG_TARGET))
            return mul(r, rw_unary(r, UNARY_exp, y), sub(r, y, x));
        return sub(r, rw_binary(r, BINARY_xlogy, y, y), mul(r, y, x));
    case LOSS_bce: {
        ValueId yes = mul(r, y, limited_log(r, x));
        ValueId no = mul(r, sub(r, one, y), limited_log(r, sub(r, one, x)));
        return rw_unary(r, UNARY_neg, add_values(r, yes, no));
    }
    case LOSS_bce_logits: return sub(r, softplus(r, x), mul(r, x, y));
    case LOSS_soft_margin: return softplus(r, rw_unary(r, UNARY_neg, mul(r, x, y)));
    case LOSS_hinge_embedding: {
        ValueId far = rw_unary(r, UNARY_relu,
                               sub(r, rw_number(r, node_float(node, AT_MARGIN, 1)), x));
        return rw_where(r, rw_binary(r, BINARY_eq, y, one), x, far);
    }
    case LOSS_poisson_nll: {
        if (!node_attr(node, AT_LOG) || node_bool(node, AT_LOG))
            return sub(r, rw_unary(r, UNARY_exp, x), mul(r, y, x));
        ValueId log = rw_unary(r, UNARY_log,
                               add_values(r, x, rw_number(r, node_float(node, AT_EPS, 1e-8))));
        return sub(r, x, mul(r, y, log));
    }
    default: return VALUE_NONE;
    }
}

static bool loss(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1), w = rw_in(r, node, 2);
    bool planned = node->kind == LOSS_mse || node->kind == LOSS_l1 || node->kind == LOSS_huber ||
                   node->kind == LOSS_smooth_l1 || node->kind == LOSS_kl_div ||
                   node->kind == LOSS_soft_margin;
    if (planned && w == VALUE_NONE && !r->composites)
        return false;
    DType own = graph_value(r->from, node->out)->dtype;
    ValueId v = loss_value(r, node, rw_cast(r, x, DT_F32), rw_cast(r, y, DT_F32));
    if (v == VALUE_NONE)
        return false;
    v = w == VALUE_NONE ? v : mul(r, v, w);
    out[0] = rw_cast(r, reduced(r, node, v), own);
    return true;
}

/* ---- by class ---- */

static ValueId per_class(Rewrite *r, ValueId w, int rank)
{
    Shape s = {.rank = rank - 1 > 0 ? rank - 1 : 1};
    for (int i = 0; i < s.rank; i++)
        s.dim[i] = i ? 1 : rw_value(r, w)->shape.dim[0];
    return rw_reshape(r, w, s);
}

/* -sum over classes of weight * target * logp; targets are shares of each class */
static ValueId soft_targets(Rewrite *r, const Node *node, ValueId logp, ValueId target, ValueId w)
{
    Shape s = rw_value(r, logp)->shape;
    int dim = s.rank > 1;
    double smooth = node_float(node, AT_SMOOTHING, 0), n = (double)s.dim[dim];
    if (smooth > 0) {
        rw_hold(r, logp, dim);
        target = add_values(r, mul(r, target, rw_number(r, 1 - smooth)), rw_number(r, smooth / n));
    }
    ValueId v = mul(r, logp, target);
    if (w != VALUE_NONE)
        v = mul(r, v, per_class(r, w, s.rank));
    v = rw_unary(r, UNARY_neg, rw_reduce(r, REDUCE_sum, v, 1u << dim, false));
    Str how = node_text(node, AT_REDUCTION);
    uint32_t all = all_dims(r, v);
    if (str_is(how, "none") || !all)
        return v;
    ValueId sum = rw_reduce(r, REDUCE_sum, v, all, false);
    int64_t rows = script_product(s, 0, s.rank) / s.dim[dim];
    if (str_is(how, "sum"))
        return sum;
    for (int i = 0; i < s.rank; i++)
        if (i != dim)
            rw_hold(r, logp, i);
    return quotient(r, sum, rw_number(r, (double)rows));
}

typedef struct ByClass {
    ValueId keep, place; /* which targets count; where, and 0 for others */
    int dim;
} ByClass;

static ValueId pick(Rewrite *r, ValueId x, const ByClass *c, int dim)
{
    Attr at = {.key = AT_DIM, .i = dim};
    ValueId place = rw_with_dim(r, c->place, dim);
    ValueId found = rw_make(r, OP_GATHER, 0, 2, (ValueId[]){x, place}, 1, &at);
    return rw_reshape(r, found, rw_value(r, c->place)->shape);
}

static ValueId weight_of(Rewrite *r, ValueId w, const ByClass *c)
{
    ValueId flat = rw_reshape(r, c->place,
                              (Shape){1,
                                      {script_product(rw_value(r, c->place)->shape, 0,
                                                      rw_value(r, c->place)->shape.rank)}});
    Attr at = {.key = AT_DIM, .i = 0};
    ValueId found = rw_make(r, OP_INDEX_SELECT, 0, 2, (ValueId[]){w, flat}, 1, &at);
    return rw_reshape(r, found, rw_value(r, c->place)->shape);
}

static ValueId class_loss(Rewrite *r, const Node *node, ValueId logp, ValueId target, ValueId w)
{
    Shape s = rw_value(r, logp)->shape;
    ByClass c = {.dim = s.rank > 1};
    int64_t ignore = node_int(node, AT_IGNORE, -100);
    double smooth = node->op == OP_CROSS_ENTROPY ? node_float(node, AT_SMOOTHING, 0) : 0;
    ValueId zero = rw_number(r, 0);
    c.keep = rw_binary(r, BINARY_ne, target, rw_integer(r, ignore));
    c.place = rw_where(r, c.keep, target, rw_integer(r, 0));
    ValueId each = w == VALUE_NONE ? VALUE_NONE : weight_of(r, w, &c);
    ValueId v = rw_unary(r, UNARY_neg, pick(r, logp, &c, c.dim));
    v = each == VALUE_NONE ? v : mul(r, v, each);
    v = rw_where(r, c.keep, v, zero);
    ValueId share = rw_cast(r, c.keep, DT_F32);
    share = each == VALUE_NONE ? share : mul(r, share, each);
    ValueId smoothed = VALUE_NONE;
    if (smooth > 0) {
        ValueId every = w == VALUE_NONE ? logp : mul(r, logp, per_class(r, w, s.rank));
        ValueId mean = rw_reduce(r, REDUCE_mean, every, 1u << c.dim, false);
        smoothed = rw_where(r, c.keep, rw_unary(r, UNARY_neg, mean), zero);
        v = add_values(r, mul(r, v, rw_number(r, 1 - smooth)),
                       mul(r, smoothed, rw_number(r, smooth)));
    }
    Str how = node_text(node, AT_REDUCTION);
    uint32_t all = all_dims(r, v);
    if (str_is(how, "none"))
        return v;
    ValueId sum = all ? rw_reduce(r, REDUCE_sum, v, all, false) : v;
    if (str_is(how, "sum"))
        return sum;
    return quotient(r, sum, all ? rw_reduce(r, REDUCE_sum, share, all, false) : share);
}

static bool cross_entropy(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), target = rw_in(r, node, 1), w = rw_in(r, node, 2);
    DType own = graph_value(r->from, node->out)->dtype;
    Shape s = rw_value(r, x)->shape;
    bool shares = dtype_is_float(rw_value(r, target)->dtype);
    int dim = s.rank > 1;
    ValueId logp = rw_cast(r, x, DT_F32);
    if (node->op == OP_CROSS_ENTROPY)
        logp = rw_softmax(r, logp, dim, true);
    if (shares && node->op == OP_NLL_LOSS)
        return false;
    out[0] = rw_cast(
        r, shares ? soft_targets(r, node, logp, target, w) : class_loss(r, node, logp, target, w),
        own);
    return true;
}

/* ---- distances ---- */

static ValueId length(Rewrite *r, ValueId d, uint32_t dims, bool keep, double p)
{
    if (p == 2)
        return rw_unary(r, UNARY_sqrt,
                        rw_reduce(r, REDUCE_sum, rw_unary(r, UNARY_square, d), dims, keep));
    ValueId size = rw_unary(r, UNARY_abs, d);
    if (p > 1e300)
        return rw_reduce(r, REDUCE_max, size, dims, keep);
    if (p == 1)
        return rw_reduce(r, REDUCE_sum, size, dims, keep);
    ValueId sum = rw_reduce(r, REDUCE_sum, rw_binary(r, BINARY_pow, size, rw_number(r, p)), dims,
                            keep);
    return rw_binary(r, BINARY_pow, sum, rw_number(r, 1 / p));
}

static bool pairwise(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1);
    ValueId d = add_values(r, sub(r, x, y), rw_number(r, node_float(node, AT_EPS, 1e-6)));
    int last = rw_value(r, d)->shape.rank - 1;
    out[0] = length(r, d, 1u << last, node_bool(node, AT_KEEPDIM), node_float(node, AT_P, 2));
    return true;
}

/* The length of an operand, no less than eps, beside a product of that shape: one element along `dim`
 * stands for as many as the product has. */
static ValueId length_of(Rewrite *r, ValueId x, ValueId beside, int dim, double eps)
{
    Shape product = rw_value(r, beside)->shape;
    int rank = product.rank;
    Shape s = rw_value(r, x)->shape, lined = {.rank = rank};
    for (int i = 0; i < rank; i++)
        lined.dim[i] = i < rank - s.rank ? 1 : s.dim[i - rank + s.rank];
    x = rw_reshape(r, x, lined);
    ValueId v = rw_reduce(r, REDUCE_sum, mul(r, x, x), 1u << dim, false);
    if (lined.dim[dim] != product.dim[dim]) {
        rw_hold(r, beside, dim);
        v = mul(r, v, rw_number(r, (double)product.dim[dim]));
    }
    return rw_clamp(r, rw_unary(r, UNARY_sqrt, v), rw_number(r, eps), VALUE_NONE);
}

/* Operands that repeat each other's elements: each has its lengths, then every pair its product. */
static bool cosine(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1);
    const Value *was = graph_value(r->from, node->out);
    double eps = node_float(node, AT_EPS, 1e-8);
    int dim;
    if (shape_equal(rw_value(r, x)->shape, rw_value(r, y)->shape) && !r->composites)
        return false;
    x = rw_cast(r, x, DT_F32);
    y = rw_cast(r, y, DT_F32);
    ValueId product = mul(r, x, y);
    Shape s = rw_value(r, product)->shape;
    if (!shape_dim(s, node_int(node, AT_DIM, 1), &dim))
        return false;
    ValueId both = mul(r, length_of(r, x, product, dim, eps), length_of(r, y, product, dim, eps));
    ValueId v = quotient(r, rw_reduce(r, REDUCE_sum, product, 1u << dim, false), both);
    out[0] = rw_cast(r, v, was->dtype);
    return true;
}

static bool cdist(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1);
    int rank = rw_value(r, x)->shape.rank, other = rw_value(r, y)->shape.rank;
    double p = node_float(node, AT_P, 2);
    if (p == 0 || rank < 2 || other < 2)
        return false;
    ValueId d = sub(r, rw_with_dim(r, x, rank - 1), rw_with_dim(r, y, other - 2));
    out[0] = length(r, d, 1u << (rw_value(r, d)->shape.rank - 1), false, p);
    return true;
}

static bool triplet(Rewrite *r, const Node *node, ValueId *out)
{
    double p = node_float(node, AT_P, 2), eps = node_float(node, AT_EPS, 1e-6);
    ValueId v[3], d[3];
    if (p == 2 && !node_bool(node, AT_SWAP) && !r->composites)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        v[i] = rw_in(r, node, i);
    for (int i = 0; i < 3; i++) {
        ValueId gap = add_values(r, sub(r, v[i == 2], v[i ? 2 : 1]), rw_number(r, eps));
        d[i] = length(r, gap, 1u << (rw_value(r, gap)->shape.rank - 1), false, p);
    }
    ValueId far = node_bool(node, AT_SWAP) ? rw_binary(r, BINARY_minimum, d[1], d[2]) : d[1];
    ValueId gap = add_values(r, sub(r, d[0], far), rw_number(r, node_float(node, AT_MARGIN, 1)));
    out[0] = reduced(r, node, rw_unary(r, UNARY_relu, gap));
    return true;
}

bool rewrite_loss(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_LOSS: return loss(r, node, out);
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY: return cross_entropy(r, node, out);
    case OP_PAIRWISE_DISTANCE: return pairwise(r, node, out);
    case OP_COSINE_SIMILARITY: return cosine(r, node, out);
    case OP_CDIST: return cdist(r, node, out);
    case OP_TRIPLET_LOSS: return triplet(r, node, out);
    default: return false;
    }
}
