/* Functions that move elements: views, joins, splits, padding, triangles. */
#include "torch/fn_int.h"

#include <string.h>

static PyVal reshape(Args *a, TVar *x, Shape shape)
{
    return tensor_reshape(a->it, a->at, x, shape);
}

PyVal fn_view(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    PyVal sizes = a->v[1];
    if (a->kind == 0 && sizes.list->items.len == 1 && sizes.list->items.at[0].tag == PV_DTYPE)
        interp_fail(a->it, a->at, "T011", "view as another dtype is not supported");
    return reshape(a, x, arg_shape(a, 1));
}

PyVal fn_view_as(Args *a)
{
    return reshape(a, arg_tensor(a, 0), tvar_shape(a->it, arg_tensor(a, 1)));
}

static int64_t product(Args *a, Shape shape, int from, int to)
{
    Shape part = {0};
    for (int i = from; i <= to; i++)
        part.dim[part.rank++] = shape.dim[i];
    int64_t count;
    if (!shape_count(part, &count))
        arg_fail(a, "sizes overflow 64 bits");
    return count;
}

static PyVal flatten(Args *a, TVar *x, int from, int to)
{
    Shape shape = tvar_shape(a->it, x), out = {0};
    if (from > to)
        arg_fail(a, "start_dim comes after end_dim");
    for (int i = 0; i < from; i++)
        out.dim[out.rank++] = shape.dim[i];
    out.dim[out.rank++] = shape.rank ? product(a, shape, from, to) : 1;
    for (int i = to + 1; i < shape.rank; i++)
        out.dim[out.rank++] = shape.dim[i];
    return reshape(a, x, out);
}

PyVal fn_flatten(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    return flatten(a, x, arg_dim(a, 1, shape), arg_dim(a, 2, shape));
}

PyVal fn_ravel(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    int rank = tvar_shape(a->it, x).rank;
    return flatten(a, x, 0, rank ? rank - 1 : 0);
}

PyVal fn_unflatten(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x), sizes = arg_shape(a, 2), out = {0};
    int dim = arg_dim(a, 1, shape), hole = -1;
    int64_t known = 1;
    if (!shape.rank || shape.rank - 1 + sizes.rank > GRAPH_MAX_RANK)
        arg_fail(a, "too many dims");
    for (int i = 0; i < sizes.rank; i++) {
        if (sizes.dim[i] < 0)
            hole = i;
        else if (__builtin_mul_overflow(known, sizes.dim[i], &known))
            arg_fail(a, "sizes overflow 64 bits");
    }
    if (hole >= 0 && known > 0)
        sizes.dim[hole] = shape.dim[dim] / known;
    for (int i = 0; i < shape.rank; i++) {
        if (i != dim)
            out.dim[out.rank++] = shape.dim[i];
        for (int j = 0; i == dim && j < sizes.rank; j++)
            out.dim[out.rank++] = sizes.dim[j];
    }
    return reshape(a, x, out);
}

static PyVal view_reshape(Args *a, TVar *x, Shape shape)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return tensor_view(a->it, a->at, x, VIEW_RESHAPE, OP_RESHAPE, &attrs);
}

PyVal fn_unsqueeze(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x), wide = shape;
    if (shape.rank == GRAPH_MAX_RANK)
        arg_fail(a, "more than %d dims are not supported", GRAPH_MAX_RANK);
    wide.rank++;
    int dim = arg_dim(a, 1, wide);
    memmove(wide.dim + dim + 1, wide.dim + dim, (size_t)(shape.rank - dim) * sizeof *wide.dim);
    wide.dim[dim] = 1;
    return view_reshape(a, x, wide);
}

PyVal fn_squeeze(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x), out = {0};
    int64_t dims[GRAPH_MAX_RANK];
    unsigned set = ~0u;
    if (!arg_none(a, 1)) {
        set = 0;
        for (uint32_t i = 0, n = arg_dims(a, 1, shape, dims); i < n; i++)
            set |= 1u << dims[i];
    }
    for (int i = 0; i < shape.rank; i++) {
        if (!(set >> i & 1) || shape.dim[i] != 1)
            out.dim[out.rank++] = shape.dim[i];
    }
    return out.rank == shape.rank ? a->v[0] : view_reshape(a, x, out);
}

