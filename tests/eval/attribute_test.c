/* Attributes of a candidate are the task's numbers: arguments of the constructor by name, defaults, and
 * what the user gives; a float among them reaches kernel and reference as f32. */
#include "tests/eval/eval_helper.h"

static const char task[] = "tests/eval/tasks/moment.py";

static void judge_moment(Judged *j, const NameList *attrs)
{
    EvalCandidate c;
    TorchOptions options = {.seed = 5};
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .attrs = attrs};
    EvalReference ref = {0};
    Str source;
    *j = (Judged){.verdict = verdict_make()};
    j->diag = diag_make(&j->arena, task, STR(""));
    REQUIRE(eval_candidate_read(&j->arena, "tests/eval/moment.craft", &c, &j->diag));
    REQUIRE(file_read(&j->arena, task, 0, &source, &j->diag));
    TorchTask *read = torch_read(&j->arena, task, source, &options, &j->diag);
    REQUIRE(read && eval_reference(&j->arena, read->graph, 5, RULE_ACRAFT, &ref, &j->diag));
    eval_reference_model(&j->arena, task, source, read, &options, &ref);
    eval_candidate(&j->arena, &c, &ref, &config, &j->verdict, &j->diag);
    eval_reference_free(&ref);
}

T_TEST(attributes_are_constructor_arguments)
{
    Judged j;
    judge_moment(&j, NULL);
    CHECK_MSG(j.verdict.status == VERDICT_OK, "%s", j.verdict.reason);
    arena_drop(&j.arena);
}

T_TEST(attributes_of_the_user_come_first)
{
    Judged j;
    NameList attrs = {0};
    Arena arena = {0};
    vec_push(&arena, &attrs, "scale=0.5");
    judge_moment(&j, &attrs);
    CHECK_EQ_INT(j.verdict.status, VERDICT_WRONG);
    arena_drop(&j.arena);
    arena_drop(&arena);
}
