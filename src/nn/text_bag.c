/* A linear classifier over the words of a text; see text.h. */
#include "nn/text.h"

#include "nn/text_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- features ---- */

typedef struct Feature {
    uint32_t word;
    float value;
} Feature;
typedef VEC(Feature) Features;

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static Features features_of(Arena *arena, const TextBag *bag, const TextDoc *doc)
{
    Features f = {0};
    uint32_t *sorted = arena_array(arena, uint32_t, doc->count + 1);
    double square = 0;
    if (doc->count)
        memcpy(sorted, doc->words, doc->count * sizeof *sorted);
    qsort(sorted, doc->count, sizeof *sorted, compare_words);
    for (uint32_t i = 0, n; i < doc->count; i += n) {
        for (n = 1; i + n < doc->count && sorted[i + n] == sorted[i];)
            n++;
        float value = log1pf((float)n) * bag->idf[sorted[i]];
        square += (double)value * (double)value;
        vec_push(arena, &f, ((Feature){sorted[i], value}));
    }
    for (uint32_t i = 0; square > 0 && i < f.len; i++)
        f.at[i].value /= (float)sqrt(square);
    return f;
}

static void probabilities_of(const TextBag *bag, const Features *f, float *p)
{
    memcpy(p, bag->bias, bag->classes * sizeof *p);
    for (uint32_t i = 0; i < f->len; i++)
        for (uint32_t k = 0; k < bag->classes; k++)
            p[k] += f->at[i].value * bag->weights[(size_t)f->at[i].word * bag->classes + k];
    text_softmax(p, bag->classes);
}

void text_softmax(float *p, uint32_t count)
{
    float most = p[0], sum = 0;
    for (uint32_t k = 1; k < count; k++)
        most = p[k] > most ? p[k] : most;
    for (uint32_t k = 0; k < count; k++)
        sum += p[k] = expf(p[k] - most);
    for (uint32_t k = 0; k < count; k++)
        p[k] /= sum;
}

uint32_t text_largest(const float *p, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < count; k++)
        best = p[k] > p[best] ? k : best;
    return best;
}

/* ---- training ---- */

TextBag text_bag_new(Arena *arena, uint32_t words, uint32_t classes)
{
    return (TextBag){words, classes, arena_array(arena, float, words + 1),
                     arena_array(arena, float, (size_t)words *classes + 1),
                     arena_array(arena, float, classes)};
}

/* log((1 + documents) / (1 + documents with the word)) + 1, of the documents that are learnt from. */
static void count_documents(TextBag *bag, const TextDoc *docs, const TextSplit *split)
{
    uint32_t *last = heap_alloc((bag->words + 1) * sizeof *last);
    memset(bag->idf, 0, bag->words * sizeof *bag->idf);
    for (uint32_t i = 0; i < split->learnt; i++) {
        const TextDoc *doc = &docs[split->order[i]];
        for (uint32_t k = 0; k < doc->count; k++)
            if (last[doc->words[k]] != i + 1) {
                last[doc->words[k]] = i + 1;
                bag->idf[doc->words[k]]++;
            }
    }
    for (uint32_t w = 0; w < bag->words; w++)
        bag->idf[w] = logf((1 + (float)split->learnt) / (1 + bag->idf[w])) + 1;
    heap_free(last);
}

/* A step down the gradient of one document; its loss. */
static double learn_document(TextBag *bag, const Features *f, uint32_t label,
                             const TextTrain *train, double rate, float *p)
{
    probabilities_of(bag, f, p);
    double loss = -log((double)p[label] + 1e-30);
    p[label] -= 1;
    for (uint32_t i = 0; i < f->len; i++) {
        float *w = bag->weights + (size_t)f->at[i].word * bag->classes;
        for (uint32_t k = 0; k < bag->classes; k++)
            w[k] -= (float)rate * (p[k] * f->at[i].value + (float)train->decay * w[k]);
    }
    for (uint32_t k = 0; k < bag->classes; k++)
        bag->bias[k] -= (float)rate * p[k];
    return loss;
}

static double share_right(const TextBag *bag, const Features *features, const TextDoc *docs,
                          const TextSplit *s, float *p)
{
    uint32_t right = 0;
    for (uint32_t i = s->learnt; i < s->count; i++) {
        probabilities_of(bag, &features[s->order[i]], p);
        right += text_largest(p, bag->classes) == docs[s->order[i]].label;
    }
    return s->count > s->learnt ? (double)right / (s->count - s->learnt) : 0;
}

double text_bag_train(Arena *arena, TextBag *bag, const TextDoc *docs, uint32_t count,
                      const TextTrain *train)
{
    TextSplit split = text_split(arena, count, train->held, train->seed);
    TextBag best = text_bag_new(arena, bag->words, bag->classes);
    Features *features = arena_array(arena, Features, count + 1);
    float *p = arena_array(arena, float, bag->classes);
    double best_share = -1;
    count_documents(bag, docs, &split);
    for (uint32_t i = 0; i < count; i++)
        features[i] = features_of(arena, bag, &docs[i]);
    for (uint32_t epoch = 1; epoch <= train->epochs; epoch++) {
        double loss = 0, rate = train->rate / sqrt(epoch);
        text_shuffle(split.order, split.learnt, train->seed, epoch);
        for (uint32_t i = 0; i < split.learnt; i++)
            loss += learn_document(bag, &features[split.order[i]], docs[split.order[i]].label,
                                   train, rate, p);
        double share = share_right(bag, features, docs, &split, p);
        if (train->progress)
            train->progress(train->context, &(TextEpoch){epoch, loss / split.learnt, share});
        if (share < best_share)
            continue;
        best_share = share;
        memcpy(best.weights, bag->weights, (size_t)bag->words * bag->classes * sizeof(float));
        memcpy(best.bias, bag->bias, bag->classes * sizeof(float));
    }
    best.idf = bag->idf;
    *bag = best;
    return best_share;
}

void text_bag_classify(const TextBag *bag, const TextDoc *doc, float *probabilities)
{
    Arena arena = {0};
    Features f = features_of(&arena, bag, doc);
    probabilities_of(bag, &f, probabilities);
    arena_drop(&arena);
}
