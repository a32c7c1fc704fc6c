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

#include "nn/sequence.h"

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
NnLessons nn_pairs_lessons(NnPairs *pairs);

typedef struct NnPairLoss {
    double loss, margin; /* margin: z */
} NnPairLoss;
/* The loss alone, and what weighs the gradients of both sums of losses. */
NnPairLoss nn_pair_loss(const NnPairs *pairs, const NnPair *pair, double chosen, double rejected,
                        double *chosen_weight, double *rejected_weight);

#endif
