/* Reductions, scans, sorting and counting. */
#include "torch/fn_int.h"

#include <math.h>

uint32_t arg_dims(Args *a, uint32_t i, Shape shape, int64_t out[GRAPH_MAX_RANK])
{
    uint32_t n = arg_ints(a, i, out);
    unsigned seen = 0;
    for (uint32_t k = 0; k < n; k++) {
        int dim;
        if (!shape_dim(shape, out[k], &dim))
            arg_fail(a, "dim %lld is outside a tensor of %d dims", (long long)out[k], shape.rank);
        if (seen >> dim & 1)
            arg_fail(a, "dim %d is named twice", dim);
        seen |= 1u << dim;
        out[k] = dim;
    }
    return n;
}

/* dims none: over all. */
static void add_dims(Attrs *attrs, const int64_t *dims, uint32_t n, bool keep)
{
    if (n)
        attrs_ints(attrs, AT_DIMS, dims, n);
    attrs_bool(attrs, AT_KEEPDIM, keep);
}

ValueId fn_reduce_id(Args *a, int kind, ValueId x, const int64_t *dims, uint32_t n, bool keep)
{
    Attrs attrs = {0};
    add_dims(&attrs, dims, n, keep);
    return emit1(a->it, a->at, OP_REDUCE, kind, x, &attrs);
}

/* Sorted, so that sum(1, 0) and sum(0, 1) are one node. */
static uint32_t reduce_dims(Args *a, uint32_t i, Shape shape, int64_t out[GRAPH_MAX_RANK])
{
    if (arg_none(a, i))
        return 0;
    uint32_t n = arg_dims(a, i, shape, out);
    for (uint32_t k = 1; k < n; k++) {
        for (uint32_t j = k; j > 0 && out[j - 1] > out[j]; j--) {
            int64_t swap = out[j];
            out[j] = out[j - 1];
            out[j - 1] = swap;
        }
    }
    return n;
}

/* input dim keepdim [dtype] */
PyVal fn_reduce(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n = reduce_dims(a, 1, emit_info(a->it, x)->shape, dims);
    Attrs attrs = {0};
    add_dims(&attrs, dims, n, a->kind != REDUCE_count_nonzero && arg_bool(a, 2));
    bool takes_dtype = a->kind == REDUCE_sum || a->kind == REDUCE_mean || a->kind == REDUCE_prod;
    if (takes_dtype && !arg_none(a, 3))
        attrs_dtype(&attrs, arg_dtype(a, 3, DT_F32));
    return out1(a, emit1(a->it, a->at, OP_REDUCE, a->kind, x, &attrs));
}

PyVal fn_nansum(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, 0);
    attrs_float(&attrs, AT_B, INFINITY);
    attrs_float(&attrs, AT_C, -INFINITY);
    a->v[0] = out1(a, emit1(a->it, a->at, OP_UNARY, UNARY_nan_to_num, x, &attrs));
    a->kind = REDUCE_sum;
    return fn_reduce(a);
}

/* The sum of what is not nan, over how many there are. */
PyVal fn_nanmean(Args *a)
{
    ValueId x = arg_value(a, 0);
    ValueId there = fn_unary_id(a, UNARY_logical_not, fn_unary_id(a, UNARY_isnan, x));
    Args count = *a;
    PyVal sum = fn_nansum(a);
    count.kind = REDUCE_sum;
    count.v[0] = out1(a, emit_cast(a->it, a->at, there, emit_info(a->it, x)->dtype));
    PyVal n = fn_reduce(&count);
    return out1(
        a, fn_binary_id(a, BINARY_div, value_of(a->it, a->at, sum), value_of(a->it, a->at, n)));
}

