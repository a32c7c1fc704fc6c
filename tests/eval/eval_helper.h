/* What the tests of the evaluation share: a candidate on disk or in memory, a task, a verdict. */
#ifndef TESTS_EVAL_HELPER_H
#define TESTS_EVAL_HELPER_H

#include "tests/eval/as_form.h"

typedef struct Judged {
    Arena arena;
    Verdict verdict;
    Diag diag;
} Judged;

static inline void judge_candidate(Judged *j, const EvalCandidate *c, const char *task_path)
{
    TorchOptions options = {.seed = 5};
    EvalConfig config = {.chip = npu_chip_find(STR("910B2"))};
    Str source;
    EvalReference ref = {0};
    REQUIRE(file_read(&j->arena, task_path, 0, &source, &j->diag));
    TorchTask *task = torch_read_scaled(&j->arena, task_path, source, &options, SCALE_SMALL,
                                        &j->diag);
    REQUIRE(task && eval_reference(&j->arena, task->graph, 5, RULE_ACRAFT, &ref, &j->diag));
    eval_reference_model(&j->arena, task_path, source, task, &options, &ref);
    j->diag = diag_make(&j->arena, c->name, STR(""));
    eval_candidate(&j->arena, c, &ref, &config, &j->verdict, &j->diag);
    eval_reference_free(&ref);
}

static inline void judge_path(Judged *j, const char *path, const char *task_path)
{
    EvalCandidate c;
    *j = (Judged){.verdict = verdict_make()};
    j->diag = diag_make(&j->arena, path, STR(""));
    bool read = eval_candidate_read(&j->arena, path, &c, &j->diag);
    CHECK_MSG(read, "%s: %s", path, j->diag.items.len ? j->diag.items.at[0].text : "not read");
    if (read)
        judge_candidate(j, &c, task_path);
    else
        verdict_fail(&j->verdict, VERDICT_NO_ANSWER, STAGE_EXTRACT, "not read");
}

static inline void judge_answer(Judged *j, const char *answer, EvalForm form, const char *task_path)
{
    EvalCandidate c;
    const char *reason;
    bool cut;
    *j = (Judged){.verdict = verdict_make()};
    j->diag = diag_make(&j->arena, "answer", STR(""));
    if (eval_candidate_extract(&j->arena, str_from(answer), form, &c, &reason, &cut))
        judge_candidate(j, &c, task_path);
    else
        verdict_fail(&j->verdict, VERDICT_NO_ANSWER, STAGE_EXTRACT, reason);
}

#define CHECK_STATUS(j, want)                                                                \
    CHECK_MSG((j)->verdict.status == (want), "status %s, wanted %s: %s",                     \
              verdict_status_row((j)->verdict.status)->text, verdict_status_row(want)->text, \
              (j)->verdict.reason)

#endif
