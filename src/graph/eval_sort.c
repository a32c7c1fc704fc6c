/* Operators along one line: sort, topk, median, running sums, softmax, and counting.
 * In: a tensor and a dim; out: tensors of the same lines. Lines are spread over the threads. */
#include "graph/eval_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sorting ------------------------------------------------------------------------------ */

typedef struct Item {
    double v;
    int64_t whole; /* the value of an integer element, exactly */
    int64_t index;
} Item;

/* nan counts as the largest; equals stand in order of index. */
static int item_order(const Item *a, const Item *b, int sign)
{
    bool na = a->v != a->v, nb = b->v != b->v;
    int order = na || nb       ? na - nb
                : a->v != b->v ? (a->v > b->v) - (a->v < b->v)
                               : (a->whole > b->whole) - (a->whole < b->whole);
    return order ? sign * order : (a->index > b->index) - (a->index < b->index);
}

static int rising(const void *a, const void *b) { return item_order(a, b, 1); }
static int falling(const void *a, const void *b) { return item_order(a, b, -1); }

static void load_items(const Tensor *t, int64_t from, int64_t step, int64_t n, Item *items)
{
    bool whole = !dtype_is_float(t->dtype);
    for (int64_t i = 0; i < n; i++) {
        items[i] = (Item){.v = tensor_get(t, from + i * step), .index = i};
        if (whole)
            tensor_load_i64(t, from + i * step, 1, 1, &items[i].whole);
    }
}

static void store_item(const Item *item, bool whole, Tensor *value, Tensor *index, int64_t at)
{
    if (whole)
        tensor_store_i64(value, at, 1, 1, &item->whole);
    else
        tensor_set(value, at, item->v);
    if (index)
        tensor_store_i64(index, at, 1, 1, &item->index);
}

static bool sort_lines(EvalNode *e, int dim, bool descending)
{
    const Tensor *in = e->in[0];
    Axis a = eval_axis(in->shape, dim), o = eval_axis(e->out[0]->shape, dim);
    bool whole = !dtype_is_float(in->dtype);
#pragma omp parallel
    {
        Item *items = heap_alloc(sizeof *items * (size_t)(a.n + 1));
#pragma omp for schedule(static)
        for (int64_t line = 0; line < a.outer * a.inner; line++) {
            int64_t from = line / a.inner * a.n * a.inner + line % a.inner;
            int64_t to = line / a.inner * o.n * a.inner + line % a.inner;
            load_items(in, from, a.inner, a.n, items);
            qsort(items, (size_t)a.n, sizeof *items, descending ? falling : rising);
            for (int64_t i = 0; i < o.n; i++)
                store_item(&items[i], whole, e->out[0], e->out[1], to + i * a.inner);
        }
        heap_free(items);
    }
    return true;
}

bool eval_op_SORT(EvalNode *e)
{
    return sort_lines(e, eval_dim(e->node, e->in[0]->shape, -1), node_bool(e->node, AT_DESCENDING));
}

bool eval_op_TOPK(EvalNode *e)
{
    return sort_lines(e, eval_dim(e->node, e->in[0]->shape, -1), node_bool(e->node, AT_LARGEST));
}

static Item median_of(Item *items, int64_t n)
{
    if (n == 0)
        return (Item){.v = (double)NAN};
    qsort(items, (size_t)n, sizeof *items, rising);
    for (int64_t i = 0; i < n; i++)
        if (items[i].v != items[i].v)
            return items[i];
    return items[(n - 1) / 2];
}

bool eval_op_MEDIAN(EvalNode *e)
{
    const Tensor *in = e->in[0];
    const Attr *dims = node_attr(e->node, AT_DIMS);
    bool flat = !dims || dims->ints.len == 0;
    int dim = 0;
    if (!flat)
        shape_dim(in->shape, dims->ints.at[0], &dim);
    Axis a = flat ? (Axis){1, in->count, 1} : eval_axis(in->shape, dim);
    Item *items = heap_alloc(sizeof *items * (size_t)(a.n + 1));
    for (int64_t line = 0; line < a.outer * a.inner; line++) {
        load_items(in, line / a.inner * a.n * a.inner + line % a.inner, a.inner, a.n, items);
        Item m = median_of(items, a.n);
        store_item(&m, !dtype_is_float(in->dtype), e->out[0], e->node->n_out > 1 ? e->out[1] : NULL,
                   line);
    }
    heap_free(items);
    return true;
}

/* --- running kinds ------------------------------------------------------------------------ */

static double scan_step(int kind, double have, double x)
{
    switch (kind) {
    case SCAN_sum: return have + x;
    case SCAN_prod: return have * x;
    case SCAN_max: return have != have || have > x ? have : x;
    case SCAN_min: return have != have || have < x ? have : x;
    default: {
        if (have != have || x != x || (isinf(have) && have == x))
            return have + x;
        double high = fmax(have, x);
        return isinf(high) && high < 0 ? high : high + log1p(exp(-fabs(have - x)));
    }
    }
}

static int64_t scan_whole(int kind, int64_t have, int64_t x)
{
    switch (kind) {
    case SCAN_sum: return (int64_t)((uint64_t)have + (uint64_t)x);
    case SCAN_prod: return (int64_t)((uint64_t)have * (uint64_t)x);
    case SCAN_max: return have > x ? have : x;
    default: return have < x ? have : x;
    }
}

/* A line whose elements lie side by side. */
static void scan_line(int kind, const Tensor *in, Tensor *out, int64_t from, int64_t n)
{
    enum { RUN = 512 };
    double have = 0, x[RUN];
    for (int64_t i = 0; i < n; i += RUN) {
        int64_t len = n - i < RUN ? n - i : RUN;
        tensor_load_f64(in, from + i, 1, len, x);
        for (int64_t k = 0; k < len; k++)
            x[k] = have = i + k ? scan_step(kind, have, x[k]) : x[k];
        tensor_store_f64(out, from + i, 1, len, x);
    }
}

