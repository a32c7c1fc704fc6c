/* Pools that are planned as others: power means, means that leave padding out, windows fitted to
 * a size, halves, places of maxima. */
#include "gen/plan/rewrite.h"

#include <math.h>

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

/* One window of a pool with places, along one of its dimensions. */
typedef struct Along {
    int64_t in, out, kernel, stride, pad, dilation;
    int64_t apart; /* elements of the plane between neighbours */
} Along;

enum {
    MOST_STEPS = 32,
    MOST_CELL = 16 /* elements along a dimension that an interpolation adds up */,
    EXACT = 1 << 24 /* whole numbers that f32 holds */
};

static int64_t int_along(const Node *node, AttrKey key, int i, int64_t missing)
{
    const Attr *a = node_attr(node, key);
    return a && (uint32_t)i < a->ints.len ? a->ints.at[i] : missing;
}

/* False where the window has too many elements, or the plane too many places. */
static bool read_along(const Node *node, Shape in, Shape out, int n, Along *along)
{
    int64_t apart = 1, steps = 1;
    for (int i = n - 1; i >= 0; i--) {
        Along *a = &along[i];
        a->in = in.dim[in.rank - n + i];
        a->out = out.dim[out.rank - n + i];
        a->kernel = int_along(node, AT_KERNEL, i, 1);
        a->stride = int_along(node, AT_STRIDE, i, a->kernel);
        a->pad = int_along(node, AT_PADDING, i, 0);
        a->dilation = int_along(node, AT_DILATION, i, 1);
        a->apart = apart;
        apart *= a->in;
        steps *= a->kernel;
    }
    return steps <= MOST_STEPS && apart <= EXACT;
}

/* Padding less than any number, so that no place of it is taken. */
static ValueId padded(Rewrite *r, ValueId x, const Along *along, int n)
{
    int64_t pads[6] = {0};
    for (int i = 0; i < n; i++) {
        const Along *a = &along[i];
        int64_t reach = (a->out - 1) * a->stride + (a->kernel - 1) * a->dilation + 1;
        pads[2 * (n - 1 - i)] = a->pad;
        pads[2 * (n - 1 - i) + 1] = reach > a->in + a->pad ? reach - a->in - a->pad : 0;
    }
    x = rw_binary(r, BINARY_maximum, rw_cast(r, x, DT_F32), rw_number(r, -3.4028234663852886e38));
    return rw_pad(r, x, n, pads, -INFINITY);
}

/* The place in its plane where each window begins, as f32. */
static ValueId first_places(Rewrite *r, Shape out, const Along *along, int n)
{
    ValueId sum = VALUE_NONE;
    for (int i = 0; i < n; i++) {
        const Along *a = &along[i];
        Shape s = {.rank = out.rank};
        for (int k = 0; k < out.rank; k++)
            s.dim[k] = k == out.rank - n + i ? a->out : 1;
        int64_t step = a->stride * a->apart, from = -a->pad * a->apart;
        ValueId at = rw_range(r, DT_F32, from, from + (a->out - 1) * step + 1, step);
        at = rw_reshape(r, at, s);
        sum = i ? rw_binary(r, BINARY_add, sum, at) : at;
    }
    return sum;
}

/* The maximum and the place of the first element that has it: element by element of the window, one
 * that is larger, or NaN, takes the place of what was best. */
static bool with_places(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    ValueId x = rw_in(r, node, 0), best = VALUE_NONE, ahead = VALUE_NONE;
    Shape s = rw_value(r, x)->shape, to = graph_value(r->from, node->out)->shape;
    int n = kernel ? (int)kernel->ints.len : 0;
    Along along[3];
    if (node->kind != POOL_max || n < 1 || n > 3 || !dtype_is_float(rw_value(r, x)->dtype) ||
        !read_along(node, s, to, n, along))
        return false;
    ValueId wide = padded(r, x, along, n);
    for (int64_t step = 0; step < window_size(node); step++) {
        ValueId part = wide;
        int64_t rest = step, far = 0;
        for (int i = n - 1; i >= 0; i--) {
            const Along *a = &along[i];
            int64_t at = rest % a->kernel * a->dilation;
            rest /= a->kernel;
            far += at * a->apart;
            part = rw_slice(r, part, s.rank - n + i, at, at + (a->out - 1) * a->stride + 1,
                            a->stride);
        }
        ValueId distance = rw_number(r, (double)far);
        if (step == 0) {
            best = part;
            ahead = rw_full(r, to, DT_F32, (double)far);
            continue;
        }
        ValueId better = rw_binary(r, BINARY_logical_or, rw_binary(r, BINARY_gt, part, best),
                                   rw_binary(r, BINARY_ne, part, part));
        best = rw_where(r, better, part, best);
        ahead = rw_where(r, better, distance, ahead);
    }
    Node alone = rw_node(r, node);
    alone.n_out = 1;
    out[0] = rw_again(r, &alone, &x);
    ahead = rw_binary(r, BINARY_add, ahead, first_places(r, to, along, n));
    out[1] = rw_cast(r, ahead, DT_I64);
    return true;
}

