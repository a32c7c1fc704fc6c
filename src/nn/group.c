/* Groups of judged answers: read, weighed, learnt. */
#include "nn/group.h"

#include <jansson.h>
#include <math.h>

typedef struct GroupReader {
    NnReader reader;
    NnAnswers samples;
} GroupReader;

static bool take_row(void *self, const json_t *row)
{
    GroupReader *r = self;
    return nn_answers_add(&r->reader, row, &r->samples);
}

/* Mean and deviation of the rewards. */
static void measure_group(const NnAsked *asked, double *mean, double *deviation)
{
    double sum = 0, squares = 0, n = asked->samples.len;
    for (uint32_t i = 0; i < asked->samples.len; i++)
        sum += asked->samples.at[i].reward;
    *mean = sum / n;
    for (uint32_t i = 0; i < asked->samples.len; i++) {
        double off = asked->samples.at[i].reward - *mean;
        squares += off * off;
    }
    *deviation = sqrt(squares / n);
}

static void add_group(const NnReader *r, const NnAsked *asked, NnGroups *groups)
{
    double mean, deviation;
    measure_group(asked, &mean, &deviation);
    if (!(deviation > 1e-9)) {
        groups->even++;
        return;
    }
    groups->groups++;
    for (uint32_t i = 0; i < asked->samples.len; i++) {
        const NnAnswer *s = &asked->samples.at[i];
        NnGraded graded = {.advantage = (s->reward - mean) / deviation};
        if (nn_sequence_make(r, asked->prompt, s->answer, &graded.sequence))
            vec_push(r->arena, &groups->all, graded);
        else
            groups->dropped++;
    }
}

bool nn_groups_read(Arena *arena, const char *path, const Bpe *bpe, uint32_t seq, NnGroups *groups,
                    Diag *diag)
{
    GroupReader r = {.reader = nn_reader(arena, bpe, seq)};
    *groups = (NnGroups){.low = 3e-4, .high = 4e-4}; /* GSPO's */
    if (!nn_rows_read(arena, path, take_row, &r,
                      "\"mark\" and \"messages\", and a number where it has \"reward\"", diag))
        return false;
    for (uint32_t i = 0; i < r.samples.all.len; i++)
        add_group(&r.reader, &r.samples.all.at[i], groups);
    return true;
}

static void refer_groups(void *self, const NnDevice *device, void *model)
{
    NnGroups *groups = self;
    for (uint32_t i = 0; i < groups->all.len; i++)
        nn_sequence_refer(&groups->all.at[i].sequence, device, model);
}

NnGradedLoss nn_graded_loss(const NnGroups *groups, const NnGraded *graded, double now)
{
    const NnSequence *s = &graded->sequence;
    double a = graded->advantage, ratio = exp((s->reference - now) / s->learnt);
    bool clipped = a > 0 ? ratio > 1 + groups->high : ratio < 1 - groups->low;
    double limit = a > 0 ? 1 + groups->high : 1 - groups->low;
    return (NnGradedLoss){.loss = -a * (clipped ? limit : ratio),
                          .ratio = ratio,
                          .weight = clipped ? 0 : a * ratio / s->learnt,
                          .clipped = clipped};
}

static NnLesson learn_graded(void *self, uint32_t index, const NnDevice *device, void *model,
                             double share)
{
    const NnGroups *groups = self;
    const NnSequence *s = &groups->all.at[index].sequence;
    double now = device->evaluate(model, s->tokens, s->targets);
    NnGradedLoss loss = nn_graded_loss(groups, &groups->all.at[index], now);
    device->learn(model, s->tokens, s->targets, (float)(share * loss.weight));
    return (NnLesson){
        .loss = loss.loss, .margin = NAN, .ratio = loss.ratio, .clipped = loss.clipped};
}

NnLessons nn_groups_lessons(NnGroups *groups)
{
    return (NnLessons){groups->all.len, groups, refer_groups, learn_graded};
}
