/* Training of TextING. In: documents with labels. Out: the weights of the epoch that is best on
 * what is kept back. Words that a batch does not have keep their vectors and moments. */
#include "nn/texting.h"

#include "nn/nn.h"
#include "nn/text_int.h"
#include "nn/train.h"
#include <math.h>
#include <string.h>

typedef struct Trainer {
    Texting *model;
    TextingPass *pass;
    const TextGraph *graphs;
    const TextTrain *train;
    TextSplit split;
    float *grads, *m, *v, *best;
    const TextGraph **batch;
    uint64_t step;
} Trainer;

static void update(const Trainer *t, uint64_t from, uint64_t count, double decay)
{
    NnAdam adam = {
        .rate = t->train->rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = decay};
    nn_adam_range(&adam, t->model->weights + from, t->grads + from, t->m + from, t->v + from, count,
                  t->step);
    memset(t->grads + from, 0, count * sizeof(float));
}

/* The gradient of a word that several texts of the batch have is used, and cleared, at the first. */
static void update_all(const Trainer *t, uint32_t count)
{
    uint32_t E = t->model->config.vector;
    const TextingTensor *vectors = &t->model->tensors[TEXTING_VECTORS];
    uint64_t rest = vectors[1].at;
    for (uint32_t d = 0; d < count; d++)
        for (uint32_t i = 0; i < t->batch[d]->nodes; i++) {
            uint64_t at = (uint64_t)t->batch[d]->words[i] * E;
            bool any = false;
            for (uint32_t k = 0; k < E && !any; k++)
                any = t->grads[at + k] != 0;
            if (any)
                update(t, at, E, t->train->decay);
        }
    update(t, rest, t->model->total - rest, 0);
}

static uint32_t take_batch(const Trainer *t, uint32_t from, uint32_t end)
{
    uint32_t count = end - from < t->train->batch ? end - from : t->train->batch;
    for (uint32_t i = 0; i < count; i++)
        t->batch[i] = &t->graphs[t->split.order[from + i]];
    return count;
}

static double learn_epoch(Trainer *t)
{
    double loss = 0;
    for (uint32_t at = 0, n; at < t->split.learnt; at += n) {
        n = take_batch(t, at, t->split.learnt);
        TextingDropout dropout = {t->train->dropout, t->train->seed + 1, t->step++};
        texting_forward(t->pass, t->batch, n, dropout);
        loss += n * texting_backward(t->pass, t->grads);
        update_all(t, n);
    }
    return loss / (t->split.learnt ? t->split.learnt : 1);
}

static double share_right(Trainer *t)
{
    uint32_t right = 0, held = t->split.count - t->split.learnt, K = t->model->config.classes;
    for (uint32_t at = t->split.learnt, n; at < t->split.count; at += n) {
        n = take_batch(t, at, t->split.count);
        const float *logits = texting_forward(t->pass, t->batch, n, (TextingDropout){0});
        for (uint32_t d = 0; d < n; d++)
            right += text_largest(logits + (size_t)d * K, K) == t->batch[d]->label;
    }
    return held ? (double)right / held : 0;
}

double texting_train(Arena *arena, Texting *model, const TextDoc *docs, uint32_t count,
                     const TextTrain *train, NnPool *pool)
{
    TextGraph *graphs = arena_array(arena, TextGraph, count + 1);
    for (uint32_t i = 0; i < count; i++)
        graphs[i] = text_graph(arena, &docs[i]);
    Trainer t = {.model = model,
                 .pass = texting_pass_open(model, pool),
                 .graphs = graphs,
                 .train = train,
                 .split = text_split(arena, count, train->held, train->seed),
                 .grads = nn_floats_new(model->total),
                 .m = nn_floats_new(model->total),
                 .v = nn_floats_new(model->total),
                 .best = nn_floats_new(model->total),
                 .batch = arena_array(arena, const TextGraph *, train->batch + 1)};
    double best = -1;
    for (uint32_t epoch = 1; epoch <= train->epochs; epoch++) {
        text_shuffle(t.split.order, t.split.learnt, train->seed, epoch);
        double loss = learn_epoch(&t), share = share_right(&t);
        if (train->progress)
            train->progress(train->context, &(TextEpoch){epoch, loss, share});
        if (share < best)
            continue;
        best = share;
        memcpy(t.best, model->weights, model->total * sizeof(float));
    }
    if (best >= 0)
        memcpy(model->weights, t.best, model->total * sizeof(float));
    float *blocks[] = {t.grads, t.m, t.v, t.best};
    for (int i = 0; i < 4; i++)
        nn_floats_free(blocks[i]);
    texting_pass_close(t.pass);
    return best;
}
