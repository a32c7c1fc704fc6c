/* Indexing, rewritten into what is planned: elements of rows, rows by one index. */
#include "gen/plan/rewrite.h"

#include "gen/plan/script.h"
#include "graph/bounds.h"

static bool constant(const Rewrite *r, ValueId id) { return rw_value(r, id)->kind == VALUE_CONST; }

/* The part of x that the index reaches along the other dimensions. */
static ValueId beside(Rewrite *r, ValueId x, Shape index, int dim)
{
    for (int i = 0; i < index.rank; i++)
        if (i != dim)
            x = rw_slice(r, x, i, 0, index.dim[i], 1);
    return x;
}

static bool fits_beside(Shape x, Shape index, int dim)
{
    for (int i = 0; i < index.rank; i++)
        if (i != dim && x.dim[i] != index.dim[i])
            return false;
    return true;
}

/* Places that are the same for whole rows, as a vector: what was expanded along all dimensions but this one.
 * VALUE_NONE: they are not. */
static ValueId row_places(Rewrite *r, ValueId at, int dim)
{
    const Node *node = graph_maker(r->to, at);
    Shape all = rw_value(r, at)->shape;
    while (node && node->op == OP_CAST && dtype_is_int(rw_value(r, node->in[0])->dtype))
        node = graph_maker(r->to, node->in[0]);
    if (!node || node->op != OP_EXPAND || all.rank < 2)
        return VALUE_NONE;
    Shape few = rw_value(r, node->in[0])->shape;
    int before = all.rank - few.rank;
    for (int i = 0; i < all.rank; i++)
        if (i == dim ? i < before || few.dim[i - before] != all.dim[i]
                     : i >= before && few.dim[i - before] != 1)
            return VALUE_NONE;
    return rw_reshape(r, node->in[0], (Shape){1, {all.dim[dim]}});
}

/* Rows written at places that are the same for all their elements. */
static bool scatter_rows(Rewrite *r, const Node *node, int dim, const ValueId *in, ValueId *out)
{
    ValueId places = row_places(r, in[1], dim);
    Attr attrs[] = {{.key = AT_DIM, .i = dim}, {.key = AT_REDUCTION}};
    bool max = node->kind == SCATTER_max, extreme = max || node->kind == SCATTER_min;
    bool add = node->kind == SCATTER_add, set = node->kind == SCATTER_set;
    if (places == VALUE_NONE || (!extreme && !add && !set) || node_float(node, AT_B, 0) != 0 ||
        constant(r, in[2]))
        return false;
    attrs[1].text = max ? str_from("max") : str_from("min");
    out[0] = rw_make(r, set ? OP_INDEX_COPY : OP_INDEX_ADD, 0, 3, (ValueId[]){in[0], places, in[2]},
                     extreme ? 2 : 1, attrs);
    return true;
}

static bool gather(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), at = rw_in(r, node, 1);
    Shape s = rw_value(r, x)->shape, i = rw_value(r, at)->shape;
    int dim = 0, last = s.rank - 1;
    ValueId places = s.rank > 1 && shape_dim(s, node_int(node, AT_DIM, 0), &dim)
                         ? row_places(r, at, dim)
                         : VALUE_NONE;
    if (places != VALUE_NONE && dim < last) {
        Attr along = {.key = AT_DIM, .i = dim};
        out[0] = rw_make(r, OP_INDEX_SELECT, 0, 2, (ValueId[]){beside(r, x, i, dim), places}, 1,
                         &along);
        return true;
    }
    dim = 0;
    DType own = rw_value(r, x)->dtype;
    bool narrow = own == DT_BOOL || own == DT_I8 || own == DT_U8;
    if (s.rank == 0 || !shape_dim(s, node_int(node, AT_DIM, 0), &dim) ||
        (dim == last && fits_beside(s, i, dim) && !narrow))
        return false;
    Node other = rw_node(r, node);
    rw_attr(r, &other, (Attr){.key = AT_DIM, .i = last});
    x = rw_swap(r, beside(r, rw_cast(r, x, narrow ? DT_I32 : own), i, dim), dim, last);
    at = rw_swap(r, at, dim, last);
    out[0] = rw_cast(r, rw_swap(r, rw_again(r, &other, (ValueId[]){x, at}), dim, last), own);
    return true;
}

static ValueId join(Rewrite *r, ValueId a, ValueId b, int dim)
{
    Attr at = {.key = AT_DIM, .i = dim};
    return rw_make(r, OP_CAT, 0, 2, (ValueId[]){a, b}, 1, &at);
}