/* max(x), max(x, dim), max(x, other) */
PyVal fn_extreme(Args *a)
{
    ValueId x = arg_value(a, 0);
    if (a->v[1].tag == PV_TENSOR) {
        int kind = a->kind == REDUCE_max ? BINARY_maximum : BINARY_minimum;
        return out1(a, fn_binary_id(a, kind, x, arg_value(a, 1)));
    }
    if (arg_none(a, 1))
        return out1(a, fn_reduce_id(a, a->kind, x, NULL, 0, false));
    int64_t dim = arg_dim(a, 1, emit_info(a->it, x)->shape);
    Attrs attrs = {0};
    add_dims(&attrs, &dim, 1, arg_bool(a, 2));
    return out_tuple(a, emit(a->it, a->at, OP_REDUCE_INDEX, a->kind, 1, &x, &attrs, 2), 2);
}

PyVal fn_median(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    if (arg_none(a, 1))
        return out1(a, emit1(a->it, a->at, OP_MEDIAN, 0, x, &attrs));
    int64_t dim = arg_dim(a, 1, emit_info(a->it, x)->shape);
    add_dims(&attrs, &dim, 1, arg_bool(a, 2));
    return out_tuple(a, emit(a->it, a->at, OP_MEDIAN, 0, 1, &x, &attrs, 2), 2);
}

/* var(x, dim, unbiased, keepdim), var(x, unbiased), correction= */
static ValueId variance(Args *a, int64_t dims[GRAPH_MAX_RANK], uint32_t *n)
{
    ValueId x = arg_value(a, 0);
    bool unbiased = a->v[1].tag == PV_BOOL ? a->v[1].b : arg_bool(a, 2);
    double correction = arg_none(a, 4) ? (unbiased ? 1 : 0) : arg_float(a, 4);
    *n = a->v[1].tag == PV_BOOL ? 0 : reduce_dims(a, 1, emit_info(a->it, x)->shape, dims);
    Attrs attrs = {0};
    add_dims(&attrs, dims, *n, arg_bool(a, 3));
    attrs_float(&attrs, AT_A, correction);
    return emit1(a->it, a->at, OP_REDUCE, a->kind, x, &attrs);
}

PyVal fn_var(Args *a)
{
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n;
    return out1(a, variance(a, dims, &n));
}

PyVal fn_var_mean(Args *a)
{
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n;
    PyVal pair[2] = {out1(a, variance(a, dims, &n))};
    pair[1] = out1(a, fn_reduce_id(a, REDUCE_mean, arg_value(a, 0), dims, n, arg_bool(a, 3)));
    return pv_tuple_of(a->it->arena, 2, pair);
}

static double norm_order(Args *a)
{
    PyVal p = a->v[1];
    if (pv_is_none(p) || (p.tag == PV_STR && str_is(*p.str, "fro")))
        return 2;
    if (p.tag == PV_STR)
        interp_fail(a->it, a->at, "T011", "norm of order '%.*s' is not supported", STR_ARG(*p.str));
    return arg_float(a, 1);
}

/* input p dim keepdim dtype */
PyVal fn_norm(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n = reduce_dims(a, 2, emit_info(a->it, x)->shape, dims);
    Attrs attrs = {0};
    attrs_float(&attrs, AT_P, norm_order(a));
    add_dims(&attrs, dims, n, arg_bool(a, 3));
    if (!arg_none(a, 4))
        attrs_dtype(&attrs, arg_dtype(a, 4, DT_F32));
    return out1(a, emit1(a->it, a->at, OP_REDUCE, REDUCE_norm, x, &attrs));
}

PyVal fn_scan(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, 1, emit_info(a->it, x)->shape));
    if (a->kind != SCAN_logsumexp && !arg_none(a, 2))
        attrs_dtype(&attrs, arg_dtype(a, 2, DT_F32));
    return out1(a, emit1(a->it, a->at, OP_SCAN, a->kind, x, &attrs));
}

