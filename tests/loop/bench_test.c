/* The bench over hand-made answers: each gets the verdict it deserves, as its own head says
 * ("want: STATUS|STATUS"; none: no-answer). And: whatever interrupts a bench, the same command
 * brings it to the same end. */
#include "loop/bench.h"

#include "base/rng.h"
#include "base/version.h"
#include "loop/bench_table.h"
#include "tests/t.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Trial {
    Arena arena;
    Diag diag;
    const char *dir, *path;
    BenchSuite suite;
    BenchAnswers answers;
    BenchSpec spec;
} Trial;

static void make_trial(Trial *t, const char *suite, const char *answers)
{
    *t = (Trial){0};
    t->diag = diag_make(&t->arena, "", STR(""));
    REQUIRE(file_temp_dir(&t->arena, "acraft-bench-test", &t->dir, &t->diag));
    t->path = path_join(&t->arena, t->dir, "results.db");
    BenchPick pick = {.suite = suite, .home = "."};
    REQUIRE(bench_suite(&t->arena, &pick, &t->suite, &t->diag));
    if (answers)
        REQUIRE(bench_answers(&t->arena, answers, &t->suite.tasks, &t->answers, &t->diag));
    t->spec = (BenchSpec){.suite = &t->suite,
                          .generator = answers ? "answers" : "plan",
                          .answers = answers ? &t->answers : NULL,
                          .answers_path = answers ? answers : "",
                          .samples = 1,
                          .answered_only = true,
                          .label = "",
                          .version = "test",
                          .jobs = 2};
    t->spec.judge = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                                .fuzz = 1,
                                .listed = 2,
                                .trace = true,
                                .baseline_name = "",
                                .trust = true};
}

static void drop_trial(Trial *t)
{
    CHECK(file_remove_tree(t->dir, &t->diag));
    arena_drop(&t->arena);
}

static bool run_bench(Trial *t, const char *path, BenchDone *done)
{
    Store *store = store_open(path, STORE_MAKE, &t->diag);
    bool ok = store && bench_run(store, &t->spec, done, &t->diag);
    store_close(store);
    return ok;
}

static const char *said(const Trial *t)
{
    return t->diag.items.len ? t->diag.items.at[0].text : "nothing";
}

/* ---- the verdict each deserves ---- */

static bool wants(Arena *arena, const char *path, const char *status)
{
    Diag diag = diag_make(arena, path, STR(""));
    Str text, line = STR("no-answer"), word;
    if (!file_read(arena, path, 0, &text, &diag))
        return false;
    ptrdiff_t at = str_find(text, STR("want: "));
    if (at >= 0) {
        Str rest = str_slice(text, (size_t)at + 6, text.len);
        str_next(&rest, '\n', &line);
    }
    while (str_next(&line, '|', &word))
        if (str_is(str_trim(word), status))
            return true;
    return false;
}

static uint32_t check_verdicts(Trial *t)
{
    Store *store = store_open(t->path, STORE_READ, &t->diag);
    StoreFilter all = {0};
    StoreRows *rows = store ? store_attempts(store, &all, &t->diag) : NULL;
    StoreAttempt a;
    uint32_t n = 0;
    for (; rows && store_next(rows, &t->arena, &a); n++) {
        const char *status = verdict_status_row(a.status)->text;
        CHECK_MSG(wants(&t->arena, a.provenance, status), "%s: %s: %s", a.provenance, status,
                  a.reason);
    }
    store_done(rows);
    store_close(store);
    return n;
}

static void judge_group(const char *suite, const char *answers, uint32_t least, bool own_sizes)
{
    Trial t;
    BenchDone done;
    make_trial(&t, suite, answers);
    t.spec.judge.own_sizes = own_sizes;
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    uint32_t n = check_verdicts(&t);
    CHECK_MSG(n >= least && n == t.answers.at.len, "%u answers were judged", n);
    drop_trial(&t);
}

#define ANSWERS "tests/bench/answers/"

