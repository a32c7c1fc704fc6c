/* Gather, scatter and the other functions that index by tensors. */
#include "torch/fn_int.h"

#include <string.h>

static Attrs with_dim(Args *a, uint32_t i, ValueId x)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, i, emit_info(a->it, x)->shape));
    return attrs;
}

PyVal fn_gather(Args *a)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 2);
    Attrs attrs = with_dim(a, 1, x);
    return out1(a, emit2(a->it, a->at, OP_GATHER, 0, x, index, &attrs));
}

static ValueId flat(Args *a, ValueId x)
{
    int64_t count;
    shape_count(emit_info(a->it, x)->shape, &count);
    return emit_reshape(a->it, a->at, x, (Shape){1, {count}});
}

static ValueId expand_to(Args *a, ValueId x, Shape shape)
{
    if (shape_equal(emit_info(a->it, x)->shape, shape))
        return x;
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return emit1(a->it, a->at, OP_EXPAND, 0, x, &attrs);
}

/* gather whose index and input broadcast against each other outside dim */
PyVal fn_take_along_dim(Args *a)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 1);
    int64_t dim = 0;
    if (arg_none(a, 2)) {
        x = flat(a, x);
        index = flat(a, index);
    } else {
        Shape s = emit_info(a->it, x)->shape, t = emit_info(a->it, index)->shape, both;
        dim = arg_dim(a, 2, s);
        if (s.rank != t.rank || !s.rank)
            arg_fail(a, "input and indices differ in rank");
        int64_t own = s.dim[dim], taken = t.dim[dim];
        s.dim[dim] = t.dim[dim] = 1;
        if (!shape_broadcast(s, t, &both))
            arg_fail(a, "input and indices do not broadcast");
        both.dim[dim] = own;
        x = expand_to(a, x, both);
        both.dim[dim] = taken;
        index = expand_to(a, index, both);
    }
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, dim);
    return out1(a, emit2(a->it, a->at, OP_GATHER, 0, x, index, &attrs));
}

PyVal fn_take(Args *a)
{
    ValueId x = flat(a, arg_value(a, 0)), index = arg_value(a, 1);
    int64_t dim = 0;
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, &dim, 1);
    return out1(a, emit2(a->it, a->at, OP_INDEX, 0, x, index, &attrs));
}

static PyVal scatter(Args *a, int kind, PyVal source, bool leave_out)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 2), src = value_of(a->it, a->at, source);
    Attrs attrs = with_dim(a, 1, x);
    if (leave_out)
        attrs_float(&attrs, AT_B, 1);
    return out1(a, emit(a->it, a->at, OP_SCATTER, kind, 3, (ValueId[]){x, index, src}, &attrs, 0));
}

static int reduction_kind(Args *a, Str name)
{
    static const struct {
        const char *name;
        int kind;
    } table[] = {{"add", SCATTER_add},       {"sum", SCATTER_add},  {"multiply", SCATTER_multiply},
                 {"prod", SCATTER_multiply}, {"amax", SCATTER_max}, {"amin", SCATTER_min},
                 {"mean", SCATTER_mean}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (str_is(name, table[i].name))
            return table[i].kind;
    }
    arg_fail(a, "reduction '%.*s' is unknown", STR_ARG(name));
}

/* input dim index src [reduce value] */
PyVal fn_scatter(Args *a)
{
    if (a->kind == SCATTER_add)
        return scatter(a, SCATTER_add, a->v[3], false);
    PyVal source = arg_none(a, 3) ? a->v[5] : a->v[3];
    return scatter(a, arg_none(a, 4) ? SCATTER_set : reduction_kind(a, arg_str(a, 4)), source,
                   false);
}

PyVal fn_scatter_reduce(Args *a)
{
    return scatter(a, reduction_kind(a, arg_str(a, 4)), a->v[3], !arg_bool(a, 5));
}

PyVal fn_index_select(Args *a)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 2);
    Attrs attrs = with_dim(a, 1, x);
    return out1(a, emit2(a->it, a->at, OP_INDEX_SELECT, 0, x, index, &attrs));
}

PyVal fn_index_write(Args *a)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 2), source = arg_value(a, 3);
    Attrs attrs = with_dim(a, 1, x);
    if (a->kind == OP_INDEX_ADD && arg_float(a, 4) != 1)
        attrs_float(&attrs, AT_ALPHA, arg_float(a, 4));
    return out1(a, emit3(a->it, a->at, (Op)a->kind, x, index, source, &attrs));
}

