/* acraft bench: a whole suite, resumable, with a table at the end. */
#include "cmd/cmd.h"

#include "cmd/generator.h"
#include "cmd/names.h"
#include "cmd/platform.h"
#include "cmd/progress.h"
#include "loop/bench.h"
#include "loop/bench_platform.h"
#include "loop/bench_pool.h"
#include "loop/bench_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_K = 8 };

typedef struct BenchArgs {
    GenOptions gen;
    NameList categories, levels, names;
    const char *suite_dir, *answers, *store, *label, *rule, *baseline, *ks, *form, *platform,
        *scale;
    int64_t samples, jobs, fuzz, listed;
    double seconds, budget;
    bool failed, fresh, answered, strict, trust, own_sizes, no_time, no_trace;
} BenchArgs;

/* ---- progress ---- */

static void print_json_attempt(const StoreAttempt *a)
{
    Buf out = {0};
    buf_puts(&out, "{\"task\": ");
    buf_json_str(&out, str_from(a->task_name));
    buf_printf(&out, ", \"sample\": %u, \"turn\": %u, \"status\": \"%s\", \"reason\": ", a->sample,
               a->turn, verdict_status_row(a->status)->text);
    buf_json_str(&out, str_from(a->reason));
    buf_puts(&out, ", \"cases\": [");
    for (uint32_t i = 0; i < a->cases.len; i++)
        buf_printf(&out, "%s%s", i ? ", " : "", a->cases.at[i].verdict);
    buf_puts(&out, "]}");
    puts(out.at);
    fflush(stdout);
    buf_free(&out);
}

static void show_progress(void *context, const StoreAttempt *a, uint32_t done, uint32_t all)
{
    const CmdArgs *args = context;
    if (args->json)
        print_json_attempt(a);
    else
        progress_step("judging", done, all);
}

/* ---- the options ---- */

static bool read_ks(const char *text, uint32_t *ks)
{
    Str rest = str_from(text), one;
    uint32_t n = 0;
    while (str_next(&rest, ',', &one)) {
        int64_t k;
        if (n == MOST_K || !str_to_i64(one, &k) || k < 1 || k > 100000 ||
            (n && k <= (int64_t)ks[n - 1])) {
            fprintf(stderr, "acraft bench: '%s' are no ascending numbers like 1,5,10\n", text);
            return false;
        }
        ks[n++] = (uint32_t)k;
    }
    ks[n] = 0;
    return n > 0;
}

static bool read_judge(Arena *arena, const CmdArgs *args, const BenchArgs *given, JudgeSpec *judge,
                       TorchEagerTable *baseline, Diag *diag)
{
    const char *home = cmd_home(arena);
    *judge = (JudgeSpec){.chip = npu_chip_find(str_from(args->chip)),
                         .seed = (uint64_t)args->seed,
                         .fuzz = (uint32_t)given->fuzz,
                         .listed = (uint32_t)given->listed,
                         .own_sizes = given->own_sizes,
                         .time = !given->no_time,
                         .trace = !given->no_trace,
                         .strict = given->strict,
                         .trust = given->trust};
    if (!judge->chip)
        fprintf(stderr, "acraft bench: no chip is called '%s'\n", args->chip);
    else if (!compare_rule_from_name(str_from(given->rule), &judge->rule))
        fprintf(stderr, "acraft bench: no rule is called '%s'; there are %s\n", given->rule,
                names_of_rules(arena));
    else if (!eval_form_from_text(str_from(given->form), &judge->form))
        fprintf(stderr, "acraft bench: no form is called '%s'; there are %s\n", given->form,
                names_of_forms(arena));
    else {
        const char *path = given->baseline ? given->baseline
                           : home          ? path_join(arena, home, "tasks/kernelbench.tsv")
                                           : NULL;
        bool none = !path || (!given->baseline && !file_exists(path));
        judge->baseline = none ? NULL : baseline;
        judge->baseline_name = none ? "" : path;
        return none || torch_eager_read(arena, path, baseline, diag);
    }
    return false;
}

