/* Rotary positions, the norm of q and k heads, and causal grouped-query attention, forward and
 * backward. No matrix of probabilities is kept: the backward pass makes them again from the
 * logarithm of each row's sum of exponentials. */
#include "nn/layer.h"

#include "base/arena.h"
#include <math.h>
#include <string.h>

void nn_rotary_table(float *cosine, float *sine, uint32_t positions, uint32_t dim, float theta)
{
    for (uint32_t i = 0; i < dim / 2; i++) {
        float frequency = (float)(1 / pow((double)theta, 2.0 * i / dim));
        for (uint32_t t = 0; t < positions; t++) {
            float angle = (float)t * frequency;
            cosine[(size_t)t * (dim / 2) + i] = cosf(angle);
            sine[(size_t)t * (dim / 2) + i] = sinf(angle);
        }
    }
}

/* Turns the pairs (i, i + D/2) by the angles of position t; backwards where sign is -1. */
static void rotate(const NnAttn *a, float *x, uint32_t t, float sign)
{
    uint32_t half = a->dim / 2;
    for (uint32_t i = 0; i < half; i++) {
        float c = a->cosine[(size_t)t * half + i], s = sign * a->sine[(size_t)t * half + i];
        float first = x[i], second = x[i + half];
        x[i] = first * c - second * s;
        x[i + half] = second * c + first * s;
    }
}

void nn_qk(const NnAttn *a, float *qk, float *rstd, const float *qkv, const float *wq,
           const float *wk)
{
    uint32_t heads = a->heads + a->kv_heads, stride = heads + a->kv_heads;
    for (uint32_t n = 0; n < a->batch * a->seq; n++)
        for (uint32_t h = 0; h < heads; h++) {
            float *out = qk + ((size_t)n * heads + h) * a->dim;
            nn_norm((NnNorm){1, a->dim, a->eps}, out, rstd + (size_t)n * heads + h,
                    qkv + ((size_t)n * stride + h) * a->dim, h < a->heads ? wq : wk);
            rotate(a, out, n % a->seq, 1);
        }
}

void nn_qk_back(const NnAttn *a, float *dqkv, float *dwq, float *dwk, const float *dqk,
                const float *qkv, const float *wq, const float *wk, const float *rstd)
{
    uint32_t heads = a->heads + a->kv_heads, stride = heads + a->kv_heads;
    float *turned = heap_alloc(a->dim * sizeof *turned);
    for (uint32_t n = 0; n < a->batch * a->seq; n++)
        for (uint32_t h = 0; h < heads; h++) {
            size_t at = ((size_t)n * stride + h) * a->dim;
            memcpy(turned, dqk + ((size_t)n * heads + h) * a->dim, a->dim * sizeof *turned);
            rotate(a, turned, n % a->seq, -1);
            memset(dqkv + at, 0, a->dim * sizeof *dqkv);
            nn_norm_back((NnNorm){1, a->dim, a->eps}, dqkv + at, h < a->heads ? dwq : dwk, turned,
                         qkv + at, h < a->heads ? wq : wk, rstd + (size_t)n * heads + h);
        }
    heap_free(turned);
}

typedef struct AttnJob {
    const NnAttn *a;
    float *out, *lse;
    const float *qk, *qkv;
    /* backward only */
    float *dqk, *dqkv;
    const float *dout;
} AttnJob;

/* Where row n keeps head h of q and k (k heads follow the q heads), and head g of v. */
static size_t qk_at(const NnAttn *a, uint32_t n, uint32_t h)
{
    return ((size_t)n * (a->heads + a->kv_heads) + h) * a->dim;
}

static size_t v_at(const NnAttn *a, uint32_t n, uint32_t g)
{
    return ((size_t)n * (a->heads + 2 * a->kv_heads) + a->heads + a->kv_heads + g) * a->dim;
}

static void add_scaled(float *y, const float *x, float scale, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        y[i] += scale * x[i];
}

/* Scores of row n with the keys of positions 0 .. t of its sequence; returns the largest. */
static float score_row(const AttnJob *j, float *score, uint32_t b, uint32_t t, uint32_t h)
{
    const NnAttn *a = j->a;
    uint32_t g = h / (a->heads / a->kv_heads);
    float scale = 1 / sqrtf((float)a->dim), most = -INFINITY;
    for (uint32_t s = 0; s <= t; s++) {
        score[s] = scale * nn_dot(j->qk + qk_at(a, b * a->seq + t, h),
                                  j->qk + qk_at(a, b * a->seq + s, a->heads + g), a->dim);
        most = score[s] > most ? score[s] : most;
    }
    return most;
}

