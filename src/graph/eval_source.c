/* Operators without inputs, and the special functions. In: attributes (and the seed); out: a
 * tensor. Random numbers are read from rng streams, element i at index i. */
#include "graph/eval_int.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

typedef struct Law {
    int kind;
    uint64_t seed, stream;
    double a, b, c;
    bool coarse; /* f32 and halves: 24 random bits, so that [a, b) stays open after rounding */
} Law;

static double cut_normal(const Law *l, uint64_t i)
{
    double limit = l->c > 0 ? l->c / (l->b != 0 ? l->b : 1) : 2;
    for (uint64_t turn = 0; turn < 1000; turn++) {
        double x = rng_normal(l->seed + turn * 0x9E3779B97F4A7C15u, l->stream, i);
        if (fabs(x) <= limit)
            return l->a + l->b * x;
    }
    return l->a;
}

static double draw(const Law *l, uint64_t i)
{
    double u = l->kind == RANDOM_normal ? 0 : rng_uniform(l->seed, l->stream, i);
    switch (l->kind) {
    case RANDOM_uniform:
        return l->a + (l->b - l->a) * (l->coarse ? floor(u * 0x1p24) * 0x1p-24 : u);
    case RANDOM_normal: return l->a + l->b * rng_normal(l->seed, l->stream, i);
    case RANDOM_bernoulli: return u < l->a;
    case RANDOM_trunc_normal: return cut_normal(l, i);
    default: return 0;
    }
}

static void draw_run(const Law *l, uint64_t first, int64_t n, double *x)
{
    if (l->kind != RANDOM_normal) {
        for (int64_t k = 0; k < n; k++)
            x[k] = draw(l, first + (uint64_t)k);
        return;
    }
    rng_normals(l->seed, l->stream, first, (size_t)n, x);
    for (int64_t k = 0; k < n; k++)
        x[k] = l->a + l->b * x[k];
}

static void fill_integers(const Law *l, Tensor *out)
{
    for (int64_t i = 0; i < out->count; i++) {
        int64_t x = rng_range(l->seed, l->stream, (uint64_t)i, (int64_t)l->a, (int64_t)l->b);
        tensor_store_i64(out, i, 1, 1, &x);
    }
}

/* Fisher and Yates. */
static void fill_permutation(const Law *l, Tensor *out)
{
    int64_t *p = heap_alloc(sizeof *p * (size_t)(out->count + 1));
    for (int64_t i = 0; i < out->count; i++)
        p[i] = i;
    for (int64_t i = out->count - 1; i > 0; i--) {
        int64_t k = rng_range(l->seed, l->stream, (uint64_t)i, 0, i + 1), swap = p[i];
        p[i] = p[k];
        p[k] = swap;
    }
    tensor_store_i64(out, 0, 1, out->count, p);
    heap_free(p);
}

bool eval_op_RANDOM(EvalNode *e)
{
    enum { RUN = 256 };
    Tensor *out = e->out[0];
    Law l = {.kind = e->node->kind,
             .seed = e->eval->seed,
             .stream = (uint64_t)node_int(e->node, AT_STREAM, 0),
             .a = node_float(e->node, AT_A, 0),
             .b = node_float(e->node, AT_B, 1),
             .c = node_float(e->node, AT_C, 2),
             .coarse = graph_value(e->graph, e->node->out)->dtype != DT_F64};
    bool narrow = graph_value(e->graph, e->node->out)->dtype == DT_F32;
    if (l.kind == RANDOM_integer)
        fill_integers(&l, out);
    else if (l.kind == RANDOM_permutation)
        fill_permutation(&l, out);
    else
#pragma omp parallel for schedule(static) if (out->count > 4096)
        for (int64_t i = 0; i < out->count; i += RUN) {
            double x[RUN];
            int64_t n = out->count - i < RUN ? out->count - i : RUN;
            draw_run(&l, (uint64_t)i, n, x);
            if (narrow) /* numbers are drawn in the dtype the graph names, also when held wide */
                for (int64_t k = 0; k < n; k++)
                    x[k] = (double)(float)x[k];
            if (out->dtype == DT_C64)
                for (int64_t k = 0; k < n; k++) {
                    TENSOR_AT(out, float)[2 * (i + k)] = (float)x[k];
                    TENSOR_AT(out, float)
                    [2 * (i + k) + 1] = (float)draw(&l, (uint64_t)(i + k) + (UINT64_C(1) << 40));
                }
            else
                tensor_store_f64(out, i, 1, n, x);
        }
    return true;
}

