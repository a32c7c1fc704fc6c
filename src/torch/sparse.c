/* torch.sparse_coo_tensor: indices [dims, n], values [n, ...], a size. coalesce adds up the values
 * of equal indices and puts them in order, which needs the indices' values while reading. */
#include "torch/sparse.h"

#include "graph/tensor.h"
#include "torch/fn_int.h"
#include <stdlib.h>
#include <string.h>

static PyVal part(Interp *it, Span at, const PyObject *self, const char *name)
{
    PyVal v;
    if (!dict_get_name(&self->attrs, str_from(name), &v))
        interp_fail(it, at, "T010", "this is no sparse tensor");
    return v;
}

static PyVal make(Interp *it, PyVal indices, PyVal values, PyVal size)
{
    static const char *const methods[] = {"coalesce", "indices", "values", "_indices", "_values",
                                          "to_dense", "size",    "dim",    "_nnz",     "to"};
    PyObject *object = arena_new(it->arena, PyObject);
    PyVal self = {.tag = PV_OBJECT, .object = object};
    dict_set_name(it->arena, &object->attrs, STR("sparse:indices"), indices);
    dict_set_name(it->arena, &object->attrs, STR("sparse:values"), values);
    dict_set_name(it->arena, &object->attrs, STR("shape"), size);
    dict_set_name(it->arena, &object->attrs, STR("is_sparse"), pv_bool(true));
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        PyMethod *method = arena_new(it->arena, PyMethod);
        method->self = self;
        method->function = pv_name(it->arena,
                                   str_from(str_format(it->arena, "sparse:%s", methods[i])));
        dict_set_name(it->arena, &object->attrs, str_from(methods[i]),
                      (PyVal){.tag = PV_METHOD, .method = method});
    }
    return self;
}

PyVal b_sparse(B *b)
{
    Interp *it = b->it;
    PyVal indices = builtin_arg(b, 0), values = builtin_arg(b, 1), size = pv_none();
    if (b->args->n > 2)
        size = b->args->v[2];
    builtin_keyword(b, "size", &size);
    if (indices.tag != PV_TENSOR)
        indices = tensor_literal(it, b->at, indices, DT_I64);
    if (values.tag != PV_TENSOR)
        values = tensor_literal(it, b->at, values, DT_COUNT);
    Shape places = tvar_shape(it, indices.tensor), held = tvar_shape(it, values.tensor);
    if (places.rank != 2 || held.rank < 1 || places.dim[1] != held.dim[0])
        builtin_fail(b, "indices are [dims, n], values [n, ...]");
    if (pv_is_none(size))
        interp_fail(it, b->at, "T011", "sparse_coo_tensor without a size is not supported");
    size = builtin_items(b, size);
    if (size.list->items.len != (uint32_t)(places.dim[0] + held.rank - 1))
        builtin_fail(b, "the size has as many dims as indices and values together");
    return make(it, indices, values,
                pv_tuple_of(it->arena, size.list->items.len, size.list->items.at));
}

/* --- coalesce ----------------------------------------------------------------------------- */

typedef struct Column {
    const int64_t *at; /* element 0 of the column */
    int64_t step, dims, place;
} Column;

