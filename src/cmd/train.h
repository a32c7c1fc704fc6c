/* Parts of acraft train. */
#ifndef CMD_TRAIN_H
#define CMD_TRAIN_H

#include "cmd/cmd.h"
#include "nn/trainer.h"

typedef struct TrainArgs {
    const char *data, *held_out, *tokenizer, *out, *start, *device, *int8;
    int64_t layers, width, heads, kv_heads, head_dim, ffn, context, vocab;
    int64_t batch, seq, accumulate, warmup, save_every, evaluate_every;
    int64_t steps; /* 0: as many as one pass takes (grpo) */
    double rate, last_rate, decay, clip;
    double beta, nll;                     /* dpo */
    int64_t rounds, samples, tasks, jobs; /* rft, grpo */
    double ratio_low, ratio_high;         /* grpo */
    double temperature;
    int64_t lora; /* the rank; 0: all weights */
    double lora_alpha;
    const char *mix;
} TrainArgs;

bool train_in_range(const char *name, int64_t value, int64_t least, int64_t most);
bool train_in_interval(const char *name, double value, double least, double most);
/* A training of `dir` as the arguments say, without data. */
NnTraining train_spec(const CmdArgs *args, const TrainArgs *a, const NnDevice *device,
                      const char *dir);
bool train_write_int8(const char *path, const NnModel *model, Diag *diag);

/* Rounds of sampling, judging and learning from the answers. */
int train_rounds(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, const NnDevice *device,
                 Diag *diag);

#endif
