/* Operators that only move elements, and the index helpers all operators share.
 * In: one or more tensors; out: the same elements elsewhere. Most are one strided copy. */
#include "graph/eval_int.h"
#include <string.h>

/* --- helpers ------------------------------------------------------------------------------ */

Axis eval_axes(Shape shape, int first, int last)
{
    Axis a = {1, 1, 1};
    for (int i = 0; i < shape.rank; i++)
        *(i < first ? &a.outer : i < last ? &a.n : &a.inner) *= shape.dim[i];
    return a;
}

Axis eval_axis(Shape shape, int dim) { return eval_axes(shape, dim, dim + 1); }

int64_t eval_row_stride(Shape shape, int dim)
{
    int64_t stride = 1;
    for (int i = dim + 1; i < shape.rank; i++)
        stride *= shape.dim[i];
    return stride;
}

int eval_dim(const Node *node, Shape shape, int64_t fallback)
{
    int dim = 0;
    shape_dim(shape, node_int(node, AT_DIM, fallback), &dim);
    return dim;
}

void eval_dim_flags(const Node *node, AttrKey key, Shape shape, bool flags[GRAPH_MAX_RANK])
{
    const Attr *attr = node_attr(node, key);
    bool all = !attr || attr->ints.len == 0;
    for (int i = 0; i < GRAPH_MAX_RANK; i++)
        flags[i] = all && i < shape.rank;
    for (uint32_t i = 0; !all && i < attr->ints.len; i++) {
        int dim;
        if (shape_dim(shape, attr->ints.at[i], &dim))
            flags[dim] = true;
    }
}

typedef struct Walk {
    int rank;
    int64_t dim[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK];
} Walk;

/* Neighbouring dims that advance as one are merged. */
static Walk walk_of(Shape shape, const int64_t *stride)
{
    Walk w = {0};
    for (int i = 0; i < shape.rank; i++) {
        int last = w.rank - 1;
        if (shape.dim[i] == 1)
            continue;
        if (last >= 0 && w.stride[last] == stride[i] * shape.dim[i]) {
            w.dim[last] *= shape.dim[i];
            w.stride[last] = stride[i];
        } else {
            w.dim[w.rank] = shape.dim[i];
            w.stride[w.rank++] = stride[i];
        }
    }
    if (w.rank == 0) {
        w.rank = 1;
        w.dim[0] = 1;
    }
    return w;
}

#define COPY_RUN(T)                     \
    do {                                \
        const T *s = (const T *)from;   \
        T *d = (T *)to;                 \
        for (int64_t i = 0; i < n; i++) \
            d[i] = s[i * step];         \
    } while (0)

static void copy_run(const void *from, int64_t step, void *to, int64_t n, size_t bytes)
{
    if (step == 1)
        memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 1)
        COPY_RUN(uint8_t);
    else if (bytes == 2)
        COPY_RUN(uint16_t);
    else if (bytes == 4)
        COPY_RUN(uint32_t);
    else
        COPY_RUN(uint64_t);
}

void eval_copy_strided(const Tensor *in, int64_t offset, const int64_t *stride, Tensor *out)
{
    if (out->count == 0)
        return;
    Walk w = walk_of(out->shape, stride);
    int last = w.rank - 1;
    size_t bytes = dtype_bytes(in->dtype);
    int64_t run = w.dim[last], rows = out->count / run;
#pragma omp parallel for schedule(static) if (out->count > 32768)
    for (int64_t r = 0; r < rows; r++) {
        int64_t index = r, at = offset;
        for (int d = last - 1; d >= 0; index /= w.dim[d], d--)
            at += index % w.dim[d] * w.stride[d];
        copy_run((const char *)in->at + (size_t)at * bytes, w.stride[last],
                 (char *)out->at + (size_t)(r * run) * bytes, run, bytes);
    }
}

static void strides_of(Shape shape, int64_t stride[GRAPH_MAX_RANK])
{
    for (int i = 0; i < shape.rank; i++)
        stride[i] = eval_row_stride(shape, i);
}

/* --- one strided copy each ---------------------------------------------------------------- */

bool eval_op_RESHAPE(EvalNode *e)
{
    Tensor *view = tensor_alias(e->in[0], e->out[0]->shape);
    if (!view)
        return eval_fail(e, "the element counts differ");
    tensor_free(e->out[0]);
    e->out[0] = view;
    return true;
}

