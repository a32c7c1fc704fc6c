/* Every form of candidate, made by our own targets from examples, comes back ok. */
#include "tests/eval/eval_helper.h"

#include <stdlib.h>

static const char *const examples[] = {"softmax", "less",   "mse_loss",   "layernorm",
                                       "relu",    "gelu",   "leaky_relu", "add",
                                       "rmsnorm", "cumsum", "reduce_last"};

/* Compilers take their time: a few of them, or all with T_ALL=1. */
static size_t how_many(void) { return getenv("T_ALL") ? sizeof examples / sizeof *examples : 4; }

static void check_form(const char *target)
{
    for (size_t i = 0; i < how_many(); i++) {
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
