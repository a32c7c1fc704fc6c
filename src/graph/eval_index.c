/* Indexing. In: a tensor and tensors of indices; out: the elements picked, or the tensor with
 * elements replaced. An index outside its dim is an error that names it; negative ones count from
 * the end. Writes go in order of the source, so that the last of repeated indices wins. */
#include "graph/eval_int.h"
#include <math.h>
#include <string.h>

static int64_t whole_at(const Tensor *t, int64_t i)
{
    int64_t x;
    tensor_load_i64(t, i, 1, 1, &x);
    return x;
}

/* Index i of `t` into a dim of size n. */
static bool index_at(EvalNode *e, const Tensor *t, int64_t i, int64_t n, int64_t *at)
{
    int64_t x = whole_at(t, i);
    *at = x < 0 ? x + n : x;
    if (*at >= 0 && *at < n)
        return true;
    return eval_fail(e, "index %lld is outside a dim of size %lld", (long long)x, (long long)n);
}

static char *element(const Tensor *t, int64_t i)
{
    return (char *)t->at + (size_t)i * dtype_bytes(t->dtype);
}

static void copy_all(const Tensor *from, Tensor *to)
{
    memcpy(to->at, from->at, (size_t)to->count * dtype_bytes(to->dtype));
}

/* For element i of `index` (rank as x, or 0): where it lies in x if its place along dim is `at`. */
static int64_t beside(Shape index, Shape x, int dim, int64_t i, int64_t at)
{
    int64_t place = 0, stride = 1;
    if (x.rank == 0)
        return 0;
    for (int d = x.rank - 1; d >= 0; d--) {
        int64_t c = index.rank ? i % index.dim[d] : 0;
        i = index.rank ? i / index.dim[d] : 0;
        place += (d == dim ? at : c) * stride;
        stride *= x.dim[d];
    }
    return place;
}

static int64_t dim_size(Shape s, int dim) { return s.rank ? s.dim[dim] : 1; }

bool eval_op_GATHER(EvalNode *e)
{
    const Tensor *x = e->in[0], *index = e->in[1];
    int dim = eval_dim(e->node, x->shape, 0);
    size_t bytes = dtype_bytes(x->dtype);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t at;
        if (!index_at(e, index, i, dim_size(x->shape, dim), &at))
            return false;
        memcpy(element(e->out[0], i), element(x, beside(index->shape, x->shape, dim, i, at)),
               bytes);
    }
    return true;
}

/* --- scatter ------------------------------------------------------------------------------ */

static double scatter_join(int kind, double have, double x)
{
    switch (kind) {
    case SCATTER_set: return x;
    case SCATTER_multiply: return have * x;
    case SCATTER_max: return have != have || have > x ? have : x;
    case SCATTER_min: return have != have || have < x ? have : x;
    default: return have + x;
    }
}

/* Where the reduction leaves x's own value out, its neutral element stands instead. */
static double scatter_neutral(int kind)
{
    switch (kind) {
    case SCATTER_multiply: return 1;
    case SCATTER_max: return -INFINITY;
    case SCATTER_min: return INFINITY;
    default: return 0;
    }
}

static bool scatter_all(EvalNode *e, double *sum, double *hits)
{
    const Tensor *x = e->in[0], *index = e->in[1], *src = e->in[2];
    int dim = eval_dim(e->node, x->shape, 0), kind = e->node->kind;
    bool number = graph_value(e->graph, e->node->in[2])->weak,
         fresh = node_float(e->node, AT_B, 0) == 1;
    for (int64_t i = 0; i < index->count; i++) {
        int64_t at;
        if (!index_at(e, index, i, dim_size(x->shape, dim), &at))
            return false;
        int64_t to = beside(index->shape, x->shape, dim, i, at), from = 0;
        if (!number && src->shape.rank) {
            int64_t along = index->shape.rank
                                ? i / eval_row_stride(index->shape, dim) % index->shape.dim[dim]
                                : 0;
            from = beside(index->shape, src->shape, dim, i, along);
        }
        if (fresh && hits[to] == 0)
            sum[to] = scatter_neutral(kind);
        sum[to] = scatter_join(kind, sum[to], tensor_get(src, from));
        hits[to] += 1;
    }
    if (kind == SCATTER_mean)
        for (int64_t i = 0; i < x->count; i++)
            sum[i] /= hits[i] == 0 ? 1 : hits[i] + (fresh ? 0 : 1);
    return true;
}

