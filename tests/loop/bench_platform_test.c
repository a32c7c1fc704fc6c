/* The bench on another platform: kernels that this machine compiles and runs, with times that it measured. */
#include "loop/bench.h"

#include "loop/bench_platform.h"
#include "loop/bench_table.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

static const char three[] = "import torch\nimport torch.nn as nn\n\nN = 512\n\n"
                            "class Model(nn.Module):\n    def forward(self, x):\n"
                            "        return %s\n\ndef get_inputs():\n"
                            "    return [torch.randn(8, N)]\n";

static void put_task(Arena *arena, const char *dir, const char *name, const char *what, Diag *diag)
{
    const char *path = path_join(arena, dir, str_format(arena, "%s.py", name));
    REQUIRE(file_write(path, str_from(str_format(arena, three, what)), diag));
}

T_TEST(bench_measures_on_this_machine)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    BenchSuite suite;
    BenchDone done;
    REQUIRE(file_temp_dir(&arena, "acraft-bench-test", &dir, &diag));
    const char *tasks = path_join(&arena, dir, "tasks");
    REQUIRE(file_make_dirs(tasks, &diag));
    put_task(&arena, tasks, "gelu", "torch.nn.functional.gelu(x) * 2", &diag);
    put_task(&arena, tasks, "sums", "torch.softmax(x, 1).cumsum(1)", &diag);
    put_task(&arena, tasks, "sorted", "torch.sort(x, 1)[0]", &diag);
    BenchPick pick = {.suite = tasks, .home = "."};
    REQUIRE(bench_suite(&arena, &pick, &suite, &diag));
    BenchSpec spec = {.suite = &suite,
                      .generator = "plan",
                      .answers_path = "",
                      .samples = 1,
                      .label = "",
                      .version = "test",
                      .jobs = 1,
                      .platform = platform_find(STR("cpu"))};
    spec.judge = (JudgeSpec){
        .chip = npu_chip_find(STR("910B2")), .fuzz = 1, .time = true, .baseline_name = ""};
    Store *store = store_open(path_join(&arena, dir, "r.db"), STORE_MAKE, &diag);
    REQUIRE(store && bench_run(store, &spec, &done, &diag));
    StoreFilter filter = {.run = done.run, .with_cases = true};
    StoreRows *rows = store_attempts(store, &filter, &diag);
    StoreAttempt a;
    uint32_t n = 0;
    while (rows && store_next(rows, &arena, &a)) {
        bool sorts = strcmp(a.task_name, "sorted") == 0;
        CHECK_EQ_INT(a.status, sorts ? VERDICT_UNSUPPORTED : VERDICT_OK);
        CHECK_EQ_INT(a.cases.len, sorts ? 0 : 3);
        CHECK_EQ_INT(a.measured_us > 0 && a.copy_us > 0, !sorts);
        CHECK(isnan(a.predicted_us));
        CHECK_MSG(!sorts || strstr(a.reason, "sort"), "%s", a.reason);
        n++;
    }
    store_done(rows);
    CHECK_EQ_INT(n, 3);
    BenchScores scores;
    Buf text = {0};
    REQUIRE(bench_scores(store, &arena, done.run, &scores, &diag));
    bench_table_text(&arena, &scores, (const uint32_t[]){1, 0}, &text);
    CHECK_EQ_STR(scores.platform, "cpu");
    CHECK_MSG(strstr(text.at, "of a copy's speed") && !strstr(text.at, "Fast"), "%s", text.at);
    text.len = 0;
    BenchPlace places[] = {{"cuda", NULL, "no GPU", ""}, {"cpu", &scores, NULL, "measured here"}};
    bench_leaderboard_text(places, 2, &text);
    CHECK_MSG(strstr(text.at, "no GPU") && strstr(text.at, "66.7  measured here"), "%s", text.at);
    buf_free(&text);
    store_close(store);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

/* A kernel that somebody edited is judged as it stands; a wrong one is wrong, one that does not compile says so. */
T_TEST(edited_kernels_are_judged_as_they_stand)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "gelu.py", STR(""));
    PlatformOp op = {.platform = platform_find(STR("cpu")),
                     .path = "gelu.py",
                     .model = str_from(str_format(&arena, three, "x * 3.0")),
                     .scale = SCALE_FULL};
    JudgeSpec spec = {.chip = npu_chip_find(STR("910B2")), .fuzz = 1};
    Judged judged;
    bool unread;
    REQUIRE(platform_op_write(&arena, &op, &unread, &diag));
    op.edited = true;
    CHECK(judge_platform(&arena, &spec, &op, &judged));
    CHECK_EQ_INT(judged.cases.len, 1);
    EmitFile *kernel = NULL;
    for (uint32_t i = 0; i < op.made.files.len; i++)
        if (!strcmp(op.made.files.at[i].path, op.made.compiled))
            kernel = &op.made.files.at[i];
    REQUIRE(kernel != NULL);
    int64_t at = str_find(kernel->text, STR("3.0f"));
    REQUIRE(at >= 0);
    char *text = str_dup(&arena, kernel->text);
    text[at] = '2';
    kernel->text = str_from(text);
    CHECK(!judge_platform(&arena, &spec, &op, &judged));
    CHECK_EQ_INT(judged.status, VERDICT_WRONG);
    text[at] = '@';
    CHECK(!judge_platform(&arena, &spec, &op, &judged));
    CHECK_EQ_INT(judged.status, VERDICT_NOT_COMPILED);
    CHECK_EQ_INT(judged.correct, VERDICT_UNKNOWN);
    CHECK_MSG(strstr(judged.reason, "cc: ") != NULL, "%s", judged.reason);
    arena_drop(&arena);
}