static bool scatter(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), at = rw_in(r, node, 1), from = rw_in(r, node, 2);
    Shape s = rw_value(r, x)->shape, i = rw_value(r, at)->shape;
    int dim = 0, last = s.rank - 1, odd = -1;
    if (s.rank == 0 || !shape_dim(s, node_int(node, AT_DIM, 0), &dim))
        return false;
    bool weak = constant(r, from);
    if (!weak && !shape_equal(rw_value(r, from)->shape, i)) {
        ValueId part = from;
        for (int d = 0; d < i.rank; d++)
            part = rw_slice(r, part, d, 0, i.dim[d], 1);
        out[0] = rw_again(r, node, (ValueId[]){x, at, part});
        return true;
    }
    for (int d = 0; d < s.rank; d++)
        odd = d != dim && s.dim[d] != i.dim[d] ? d : odd;
    if (odd >= 0) {
        ValueId head = rw_slice(r, x, odd, 0, i.dim[odd], 1);
        ValueId tail = rw_slice(r, x, odd, i.dim[odd], s.dim[odd], 1);
        out[0] = join(r, rw_again(r, node, (ValueId[]){head, at, from}), tail, odd);
        return true;
    }
    DType own = rw_value(r, x)->dtype;
    if (dim < last && dtype_bytes(own) >= 2 && own != DT_I64 &&
        scatter_rows(r, node, dim, (ValueId[]){x, at, from}, out))
        return true;
    if (own == DT_BOOL || own == DT_I8 ||
        own == DT_U8) { /* elements of a byte are not written alone */
        const Value *v = rw_value(r, from);
        from = weak ? rw_integer(r, (int64_t)dtype_load(v->dtype, v->data, 0))
                    : rw_cast(r, from, DT_I32);
        x = rw_cast(r, x, DT_I32);
        out[0] = rw_cast(r, rw_again(r, node, (ValueId[]){x, at, from}), own);
        return true;
    }
    if (dim == last)
        return false;
    Node other = rw_node(r, node);
    rw_attr(r, &other, (Attr){.key = AT_DIM, .i = last});
    ValueId in[] = {rw_swap(r, x, dim, last), rw_swap(r, at, dim, last),
                    weak ? from : rw_swap(r, from, dim, last)};
    out[0] = rw_swap(r, rw_again(r, &other, in), dim, last);
    return true;
}

/* Several index tensors on neighbouring dimensions are one, into those dimensions as one. */
static bool neighbours(const Node *node, int *first, uint32_t n)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    if (!dims || dims->ints.len != n)
        return false;
    *first = (int)dims->ints.at[0];
    for (uint32_t i = 1; i < n; i++)
        if (dims->ints.at[i] != *first + (int64_t)i)
            return false;
    return true;
}

static ValueId flat_index(Rewrite *r, const Node *node, uint32_t from, uint32_t n, Shape s,
                          int first, Shape *common)
{
    ValueId sum = VALUE_NONE;
    *common = rw_value(r, rw_in(r, node, from))->shape;
    for (uint32_t i = 1; i < n; i++)
        if (!shape_broadcast(*common, rw_value(r, rw_in(r, node, from + i))->shape, common))
            r->failed = true;
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        int64_t size = s.dim[first + (int)i];
        ValueId at = rw_in(r, node, from + i);
        rw_hold(r, rw_in(r, node, 0), first + (int)i);
        ValueId low = rw_binary(r, BINARY_lt, at, rw_integer(r, 0));
        at = rw_where(r, low, rw_binary(r, BINARY_add, at, rw_integer(r, size)), at);
        sum = i ? rw_binary(r, BINARY_add, rw_binary(r, BINARY_mul, sum, rw_integer(r, size)), at)
                : at;
    }
    return r->failed ? 0 : rw_expand(r, sum, *common);
}

static Shape merged(Shape s, int first, uint32_t n)
{
    Shape to = {.rank = s.rank - (int)n + 1};
    for (int i = 0; i < to.rank; i++)
        to.dim[i] = i < first ? s.dim[i] : s.dim[i + (int)n - 1];
    to.dim[first] = script_product(s, first, first + (int)n);
    return to;
}

static ValueId as_vector(Rewrite *r, ValueId x)
{
    Shape s = rw_value(r, x)->shape;
    return rw_reshape(r, x, (Shape){1, {script_product(s, 0, s.rank)}});
}