bool eval_op_SCATTER(EvalNode *e)
{
    Tensor *out = e->out[0];
    double *sum = heap_alloc(sizeof *sum * (size_t)(out->count + 1) * 2), *hits = sum + out->count;
    tensor_load_f64(e->in[0], 0, 1, out->count, sum);
    bool ok = scatter_all(e, sum, hits);
    copy_all(e->in[0], out);
    for (int64_t i = 0; ok && i < out->count; i++)
        if (hits[i] != 0)
            tensor_set(out, i, sum[i]);
    heap_free(sum);
    return ok;
}

/* --- whole slices ------------------------------------------------------------------------- */

bool eval_op_INDEX_SELECT(EvalNode *e)
{
    const Tensor *x = e->in[0], *index = e->in[1];
    int dim = eval_dim(e->node, x->shape, 0);
    Axis a = x->shape.rank ? eval_axis(x->shape, dim) : (Axis){1, 1, 1};
    size_t run = (size_t)a.inner * dtype_bytes(x->dtype);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t at;
        if (!index_at(e, index, i, a.n, &at))
            return false;
        for (int64_t o = 0; o < a.outer; o++)
            memcpy((char *)e->out[0]->at + (size_t)(o * index->count + i) * run,
                   (const char *)x->at + (size_t)(o * a.n + at) * run, run);
    }
    return true;
}

bool eval_op_INDEX_COPY(EvalNode *e)
{
    const Tensor *index = e->in[1];
    Tensor *out = e->out[0], *src = eval_as(e, e->in[2], out->dtype);
    if (!src)
        return false;
    copy_all(e->in[0], out);
    Axis a = out->shape.rank ? eval_axis(out->shape, eval_dim(e->node, out->shape, 0))
                             : (Axis){1, 1, 1};
    size_t run = (size_t)a.inner * dtype_bytes(out->dtype);
    bool ok = true;
    for (int64_t i = 0; ok && i < index->count; i++) {
        int64_t at;
        ok = index_at(e, index, i, a.n, &at);
        for (int64_t o = 0; ok && o < a.outer; o++)
            memcpy((char *)out->at + (size_t)(o * a.n + at) * run,
                   (const char *)src->at + (size_t)(o * index->count + i) * run, run);
    }
    tensor_free(src);
    return ok;
}

static double joined(Str reduction, double x, double y)
{
    if (str_is(reduction, "max"))
        return x >= y || isnan(x) ? x : y;
    if (str_is(reduction, "min"))
        return x <= y || isnan(x) ? x : y;
    return x + y;
}

bool eval_op_INDEX_ADD(EvalNode *e)
{
    const Tensor *index = e->in[1], *src = e->in[2];
    Tensor *out = e->out[0];
    double alpha = node_float(e->node, AT_ALPHA, 1);
    Str reduction = node_text(e->node, AT_REDUCTION);
    Axis a = out->shape.rank ? eval_axis(out->shape, eval_dim(e->node, out->shape, 0))
                             : (Axis){1, 1, 1};
    double *sum = heap_alloc(sizeof *sum * (size_t)(out->count + 1));
    tensor_load_f64(e->in[0], 0, 1, out->count, sum);
    bool ok = true;
    for (int64_t i = 0; ok && i < index->count; i++) {
        int64_t at;
        ok = index_at(e, index, i, a.n, &at);
        for (int64_t o = 0; ok && o < a.outer; o++)
            for (int64_t c = 0; c < a.inner; c++) {
                double *to = &sum[(o * a.n + at) * a.inner + c];
                double v = alpha * tensor_get(src, (o * index->count + i) * a.inner + c);
                *to = joined(reduction, *to, v);
            }
    }
    tensor_store_f64(out, 0, 1, out->count, sum);
    heap_free(sum);
    return ok;
}

/* --- advanced indexing -------------------------------------------------------------------- */

typedef struct Picked {
    Shape slot;   /* shape of what is picked */
    Shape common; /* broadcast shape of the indices */
    int place;    /* first dim of `common` within slot */
    int dims[GRAPH_MAX_RANK];
    int n_index;
    bool indexed[GRAPH_MAX_RANK];
} Picked;

