/* Inference on the CPU, as shipped: int8 weights and activations with float scales, a key-value cache
 * in bf16, threads, vector instructions where the processor has them.
 *
 *     NnInfer *model = nn_infer_open("model.safetensors", &diag);
 *     NnSession *s = nn_session_open(model, pool, 4, 2048);
 *     nn_session_run(s, rows, count, logits);      any mix of prompts and single steps
 *     token = nn_sample(logits, vocab, &sampling, NULL, seed, stream, position);
 *
 * A session holds `slots` sequences that advance independently. The results of a sequence do not
 * depend on what else is in the call, nor on the number of threads. */
#ifndef NN_INFER_H
#define NN_INFER_H

#include "nn/nn.h"
#include "nn/pool.h"

typedef struct NnInfer NnInfer;
typedef struct NnSession NnSession;

/* A checkpoint of any dtype (checkpoint.h); weights that are not I8 are rounded to int8. */
NnInfer *nn_infer_open(const char *path, Diag *diag);
NnInfer *nn_infer_make(const NnModel *model);
void nn_infer_close(NnInfer *model);
const NnConfig *nn_infer_config(const NnInfer *model);
uint64_t nn_infer_bytes(const NnInfer *model); /* read for one token, without the cache */
/* One safetensors file: I8 matrices with their scales, F32 vectors, the config in the metadata. */
bool nn_infer_save(const NnInfer *model, const char *path, Diag *diag);

/* Sequences of at most `context` positions. */
NnSession *nn_session_open(const NnInfer *model, NnPool *pool, uint32_t slots, uint32_t context);
void nn_session_close(NnSession *session);
const NnConfig *nn_session_config(const NnSession *session);
uint32_t nn_session_length(const NnSession *session, uint32_t slot);
void nn_session_rewind(NnSession *session, uint32_t slot, uint32_t length); /* to a shorter one */
void nn_session_copy(NnSession *session, uint32_t to, uint32_t from);

typedef struct NnRow {
    uint32_t slot, token;
    bool want; /* its logits, in order of the rows that want them */
} NnRow;
/* False, and nothing is changed: a slot would become longer than its context, or a token is not in
 * the vocabulary. */
bool nn_session_run(NnSession *session, const NnRow *rows, uint32_t count, float *logits);
/* The tokens of one sequence; logits after the last. */
bool nn_session_feed(NnSession *session, uint32_t slot, const uint32_t *tokens, uint32_t count,
                     float *logits);

typedef struct NnSampling {
    double temperature; /* 0: the most likely token, of equals the lowest */
    uint32_t top_k;     /* 0: all */
    double top_p;       /* 0 or 1: all */
} NnSampling;
/* `allowed`: a bit for every token, or NULL. UINT32_MAX where none is allowed or finite. The same
 * (seed, stream, index) draws the same. */
uint32_t nn_sample(const float *logits, uint32_t vocab, const NnSampling *sampling,
                   const uint64_t *allowed, uint64_t seed, uint64_t stream, uint64_t index);

typedef struct NnSample {
    uint32_t *tokens;
    uint32_t count;
    bool stopped; /* by a stop token, not by length */
} NnSample;

/* Where a sample goes on: the first `keep` tokens of it stay, `token` follows, or it ends. */
typedef struct NnNext {
    uint32_t keep, token;
    bool stop;
} NnNext;
/* Chooses tokens in the place of nn_sample, for decoders that know more than the logits: which tokens may
 * come, and that some of those before were wrong. */
typedef struct NnGuide {
    void *context;
    NnNext (*next)(void *context, uint32_t slot, const NnSample *sample, const float *logits);
} NnGuide;

typedef struct NnGenerate {
    const uint32_t *prompt;
    uint32_t prompt_count;
    uint32_t samples;     /* of that prompt, in as many slots */
    uint32_t most;        /* new tokens of each */
    const uint32_t *stop; /* tokens that end a sample; they are not part of it */
    uint32_t stop_count;
    NnSampling sampling;
    uint64_t seed;
    const NnGuide *guide; /* NULL: none; it draws, so that `sampling` is its own */
    uint32_t most_steps;  /* that a guide may take for a sample; 0: `most` */
} NnGenerate;
/* Samples from slots 0 .. samples-1, decoded together; false as nn_session_run. */
bool nn_generate(Arena *arena, NnSession *session, const NnGenerate *job, NnSample *samples);

#endif