static PyVal swap_dims(Args *a, TVar *x, int first, int second)
{
    int rank = tvar_shape(a->it, x).rank;
    int64_t dims[GRAPH_MAX_RANK];
    if (first == second)
        return pv_tensor(x);
    for (int i = 0; i < rank; i++)
        dims[i] = i == first ? second : i == second ? first : i;
    return tensor_permute(a->it, a->at, x, dims, rank);
}

PyVal fn_transpose(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    return swap_dims(a, x, arg_dim(a, 1, shape), arg_dim(a, 2, shape));
}

PyVal fn_t(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    int rank = tvar_shape(a->it, x).rank;
    int64_t dims[GRAPH_MAX_RANK];
    if (rank < 2)
        return a->v[0];
    for (int i = 0; i < rank; i++)
        dims[i] = rank - 1 - i;
    return tensor_permute(a->it, a->at, x, dims, rank);
}

PyVal fn_mt(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    int rank = tvar_shape(a->it, x).rank;
    if (rank < 2)
        arg_fail(a, "needs at least two dims");
    return swap_dims(a, x, rank - 2, rank - 1);
}

PyVal fn_permute(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n = arg_dims(a, 1, shape, dims);
    if ((int)n != shape.rank)
        arg_fail(a, "%u dims are named for a tensor of %d", n, shape.rank);
    return tensor_permute(a->it, a->at, x, dims, shape.rank);
}

PyVal fn_movedim(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int64_t from[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
    uint32_t n = arg_dims(a, 1, shape, from);
    if (arg_dims(a, 2, shape, to) != n)
        arg_fail(a, "as many sources as destinations are needed");
    unsigned moved = 0, placed = 0;
    for (uint32_t i = 0; i < n; i++) {
        dims[to[i]] = from[i];
        moved |= 1u << from[i];
        placed |= 1u << to[i];
    }
    for (int i = 0, next = 0; i < shape.rank; i++) {
        if (placed >> i & 1)
            continue;
        while (moved >> next & 1)
            next++;
        dims[i] = next++;
    }
    return tensor_permute(a->it, a->at, x, dims, shape.rank);
}

PyVal fn_expand(Args *a) { return tensor_expand(a->it, a->at, arg_tensor(a, 0), arg_shape(a, 1)); }

PyVal fn_expand_as(Args *a)
{
    return tensor_expand(a->it, a->at, arg_tensor(a, 0), tvar_shape(a->it, arg_tensor(a, 1)));
}

PyVal fn_broadcast_tensors(Args *a)
{
    PyVals *v = &a->v[0].list->items;
    Shape common = {0};
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    for (uint32_t i = 0; i < v->len; i++) {
        Shape shape = tvar_shape(a->it, need_tensor(a->it, a->at, v->at[i], a->name));
        if (!shape_broadcast(common, shape, &common))
            arg_fail(a, "the shapes do not broadcast");
    }
    for (uint32_t i = 0; i < v->len; i++)
        pv_push(a->it->arena, out, tensor_expand(a->it, a->at, v->at[i].tensor, common));
    return out;
}

PyVal fn_repeat(Args *a)
{
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape, times = arg_shape(a, 1);
    if (a->kind == 1 && times.rank < shape.rank) {
        Shape wide = {.rank = shape.rank};
        int lead = shape.rank - times.rank;
        for (int i = 0; i < shape.rank; i++)
            wide.dim[i] = i < lead ? 1 : times.dim[i - lead];
        times = wide;
    }
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &times);
    return out1(a, emit1(a->it, a->at, OP_REPEAT, 0, x, &attrs));
}

