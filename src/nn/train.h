/* A training step in plain C: forward, loss, backward, clipping, AdamW.
 *
 *     NnPass *pass = nn_pass_open(&model, B, T, pool, true);
 *     nn_pass_forward(pass, tokens);
 *     double sum = nn_pass_loss(pass, targets, 1.0f / nn_target_count(targets, B * T));
 *     nn_pass_backward(pass, tokens, grads);
 *     double norm = nn_clip(grads, model.table.total, 1.0);
 *     nn_adam_step(&adam, &model.table, model.weights, grads, m, v, step);
 */
#ifndef NN_TRAIN_H
#define NN_TRAIN_H

#include "nn/nn.h"
#include "nn/pool.h"

typedef struct NnActs {
#define NN_ACT(name, ...) float *name;
#include "nn/activation.def"
#undef NN_ACT
} NnActs;

typedef struct NnPass {
    const NnModel *model;
    uint32_t batch, seq;
    bool training;
    NnPool *pool;
    NnActs acts;
    float *cosine, *sine;
    float *block; /* that the activations lie in */
} NnPass;

/* For batches of B x T tokens; without `training` there is no backward pass. */
NnPass *nn_pass_open(const NnModel *model, uint32_t batch, uint32_t seq, NnPool *pool,
                     bool training);
void nn_pass_close(NnPass *pass);
/* Tokens are below the vocabulary; targets too, or negative where nothing is to be learnt. */
const float *nn_pass_forward(NnPass *pass, const int32_t *tokens); /* logits[B T, V] */
/* Sum of the losses; prepares the gradient of `weight` times that sum. */
double nn_pass_loss(NnPass *pass, const int32_t *targets, float weight);
void nn_pass_backward(NnPass *pass, const int32_t *tokens, float *grads); /* += */
uint32_t nn_target_count(const int32_t *targets, uint32_t count);         /* not negative */

typedef struct NnAdam {
    double rate, beta1, beta2, eps, decay; /* decay: of matrices only, decoupled */
} NnAdam;
NnAdam nn_adam_default(void);
/* One stretch of weights, all of them decayed; step counts from 1. */
void nn_adam_range(const NnAdam *adam, float *weights, const float *grads, float *m, float *v,
                   uint64_t count, uint64_t step);
void nn_adam_step(const NnAdam *adam, const NnTable *table, float *weights, const float *grads,
                  float *m, float *v, uint64_t step);
/* Scales the gradients so that their norm is at most `most` (0: no limit); returns the norm. */
double nn_clip(float *grads, uint64_t count, double most);

#endif
