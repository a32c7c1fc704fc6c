/* Subscripts: of lists, text, dicts and modules, and of tensors, read and written. A tensor's
 * integers, slices, None and ... become views; index tensors and masks one `index` node. */
#include "torch/tvar.h"

#include "torch/masked.h"
#include "torch/nn.h"
#include "torch/record.h"
#include <string.h>

/* --- Python containers -------------------------------------------------------------------- */

static int64_t clamp_bound(int64_t v, int64_t length, int64_t low, int64_t high)
{
    if (v < 0)
        v += length;
    return v < low ? low : v > high ? high : v;
}

/* start, stop, step of a slice over `length` items, clamped as Python does. */
static void slice_bounds(Interp *it, Span at, const PySlice *s, int64_t length, int64_t *start,
                         int64_t *stop, int64_t *step)
{
    *step = pv_is_none(s->step) ? 1 : need_int(it, at, s->step, "a slice step");
    if (*step == 0)
        interp_fail(it, at, "T010", "a slice step is zero");
    int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? length : length - 1;
    *start = pv_is_none(s->start)
                 ? (*step > 0 ? 0 : length - 1)
                 : clamp_bound(need_int(it, at, s->start, "a slice bound"), length, low, high);
    *stop = pv_is_none(s->stop)
                ? (*step > 0 ? length : -1)
                : clamp_bound(need_int(it, at, s->stop, "a slice bound"), length, low, high);
}

static int64_t item_place(Interp *it, Span at, PyVal index, int64_t length)
{
    int64_t i = need_int(it, at, index, "an index");
    if (i < -length || i >= length)
        interp_fail(it, at, "T010", "index %lld is out of range for length %lld", (long long)i,
                    (long long)length);
    return i < 0 ? i + length : i;
}

static PyVal list_index(Interp *it, Span at, PyVal owner, PyVal index)
{
    const PyVals *items = &owner.list->items;
    if (index.tag != PV_SLICE)
        return items->at[item_place(it, at, index, items->len)];
    int64_t start, stop, step;
    slice_bounds(it, at, index.slice, items->len, &start, &stop, &step);
    PyVal out = pv_list(it->arena, owner.tag);
    interp_step(it, items->len, at);
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        pv_push(it->arena, out, items->at[i]);
        if (step > INT32_MAX || step < -INT32_MAX)
            break;
    }
    return out;
}

static PyVal str_index(Interp *it, Span at, Str s, PyVal index)
{
    int64_t length = (int64_t)s.len;
    if (index.tag != PV_SLICE) {
        size_t i = (size_t)item_place(it, at, index, length);
        return pv_str(it->arena, str_slice(s, i, i + 1));
    }
    int64_t start, stop, step;
    slice_bounds(it, at, index.slice, length, &start, &stop, &step);
    if (step != 1) {
        char *text = arena_alloc(it->arena, s.len + 1);
        size_t n = 0;
        for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
            text[n++] = s.at[i];
            if (step > INT32_MAX || step < -INT32_MAX)
                break;
        }
        return pv_str(it->arena, (Str){text, n});
    }
    return pv_str(it->arena, str_slice(s, (size_t)start, (size_t)(stop > start ? stop : start)));
}

PyVal interp_index(Interp *it, Span at, PyVal owner, PyVal index)
{
    PyVal value;
    switch (owner.tag) {
    case PV_TENSOR: return tensor_index(it, at, owner.tensor, index);
    case PV_LIST:
    case PV_TUPLE: return list_index(it, at, owner, index);
    case PV_STR: return str_index(it, at, *owner.str, index);
    case PV_RANGE: return list_index(it, at, interp_items(it, at, owner), index);
    case PV_DICT:
        if (dict_get(owner.dict, index, &value))
            return value;
        interp_fail(it, at, "T010", "the dict has no such key");
    case PV_OBJECT:
        return record_items(it, owner.object, &value) ? list_index(it, at, value, index)
                                                      : module_index(it, at, owner.object, index);
    case PV_CLASS: /* Enum["A"], Generic[int] */
        if (owner.cls->is_enum && index.tag == PV_STR &&
            interp_class_attr(owner.cls, *index.str, &value, NULL))
            return value;
        return owner;
    case PV_NAME: return owner; /* typing: List[int], Optional[...] */
    default: interp_fail(it, at, "T010", "%s has no items", pv_type_name(owner));
    }
}

