/* Pooling. In: planes of one to three spatial dims; out: one value per window (and, for maxima,
 * where it stood). Planes are spread over the threads; sums are double. */
#include "graph/eval_int.h"
#include <math.h>
#include <string.h>

typedef struct Pool {
    int kind, dims;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    bool count_pad, adaptive;
    int64_t divisor;
    double p;
} Pool;

static int64_t volume(const int64_t d[3]) { return d[0] * d[1] * d[2]; }

static void ints3(const Node *node, AttrKey key, int dims, int64_t fallback, int64_t to[3])
{
    const Attr *attr = node_attr(node, key);
    for (int i = 0; i < 3; i++) {
        int at = i - (3 - dims);
        to[i] = at < 0 || !attr ? fallback : attr->ints.at[at];
    }
}

static Pool pool_of(const EvalNode *e, AttrKey size)
{
    Shape in = e->in[0]->shape, out = e->out[0]->shape;
    Pool p = {.kind = e->node->kind,
              .dims = (int)node_attr(e->node, size)->ints.len,
              .adaptive = size == AT_SHAPE,
              .count_pad = node_bool(e->node, AT_COUNT_PAD),
              .divisor = node_int(e->node, AT_DIVISOR, 0),
              .p = node_float(e->node, AT_P, 2)};
    for (int i = 0; i < 3; i++) {
        bool there = i >= 3 - p.dims;
        p.in[i] = there ? in.dim[in.rank - 3 + i] : 1;
        p.out[i] = there ? out.dim[out.rank - 3 + i] : 1;
    }
    ints3(e->node, AT_KERNEL, p.dims, 1, p.kernel);
    ints3(e->node, AT_STRIDE, p.dims, 1, p.stride);
    ints3(e->node, AT_PADDING, p.dims, 0, p.padding);
    ints3(e->node, AT_DILATION, p.dims, 1, p.dilation);
    return p;
}

/* The window of output o along dim d: first .. end-1 in steps; `full` counts padding too. */
typedef struct Window {
    int64_t first, end, step, full;
} Window;

static Window window_at(const Pool *p, int d, int64_t o)
{
    if (p->adaptive) {
        Window w = {.first = o * p->in[d] / p->out[d],
                    .end = ((o + 1) * p->in[d] + p->out[d] - 1) / p->out[d],
                    .step = 1};
        w.full = w.end - w.first;
        return w;
    }
    int64_t start = o * p->stride[d] - p->padding[d], step = p->dilation[d];
    int64_t end = start + (p->kernel[d] - 1) * step + 1;
    int64_t padded = p->in[d] + p->padding[d];
    Window w = {.step = step, .full = (end < padded ? end : padded) - start};
    w.first = start < 0 ? start + (-start + step - 1) / step * step : start;
    w.end = end < p->in[d] ? end : p->in[d];
    return w;
}

static int64_t window_len(const Window *w)
{
    return w->end > w->first ? (w->end - w->first + w->step - 1) / w->step : 0;
}

typedef struct Found {
    double v;
    int64_t at;
} Found;

static Found window_max(const Pool *p, const double *plane, const Window w[3])
{
    Found best = {-INFINITY, -1};
    for (int64_t z = w[0].first; z < w[0].end; z += w[0].step)
        for (int64_t y = w[1].first; y < w[1].end; y += w[1].step)
            for (int64_t x = w[2].first; x < w[2].end; x += w[2].step) {
                int64_t at = (z * p->in[1] + y) * p->in[2] + x;
                if (best.at < 0 || plane[at] > best.v || plane[at] != plane[at])
                    best = (Found){plane[at], at};
            }
    return best;
}

static double window_sum(const Pool *p, const double *plane, const Window w[3])
{
    double sum = 0;
    for (int64_t z = w[0].first; z < w[0].end; z++)
        for (int64_t y = w[1].first; y < w[1].end; y++)
            for (int64_t x = w[2].first; x < w[2].end; x++) {
                double v = plane[(z * p->in[1] + y) * p->in[2] + x];
                sum += p->kind != POOL_lp ? v : p->p == 2 ? v * v : pow(v, p->p);
            }
    return sum;
}