T_TEST(bench_right_answers) { judge_group("multikernelbench", ANSWERS "right", 11, false); }
T_TEST(bench_wrong_answers) { judge_group("multikernelbench", ANSWERS "wrong", 14, false); }
T_TEST(bench_degenerate_answers)
{
    judge_group("multikernelbench", ANSWERS "degenerate", 25, false);
}
T_TEST(bench_malicious_answers)
{
    judge_group("tests/bench/tasks", ANSWERS "malicious", 19, true);
    CHECK(!file_exists("/tmp/acraft-was-here"));
}

/* Slow is right, and seen to be slow: below a fifth of what the right kernel reaches. */
static double best_time(Trial *t, const char *answers)
{
    BenchDone done;
    double least = (double)INFINITY;
    t->spec.answers_path = answers;
    REQUIRE(bench_answers(&t->arena, answers, &t->suite.tasks, &t->answers, &t->diag));
    CHECK_MSG(run_bench(t, t->path, &done), "%s", said(t));
    Store *store = store_open(t->path, STORE_READ, &t->diag);
    StoreFilter of = {.run = done.run};
    StoreRows *rows = store_attempts(store, &of, &t->diag);
    StoreAttempt a;
    while (store_next(rows, &t->arena, &a)) {
        CHECK_MSG(a.status == VERDICT_OK, "%s: %s", a.task_name, a.reason);
        least = fmin(least, a.predicted_us);
    }
    store_done(rows);
    store_close(store);
    return least;
}

T_TEST(bench_slow_answers)
{
    static const TorchSet sizes[] = {{"ROWS", 64}, {"COLS", 65536}};
    TorchEager row = {
        .problem = "", .task = "activation/relu", .sets = sizes, .n_sets = 2, .us = 1};
    TorchEagerTable table = {.at = &row, .len = 1};
    Trial t;
    make_trial(&t, "tasks/activation/relu.py", NULL);
    t.spec.judge.time = true;
    t.spec.judge.fuzz = 0;
    t.spec.judge.baseline = &table;
    t.spec.answers = &t.answers;
    double right = best_time(&t, ANSWERS "right"), slow = best_time(&t, ANSWERS "slow");
    CHECK_MSG(slow > 2.5 * right, "the right kernel needs %g us, the slow ones %g", right, slow);
    drop_trial(&t);
}

/* ---- the same end whatever happens ---- */

/* Many answers that are judged in no time, a few that run. */
static const char *write_answers(Trial *t)
{
    Buf lines = {0};
    Str square;
    REQUIRE(file_read(&t->arena, "tests/bench/square.craft", 0, &square, &t->diag));
    for (int i = 0; i < 40; i++) {
        buf_printf(&lines,
                   "{\"task\": \"%s\", \"sample\": %d, \"answer\": ", i % 2 ? "square" : "negate",
                   i);
        Buf text = {0};
        if (i % 20 == 1)
            buf_str(&text, square);
        else
            buf_printf(&text, "craft = 1\nx = %d %s", i, i % 3 ? "" : "oops(");
        buf_json_str(&lines, buf_view(&text));
        buf_puts(&lines, "}\n");
        buf_free(&text);
    }
    const char *path = path_join(&t->arena, t->dir, "answers.jsonl");
    CHECK(file_write(path, buf_view(&lines), &t->diag));
    buf_free(&lines);
    return path;
}

/* Everything a store holds but its clocks, as text. */
static const char *without_clocks(Arena *arena, const char *verdict)
{
    const char *seconds = strstr(verdict, "\"seconds\"");
    return str_dup(arena,
                   seconds ? (Str){verdict, (size_t)(seconds - verdict)} : str_from(verdict));
}

static Str contents(Trial *t, const char *path)
{
    Buf out = {0};
    Store *store = store_open(path, STORE_WRITE, &t->diag);
    CHECK_MSG(store != NULL, "%s", said(t));
    StoreFilter all = {.with_cases = true, .with_texts = true};
    StoreRows *rows = store ? store_attempts(store, &all, &t->diag) : NULL;
    StoreAttempt a;
    while (rows && store_next(rows, &t->arena, &a)) {
        buf_printf(&out, "%s %u %s %s %s %s\n", a.task_name, a.sample,
                   verdict_status_row(a.status)->text, a.reason, a.source,
                   a.dialogue.diagnostics[0] ? "log" : "");
        for (uint32_t i = 0; i < a.cases.len; i++)
            buf_printf(&out, "  %s\n", without_clocks(&t->arena, a.cases.at[i].verdict));
        for (uint32_t i = 0; i < a.texts.len; i++) {
            Str text;
            CHECK(store_blob_get(store, &t->arena, a.texts.at[i].blob, &text, &t->diag));
            buf_printf(&out, "  %s %zu\n", a.texts.at[i].path, text.len);
        }
    }
    store_done(rows);
    store_close(store);
    Str all_text = out.at ? str_copy(&t->arena, buf_view(&out)) : STR("");
    buf_free(&out);
    return all_text;
}