PyVal fn_repeat_interleave(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    if (arg_none(a, 2))
        x = flatten(a, x, 0, tvar_shape(a->it, x).rank ? tvar_shape(a->it, x).rank - 1 : 0).tensor;
    Shape shape = tvar_shape(a->it, x);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_none(a, 2) ? 0 : arg_dim(a, 2, shape));
    PyVal counts = a->v[1];
    int64_t one;
    if (counts.tag == PV_TENSOR && tvar_shape(a->it, counts.tensor).rank == 1)
        counts = tensor_to_list(a->it, a->at, counts.tensor);
    if (pv_is_seq(counts)) {
        uint32_t n = counts.list->items.len;
        int64_t *list = arena_array(a->it->arena, int64_t, n + 1);
        for (uint32_t i = 0; i < n; i++)
            list[i] = need_int(a->it, a->at, counts.list->items.at[i], "a repeat count");
        attrs_ints(&attrs, AT_SHAPE, list, n);
    } else {
        one = arg_int(a, 1);
        attrs_ints(&attrs, AT_SHAPE, &one, 1);
    }
    return out1(a, emit1(a->it, a->at, OP_REPEAT_INTERLEAVE, 0, tvar_read(a->it, x), &attrs));
}

static PyVal flip(Args *a, const int64_t *dims, uint32_t n)
{
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, dims, n);
    return out1(a, emit1(a->it, a->at, OP_FLIP, 0, arg_value(a, 0), &attrs));
}

PyVal fn_flip(Args *a)
{
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n = arg_dims(a, 1, tvar_shape(a->it, arg_tensor(a, 0)), dims);
    return flip(a, dims, n);
}

PyVal fn_flip_one(Args *a)
{
    int64_t dim = a->kind;
    return flip(a, &dim, 1);
}

PyVal fn_roll(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t shifts[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_SHAPE, shifts, arg_ints(a, 1, shifts));
    if (!arg_none(a, 2))
        attrs_ints(&attrs, AT_DIMS, dims, arg_dims(a, 2, emit_info(a->it, x)->shape, dims));
    return out1(a, emit1(a->it, a->at, OP_ROLL, 0, x, &attrs));
}

/* --- parts -------------------------------------------------------------------------------- */

PyVal fn_narrow(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 1, shape);
    int64_t start = arg_int(a, 2), length = arg_int(a, 3), size = shape.rank ? shape.dim[dim] : 0;
    if (start < 0)
        start += size;
    if (start < 0 || length < 0 || start > size || length > size - start)
        arg_fail(a, "%lld elements from %lld on do not lie in size %lld", (long long)length,
                 (long long)start, (long long)size);
    return tensor_slice(a->it, a->at, x, dim, start, start + length, 1);
}

PyVal fn_select(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    return tensor_select(a->it, a->at, x, arg_dim(a, 1, tvar_shape(a->it, x)), arg_int(a, 2));
}

PyVal fn_unbind(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 1, shape);
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    if (!shape.rank || shape.dim[dim] > 100000)
        interp_fail(a->it, a->at, "T012", "unbind: too many parts");
    for (int64_t i = 0; i < shape.dim[dim]; i++)
        pv_push(a->it->arena, out, tensor_select(a->it, a->at, x, dim, i));
    return out;
}

static PyVal split_even(Args *a, TVar *x, int dim, int64_t each)
{
    int64_t size = tvar_shape(a->it, x).dim[dim];
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    if (each < 1 && size > 0)
        arg_fail(a, "a part needs at least one element");
    if (size > 0 && (size - 1) / each > 100000)
        interp_fail(a->it, a->at, "T012", "split: too many parts");
    for (int64_t at = 0; at < size || at == 0; at += each) {
        pv_push(a->it->arena, out,
                tensor_slice(a->it, a->at, x, dim, at, size - at < each ? size : at + each, 1));
        if (size == 0 || size - at <= each)
            break;
    }
    return out;
}

PyVal fn_split(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 2, shape);
    if (!shape.rank)
        arg_fail(a, "a tensor without dims cannot be split");
    PyVal sections = a->v[1], out = pv_list(a->it->arena, PV_TUPLE);
    if (!pv_is_seq(sections))
        return split_even(a, x, dim, arg_int(a, 1));
    int64_t at = 0;
    for (uint32_t i = 0; i < sections.list->items.len; i++) {
        int64_t size = need_int(a->it, a->at, sections.list->items.at[i], "a section");
        if (size < 0 || size > shape.dim[dim] - at)
            arg_fail(a, "the sections do not add up to %lld", (long long)shape.dim[dim]);
        pv_push(a->it->arena, out, tensor_slice(a->it, a->at, x, dim, at, at + size, 1));
        at += size;
    }
    if (at != shape.dim[dim])
        arg_fail(a, "the sections do not add up to %lld", (long long)shape.dim[dim]);
    return out;
}