static Picked picked_of(const EvalNode *e, uint32_t first)
{
    Picked p = {.n_index = (int)(e->node->n_in - first)};
    Shape x = e->in[0]->shape;
    const Attr *dims = node_attr(e->node, AT_DIMS);
    bool neighbours = true;
    for (int i = 0; i < p.n_index; i++) {
        p.dims[i] = (int)dims->ints.at[i];
        p.indexed[p.dims[i]] = true;
        shape_broadcast(p.common, e->in[first + (uint32_t)i]->shape, &p.common);
        neighbours = neighbours && (i == 0 || p.dims[i] == p.dims[i - 1] + 1);
    }
    p.place = neighbours ? p.dims[0] : 0;
    int kept = 0;
    for (int i = 0; i <= x.rank; i++) {
        if (kept == p.place) {
            for (int j = 0; j < p.common.rank; j++)
                p.slot.dim[p.slot.rank++] = p.common.dim[j];
            kept++;
        }
        if (i < x.rank && !p.indexed[i]) {
            p.slot.dim[p.slot.rank++] = x.dim[i];
            kept++;
        }
    }
    return p;
}

/* Where element `at` (coordinates) lies in a tensor that broadcasts to `shape`. */
static int64_t broadcast_at(Shape shape, Shape in, const int64_t *at)
{
    int64_t place = 0;
    for (int i = 0; i < in.rank; i++)
        place = place * in.dim[i] + (in.dim[i] == 1 ? 0 : at[shape.rank - in.rank + i]);
    return place;
}

/* Place in x of element i of the picked shape; `at` receives its coordinates there. */
static bool picked_at(EvalNode *e, const Picked *p, uint32_t first, int64_t i, int64_t *at,
                      int64_t *place)
{
    Shape x = e->in[0]->shape;
    for (int d = p->slot.rank - 1; d >= 0; i /= p->slot.dim[d], d--)
        at[d] = i % p->slot.dim[d];
    int64_t chosen[GRAPH_MAX_RANK] = {0};
    for (int k = 0; k < p->n_index; k++) {
        const Tensor *index = e->in[first + (uint32_t)k];
        int64_t from = broadcast_at(p->common, index->shape, at + p->place);
        if (!index_at(e, index, from, x.dim[p->dims[k]], &chosen[p->dims[k]]))
            return false;
    }
    *place = 0;
    for (int d = 0, s = 0; d < x.rank; d++) {
        if (s == p->place)
            s += p->common.rank;
        *place = *place * x.dim[d] + (p->indexed[d] ? chosen[d] : at[s++]);
    }
    return true;
}

bool eval_op_INDEX(EvalNode *e)
{
    Picked p = picked_of(e, 1);
    size_t bytes = dtype_bytes(e->in[0]->dtype);
    for (int64_t i = 0; i < e->out[0]->count; i++) {
        int64_t at[GRAPH_MAX_RANK + 1], place;
        if (!picked_at(e, &p, 1, i, at, &place))
            return false;
        memcpy(element(e->out[0], i), element(e->in[0], place), bytes);
    }
    return true;
}

bool eval_op_INDEX_PUT(EvalNode *e)
{
    Picked p = picked_of(e, 2);
    Tensor *out = e->out[0];
    bool add = node_bool(e->node, AT_ACCUMULATE);
    int64_t count = 0;
    shape_count(p.slot, &count);
    double *sum = heap_alloc(sizeof *sum * (size_t)(out->count + 1));
    tensor_load_f64(e->in[0], 0, 1, out->count, sum);
    copy_all(e->in[0], out);
    bool ok = true;
    for (int64_t i = 0; ok && i < count; i++) {
        int64_t at[GRAPH_MAX_RANK + 1], place = 0;
        ok = picked_at(e, &p, 2, i, at, &place);
        if (!ok)
            break;
        double v = tensor_get(e->in[1], broadcast_at(p.slot, e->in[1]->shape, at));
        sum[place] = add ? sum[place] + v : v;
        tensor_set(out, place, sum[place]);
    }
    heap_free(sum);
    return ok;
}

/* --- masks -------------------------------------------------------------------------------- */

static void unravel(Shape shape, int64_t i, int64_t *at)
{
    for (int d = shape.rank - 1; d >= 0; i /= shape.dim[d], d--)
        at[d] = i % shape.dim[d];
}

