/* Losses and similarities. In: predictions, targets, weights; out: the loss of each element or
 * row, or their mean or sum. Everything in double; sums are made over stretches of fixed length,
 * merged in order. */
#include "graph/eval_int.h"
#include <math.h>

enum { STRETCH = 4096 };

/* Where element i of `out` lies in an input that broadcasts to it. */
static int64_t broadcast_at(Shape out, const Tensor *in, int64_t i)
{
    if (shape_equal(out, in->shape))
        return i;
    int64_t at = 0, stride = 1;
    for (int d = out.rank - 1, k = in->shape.rank - 1; k >= 0; d--, k--) {
        at += in->shape.dim[k] == 1 ? 0 : i % out.dim[d] * stride;
        stride *= in->shape.dim[k];
        i /= out.dim[d];
    }
    return at;
}

static double log_floor(double x) { return fmax(log(x), -100); }

static double kl_div(const Node *node, double x, double y)
{
    if (node_bool(node, AT_LOG_TARGET))
        return exp(y) * (y - x);
    return (y == 0 ? 0 : y * log(y)) - y * x;
}

static double smooth_l1(double d, double beta)
{
    return beta == 0 || d >= beta ? d - 0.5 * beta : 0.5 * d * d / beta;
}

static double loss_of(const Node *node, double x, double y)
{
    double d = fabs(x - y), a = node_float(node, AT_A, 1);
    switch (node->kind) {
    case LOSS_mse: return d * d;
    case LOSS_l1: return d;
    case LOSS_smooth_l1: return smooth_l1(d, a);
    case LOSS_huber: return d <= a ? 0.5 * d * d : a * (d - 0.5 * a);
    case LOSS_kl_div: return kl_div(node, x, y);
    case LOSS_bce: return -(y * log_floor(x) + (1 - y) * log_floor(1 - x));
    case LOSS_bce_logits: return (1 - y) * x + fmax(-x, 0) + log1p(exp(-fabs(x)));
    case LOSS_soft_margin: return fmax(-y * x, 0) + log1p(exp(-fabs(y * x)));
    case LOSS_hinge_embedding: return y == 1 ? x : fmax(0, node_float(node, AT_MARGIN, 1) - x);
    default:
        return node_bool(node, AT_LOG) ? exp(x) - y * x
                                       : x - y * log(x + node_float(node, AT_EPS, 1e-8));
    }
}

/* Elements from .. from+n-1 of the broadcast shape. */
static void load_broadcast(const Tensor *t, Shape shape, int64_t from, int64_t n, double *x)
{
    if (shape_equal(shape, t->shape))
        tensor_load_f64(t, from, 1, n, x);
    else
        for (int64_t i = 0; i < n; i++)
            x[i] = tensor_get(t, broadcast_at(shape, t, from + i));
}

static void loss_run(const EvalNode *e, Shape shape, int64_t from, int64_t n, double *loss)
{
    double y[STRETCH];
    load_broadcast(e->in[0], shape, from, n, loss);
    load_broadcast(e->in[1], shape, from, n, y);
    if (e->node->kind == LOSS_mse)
        for (int64_t i = 0; i < n; i++)
            loss[i] = (loss[i] - y[i]) * (loss[i] - y[i]);
    else
        for (int64_t i = 0; i < n; i++)
            loss[i] = loss_of(e->node, loss[i], y[i]);
    if (!e->in[2])
        return;
    load_broadcast(e->in[2], shape, from, n, y);
    for (int64_t i = 0; i < n; i++)
        loss[i] *= y[i];
}

bool eval_op_LOSS(EvalNode *e)
{
    Shape shape = {0};
    int64_t count = 0;
    shape_broadcast(e->in[0]->shape, e->in[1]->shape, &shape);
    if (e->in[2])
        shape_broadcast(shape, e->in[2]->shape, &shape);
    shape_count(shape, &count);
    Str how = node_text(e->node, AT_REDUCTION);
    bool each = str_is(how, "none");
    int64_t stretches = (count + STRETCH - 1) / STRETCH;
    double *sums = heap_alloc(sizeof *sums * (size_t)(stretches + 1));
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < stretches; s++) {
        double loss[STRETCH];
        int64_t from = s * STRETCH, n = count - from < STRETCH ? count - from : STRETCH;
        loss_run(e, shape, from, n, loss);
        if (each)
            tensor_store_f64(e->out[0], from, 1, n, loss);
        sums[s] = eval_sum(loss, n);
    }
    double sum = eval_sum(sums, stretches);
    if (str_is(how, "mean"))
        sum /= (double)count;
    if (str_is(how, "batchmean"))
        sum /= (double)(e->in[0]->shape.rank ? e->in[0]->shape.dim[0] : 1);
    if (!each)
        tensor_set(e->out[0], 0, sum);
    heap_free(sums);
    return true;
}