bool eval_op_FULL(EvalNode *e)
{
    double value = node_float(e->node, AT_VALUE, 0);
    for (int64_t i = 0; i < e->out[0]->count; i++)
        tensor_set(e->out[0], i, value);
    return true;
}

bool eval_op_ARANGE(EvalNode *e)
{
    double a = node_float(e->node, AT_A, 0), c = node_float(e->node, AT_C, 1);
    for (int64_t i = 0; i < e->out[0]->count; i++)
        tensor_set(e->out[0], i, a + (double)i * c);
    return true;
}

bool eval_op_LINSPACE(EvalNode *e)
{
    double a = node_float(e->node, AT_A, 0), b = node_float(e->node, AT_B, 1);
    int64_t n = e->out[0]->count;
    double step = n > 1 ? (b - a) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        tensor_set(e->out[0], i,
                   i < n / 2 || n == 1 ? a + (double)i * step : b - (double)(n - 1 - i) * step);
    return true;
}

bool eval_op_EYE(EvalNode *e)
{
    Tensor *out = e->out[0];
    memset(out->at, 0, (size_t)out->count * dtype_bytes(out->dtype));
    for (int64_t i = 0; i < out->shape.dim[0] && i < out->shape.dim[1]; i++)
        tensor_set(out, i * out->shape.dim[1] + i, 1);
    return true;
}

/* --- special functions -------------------------------------------------------------------- */

/* By the recurrence up to 10, then the asymptotic series. */
double eval_digamma(double x)
{
    static const double series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                    1.0 / 132, -691.0 / 32760, 1.0 / 12};
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) {
        if (x == floor(x))
            return (double)NAN;
        return eval_digamma(1 - x) - M_PI / tan(M_PI * (x - floor(x)));
    }
    double sum = 0;
    for (; x < 10; x++)
        sum -= 1 / x;
    if (isinf(x))
        return x;
    double square = 1 / (x * x), tail = 0;
    for (int i = 6; i >= 0; i--)
        tail = (tail + series[i]) * square;
    return sum + log(x) - 0.5 / x - tail;
}

/* A rational start (Giles), then Newton steps on erf and erfc. */
double eval_erfinv(double x)
{
    if (!(x > -1 && x < 1))
        return x == 1 ? INFINITY : x == -1 ? -INFINITY : (double)NAN;
    double w = -log((1 - x) * (1 + x)), s;
    if (w < 5) {
        w -= 2.5;
        s = 1.50140941 +
            w * (0.246640727 + w * (-0.00417768164 + w * (-0.00125372503 + w * 0.00021858087)));
    } else {
        w = sqrt(w) - 3;
        s = 2.83297682 +
            w * (1.00167406 + w * (0.00943887047 + w * (-0.0076224613 + w * 0.00573950773)));
    }
    double y = s * x;
    for (int i = 0; i < 3; i++) {
        double error = fabs(y) < 1 ? erf(y) - x : y > 0 ? (1 - x) - erfc(y) : erfc(-y) - (1 + x);
        y -= error / (1.1283791670955126 * exp(-y * y));
    }
    return y;
}

/* Dilogarithm of z for |z| <= 1/2, by its series. */
static double dilog_series(double z)
{
    double sum = 0, power = z;
    for (int k = 1; k < 200 && fabs(power) > 1e-20; k++, power *= z)
        sum += power / ((double)k * k);
    return sum;
}

/* spence(x) = Li2(1 - x); arguments brought into |1-x| <= 1/2 by the functional equations. */
double eval_spence(double x)
{
    const double sixth = M_PI * M_PI / 6;
    if (x < 0 || x != x)
        return (double)NAN;
    if (x == 0)
        return sixth;
    if (x < 0.5)
        return sixth - log(x) * log1p(-x) - dilog_series(x);
    if (x <= 1.5)
        return dilog_series(1 - x);
    if (isinf(x))
        return -INFINITY;
    double l = log(x);
    return -0.5 * l * l - eval_spence(1 / x);
}