static bool numbers_are_sane(const BenchArgs *given)
{
    if (given->samples >= 1 && given->samples <= 100000 && given->jobs >= 0 &&
        given->jobs <= 1024 && given->fuzz >= 0 && given->fuzz <= 1000 && given->listed >= 0 &&
        given->listed <= 100000 && given->seconds >= 0 && given->budget >= 0)
        return true;
    fprintf(stderr, "acraft bench: -n, -j, --fuzz, --listed, --timeout and --budget are counts\n");
    return false;
}

/* ---- the end ---- */

/* What a server, the network or this machine did to samples is not in the table. */
static int say_refused(const BenchDone *done, bool asked)
{
    if (!done->refused)
        return CMD_OK;
    fprintf(stderr, "acraft bench: %u samples could not be judged%s: %s\n", done->refused,
            done->gave_up ? ", the rest was not tried" : "", done->why);
    if (asked)
        fprintf(stderr, "  --url, --model and the key (--key-env, --key-file, --profiles) say who "
                        "is asked\n");
    fprintf(stderr, "  they are not stored: the same command judges them again\n");
    return CMD_LACKS;
}

/* Answers given as texts may have their sizes written in; then other sizes say nothing about them. */
static void hint_own_sizes(const BenchArgs *given, const BenchScores *scores)
{
    static const VerdictStatus kinds[] = {VERDICT_HAZARD, VERDICT_WRONG, VERDICT_BAD_TILING,
                                          VERDICT_CRASHED};
    uint32_t failed = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        failed += scores->statuses[kinds[i]];
    if (failed && given->answers && !given->own_sizes)
        printf("%u failed at run time. Answers are run at small and odd sizes, too; where theirs "
               "are written in as numbers, give --own-sizes\n",
               failed);
}

static int print_end(Arena *arena, const BenchArgs *given, Store *store, const BenchDone *done,
                     const uint32_t *ks, bool json, bool asked, Diag *diag)
{
    BenchScores scores;
    if (done->refused && done->kept + done->judged == 0)
        return say_refused(done, asked);
    if (!bench_scores(store, arena, done->run, &scores, diag))
        return cmd_say(diag, CMD_LACKS);
    Buf out = {0};
    if (json)
        bench_table_json(arena, &scores, ks, &out);
    else
        bench_table_text(arena, &scores, ks, &out);
    puts(out.at);
    buf_free(&out);
    if (!json) {
        printf("%u of %u samples judged now in %.1f s", done->judged, done->all, done->seconds);
        if (done->judged)
            printf(" (%.0f a minute; largest process %.0f MiB)", 60 * done->judged / done->seconds,
                   (double)done->peak_bytes / (1 << 20));
        printf("; %u were in the store already\n", done->kept);
        if (done->missing)
            printf("%u samples have no answer and are failures; --answered leaves them out\n",
                   done->missing);
        hint_own_sizes(given, &scores);
        if (done->other_rules)
            printf("an earlier run of this suite was judged by other rules: this is a new run\n");
        if (done->out_of_time)
            printf("stopped by --budget: the same command goes on from here\n");
    }
    if (done->internal)
        fprintf(stderr,
                "acraft bench: %u samples failed in acraft itself, twice; they are stored as "
                "`internal` and count as failures\n",
                done->internal);
    int status = say_refused(done, asked);
    return status == CMD_OK && done->internal ? CMD_LACKS : status;
}