static ValueId select_rows(Rewrite *r, ValueId x, ValueId at, int dim)
{
    Attr a = {.key = AT_DIM, .i = dim};
    return rw_make(r, OP_INDEX_SELECT, 0, 2, (ValueId[]){x, as_vector(r, at)}, 1, &a);
}

static bool index_many(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0);
    Shape s = rw_value(r, x)->shape, common;
    uint32_t n = node->n_in - 1;
    int first = 0;
    if (n < 2 || !neighbours(node, &first, n) || rw_value(r, rw_in(r, node, 1))->dtype == DT_BOOL)
        return false;
    ValueId at = flat_index(r, node, 1, n, s, first, &common);
    if (r->failed)
        return true;
    ValueId rows = select_rows(r, rw_reshape(r, x, merged(s, first, n)), at, first);
    out[0] = rw_reshape(r, rows, graph_value(r->from, node->out)->shape);
    return true;
}

/* The mask whose places the index tensors list, one dimension each; VALUE_NONE: they are others. */
static ValueId listed_mask(const Rewrite *r, const Node *node, uint32_t from)
{
    ValueId mask = VALUE_NONE;
    for (uint32_t i = from; i < node->n_in; i++) {
        const Node *step = graph_maker(r->from, node->in[i]);
        while (step && (step->op == OP_RESHAPE || step->op == OP_SLICE))
            step = graph_maker(r->from, step->in[0]);
        if (!step || step->op != OP_NONZERO || (i > from && mask != step->in[0]))
            return VALUE_NONE;
        mask = step->in[0];
    }
    return mask;
}

/* x[mask] = number */
static bool fill_masked(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), v = rw_in(r, node, 1), mask = listed_mask(r, node, 2);
    Shape s = rw_value(r, v)->shape;
    if (mask == VALUE_NONE || script_product(s, 0, s.rank) != 1 || node_bool(node, AT_ACCUMULATE))
        return false;
    mask = r->map[mask];
    Shape all = rw_value(r, x)->shape, over = rw_value(r, mask)->shape;
    if (over.rank > all.rank || mask == VALUE_NONE)
        return false;
    while (over.rank < all.rank)
        over.dim[over.rank++] = 1;
    v = rw_reshape(r, rw_cast(r, v, rw_value(r, x)->dtype), (Shape){0});
    out[0] = rw_where(r, rw_reshape(r, mask, over), v, x);
    return true;
}

/* x[mask], and masks and tensors of other shapes or dtypes */
static bool select_masked(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), mask = rw_in(r, node, 1);
    const Value *y = graph_value(r->from, node->out);
    bool index = node->op == OP_INDEX;
    if (index) {
        mask = listed_mask(r, node, 1);
        mask = mask == VALUE_NONE ? mask : r->map[mask];
    }
    if (mask == VALUE_NONE)
        return false;
    Shape a = rw_value(r, x)->shape, b = rw_value(r, mask)->shape, both = a;
    DType own = rw_value(r, x)->dtype;
    bool small = own == DT_I8 || own == DT_U8 || own == DT_BOOL;
    bool plain = !index && shape_equal(a, b) && !small;
    if (plain || (index && !shape_equal(a, b)) || !shape_broadcast(a, b, &both))
        return false;
    Attr size = {.key = AT_SIZE, .i = y->shape.dim[0]};
    ValueId in[] = {rw_expand(r, rw_cast(r, x, small ? DT_I32 : own), both),
                    rw_expand(r, mask, both)};
    out[0] = rw_cast(r, rw_make(r, OP_MASKED_SELECT, 0, 2, in, 1, &size), own);
    return true;
}

/* How many places before it are true says which element a true place takes. */
static bool scatter_masked(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), mask = rw_in(r, node, 1), from = rw_in(r, node, 2);
    Shape s = rw_value(r, x)->shape;
    int64_t count = 0, have = 0, zero = 0;
    if (!shape_count(s, &count) || !shape_count(rw_value(r, from)->shape, &have) || have < 1 ||
        !shape_equal(rw_value(r, mask)->shape, s))
        return false;
    Attr along = {.key = AT_DIM, .i = 0}, dims = {.key = AT_DIMS, .ints = {&zero, 1}};
    ValueId flat = rw_cast(r, rw_reshape(r, mask, (Shape){1, {count}}), DT_I64);
    ValueId place = rw_make(r, OP_SCAN, SCAN_sum, 1, &flat, 1, &along);
    place = rw_clamp(r, rw_binary(r, BINARY_sub, place, rw_integer(r, 1)), rw_integer(r, 0),
                     rw_integer(r, have - 1));
    for (int i = 0; i < rw_value(r, from)->shape.rank; i++)
        rw_hold(r, from, i);
    ValueId in[] = {rw_reshape(r, from, (Shape){1, {have}}), place};
    ValueId taken = rw_reshape(r, rw_make(r, OP_INDEX, 0, 2, in, 1, &dims), s);
    out[0] = rw_where(r, mask, rw_cast(r, taken, rw_value(r, x)->dtype), x);
    return true;
}

