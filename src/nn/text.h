/* Texts as lists of word numbers, and a linear classifier over them (bag of words).
 *
 * TextING (texting.h) and the bag are trained on the same documents by the same protocol: a part of the
 * documents is kept back, and the weights of the epoch that does best on it are the result. */
#ifndef NN_TEXT_H
#define NN_TEXT_H

#include "base/diag.h"
#include "base/map.h"

typedef struct TextWords {
    Map numbers;
    VEC(Str) words; /* by number */
} TextWords;

uint32_t text_word_add(Arena *arena, TextWords *words, Str word); /* its number, new or not */
bool text_word_find(const TextWords *words, Str word, uint32_t *number);

typedef struct TextDoc {
    const uint32_t *words; /* numbers, in order of the text */
    uint32_t count, label;
} TextDoc;

/* The end of the order by `seed` is kept back; epochs draw the rest in an order of their own. */
typedef struct TextSplit {
    uint32_t *order;
    uint32_t count, learnt; /* documents; the first `learnt` of the order are learnt from */
} TextSplit;
TextSplit text_split(Arena *arena, uint32_t count, uint32_t held, uint64_t seed);
void text_shuffle(uint32_t *order, uint32_t count, uint64_t seed, uint64_t stream);

typedef struct TextEpoch {
    uint32_t epoch;    /* from 1 */
    double loss, held; /* mean loss of training; share right of what is kept back */
} TextEpoch;
typedef void TextProgress(void *context, const TextEpoch *epoch);

typedef struct TextTrain {
    uint32_t epochs, batch;
    uint32_t
        held; /* one document of so many is kept back; 0: none, and the last epoch is the result */
    double rate, decay, dropout;
    uint64_t seed;
    TextProgress *progress; /* NULL: none */
    void *context;
} TextTrain;

/* Multinomial logistic regression on log(1 + count) idf, vectors of length 1. */
typedef struct TextBag {
    uint32_t words, classes;
    float *idf, *weights, *bias; /* [words], [words, classes], [classes] */
} TextBag;

TextBag text_bag_new(Arena *arena, uint32_t words, uint32_t classes);
/* Trains with the epochs, rate, decay, seed and progress of TextTrain. Returns the share of
 * held-out texts that is right. */
double text_bag_train(Arena *arena, TextBag *bag, const TextDoc *docs, uint32_t count,
                      const TextTrain *train);
/* The probability of each class. */
void text_bag_classify(const TextBag *bag, const TextDoc *doc, float *probabilities);

#endif