/* Where a running extreme was met last: the largest so far of the places that hold it, or NaN. */
static ValueId cum_places(Args *a, ValueId x, ValueId extreme, int dim)
{
    Shape s = emit_info(a->it, x)->shape, along = {.rank = s.rank};
    for (int i = 0; i < s.rank; i++)
        along.dim[i] = i == dim ? s.dim[i] : 1;
    Attrs range = {0}, over = {0};
    attrs_float(&range, AT_A, 0);
    attrs_float(&range, AT_B, s.rank ? (double)s.dim[dim] : 1);
    attrs_float(&range, AT_C, 1);
    attrs_dtype(&range, DT_I64);
    attrs_int(&over, AT_DIM, dim);
    ValueId place = emit(a->it, a->at, OP_ARANGE, 0, 0, NULL, &range, 0);
    ValueId none = emit_full(a->it, a->at, (Shape){0}, DT_I64, 0);
    ValueId here = emit2(a->it, a->at, OP_BINARY, BINARY_eq, x, extreme, NULL);
    ValueId nan = emit2(a->it, a->at, OP_BINARY, BINARY_ne, x, x, NULL);
    here = emit2(a->it, a->at, OP_BINARY, BINARY_logical_or, here, nan, NULL);
    place = emit3(a->it, a->at, OP_WHERE, here, emit_reshape(a->it, a->at, place, along), none,
                  NULL);
    return emit1(a->it, a->at, OP_SCAN, SCAN_max, place, &over);
}

PyVal fn_cum_extreme(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    int dim = (int)arg_dim(a, 1, emit_info(a->it, x)->shape);
    attrs_int(&attrs, AT_DIM, dim);
    ValueId extreme = emit1(a->it, a->at, OP_SCAN, a->kind, x, &attrs);
    PyVal pair[] = {out1(a, extreme), out1(a, cum_places(a, x, extreme, dim))};
    return pv_tuple_of(a->it->arena, 2, pair);
}

static PyVal sort(Args *a)
{
    ValueId x = arg_value(a, 0);
    /* sort(stable, dim, descending) is not spelt in model files; dim comes first */
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, 1, emit_info(a->it, x)->shape));
    attrs_bool(&attrs, AT_DESCENDING, arg_bool(a, 2));
    attrs_bool(&attrs, AT_STABLE, arg_bool(a, 3));
    return out_tuple(a, emit(a->it, a->at, OP_SORT, 0, 1, &x, &attrs, 2), 2);
}

PyVal fn_sort(Args *a) { return sort(a); }
PyVal fn_argsort(Args *a) { return sort(a).list->items.at[1]; }

PyVal fn_topk(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_K, arg_int(a, 1));
    attrs_int(&attrs, AT_DIM, arg_dim(a, 2, emit_info(a->it, x)->shape));
    attrs_bool(&attrs, AT_LARGEST, arg_bool(a, 3));
    attrs_bool(&attrs, AT_SORTED, arg_bool(a, 4));
    return out_tuple(a, emit(a->it, a->at, OP_TOPK, 0, 1, &x, &attrs, 2), 2);
}

PyVal fn_histc(Args *a)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, arg_int(a, 1));
    attrs_float(&attrs, AT_A, arg_float(a, 2));
    attrs_float(&attrs, AT_B, arg_float(a, 3));
    return out1(a, emit1(a->it, a->at, OP_HISTC, 0, arg_value(a, 0), &attrs));
}

/* The length is the largest element plus one, so the data is needed. */
PyVal fn_bincount(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t least = arg_int(a, 2);
    int64_t size = tensor_largest(a->it, a->at, x, NULL);
    if (size < 0 || size > (INT64_C(1) << 40))
        arg_fail(a, "an element is negative or too large");
    if (size >= least)
        least = 1 + tensor_largest(a->it, a->at, x,
                                   "give bincount a minlength that no element reaches");
    if (!arg_none(a, 1)) {
        a->kind = DEFINED_bincount_weights;
        a->v[2] = pv_int(least);
        return fn_defined(a);
    }
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, least);
    return out1(a, emit1(a->it, a->at, OP_BINCOUNT, 0, x, &attrs));
}