/* The attributes of windows that stand side by side. */
enum { EVEN_ATTRS = 4 };
static void even_windows(Rewrite *r, const int64_t *kernel, int n, Attr attrs[EVEN_ATTRS])
{
    static const int64_t zero[3] = {0}, one[3] = {1, 1, 1};
    attrs[0] = ints(r, AT_KERNEL, kernel, n);
    attrs[1] = ints(r, AT_STRIDE, kernel, n);
    attrs[2] = ints(r, AT_PADDING, zero, n);
    attrs[3] = ints(r, AT_DILATION, one, n);
}

/* How far the last window reaches beyond the padding behind, in ceil mode. */
static int64_t beyond(const Along *a)
{
    int64_t reach = (a->out - 1) * a->stride + (a->kernel - 1) * a->dilation + 1;
    return reach > a->in + 2 * a->pad ? reach - a->in - 2 * a->pad : 0;
}

/* The mean of what counts: that of x with zeros around it, by that of ones where it counts. */
static bool counted_mean(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape, plane = s, to = graph_value(r->from, node->out)->shape;
    int n = kernel ? (int)kernel->ints.len : 0;
    int64_t around[6] = {0}, behind[6] = {0}, zero[3] = {0};
    bool padding_counts = node_bool(node, AT_COUNT_PAD);
    Along along[3];
    if (n < 1 || n > 3)
        return false;
    read_along(node, s, to, n, along);
    for (int i = 0; i < n; i++) {
        const Along *a = &along[i];
        int at = 2 * (n - 1 - i);
        around[at] = a->pad;
        around[at + 1] = a->pad + beyond(a);
        behind[at] = padding_counts ? 0 : a->pad;
        behind[at + 1] = beyond(a) + (padding_counts ? 0 : a->pad);
        plane.dim[s.rank - n + i] += padding_counts ? 2 * a->pad : 0;
    }
    for (int i = 0; i < s.rank - n; i++)
        plane.dim[i] = 1;
    Node whole = rw_node(r, node);
    rw_attr(r, &whole, ints(r, AT_PADDING, zero, n));
    rw_attr(r, &whole, (Attr){.key = AT_COUNT_PAD, .i = true});
    rw_attr(r, &whole, (Attr){.key = AT_CEIL, .i = false});
    ValueId wide = rw_pad(r, x, n, around, 0);
    ValueId ones = rw_pad(r, rw_full(r, plane, rw_value(r, x)->dtype, 1), n, behind, 0);
    out[0] = rw_binary(r, BINARY_div, rw_again(r, &whole, &wide), rw_again(r, &whole, &ones));
    return true;
}

static bool pool(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    DType own = rw_value(r, x)->dtype;
    if (node->n_out == 2)
        return with_places(r, node, out);
    if (node->kind == POOL_lp)
        return power_mean(r, node, out);
    if (own == DT_F16 || own == DT_BF16) {
        x = rw_cast(r, x, DT_F32);
        out[0] = rw_cast(r, rw_again(r, node, &x), own);
        return true;
    }
    bool uneven = (any_padding(node) && !node_bool(node, AT_COUNT_PAD)) || node_bool(node, AT_CEIL);
    return node->kind == POOL_avg && uneven && !node_int(node, AT_DIVISOR, 0) &&
           counted_mean(r, node, out);
}

/* Along one dimension after the other, a window each: cells are boxes, so that a mean of means is their mean. */
static ValueId fitted_cells(Rewrite *r, REDUCE_Kind kind, ValueId x, const Attr *to)
{
    int n = (int)to->ints.len;
    for (int i = 0; i < n; i++) {
        Shape s = rw_value(r, x)->shape;
        int dim = s.rank - n + i;
        int64_t size = s.dim[dim], count = to->ints.at[i];
        ValueId *parts = arena_array(r->arena, ValueId, (size_t)count);
        for (int64_t k = 0; k < count; k++) {
            int64_t from = k * size / count, end = ((k + 1) * size + count - 1) / count;
            ValueId part = rw_slice(r, x, dim, from, end, 1);
            parts[k] = end - from > 1 ? rw_reduce(r, kind, part, 1u << dim, true) : part;
        }
        Attr at = {.key = AT_DIM, .i = dim};
        x = count == 1 ? parts[0] : rw_make(r, OP_CAT, 0, (uint32_t)count, parts, 1, &at);
    }
    return x;
}

/* Windows that are fitted to a size along one dimension: window k is [k in / out, (k + 1) in / out),
 * rounded outwards. */