static void make_answers_trial(Trial *t)
{
    make_trial(t, "tests/bench/tasks", NULL);
    const char *path = write_answers(t);
    REQUIRE(bench_answers(&t->arena, path, &t->suite.tasks, &t->answers, &t->diag));
    CHECK_EQ_INT(t->answers.at.len, 40);
    t->spec.generator = "answers";
    t->spec.answers = &t->answers;
    t->spec.judge.fuzz = 0;
}

/* Runs the bench in a child; kills it after a while. True when it had come to its end. */
static bool run_and_kill(Trial *t, const char *path, useconds_t after)
{
    pid_t child = fork();
    if (child == 0) {
        BenchDone done;
        _exit(run_bench(t, path, &done) ? 0 : 1);
    }
    usleep(after);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_MSG(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "the bench failed by itself");
    return WIFEXITED(status);
}

static void cut_log(Trial *t, const char *path, uint64_t round)
{
    const char *log = str_format(&t->arena, "%s-wal", path);
    int fd = open(log, O_RDWR);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    if (size > 0)
        CHECK(ftruncate(fd, (off_t)rng_range(9, 1, round, 0, size)) == 0);
    if (fd >= 0)
        close(fd);
}

static void survive(uint32_t kills, bool cut)
{
    Trial t;
    BenchDone done;
    make_answers_trial(&t);
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    CHECK_EQ_INT(done.judged, 40);
    Str whole = contents(&t, t.path);
    const char *path = path_join(&t.arena, t.dir, "killed.db");
    for (uint32_t i = 0; i < kills; i++) {
        run_and_kill(&t, path, (useconds_t)rng_range(3, 1, i, 1000, 400000));
        if (cut)
            cut_log(&t, path, i);
    }
    CHECK_MSG(run_bench(&t, path, &done), "%s", said(&t));
    Str killed = contents(&t, path);
    CHECK_EQ_SLICE(killed, str_dup(&t.arena, whole));
    CHECK_MSG(run_bench(&t, path, &done) && done.judged == 0 && done.kept == 40,
              "a finished run was judged again");
    drop_trial(&t);
}

/* `make soak` asks for more. */
static uint32_t kills(uint32_t few)
{
    const char *many = getenv("SOAK_KILLS");
    return many ? (uint32_t)strtoul(many, NULL, 10) : few;
}

T_TEST(bench_survives_kill) { survive(kills(4), false); }
T_TEST(bench_survives_kill_and_a_cut_log) { survive(kills(3), true); }

T_TEST(bench_says_when_the_disk_is_full)
{
    Trial t;
    BenchDone done;
    make_answers_trial(&t);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        Store *store = store_open(t.path, STORE_MAKE, &t.diag);
        struct rlimit limit = {400000, 400000};
        setrlimit(RLIMIT_FSIZE, &limit);
        bool ok = bench_run(store, &t.spec, &done, &t.diag);
        _exit(!ok && !strcmp(t.diag.items.at[0].code, "D002") && done.judged > 0 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the bench did not say it");
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    CHECK_MSG(done.kept > 0 && done.kept + done.judged == 40, "%u were kept", done.kept);
    drop_trial(&t);
}

/* ---- choosing ---- */

T_TEST(bench_suites_by_name)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    BenchSuite suite;
    BenchPick pick = {.suite = "ascendcraft", .home = "."};
    REQUIRE(bench_suite(&arena, &pick, &suite, &diag));
    CHECK_EQ_INT(suite.tasks.len, 52);
    CHECK_EQ_STR(suite.wording, "reworded");
    vec_push(&arena, &pick.names, "cum*");
    REQUIRE(bench_suite(&arena, &pick, &suite, &diag));
    CHECK_EQ_INT(suite.tasks.len, 4);
    CHECK_EQ_STR(suite.tasks.at[0].category, "math");
    vec_push(&arena, &pick.categories, "loss");
    CHECK(!bench_suite(&arena, &pick, &suite, &diag));
    pick = (BenchPick){.suite = "nosuch", .home = "."};
    CHECK(!bench_suite(&arena, &pick, &suite, &diag));
    arena_drop(&arena);
}