/* 0, 1, ..., size - 1 along a dimension that `behind` others follow. */
static ValueId every(Rewrite *r, int64_t size, int behind)
{
    Shape s = {.rank = 1 + behind, .dim = {size}};
    for (int i = 1; i < s.rank; i++)
        s.dim[i] = 1;
    return rw_reshape(r, rw_range(r, DT_I64, 0, size, 1), s);
}

static ValueId with_ones(Rewrite *r, ValueId x, int behind)
{
    Shape s = rw_value(r, x)->shape;
    for (int i = 0; i < behind; i++)
        s.dim[s.rank++] = 1;
    return rw_reshape(r, x, s);
}

/* x[i, :, j] is x[i, every, j]: indices on all dimensions up to the last that has one. Indices apart come
 * first in the result, neighbours stay where they are. */
static bool index_between(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    bool put = node->op == OP_INDEX_PUT;
    uint32_t from = put ? 2 : 1, n = node->n_in - from, k = 0;
    Shape s = rw_value(r, rw_in(r, node, 0))->shape, common = {0};
    int first = 0;
    if (!dims || dims->ints.len != n || n < 1)
        return false;
    bool apart = !neighbours(node, &first, n);
    for (uint32_t i = 0; i < n; i++) {
        const Value *at = rw_value(r, rw_in(r, node, from + i));
        if (at->dtype == DT_BOOL || !shape_broadcast(common, at->shape, &common) ||
            (i && dims->ints.at[i] <= dims->ints.at[i - 1]))
            return false;
    }
    int last = (int)dims->ints.at[n - 1], missing = last + 1 - (int)n;
    if ((!apart && (!put || first == 0)) || common.rank + missing > GRAPH_MAX_RANK)
        return false;
    ValueId in[GRAPH_MAX_RANK + 2] = {rw_in(r, node, 0), rw_in(r, node, 1)};
    int64_t list[GRAPH_MAX_RANK];
    for (int d = 0, left = missing; d <= last; d++) {
        list[d] = d;
        if (dims->ints.at[k] == d)
            in[from + (uint32_t)d] = with_ones(r, rw_in(r, node, from + k++), apart ? missing : 0);
        else
            in[from + (uint32_t)d] = every(r, s.dim[d], --left + (apart ? 0 : common.rank));
    }
    Attr attrs[] = {{.key = AT_DIMS}, {.key = AT_ACCUMULATE, .i = node_bool(node, AT_ACCUMULATE)}};
    attrs[0].ints.at = list;
    attrs[0].ints.len = (uint32_t)last + 1;
    out[0] = rw_make(r, node->op, 0, from + (uint32_t)last + 1, in, put ? 2 : 1, attrs);
    return true;
}

/* x with rows added or replaced: x, v, i0, i1, ... */
static bool index_put(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), v = rw_in(r, node, 1);
    Shape s = rw_value(r, x)->shape, common, full;
    uint32_t n = node->n_in - 2;
    int first = 0;
    bool add = node_bool(node, AT_ACCUMULATE);
    if ((n == 1 && !add) || !neighbours(node, &first, n) || first != 0 ||
        rw_value(r, rw_in(r, node, 2))->dtype == DT_BOOL)
        return false;
    ValueId at = flat_index(r, node, 2, n, s, first, &common);
    full = common;
    for (int i = (int)n; i < s.rank; i++)
        full.dim[full.rank++] = s.dim[i];
    Shape flat = merged(s, 0, n), rows = flat;
    rows.dim[0] = script_product(common, 0, common.rank);
    if (r->failed)
        return true;
    v = rw_cast(r, v, rw_value(r, x)->dtype);
    v = rw_reshape(r, rw_expand(r, v, full), rows);
    Attr dim = {.key = AT_DIM, .i = 0};
    ValueId in[] = {rw_reshape(r, x, flat), as_vector(r, at), v};
    out[0] = rw_reshape(r, rw_make(r, add ? OP_INDEX_ADD : OP_INDEX_COPY, 0, 3, in, 1, &dim), s);
    return true;
}