/* `width` neighbouring lines of one outer index, a row of their elements at a time. */
static void scan_lines(int kind, const Tensor *in, Tensor *out, Axis a, int64_t from, int64_t width)
{
    enum { WIDTH = 64 };
    double have[WIDTH] = {0}, x[WIDTH];
    for (int64_t i = 0; i < a.n; i++) {
        tensor_load_f64(in, from + i * a.inner, 1, width, x);
        for (int64_t c = 0; c < width; c++)
            have[c] = i ? scan_step(kind, have[c], x[c]) : x[c];
        tensor_store_f64(out, from + i * a.inner, 1, width, have);
    }
}

static void scan_whole_line(int kind, const Tensor *in, Tensor *out, Axis a, int64_t from)
{
    int64_t have = 0, x;
    for (int64_t i = 0; i < a.n; i++) {
        tensor_load_i64(in, from + i * a.inner, 1, 1, &x);
        have = i ? scan_whole(kind, have, x) : x;
        tensor_store_i64(out, from + i * a.inner, 1, 1, &have);
    }
}

bool eval_op_SCAN(EvalNode *e)
{
    enum { WIDTH = 64 };
    Tensor *out = e->out[0];
    Tensor *in = eval_as(e, e->in[0], eval_asked_dtype(e));
    if (!in)
        return false;
    Axis a = eval_axis(in->shape, eval_dim(e->node, in->shape, 0));
    bool whole = !dtype_is_float(in->dtype);
    int64_t width = whole             ? 1
                    : a.inner < WIDTH ? a.inner
                                      : WIDTH,
            blocks = width ? (a.inner + width - 1) / width : 0;
#pragma omp parallel for schedule(static) if (in->count > 32768)
    for (int64_t t = 0; t < a.outer * blocks; t++) {
        int64_t c0 = t % blocks * width, from = t / blocks * a.n * a.inner + c0;
        if (whole)
            scan_whole_line(e->node->kind, in, out, a, from);
        else if (a.inner == 1)
            scan_line(e->node->kind, in, out, from, a.n);
        else
            scan_lines(e->node->kind, in, out, a, from,
                       a.inner - c0 < width ? a.inner - c0 : width);
    }
    tensor_free(in);
    return true;
}

/* --- softmax ------------------------------------------------------------------------------ */

bool eval_op_SOFTMAX(EvalNode *e)
{
    const Tensor *in = e->in[0];
    Axis a = eval_axis(in->shape, eval_dim(e->node, in->shape, -1));
    bool log_of = node_bool(e->node, AT_LOG);
    bool narrow = eval_dtype(e->eval, DT_F32) == DT_F32 && in->dtype != DT_F64;
    bool plain = !e->eval->wide && !log_of && a.inner == 1 && in->dtype == DT_F32 &&
                 e->out[0]->dtype == DT_F32;
#pragma omp parallel if (in->count > 4096)
    {
        double *x = heap_alloc(sizeof *x * (size_t)(a.n + 1));
#pragma omp for schedule(static)
        for (int64_t line = 0; line < a.outer * a.inner; line++) {
            int64_t from = line / a.inner * a.n * a.inner + line % a.inner;
            if (plain) {
                float *line_at = TENSOR_AT(e->out[0], float) + from;
                memcpy(line_at, TENSOR_AT(in, float) + from, sizeof *line_at * (size_t)a.n);
                eval_softmax_f32(line_at, a.n, 1);
                continue;
            }
            tensor_load_f64(in, from, a.inner, a.n, x);
            if (log_of)
                eval_log_softmax(x, a.n, narrow);
            else
                eval_softmax(x, a.n);
            tensor_store_f64(e->out[0], from, a.inner, a.n, x);
        }
        heap_free(x);
    }
    return true;
}

/* --- counting ----------------------------------------------------------------------------- */

bool eval_op_HISTC(EvalNode *e)
{
    const Tensor *in = e->in[0];
    Tensor *out = e->out[0];
    double low = node_float(e->node, AT_A, 0), high = node_float(e->node, AT_B, 0);
    if (low == high && in->count > 0) {
        low = INFINITY;
        high = -INFINITY;
        for (int64_t i = 0; i < in->count; i++) {
            double x = tensor_get(in, i);
            low = fmin(low, x);
            high = fmax(high, x);
        }
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    if (!isfinite(low) || !isfinite(high))
        return eval_fail(e, "the range [%g, %g] is not finite", low, high);
    int64_t bins = out->count;
    double *counts = heap_alloc(sizeof *counts * (size_t)(bins + 1));
    for (int64_t i = 0; i < in->count; i++) {
        double x = tensor_get(in, i);
        if (!(x >= low && x <= high))
            continue;
        int64_t bin = (int64_t)((x - low) / (high - low) * (double)bins);
        counts[bin < bins ? bin : bins - 1] += 1;
    }
    tensor_store_f64(out, 0, 1, bins, counts);
    heap_free(counts);
    return true;
}

bool eval_op_BINCOUNT(EvalNode *e)
{
    Tensor *out = e->out[0];
    memset(out->at, 0, (size_t)out->count * dtype_bytes(out->dtype));
    for (int64_t i = 0; i < e->in[0]->count; i++) {
        int64_t x;
        tensor_load_i64(e->in[0], i, 1, 1, &x);
        if (x < 0 || x >= out->count)
            return eval_fail(e, "element %lld is outside 0 .. %lld", (long long)x,
                             (long long)out->count - 1);
        TENSOR_AT(out, int64_t)[x]++;
    }
    return true;
}