void interp_set_index(Interp *it, Span at, PyVal owner, PyVal index, PyVal value)
{
    switch (owner.tag) {
    case PV_TENSOR: tensor_set_index(it, at, owner.tensor, index, value); return;
    case PV_DICT: dict_set(it->arena, owner.dict, index, value); return;
    case PV_LIST:
        if (index.tag == PV_SLICE)
            interp_fail(it, at, "T011", "assignment to a slice of a list is not supported");
        owner.list->items.at[item_place(it, at, index, owner.list->items.len)] = value;
        return;
    case PV_OBJECT: module_set_index(it, at, owner.object, index, value); return;
    default: interp_fail(it, at, "T010", "items of %s cannot be set", pv_type_name(owner));
    }
}

/* --- tensors ------------------------------------------------------------------------------ */

PyVal tensor_select(Interp *it, Span at, TVar *t, int dim, int64_t index)
{
    Shape shape = tvar_shape(it, t);
    if (dim >= shape.rank)
        interp_fail(it, at, "T010", "too many indices for a tensor of %d dims", shape.rank);
    int64_t place = item_place(it, at, pv_int(index), shape.dim[dim]);
    PyVal part = tensor_slice(it, at, t, dim, place, place + 1, 1);
    Shape out = tvar_shape(it, part.tensor);
    memmove(out.dim + dim, out.dim + dim + 1, (size_t)(out.rank - dim - 1) * sizeof *out.dim);
    out.rank--;
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &out);
    return tensor_view(it, at, part.tensor, VIEW_RESHAPE, OP_RESHAPE, &attrs);
}

PyVal tensor_rows(Interp *it, Span at, TVar *t)
{
    Shape shape = tvar_shape(it, t);
    if (!shape.rank)
        interp_fail(it, at, "T010", "cannot iterate over a tensor without dims");
    if (shape.dim[0] > 100000)
        interp_fail(it, at, "T012", "a loop over %lld rows of a tensor is too long",
                    (long long)shape.dim[0]);
    PyVal rows = pv_list(it->arena, PV_LIST);
    for (int64_t i = 0; i < shape.dim[0]; i++)
        pv_push(it->arena, rows, tensor_select(it, at, t, 0, i));
    return rows;
}

static PyVal unsqueeze(Interp *it, Span at, TVar *t, int dim)
{
    Shape shape = tvar_shape(it, t);
    if (shape.rank == GRAPH_MAX_RANK)
        interp_fail(it, at, "T010", "more than %d dims are not supported", GRAPH_MAX_RANK);
    memmove(shape.dim + dim + 1, shape.dim + dim, (size_t)(shape.rank - dim) * sizeof *shape.dim);
    shape.dim[dim] = 1;
    shape.rank++;
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return tensor_view(it, at, t, VIEW_RESHAPE, OP_RESHAPE, &attrs);
}

/* The parts of a subscript after its simple ones were applied as views. */
typedef struct Picked {
    PyVal part; /* the view */
    uint32_t n;
    ValueId index[GRAPH_MAX_RANK];
    int64_t dims[GRAPH_MAX_RANK];
} Picked;

static bool is_mask(Interp *it, PyVal v)
{
    return v.tag == PV_BOOL || (v.tag == PV_TENSOR && tvar_dtype(it, v.tensor) == DT_BOOL);
}

static bool is_index_tensor(PyVal v) { return v.tag == PV_TENSOR || v.tag == PV_LIST; }