/* Single elements added to a few places: every place sums what belongs to it, all cores together. An atomic
 * store of one element takes as long as comparing a thousand. */
static bool add_elements(Rewrite *r, const Node *node, ValueId *out)
{
    enum { MOST_PLACES = 512 };
    ValueId x = rw_in(r, node, 0), at = rw_in(r, node, 1), from = rw_in(r, node, 2);
    const Value *into = rw_value(r, x), *what = rw_value(r, from);
    DType own = into->dtype;
    double alpha = node_float(node, AT_ALPHA, 1);
    if (into->shape.rank != 1 || what->shape.rank != 1 || rw_value(r, at)->shape.rank != 1 ||
        !shape_equal(what->shape, rw_value(r, at)->shape) || into->shape.dim[0] > MOST_PLACES ||
        !dtype_is_float(own) || what->dtype != own ||
        !bounds_within(rw_value(r, at), 0, (double)(into->shape.dim[0] - 1)))
        return false;
    ValueId places = rw_range(r, rw_value(r, at)->dtype, 0, into->shape.dim[0], 1);
    rw_hold(r, x, 0);
    ValueId here = rw_binary(r, BINARY_eq, rw_with_dim(r, at, 0), rw_with_dim(r, places, 1));
    ValueId part = rw_where(r, here, rw_with_dim(r, rw_cast(r, from, DT_F32), 0), rw_number(r, 0));
    ValueId sum = rw_reduce(r, REDUCE_sum, part, 1u << 1, false);
    if (alpha != 1)
        sum = rw_binary(r, BINARY_mul, sum, rw_number(r, alpha));
    out[0] = rw_cast(r, rw_binary(r, BINARY_add, rw_cast(r, x, DT_F32), sum), own);
    return true;
}

/* Counting: ones added at numbers. */
static ValueId count_at(Rewrite *r, ValueId at, ValueId ones, int64_t bins)
{
    Attr dim = {.key = AT_DIM, .i = 0};
    ValueId zeros = rw_full(r, (Shape){1, {bins}}, DT_F32, 0);
    return rw_make(r, OP_INDEX_ADD, 0, 3, (ValueId[]){zeros, at, ones}, 1, &dim);
}

static bool bincount(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId at = rw_in(r, node, 0);
    DType own = rw_value(r, at)->dtype;
    Shape s = rw_value(r, at)->shape;
    at = own == DT_I64 ? at : rw_cast(r, at, DT_I32);
    ValueId counts = count_at(r, at, rw_full(r, s, DT_F32, 1), node_int(node, AT_SIZE, 1));
    out[0] = rw_cast(r, counts, DT_I64);
    return true;
}

static bool histogram(Rewrite *r, const Node *node, ValueId *out)
{
    double low = node_float(node, AT_A, 0), high = node_float(node, AT_B, 0);
    int64_t bins = node_int(node, AT_SIZE, 100);
    ValueId x = as_vector(r, rw_in(r, node, 0));
    if (!(low < high))
        return false;
    ValueId inside = rw_binary(r, BINARY_logical_and, rw_binary(r, BINARY_ge, x, rw_number(r, low)),
                               rw_binary(r, BINARY_le, x, rw_number(r, high)));
    ValueId from = rw_binary(r, BINARY_sub, x, rw_number(r, low));
    ValueId place = rw_binary(r, BINARY_mul, from, rw_number(r, (double)bins / (high - low)));
    place = rw_clamp(r, rw_unary(r, UNARY_floor, place), rw_number(r, 0),
                     rw_number(r, (double)bins - 1));
    ValueId counts = count_at(r, rw_cast(r, place, DT_I32), rw_cast(r, inside, DT_F32), bins);
    out[0] = rw_cast(r, counts, graph_value(r->from, node->out)->dtype);
    return true;
}