bool eval_op_PERMUTE(EvalNode *e)
{
    int64_t from[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK] = {0};
    strides_of(e->in[0]->shape, from);
    const Attr *dims = node_attr(e->node, AT_DIMS);
    for (int i = 0; i < e->out[0]->shape.rank; i++) {
        int dim = i;
        if (dims && (uint32_t)i < dims->ints.len)
            shape_dim(e->in[0]->shape, dims->ints.at[i], &dim);
        stride[i] = from[dim];
    }
    eval_copy_strided(e->in[0], 0, stride, e->out[0]);
    return true;
}

bool eval_op_EXPAND(EvalNode *e)
{
    int64_t stride[GRAPH_MAX_RANK] = {0};
    Shape in = e->in[0]->shape, out = e->out[0]->shape;
    for (int i = 0; i < in.rank; i++)
        stride[out.rank - in.rank + i] = in.dim[i] == 1 ? 0 : eval_row_stride(in, i);
    eval_copy_strided(e->in[0], 0, stride, e->out[0]);
    return true;
}

bool eval_op_SLICE(EvalNode *e)
{
    int64_t stride[GRAPH_MAX_RANK];
    strides_of(e->in[0]->shape, stride);
    int dim = eval_dim(e->node, e->in[0]->shape, 0);
    int64_t offset = node_int(e->node, AT_START, 0) * stride[dim];
    stride[dim] *= node_int(e->node, AT_STEP, 1);
    eval_copy_strided(e->in[0], offset, stride, e->out[0]);
    return true;
}

bool eval_op_FLIP(EvalNode *e)
{
    bool flip[GRAPH_MAX_RANK] = {false};
    int64_t stride[GRAPH_MAX_RANK], offset = 0;
    Shape shape = e->in[0]->shape;
    const Attr *dims = node_attr(e->node, AT_DIMS);
    if (dims && dims->ints.len > 0)
        eval_dim_flags(e->node, AT_DIMS, shape, flip);
    strides_of(shape, stride);
    for (int i = 0; i < shape.rank; i++)
        if (flip[i]) {
            offset += (shape.dim[i] - 1) * stride[i];
            stride[i] = -stride[i];
        }
    eval_copy_strided(e->in[0], offset, stride, e->out[0]);
    return true;
}

bool eval_op_UNFOLD(EvalNode *e)
{
    int64_t stride[GRAPH_MAX_RANK];
    strides_of(e->in[0]->shape, stride);
    int dim = eval_dim(e->node, e->in[0]->shape, 0), last = e->out[0]->shape.rank - 1;
    int64_t along = e->in[0]->shape.rank ? stride[dim] : 1;
    stride[dim] = along * node_int(e->node, AT_STEP, 1);
    stride[last] = along;
    eval_copy_strided(e->in[0], 0, stride, e->out[0]);
    return true;
}

bool eval_op_DIAGONAL(EvalNode *e)
{
    Shape in = e->in[0]->shape;
    const Attr *dims = node_attr(e->node, AT_DIMS);
    int a = 0, b = 1, kept = 0;
    if (dims && dims->ints.len == 2) {
        shape_dim(in, dims->ints.at[0], &a);
        shape_dim(in, dims->ints.at[1], &b);
    }
    int64_t diagonal = node_int(e->node, AT_DIAGONAL, 0), stride[GRAPH_MAX_RANK],
            from[GRAPH_MAX_RANK];
    strides_of(in, from);
    for (int i = 0; i < in.rank; i++)
        if (i != a && i != b)
            stride[kept++] = from[i];
    stride[kept] = from[a] + from[b];
    int64_t offset = diagonal >= 0 ? diagonal * from[b] : -diagonal * from[a];
    eval_copy_strided(e->in[0], offset, stride, e->out[0]);
    return true;
}

/* --- several pieces ----------------------------------------------------------------------- */

static bool legacy_empty(const Tensor *t) { return t->shape.rank == 1 && t->count == 0; }

static bool cat_one(EvalNode *e, const Tensor *in, int dim, int64_t *at)
{
    Tensor *out = e->out[0], *piece = eval_as(e, in, out->dtype);
    if (!piece)
        return false;
    Axis from = eval_axis(in->shape, dim), to = eval_axis(out->shape, dim);
    size_t bytes = dtype_bytes(out->dtype), run = (size_t)(from.n * from.inner) * bytes;
    for (int64_t o = 0; o < from.outer; o++)
        memcpy((char *)out->at + (size_t)((o * to.n + *at) * to.inner) * bytes,
               (const char *)piece->at + (size_t)o * run, run);
    *at += from.n;
    tensor_free(piece);
    return true;
}