/* --- classes ------------------------------------------------------------------------------ */

/* One place of a class tensor [N, C, ...]: its log-probabilities. */
typedef struct Classes {
    Axis axis; /* of the class dim */
    const Tensor *x, *target, *weight;
    bool logits, probabilities;
    bool narrow; /* sums of exponentials are held in f32 */
    int64_t ignore;
    double smoothing;
} Classes;

typedef struct Place {
    double loss, weight;
} Place;

static double weight_of(const Classes *c, int64_t k)
{
    return c->weight ? tensor_get(c->weight, k) : 1;
}

static void log_probabilities(const Classes *c, int64_t place, double *logp)
{
    Axis a = c->axis;
    tensor_load_f64(c->x, place / a.inner * a.n * a.inner + place % a.inner, a.inner, a.n, logp);
    if (!c->logits)
        return;
    double high = -INFINITY, sum = 0;
    for (int64_t k = 0; k < a.n; k++)
        high = logp[k] > high || logp[k] != logp[k] ? logp[k] : high;
    for (int64_t k = 0; k < a.n; k++)
        sum += exp(logp[k] - high);
    double lse = c->narrow ? (double)(float)log((double)(float)sum) : log(sum);
    for (int64_t k = 0; k < a.n; k++)
        logp[k] -= high + lse;
}

static bool class_loss(EvalNode *e, const Classes *c, int64_t place, const double *logp, Place *out)
{
    Axis a = c->axis;
    double s = c->smoothing, spread = 0;
    *out = (Place){0, 0};
    for (int64_t k = 0; s > 0 && k < a.n; k++)
        spread -= weight_of(c, k) * logp[k] / (double)a.n;
    if (c->probabilities) {
        int64_t from = place / a.inner * a.n * a.inner + place % a.inner;
        for (int64_t k = 0; k < a.n; k++) {
            double y = tensor_get(c->target, from + k * a.inner);
            out->loss -= weight_of(c, k) * (y * (1 - s) + s / (double)a.n) * logp[k];
        }
        out->weight = 1;
        return true;
    }
    int64_t t;
    tensor_load_i64(c->target, place, 1, 1, &t);
    if (t == c->ignore)
        return true;
    if (t < 0 || t >= a.n)
        return eval_fail(e, "target %lld is outside %lld classes", (long long)t, (long long)a.n);
    out->weight = weight_of(c, t);
    out->loss = -(1 - s) * out->weight * logp[t] + s * spread;
    return true;
}

static bool class_losses(EvalNode *e, const Classes *c)
{
    int64_t places = c->axis.outer * c->axis.inner;
    Str how = node_text(e->node, AT_REDUCTION);
    double *logp = heap_alloc(sizeof *logp * (size_t)(c->axis.n + 1)), loss = 0, weight = 0;
    bool ok = true;
    for (int64_t p = 0; ok && p < places; p++) {
        Place at = {0, 0};
        log_probabilities(c, p, logp);
        ok = class_loss(e, c, p, logp, &at);
        loss += at.loss;
        weight += at.weight;
        if (str_is(how, "none"))
            tensor_set(e->out[0], p, at.loss);
    }
    if (!str_is(how, "none"))
        tensor_set(e->out[0], 0, str_is(how, "mean") ? loss / weight : loss);
    heap_free(logp);
    return ok;
}

static Classes classes_of(const EvalNode *e)
{
    Shape x = e->in[0]->shape;
    bool logits = e->node->op == OP_CROSS_ENTROPY;
    return (Classes){.axis = eval_axis(x, x.rank > 1 ? 1 : 0),
                     .x = e->in[0],
                     .target = e->in[1],
                     .weight = e->in[2],
                     .logits = logits,
                     .narrow = eval_dtype(e->eval, DT_F32) == DT_F32 && e->in[0]->dtype != DT_F64,
                     .probabilities = logits && dtype_is_float(e->in[1]->dtype),
                     .ignore = node_int(e->node, AT_IGNORE, -100),
                     .smoothing = node_float(e->node, AT_SMOOTHING, 0)};
}