PyVal fn_index_fill(Args *a)
{
    ValueId x = arg_value(a, 0), index = arg_value(a, 2), value = arg_value(a, 3);
    value = emit_cast(a->it, a->at, value, emit_info(a->it, x)->dtype);
    int64_t dim = arg_dim(a, 1, emit_info(a->it, x)->shape);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, &dim, 1);
    return out1(a, emit3(a->it, a->at, OP_INDEX_PUT, x, value, index, &attrs));
}

PyVal fn_index_put(Args *a)
{
    ValueId x = arg_value(a, 0), values = arg_value(a, 2);
    PyVal list = interp_items(a->it, a->at, a->v[1]);
    uint32_t n = list.list->items.len;
    ValueId in[GRAPH_MAX_RANK + 2] = {x,
                                      emit_cast(a->it, a->at, values, emit_info(a->it, x)->dtype)};
    int64_t dims[GRAPH_MAX_RANK];
    if (n < 1 || n > GRAPH_MAX_RANK)
        arg_fail(a, "between 1 and %d indices are expected", GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < n; i++) {
        TVar *index = need_tensor(a->it, a->at, list.list->items.at[i], a->name);
        dims[i] = i;
        if (tvar_dtype(a->it, index) == DT_BOOL && n == 1) {
            ValueId mask = tvar_read(a->it, index);
            int rank = tvar_shape(a->it, index).rank;
            Attrs size = {0};
            attrs_int(&size, AT_SIZE, tensor_count_true(a->it, a->at, mask));
            PyVal places = out1(a, emit1(a->it, a->at, OP_NONZERO, 0, mask, &size));
            for (int k = 0; k < rank; k++) {
                dims[k] = k;
                in[2 + k] = tvar_read(a->it,
                                      tensor_select(a->it, a->at, places.tensor, 1, k).tensor);
            }
            n = (uint32_t)rank;
            break;
        }
        in[2 + i] = tvar_read(a->it, index);
    }
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, dims, n);
    attrs_bool(&attrs, AT_ACCUMULATE, arg_bool(a, 3));
    return out1(a, emit(a->it, a->at, OP_INDEX_PUT, 0, n + 2, in, &attrs, 0));
}

PyVal fn_masked_select(Args *a)
{
    ValueId x = arg_value(a, 0), mask = arg_value(a, 1);
    Shape both;
    if (!shape_broadcast(emit_info(a->it, x)->shape, emit_info(a->it, mask)->shape, &both))
        arg_fail(a, "tensor and mask do not broadcast");
    mask = expand_to(a, mask, both);
    x = expand_to(a, x, both);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, tensor_count_true(a->it, a->at, mask));
    return out1(a, emit2(a->it, a->at, OP_MASKED_SELECT, 0, x, mask, &attrs));
}

PyVal fn_masked_scatter(Args *a)
{
    ValueId x = arg_value(a, 0), mask = arg_value(a, 1), source = arg_value(a, 2);
    mask = expand_to(a, mask, emit_info(a->it, x)->shape);
    return out1(a, emit3(a->it, a->at, OP_MASKED_SCATTER, x, mask, source, NULL));
}

PyVal fn_nonzero(Args *a)
{
    ValueId x = arg_value(a, 0);
    int rank = emit_info(a->it, x)->shape.rank;
    bool tuple = a->v[1].tag == PV_BOOL && a->v[1].b;
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, tensor_count_true(a->it, a->at, x));
    PyVal places = out1(a, emit1(a->it, a->at, OP_NONZERO, 0, x, &attrs));
    if (!tuple)
        return places;
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    for (int i = 0; i < rank; i++)
        pv_push(a->it->arena, out, tensor_select(a->it, a->at, places.tensor, 1, i));
    return out;
}

PyVal fn_embedding(Args *a)
{
    ValueId index = arg_value(a, 0), weight = arg_value(a, 1);
    if (!arg_none(a, 3))
        interp_fail(a->it, a->at, "T011", "embedding with max_norm is not supported");
    return out1(a, emit2(a->it, a->at, OP_EMBEDDING, 0, weight, index, NULL));
}

PyVal fn_embedding_grad(Args *a)
{
    ValueId grad = arg_value(a, 0), index = arg_value(a, 1);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, arg_int(a, 2));
    attrs_int(&attrs, AT_IGNORE, arg_int(a, 3));
    if (arg_bool(a, 4))
        attrs_float(&attrs, AT_SCALE, 1);
    return out1(a, emit2(a->it, a->at, OP_EMBEDDING_GRAD, 0, grad, index, &attrs));
}

/* Without a number of classes it is the largest index plus one. */
PyVal fn_one_hot(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t classes = arg_int(a, 1);
    if (classes < 0)
        classes = 1 + tensor_largest(a->it, a->at, x, "give one_hot its num_classes");
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, classes);
    return out1(a, emit1(a->it, a->at, OP_ONE_HOT, 0, x, &attrs));
}
