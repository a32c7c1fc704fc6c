/* Work on one line of doubles that several operators share: sums, softmax, statistics.
 * Loops are written so that they vectorise, in an order that no instruction set changes. */
#include "graph/eval_int.h"
#include "graph/eval_fast.h"
#include <math.h>

enum { LANES = 8 };

static double join(const double *part)
{
    double sum = 0;
    for (int k = 0; k < LANES; k++)
        sum += part[k];
    return sum;
}

ATTR_CLONES double eval_sum(const double *x, int64_t n)
{
    double part[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] += x[i + k];
    for (; i < n; i++)
        sum += x[i];
    return sum + join(part);
}

ATTR_CLONES double eval_sum_squares(const double *x, int64_t n, double mean)
{
    double part[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] += (x[i + k] - mean) * (x[i + k] - mean);
    for (; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum + join(part);
}

ATTR_CLONES double eval_max(const double *x, int64_t n)
{
    double part[LANES], high = -INFINITY, nan = 0;
    int64_t i = 0;
    for (int k = 0; k < LANES; k++)
        part[k] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            nan += x[i + k] != x[i + k] ? 1 : 0;
            part[k] = x[i + k] > part[k] ? x[i + k] : part[k];
        }
    for (; i < n; i++) {
        nan += x[i] != x[i] ? 1 : 0;
        high = x[i] > high ? x[i] : high;
    }
    for (int k = 0; k < LANES; k++)
        high = part[k] > high ? part[k] : high;
    return nan > 0 ? (double)NAN : high;
}

ATTR_CLONES void eval_exp_minus(double *x, int64_t n, double minus)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = fast_exp(x[i] - minus);
}

void eval_softmax(double *x, int64_t n)
{
    eval_exp_minus(x, n, eval_max(x, n));
    double sum = eval_sum(x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] /= sum;
}

/* Largest of a float line; nan wins. */
static ATTR_CLONES float max_f32(const float *x, int64_t n)
{
    enum { WIDE = 16 };
    float part[WIDE], high = -INFINITY, nan = 0;
    int64_t i = 0;
    for (int k = 0; k < WIDE; k++)
        part[k] = -INFINITY;
    for (; i + WIDE <= n; i += WIDE)
        for (int k = 0; k < WIDE; k++) {
            nan += x[i + k] != x[i + k] ? 1 : 0;
            part[k] = x[i + k] > part[k] ? x[i + k] : part[k];
        }
    for (; i < n; i++) {
        nan += x[i] != x[i] ? 1 : 0;
        high = x[i] > high ? x[i] : high;
    }
    for (int k = 0; k < WIDE; k++)
        high = part[k] > high ? part[k] : high;
    return nan > 0 ? (float)NAN : high;
}

static ATTR_CLONES void exp_minus_f32(float *x, int64_t n, float minus)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = fast_exp_f32(x[i] - minus);
}

/* Runs of f32 added in double. */
static ATTR_CLONES double sum_f32(const float *x, int64_t n)
{
    double part[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            part[k] += (double)x[i + k];
    for (; i < n; i++)
        sum += (double)x[i];
    return sum + join(part);
}

static ATTR_CLONES void scale_f32(float *x, int64_t n, float by)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= by;
}

void eval_softmax_f32(float *x, int64_t n, float scale)
{
    if (scale != 1)
        scale_f32(x, n, scale);
    exp_minus_f32(x, n, max_f32(x, n));
    scale_f32(x, n, (float)(1 / sum_f32(x, n)));
}

void eval_log_softmax(double *x, int64_t n, bool narrow)
{
    double high = eval_max(x, n), sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += fast_exp(x[i] - high);
    sum = narrow ? (double)(float)log((double)(float)sum) : log(sum);
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] - high - sum;
}