bool eval_op_CAT(EvalNode *e)
{
    int dim = eval_dim(e->node, e->out[0]->shape, 0);
    int64_t at = 0;
    for (uint32_t i = 0; i < e->node->n_in; i++)
        if (!(legacy_empty(e->in[i]) && e->out[0]->shape.rank != 1) && e->in[i]->count > 0 &&
            !cat_one(e, e->in[i], dim, &at))
            return false;
    return true;
}

/* The output as a copy of input 0, or as input 0 itself when nobody reads that again: a loop that
 * fills a tensor row by row must not copy it for every row. */
static bool take_over(EvalNode *e)
{
    Tensor *x = e->in[0], *out = e->out[0];
    uint32_t index = (uint32_t)(e->node - e->graph->nodes.at);
    if (e->eval->last_use[e->node->in[0]] == index && tensor_sole_owner(x) && e->in[1] != x) {
        Tensor *same = tensor_alias(x, x->shape);
        tensor_free(out);
        e->out[0] = same;
        return same != NULL;
    }
    memcpy(out->at, x->at, (size_t)out->count * dtype_bytes(out->dtype));
    return true;
}

bool eval_op_SLICE_SCATTER(EvalNode *e)
{
    Tensor *src = eval_as(e, e->in[1], e->out[0]->dtype);
    if (!src || !take_over(e)) {
        tensor_free(src);
        return false;
    }
    Tensor *out = e->out[0];
    int dim = eval_dim(e->node, out->shape, 0);
    Axis to = eval_axis(out->shape, dim);
    int64_t start = node_int(e->node, AT_START, 0), step = node_int(e->node, AT_STEP, 1);
    int64_t pieces = eval_axis(src->shape, dim).n;
    size_t run = (size_t)to.inner * dtype_bytes(out->dtype);
    const char *from = src->at;
    for (int64_t o = 0; o < to.outer; o++)
        for (int64_t i = 0; i < pieces; i++, from += run)
            memcpy((char *)out->at + (size_t)(o * to.n + start + i * step) * run, from, run);
    tensor_free(src);
    return true;
}

bool eval_op_ROLL(EvalNode *e)
{
    Shape shape = e->in[0]->shape;
    const Attr *dims = node_attr(e->node, AT_DIMS), *by = node_attr(e->node, AT_SHAPE);
    Tensor *from = eval_as(e, e->in[0], e->in[0]->dtype);
    if (!from)
        return false;
    size_t bytes = dtype_bytes(from->dtype);
    for (uint32_t s = 0; by && s < by->ints.len && from->count > 0; s++) {
        int dim = 0;
        bool flat = !dims || dims->ints.len == 0;
        if (!flat)
            shape_dim(shape, dims->ints.at[s], &dim);
        Axis a = flat ? (Axis){1, from->count, 1} : eval_axis(shape, dim);
        int64_t shift = (by->ints.at[s] % a.n + a.n) % a.n;
        Tensor *to = eval_scratch(e, from->dtype, shape);
        if (!to) {
            tensor_free(from);
            return false;
        }
        size_t line = (size_t)(a.n * a.inner) * bytes,
               head = (size_t)((a.n - shift) * a.inner) * bytes;
        for (int64_t o = 0; o < a.outer; o++) {
            const char *f = (const char *)from->at + (size_t)o * line;
            char *t = (char *)to->at + (size_t)o * line;
            memcpy(t + (line - head), f, head);
            memcpy(t, f + head, line - head);
        }
        tensor_free(from);
        from = to;
    }
    tensor_free(e->out[0]);
    e->out[0] = from;
    return true;
}

/* --- by index ----------------------------------------------------------------------------- */

/* Splits a flat index into coordinates. */
static void coordinates(Shape shape, int64_t index, int64_t at[GRAPH_MAX_RANK])
{
    for (int i = shape.rank - 1; i >= 0; index /= shape.dim[i], i--)
        at[i] = index % shape.dim[i];
}

static void copy_element(const Tensor *in, int64_t from, Tensor *out, int64_t to)
{
    size_t bytes = dtype_bytes(in->dtype);
    memcpy((char *)out->at + (size_t)to * bytes, (const char *)in->at + (size_t)from * bytes,
           bytes);
}

bool eval_op_REPEAT(EvalNode *e)
{
    Shape in = e->in[0]->shape, out = e->out[0]->shape;
    int lead = out.rank - in.rank;
#pragma omp parallel for schedule(static) if (e->out[0]->count > 32768)
    for (int64_t i = 0; i < e->out[0]->count; i++) {
        int64_t at[GRAPH_MAX_RANK], from = 0;
        coordinates(out, i, at);
        for (int d = 0; d < in.rank; d++)
            from = from * in.dim[d] + at[lead + d] % in.dim[d];
        copy_element(e->in[0], from, e->out[0], i);
    }
    return true;
}