/* Step 1: what stands before the slice, the new part, what stands behind. */
static bool slice_scatter(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId x = rw_in(r, node, 0), y = rw_in(r, node, 1);
    Shape s = rw_value(r, x)->shape;
    int dim = 0;
    int64_t start = node_int(node, AT_START, 0), step = node_int(node, AT_STEP, 1);
    if (!shape_dim(s, node_int(node, AT_DIM, 0), &dim))
        return false;
    int64_t count = rw_value(r, y)->shape.dim[dim];
    y = rw_cast(r, y, rw_value(r, x)->dtype);
    if (step != 1) {
        Attr at = {.key = AT_DIM, .i = dim};
        ValueId places = rw_range(r, DT_I32, start, start + (count - 1) * step + 1, step);
        out[0] = rw_make(r, OP_INDEX_COPY, 0, 3, (ValueId[]){x, places, y}, 1, &at);
        return true;
    }
    out[0] = start ? join(r, rw_slice(r, x, dim, 0, start, 1), y, dim) : y;
    if (start + count < s.dim[dim])
        out[0] = join(r, out[0], rw_slice(r, x, dim, start + count, s.dim[dim], 1), dim);
    return true;
}

/* Gradients of rows added up; those of the ignored row count 0 times. */
static bool embedding_grad(Rewrite *r, const Node *node, ValueId *out)
{
    ValueId grad = rw_in(r, node, 0), at = as_vector(r, rw_in(r, node, 1));
    Shape s = graph_value(r->from, node->out)->shape;
    DType own = graph_value(r->from, node->out)->dtype;
    int64_t rows = rw_value(r, at)->shape.dim[0], ignore = node_int(node, AT_IGNORE, -1);
    Attr dim = {.key = AT_DIM, .i = 0};
    grad = rw_reshape(r, rw_cast(r, grad, DT_F32), script_shape2(rows, s.dim[1]));
    if (ignore >= 0) {
        ValueId keep = rw_binary(r, BINARY_ne, at, rw_integer(r, ignore));
        grad = rw_where(r, rw_with_dim(r, keep, 1), grad, rw_number(r, 0));
    }
    ValueId zeros = rw_full(r, s, DT_F32, 0);
    ValueId sum = rw_make(r, OP_INDEX_ADD, 0, 3, (ValueId[]){zeros, at, grad}, 1, &dim);
    if (node_float(node, AT_SCALE, 0) != 0) {
        ValueId counts = count_at(r, at, rw_full(r, (Shape){1, {rows}}, DT_F32, 1), s.dim[0]);
        counts = rw_clamp(r, counts, rw_number(r, 1), VALUE_NONE);
        sum = rw_binary(r, BINARY_div, sum, rw_with_dim(r, counts, 1));
    }
    out[0] = rw_cast(r, sum, own);
    return true;
}

/* Elements put back where they stood in their plane. */
static bool unpool(Rewrite *r, const Node *node, ValueId *out)
{
    const Attr *to = node_attr(node, AT_SHAPE);
    Shape y = graph_value(r->from, node->out)->shape;
    if (!to || to->ints.len >= (uint32_t)y.rank)
        return false;
    int planes = y.rank - (int)to->ints.len;
    int64_t outer = script_product(y, 0, planes), inner = script_product(y, planes, y.rank);
    Shape s = rw_value(r, rw_in(r, node, 0))->shape;
    Shape rows = script_shape2(outer, script_product(s, planes, s.rank));
    Attr dim = {.key = AT_DIM, .i = 1};
    ValueId in[] = {
        rw_full(r, script_shape2(outer, inner), rw_value(r, rw_in(r, node, 0))->dtype, 0),
        rw_reshape(r, rw_in(r, node, 1), rows), rw_reshape(r, rw_in(r, node, 0), rows)};
    out[0] = rw_reshape(r, rw_make(r, OP_SCATTER, SCATTER_set, 3, in, 1, &dim), y);
    return true;
}

bool rewrite_index(Rewrite *r, const Node *node, ValueId *out)
{
    switch (node->op) {
    case OP_GATHER: return gather(r, node, out);
    case OP_SCATTER: return scatter(r, node, out);
    case OP_MASKED_SCATTER: return scatter_masked(r, node, out);
    case OP_MASKED_SELECT: return select_masked(r, node, out);
    case OP_INDEX:
        return select_masked(r, node, out) || index_many(r, node, out) ||
               index_between(r, node, out);
    case OP_INDEX_PUT:
        return fill_masked(r, node, out) || index_put(r, node, out) || index_between(r, node, out);
    case OP_INDEX_ADD: return add_elements(r, node, out);
    case OP_BINCOUNT: return bincount(r, node, out);
    case OP_HISTC: return histogram(r, node, out);
    case OP_EMBEDDING_GRAD: return embedding_grad(r, node, out);
    case OP_UNPOOL: return unpool(r, node, out);
    case OP_SLICE_SCATTER: return slice_scatter(r, node, out);
    default: return false;
    }
}
