/* What the tests of the evaluation share: a candidate on disk or in memory, a task, a verdict. */
#ifndef TESTS_EVAL_HELPER_H
#define TESTS_EVAL_HELPER_H

#include "base/file.h"
#include "craft/craft.h"
#include "emit/emit.h"
#include "eval/candidate.h"
#include "tests/t.h"

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

/* The example as a candidate in the form that a target writes. */
static inline bool candidate_as(Arena *arena, const char *name, const char *target,
                                EvalCandidate *c)
{
    const char *path = str_format(arena, "examples/%s.craft", name);
    EmitInput in = {.file = path};
    EmitFiles files = {0};
    Diag diag = diag_make(arena, path, STR(""));
    const char *reason = "";
    bool cut;
    REQUIRE(file_read(arena, path, 0, &in.source, &diag));
    CraftFile *file = craft_read(arena, path, in.source, &diag);
    for (uint32_t v = 0; file && v < craft_variant_count(file); v++)
        vec_push(arena, &in.variants,
                 lower_program(arena, craft_program(arena, file, v, &diag),
                               npu_chip_find(STR("910B2")), LOWER_ALIGN, &diag));
    REQUIRE(diag_ok(&diag) && emit_target(str_from(target))->emit(arena, &in, &files, &diag));
    if (files.len == 1) {
        bool read = eval_candidate_extract(arena, files.at[0].text, FORM_ANY, c, &reason, &cut);
        CHECK_MSG(read, "%s as %s: %s", name, target, reason);
        return read;
    }
    *c = (EvalCandidate){.form = FORM_PROJECT, .name = name, .entry = "", .extracted = ""};
    if (str_is(str_from(target), "direct"))
        c->form = FORM_DIRECT;
    for (uint32_t i = 0; i < files.len; i++) {
        EvalText text = {files.at[i].path, files.at[i].text};
        vec_push(arena, &c->texts, text);
    }
    return true;
}

#define CHECK_STATUS(j, want)                                                                \
    CHECK_MSG((j)->verdict.status == (want), "status %s, wanted %s: %s",                     \
              verdict_status_row((j)->verdict.status)->text, verdict_status_row(want)->text, \
              (j)->verdict.reason)

#endif
