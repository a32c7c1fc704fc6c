/* acraft train rft and grpo: rounds of asking the model and learning from its judged answers. In: rows whose tasks
 * are asked, a checkpoint. Out: a directory with
 *
 *     RUN/round-1/model.safetensors   the weights that are asked (int8)
 *     RUN/round-1/samples.jsonl       every answer with its mark: right, wrong, refused
 *     RUN/round-1/rows.jsonl          rft: distinct right answers, which are learnt
 *     RUN/round-1/run/                the training on them; its checkpoint begins the next round
 *
 * rft (rejection sampling) learns the right answers as they are, grpo all answers by what they are worth beside
 * the others to the same question (nn/group.h).
 *
 * What is there is not made again, so that the same command goes on with a stopped run. Answers are drawn and
 * judged by processes (int8 weights, checks, proofs, lowering, reference interpreter at odd sizes), then the
 * weights are updated on the device. */
#include "cmd/train.h"

#include "base/file.h"
#include "base/map.h"
#include "gen/local/local.h"
#include "nn/checkpoint.h"
#include "nn/group.h"
#include "rows/rows.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Round {
    CmdArgs *args;
    const TrainArgs *a;
    const Bpe *bpe;
    const NnDevice *device;
    Arena *arena;
    const char *dir;   /* of the round */
    const char *start; /* the checkpoint it begins with */
    NnModel model;
    bool graded; /* grpo */
} Round;

static const char *in_round(const Round *r, const char *name)
{
    return path_join(r->arena, r->dir, name);
}

static void print_score(const RowsScore *s, int64_t samples)
{
    double n = s->tasks ? s->tasks : 1, all = s->samples ? s->samples : 1;
    printf("{\"tasks\": %u, \"samples\": %lld, \"right_at_1\": %.4f, \"half\": %.4f, "
           "\"right_at_n\": %.4f, \"wrong\": %.4f, \"refused\": %.4f}\n",
           s->tasks, (long long)samples, s->at_one / n, rows_score_half(s), s->at_all / n,
           s->wrong / all, s->refused / all);
    fflush(stdout);
}

/* Asks the round's weights; samples.jsonl is there only when all are judged. */
static bool draw_samples(Round *r, Diag *diag)
{
    const TrainArgs *a = r->a;
    const char *kept = in_round(r, "samples.jsonl"), *part = in_round(r, "samples.part");
    const char *weights = in_round(r, "model.safetensors");
    Generator g = {0};
    RowsScores scores = {0};
    const NpuChip *chip = npu_chip_find(str_from(r->args->chip));
    if (file_exists(kept))
        return true;
    LocalSpec local = {.weights = weights,
                       .tokenizer = a->tokenizer,
                       .temperature = a->temperature,
                       .decode = LOCAL_MASK, /* so that the marks say what the model does */
                       .chip = chip,
                       .threads = 1,
                       .seed = (uint64_t)r->args->seed};
    if (!train_write_int8(weights, &r->model, diag) || !local_open(r->arena, &local, &g, diag))
        return false;
    RowsScoreSpec spec = {.chip = chip,
                          .rows = a->data,
                          .generator = &g,
                          .tasks = (uint32_t)a->tasks,
                          .samples = (uint32_t)a->samples,
                          .jobs = (uint32_t)a->jobs,
                          .keep = part};
    bool ok = rows_score(r->arena, &spec, &scores, diag);
    g.close(g.self);
    if (ok && scores.len)
        print_score(&scores.at[0], a->samples);
    if (ok && rename(part, kept)) {
        diag_error(diag, "R001", (Span){0}, "cannot write '%s': %s", kept, strerror(errno));
        return false;
    }
    return ok;
}

/* Distinct right answers, in the order of the samples. */
static bool keep_right(Round *r, Diag *diag)
{
    Str text, line;
    Map seen = {0};
    Buf out = {0};
    uint32_t count = 0;
    if (!file_read(r->arena, in_round(r, "samples.jsonl"), 0, &text, diag))
        return false;
    while (str_next(&text, '\n', &line)) {
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        const char *mark = json_string_value(json_object_get(row, "mark"));
        char *messages = json_dumps(json_object_get(row, "messages"), JSON_COMPACT);
        uint32_t at;
        if (mark && !strcmp(mark, "right") && messages &&
            !map_get(&seen, str_from(messages), &at)) {
            map_put(r->arena, &seen, str_copy(r->arena, str_from(messages)), ++count);
            buf_printf(&out, "%.*s\n", STR_ARG(line));
        }
        free(messages);
        json_decref(row);
    }
    bool ok = file_write(in_round(r, "rows.jsonl"), buf_view(&out), diag);
    buf_free(&out);
    printf("{\"right_rows\": %u}\n", count);
    if (ok && !count)
        diag_error(diag, "N005", (Span){0}, "no answer was right: there is nothing to learn");
    return ok && count > 0;
}

