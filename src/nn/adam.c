/* AdamW with decoupled decay, clipping by the norm of all gradients, and low-rank adapters. */
#include "nn/train.h"

#include "base/rng.h"
#include "nn/layer.h"
#include <math.h>
#include <string.h>

NnAdam nn_adam_default(void)
{
    return (NnAdam){.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1};
}

void nn_adam_range(const NnAdam *adam, float *w, const float *g, float *m, float *v, uint64_t count,
                   uint64_t step)
{
    double first = 1 - pow(adam->beta1, (double)step), second = 1 - pow(adam->beta2, (double)step);
    float b1 = (float)adam->beta1, b2 = (float)adam->beta2;
    float size = (float)(adam->rate / first), root = (float)sqrt(second);
    float keep = (float)(1 - adam->rate * adam->decay), eps = (float)adam->eps;
    for (uint64_t i = 0; i < count; i++) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        w[i] = keep * w[i] - size * m[i] / (sqrtf(v[i]) / root + eps);
    }
}

void nn_adam_step(const NnAdam *adam, const NnTable *table, float *weights, const float *grads,
                  float *m, float *v, uint64_t step)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        NnAdam of = *adam;
        of.decay = nn_tensor_is_matrix(t) ? adam->decay : 0;
        nn_adam_range(&of, weights + t->at, grads + t->at, m + t->at, v + t->at, t->count, step);
    }
}

double nn_clip(float *grads, uint64_t count, double most)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)grads[i] * (double)grads[i];
    double norm = sqrt(sum);
    if (most > 0 && norm > most) {
        float scale = (float)(most / norm);
        for (uint64_t i = 0; i < count; i++)
            grads[i] *= scale;
    }
    return norm;
}

static uint64_t adapter_floats(const NnTensor *t, uint32_t rank)
{
    return nn_tensor_is_matrix(t) ? (uint64_t)rank * (t->rows + t->cols) : 0;
}

NnLora nn_lora_open(const NnTable *table, uint32_t rank, float scale, uint64_t seed)
{
    NnLora lora = {.rank = rank, .scale = scale};
    for (uint32_t i = 0; i < table->count; i++)
        lora.total += adapter_floats(&table->tensors[i], rank);
    lora.weights = nn_floats_new(lora.total);
    float *at = lora.weights;
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        uint64_t down = adapter_floats(t, rank) ? (uint64_t)rank * t->cols : 0;
        for (uint64_t k = 0; k < down; k++)
            at[k] = (float)(rng_normal(seed, i, k) / sqrt(t->cols));
        at += adapter_floats(t, rank);
    }
    return lora;
}

void nn_lora_close(NnLora *lora)
{
    nn_floats_free(lora->weights);
    lora->weights = NULL;
}

/* row o of W += scale B[o] A */
static void merge_matrix(const NnLora *l, const NnTensor *t, float *w, const float *a,
                         const float *b)
{
    for (uint32_t o = 0; o < t->rows; o++)
        for (uint32_t r = 0; r < l->rank; r++) {
            float scale = l->scale * b[(size_t)o * l->rank + r];
            for (uint32_t i = 0; i < t->cols; i++)
                w[(size_t)o * t->cols + i] += scale * a[(size_t)r * t->cols + i];
        }
}

void nn_lora_merge(const NnLora *lora, const NnTable *table, float *into, const float *base)
{
    const float *at = lora->weights;
    memcpy(into, base, table->total * sizeof *into);
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (!nn_tensor_is_matrix(t))
            continue;
        merge_matrix(lora, t, into + t->at, at, at + (size_t)lora->rank * t->cols);
        at += adapter_floats(t, lora->rank);
    }
}

/* dA += scale B^T dW, dB += scale dW A^T */
static void adapter_grads_of(const NnLora *l, const NnTensor *t, float *grads, const float *at,
                             const float *dw)
{
    size_t down = (size_t)l->rank * t->cols;
    for (uint32_t o = 0; o < t->rows; o++)
        for (uint32_t r = 0; r < l->rank; r++) {
            const float *row = dw + (size_t)o * t->cols;
            size_t up = down + (size_t)o * l->rank + r;
            float scale = l->scale * at[up];
            grads[up] += l->scale * nn_dot(row, at + (size_t)r * t->cols, t->cols);
            for (uint32_t i = 0; i < t->cols; i++)
                grads[(size_t)r * t->cols + i] += scale * row[i];
        }
}

void nn_lora_grads(const NnLora *lora, const NnTable *table, float *adapter_grads,
                   const float *grads)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const NnTensor *t = &table->tensors[i];
        if (!nn_tensor_is_matrix(t))
            continue;
        adapter_grads_of(lora, t, adapter_grads + at, lora->weights + at, grads + t->at);
        at += adapter_floats(t, lora->rank);
    }
}

void nn_lora_step(NnLora *lora, const NnAdam *adam, const float *grads, float *m, float *v,
                  uint64_t step)
{
    NnAdam of = *adam;
    of.decay = 0;
    nn_adam_range(&of, lora->weights, grads, m, v, lora->total, step);
}
