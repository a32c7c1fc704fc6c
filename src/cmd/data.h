/* Parts of acraft data. */
#ifndef CMD_DATA_H
#define CMD_DATA_H

#include "cmd/cmd.h"
#include "rows/rows.h"

typedef struct ScoreArgs {
    const char *gen, *weights, *from, *tokenizer, *keep;
    int64_t samples, tasks, turns;
    double temperature, limit;
    const char *decode;
    bool no_mask;
} ScoreArgs;

/* words: score ROWS.jsonl */
int data_score(CmdArgs *args, const ScoreArgs *a, int64_t jobs);

#endif
