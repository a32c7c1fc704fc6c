/* AdamW with decoupled decay, and clipping by the norm of all gradients. */
#include "nn/train.h"

#include <math.h>

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