bool eval_op_REPEAT_INTERLEAVE(EvalNode *e)
{
    Shape in = e->in[0]->shape;
    const Attr *by = node_attr(e->node, AT_SHAPE);
    if (!by || by->ints.len == 0)
        return e->out[0]->count == 0 || eval_fail(e, "no repeat counts");
    bool flat = node_attr(e->node, AT_DIM) == NULL;
    int dim = eval_dim(e->node, in, 0);
    Axis a = flat ? (Axis){1, e->in[0]->count, 1} : eval_axis(in, dim);
    size_t run = (size_t)a.inner * dtype_bytes(e->in[0]->dtype);
    char *to = e->out[0]->at;
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.n; i++)
            for (int64_t r = by->ints.at[by->ints.len == 1 ? 0 : i]; r > 0; r--, to += run)
                memcpy(to, (const char *)e->in[0]->at + (size_t)(o * a.n + i) * run, run);
    return true;
}

/* Where an index before 0 or past n reads from; -1: the fill value. */
static int64_t pad_index(int64_t i, int64_t n, Str mode)
{
    if (i >= 0 && i < n)
        return i;
    if (str_is(mode, "replicate"))
        return i < 0 ? 0 : n - 1;
    if (str_is(mode, "circular"))
        return (i % n + n) % n;
    if (!str_is(mode, "reflect"))
        return -1;
    int64_t period = n > 1 ? 2 * (n - 1) : 1;
    i = (i % period + period) % period;
    return i < n ? i : period - i;
}

bool eval_op_PAD(EvalNode *e)
{
    const Tensor *in = e->in[0];
    Tensor *out = e->out[0];
    const Attr *pads = node_attr(e->node, AT_PADS);
    Str mode = node_text(e->node, AT_MODE);
    double value = node_float(e->node, AT_VALUE, 0);
    int64_t low[GRAPH_MAX_RANK] = {0};
    for (uint32_t i = 0; pads && i + 1 < pads->ints.len && (int)(i / 2) < in->shape.rank; i += 2)
        low[in->shape.rank - 1 - (int)(i / 2)] = pads->ints.at[i];
#pragma omp parallel for schedule(static) if (out->count > 32768)
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[GRAPH_MAX_RANK], from = 0;
        coordinates(out->shape, i, at);
        for (int d = 0; d < in->shape.rank && from >= 0; d++) {
            int64_t p = pad_index(at[d] - low[d], in->shape.dim[d], mode);
            from = p < 0 || p >= in->shape.dim[d] ? -1 : from * in->shape.dim[d] + p;
        }
        if (from >= 0)
            copy_element(in, from, out, i);
        else
            tensor_set(out, i, value);
    }
    return true;
}

bool eval_op_TRI(EvalNode *e)
{
    Tensor *out = e->out[0];
    int64_t cols = out->shape.dim[out->shape.rank - 1], rows = out->shape.dim[out->shape.rank - 2];
    int64_t diagonal = node_int(e->node, AT_DIAGONAL, 0);
    bool upper = node_bool(e->node, AT_UPPER);
    size_t bytes = dtype_bytes(out->dtype);
    memset(out->at, 0, (size_t)out->count * bytes);
    for (int64_t line = 0; cols > 0 && line < out->count / cols; line++) {
        int64_t edge = line % rows + diagonal; /* the last column of the lower triangle */
        int64_t from = upper ? edge : 0, to = upper ? cols : edge + 1;
        from = from < 0 ? 0 : from;
        to = to > cols ? cols : to;
        if (from < to)
            memcpy((char *)out->at + (size_t)(line * cols + from) * bytes,
                   (const char *)e->in[0]->at + (size_t)(line * cols + from) * bytes,
                   (size_t)(to - from) * bytes);
    }
    return true;
}

bool eval_op_DIAG(EvalNode *e)
{
    Tensor *out = e->out[0];
    int64_t diagonal = node_int(e->node, AT_DIAGONAL, 0), n = out->shape.dim[1];
    memset(out->at, 0, (size_t)out->count * dtype_bytes(out->dtype));
    int64_t at = diagonal >= 0 ? diagonal : -diagonal * n;
    for (int64_t i = 0; i < e->in[0]->count; i++)
        copy_element(e->in[0], i, out, at + i * (n + 1));
    return true;
}
