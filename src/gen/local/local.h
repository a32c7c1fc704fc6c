/* A model that runs in acraft itself, on the CPU.
 *
 *     question ─tokenizer─▶ int8 weights, key-value cache, sampling ─▶ answer
 *
 * Questions have the form of the training rows (prompt_rows_* of prompt.h). The planner is never asked. */
#ifndef GEN_LOCAL_LOCAL_H
#define GEN_LOCAL_LOCAL_H

#include "gen/chat.h"
#include "npu/npu.h"

/* How much is known while an answer is drawn; each knows what those before it know. */
typedef enum LocalDecode {
    LOCAL_FREE,  /* nothing */
    LOCAL_MASK,  /* which tokens may come (guide.h) */
    LOCAL_LINES, /* lines that the front end refuses are drawn again */
    LOCAL_AGAIN, /* answers that do not check, prove and lower are drawn again */
} LocalDecode;
extern const char *const local_decode_names[]; /* "free", "mask", "lines", "again", NULL */
/* False: none of these names. */
bool local_decode_find(const char *name, LocalDecode *decode);

typedef struct LocalSpec {
    const char
        *weights; /* a checkpoint: a safetensors file, or a directory as transformers writes it */
    const char *tokenizer; /* NULL: tokenizer.json beside the weights */
    double temperature;    /* 0: always the most likely token */
    bool likely_first;     /* sample 0 is the most likely answer, whatever the temperature is */
    LocalDecode decode;
    const NpuChip *chip; /* whose checker decides what is drawn again */
    double top_p;        /* 0 or 1: all tokens */
    uint32_t most;       /* tokens of an answer; 0: what the context leaves */
    uint32_t threads;    /* 0: one for each processor */
    uint64_t seed;
    bool untrained; /* random weights of the checkpoint's sizes, drawn by the seed: a baseline */
} LocalSpec;

/* Answers to the same question are drawn together. An answer that is drawn again is the first of a few that
 * checks, proves and lowers, or the first answer where none does: grammar, names in scope, types, stages,
 * bounds and room on chip are then those of the language; values are nobody's before the judge. Threads start with the first question, so that the
 * generator may be opened before a fork. False: a file is missing or damaged; diag says which. */
bool local_open(Arena *arena, const LocalSpec *spec, Generator *generator, Diag *diag);

/* How the questions after it are answered, as the fields of LocalSpec. The generator is one of local_open. */
typedef struct LocalSampling {
    double temperature, top_p;
    bool likely_first;
    uint32_t most;
    uint64_t seed;
} LocalSampling;
void local_sampling(Generator *generator, const LocalSampling *sampling);

/* What a score is compared with; both have seen the same rows. `rows`: training rows (JSON Lines), of which
 * those to write are taken. */
typedef struct BaselineSpec {
    const char *rows, *tokenizer;
    uint64_t seed;
    LocalDecode decode; /* of the 5-gram model, as of a model */
    const NpuChip *chip;
} BaselineSpec;

/* A 5-gram model over the rows' tokens: the next token is that of a random place where the last four tokens
 * stand, else the last three, and so on. With masks, a token that stands at no such place may come where no
 * other may. */
bool ngram_open(Arena *arena, const BaselineSpec *spec, Generator *generator, Diag *diag);
/* Sample k is the answer to the k-th most similar question (runs of three words in common), with the sizes
 * and the element type of the question asked. */
bool nearest_open(Arena *arena, const BaselineSpec *spec, Generator *generator, Diag *diag);
/* Sample k is the k-th answer that the file has to the question. */
bool samples_open(Arena *arena, const BaselineSpec *spec, Generator *generator, Diag *diag);

#endif