PyVal fn_chunk(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 2, shape);
    int64_t chunks = arg_int(a, 1);
    if (!shape.rank || chunks < 1)
        arg_fail(a, "needs at least one chunk");
    int64_t size = shape.dim[dim], each = size ? (size - 1) / chunks + 1 : 1;
    return split_even(a, x, dim, each);
}

PyVal fn_tensor_split(Args *a)
{
    if (pv_is_seq(a->v[1])) {
        a->kind = DEFINED_split_at;
        return fn_defined(a);
    }
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 2, shape);
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    int64_t parts = arg_int(a, 1), at = 0;
    if (parts < 1 || parts > 100000 || !shape.rank)
        arg_fail(a, "%lld parts of %d dims", (long long)parts, shape.rank);
    for (int64_t i = 0; i < parts; i++) {
        int64_t size = shape.dim[dim] / parts + (i < shape.dim[dim] % parts);
        pv_push(a->it->arena, out, tensor_slice(a->it, a->at, x, dim, at, at + size, 1));
        at += size;
    }
    return out;
}

/* --- joins -------------------------------------------------------------------------------- */

static ValueId *tensor_list(Args *a, uint32_t i, uint32_t *count)
{
    PyVal list = interp_items(a->it, a->at, a->v[i]);
    *count = list.list->items.len;
    if (!*count)
        arg_fail(a, "an empty list of tensors");
    ValueId *ids = arena_array(a->it->arena, ValueId, *count);
    for (uint32_t k = 0; k < *count; k++)
        ids[k] = tvar_read(a->it, need_tensor(a->it, a->at, list.list->items.at[k], a->name));
    return ids;
}

static PyVal cat(Args *a, const ValueId *ids, uint32_t n, int64_t dim)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, dim);
    return out1(a, emit(a->it, a->at, OP_CAT, 0, n, ids, &attrs, 0));
}

PyVal fn_cat(Args *a)
{
    uint32_t n;
    ValueId *ids = tensor_list(a, 0, &n);
    Shape shape = {0};
    for (uint32_t i = 0; i < n; i++) {
        Shape next = emit_info(a->it, ids[i])->shape;
        shape = next.rank > shape.rank ? next : shape;
    }
    return cat(a, ids, n, arg_dim(a, 1, shape));
}

static ValueId insert_dim(Args *a, ValueId x, int dim)
{
    Shape shape = emit_info(a->it, x)->shape;
    if (shape.rank == GRAPH_MAX_RANK)
        arg_fail(a, "more than %d dims are not supported", GRAPH_MAX_RANK);
    memmove(shape.dim + dim + 1, shape.dim + dim, (size_t)(shape.rank - dim) * sizeof *shape.dim);
    shape.dim[dim] = 1;
    shape.rank++;
    return emit_reshape(a->it, a->at, x, shape);
}

PyVal fn_stack(Args *a)
{
    uint32_t n;
    ValueId *ids = tensor_list(a, 0, &n);
    Shape wide = emit_info(a->it, ids[0])->shape;
    wide.rank += wide.rank < GRAPH_MAX_RANK;
    int dim = arg_dim(a, 1, wide);
    Shape first = emit_info(a->it, ids[0])->shape;
    for (uint32_t i = 0; i < n; i++) {
        if (!shape_equal(first, emit_info(a->it, ids[i])->shape))
            arg_fail(a, "tensor %u differs in shape from the first", i);
        ids[i] = insert_dim(a, ids[i], dim);
    }
    return cat(a, ids, n, dim);
}

static void raise_rank(Args *a, ValueId *ids, uint32_t n, int rank)
{
    for (uint32_t i = 0; i < n; i++) {
        while (emit_info(a->it, ids[i])->shape.rank < rank)
            ids[i] = insert_dim(a, ids[i], 0);
    }
}

PyVal fn_hstack(Args *a)
{
    uint32_t n;
    ValueId *ids = tensor_list(a, 0, &n);
    raise_rank(a, ids, n, 1);
    return cat(a, ids, n, emit_info(a->it, ids[0])->shape.rank > 1 ? 1 : 0);
}

