/* Operators that only general nests hold: windows whose borders lie outside the tensor, padding with a
 * number, elements picked by value. In: a node and an index of its result. Out:
 * the value there. */
#include "gen/plan/nest/derive_int.h"

#include "gen/plan/prim_int.h"
#include <math.h>

static int dim_of(const Node *node, int rank)
{
    int64_t dim = node_int(node, AT_DIM, 0);
    return (int)(dim < 0 ? dim + rank : dim);
}

static NestId both(Nest *nest, NestId a, NestId b)
{
    return !a || !b ? (a ? a : b) : nest_map(nest, "$0 & $1", true, 2, (NestId[]){a, b});
}

/* The mask of the bounds that some index can break; 0: none can. */
NestId derive_inside(Derive *d, uint32_t n, const NestBound *bounds)
{
    int64_t sizes[NEST_MAX_AXES], low, high;
    NestId mask = 0;
    nest_sizes(d->nest, sizes);
    for (uint32_t i = 0; i < n; i++) {
        affine_range(&bounds[i].index, sizes, &low, &high);
        if (low < 0 || high >= bounds[i].size)
            mask = both(d->nest, mask, nest_inside(d->nest, &bounds[i].index, bounds[i].size));
    }
    return mask;
}

bool derive_bounded(Derive *d, ValueId id, const NestIndex *index, uint32_t n,
                    const NestBound *bounds, double fill, NestId *out)
{
    NestId mask = derive_inside(d, n, bounds), outer = d->mask, x;
    d->mask = both(d->nest, outer, mask);
    bool ok = derive_at(d, id, index, &x);
    d->mask = outer;
    if (!ok)
        return false;
    *out = derive_number(d->nest, x);
    if (mask)
        *out = nest_map(d->nest, "where($0, $1, $2)", false, 3,
                        (NestId[]){mask, *out, nest_number(d->nest, fill)});
    return true;
}

/* ---- padding ---- */

static bool at_filled(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *pads = node_attr(node, AT_PADS);
    Shape in = graph_value(d->graph, node->in[0])->shape;
    NestIndex inner = *index;
    NestBound bounds[GRAPH_MAX_RANK];
    uint32_t n = 0;
    for (int i = 0; i < in.rank; i++) {
        uint32_t at = 2 * (uint32_t)(in.rank - 1 - i);
        int64_t low = at < pads->ints.len ? pads->ints.at[at] : 0;
        inner.dim[i].at -= low;
        bounds[n++] = (NestBound){inner.dim[i], in.dim[i]};
        if (in.dim[i] == 1)
            inner.dim[i] = affine_number(0);
    }
    return derive_bounded(d, node->in[0], &inner, n, bounds, node_float(node, AT_VALUE, 0), out);
}

/* ---- pools ---- */

enum { MOST_SPATIAL = 3 };
typedef struct Windows {
    int n, first; /* spatial dims from `first` on */
    NestIndex inner;
    NestBound bounds[MOST_SPATIAL], padded[MOST_SPATIAL];
    uint64_t over;
    double count;
} Windows;

static int64_t int_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    if (!a || !a->ints.len)
        return fallback;
    return a->ints.at[a->ints.len == 1 ? 0 : (uint32_t)i];
}

/* Element k of the window of output o stands at stride * o + dilation * k - padding. */
static bool windows_of(Derive *d, const Node *node, const NestIndex *index, Windows *w)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    Shape in = graph_value(d->graph, node->in[0])->shape;
    *w = (Windows){.n = (int)kernel->ints.len, .inner = *index, .count = 1};
    w->first = in.rank - w->n;
    for (int i = 0; i < w->n; i++) {
        int64_t size = kernel->ints.at[i], stride = int_at(node, AT_STRIDE, i, size);
        int64_t padding = int_at(node, AT_PADDING, i, 0);
        Affine at = affine_number(-padding);
        const NestDim *walked = size > 1 ? derive_dim(d, size, derive_axes(index) | w->over) : NULL;
        if ((size > 1 && !walked) || !affine_add(&at, &index->dim[w->first + i], stride) ||
            (walked && !affine_add(&at, &walked->index, int_at(node, AT_DILATION, i, 1))))
            return derive_refuse(d, node, "its windows have too many dimensions");
        w->over |= walked ? walked->axes : 0;
        w->count *= (double)size;
        w->bounds[i] = (NestBound){at, in.dim[w->first + i]};
        w->padded[i] = w->bounds[i];
        w->padded[i].index.at += padding;
        w->padded[i].size += 2 * padding;
        w->inner.dim[w->first + i] = in.dim[w->first + i] == 1 ? affine_number(0) : at;
    }
    return true;
}

/* How many elements of a window count. */
static NestId divisor_of(Derive *d, const Node *node, const Windows *w)
{
    int64_t divisor = node_int(node, AT_DIVISOR, 0);
    NestId mask = derive_inside(d, (uint32_t)w->n,
                                node_bool(node, AT_COUNT_PAD) ? w->padded : w->bounds);
    if (divisor || !mask)
        return nest_number(d->nest, divisor ? (double)divisor : w->count);
    NestId one = nest_map1(d->nest, "where($0, 1.0, 0.0)", mask);
    return nest_reduce(d->nest, PRIM_SUM, one, w->over);
}

