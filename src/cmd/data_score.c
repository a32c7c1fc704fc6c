/* acraft data score: how many answers of a generator to held-out rows are right. */
#include "cmd/data.h"

#include "gen/local/local.h"
#include <stdio.h>
#include <string.h>

static bool open_generator(Arena *arena, const CmdArgs *args, const ScoreArgs *a, Generator *g,
                           Diag *diag)
{
    LocalDecode decode = a->no_mask ? LOCAL_FREE : LOCAL_AGAIN;
    BaselineSpec baseline = {a->from, a->tokenizer, (uint64_t)args->seed};
    LocalSpec local = {.weights = a->weights,
                       .tokenizer = a->tokenizer,
                       .temperature = a->temperature,
                       .chip = npu_chip_find(str_from(args->chip)),
                       .threads = 1,
                       .seed = (uint64_t)args->seed};
    if (a->decode && !local_decode_find(a->decode, &decode)) {
        fprintf(stderr, "acraft data score: --decode is free, mask, lines or again\n");
        return false;
    }
    local.decode = decode;
    bool ngram = !strcmp(a->gen, "5-gram"), nearest = !strcmp(a->gen, "nearest");
    bool file = !strcmp(a->gen, "file");
    if (ngram || nearest || file) {
        if (!a->from || (ngram && !a->tokenizer)) {
            fprintf(stderr, "acraft data score: --gen %s needs --from ROWS%s\n", a->gen,
                    ngram ? " and --tokenizer FILE" : "");
            return false;
        }
        return ngram  ? ngram_open(arena, &baseline, g, diag)
               : file ? samples_open(arena, &baseline, g, diag)
                      : nearest_open(arena, &baseline, g, diag);
    }
    if (strcmp(a->gen, "local") || !a->weights) {
        fprintf(stderr, strcmp(a->gen, "local")
                            ? "acraft data score: --gen is local, file, 5-gram or nearest\n"
                            : "acraft data score: --gen local needs --weights FILE\n");
        return false;
    }
    return local_open(arena, &local, g, diag);
}

static void print_score(const RowsScore *s, int64_t samples)
{
    double n = s->tasks ? s->tasks : 1, all = s->samples ? s->samples : 1;
    printf(
        "%-14s %5u tasks  right at 1: %5.1f %% +- %.1f  at %lld: %5.1f %%  samples: wrong values "
        "%.1f %%, refused %.1f %%, no program %.1f %%\n",
        s->family[0] ? s->family : "all", s->tasks, 100 * s->at_one / n, 100 * rows_score_half(s),
        (long long)samples, 100 * s->at_all / n, 100 * s->wrong / all, 100 * s->refused / all,
        100 * s->none / all);
}

int data_score(CmdArgs *args, const ScoreArgs *a, int64_t jobs)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, args->words[1], STR(""));
    Generator generator = {0};
    RowsScores scores = {0};
    const NpuChip *chip = npu_chip_find(str_from(args->chip));
    if (a->samples < 1 || a->samples > 1000 || a->tasks < 1 || a->tasks > 1000000 || a->turns < 0 ||
        a->turns > 100 || !(a->temperature >= 0) || !chip || !chip->simulated) {
        fprintf(stderr, "acraft data score: -n, --most, --turns, --temperature or --chip is out of "
                        "range\n");
        return CMD_USAGE;
    }
    if (!open_generator(arena, args, a, &generator, &diag))
        return cmd_say(&diag, CMD_USAGE);
    RowsScoreSpec spec = {.chip = chip,
                          .rows = args->words[1],
                          .generator = &generator,
                          .tasks = (uint32_t)a->tasks,
                          .samples = (uint32_t)a->samples,
                          .turns = (uint32_t)a->turns,
                          .jobs = (uint32_t)jobs,
                          .keep = a->keep};
    bool ok = rows_score(arena, &spec, &scores, &diag);
    printf("%s, %lld samples a task, %lld repairs\n", generator.name, (long long)a->samples,
           (long long)a->turns);
    for (uint32_t i = 0; i < scores.len; i++)
        print_score(&scores.at[i], a->samples);
    if (scores.len && scores.at[0].lost)
        printf("%u tasks could not be scored\n", scores.at[0].lost);
    if (generator.close)
        generator.close(generator.self);
    return ok ? CMD_OK : cmd_say(&diag, CMD_USAGE);
}