/* *run: the run's number in the store, for who wants its scores; NULL: nobody. */
static int bench(Arena *arena, const CmdArgs *args, const BenchArgs *given, BenchSpec *spec,
                 const uint32_t *ks, int64_t *run)
{
    Diag diag = diag_make(arena, args->words[0], STR(""));
    BenchDone done;
    spec->progress = show_progress;
    spec->context = (void *)(uintptr_t)args;
    Store *store = store_open(given->store, STORE_MAKE, &diag);
    if (!store)
        return cmd_say(&diag, CMD_LACKS);
    if (!args->json)
        progress_begin("reading the suite");
    bool ok = bench_run(store, spec, &done, &diag);
    progress_end();
    int status = ok ? print_end(arena, given, store, &done, ks, args->json, spec->model != NULL,
                                &diag)
                    : cmd_say(&diag, CMD_LACKS);
    if (!ok && done.judged + done.kept)
        fprintf(stderr, "acraft bench: %u of %u samples are in '%s'\n", done.judged + done.kept,
                done.all, given->store);
    store_close(store);
    if (run)
        *run = ok ? done.run : 0;
    return status;
}

/* Conversations wait for the server most of the time: more of them than processors. */
static int bench_with_model(Arena *arena, const CmdArgs *args, const BenchArgs *given,
                            BenchSpec *spec, const uint32_t *ks)
{
    Diag diag = diag_make(arena, args->words[0], STR(""));
    GenOptions options = given->gen;
    Generator generator;
    Client *client = NULL;
    BenchModel model = {.generator = &generator,
                        .home = cmd_home(arena),
                        .clone = options.clone,
                        .turns = gen_turns(&options),
                        .settings = gen_settings(arena, &options)};
    if (!options.record)
        options.record = str_format(arena, "%s.talk.jsonl", given->store);
    if (!gen_strategy(&options, &model.strategy))
        return CMD_USAGE;
    if (!gen_open(arena, &options, args->chip, &generator, &client, &diag))
        return cmd_say(&diag, CMD_USAGE);
    spec->model = &model;
    spec->generator = generator.name;
    spec->judge.no_proofs = options.no_checker;
    if (model.strategy == PROMPT_ASCENDC) {
        spec->judge.fuzz = spec->judge.listed = 0;
        spec->judge.time = false;
    }
    if (!spec->jobs)
        spec->jobs = client ? client_parallel(client) : pool_processors();
    int status = bench(arena, args, given, spec, ks, NULL);
    gen_print_totals(client);
    client_close(client);
    return status;
}

static bool is_all(const BenchArgs *given)
{
    return given->platform && !strcmp(given->platform, "all");
}

static void take_platform(BenchSpec *spec, const Platform *platform)
{
    spec->platform = platform;
    spec->judge.baseline = NULL;
    spec->judge.baseline_name = "";
    if (spec->judge.time && !platform->not_measured)
        spec->jobs = 1;
}

/* --platform: its own planner writes what this machine runs, one after the other where they are timed. */
static bool read_platform(Arena *arena, const BenchArgs *given, BenchSpec *spec)
{
    const Platform *platform = NULL;
    if (given->scale && !torch_scale_from_name(str_from(given->scale), &spec->scale)) {
        fprintf(stderr, "acraft bench: --scale takes full, medium, small, tiny or fuzz, not %s\n",
                given->scale);
        return false;
    }
    if (!platform_is_other(given->platform)) {
        if (given->scale)
            fprintf(stderr, "acraft bench: --scale goes with --platform cpu or pallas\n");
        return !given->scale;
    }
    if (given->answers || !gen_is_plan(&given->gen)) {
        fprintf(stderr,
                "acraft bench: --platform %s judges what acraft plans for it: neither "
                "--answers nor --gen go with it\n",
                given->platform);
        return false;
    }
    if (is_all(given))
        return true;
    platform = platform_named(given->platform);
    if (!platform || !platform_can_run(arena, platform, "bench"))
        return false;
    take_platform(spec, platform);
    return true;
}

/* Runs the suite on every platform that this machine has, one after the other, and prints a
 * table of each, then all together. */
