/* Answers to questions as windows of tokens, judged samples of answers, and lessons: what a run learns one by one
 * in the place of windows of data.
 *
 *     samples.jsonl ─▶ NnAnswers ─dpo.h─▶   pairs of a better and a worse answer ─┐
 *                                ─group.h─▶ answers with their advantage         ─┴─▶ NnLessons ─▶ nn_train */
#ifndef NN_SEQUENCE_H
#define NN_SEQUENCE_H

#include "base/map.h"
#include "nn/bpe.h"
#include "nn/device.h"

struct json_t;

/* A question and an answer to it, as a window. */
typedef struct NnSequence {
    int32_t *tokens, *targets; /* [seq]; targets below 0 are not learnt */
    uint32_t learnt;
    double reference; /* sum of the losses at the start */
} NnSequence;

/* What reads texts into windows of `seq` tokens. */
typedef struct NnReader {
    Arena *arena;
    const Bpe *bpe;
    uint32_t seq, end;
    bool has_end; /* <|endoftext|> follows an answer */
} NnReader;
NnReader nn_reader(Arena *arena, const Bpe *bpe, uint32_t seq);
/* False: longer than a window. */
bool nn_sequence_make(const NnReader *r, Str prompt, Str answer, NnSequence *s);
/* The sum of the losses now is that at the start from here on. */
void nn_sequence_refer(NnSequence *s, const NnDevice *device, void *model);

/* A string, or the contents of a list of messages joined; false: neither. */
bool nn_text_of(Arena *arena, const struct json_t *value, Str *text);
/* Every row of a file of JSON Lines to `take`; N005 says which one it does not take, and what was `expected`. */
bool nn_rows_read(Arena *arena, const char *path, bool (*take)(void *self, const struct json_t *),
                  void *self, const char *expected, Diag *diag);

/* A judged answer, as `acraft data score --keep` and rounds of training write them. */
typedef enum NnMark { NN_RIGHT, NN_WRONG, NN_REFUSED, NN_MARKS } NnMark;
typedef struct NnAnswer {
    Str answer;
    NnMark mark;
    double reward; /* "reward" of the row; else 1 where the answer is right */
} NnAnswer;
typedef struct NnAsked {
    Str prompt;
    VEC(NnAnswer) samples;
} NnAsked;
typedef struct NnAnswers {
    VEC(NnAsked) all; /* in order of the file */
    Map by_prompt;
} NnAnswers;
/* False: no row with "mark" and "messages". */
bool nn_answers_add(const NnReader *r, const struct json_t *row, NnAnswers *samples);

/* What a lesson says of itself; NAN: nothing of this kind. */
typedef struct NnLesson {
    double loss;
    double margin;  /* of a pair: z */
    double ratio;   /* of an answer of a group: how much likelier than at the start */
    double clipped; /* ... 1 where that is beyond the limit, so that nothing is learnt */
} NnLesson;

typedef struct NnLessons {
    uint32_t count;
    void *self;
    /* Once, with the weights at the start; the device has a batch of one. */
    void (*refer)(void *self, const NnDevice *device, void *model);
    /* Adds the gradient of `share` times the loss of a lesson. */
    NnLesson (*learn)(void *self, uint32_t index, const NnDevice *device, void *model,
                      double share);
} NnLessons;

#endif