static int dims_taken(Interp *it, PyVal v)
{
    if (pv_is_none(v) || v.tag == PV_ELLIPSIS)
        return 0;
    return v.tag == PV_TENSOR && is_mask(it, v) ? tvar_shape(it, v.tensor).rank : 1;
}

static void add_index(Interp *it, Span at, Picked *picked, int dim, ValueId index)
{
    if (picked->n == GRAPH_MAX_RANK)
        interp_fail(it, at, "T010", "too many indices");
    picked->dims[picked->n] = dim;
    picked->index[picked->n++] = index;
}

/* A mask in a subscript stands for the coordinates of its true places. */
static void add_mask(Interp *it, Span at, Picked *picked, int dim, TVar *mask)
{
    Shape have = tvar_shape(it, picked->part.tensor), shape = tvar_shape(it, mask);
    for (int i = 0; i < shape.rank; i++) {
        if (dim + i >= have.rank || have.dim[dim + i] != shape.dim[i])
            interp_fail(it, at, "T010", "the mask's shape does not fit the tensor's");
    }
    ValueId id = tvar_read(it, mask);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, tensor_count_true(it, at, id));
    PyVal places = tensor_of(it, emit1(it, at, OP_NONZERO, 0, id, &attrs));
    for (int i = 0; i < shape.rank; i++)
        add_index(it, at, picked, dim + i,
                  tvar_read(it, tensor_select(it, at, places.tensor, 1, i).tensor));
}

/* Applies one part of the subscript at dim *dim of the view; moves *dim on. */
static void pick_part(Interp *it, Span at, Picked *picked, PyVal v, int *dim, int free_dims)
{
    TVar *t = picked->part.tensor;
    if (pv_is_none(v)) {
        picked->part = unsqueeze(it, at, t, (*dim)++);
    } else if (v.tag == PV_ELLIPSIS) {
        *dim += free_dims;
    } else if (v.tag == PV_SLICE) {
        int64_t start, stop, step;
        Shape shape = tvar_shape(it, t);
        if (*dim >= shape.rank)
            interp_fail(it, at, "T010", "too many indices for a tensor of %d dims", shape.rank);
        slice_bounds(it, at, v.slice, shape.dim[*dim], &start, &stop, &step);
        if (step < 0)
            interp_fail(it, at, "T010", "a tensor slice needs a positive step");
        if (start != 0 || stop != shape.dim[*dim] || step != 1)
            picked->part = tensor_slice(it, at, t, *dim, start, stop > start ? stop : start, step);
        ++*dim;
    } else if (v.tag == PV_TENSOR && is_mask(it, v)) {
        add_mask(it, at, picked, *dim, v.tensor);
        *dim += tvar_shape(it, v.tensor).rank;
    } else if (v.tag == PV_RANGE) {
        pick_part(it, at, picked, interp_items(it, at, v), dim, free_dims);
    } else if (is_index_tensor(v)) {
        PyVal index = v.tag == PV_LIST ? tensor_literal(it, at, v, DT_COUNT) : v;
        if (is_mask(it, index))
            add_mask(it, at, picked, *dim, index.tensor);
        else
            add_index(it, at, picked, *dim, tvar_read(it, index.tensor));
        ++*dim;
    } else if (v.tag == PV_INT) {
        picked->part = tensor_select(it, at, t, *dim, v.i);
    } else {
        interp_fail(it, at, "T011", "indexing a tensor by %s is not supported", pv_type_name(v));
    }
}

static Picked pick(Interp *it, Span at, TVar *t, PyVal index)
{
    PyVal parts = index.tag == PV_TUPLE ? index : pv_tuple_of(it->arena, 1, &index);
    int taken = 0, dim = 0;
    for (uint32_t i = 0; i < parts.list->items.len; i++)
        taken += dims_taken(it, parts.list->items.at[i]);
    Picked picked = {.part = pv_tensor(t)};
    int rank = tvar_shape(it, t).rank;
    if (taken > rank)
        interp_fail(it, at, "T010", "%d indices for a tensor of %d dims", taken, rank);
    for (uint32_t i = 0; i < parts.list->items.len; i++)
        pick_part(it, at, &picked, parts.list->items.at[i], &dim, rank - taken);
    return picked;
}