static int compare_columns(const void *x, const void *y)
{
    const Column *a = x, *b = y;
    for (int64_t i = 0; i < a->dims; i++) {
        int64_t p = a->at[i * a->step], q = b->at[i * b->step];
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static ValueId constant(Interp *it, Shape shape, const int64_t *data)
{
    return graph_add_value(
        it->graphs[it->graph],
        (Value){
            .dtype = DT_I64, .shape = shape, .kind = VALUE_CONST, .node = NODE_NONE, .data = data});
}

static PyVal coalesce(Interp *it, Span at, PyObject *self)
{
    TVar *indices = part(it, at, self, "sparse:indices").tensor;
    TVar *values = part(it, at, self, "sparse:values").tensor;
    Shape places = tvar_shape(it, indices), held = tvar_shape(it, values);
    int64_t dims = places.dim[0], n = places.dim[1], count = 0;
    DType dtype = tvar_dtype(it, indices);
    if (n > INTERP_MAX_ITEMS / 8 || dims > 64)
        interp_fail(it, at, "T012", "this sparse tensor is too large");
    interp_step(it, (uint64_t)(n * dims), at);
    Tensor *data = tensor_data(it, at, indices, "a sparse tensor");
    int64_t *all = arena_array(it->arena, int64_t, (size_t)(n * dims) + 1);
    tensor_load_i64(data, 0, 1, n * dims, all);
    tensor_free(data);
    Column *columns = arena_array(it->arena, Column, (size_t)n + 1);
    int64_t *inverse = arena_array(it->arena, int64_t, (size_t)n + 1);
    int64_t *first = arena_array(it->arena, int64_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        columns[i] = (Column){all + i, n, dims, i};
    qsort(columns, (size_t)n, sizeof *columns, compare_columns);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || compare_columns(&columns[i], &columns[i - 1]) != 0)
            first[count++] = columns[i].place;
        inverse[columns[i].place] = count - 1;
    }
    int64_t *kept = arena_array(it->arena, int64_t, (size_t)(count * dims) + 1);
    for (int64_t d = 0; d < dims; d++) {
        for (int64_t i = 0; i < count; i++)
            kept[d * count + i] = all[d * n + first[i]];
    }
    ValueId new_indices = constant(it, (Shape){.rank = 2, .dim = {dims, count}}, kept);
    ValueId where = constant(it, (Shape){.rank = 1, .dim = {n}}, inverse);
    held.dim[0] = count;
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, 0);
    ValueId zeros = emit_full(it, at, held, tvar_dtype(it, values), 0);
    ValueId sums = emit3(it, at, OP_INDEX_ADD, zeros, where, tvar_read(it, values), &attrs);
    return make(it, tensor_of(it, emit_cast(it, at, new_indices, dtype)), tensor_of(it, sums),
                part(it, at, self, "shape"));
}

/* --- methods ------------------------------------------------------------------------------ */

static PyVal to_dense(Interp *it, Span at, PyObject *self)
{
    TVar *indices = part(it, at, self, "sparse:indices").tensor;
    TVar *values = part(it, at, self, "sparse:values").tensor;
    PyVal size = part(it, at, self, "shape");
    Args a = {.it = it, .at = at, .name = "to_dense", .v = {size}};
    Shape shape = arg_shape(&a, 0);
    int64_t rows[GRAPH_MAX_RANK];
    ValueId in[GRAPH_MAX_RANK + 2];
    uint32_t dims = (uint32_t)tvar_shape(it, indices).dim[0];
    Attrs attrs = {0};
    if (dims > GRAPH_MAX_RANK)
        interp_fail(it, at, "T012", "this sparse tensor has too many dims");
    in[0] = emit_full(it, at, shape, tvar_dtype(it, values), 0);
    in[1] = tvar_read(it, values);
    for (uint32_t i = 0; i < dims; i++) {
        rows[i] = i;
        in[i + 2] = tvar_read(it, tensor_select(it, at, indices, 0, i).tensor);
    }
    attrs_ints(&attrs, AT_DIMS, rows, dims);
    attrs_bool(&attrs, AT_ACCUMULATE, true);
    return tensor_of(it, emit(it, at, OP_INDEX_PUT, 0, dims + 2, in, &attrs, 1));
}

PyVal sparse_method(Interp *it, Span at, PyObject *self, Str name, const CallArgs *args)
{
    PyVal shape = part(it, at, self, "shape");
    if (str_is(name, "coalesce"))
        return coalesce(it, at, self);
    if (str_is(name, "indices") || str_is(name, "_indices"))
        return part(it, at, self, "sparse:indices");
    if (str_is(name, "values") || str_is(name, "_values"))
        return part(it, at, self, "sparse:values");
    if (str_is(name, "to_dense"))
        return to_dense(it, at, self);
    if (str_is(name, "dim"))
        return pv_int(shape.list->items.len);
    if (str_is(name, "_nnz"))
        return pv_int(tvar_shape(it, part(it, at, self, "sparse:values").tensor).dim[0]);
    if (str_is(name, "size"))
        return args->n ? interp_index(it, at, shape, args->v[0]) : shape;
    return (PyVal){.tag = PV_OBJECT, .object = self};
}