static void attend_row(const AttnJob *j, float *score, uint32_t b, uint32_t t, uint32_t h)
{
    const NnAttn *a = j->a;
    uint32_t n = b * a->seq + t, g = h / (a->heads / a->kv_heads);
    float most = score_row(j, score, b, t, h), sum = 0;
    for (uint32_t s = 0; s <= t; s++)
        sum += score[s] = expf(score[s] - most);
    float *out = j->out + ((size_t)n * a->heads + h) * a->dim;
    memset(out, 0, a->dim * sizeof *out);
    for (uint32_t s = 0; s <= t; s++)
        add_scaled(out, j->qkv + v_at(a, b * a->seq + s, g), score[s] / sum, a->dim);
    j->lse[(size_t)n * a->heads + h] = most + logf(sum);
}

/* Heads from .. to-1, counted over all sequences. */
static void attend_range(void *given, uint32_t from, uint32_t to)
{
    const AttnJob *j = given;
    float *score = heap_alloc(j->a->seq * sizeof *score);
    for (uint32_t i = from; i < to; i++)
        for (uint32_t t = 0; t < j->a->seq; t++)
            attend_row(j, score, i / j->a->heads, t, i % j->a->heads);
    heap_free(score);
}

void nn_attention(NnPool *pool, const NnAttn *a, float *out, float *lse, const float *qk,
                  const float *qkv)
{
    AttnJob job = {.a = a, .out = out, .lse = lse, .qk = qk, .qkv = qkv};
    nn_pool_run(pool, a->batch * a->heads, 1, attend_range, &job);
}

/* With p the probabilities, o the output and do its gradient: dv += p do, ds = p (do v - do o),
 * dq += ds k, dk += ds q. */
static void back_row(const AttnJob *j, float *score, uint32_t b, uint32_t t, uint32_t h)
{
    const NnAttn *a = j->a;
    uint32_t n = b * a->seq + t, g = h / (a->heads / a->kv_heads);
    size_t at = ((size_t)n * a->heads + h) * a->dim;
    const float *dout = j->dout + at;
    float whole = nn_dot(dout, j->out + at, a->dim), scale = 1 / sqrtf((float)a->dim);
    score_row(j, score, b, t, h);
    for (uint32_t s = 0; s <= t; s++) {
        size_t v = v_at(a, b * a->seq + s, g), k = qk_at(a, b * a->seq + s, a->heads + g);
        float p = expf(score[s] - j->lse[(size_t)n * a->heads + h]);
        float ds = scale * p * (nn_dot(dout, j->qkv + v, a->dim) - whole);
        add_scaled(j->dqkv + v, dout, p, a->dim);
        add_scaled(j->dqk + qk_at(a, n, h), j->qk + k, ds, a->dim);
        add_scaled(j->dqk + k, j->qk + qk_at(a, n, h), ds, a->dim);
    }
}

/* Key-value heads from .. to-1, counted over all sequences, each with the q heads that share it. */
static void back_range(void *given, uint32_t from, uint32_t to)
{
    const AttnJob *j = given;
    const NnAttn *a = j->a;
    uint32_t share = a->heads / a->kv_heads;
    float *score = heap_alloc(a->seq * sizeof *score);
    for (uint32_t i = from; i < to; i++) {
        uint32_t b = i / a->kv_heads, g = i % a->kv_heads;
        for (uint32_t h = g * share; h < (g + 1) * share; h++)
            for (uint32_t t = 0; t < a->seq; t++)
                back_row(j, score, b, t, h);
    }
    heap_free(score);
}

void nn_attention_back(NnPool *pool, const NnAttn *a, float *dqk, float *dqkv, const float *dout,
                       const float *out, const float *lse, const float *qk, const float *qkv)
{
    AttnJob job = {.a = a, .qk = qk, .qkv = qkv, .dqk = dqk, .dqkv = dqkv, .dout = dout};
    job.out = (float *)(uintptr_t)out;
    job.lse = (float *)(uintptr_t)lse;
    uint32_t rows = a->batch * a->seq;
    memset(dqk, 0, qk_at(a, rows, 0) * sizeof *dqk);
    for (uint32_t n = 0; n < rows; n++)
        memset(dqkv + v_at(a, n, 0), 0, (size_t)a->kv_heads * a->dim * sizeof *dqkv);
    nn_pool_run(pool, a->batch * a->kv_heads, 1, back_range, &job);
}
