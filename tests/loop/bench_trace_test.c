/* The picture of an attempt's first case: cut to what is worth keeping, and found in the store. */
#include "loop/bench.h"
#include "loop/bench_judge_int.h"
#include "tests/t.h"
#include <jansson.h>

static void make_picture(Buf *picture, uint32_t instructions)
{
    buf_puts(picture, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    buf_puts(picture,
             "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"c\"}}");
    for (uint32_t i = 0; i < instructions; i++)
        buf_printf(picture,
                   ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":1,\"ts\":%u,\"dur\":1,\"name\":\"Add\"}"
                   ",\n{\"ph\":\"s\",\"id\":%u,\"cat\":\"flag\"}",
                   i, i);
    buf_puts(picture, "\n],\"otherData\":{\"chip\":\"910B2\"}}\n");
}

static void check_trace(uint32_t instructions, size_t want, json_int_t left_out)
{
    Arena arena = {0};
    Buf picture = {0};
    make_picture(&picture, instructions);
    Str trace = judge_trace(&arena, &picture);
    json_t *root = json_loadb(trace.at, trace.len, 0, NULL);
    CHECK_EQ_INT(json_array_size(json_object_get(root, "traceEvents")), want);
    CHECK_EQ_INT(json_integer_value(json_object_get(root, "left_out")), left_out);
    json_decref(root);
    buf_free(&picture);
    arena_drop(&arena);
}

T_TEST(bench_trace_is_cut)
{
    Arena arena = {0};
    Buf none = {0};
    check_trace(3, 4, 0);
    check_trace(8000, 8001, 0);
    check_trace(9001, 8001, 1001);
    CHECK_EQ_INT(judge_trace(&arena, &none).len, 0);
    arena_drop(&arena);
}

static void run(Arena *arena, Store *store, const char *answers, BenchDone *done, Diag *diag)
{
    BenchSuite suite;
    BenchAnswers found;
    BenchPick pick = {.suite = "tests/bench/tasks", .home = "."};
    REQUIRE(bench_suite(arena, &pick, &suite, diag));
    REQUIRE(bench_answers(arena, answers, &suite.tasks, &found, diag));
    BenchSpec spec = {.suite = &suite,
                      .generator = "answers",
                      .answers = &found,
                      .answers_path = answers,
                      .answered_only = true,
                      .samples = 1,
                      .label = "",
                      .version = "test",
                      .jobs = 1};
    spec.judge = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                             .tiny = true,
                             .trace = true,
                             .trust = true,
                             .baseline_name = ""};
    REQUIRE(bench_run(store, &spec, done, diag));
}

T_TEST(bench_keeps_the_first_case_as_a_picture)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    BenchDone done;
    const char *dir;
    Str trace;
    StoreAttempt a;
    REQUIRE(file_temp_dir(&arena, "acraft-trace", &dir, &diag));
    Store *store = store_open(path_join(&arena, dir, "t.db"), STORE_MAKE, &diag);
    REQUIRE(store);
    run(&arena, store, "tests/bench/square.craft", &done, &diag);
    StoreFilter filter = {.run = done.run, .with_cases = true};
    StoreRows *rows = store_attempts(store, &filter, &diag);
    REQUIRE(rows && store_next(rows, &arena, &a));
    CHECK_EQ_STR(verdict_status_row(a.status)->text, "ok");
    REQUIRE(a.cases.len >= 2);
    CHECK_EQ_STR(a.cases.at[1].name, "again");
    CHECK_EQ_STR(a.cases.at[1].trace, "");
    REQUIRE(store_blob_get(store, &arena, a.cases.at[0].trace, &trace, &diag));
    CHECK(str_find(trace, STR("\"MTE2\"")) > 0 && str_find(trace, STR("\"name\":\"Mul\"")) > 0);
    store_done(rows);
    store_close(store);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}