bool eval_op_NLL_LOSS(EvalNode *e)
{
    Classes c = classes_of(e);
    return class_losses(e, &c);
}

bool eval_op_CROSS_ENTROPY(EvalNode *e)
{
    Classes c = classes_of(e);
    return class_losses(e, &c);
}

/* --- rows --------------------------------------------------------------------------------- */

static double power_sum(double p, double sum, double d)
{
    d = fabs(d);
    return p == 2 ? sum + d * d : p == 1 ? sum + d : isinf(p) ? fmax(sum, d) : sum + pow(d, p);
}

static double power_root(double p, double sum)
{
    return p == 2 ? sqrt(sum) : p == 1 || isinf(p) ? sum : pow(sum, 1 / p);
}

/* Norm of (x - y + eps) along dim `dim` of the broadcast shape, at line `line`. */
static double distance(const Tensor *x, const Tensor *y, Shape shape, int dim, int64_t line,
                       double p, double eps)
{
    Axis a = eval_axis(shape, dim);
    int64_t from = line / a.inner * a.n * a.inner + line % a.inner;
    double sum = 0;
    for (int64_t k = 0; k < a.n; k++) {
        int64_t i = from + k * a.inner;
        double d = tensor_get(x, broadcast_at(shape, x, i)) -
                   tensor_get(y, broadcast_at(shape, y, i));
        sum = power_sum(p, sum, d + eps);
    }
    return power_root(p, sum);
}

bool eval_op_TRIPLET_LOSS(EvalNode *e)
{
    Shape shape = {0};
    shape_broadcast(e->in[0]->shape, e->in[1]->shape, &shape);
    shape_broadcast(shape, e->in[2]->shape, &shape);
    int dim = shape.rank - 1;
    Axis a = eval_axis(shape, dim);
    double p = node_float(e->node, AT_P, 2), eps = node_float(e->node, AT_EPS, 1e-6), sum = 0;
    double margin = node_float(e->node, AT_MARGIN, 1);
    Str how = node_text(e->node, AT_REDUCTION);
    for (int64_t line = 0; line < a.outer; line++) {
        double near = distance(e->in[0], e->in[1], shape, dim, line, p, eps);
        double far = distance(e->in[0], e->in[2], shape, dim, line, p, eps);
        if (node_bool(e->node, AT_SWAP))
            far = fmin(far, distance(e->in[1], e->in[2], shape, dim, line, p, eps));
        double loss = near - far + margin;
        loss = loss < 0 ? 0 : loss;
        sum += loss;
        if (str_is(how, "none"))
            tensor_set(e->out[0], line, loss);
    }
    if (!str_is(how, "none"))
        tensor_set(e->out[0], 0, str_is(how, "mean") ? sum / (double)a.outer : sum);
    return true;
}

bool eval_op_PAIRWISE_DISTANCE(EvalNode *e)
{
    Shape shape = {0};
    shape_broadcast(e->in[0]->shape, e->in[1]->shape, &shape);
    int dim = eval_dim(e->node, shape, -1);
    double p = node_float(e->node, AT_P, 2), eps = node_float(e->node, AT_EPS, 1e-6);
    for (int64_t line = 0; line < e->out[0]->count; line++)
        tensor_set(e->out[0], line, distance(e->in[0], e->in[1], shape, dim, line, p, eps));
    return true;
}

bool eval_op_COSINE_SIMILARITY(EvalNode *e)
{
    Shape shape = {0};
    shape_broadcast(e->in[0]->shape, e->in[1]->shape, &shape);
    Axis a = eval_axis(shape, eval_dim(e->node, shape, 1));
    double eps = node_float(e->node, AT_EPS, 1e-8);
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < e->out[0]->count; line++) {
        int64_t from = line / a.inner * a.n * a.inner + line % a.inner;
        double xy = 0, xx = 0, yy = 0;
        for (int64_t k = 0; k < a.n; k++) {
            int64_t i = from + k * a.inner;
            double x = tensor_get(e->in[0], broadcast_at(shape, e->in[0], i));
            double y = tensor_get(e->in[1], broadcast_at(shape, e->in[1], i));
            xy += x * y;
            xx += x * x;
            yy += y * y;
        }
        tensor_set(e->out[0], line, xy / (fmax(sqrt(xx), eps) * fmax(sqrt(yy), eps)));
    }
    return true;
}