PyVal fn_vstack(Args *a)
{
    uint32_t n;
    ValueId *ids = tensor_list(a, 0, &n);
    raise_rank(a, ids, n, 2);
    return cat(a, ids, n, 0);
}

PyVal fn_meshgrid(Args *a)
{
    PyVal list = interp_items(a->it, a->at, a->v[0]);
    uint32_t n = list.list->items.len;
    bool xy = str_is(arg_str(a, 1), "xy") && n >= 2;
    Shape grid = {.rank = (int)n};
    PyVal out = pv_list(a->it->arena, PV_TUPLE);
    if (n < 1 || n > GRAPH_MAX_RANK)
        arg_fail(a, "needs between 1 and %d tensors", GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = xy && i < 2 ? 1 - i : i;
        Shape shape = tvar_shape(a->it, need_tensor(a->it, a->at, list.list->items.at[i], a->name));
        grid.dim[at] = shape.rank ? shape.dim[0] : 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = xy && i < 2 ? 1 - i : i;
        Shape column = {.rank = (int)n};
        for (uint32_t k = 0; k < n; k++)
            column.dim[k] = k == at ? grid.dim[k] : 1;
        PyVal view = view_reshape(a, list.list->items.at[i].tensor, column);
        pv_push(a->it->arena, out, tensor_expand(a->it, a->at, view.tensor, grid));
    }
    return out;
}

/* --- padding and windows ------------------------------------------------------------------ */

PyVal fn_pad(Args *a)
{
    PyVal list = interp_items(a->it, a->at, a->v[1]);
    uint32_t n = list.list->items.len;
    int64_t pads[2 * GRAPH_MAX_RANK];
    if (n > 2 * GRAPH_MAX_RANK)
        arg_fail(a, "too many pads");
    for (uint32_t i = 0; i < n; i++)
        pads[i] = need_int(a->it, a->at, list.list->items.at[i], "a pad");
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_PADS, pads, n);
    attrs_text(&attrs, AT_MODE, arg_str(a, 2));
    if (!arg_none(a, 3) && arg_float(a, 3) != 0)
        attrs_float(&attrs, AT_VALUE, arg_float(a, 3));
    return out1(a, emit1(a->it, a->at, OP_PAD, 0, arg_value(a, 0), &attrs));
}

PyVal fn_unfold(Args *a)
{
    ValueId x = arg_value(a, 0);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, 1, emit_info(a->it, x)->shape));
    attrs_int(&attrs, AT_SIZE, arg_int(a, 2));
    attrs_int(&attrs, AT_STEP, arg_int(a, 3));
    return out1(a, emit1(a->it, a->at, OP_UNFOLD, 0, x, &attrs));
}

static PyVal blocks(Args *a, Op op, uint32_t first, Attrs *attrs)
{
    static const AttrKey keys[] = {AT_KERNEL, AT_DILATION, AT_PADDING, AT_STRIDE};
    int64_t lists[4][GRAPH_MAX_RANK];
    for (uint32_t i = 0; i < 4; i++) {
        arg_ntuple(a, first + i, 2, lists[i]);
        attrs_ints(attrs, keys[i], lists[i], 2);
    }
    return out1(a, emit1(a->it, a->at, op, 0, arg_value(a, 0), attrs));
}

PyVal fn_im2col(Args *a)
{
    Attrs attrs = {0};
    return blocks(a, OP_IM2COL, 1, &attrs);
}

PyVal fn_col2im(Args *a)
{
    Attrs attrs = {0};
    int64_t size[GRAPH_MAX_RANK];
    arg_ntuple(a, 1, 2, size);
    attrs_ints(&attrs, AT_SHAPE, size, 2);
    return blocks(a, OP_COL2IM, 2, &attrs);
}

/* Splits, permutes and merges: how the shuffles are made. */
static PyVal shuffle(Args *a, Shape wide, const int64_t *dims, Shape out)
{
    PyVal parts = reshape(a, arg_tensor(a, 0), wide);
    PyVal moved = tensor_permute(a->it, a->at, parts.tensor, dims, wide.rank);
    return reshape(a, moved.tensor, out);
}