static double window_mean(const Pool *p, const double *plane, const Window w[3])
{
    double full = (double)(w[0].full * w[1].full * w[2].full);
    double live = (double)(window_len(&w[0]) * window_len(&w[1]) * window_len(&w[2]));
    double sum = window_sum(p, plane, w);
    if (p->kind == POOL_lp) {
        double scaled = p->adaptive ? sum : sum / full * (double)volume(p->kernel);
        return pow(fmax(scaled, 0), 1 / p->p);
    }
    return sum / (p->divisor ? (double)p->divisor : p->count_pad ? full : live);
}

static void pool_plane(const Pool *p, const double *plane, double *out, int64_t *index)
{
    int64_t n = 0;
    Window w[3];
    for (int64_t z = 0; z < p->out[0]; z++) {
        w[0] = window_at(p, 0, z);
        for (int64_t y = 0; y < p->out[1]; y++) {
            w[1] = window_at(p, 1, y);
            for (int64_t x = 0; x < p->out[2]; x++, n++) {
                w[2] = window_at(p, 2, x);
                Found best = {0};
                if (p->kind == POOL_max)
                    best = window_max(p, plane, w);
                out[n] = p->kind == POOL_max ? best.v : window_mean(p, plane, w);
                index[n] = best.at;
            }
        }
    }
}

static bool pool_planes(EvalNode *e, const Pool *p)
{
    const Tensor *x = e->in[0];
    int64_t from = volume(p->in), to = volume(p->out), planes = to ? e->out[0]->count / to : 0;
    bool with_index = e->node->n_out > 1;
#pragma omp parallel
    {
        double *plane = heap_alloc(sizeof *plane * (size_t)(from + to + 1)), *out = plane + from;
        int64_t *index = heap_alloc(sizeof *index * (size_t)(to + 1));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < planes; i++) {
            tensor_load_f64(x, i * from, 1, from, plane);
            pool_plane(p, plane, out, index);
            tensor_store_f64(e->out[0], i * to, 1, to, out);
            if (with_index)
                tensor_store_i64(e->out[1], i * to, 1, to, index);
        }
        heap_free(plane);
        heap_free(index);
    }
    return true;
}

bool eval_op_POOL(EvalNode *e)
{
    Pool p = pool_of(e, AT_KERNEL);
    return pool_planes(e, &p);
}

bool eval_op_ADAPTIVE_POOL(EvalNode *e)
{
    Pool p = pool_of(e, AT_SHAPE);
    return pool_planes(e, &p);
}

bool eval_op_UNPOOL(EvalNode *e)
{
    const Tensor *x = e->in[0];
    Tensor *out = e->out[0];
    int dims = (int)node_attr(e->node, AT_SHAPE)->ints.len;
    int64_t from = eval_axes(x->shape, x->shape.rank - dims, x->shape.rank).n;
    int64_t to = eval_axes(out->shape, out->shape.rank - dims, out->shape.rank).n;
    memset(out->at, 0, (size_t)out->count * dtype_bytes(out->dtype));
    for (int64_t i = 0; i < x->count; i++) {
        int64_t at;
        tensor_load_i64(e->in[1], i, 1, 1, &at);
        if (at < 0 || at >= to)
            return eval_fail(e, "index %lld is outside a plane of %lld", (long long)at,
                             (long long)to);
        tensor_set(out, i / from * to + at, tensor_get(x, i));
    }
    return true;
}

bool eval_op_LRN(EvalNode *e)
{
    const Tensor *x = e->in[0];
    Axis a = eval_axis(x->shape, 1);
    int64_t size = node_int(e->node, AT_SIZE, 1);
    double alpha = node_float(e->node, AT_A, 1e-4), beta = node_float(e->node, AT_B, 0.75);
    double k = node_float(e->node, AT_C, 1);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < x->count; i++) {
        int64_t channel = i / a.inner % a.n, first = channel - size / 2, last = first + size - 1;
        double sum = 0, v;
        for (int64_t c = first < 0 ? 0 : first; c <= last && c < a.n; c++) {
            v = tensor_get(x, i + (c - channel) * a.inner);
            sum += v * v;
        }
        tensor_set(e->out[0], i, tensor_get(x, i) / pow(k + alpha * sum / (double)size, beta));
    }
    return true;
}