static int bench_all(Arena *arena, const CmdArgs *args, const BenchArgs *given,
                     const BenchSpec *all, const uint32_t *ks)
{
    BenchPlace *places = arena_array(arena, BenchPlace, platform_count);
    Diag diag = diag_make(arena, args->words[0], STR(""));
    int status = CMD_OK;
    for (uint32_t i = 0; i < platform_count; i++) {
        const Platform *platform = &platforms[i];
        BenchSpec spec = *all;
        int64_t run = 0;
        bool other = platform_is_other(platform->name);
        places[i].platform = platform->name;
        places[i].time = !other                   ? "predicted"
                         : platform->not_measured ? platform->not_measured
                                                  : "measured on this machine";
        places[i].missing =
            "nothing of it runs on this machine; acraft doctor says what is missing";
        if (other && !platform_runs(arena, platform))
            continue;
        if (other)
            take_platform(&spec, platform);
        int own = bench(arena, args, given, &spec, ks, &run);
        status = own > status ? own : status;
        places[i].missing = "its run did not end";
        Store *store = run ? store_open(given->store, STORE_READ, &diag) : NULL;
        BenchScores *scores = arena_new(arena, BenchScores);
        if (store && bench_scores(store, arena, run, scores, &diag))
            places[i].scores = scores;
        store_close(store);
    }
    Buf out = {0};
    bench_leaderboard_text(places, platform_count, &out);
    fputs(args->json ? "" : out.at, stdout);
    buf_free(&out);
    return diag.errors ? cmd_say(&diag, CMD_LACKS) : status;
}

static int prepare(CmdArgs *args, const BenchArgs *given)
{
    Arena *arena = &args->arena;
    uint64_t descriptors;
    if (!pool_descriptors(&descriptors)) {
        fprintf(stderr, "acraft bench: %llu file descriptors are too few: ulimit -n 256\n",
                (unsigned long long)descriptors);
        return CMD_LACKS;
    }
    Diag diag = diag_make(arena, args->words[0], STR(""));
    BenchPick pick = {.suite = args->words[0],
                      .suite_dir = given->suite_dir,
                      .home = cmd_home(arena),
                      .categories = given->categories,
                      .levels = given->levels,
                      .names = given->names};
    TorchEagerTable baseline = {0};
    BenchSuite suite;
    BenchAnswers answers;
    uint32_t ks[MOST_K + 1];
    BenchSpec spec = {.suite = &suite,
                      .generator = given->answers ? "answers" : given->gen.gen,
                      .answers_path = given->answers ? given->answers : "",
                      .answered_only = given->answered,
                      .samples = (uint32_t)given->samples,
                      .label = given->label,
                      .version = ACRAFT_VERSION,
                      .fresh = given->fresh,
                      .failed = given->failed,
                      .jobs = (uint32_t)given->jobs,
                      .seconds = given->seconds,
                      .budget = given->budget};
    if (!numbers_are_sane(given) || !read_ks(given->ks, ks) ||
        !read_judge(arena, args, given, &spec.judge, &baseline, &diag) ||
        !read_platform(arena, given, &spec))
        return cmd_say(&diag, CMD_USAGE);
    if (!bench_suite(arena, &pick, &suite, &diag))
        return cmd_say(&diag, CMD_USAGE);
    if (given->answers && !bench_answers(arena, given->answers, &suite.tasks, &answers, &diag))
        return cmd_say(&diag, CMD_USAGE);
    spec.answers = given->answers ? &answers : NULL;
    if (given->answers && answers.unknown)
        fprintf(stderr, "acraft bench: %u files or lines of '%s' answer no task of the suite\n",
                answers.unknown, given->answers);
    if (given->answers && answers.damaged)
        fprintf(stderr, "acraft bench: %u files of '%s' are damaged: answers that cannot be read\n",
                answers.damaged, given->answers);
    if (is_all(given))
        return bench_all(arena, args, given, &spec, ks);
    if (given->answers || gen_is_plan(&given->gen))
        return bench(arena, args, given, &spec, ks, NULL);
    return bench_with_model(arena, args, given, &spec, ks);
}

