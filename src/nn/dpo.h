/* Learning from preferences (DPO): of two answers to a question the one is to become more likely than the
 * other, compared with the model at the start.
 *
 *     z    = beta ((log p(chosen) - log q(chosen)) - (log p(rejected) - log q(rejected)))
 *     loss = -log sigmoid(z) - nll log p(chosen) / tokens of it
 *
 * p is the model, q the model at the start. A pair is two calls of device->learn with a batch of one sequence:
 * the gradient of the loss is that of both sums of losses, with weights that z gives. So every device that
 * trains can do this. */
#ifndef NN_DPO_H
#define NN_DPO_H

#include "nn/bpe.h"
#include "nn/device.h"

/* A question and an answer to it, as a window. */
typedef struct NnSequence {
    int32_t *tokens, *targets; /* [seq]; targets below 0 are not learnt */
    uint32_t learnt;
    double reference; /* sum of the losses at the start */
} NnSequence;

typedef struct NnPair {
    NnSequence chosen, rejected;
} NnPair;

typedef struct NnPairs {
    VEC(NnPair) all;
    uint32_t seq;     /* of every window */
    uint64_t dropped; /* pairs that are longer */
    double beta, nll;
} NnPairs;

/* JSON Lines with "prompt", "chosen" and "rejected" (strings or lists of messages), or samples of
 * `acraft data score --keep`, of which right ones are preferred to wrong ones and those to refused ones.
 * N005 says which line is wrong. */
bool nn_pairs_read(Arena *arena, const char *path, const Bpe *bpe, uint32_t seq, NnPairs *pairs,
                   Diag *diag);
/* The losses at the start; the device has a batch of one and holds its weights. */
void nn_pairs_refer(NnPairs *pairs, const NnDevice *device, void *model);

typedef struct NnPairLoss {
    double loss, margin; /* margin: z */
} NnPairLoss;
/* Adds the gradient of `share` times the loss of the pair. */
NnPairLoss nn_pair_learn(const NnPairs *pairs, const NnPair *pair, const NnDevice *device,
                         void *model, double share);
/* The loss alone, and what weighs the gradients of both sums of losses. */
NnPairLoss nn_pair_loss(const NnPairs *pairs, const NnPair *pair, double chosen, double rejected,
                        double *chosen_weight, double *rejected_weight);

#endif
