/* Answers to NPUKernelBench in its four modes, against a clone: a task of ours in its layout, a run
 * directory as it leaves one, filled here from the texts in tests/bench/clone/answers. */
#include "loop/bench.h"

#include "tests/t.h"
#include <string.h>

#define CLONE "tests/bench/clone"

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir;
} Place;

static Str text_of(Place *p, const char *name)
{
    Str text;
    REQUIRE(file_read(&p->arena, path_join(&p->arena, CLONE "/answers", name), 0, &text, &p->diag));
    return text;
}

static Str kernel_answer(Place *p, Str kernel)
{
    return str_from(str_format(&p->arena,
                               "Thoughts.</think>\n<kernel_impl>\n```cpp\n%.*s```\n"
                               "</kernel_impl>\n",
                               STR_ARG(kernel)));
}

static Str full_answer(Place *p, Str kernel)
{
#define PART "================== %s ==================\n```cpp\n%.*s\n```\n"
    return str_from(str_format(&p->arena, PART PART PART, "op_host/halve_tiling.h",
                               STR_ARG(text_of(p, "tiling.h")), "op_host/halve.cpp",
                               STR_ARG(text_of(p, "host.cpp")), "op_kernel/halve.cpp",
                               STR_ARG(kernel)));
}

/* The text with its first `old` replaced. */
static Str changed(Place *p, Str text, const char *old, const char *new)
{
    ptrdiff_t at = str_find(text, str_from(old));
    REQUIRE(at >= 0);
    Str rest = str_slice(text, (size_t)at + strlen(old), text.len);
    return str_from(str_format(&p->arena, "%.*s%s%.*s", (int)at, text.at, new, STR_ARG(rest)));
}

static void put(Place *p, const char *where, Str answer)
{
    Buf json = {0};
    const char *dir = str_format(&p->arena, "%s/msopgen/lvl1/Math/Halve/%s/log", p->dir, where);
    buf_puts(&json, "{\"gen_content\": ");
    buf_json_str(&json, answer);
    buf_puts(&json, "}");
    REQUIRE(file_make_dirs(dir, &p->diag));
    REQUIRE(file_write(path_join(&p->arena, dir, "halve_code_gen_prompt.json"), buf_view(&json),
                       &p->diag));
    buf_free(&json);
}

static void check_status(Place *p, const BenchSpec *spec, const char *const *want)
{
    BenchDone done;
    StoreAttempt a;
    Store *store = store_open(path_join(&p->arena, p->dir, "r.db"), STORE_MAKE, &p->diag);
    REQUIRE(store && bench_run(store, spec, &done, &p->diag));
    StoreFilter filter = {.run = done.run};
    StoreRows *rows = store_attempts(store, &filter, &p->diag);
    for (; rows && store_next(rows, &p->arena, &a); want++) {
        REQUIRE(*want);
        CHECK_MSG(strstr(*want, verdict_status_row(a.status)->text), "%s: %s, wanted %s: %s",
                  a.provenance, verdict_status_row(a.status)->text, *want, a.reason);
    }
    CHECK(*want == NULL);
    store_done(rows);
    store_close(store);
}

T_TEST(bench_clone_in_four_modes)
{
    Place p = {0};
    BenchSuite suite;
    BenchAnswers answers;
    BenchPick pick = {.suite = "npukernelbench", .suite_dir = CLONE, .home = "."};
    p.diag = diag_make(&p.arena, "", STR(""));
    REQUIRE(file_temp_dir(&p.arena, "acraft-clone", &p.dir, &p.diag));
    Str kernel = text_of(&p, "kernel.cpp"), full = text_of(&p, "kernel_full.cpp");
    put(&p, "fixed_case_0/sample0", kernel_answer(&p, kernel));
    put(&p, "fixed_case_1/sample1", kernel_answer(&p, kernel)); /* its numbers are case 0's */
    put(&p, "fixed_case_1/sample2", kernel_answer(&p, changed(&p, kernel, "= 64", "= 128")));
    put(&p, "fixed_case_0/sample3", kernel_answer(&p, changed(&p, kernel, "0.5f", "0.25f")));
    put(&p, "sample4", kernel_answer(&p, kernel)); /* dynamic: right for one case of two */
    put(&p, "fixed_case_1/sample5", full_answer(&p, full));
    put(&p, "sample6", full_answer(&p, full));
    put(&p, "sample7", full_answer(&p, changed(&p, full, "Muls", "Adds")));
    put(&p, "sample8", STR("I cannot write this kernel."));
    REQUIRE(bench_suite(&p.arena, &pick, &suite, &p.diag));
    CHECK_EQ_STR(suite.wording, "original");
    REQUIRE(bench_answers(&p.arena, p.dir, &suite.tasks, &answers, &p.diag));
    BenchSpec spec = {.suite = &suite,
                      .generator = "answers",
                      .answers = &answers,
                      .answers_path = "run",
                      .samples = 1,
                      .label = "",
                      .version = "test",
                      .jobs = 2};
    spec.judge = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                             .rule = RULE_NPUKB,
                             .listed = 8,
                             .trust = true,
                             .baseline_name = ""};
    static const char *const want[] = {"ok", "hazard wrong", "ok",    "wrong",     "hazard wrong",
                                       "ok", "ok",           "wrong", "no-answer", NULL};
    check_status(&p, &spec, want);
    CHECK(file_remove_tree(p.dir, &p.diag));
    arena_drop(&p.arena);
}
