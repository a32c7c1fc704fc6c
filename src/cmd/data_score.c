/* acraft data score: how many answers of a generator to held-out rows are right. */
#include "cmd/data.h"

#include "gen/local/local.h"
#include <stdio.h>
#include <string.h>

/* The generator of a name, as the options say. */
static bool open_generator(Arena *arena, const CmdArgs *args, const ScoreArgs *a, const char *who,
                           Generator *g, Diag *diag)
{
    LocalDecode decode = a->no_mask ? LOCAL_FREE : LOCAL_AGAIN;
    if (a->decode && !local_decode_find(a->decode, &decode)) {
        fprintf(stderr, "acraft data score: --decode is free, mask, lines or again\n");
        return false;
    }
    const NpuChip *chip = npu_chip_find(str_from(args->chip));
    BaselineSpec baseline = {a->from, a->tokenizer, (uint64_t)args->seed, decode, chip};
    LocalSpec local = {.weights = a->weights,
                       .tokenizer = a->tokenizer,
                       .temperature = a->temperature,
                       .decode = decode,
                       .chip = chip,
                       .threads = 1,
                       .seed = (uint64_t)args->seed,
                       .untrained = !strcmp(who, "untrained")};
    bool ngram = !strcmp(who, "5-gram"), nearest = !strcmp(who, "nearest");
    bool file = !strcmp(who, "file");
    if (ngram || nearest || file) {
        if (!a->from || (ngram && !a->tokenizer)) {
            fprintf(stderr, "acraft data score: --gen %s needs --from ROWS%s\n", who,
                    ngram ? " and --tokenizer FILE" : "");
            return false;
        }
        return ngram  ? ngram_open(arena, &baseline, g, diag)
               : file ? samples_open(arena, &baseline, g, diag)
                      : nearest_open(arena, &baseline, g, diag);
    }
    if (strcmp(who, "local") && !local.untrained) {
        fprintf(stderr, "acraft data score: --gen is local, untrained, file, 5-gram or nearest, or "
                        "several of them with commas\n");
        return false;
    }
    if (!a->weights) {
        fprintf(stderr, "acraft data score: --gen %s needs --weights FILE\n", who);
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

/* The mean over families of their shares of right samples, each family as much. */
static void print_macro(const RowsScores *scores)
{
    double sum = 0;
    uint32_t families = 0;
    for (uint32_t i = 0; i < scores->len; i++) {
        const RowsScore *s = &scores->at[i];
        bool length = strstr(s->family, "operators") || !strcmp(s->family, "7 and more");
        if (!s->family[0] || length || !s->tasks)
            continue;
        sum += s->at_one / s->tasks;
        families++;
    }
    if (families)
        printf("%-14s %5u families  right at 1: %5.1f %%\n", "mean", families,
               100 * sum / families);
}

static int score_one(CmdArgs *args, const ScoreArgs *a, int64_t jobs, const char *who)
{
    Arena *arena = &args->arena;
    Diag diag = diag_make(arena, args->words[1], STR(""));
    Generator generator = {0};
    RowsScores scores = {0};
    if (!open_generator(arena, args, a, who, &generator, &diag))
        return cmd_say(&diag, CMD_USAGE);
    bool several = strchr(a->gen, ',') != NULL;
    RowsScoreSpec spec = {.chip = npu_chip_find(str_from(args->chip)),
                          .rows = args->words[1],
                          .generator = &generator,
                          .tasks = (uint32_t)a->tasks,
                          .samples = (uint32_t)a->samples,
                          .turns = (uint32_t)a->turns,
                          .jobs = (uint32_t)jobs,
                          .seconds = a->limit,
                          .keep = a->keep && several ? str_format(arena, "%s.%s", a->keep, who)
                                                     : a->keep};
    bool ok = rows_score(arena, &spec, &scores, &diag);
    printf("%s, %lld samples a task, %lld repairs\n", generator.name, (long long)a->samples,
           (long long)a->turns);
    for (uint32_t i = 0; i < scores.len; i++)
        print_score(&scores.at[i], a->samples);
    print_macro(&scores);
    if (scores.len && scores.at[0].late)
        printf("%u tasks ran out of time and count as not right\n", scores.at[0].late);
    if (scores.len && scores.at[0].lost)
        printf("%u tasks could not be scored\n", scores.at[0].lost);
    fflush(stdout);
    if (generator.close)
        generator.close(generator.self);
    return ok ? CMD_OK : cmd_say(&diag, CMD_USAGE);
}

int data_score(CmdArgs *args, const ScoreArgs *a, int64_t jobs)
{
    const NpuChip *chip = npu_chip_find(str_from(args->chip));
    Str rest = str_from(a->gen), who;
    int status = CMD_OK;
    if (a->samples < 1 || a->samples > 1000 || a->tasks < 1 || a->tasks > 1000000 || a->turns < 0 ||
        a->turns > 100 || !(a->temperature >= 0) || !(a->limit >= 0) || !chip || !chip->simulated) {
        fprintf(stderr, "acraft data score: -n, --most, --turns, --temperature, --limit or --chip "
                        "is out of range\n");
        return CMD_USAGE;
    }
    while (status == CMD_OK && str_next(&rest, ',', &who))
        status = score_one(args, a, jobs, str_dup(&args->arena, who));
    return status;
}