typedef struct Fitted {
    int dim;
    int64_t in, out;
} Fitted;

static int64_t fitted_start(const Fitted *f, int64_t k) { return k * f->in / f->out; }
static int64_t fitted_end(const Fitted *f, int64_t k)
{
    return ((k + 1) * f->in + f->out - 1) / f->out;
}

/* Where element `step` of every window stands along the dimension; windows that have fewer give their
 * last. Whole numbers up to EXACT, half of one added before the division, so that floor is exact. */
static ValueId fitted_index(Rewrite *r, const Fitted *f, int64_t step)
{
    double by = 1.0 / (double)f->out;
    ValueId k = rw_range(r, DT_F32, 0, f->out * f->in - f->in + 1, f->in);
    ValueId from = rw_binary(r, BINARY_mul, rw_binary(r, BINARY_add, k, rw_number(r, 0.5)),
                             rw_number(r, by));
    ValueId last = rw_binary(r, BINARY_mul,
                             rw_binary(r, BINARY_add, k, rw_number(r, (double)f->in - 0.5)),
                             rw_number(r, by));
    ValueId at = rw_binary(r, BINARY_add, rw_unary(r, UNARY_floor, from),
                           rw_number(r, (double)step));
    return rw_cast(r, rw_binary(r, BINARY_minimum, at, rw_unary(r, UNARY_floor, last)), DT_I64);
}

static ValueId fitted_step(Rewrite *r, const Fitted *f, ValueId x, ValueId index)
{
    Attr dim = {.key = AT_DIM, .i = f->dim};
    return rw_make(r, OP_INDEX_SELECT, 0, 2, (ValueId[]){x, index}, 1, &dim);
}

/* The places of an own axis, 0, 1, ..., times the elements between neighbours. */
static ValueId own_places(Rewrite *r, Shape s, int dim, int64_t apart)
{
    Shape one = {.rank = s.rank};
    for (int i = 0; i < s.rank; i++)
        one.dim[i] = i == dim ? s.dim[dim] : 1;
    ValueId at = rw_range(r, DT_F32, 0, (s.dim[dim] - 1) * apart + 1, apart);
    return rw_expand(r, rw_reshape(r, at, one), s);
}

/* Values and places along one dimension after the other, the last first, so that of equal elements the
 * first in the plane is taken; one that is NaN takes the place of what was best. */
static bool fitted_with_places(Rewrite *r, ValueId x, const Attr *to, ValueId *out)
{
    int n = (int)to->ints.len;
    ValueId value = x, place = VALUE_NONE;
    int64_t apart = 1;
    for (int i = n - 1; i >= 0; i--) {
        Shape s = rw_value(r, value)->shape;
        Fitted f = {s.rank - n + i, s.dim[s.rank - n + i], to->ints.at[i]};
        int64_t steps = 1;
        for (int64_t k = 0; k < f.out; k++)
            if (fitted_end(&f, k) - fitted_start(&f, k) > steps)
                steps = fitted_end(&f, k) - fitted_start(&f, k);
        if (f.out < 1 || steps > MOST_STEPS || apart * f.in > EXACT || f.in * f.out > EXACT / 4)
            return false;
        rw_hold(r, value, f.dim);
        ValueId here = own_places(r, s, f.dim, apart), best = VALUE_NONE, at = VALUE_NONE;
        place = place == VALUE_NONE ? here : rw_binary(r, BINARY_add, place, here);
        for (int64_t step = 0; step < steps; step++) {
            ValueId index = fitted_index(r, &f, step);
            ValueId v = fitted_step(r, &f, value, index), p = fitted_step(r, &f, place, index);
            ValueId better = !step
                                 ? VALUE_NONE
                                 : rw_binary(r, BINARY_logical_or, rw_binary(r, BINARY_gt, v, best),
                                             rw_binary(r, BINARY_ne, v, v));
            best = step ? rw_where(r, better, v, best) : v;
            at = step ? rw_where(r, better, p, at) : p;
        }
        value = best;
        place = at;
        apart *= f.in;
    }
    out[0] = value;
    out[1] = rw_cast(r, place, DT_I64);
    return true;
}

/* Over all of the last n dimensions, each of which stays with one element. */
static ValueId over_planes(Rewrite *r, const Node *node, ValueId x, int n)
{
    int rank = rw_value(r, x)->shape.rank;
    uint32_t dims = ((1u << n) - 1) << (rank - n);
    DType own = rw_value(r, x)->dtype;
    REDUCE_Kind kind = node->kind == POOL_max ? REDUCE_max : REDUCE_mean;
    return rw_cast(r, rw_reduce(r, kind, rw_cast(r, x, DT_F32), dims, true), own);
}

