/* No status that a candidate can choose leaves the denominator, and neither does silence: what is not
 * answered is a failure, and an answer that comes later takes its place. */
#include "loop/bench.h"

#include "loop/bench_table.h"
#include "tests/t.h"
#include <string.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir, *answers;
    BenchSuite suite;
    Store *store;
    BenchScores scores;
} Place;

static void open_place(Place *p)
{
    *p = (Place){0};
    p->diag = diag_make(&p->arena, "", STR(""));
    BenchPick pick = {.suite = "tests/bench/tasks", .home = "."};
    REQUIRE(bench_suite(&p->arena, &pick, &p->suite, &p->diag));
    REQUIRE(file_temp_dir(&p->arena, "acraft-missing", &p->dir, &p->diag));
    p->answers = path_join(&p->arena, p->dir, "answers.jsonl");
    p->store = store_open(path_join(&p->arena, p->dir, "r.db"), STORE_MAKE, &p->diag);
    REQUIRE(p->store && p->suite.tasks.len > 1);
}

static void close_place(Place *p)
{
    store_close(p->store);
    CHECK(file_remove_tree(p->dir, &p->diag));
    arena_drop(&p->arena);
}

static void run_answers(Place *p, const char *lines, bool answered_only, BenchDone *done)
{
    BenchAnswers answers;
    REQUIRE(file_write(p->answers, str_from(lines), &p->diag));
    REQUIRE(bench_answers(&p->arena, p->answers, &p->suite.tasks, &answers, &p->diag));
    BenchSpec spec = {.suite = &p->suite,
                      .generator = "answers",
                      .answers = &answers,
                      .answers_path = p->answers,
                      .answered_only = answered_only,
                      .samples = 1,
                      .label = "",
                      .version = "test",
                      .jobs = 1};
    spec.judge = (JudgeSpec){
        .chip = npu_chip_find(STR("910B2")), .tiny = true, .trust = true, .baseline_name = ""};
    REQUIRE(bench_run(p->store, &spec, done, &p->diag));
    CHECK(bench_scores(p->store, &p->arena, done->run, &p->scores, &p->diag));
}

#define PROSE(task) "{\"task\": \"" task "\", \"answer\": \"I cannot.\"}\n"

T_TEST(bench_missing_answers_are_failures)
{
    Place p;
    BenchDone done;
    open_place(&p);
    uint32_t tasks = p.suite.tasks.len;
    run_answers(&p, PROSE("square") PROSE("square"), false, &done);
    CHECK_EQ_INT(done.missing, 2 * (tasks - 1));
    CHECK_EQ_INT(p.scores.tasks.len, tasks);
    CHECK_EQ_INT(p.scores.samples, 2 * tasks);
    CHECK_EQ_INT(p.scores.statuses[VERDICT_NO_ANSWER], 2 * tasks);
    for (uint32_t i = 0; i < p.scores.tasks.len; i++)
        CHECK_EQ_INT(p.scores.tasks.at[i].samples - p.scores.tasks.at[i].unscored, 2);
    /* one more answer to the same task: the others miss one more, and nothing is there twice */
    run_answers(&p, PROSE("square") PROSE("square") PROSE("square"), false, &done);
    CHECK_EQ_INT(done.judged, 1);
    CHECK_EQ_INT(p.scores.samples, 3 * tasks);
    run_answers(&p, PROSE("square"), true, &done);
    CHECK_EQ_INT(done.missing, 0);
    close_place(&p);
}

/* An invented header of the vendor's and a call that we lack are `unsupported`, and count. */
T_TEST(bench_unsupported_answers_stay_in_the_denominator)
{
    Place p;
    BenchDone done;
    open_place(&p);
    run_answers(
        &p,
        "{\"task\": \"square\", \"answer\": \"```cpp\\n#include \\\"kernel_operator.h\\\"\\n"
        "#include \\\"lib/no_such_part.h\\\"\\nextern \\\"C\\\" __global__ __aicore__ void "
        "square(GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR t) {}\\n```\"}\n",
        true, &done);
    CHECK_EQ_INT(p.scores.statuses[VERDICT_UNSUPPORTED], 1);
    BenchGroups groups = bench_groups(&p.arena, &p.scores);
    ScoreOf of = bench_group_of(&vec_last(&groups), 1);
    CHECK(of.without_unscored);
    CHECK_EQ_INT(score_of_all(&of, SCORE_PASS).tasks, 1);
    CHECK_NEAR(score_of_all(&of, SCORE_PASS).share, 0, 0);
    close_place(&p);
}