T_TEST(bench_goes_back_to_what_failed)
{
    Trial t;
    BenchDone done;
    make_answers_trial(&t);
    t.spec.failed = true;
    CHECK(!run_bench(&t, t.path, &done)); /* nothing to go back to */
    t.diag = diag_make(&t.arena, "", STR(""));
    t.spec.failed = false;
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    t.spec.failed = true;
    CHECK(run_bench(&t, t.path, &done));
    CHECK_EQ_INT(done.judged, 38);
    CHECK(run_bench(&t, t.path, &done));
    CHECK_EQ_INT(done.judged, 0);
    t.spec.failed = false;
    t.spec.fresh = true;
    t.spec.budget = 1e-9;
    CHECK(run_bench(&t, t.path, &done));
    CHECK(done.out_of_time && done.judged == 0);
    drop_trial(&t);
}

/* The newest run was judged by the version before: verdicts of both do not go into one run. */
static int64_t begin_older_run(const Trial *t, Arena *arena, Diag *diag)
{
    StoreRun run = {.suite = t->suite.name,
                    .generator = t->spec.generator,
                    .settings = str_format(arena, "{\"version\": \"test\", \"judge\": %d, }",
                                           JUDGE_VERSION - 1),
                    .label = ""};
    Store *store = store_open(t->path, STORE_MAKE, diag);
    REQUIRE(store && store_run_begin(store, &run, diag));
    store_close(store);
    return run.id;
}

T_TEST(bench_begins_anew_under_other_rules)
{
    Trial t;
    BenchDone done, again;
    make_answers_trial(&t);
    t.answers.at.len = 2;
    int64_t older = begin_older_run(&t, &t.arena, &t.diag);
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    CHECK(done.other_rules && done.run != older);
    CHECK(done.judged == 2 && done.kept == 0);
    CHECK_MSG(run_bench(&t, t.path, &again), "%s", said(&t));
    CHECK(!again.other_rules && again.run == done.run);
    CHECK(again.judged == 0 && again.kept == 2);
    drop_trial(&t);
}

T_TEST(bench_scores_of_a_run)
{
    Trial t;
    BenchDone done;
    BenchScores scores;
    make_answers_trial(&t);
    CHECK_MSG(run_bench(&t, t.path, &done), "%s", said(&t));
    Store *store = store_open(t.path, STORE_READ, &t.diag);
    REQUIRE(bench_scores(store, &t.arena, done.run, &scores, &t.diag));
    CHECK_EQ_INT(scores.tasks.len, 2);
    CHECK_EQ_INT(scores.samples, 40);
    CHECK_EQ_INT(scores.statuses[VERDICT_OK], 2);
    ScoreOf of = {scores.tasks.at, scores.tasks.len, 1, false};
    CHECK_NEAR(score_of_all(&of, SCORE_PASS).share, 0.05, 1e-12);
    Buf text = {0}, json = {0};
    const uint32_t ks[] = {1, 5, 0};
    bench_table_text(&t.arena, &scores, ks, &text);
    bench_table_json(&t.arena, &scores, ks, &json);
    CHECK(strstr(text.at, "Pass@5") && strstr(text.at, "without unscored"));
    CHECK(strstr(text.at, "base.: tasks that have a measured baseline"));
    CHECK(strstr(json.at, "\"of_correct\"") && strstr(json.at, "\"settings\": {"));
    buf_clear(&json);
    scores.run.settings =
        "{\"fuzz\": 1}, \"statuses\": 3"; /* of a store that somebody wrote into */
    bench_table_json(&t.arena, &scores, ks, &json);
    CHECK(strstr(json.at, "\"settings\": null,"));
    buf_free(&text);
    buf_free(&json);
    store_close(store);
    drop_trial(&t);
}
