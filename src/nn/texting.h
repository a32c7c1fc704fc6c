/* TextING (Zhang and others, ACL 2020): every text is a graph of its own, on which a gated graph network
 * computes a state for each word; the mean and the maximum over the words say what the text is about.
 *
 *     words ─graph─▶ distinct words x, edges between words that stand in one window of 3
 *     x = tanh(encode vectors);  T = 2 times:  a = D^-1/2 A D^-1/2 x
 *       z = sig(Wz a + Uz x)   r = sig(Wr a + Ur x)   c = tanh(Wc a + Uc (r x))   x = z c + (1 - z) x
 *     g = sig(attend x) tanh(emit x);  classes(mean g + max g), softmax
 *
 * The paper's vectors are GloVe's and stay as they are; here they are learnt from nothing, since the program
 * ships no foreign weights. Dropout stands where the authors' code has it: on the vectors, on the edges of
 * each step, before the classes. N nodes of a batch, E, H, K as in texting.def. */
#ifndef NN_TEXTING_H
#define NN_TEXTING_H

#include "nn/pool.h"
#include "nn/text.h"

typedef struct TextingConfig {
    uint32_t words, vector, width, classes, steps;
} TextingConfig;

typedef enum TextingTensorId {
#define TEXTING_TENSOR(id, ...) TEXTING_##id,
#include "nn/texting.def"
#undef TEXTING_TENSOR
    TEXTING_TENSOR_COUNT
} TextingTensorId;

typedef struct TextingTensor {
    const char *name;
    uint32_t rows, cols, fan;
    uint64_t at, count;
} TextingTensor;

typedef struct Texting {
    TextingConfig config;
    TextingTensor tensors[TEXTING_TENSOR_COUNT];
    uint64_t total;
    float *weights; /* one block, on the heap */
} Texting;

Texting texting_new(const TextingConfig *config, uint64_t seed);
void texting_close(Texting *model);

/* The graph of a text: distinct words in ascending order, neighbours of each, normalised. */
enum { TEXTING_WINDOW = 3 };
typedef struct TextGraph {
    uint32_t nodes, label;
    uint32_t *words, *first, *to; /* [nodes], [nodes + 1], [first[nodes]] */
    float *weights;               /* of the edges */
} TextGraph;
TextGraph text_graph(Arena *arena, const TextDoc *doc);

/* A batch in memory: forward, loss, backward. */
typedef struct TextingPass TextingPass;
TextingPass *texting_pass_open(const Texting *model, NnPool *pool);
void texting_pass_close(TextingPass *pass);
typedef struct TextingDropout {
    double rate; /* 0: none */
    uint64_t seed, stream;
} TextingDropout;
/* The logits [count, K]. */
const float *texting_forward(TextingPass *pass, const TextGraph *const *graphs, uint32_t count,
                             TextingDropout dropout);
/* Mean loss of the last batch; the gradients are added to a block as the weights'. */
double texting_backward(TextingPass *pass, float *grads);

/* Leaves the weights of the best epoch in the model; returns its share right of what is kept back. */
double texting_train(Arena *arena, Texting *model, const TextDoc *docs, uint32_t count,
                     const TextTrain *train, NnPool *pool);
/* The probability of each class. */
void texting_classify(TextingPass *pass, const TextGraph *graph, float *probabilities);

#endif
