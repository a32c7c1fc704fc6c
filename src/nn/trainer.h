/* The training loop: data in, a device that learns, checkpoints and a curve out.
 *
 *     data.jsonl ─tokenizer─▶ NnData ─windows─▶ device->learn, update ─▶ DIR/model.safetensors
 *     tokens.bin ───────────▶                                          ─▶ DIR/curve.jsonl
 *
 * The batch of a step depends on the seed and the step alone, so that a resumed run goes on as if it
 * had not stopped: on the CPU, bit by bit. */
#ifndef NN_TRAINER_H
#define NN_TRAINER_H

#include "nn/bpe.h"
#include "nn/device.h"
#include "nn/sequence.h"
#include "nn/train.h"

/* "cpu" or "cuda"; NULL: there is none here, and why (N006). The CUDA library lies beside the program
 * or where $ACRAFT_CUDA names it. */
const NnDevice *nn_device_find(const char *name, Diag *diag);
const NnDevice *nn_device_cpu(void);
NnDeviceModel nn_device_model(Arena *arena, const NnTable *table);

/* One long row of tokens. A set top bit means: not learnt as a target (a prompt). */
enum { NN_MASKED = 1u << 31 };
typedef struct NnData {
    uint32_t *tokens;
    uint64_t count;
} NnData;
/* Packed tokens, or JSON Lines (by their name, .jsonl), which need a tokenizer: rows with "text",
 * with "messages", of which the assistant's are learnt, or with "prompt" and "completion", of which the
 * completion is. Every row ends with the
 * tokenizer's <|endoftext|> where it has one. N005 says which line is wrong. */
bool nn_data_read(Arena *arena, const char *path, const Bpe *bpe, NnData *data, Diag *diag);
/* Tokens of 2 bytes where `vocab` allows; docs/formats.md has the bytes. */
bool nn_data_write(const char *path, const NnData *data, uint32_t vocab, Diag *diag);

typedef struct NnTraining {
    const NnDevice *device;
    const NnData *data, *held_out; /* held_out NULL: no evaluation */
    const NnLessons *lessons;      /* in the place of data, `batch` of them a step; NULL: none */
    const char *dir;               /* where the run lives */
    uint32_t batch, seq, accumulate;
    uint64_t steps, warmup, save_every, evaluate_every;
    uint32_t lora; /* the rank of adapters that are learnt in the place of the weights; 0: none */
    double lora_alpha; /* adapters count lora_alpha / lora times */
    const char *start; /* where the model lies that adapters belong to */
    NnAdam adam;
    double clip, last_rate; /* the rate falls by a cosine to last_rate times adam.rate */
    uint64_t seed;
    void (*report)(void *context,
                   Str line); /* each line of the curve as it is written; may be NULL */
    void *context;
} NnTraining;

/* Goes on from DIR where it holds a run; otherwise starts from `model`. Its weights are those of the
 * last step afterwards. With adapters `model` is what they belong to, also where a run goes on; DIR then holds them
 * in PEFT's form beside the merged weights. */
bool nn_train(const NnTraining *training, NnModel *model, Diag *diag);
double nn_train_rate(const NnTraining *training, uint64_t step); /* from 1 */

#endif