PyVal fn_pixel_shuffle(Args *a)
{
    Shape s = tvar_shape(a->it, arg_tensor(a, 0));
    int64_t r = arg_int(a, 1);
    if (s.rank != 4 || r < 1 || r > 4096 || s.dim[1] % (r * r))
        arg_fail(a, "the channels are no multiple of the factor squared");
    int64_t c = s.dim[1] / (r * r);
    return shuffle(a, (Shape){6, {s.dim[0], c, r, r, s.dim[2], s.dim[3]}},
                   (int64_t[]){0, 1, 4, 2, 5, 3},
                   (Shape){4, {s.dim[0], c, s.dim[2] * r, s.dim[3] * r}});
}

PyVal fn_pixel_unshuffle(Args *a)
{
    Shape s = tvar_shape(a->it, arg_tensor(a, 0));
    int64_t r = arg_int(a, 1);
    if (s.rank != 4 || r < 1 || r > 4096 || s.dim[2] % r || s.dim[3] % r)
        arg_fail(a, "the size is no multiple of the factor");
    int64_t h = s.dim[2] / r, w = s.dim[3] / r;
    return shuffle(a, (Shape){6, {s.dim[0], s.dim[1], h, r, w, r}}, (int64_t[]){0, 1, 3, 5, 2, 4},
                   (Shape){4, {s.dim[0], s.dim[1] * r * r, h, w}});
}

PyVal fn_channel_shuffle(Args *a)
{
    Shape s = tvar_shape(a->it, arg_tensor(a, 0));
    int64_t g = arg_int(a, 1);
    if (s.rank < 3 || s.rank >= GRAPH_MAX_RANK || g < 1 || s.dim[1] % g)
        arg_fail(a, "the channels are no multiple of the groups");
    Shape wide = {.rank = s.rank + 1, .dim = {s.dim[0], g, s.dim[1] / g}};
    int64_t dims[GRAPH_MAX_RANK] = {0, 2, 1};
    for (int i = 2; i < s.rank; i++) {
        wide.dim[i + 1] = s.dim[i];
        dims[i + 1] = i + 1;
    }
    return shuffle(a, wide, dims, s);
}

/* --- triangles and diagonals -------------------------------------------------------------- */

PyVal fn_tri(Args *a)
{
    Attrs attrs = {0};
    attrs_bool(&attrs, AT_UPPER, a->kind == 1);
    attrs_int(&attrs, AT_DIAGONAL, arg_int(a, 1));
    return out1(a, emit1(a->it, a->at, OP_TRI, 0, arg_value(a, 0), &attrs));
}

static PyVal diagonal(Args *a, ValueId x, int64_t offset, int64_t first, int64_t second)
{
    int64_t dims[] = {first, second};
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIAGONAL, offset);
    attrs_ints(&attrs, AT_DIMS, dims, 2);
    return out1(a, emit1(a->it, a->at, OP_DIAGONAL, 0, x, &attrs));
}

PyVal fn_diag(Args *a)
{
    ValueId x = arg_value(a, 0);
    if (emit_info(a->it, x)->shape.rank != 1)
        return diagonal(a, x, arg_int(a, 1), 0, 1);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIAGONAL, arg_int(a, 1));
    return out1(a, emit1(a->it, a->at, OP_DIAG, 0, x, &attrs));
}

PyVal fn_diagonal(Args *a)
{
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape;
    return diagonal(a, x, arg_int(a, 1), arg_dim(a, 2, shape), arg_dim(a, 3, shape));
}

PyVal fn_trace(Args *a)
{
    ValueId line = tvar_read(a->it, diagonal(a, arg_value(a, 0), 0, 0, 1).tensor);
    return out1(a, fn_reduce_id(a, REDUCE_sum, line, NULL, 0, false));
}

PyVal fn_view_as_real(Args *a)
{
    return out1(a, emit1(a->it, a->at, OP_VIEW_AS_REAL, 0, arg_value(a, 0), NULL));
}
PyVal fn_view_as_complex(Args *a)
{
    return out1(a, emit1(a->it, a->at, OP_VIEW_AS_COMPLEX, 0, arg_value(a, 0), NULL));
}