static bool at_pool(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    bool max = node->kind == POOL_max;
    Windows w;
    NestId x;
    if (node->kind == POOL_lp)
        return derive_refuse(d, node, "norms over windows are not planned");
    if (!windows_of(d, node, index, &w) ||
        !derive_bounded(d, node->in[0], &w.inner, (uint32_t)w.n, w.bounds, max ? -INFINITY : 0, &x))
        return false;
    *out = nest_reduce(d->nest, max ? PRIM_MAX : PRIM_SUM, x, w.over);
    if (max)
        return true;
    NestId by = divisor_of(d, node, &w);
    const NestValue *number = &d->nest->values.at[by];
    *out = number->op == NEST_NUMBER && !d->decides[node->out]
               ? nest_map2(d->nest, "$0 * $1", *out, nest_number(d->nest, 1 / number->number))
               : nest_map2(d->nest, "$0 / $1", *out, by);
    return true;
}

/* No element is in two windows, and none is outside the tensor. */
static bool is_disjoint(const Graph *g, const Node *node)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    Shape in = graph_value(g, node->in[0])->shape, out = graph_value(g, node->out)->shape;
    bool ok = node->kind != POOL_lp && kernel && (int)kernel->ints.len <= MOST_SPATIAL;
    for (int i = 0; ok && i < (int)kernel->ints.len; i++) {
        int at = in.rank - (int)kernel->ints.len + i;
        int64_t size = kernel->ints.at[i], stride = int_at(node, AT_STRIDE, i, size);
        ok = stride >= size && !int_at(node, AT_PADDING, i, 0) &&
             int_at(node, AT_DILATION, i, 1) == 1 &&
             (out.dim[at] - 1) * stride + size <= in.dim[at];
    }
    return ok;
}

bool derive_disjoint_pool(Derive *d, const Node *node, const NestIndex *index, NestId *out,
                          bool *taken)
{
    *taken = node->op == OP_POOL && is_disjoint(d->graph, node);
    return *taken && at_pool(d, node, index, out);
}

/* ---- elements picked by value ---- */

/* A pick that also walks the axis: both places are one, in elements. False: f32 does not hold it. */
static bool pick_twice(Derive *d, NestValue v, uint32_t axis, NestId place, NestId *out)
{
    int64_t by = affine_by(&v.index, axis);
    int64_t bound = (v.bound - 1) * v.by + (d->nest->axes.at[axis].size - 1) * by + 1;
    Affine gone = affine_axis(axis, -by);
    if (by < 0 || bound >= EXACT_INT)
        return false;
    NestId first = nest_map2(d->nest, "$0 * $1", v.arg[0], nest_number(d->nest, (double)v.by));
    NestId second = nest_map2(d->nest, "$0 * $1", place, nest_number(d->nest, (double)by));
    affine_add(&v.index, &gone, 1);
    *out = nest_pick(d->nest, d->nest->tensors.at[v.tensor].value, &v.index,
                     nest_map2(d->nest, "$0 + $1", first, second), 1, bound,
                     v.n_arg > 1 ? v.arg[1] : 0);
    return true;
}

bool derive_replace_axis(Derive *d, NestId in, uint32_t axis, NestId place, NestId *out)
{
    NestValue v = d->nest->values.at[in];
    uint64_t bit = UINT64_C(1) << axis;
    *out = in;
    if (!(v.axes & bit) || v.over & bit)
        return true;
    if (v.op == NEST_PLACE) {
        *out = place;
        return true;
    }
    if (v.op == NEST_INSIDE || v.op == NEST_SCAN)
        return false;
    for (uint32_t i = 0; i < v.n_arg; i++)
        if (!derive_replace_axis(d, v.arg[i], axis, place, &v.arg[i]))
            return false;
    int64_t by = affine_by(&v.index, axis);
    ValueId tensor = d->nest->tensors.at[v.tensor].value;
    if (v.op == NEST_MAP) {
        *out = nest_map(d->nest, v.form, v.mask, v.n_arg, v.arg);
    } else if (v.op == NEST_REDUCE) {
        *out = nest_reduce(d->nest, v.reduce, v.arg[0], v.over);
    } else if (v.op == NEST_PICK) {
        if (by)
            return pick_twice(d, v, axis, place, out);
        *out = nest_pick(d->nest, tensor, &v.index, v.arg[0], v.by, v.bound,
                         v.n_arg > 1 ? v.arg[1] : 0);
    } else {
        Affine gone = affine_axis(axis, -by);
        affine_add(&v.index, &gone, 1);
        *out = nest_pick(d->nest, tensor, &v.index, place, by, d->nest->axes.at[axis].size,
                         v.n_arg ? v.arg[0] : 0);
    }
    return true;
}

