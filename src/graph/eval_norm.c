/* Normalisations. In: x with optional weight and bias; out: x with mean 0 and deviation 1 over the
 * lines its kind names, scaled and shifted (and the statistics, where they are results). All in double, mean
 * first, squares about it second; where f32 is not held wide, elements are measured from the mean
 * as f32 holds it, as PyTorch's are: what elements close to it lose by that is the task's own. */
#include "graph/eval_int.h"
#include <float.h>
#include <math.h>

typedef struct Stats {
    double mean, rstd;
} Stats;

static Stats stats_of(const double *x, int64_t n, double eps)
{
    double mean = eval_sum(x, n) / (double)n;
    return (Stats){mean, 1 / sqrt(eval_sum_squares(x, n, mean) / (double)n + eps)};
}

static Stats as_held(const EvalNode *e, Stats s)
{
    if (eval_dtype(e->eval, DT_F32) == DT_F32 && e->in[0]->dtype != DT_F64)
        s.mean = (double)(float)s.mean;
    return s;
}

static double at_or(const Tensor *t, int64_t i, double fallback)
{
    return t ? tensor_get(t, i) : fallback;
}

/* Lines of n neighbouring elements. Weight and bias change every `each` elements of a line; lines
 * of one sample follow each other through them. */
typedef struct Lines {
    const EvalNode *e;
    const Tensor *x, *weight, *bias;
    Tensor *y, *mean, *rstd; /* mean and rstd may be NULL */
    int64_t n, each, per_sample;
    double eps;
    double *w, *b; /* weight and bias as doubles */
} Lines;

static ATTR_CLONES void scale_shift(double *x, int64_t n, double mean, double w, double b)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - mean) * w + b;
}

static ATTR_CLONES void scale_shift_each(double *x, int64_t n, Stats s, const double *w,
                                         const double *b)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (x[i] - s.mean) * s.rstd * w[i] + b[i];
}

static void affine(const Lines *l, int64_t line, double *x, Stats s)
{
    int64_t count = l->n / l->each, first = line % l->per_sample * count;
    if (l->each == 1)
        scale_shift_each(x, l->n, s, l->w + first, l->b + first);
    else
        for (int64_t i = 0; i < count; i++)
            scale_shift(x + i * l->each, l->each, s.mean, l->w[first + i] * s.rstd,
                        l->b[first + i]);
}

static double *doubles(const Tensor *t, int64_t n, double fallback)
{
    double *x = heap_alloc(sizeof *x * (size_t)(n + 1));
    if (t)
        tensor_load_f64(t, 0, 1, n, x);
    else
        for (int64_t i = 0; i < n; i++)
            x[i] = fallback;
    return x;
}

static void norm_lines(const Lines *asked)
{
    Lines all = *asked, *l = &all;
    int64_t lines = l->n ? l->x->count / l->n : 0,
            weights = l->n ? l->n / l->each * l->per_sample : 0;
    l->w = doubles(l->weight, weights, 1);
    l->b = doubles(l->bias, weights, 0);
#pragma omp parallel if (l->x->count > 4096)
    {
        double *x = heap_alloc(sizeof *x * (size_t)(l->n + 1));
#pragma omp for schedule(static)
        for (int64_t line = 0; line < lines; line++) {
            tensor_load_f64(l->x, line * l->n, 1, l->n, x);
            Stats s = stats_of(x, l->n, l->eps);
            affine(l, line, x, as_held(l->e, s));
            tensor_store_f64(l->y, line * l->n, 1, l->n, x);
            if (l->mean)
                tensor_set(l->mean, line, s.mean);
            if (l->rstd)
                tensor_set(l->rstd, line, s.rstd);
        }
        heap_free(x);
    }
    heap_free(l->w);
    heap_free(l->b);
}

static int64_t tail_count(const EvalNode *e)
{
    const Attr *tail = node_attr(e->node, AT_SHAPE);
    Shape x = e->in[0]->shape;
    return eval_axes(x, x.rank - (int)tail->ints.len, x.rank).n;
}

static Tensor *further(const EvalNode *e, uint32_t i)
{
    return e->node->n_out > i ? e->out[i] : NULL;
}

