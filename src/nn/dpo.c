/* Preferences: read, compared with the start, learnt. */
#include "nn/dpo.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

typedef struct PairReader {
    NnReader reader;
    NnPairs *pairs;
    NnAnswers samples;
} PairReader;

static void add_pair(const PairReader *r, Str prompt, Str chosen, Str rejected)
{
    NnPair pair = {0};
    if (nn_sequence_make(&r->reader, prompt, chosen, &pair.chosen) &&
        nn_sequence_make(&r->reader, prompt, rejected, &pair.rejected))
        vec_push(r->reader.arena, &r->pairs->all, pair);
    else
        r->pairs->dropped++;
}

static bool take_row(void *self, const json_t *row)
{
    PairReader *r = self;
    Arena *arena = r->reader.arena;
    Str prompt, chosen, rejected;
    if (json_object_get(row, "mark"))
        return nn_answers_add(&r->reader, row, &r->samples);
    if (!nn_text_of(arena, json_object_get(row, "prompt"), &prompt) ||
        !nn_text_of(arena, json_object_get(row, "chosen"), &chosen) ||
        !nn_text_of(arena, json_object_get(row, "rejected"), &rejected))
        return false;
    add_pair(r, prompt, chosen, rejected);
    return true;
}

typedef VEC(Str) Answers;

static void add_answer(Arena *arena, Answers *answers, Str answer)
{
    for (uint32_t i = 0; i < answers->len; i++)
        if (str_equal(answers->at[i], answer))
            return;
    vec_push(arena, answers, answer);
}

/* Distinct answers of a better mark beside those of a worse one, one by one. */
static void pair_samples(const PairReader *r, const NnAsked *asked)
{
    Answers of[NN_MARKS] = {0};
    for (uint32_t i = 0; i < asked->samples.len; i++)
        add_answer(r->reader.arena, &of[asked->samples.at[i].mark], asked->samples.at[i].answer);
    for (int better = NN_RIGHT; better < NN_REFUSED; better++)
        for (int worse = better + 1; worse < NN_MARKS; worse++)
            for (uint32_t k = 0; k < of[better].len && k < of[worse].len; k++)
                add_pair(r, asked->prompt, of[better].at[k], of[worse].at[k]);
}

bool nn_pairs_read(Arena *arena, const char *path, const Bpe *bpe, uint32_t seq, NnPairs *pairs,
                   Diag *diag)
{
    PairReader r = {.reader = nn_reader(arena, bpe, seq), .pairs = pairs};
    *pairs = (NnPairs){.seq = seq, .beta = 0.1, .nll = 1};
    if (!nn_rows_read(arena, path, take_row, &r,
                      "\"prompt\", \"chosen\" and \"rejected\", or \"mark\" and \"messages\"",
                      diag))
        return false;
    for (uint32_t i = 0; i < r.samples.all.len; i++)
        pair_samples(&r, &r.samples.all.at[i]);
    if (!pairs->all.len)
        diag_error(diag, "N005", (Span){0},
                   "'%s' has no pair of a better and a worse answer within %u tokens", path, seq);
    return pairs->all.len > 0;
}

/* ---- learning ---- */

static void refer_pairs(void *self, const NnDevice *device, void *model)
{
    NnPairs *pairs = self;
    for (uint32_t i = 0; i < pairs->all.len; i++) {
        nn_sequence_refer(&pairs->all.at[i].chosen, device, model);
        nn_sequence_refer(&pairs->all.at[i].rejected, device, model);
    }
}

NnPairLoss nn_pair_loss(const NnPairs *pairs, const NnPair *pair, double chosen, double rejected,
                        double *chosen_weight, double *rejected_weight)
{
    const NnSequence *c = &pair->chosen, *r = &pair->rejected;
    double z = pairs->beta * ((c->reference - chosen) - (r->reference - rejected));
    double doubt = 1 / (1 + exp(z)); /* sigmoid(-z) */
    double softplus = z > 0 ? log1p(exp(-z)) : -z + log1p(exp(z));
    *chosen_weight = pairs->beta * doubt + pairs->nll / c->learnt;
    *rejected_weight = -pairs->beta * doubt;
    return (NnPairLoss){softplus + pairs->nll * chosen / c->learnt, z};
}

static NnLesson learn_pair(void *self, uint32_t index, const NnDevice *device, void *model,
                           double share)
{
    const NnPairs *pairs = self;
    const NnPair *pair = &pairs->all.at[index];
    const NnSequence *c = &pair->chosen, *r = &pair->rejected;
    double up, down, chosen = device->evaluate(model, c->tokens, c->targets);
    double rejected = device->evaluate(model, r->tokens, r->targets);
    NnPairLoss loss = nn_pair_loss(pairs, pair, chosen, rejected, &up, &down);
    device->learn(model, c->tokens, c->targets, (float)(share * up));
    device->learn(model, r->tokens, r->targets, (float)(share * down));
    return (NnLesson){.loss = loss.loss, .margin = loss.margin, .ratio = NAN, .clipped = NAN};
}

NnLessons nn_pairs_lessons(NnPairs *pairs)
{
    return (NnLessons){pairs->all.len, pairs, refer_pairs, learn_pair};
}