PyVal tensor_index(Interp *it, Span at, TVar *t, PyVal index)
{
    Picked picked = pick(it, at, t, index);
    if (!picked.n)
        return picked.part.tensor == t ? tensor_reshape(it, at, t, tvar_shape(it, t)) : picked.part;
    ValueId in[GRAPH_MAX_RANK + 1] = {tvar_read(it, picked.part.tensor)};
    memcpy(in + 1, picked.index, picked.n * sizeof *in);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, picked.dims, picked.n);
    return tensor_of(it, emit(it, at, OP_INDEX, 0, picked.n + 1, in, &attrs, 0));
}

/* A value that every row under the mask gets: a number, or a tensor without the mask's dims. */
static bool same_for_all(Interp *it, PyVal value, int rest)
{
    if (value.tag != PV_TENSOR)
        return pv_is_number(value);
    Shape shape = tvar_shape(it, value.tensor);
    return shape.rank <= rest || (shape.rank == rest + 1 && shape.dim[0] == 1);
}

/* t[mask] = value: no places need be known where each of them gets the same, or what the same mask
 * picks elsewhere. */
static bool fill_masked(Interp *it, Span at, TVar *t, PyVal index, PyVal value)
{
    if (index.tag != PV_TENSOR || tvar_dtype(it, index.tensor) != DT_BOOL)
        return false;
    Shape mask = tvar_shape(it, index.tensor), whole = tvar_shape(it, t), wide = whole;
    if (mask.rank > whole.rank)
        return false;
    for (int i = 0; i < whole.rank; i++) {
        if (i < mask.rank && mask.dim[i] != whole.dim[i])
            return false;
        wide.dim[i] = i < mask.rank ? mask.dim[i] : 1;
    }
    ValueId x = tvar_read(it, t), where = tvar_read(it, index.tensor), out;
    if (same_for_all(it, value, whole.rank - mask.rank)) {
        ValueId v = emit_cast(it, at, value_of(it, at, value), emit_info(it, x)->dtype);
        out = emit3(it, at, OP_WHERE, emit_reshape(it, at, where, wide), v, x, NULL);
    } else if (value.tag != PV_TENSOR ||
               !masked_put(it, at, x, where, tvar_read(it, value.tensor), &out)) {
        return false;
    }
    tvar_write(it, at, t, out);
    return true;
}

void tensor_set_index(Interp *it, Span at, TVar *t, PyVal index, PyVal value)
{
    if (fill_masked(it, at, t, index, value))
        return;
    Picked picked = pick(it, at, t, index);
    TVar *part = picked.part.tensor;
    if (pv_is_seq(value))
        value = tensor_literal(it, at, value, DT_COUNT);
    if (!picked.n) {
        if (value.tag == PV_TENSOR) {
            /* a value may have leading dims of 1 that the place lacks */
            Shape have = tvar_shape(it, value.tensor), want = tvar_shape(it, part);
            int extra = have.rank - want.rank;
            bool ones = extra > 0;
            for (int i = 0; i < extra; i++)
                ones = ones && have.dim[i] == 1;
            if (ones) {
                memmove(have.dim, have.dim + extra, (size_t)want.rank * sizeof *have.dim);
                have.rank = want.rank;
                value = tensor_reshape(it, at, value.tensor, have);
            }
        }
        tensor_inplace(it, at, part, value);
        return;
    }
    ValueId in[GRAPH_MAX_RANK + 2] = {tvar_read(it, part), value_of(it, at, value)};
    in[1] = emit_cast(it, at, in[1], emit_info(it, in[0])->dtype);
    memcpy(in + 2, picked.index, picked.n * sizeof *in);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, picked.dims, picked.n);
    tvar_write(it, at, part, emit(it, at, OP_INDEX_PUT, 0, picked.n + 2, in, &attrs, 0));
}