bool eval_op_LAYER_NORM(EvalNode *e)
{
    norm_lines(&(Lines){.e = e,
                        .x = e->in[0],
                        .weight = e->in[1],
                        .bias = e->in[2],
                        .y = e->out[0],
                        .mean = further(e, 1),
                        .rstd = further(e, 2),
                        .n = tail_count(e),
                        .each = 1,
                        .per_sample = 1,
                        .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_GROUP_NORM(EvalNode *e)
{
    int64_t groups = node_int(e->node, AT_GROUPS, 1);
    Axis a = eval_axis(e->in[0]->shape, 1);
    if (e->in[0]->count == 0)
        return true;
    norm_lines(&(Lines){.e = e,
                        .x = e->in[0],
                        .weight = e->in[1],
                        .bias = e->in[2],
                        .y = e->out[0],
                        .mean = further(e, 1),
                        .rstd = further(e, 2),
                        .n = a.n / groups * a.inner,
                        .each = a.inner,
                        .per_sample = groups,
                        .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_INSTANCE_NORM(EvalNode *e)
{
    Axis a = eval_axis(e->in[0]->shape, 1);
    if (e->in[0]->count == 0)
        return true;
    norm_lines(&(Lines){.e = e,
                        .x = e->in[0],
                        .weight = e->in[1],
                        .bias = e->in[2],
                        .y = e->out[0],
                        .n = a.inner,
                        .each = a.inner,
                        .per_sample = a.n,
                        .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_RMS_NORM(EvalNode *e)
{
    const Tensor *x = e->in[0], *weight = e->in[1];
    int64_t n = tail_count(e), lines = n ? x->count / n : 0;
    DType dtype = graph_value(e->graph, e->node->in[0])->dtype;
    double least = dtype == DT_F64    ? DBL_EPSILON
                   : dtype == DT_F16  ? 0x1p-10
                   : dtype == DT_BF16 ? 0x1p-7
                                      : (double)FLT_EPSILON;
    double eps = node_float(e->node, AT_EPS, least), *w = doubles(weight, n, 1);
#pragma omp parallel if (x->count > 4096)
    {
        double *line = heap_alloc(sizeof *line * (size_t)(n + 1));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < lines; i++) {
            tensor_load_f64(x, i * n, 1, n, line);
            double scale = 1 / sqrt(eval_sum_squares(line, n, 0) / (double)n + eps);
            for (int64_t k = 0; k < n; k++)
                line[k] *= scale * w[k];
            tensor_store_f64(e->out[0], i * n, 1, n, line);
        }
        heap_free(line);
    }
    heap_free(w);
    return true;
}

/* --- batch norm --------------------------------------------------------------------------- */

/* Statistics of channel c over samples and places; `run` holds one run of a.inner elements. */
static Stats channel_stats(const Tensor *x, Axis a, int64_t c, double eps, double *run)
{
    double sum = 0, squares = 0, n = (double)(a.outer * a.inner);
    for (int64_t o = 0; o < a.outer; o++) {
        tensor_load_f64(x, (o * a.n + c) * a.inner, 1, a.inner, run);
        sum += eval_sum(run, a.inner);
    }
    for (int64_t o = 0; o < a.outer; o++) {
        tensor_load_f64(x, (o * a.n + c) * a.inner, 1, a.inner, run);
        squares += eval_sum_squares(run, a.inner, sum / n);
    }
    return (Stats){sum / n, 1 / sqrt(squares / n + eps)};
}

bool eval_op_BATCH_NORM(EvalNode *e)
{
    const Tensor *x = e->in[0];
    Axis a = eval_axis(x->shape, 1);
    double eps = node_float(e->node, AT_EPS, 1e-5);
    bool own = node_bool(e->node, AT_TRAINING) || !e->in[1] || !e->in[2];
#pragma omp parallel if (x->count > 4096)
    {
        double *run = heap_alloc(sizeof *run * (size_t)(a.inner + 1));
#pragma omp for schedule(static)
        for (int64_t c = 0; c < a.n; c++) {
            Stats s = own ? channel_stats(x, a, c, eps, run)
                          : (Stats){tensor_get(e->in[1], c),
                                    1 / sqrt(tensor_get(e->in[2], c) + eps)};
            double w = at_or(e->in[3], c, 1) * s.rstd, b = at_or(e->in[4], c, 0);
            for (int64_t o = 0; o < a.outer; o++) {
                tensor_load_f64(x, (o * a.n + c) * a.inner, 1, a.inner, run);
                scale_shift(run, a.inner, as_held(e, s).mean, w, b);
                tensor_store_f64(e->out[0], (o * a.n + c) * a.inner, 1, a.inner, run);
            }
        }
        heap_free(run);
    }
    return true;
}
