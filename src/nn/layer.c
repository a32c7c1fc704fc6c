/* Linear layers, RMSNorm, SwiGLU and cross entropy, forward and backward; layer.h says what each
 * computes. Loops are split over the pool by outputs, so that the sums have one order. */
#include "nn/layer.h"

#include "base/attr.h"
#include <math.h>
#include <string.h>

enum { LANES = 16, ROW_BLOCK = 32, GRAIN = 16 };

static inline float dot(const float *restrict a, const float *restrict b, uint32_t n)
{
    float sum[LANES] = {0};
    uint32_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            sum[k] += a[i + (uint32_t)k] * b[i + (uint32_t)k];
    for (uint32_t k = 0; i + k < n; k++)
        sum[k] += a[i + k] * b[i + k];
    for (int half = LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

ATTR_CLONES float nn_dot(const float *a, const float *b, uint32_t n) { return dot(a, b, n); }

typedef struct LinearJob {
    NnLinear size;
    float *out;
    const float *a, *b;
} LinearJob;

/* y of outputs from .. to-1: blocks of rows stay in cache while the weights stream past. */
ATTR_CLONES static void linear_range(void *given, uint32_t from, uint32_t to)
{
    const LinearJob *j = given;
    const NnLinear s = j->size;
    for (uint32_t first = 0; first < s.rows; first += ROW_BLOCK) {
        uint32_t end = s.rows - first < ROW_BLOCK ? s.rows : first + ROW_BLOCK;
        for (uint32_t o = from; o < to; o++)
            for (uint32_t n = first; n < end; n++)
                j->out[(size_t)n * s.out + o] = dot(j->a + (size_t)n * s.in,
                                                    j->b + (size_t)o * s.in, s.in);
    }
}

void nn_linear(NnPool *pool, NnLinear size, float *y, const float *x, const float *w)
{
    LinearJob job = {size, y, x, w};
    nn_pool_run(pool, size.out, GRAIN, linear_range, &job);
}

static inline void add_scaled(float *restrict y, const float *restrict x, float scale, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        y[i] += scale * x[i];
}

/* dx of rows from .. to-1 */
ATTR_CLONES static void back_input_range(void *given, uint32_t from, uint32_t to)
{
    const LinearJob *j = given;
    const NnLinear s = j->size;
    memset(j->out + (size_t)from * s.in, 0, (size_t)(to - from) * s.in * sizeof(float));
    for (uint32_t o = 0; o < s.out; o++)
        for (uint32_t n = from; n < to; n++)
            add_scaled(j->out + (size_t)n * s.in, j->b + (size_t)o * s.in,
                       j->a[(size_t)n * s.out + o], s.in);
}

void nn_linear_back_input(NnPool *pool, NnLinear size, float *dx, const float *dy, const float *w)
{
    LinearJob job = {size, dx, dy, w};
    nn_pool_run(pool, size.rows, GRAIN, back_input_range, &job);
}

/* dw of outputs from .. to-1 */
ATTR_CLONES static void back_weight_range(void *given, uint32_t from, uint32_t to)
{
    const LinearJob *j = given;
    const NnLinear s = j->size;
    for (uint32_t n = 0; n < s.rows; n++)
        for (uint32_t o = from; o < to; o++)
            add_scaled(j->out + (size_t)o * s.in, j->b + (size_t)n * s.in,
                       j->a[(size_t)n * s.out + o], s.in);
}

void nn_linear_back_weight(NnPool *pool, NnLinear size, float *dw, const float *dy, const float *x)
{
    LinearJob job = {size, dw, dy, x};
    nn_pool_run(pool, size.out, GRAIN, back_weight_range, &job);
}

void nn_norm(NnNorm size, float *y, float *rstd, const float *x, const float *w)
{
    for (uint32_t n = 0; n < size.rows; n++) {
        const float *row = x + (size_t)n * size.width;
        float *out = y + (size_t)n * size.width;
        float mean = dot(row, row, size.width) / (float)size.width;
        rstd[n] = 1 / sqrtf(mean + size.eps);
        for (uint32_t i = 0; i < size.width; i++)
            out[i] = row[i] * rstd[n] * w[i];
    }
}

/* With g = dy w and u = x rstd: dx = rstd (g - u mean(g u)), dw = sum of dy u. */
void nn_norm_back(NnNorm size, float *dx, float *dw, const float *dy, const float *x,
                  const float *w, const float *rstd)
{
    for (uint32_t n = 0; n < size.rows; n++) {
        size_t at = (size_t)n * size.width;
        float sum = 0;
        for (uint32_t i = 0; i < size.width; i++)
            sum += dy[at + i] * w[i] * x[at + i];
        float mean = sum * rstd[n] / (float)size.width;
        for (uint32_t i = 0; i < size.width; i++) {
            float unit = x[at + i] * rstd[n];
            dw[i] += dy[at + i] * unit;
            dx[at + i] += rstd[n] * (dy[at + i] * w[i] - unit * mean);
        }
    }
}

static float sigmoid(float x) { return 1 / (1 + expf(-x)); }

void nn_swiglu(uint32_t rows, uint32_t ffn, float *y, const float *gu)
{
    for (uint32_t n = 0; n < rows; n++)
        for (uint32_t i = 0; i < ffn; i++) {
            const float *row = gu + (size_t)n * 2 * ffn;
            y[(size_t)n * ffn + i] = row[i] * sigmoid(row[i]) * row[ffn + i];
        }
}

void nn_swiglu_back(uint32_t rows, uint32_t ffn, float *dgu, const float *dy, const float *gu)
{
    for (uint32_t n = 0; n < rows; n++)
        for (uint32_t i = 0; i < ffn; i++) {
            size_t at = (size_t)n * 2 * ffn + i;
            float gate = gu[at], up = gu[at + ffn], s = sigmoid(gate);
            float d = dy[(size_t)n * ffn + i];
            dgu[at] = d * up * s * (1 + gate * (1 - s));
            dgu[at + ffn] = d * gate * s;
        }
}

typedef struct LossJob {
    uint32_t vocab;
    float *losses, *dlogits;
    const float *logits;
    const int32_t *targets;
    float weight;
} LossJob;

static double log_sum_exp(const float *x, uint32_t n)
{
    float most = x[0];
    double sum = 0;
    for (uint32_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)expf(x[i] - most);
    return (double)most + log(sum);
}

static void loss_range(void *given, uint32_t from, uint32_t to)
{
    const LossJob *j = given;
    for (uint32_t n = from; n < to; n++) {
        const float *row = j->logits + (size_t)n * j->vocab;
        float *grad = j->dlogits ? j->dlogits + (size_t)n * j->vocab : NULL;
        int32_t target = j->targets[n];
        j->losses[n] = 0;
        if (grad)
            memset(grad, 0, j->vocab * sizeof *grad);
        if (target < 0)
            continue;
        double lse = log_sum_exp(row, j->vocab);
        j->losses[n] = (float)(lse - (double)row[target]);
        for (uint32_t i = 0; grad && i < j->vocab; i++)
            grad[i] = j->weight * (float)exp((double)row[i] - lse);
        if (grad)
            grad[target] -= j->weight;
    }
}

void nn_cross_entropy(NnPool *pool, uint32_t rows, uint32_t vocab, float *losses, float *dlogits,
                      const float *logits, const int32_t *targets, float weight)
{
    LossJob job = {vocab, losses, dlogits, logits, targets, weight};
    nn_pool_run(pool, rows, 4, loss_range, &job);
}
