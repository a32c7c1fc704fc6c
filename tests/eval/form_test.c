/* Every form of candidate, made by our own targets from examples, comes back ok. */
#include "tests/eval/eval_helper.h"

#include <stdlib.h>

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

/* A program with main, files and host memory. */
T_TEST(form_direct_main)
{
    Judged j;
    judge_path(&j, "tests/eval/main_add.cpp", "tests/eval/tasks/add_8192.py");
    CHECK_STATUS(&j, VERDICT_OK);
    arena_drop(&j.arena);
}