/* What it picks from is derived along an axis of its own, which the place then replaces. */
static bool pick_along(Derive *d, const Node *node, ValueId from, ValueId places,
                       const NestIndex *inner, int dim, const NestIndex *at, NestId *out)
{
    const Value *which = graph_value(d->graph, places);
    int64_t size = graph_value(d->graph, from)->shape.dim[dim];
    NestIndex index = *inner;
    NestId place, x;
    if (!dtype_is_int(which->dtype) || (graph_maker(d->graph, places) && size >= EXACT_INT))
        return derive_refuse(d, node, "computed indices may be larger than f32 can hold exactly");
    const NestDim *walked = size > 1 ? derive_dim(d, size, derive_axes(inner) | derive_axes(at))
                                     : NULL;
    if (size > 1 && (!walked || walked->index.n != 1))
        return derive_refuse(d, node, "the tensor it picks from has too many dimensions");
    index.dim[dim] = walked ? walked->index : affine_number(0);
    if (!derive_at(d, places, at, &place) || !derive_at(d, from, &index, &x))
        return false;
    *out = x;
    return !walked || derive_replace_axis(d, x, walked->index.term[0].axis, place, out) ||
           derive_refuse(d, node,
                         "the tensor it picks from would have to be written to memory first");
}

static bool at_pick(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape shape = graph_value(d->graph, node->in[0])->shape;
    Shape places = graph_value(d->graph, node->in[1])->shape;
    int dim = node->op == OP_EMBEDDING ? 0 : dim_of(node, shape.rank);
    NestIndex inner = *index, at = *index;
    if (node->op == OP_INDEX_SELECT) {
        at.rank = places.rank;
        at.dim[0] = index->dim[dim];
    } else if (node->op == OP_EMBEDDING) {
        inner = (NestIndex){.rank = 2};
        inner.dim[1] = index->dim[index->rank - 1];
        at.rank = places.rank;
    }
    return pick_along(d, node, node->in[0], node->in[1], &inner, dim, &at, out);
}

/* ---- the others ---- */

/* A tensor of integers compared with a number that f32 holds exactly: so is the comparison. */
static bool is_exact_comparison(const Graph *g, const Node *node)
{
    const Value *x = graph_value(g, node->in[0]), *c = graph_value(g, node->in[1]);
    bool compares = node->kind == BINARY_eq || node->kind == BINARY_ne || node->kind == BINARY_lt ||
                    node->kind == BINARY_le || node->kind == BINARY_gt || node->kind == BINARY_ge;
    return compares && dtype_is_int(x->dtype) && !graph_maker(g, node->in[0]) &&
           c->kind == VALUE_CONST && c->shape.rank == 0 &&
           fabs(dtype_load(c->dtype, c->data, 0)) < EXACT_INT;
}

static bool at_comparison(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Value *c = graph_value(d->graph, node->in[1]);
    NestIndex inner = derive_broadcast(index, graph_value(d->graph, node->in[0])->shape);
    NestId arg[2];
    if (!derive_at(d, node->in[0], &inner, &arg[0]))
        return false;
    arg[1] = nest_number(d->nest, dtype_load(c->dtype, c->data, 0));
    *out = nest_map(d->nest, prim_mask_forms[node->kind], true, 2, arg);
    return true;
}

static bool fills(const Node *node)
{
    Str mode = node_text(node, AT_MODE);
    return !mode.len || str_is(mode, "constant");
}

/* Ones where both places are the same. */
static void at_eye(Derive *d, const NestIndex *index, NestId *out)
{
    NestId place[2];
    for (int i = 0; i < 2; i++)
        place[i] = nest_place(d->nest, &index->dim[i]);
    *out = nest_map1(d->nest, "where($0, 1.0, 0.0)", nest_map(d->nest, "$0 == $1", true, 2, place));
}

bool derive_general(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken)
{
    *taken = true;
    switch (node->op) {
    case OP_POOL: return at_pool(d, node, index, out);
    case OP_GATHER:
    case OP_INDEX_SELECT:
    case OP_EMBEDDING: return at_pick(d, node, index, out);
    case OP_INTERPOLATE:
    case OP_GRID_SAMPLE:
    case OP_AFFINE_GRID: return derive_resample(d, node, index, out);
    case OP_SCATTER:
    case OP_INDEX_ADD:
    case OP_INDEX_COPY:
    case OP_INDEX_PUT: return derive_write(d, node, index, out);
    case OP_MATMUL:
    case OP_LINEAR:
    case OP_EINSUM:
    case OP_CONV: return derive_product(d, node, index, out);
    case OP_EYE: at_eye(d, index, out); return true;
    case OP_PAD:
        if (fills(node))
            return at_filled(d, node, index, out);
        break;
    case OP_BINARY:
        if (is_exact_comparison(d->graph, node))
            return at_comparison(d, node, index, out);
        break;
    default: break;
    }
    *taken = false;
    return false;
}
