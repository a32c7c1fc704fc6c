/* Normalisations. In: x with optional weight and bias; out: x with mean 0 and deviation 1 over the
 * lines its kind names, scaled and shifted (and the statistics, where asked). All in double, mean
 * first, squares about it second. */
#include "graph/eval_int.h"
#include <float.h>
#include <math.h>

typedef struct Stats {
    double mean, rstd;
} Stats;

static Stats stats_of(const double *x, int64_t n, double eps)
{
    double mean = eval_sum(x, n) / (double)n, part[8] = {0}, squares = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            part[k] += (x[i + k] - mean) * (x[i + k] - mean);
    for (; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    for (int k = 0; k < 8; k++)
        squares += part[k];
    return (Stats){mean, 1 / sqrt(squares / (double)n + eps)};
}

static double at_or(const Tensor *t, int64_t i, double fallback)
{
    return t ? tensor_get(t, i) : fallback;
}

/* Lines of n neighbouring elements. Weight and bias change every `each` elements of a line,
 * starting with that of `first(line)` = line % lines_per_sample * (n / each). */
typedef struct Lines {
    const Tensor *x, *weight, *bias;
    Tensor *y, *mean, *rstd; /* mean and rstd may be NULL */
    int64_t n, each, per_sample;
    double eps;
} Lines;

static void affine(const Lines *l, int64_t line, double *x, Stats s)
{
    int64_t first = line % l->per_sample * (l->n / l->each);
    for (int64_t i = 0; i < l->n; i += l->each) {
        double w = at_or(l->weight, first + i / l->each, 1) * s.rstd;
        double b = at_or(l->bias, first + i / l->each, 0);
        for (int64_t k = i; k < i + l->each; k++)
            x[k] = (x[k] - s.mean) * w + b;
    }
}

static void norm_lines(const Lines *l)
{
    int64_t lines = l->n ? l->x->count / l->n : 0;
#pragma omp parallel if (l->x->count > 4096)
    {
        double *x = heap_alloc(sizeof *x * (size_t)(l->n + 1));
#pragma omp for schedule(static)
        for (int64_t line = 0; line < lines; line++) {
            tensor_load_f64(l->x, line * l->n, 1, l->n, x);
            Stats s = stats_of(x, l->n, l->eps);
            affine(l, line, x, s);
            tensor_store_f64(l->y, line * l->n, 1, l->n, x);
            if (l->mean)
                tensor_set(l->mean, line, s.mean);
            if (l->rstd)
                tensor_set(l->rstd, line, s.rstd);
        }
        heap_free(x);
    }
}

static int64_t tail_count(const EvalNode *e)
{
    const Attr *tail = node_attr(e->node, AT_SHAPE);
    Shape x = e->in[0]->shape;
    return eval_axes(x, x.rank - (int)tail->ints.len, x.rank).n;
}

static Tensor *further(const EvalNode *e, uint32_t i) { return e->node->n_out > i ? e->out[i] : NULL; }

bool eval_op_LAYER_NORM(EvalNode *e)
{
    norm_lines(&(Lines){.x = e->in[0], .weight = e->in[1], .bias = e->in[2], .y = e->out[0],
                        .mean = further(e, 1), .rstd = further(e, 2), .n = tail_count(e), .each = 1,
                        .per_sample = 1, .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_GROUP_NORM(EvalNode *e)
{
    int64_t groups = node_int(e->node, AT_GROUPS, 1);
    Axis a = eval_axis(e->in[0]->shape, 1);
    if (e->in[0]->count == 0)
        return true;
    norm_lines(&(Lines){.x = e->in[0], .weight = e->in[1], .bias = e->in[2], .y = e->out[0],
                        .mean = further(e, 1), .rstd = further(e, 2), .n = a.n / groups * a.inner,
                        .each = a.inner, .per_sample = groups,
                        .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_INSTANCE_NORM(EvalNode *e)
{
    Axis a = eval_axis(e->in[0]->shape, 1);
    if (e->in[0]->count == 0)
        return true;
    norm_lines(&(Lines){.x = e->in[0], .weight = e->in[1], .bias = e->in[2], .y = e->out[0],
                        .n = a.inner, .each = a.inner, .per_sample = a.n,
                        .eps = node_float(e->node, AT_EPS, 1e-5)});
    return true;
}

bool eval_op_RMS_NORM(EvalNode *e)
{
    const Tensor *x = e->in[0], *weight = e->in[1];
    int64_t n = tail_count(e), lines = n ? x->count / n : 0;
    DType dtype = graph_value(e->graph, e->node->in[0])->dtype;
    double least = dtype == DT_F64 ? DBL_EPSILON : dtype == DT_F16 ? 0x1p-10 : dtype == DT_BF16 ? 0x1p-7 : (double)FLT_EPSILON;
    double eps = node_float(e->node, AT_EPS, least);
#pragma omp parallel if (x->count > 4096)
    {
        double *line = heap_alloc(sizeof *line * (size_t)(n + 1));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < lines; i++) {
            double squares = 0;
            tensor_load_f64(x, i * n, 1, n, line);
            for (int64_t k = 0; k < n; k++)
                squares += line[k] * line[k];
            double scale = 1 / sqrt(squares / (double)n + eps);
            for (int64_t k = 0; k < n; k++)
                line[k] *= scale * at_or(weight, k, 1);
            tensor_store_f64(e->out[0], i * n, 1, n, line);
        }
        heap_free(line);
    }
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
        for (int64_t i = 0; i < a.inner; i++)
            run[i] = (run[i] - sum / n) * (run[i] - sum / n);
        squares += eval_sum(run, a.inner);
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
                          : (Stats){tensor_get(e->in[1], c), 1 / sqrt(tensor_get(e->in[2], c) + eps)};
            double w = at_or(e->in[3], c, 1) * s.rstd, b = at_or(e->in[4], c, 0);
            for (int64_t o = 0; o < a.outer; o++) {
                tensor_load_f64(x, (o * a.n + c) * a.inner, 1, a.inner, run);
                for (int64_t i = 0; i < a.inner; i++)
                    run[i] = (run[i] - s.mean) * w + b;
                tensor_store_f64(e->out[0], (o * a.n + c) * a.inner, 1, a.inner, run);
            }
        }
        heap_free(run);
    }
    return true;
}