int cmd_bench(int argc, char **argv)
{
    BenchArgs a = {.gen = gen_options(),
                   .store = "acraft.db",
                   .label = "",
                   .rule = "acraft",
                   .ks = "1",
                   .form = "any",
                   .samples = 1,
                   .fuzz = 2,
                   .listed = 8,
                   .seconds = 600};
    const CmdOption options[] = {
        {"n", CMD_I64, &a.samples, "N", "samples of each task (1)"},
        {"k", CMD_TEXT, &a.ks, "LIST", "the k of Pass@k: 1,5,10"},
        {"answers", CMD_TEXT, &a.answers, "PATH", "judge these answers instead of generating"},
        {"answered", CMD_FLAG, &a.answered, NULL, "leave out tasks without an answer"},
        {"platform", CMD_TEXT, &a.platform, "NAME",
         "ascend; cpu and pallas run on this machine, cpu is timed; all: a leaderboard (ascend)"},
        {"scale", CMD_TEXT, &a.scale, "S", "with --platform: sizes of the case full (full)"},
        {"form", CMD_TEXT, &a.form, "FORM", "form of the answers (any)"},
        {"suite-dir", CMD_TEXT, &a.suite_dir, "DIR", "your clone of the benchmark"},
        {"category", CMD_LIST, &a.categories, "C", "only this category; may be given again"},
        {"level", CMD_LIST, &a.levels, "L", "only this level"},
        {"name", CMD_LIST, &a.names, "GLOB", "only tasks of such a name"},
        {"failed", CMD_FLAG, &a.failed, NULL, "only what was not ok in the last run"},
        {"fresh", CMD_FLAG, &a.fresh, NULL, "begin a new run though this one is in the store"},
        {"j", CMD_I64, &a.jobs, "N", "processes at once (one for each processor)"},
        {"store", CMD_TEXT, &a.store, "FILE", "where results are kept (acraft.db)"},
        {"label", CMD_TEXT, &a.label, "TEXT", "a name for the run"},
        {"timeout", CMD_F64, &a.seconds, "S", "longest judging of one sample (600)"},
        {"budget", CMD_F64, &a.budget, "S", "start nothing more after so many seconds"},
        {"rule", CMD_TEXT, &a.rule, "RULE", "tolerance: acraft, mkb, npukb ..."},
        {"fuzz", CMD_I64, &a.fuzz, "N", "cases of odd sizes (2)"},
        {"listed", CMD_I64, &a.listed, "N", "most cases of those a suite lists (8)"},
        {"own-sizes", CMD_FLAG, &a.own_sizes, NULL, "values at the task's own sizes only"},
        {"no-time", CMD_FLAG, &a.no_time, NULL, "predict no time at full size"},
        {"no-trace", CMD_FLAG, &a.no_trace, NULL, "keep no picture of the first case's run"},
        {"baseline", CMD_TEXT, &a.baseline, "FILE", "measured times (tasks/kernelbench.tsv)"},
        {"strict", CMD_FLAG, &a.strict, NULL, "count only synchronisation that is written"},
        {"trust", CMD_FLAG, &a.trust, NULL, "run without a full sandbox"},
        GEN_OPTIONS(a.gen),
    };
    CmdUsage usage = {
        "bench",
        "SUITE|DIR [--gen WHO] [-n N] [--answers PATH]",
        "Judges every task of a suite (ascendcraft, multikernelbench, npukernelbench, "
        "or the\nmodel files below a directory) and keeps each attempt as it ends; the "
        "same command\ntakes an interrupted run up again. Prints a table of scores.",
        "acraft bench ascendcraft --name relu --store results.db",
        options,
        sizeof options / sizeof *options,
        1,
        1};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status))
        status = prepare(&args, &a);
    cmd_done(&args);
    return status;
}