/* A plain window as large as the plane. */
static bool whole_plane(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    int n = kernel ? (int)kernel->ints.len : 0;
    bool whole = n > 0 && n < s.rank && node->n_out == 1 && !any_padding(node) &&
                 (node->kind == POOL_max || node->kind == POOL_avg) &&
                 !node_int(node, AT_DIVISOR, 0) && dtype_is_float(rw_value(r, x)->dtype);
    for (int i = 0; i < n && whole; i++)
        whole = kernel->ints.at[i] == s.dim[s.rank - n + i];
    if (whole)
        out[0] = over_planes(r, node, x, n);
    return whole;
}

/* The largest element of a whole plane and its place. */
static void plane_places(Rewrite *r, const Node *node, ValueId x, int n, ValueId *out)
{
    Shape s = rw_value(r, x)->shape, flat = s, to = graph_value(r->from, node->out)->shape;
    flat.rank = s.rank - n + 1;
    for (int i = flat.rank; i < s.rank; i++)
        flat.dim[flat.rank - 1] *= s.dim[i];
    ValueId row = rw_reshape(r, x, flat);
    out[0] = over_planes(r, node, x, n);
    out[1] = rw_reshape(r, rw_reduce(r, REDUCE_argmax, row, 1u << (flat.rank - 1), true), to);
}

static bool adaptive_places(Rewrite *r, const Node *node, const Attr *to, ValueId *out)
{
    int n = (int)to->ints.len;
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    int64_t kernel[3], places = 1;
    bool divides = true;
    if (!dtype_is_float(rw_value(r, x)->dtype))
        return false;
    for (int i = 0; i < n; i++) {
        int64_t in = s.dim[s.rank - n + i];
        places *= to->ints.at[i];
        divides = divides && to->ints.at[i] > 0 && in % to->ints.at[i] == 0;
        kernel[i] = divides ? in / to->ints.at[i] : 1;
    }
    if (places == 1) {
        plane_places(r, node, x, n, out);
        return true;
    }
    Attr attrs[EVEN_ATTRS];
    Node even = rw_node(r, node);
    even.op = OP_POOL;
    even.n_attr = 0;
    even_windows(r, kernel, n, attrs);
    for (int i = 0; i < EVEN_ATTRS; i++)
        rw_attr(r, &even, attrs[i]);
    return (divides && with_places(r, &even, out)) || fitted_with_places(r, x, to, out);
}

/* Windows of one size where the sizes divide; a mean is else an interpolation by area, or where cells are too large for
 * that a mean of each. */
static bool adaptive(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *to = node_attr(node, AT_SHAPE);
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape;
    int64_t kernel[3];
    bool divides = true;
    if (!to || to->ints.len > 3)
        return false;
    int n = (int)to->ints.len;
    int64_t pieces = 0, places = 1, largest = 0;
    if (node->n_out == 2)
        return node->kind == POOL_max && adaptive_places(r, node, to, out);
    for (int i = 0; i < n; i++)
        places *= to->ints.at[i];
    if (places == 1 && dtype_is_float(rw_value(r, x)->dtype) && node->kind != POOL_lp) {
        out[0] = over_planes(r, node, x, n);
        return true;
    }
    for (int i = 0; i < n; i++) {
        int64_t in = s.dim[s.rank - n + i];
        pieces += to->ints.at[i];
        largest = to->ints.at[i] && in / to->ints.at[i] + 2 > largest ? in / to->ints.at[i] + 2
                                                                      : largest;
        divides = divides && to->ints.at[i] > 0 && in % to->ints.at[i] == 0;
        kernel[i] = divides ? in / to->ints.at[i] : 1;
    }
    if (divides) {
        Attr even[EVEN_ATTRS];
        even_windows(r, kernel, n, even);
        out[0] = rw_make(r, OP_POOL, node->kind, 1, &x, EVEN_ATTRS, even);
        return true;
    }
    Attr attrs[] = {ints(r, AT_SHAPE, to->ints.at, n), {.key = AT_MODE, .text = STR("area")}};
    if (node->kind == POOL_max && pieces <= MOST_STEPS) {
        out[0] = fitted_cells(r, REDUCE_max, x, to);
        return true;
    }
    if (node->kind == POOL_avg && pieces <= MOST_STEPS && largest > MOST_CELL) {
        DType own = rw_value(r, x)->dtype;
        out[0] = rw_cast(r, fitted_cells(r, REDUCE_mean, rw_cast(r, x, DT_F32), to), own);
        return true;
    }
    if (node->kind != POOL_avg || s.rank != n + 2)
        return false;
    out[0] = rw_make(r, OP_INTERPOLATE, 0, 1, &x, 2, attrs);
    return true;
}

bool rewrite_pool(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_POOL: return whole_plane(r, node, out) || pool(r, node, out);
    case OP_ADAPTIVE_POOL: return adaptive(r, node, out);
    default: return false;
    }
}
