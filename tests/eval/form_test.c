/* Every form of candidate, made by our own targets from examples, comes back ok. */
#include "tests/eval/eval_helper.h"

#include "base/file.h"
#include "base/temp.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const examples[] = {"softmax", "less",   "mse_loss",   "layernorm",
                                       "relu",    "gelu",   "leaky_relu", "add",
                                       "rmsnorm", "cumsum", "reduce_last"};

/* Compilers take their time: a few of them, or all with T_ALL=1. */
static size_t how_many(void) { return getenv("T_ALL") ? sizeof examples / sizeof *examples : 4; }

/* A binding alone says nothing about numbers it wants beside tensors. */
static bool takes_numbers(const char *name)
{
    static const char *const some[] = {"layernorm", "rmsnorm", "leaky_relu"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (str_is(str_from(name), some[i]))
            return true;
    return false;
}

static void check_form(const char *target)
{
    for (size_t i = 0; i < how_many(); i++) {
        if (str_is(str_from(target), "direct") && takes_numbers(examples[i]))
            continue;
        Judged j = {.verdict = verdict_make()};
        EvalCandidate c;
        j.diag = diag_make(&j.arena, examples[i], STR(""));
        if (candidate_as(&j.arena, examples[i], target, &c))
            judge_candidate(&j, &c, str_format(&j.arena, "tests/eval/tasks/%s.py", examples[i]));
        CHECK_MSG(j.verdict.status == VERDICT_OK && j.verdict.predicted_us > 0, "%s as %s: %s: %s",
                  examples[i], target, verdict_status_row(j.verdict.status)->text,
                  j.verdict.reason);
        arena_drop(&j.arena);
    }
}

T_TEST(form_project) { check_form("project"); }
T_TEST(form_mkb) { check_form("mkb"); }
T_TEST(form_mkb_direct) { check_form("mkb-direct"); }
T_TEST(form_direct) { check_form("direct"); }

T_TEST(form_craft)
{
    for (size_t i = 0; i < how_many(); i++) {
        Judged j;
        Arena arena = {0};
        judge_path(&j, str_format(&arena, "examples/%s.craft", examples[i]),
                   str_format(&arena, "tests/eval/tasks/%s.py", examples[i]));
        CHECK_STATUS(&j, VERDICT_OK);
        arena_drop(&j.arena);
        arena_drop(&arena);
    }
}

/* What `acraft make` writes beside a project is no part of it, whatever its size. */
T_TEST(form_project_beside_large_files)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    EvalCandidate c;
    REQUIRE(file_temp_dir(&arena, "acraft-form-test", &dir, &diag));
    const char *names[] = {"op_host/x.cpp", "op_kernel/x.cpp", "trace.json", "notes.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = path_join(&arena, dir, names[i]);
        REQUIRE(file_make_dirs(path_dir(&arena, path), &diag));
        REQUIRE(file_write(path, STR("int x;\n"), &diag));
        if (i >= 2)
            REQUIRE(truncate(path, 60 << 20) == 0);
    }
    CHECK(eval_candidate_read(&arena, dir, &c, &diag));
    CHECK(c.form == FORM_PROJECT);
    CHECK_EQ_INT(c.texts.len, 2);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

/* An output of an input's name is that operand, written in place: what the kernel leaves alone is there
 * still, whether it writes all of it or nothing. */
T_TEST(form_project_in_place)
{
    static const char *const tasks[] = {"tests/eval/tasks/add_into.py",
                                        "tests/eval/tasks/add_into_keep.py"};
    for (int i = 0; i < 2; i++) {
        Judged j;
        judge_path(&j, "tests/twin/projects/add_into", tasks[i]);
        CHECK_STATUS(&j, VERDICT_OK);
        CHECK_EQ_INT(j.verdict.hazards.len, 0);
        arena_drop(&j.arena);
    }
}

/* A program with main, files and host memory. */
/* The program with a line of its host code changed. */
static void check_main(const char *old, const char *new, const char *reason)
{
    Judged j = {.verdict = verdict_make()};
    EvalCandidate c;
    j.diag = diag_make(&j.arena, "main_add.cpp", STR(""));
    REQUIRE(eval_candidate_read(&j.arena, "tests/eval/main_add.cpp", &c, &j.diag));
    Str text = c.texts.at[0].text;
    ptrdiff_t at = str_find(text, str_from(old));
    REQUIRE(at >= 0);
    size_t after = (size_t)at + strlen(old);
    c.texts.at[0].text = str_from(str_format(&j.arena, "%.*s%s%.*s", (int)at, text.at, new,
                                             (int)(text.len - after), text.at + after));
    judge_candidate(&j, &c, "tests/eval/tasks/add_8192.py");
    CHECK_STATUS(&j, VERDICT_NOT_COMPUTED);
    CHECK_MSG(strstr(j.verdict.reason, reason), "reason '%s' lacks '%s'", j.verdict.reason, reason);
    arena_drop(&j.arena);
}

T_TEST(form_direct_host_only_carries)
{
    check_main("    aclrtMemcpy(dx,",
               "    for (int i = 0; i < 8192; i++) {\n"
               "        ((float *)hx)[i] += ((float *)hy)[i];\n"
               "        ((float *)hy)[i] = 0;\n"
               "    }\n"
               "    aclrtMemcpy(dx,",
               "32776 bytes of its own making");
    check_main(
        "    WriteFile(",
        "    for (int i = 0; i < 8192; i++)\n"
        "        ((float *)hz)[i] = (float)(0.0 + ((float *)hx)[i] + 2.0 * ((float *)hy)[i]);\n"
        "    WriteFile(",
        "no copy of a kernel's result");
}

T_TEST(form_direct_main)
{
    Judged j;
    judge_path(&j, "tests/eval/main_add.cpp", "tests/eval/tasks/add_8192.py");
    CHECK_STATUS(&j, VERDICT_OK);
    arena_drop(&j.arena);
}