bool eval_op_MASKED_SELECT(EvalNode *e)
{
    const Tensor *x = e->in[0], *mask = e->in[1];
    Tensor *out = e->out[0];
    Shape both = {0};
    int64_t all = 0, taken = 0, at[GRAPH_MAX_RANK];
    shape_broadcast(x->shape, mask->shape, &both);
    shape_count(both, &all);
    for (int64_t i = 0; i < all; i++) {
        unravel(both, i, at);
        if (tensor_get(mask, broadcast_at(both, mask->shape, at)) == 0)
            continue;
        if (taken == out->count)
            return eval_fail(e, "more than %lld elements are selected", (long long)out->count);
        memcpy(element(out, taken++), element(x, broadcast_at(both, x->shape, at)),
               dtype_bytes(x->dtype));
    }
    return taken == out->count || eval_fail(e, "%lld elements are selected, not %lld",
                                            (long long)taken, (long long)out->count);
}

bool eval_op_MASKED_SCATTER(EvalNode *e)
{
    const Tensor *mask = e->in[1], *src = e->in[2];
    Tensor *out = e->out[0];
    int64_t taken = 0, at[GRAPH_MAX_RANK];
    copy_all(e->in[0], out);
    for (int64_t i = 0; i < out->count; i++) {
        unravel(out->shape, i, at);
        if (tensor_get(mask, broadcast_at(out->shape, mask->shape, at)) == 0)
            continue;
        if (taken == src->count)
            return eval_fail(e, "the source has only %lld elements", (long long)src->count);
        tensor_set(out, i, tensor_get(src, taken++));
    }
    return true;
}

bool eval_op_NONZERO(EvalNode *e)
{
    const Tensor *x = e->in[0];
    Tensor *out = e->out[0];
    int64_t found = 0, most = out->shape.dim[0], at[GRAPH_MAX_RANK];
    for (int64_t i = 0; i < x->count; i++) {
        if (tensor_get(x, i) == 0)
            continue;
        if (found == most)
            return eval_fail(e, "more than %lld elements are not zero", (long long)most);
        unravel(x->shape, i, at);
        tensor_store_i64(out, found++ * x->shape.rank, 1, x->shape.rank, at);
    }
    return found == most ||
           eval_fail(e, "%lld elements are not zero, not %lld", (long long)found, (long long)most);
}

/* --- embedding ---------------------------------------------------------------------------- */

bool eval_op_EMBEDDING(EvalNode *e)
{
    const Tensor *weight = e->in[0], *index = e->in[1];
    size_t run = (size_t)weight->shape.dim[1] * dtype_bytes(weight->dtype);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t row = whole_at(index, i);
        if (row < 0 || row >= weight->shape.dim[0])
            return eval_fail(e, "index %lld is outside %lld rows", (long long)row,
                             (long long)weight->shape.dim[0]);
        memcpy((char *)e->out[0]->at + (size_t)i * run,
               (const char *)weight->at + (size_t)row * run, run);
    }
    return true;
}

bool eval_op_EMBEDDING_GRAD(EvalNode *e)
{
    const Tensor *grad = e->in[0], *index = e->in[1];
    Tensor *out = e->out[0];
    int64_t rows = out->shape.dim[0], width = out->shape.dim[1];
    int64_t skip = node_int(e->node, AT_IGNORE, -1);
    bool by_count = node_float(e->node, AT_SCALE, 0) == 1;
    double *sum = heap_alloc(sizeof *sum * (size_t)(out->count + rows + 1)),
           *hits = sum + out->count;
    bool ok = true;
    for (int64_t i = 0; i < index->count; i++) {
        int64_t row = whole_at(index, i);
        if (row == skip)
            continue;
        if (row < 0 || row >= rows) {
            ok = eval_fail(e, "index %lld is outside %lld rows", (long long)row, (long long)rows);
            break;
        }
        hits[row] += 1;
        for (int64_t c = 0; c < width; c++)
            sum[row * width + c] += tensor_get(grad, i * width + c);
    }
    for (int64_t i = 0; by_count && i < out->count; i++)
        sum[i] /= hits[i / width] > 0 ? hits[i / width] : 1;
    tensor_store_f64(out, 0, 1, out->count, sum);
    heap_free(sum);
    return ok;
}

bool eval_op_ONE_HOT(EvalNode *e)
{
    const Tensor *index = e->in[0];
    int64_t size = e->out[0]->shape.dim[e->out[0]->shape.rank - 1];
    memset(e->out[0]->at, 0, (size_t)e->out[0]->count * dtype_bytes(e->out[0]->dtype));
    for (int64_t i = 0; i < index->count; i++) {
        int64_t at = whole_at(index, i);
        if (at < 0 || at >= size)
            return eval_fail(e, "class %lld is outside 0 .. %lld", (long long)at,
                             (long long)size - 1);
        tensor_set(e->out[0], i * size + at, 1);
    }
    return true;
}