static bool append(Arena *arena, NnData *to, const NnData *more)
{
    uint32_t *all = arena_array(arena, uint32_t, to->count + more->count);
    memcpy(all, to->tokens, to->count * sizeof *all);
    if (more->count)
        memcpy(all + to->count, more->tokens, more->count * sizeof *all);
    *to = (NnData){all, to->count + more->count};
    return true;
}

/* grpo: one pass over the answers, unless --steps says otherwise. A round of which nothing can be learnt leaves the
 * weights as they are. */
static bool learn_graded(Round *r, Diag *diag)
{
    const TrainArgs *a = r->a;
    NnGroups groups;
    const char *run = in_round(r, "run");
    if (!nn_groups_read(r->arena, in_round(r, "samples.jsonl"), r->bpe, (uint32_t)a->seq, &groups,
                        diag))
        return false;
    printf("{\"groups\": %u, \"even\": %u, \"answers\": %u, \"too_long\": %llu}\n", groups.groups,
           groups.even, groups.all.len, (unsigned long long)groups.dropped);
    if (!groups.all.len)
        return nn_checkpoint_save(run, &r->model, ST_F32, 0, diag);
    groups.low = a->ratio_low;
    groups.high = a->ratio_high;
    NnTraining t = train_spec(r->args, a, r->device, run);
    NnLessons lessons = nn_groups_lessons(&groups);
    t.lessons = &lessons;
    if (!t.steps)
        t.steps = (groups.all.len + t.batch - 1) / t.batch;
    return nn_train(&t, &r->model, diag);
}

static bool learn_right(Round *r, Diag *diag)
{
    NnData data, mix = {0};
    NnTraining t = train_spec(r->args, r->a, r->device, in_round(r, "run"));
    if (!nn_data_read(r->arena, in_round(r, "rows.jsonl"), r->bpe, &data, diag) ||
        (r->a->mix && !nn_data_read(r->arena, r->a->mix, r->bpe, &mix, diag)))
        return false;
    append(r->arena, &data, &mix);
    t.data = &data;
    return nn_train(&t, &r->model, diag);
}

static bool run_round(Round *r, Diag *diag)
{
    bool ok = file_make_dirs(r->dir, diag) &&
              nn_checkpoint_load(r->arena, r->start, &r->model, diag);
    if (!ok)
        return false;
    ok = draw_samples(r, diag) &&
         (r->graded ? learn_graded(r, diag) : keep_right(r, diag) && learn_right(r, diag));
    nn_close(&r->model);
    return ok;
}

int train_rounds(CmdArgs *args, const TrainArgs *a, const Bpe *bpe, const NnDevice *device,
                 Diag *diag)
{
    const char *what = args->words[0];
    bool graded = !strcmp(what, "grpo");
    if (!a->start || !bpe) {
        fprintf(stderr, "acraft train %s: needs --start CHECKPOINT and --tokenizer FILE\n", what);
        return CMD_USAGE;
    }
    if (graded && (a->mix || a->samples < 2)) {
        fprintf(stderr, "acraft train grpo: takes no --mix, and -n is at least 2: an answer is "
                        "compared with the others to its question\n");
        return CMD_USAGE;
    }
    if (!train_in_interval("ratio-low", a->ratio_low, 1e-9, 1) ||
        !train_in_interval("ratio-high", a->ratio_high, 1e-9, 1e6))
        return CMD_USAGE;
    if (!train_in_range("rounds", a->rounds, 1, 1000) ||
        !train_in_range("n", a->samples, 1, 1000) ||
        !train_in_range("most", a->tasks, 1, 1000000) || !train_in_range("j", a->jobs, 0, 1024))
        return CMD_USAGE;
    Round r = {.args = args,
               .a = a,
               .bpe = bpe,
               .device = device,
               .arena = &args->arena,
               .graded = graded};
    r.start = a->start;
    for (int64_t k = 1; k <= a->rounds; k++) {
        r.dir = path_join(r.arena, a->out, str_format(r.arena, "round-%lld", (long long)k));
        if (!run_round(&r, diag))
            return cmd_say(diag, CMD_USAGE);
        r.start = in_round(&r, "run");
    }
    if (!a->int8)
        return CMD_OK;
    bool ok = nn_checkpoint_load(r.arena, r.start, &r.model, diag) &&
              train_write_int8(a->int8, &r.model, diag);
    return ok ? CMD_OK : cmd_say(diag, CMD_USAGE);
}
