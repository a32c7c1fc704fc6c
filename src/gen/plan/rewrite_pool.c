/* Pools that are planned as others: power means, means that leave padding out, windows fitted to
 * a size, halves. */
#include "gen/plan/rewrite.h"

static Attr ints(Rewrite *r, AttrKey key, const int64_t *at, int n)
{
    int64_t *copy = arena_array(r->arena, int64_t, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        copy[i] = at[i];
    Attr a = {.key = key};
    a.ints.at = copy;
    a.ints.len = (uint32_t)n;
    return a;
}

static bool any_padding(const Node *node)
{
    const Attr *pad = node_attr(node, AT_PADDING);
    for (uint32_t i = 0; pad && i < pad->ints.len; i++)
        if (pad->ints.at[i])
            return true;
    return false;
}

static int64_t window_size(const Node *node)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    int64_t n = 1;
    for (uint32_t i = 0; kernel && i < kernel->ints.len; i++)
        n *= kernel->ints.at[i];
    return n;
}

/* (sum of x^p)^(1/p), by the mean */
static bool power_mean(Rewrite *r, const Node *node, ValueId *out)
{
    double p = node_float(node, AT_P, 2);
    ValueId x = rw_in(r, node, 0);
    Node other = rw_node(r, node);
    other.kind = POOL_avg;
    rw_attr(r, &other, (Attr){.key = AT_COUNT_PAD, .i = true});
    x = p == 2   ? rw_unary(r, UNARY_square, x)
        : p == 1 ? x
                 : rw_binary(r, BINARY_pow, x, rw_number(r, p));
    ValueId sum = rw_binary(r, BINARY_mul, rw_again(r, &other, &x),
                            rw_number(r, (double)window_size(node)));
    out[0] = p == 2   ? rw_unary(r, UNARY_sqrt, sum)
             : p == 1 ? sum
                      : rw_binary(r, BINARY_pow, sum, rw_number(r, 1 / p));
    return true;
}

/* The mean of what is there: the mean over the whole window, by that of ones. */
static bool without_padding(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape, plane = s;
    const Attr *kernel = node_attr(node, AT_KERNEL);
    for (int i = 0; i < s.rank - (int)kernel->ints.len; i++)
        plane.dim[i] = 1;
    Node other = rw_node(r, node);
    rw_attr(r, &other, (Attr){.key = AT_COUNT_PAD, .i = true});
    ValueId ones = rw_full(r, plane, rw_value(r, x)->dtype, 1);
    ValueId share = rw_again(r, &other, &ones);
    out[0] = rw_binary(r, BINARY_div, rw_again(r, &other, &x), share);
    return true;
}

static bool pool(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    DType own = rw_value(r, x)->dtype;
    if (node->n_out != 1)
        return false;
    if (node->kind == POOL_lp)
        return power_mean(r, node, out);
    if (own == DT_F16 || own == DT_BF16) {
        x = rw_cast(r, x, DT_F32);
        out[0] = rw_cast(r, rw_again(r, node, &x), own);
        return true;
    }
    if (node->kind == POOL_avg && any_padding(node) && !node_bool(node, AT_COUNT_PAD) &&
        !node_int(node, AT_DIVISOR, 0) && !node_bool(node, AT_CEIL))
        return without_padding(r, node, out);
    return false;
}

/* Windows of one size where the sizes divide; a mean is else an interpolation by area. */
static bool adaptive(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *to = node_attr(node, AT_SHAPE);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    int64_t kernel[3];
    bool divides = true;
    if (!to || to->ints.len > 3 || node->n_out != 1)
        return false;
    int n = (int)to->ints.len;
    for (int i = 0; i < n; i++) {
        int64_t in = s.dim[s.rank - n + i];
        divides = divides && to->ints.at[i] > 0 && in % to->ints.at[i] == 0;
        kernel[i] = divides ? in / to->ints.at[i] : 1;
    }
    if (divides) {
        Attr attrs[] = {ints(r, AT_KERNEL, kernel, n), ints(r, AT_STRIDE, kernel, n)};
        out[0] = rw_make(r, OP_POOL, node->kind, 1, &x, 2, attrs);
        return true;
    }
    Attr attrs[] = {ints(r, AT_SHAPE, to->ints.at, n), {.key = AT_MODE, .text = STR("area")}};
    if (node->kind != POOL_avg || s.rank != n + 2)
        return false;
    out[0] = rw_make(r, OP_INTERPOLATE, 0, 1, &x, 2, attrs);
    return true;
}

bool rewrite_pool(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_POOL: return pool(r, node, out);
    case OP_ADAPTIVE_POOL: return adaptive(r, node, out);
    default: return false;
    }
}
