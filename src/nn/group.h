/* Learning from groups of judged answers to the same question: those that are worth more than the mean of their
 * group become likelier, the others less likely.
 *
 *     advantage = (reward - mean of the group) / its deviation
 *     ratio     = (p(answer) / q(answer)) ^ (1 / its tokens)
 *     loss      = -min(ratio advantage, ratio within 1 - low .. 1 + high times advantage)
 *
 * p is the model, q the model that gave the answers. The ratio is of whole answers, as in GSPO (Zheng and others,
 * 2025), of which GRPO on answers that the model itself has just given is the first step: there the ratio is 1. An
 * answer is one call of device->learn, so every device that trains can do this. */
#ifndef NN_GROUP_H
#define NN_GROUP_H

#include "nn/sequence.h"

typedef struct NnGraded {
    NnSequence sequence;
    double advantage;
} NnGraded;

typedef struct NnGroups {
    VEC(NnGraded) all;
    uint32_t groups;  /* whose answers are not all worth the same */
    uint32_t even;    /* whose are: nothing is learnt from them */
    uint64_t dropped; /* answers that are longer than a window */
    double low, high; /* how far the ratio may go from 1 */
} NnGroups;

/* Samples: rows with "messages" and "mark", and "reward" where a right one is not simply worth 1. A file whose
 * groups are all even is no error: there is nothing to learn from it. */
bool nn_groups_read(Arena *arena, const char *path, const Bpe *bpe, uint32_t seq, NnGroups *groups,
                    Diag *diag);
NnLessons nn_groups_lessons(NnGroups *groups);

typedef struct NnGradedLoss {
    double loss, ratio, weight; /* weight: of the gradient of the sum of losses */
    bool clipped;
} NnGradedLoss;
/* `now`: the sum of the losses of the answer. */
NnGradedLoss nn_graded_loss(const NnGroups *groups, const NnGraded *graded, double now);

#endif
