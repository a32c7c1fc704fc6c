/* Judging on all cases; see bench_judge.h. */
#include "loop/bench_judge.h"

#include "base/hash.h"
#include "base/rng.h"
#include "base/version.h"
#include "loop/bench_judge_int.h"
#include "loop/bench_pool.h"
#include "loop/make.h"
#include <math.h>
#include <string.h>

static const size_t most_log = 1 << 20;

static void begin(Judged *judged)
{
    *judged = (Judged){.status = VERDICT_OK,
                       .reason = "",
                       .predicted_us = (double)NAN,
                       .bound_us = (double)NAN,
                       .baseline_us = (double)NAN,
                       .unfused_us = (double)NAN,
                       .measured_us = (double)NAN,
                       .copy_us = (double)NAN,
                       .log = "",
                       .config = ""};
}

const char *judge_config(Arena *arena, const JudgeSpec *spec)
{
    char hash[65];
    const char *text = str_format(
        arena, "%d %d %s %s %llu %u %u %lld %d%d%d%d%d%d %s %s", VERDICT_SCHEMA, JUDGE_VERSION,
        spec->chip->name, compare_rule_name(spec->rule), (unsigned long long)spec->seed, spec->fuzz,
        spec->listed, (long long)spec->only, spec->tiny, spec->own_sizes, spec->time, spec->strict,
        spec->trust, spec->no_proofs, eval_form_text(spec->form),
        spec->baseline_name ? spec->baseline_name : "");
    Sha256 sha = sha256_begin();
    sha256_add(&sha, text, strlen(text));
    sha256_end(&sha, hash);
    return str_dup(arena, str_slice(str_from(hash), 0, 16));
}

/* ---- one case among several ---- */

static void log_case(const JudgedCase *c, const Diag *said, Buf *log)
{
    if (log->len > most_log)
        return;
    buf_printf(log, "%s%s: %s\n", log->len ? "\n" : "", c->name, c->shapes);
    if (said)
        diag_print(said, log);
    verdict_to_text(&c->verdict, log);
}

/* That full size is too much for this machine says nothing of the candidate, nor does a crash on
 * values that were made up, nor sizes that were looked for and give no task; a fault found on the way
 * does, and so does what a candidate could ask for at full size alone, such as a call that we lack. */
static bool decides(const CaseSpec *c, VerdictStatus status)
{
    bool ours = !verdict_status_row(status)->counted || status == VERDICT_TIMEOUT ||
                (status == VERDICT_CRASHED && c->no_values);
    if (status == VERDICT_UNSCORED && str_starts(str_from(c->name), "like-full"))
        return false;
    if (status == VERDICT_UNSUPPORTED)
        return true;
    return status != VERDICT_OK &&
           !(ours && (c->no_values || c->scale == SCALE_FULL) && !strcmp(c->name, "full"));
}

/* Nothing is known of the values of such a case, and nothing had to be. */
static bool decides_nothing(const CaseSpec *c, const Verdict *v)
{
    return c->no_values || (v->status != VERDICT_OK && !decides(c, v->status));
}

void judge_add_case(Arena *arena, Judged *judged, const CaseSpec *c, const char *shapes,
                    const Verdict *verdict, const Diag *said, Buf *log)
{
    JudgedCase kase = {c->name, c->seed, shapes, *verdict, {0}, decides_nothing(c, verdict)};
    kase.verdict.kase = c->name;
    kase.verdict.seed = c->seed;
    kase.verdict.seeded = true;
    kase.verdict.config = judged->config;
    vec_push(arena, &judged->cases, kase);
    judged->hazards += verdict->hazards.len;
    if (judged->status == VERDICT_OK && decides(c, verdict->status)) {
        judged->status = verdict->status;
        judged->reason = str_format(arena, "%s: %s", c->name, verdict->reason);
        judged->worst = kase.verdict;
        if (said)
            judged->said = *said;
    }
    log_case(&kase, said, log);
}

/* compiled: by the first case. correct: values of all cases that were to compare any, and of one at
 * least. Nothing is ok without. */
bool judge_sum_up(Arena *arena, Judged *judged, Buf *log)
{
    bool wrong = false, unknown = false, right = false;
    judged->compiled = judged->cases.len ? judged->cases.at[0].verdict.compiled : VERDICT_UNKNOWN;
    for (uint32_t i = 0; i < judged->cases.len; i++) {
        const JudgedCase *c = &judged->cases.at[i];
        wrong |= c->verdict.correct == VERDICT_NO;
        right |= c->verdict.correct == VERDICT_YES;
        unknown |= c->verdict.correct == VERDICT_UNKNOWN && !c->no_values;
    }
    judged->correct = wrong ? VERDICT_NO : unknown || !right ? VERDICT_UNKNOWN : VERDICT_YES;
    if (judged->status == VERDICT_OK && judged->correct != VERDICT_YES) {
        judged->status = VERDICT_NOT_COMPUTED;
        judged->reason = "no output was compared with the task's";
    }
    if (judged->status != VERDICT_OK)
        judged->predicted_us = (double)NAN;
    if (log->len)
        judged->log = buf_take(log, arena);
    buf_free(log);
    return judged->status == VERDICT_OK;
}

void judge_nothing(Judged *judged, const char *task, VerdictStatus status, const char *reason)
{
    begin(judged);
    judged->status = status;
    judged->reason = reason;
    judged->log = reason;
    judged->candidate.name = task;
    judged->candidate.entry = judged->candidate.extracted = "";
    judged->compiled = verdict_status_row(status)->counted ? VERDICT_NO : VERDICT_UNKNOWN;
}

/* ---- candidates ---- */

static const char *first_said(const Diag *diag, const char *otherwise)
{
    return diag->items.len ? diag->items.at[0].text : otherwise;
}

uint64_t judge_place(Judging *j)
{
    return rng_u64(text_seed(&j->judged->candidate, j->spec->seed + 9), 0, j->places++) | 1;
}

void judge_case(Judging *j, const CaseSpec *c)
{
    const JudgeSpec *spec = j->spec;
    double start = pool_clock();
    Verdict v = verdict_make();
    v.task = j->task->name;
    v.candidate = j->judged->candidate.name;
    Diag said = diag_make(j->arena, j->judged->candidate.name, STR(""));
    bool first = j->judged->cases.len == 0;
    Buf picture = {0};
    EvalConfig config = {.chip = spec->chip,
                         .engine = EVAL_TWIN,
                         .place = judge_place(j),
                         .trust = spec->trust,
                         .strict = spec->strict,
                         .no_proofs = spec->no_proofs,
                         .kept = j->kept,
                         .seen = eval_seen_make(j->arena),
                         .all_choices = first,
                         .trace = spec->trace && first ? &picture : NULL};
    const CaseReady *ready = case_ready(j->cache, spec, j->task, c);
    if (ready->status != VERDICT_OK) {
        verdict_fail(&v, ready->status, STAGE_EXTRACT, str_dup(j->arena, str_from(ready->failed)));
    } else {
        j->telling |= !(ready->ref.probe.left & PROBE_TRIVIAL);
        eval_candidate(j->arena, &j->judged->candidate, &ready->ref, &config, &v, &said);
    }
    v.seconds = pool_clock() - start;
    judge_add_case(j->arena, j->judged, c, str_dup(j->arena, str_from(ready->shapes)), &v, &said,
                   &j->log);
    vec_last(&j->judged->cases).trace = judge_trace(j->arena, &picture);
    if (v.status == VERDICT_OK) {
        vec_push(j->arena, &j->done, *c);
        vec_push(j->arena, &j->seen, config.seen);
    }
    buf_free(&picture);
    if (spec->own_sizes && j->judged->cases.len == 1 && v.status == VERDICT_OK) {
        j->judged->predicted_us = v.predicted_us;
        j->judged->bound_us = v.bound_us;
    }
}

void judge_scan(Judging *j, const CaseSpec *c, struct TwinScan *scan)
{
    Verdict v = verdict_make();
    Diag said = diag_make(j->arena, j->judged->candidate.name, STR(""));
    EvalConfig config = {.chip = j->spec->chip,
                         .engine = EVAL_TWIN,
                         .trust = j->spec->trust,
                         .no_values = true,
                         .only_time = true,
                         .scan = scan};
    const CaseReady *ready = case_ready(j->cache, j->spec, j->task, c);
    if (ready->status == VERDICT_OK)
        eval_candidate(j->arena, &j->judged->candidate, &ready->ref, &config, &v, &said);
}

void judge_leave_unseen(Judging *j, const char *reason)
{
    j->judged->status = VERDICT_UNSEEN;
    j->judged->reason = reason;
    j->judged->worst = vec_last(&j->judged->cases).verdict;
}

/* A text that does not get past its compiler is the same for every size. */
static bool worth_going_on(const JudgeSpec *spec, const Judged *judged)
{
    if (spec->first_only)
        return judged->status == VERDICT_OK;
    return judged->cases.at[0].verdict.stage > STAGE_COMPILE || judged->status == VERDICT_OK;
}

static bool is_craft(const EvalCandidate *c) { return c->form == FORM_CRAFT && c->texts.len == 1; }

bool judge_candidate(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                     const EvalCandidate *candidate, Judged *judged)
{
    JudgeCache *own = spec->cache ? NULL : judge_cache_open();
    Judging j = {.arena = arena,
                 .spec = spec,
                 .task = task,
                 .judged = judged,
                 .kept = eval_kept_make(arena)};
    Diag diag = diag_make(arena, task->path, task->source);
    TorchCases cases = {0};
    CaseSpecs list = {0};
    j.cache = own ? own : spec->cache;
    begin(judged);
    judged->config = judge_config(arena, spec);
    judged->seed = spec->seed;
    judged->candidate = *candidate;
    if (!torch_cases(arena, task->path, &cases, &diag))
        cases = (TorchCases){0};
    j.cases = &cases;
    case_list(arena, spec, &cases, &list);
    for (uint32_t i = 0; i < list.len && (i == 0 || worth_going_on(spec, judged)); i++)
        judge_case(&j, &list.at[i]);
    if (judged->status == VERDICT_OK && list.len)
        judge_again(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && list.len)
        judge_far(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && list.len)
        judge_special(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && list.len)
        judge_minus(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && list.len)
        judge_edges(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && spec->fuzz && list.len)
        judge_indices(&j, &list.at[0]);
    if (judged->status == VERDICT_OK && spec->fuzz && is_craft(candidate))
        judge_reach(&j);
    else if (judged->status == VERDICT_OK && spec->fuzz)
        judge_reach_code(&j);
    if (judged->status == VERDICT_OK && !j.telling) {
        judged->status = VERDICT_UNSCORED;
        judged->reason = "this task cannot tell a right answer from a trivial one on any inputs";
    }
    if (judged->status == VERDICT_OK)
        judge_full(&j);
    judge_cache_close(own);
    return judge_sum_up(arena, judged, &j.log);
}

bool judge_answer(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Str answer,
                  Judged *judged)
{
    EvalCandidate candidate = {0};
    const char *reason = "";
    bool cut = false;
    if (eval_candidate_extract(arena, answer, spec->form, &candidate, &reason, &cut))
        return judge_candidate(arena, spec, task, &candidate, judged);
    judge_nothing(judged, "answer", VERDICT_NO_ANSWER, reason);
    return false;
}

/* ---- the offline planner ---- */

static EvalCandidate planned(Arena *arena, const Plan *plan)
{
    EvalCandidate c = {.form = FORM_CRAFT, .entry = "", .extracted = ""};
    c.name = str_format(arena, "%s.craft", plan->name);
    EvalText text = {c.name, plan->craft};
    vec_push(arena, &c.texts, text);
    return c;
}

/* Values in 16 bits that are wrong may be right with every step rounded. */
static bool may_round(const TorchTask *task, const Judged *judged)
{
    const Graph *g = task->graph;
    bool half = false;
    for (uint32_t i = 0; i < g->values.len; i++)
        half = half || g->values.at[i].dtype == DT_F16 || g->values.at[i].dtype == DT_BF16;
    return half && judged->status == VERDICT_WRONG;
}

/* A list of cases has other ranks and dtypes in each: a plan is that of the first. */
static JudgeSpec values_of_plan(const JudgeSpec *spec)
{
    JudgeSpec values = *spec;
    values.time = false;
    values.listed = spec->listed ? 1 : 0;
    return values;
}

bool judge_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged)
{
    MakeSpec make = {.path = task->path,
                     .source = task->source,
                     .chip = spec->chip,
                     .seed = spec->seed,
                     .plan_only = true};
    JudgeSpec values = values_of_plan(spec);
    for (int rounds = 0; rounds < 2; rounds++) {
        MakeResult result = {0};
        Diag said = diag_make(arena, task->path, task->source);
        make.rounds = rounds;
        if (!make_kernel(arena, &make, &result, &said) || !result.plan.craft.len) {
            judge_nothing(judged, "plan", VERDICT_UNSUPPORTED,
                          first_said(&said, "it was not planned"));
            return false;
        }
        EvalCandidate candidate = planned(arena, &result.plan);
        judge_candidate(arena, &values, task, &candidate, judged);
        if (judged->status == VERDICT_BAD_TILING && result.fixed[0])
            judged->reason = str_format(arena, "%s; the program fixes sizes: %s", judged->reason,
                                        result.fixed);
        if (!may_round(result.task, judged))
            break;
    }
    judged->config = judge_config(arena, spec);
    for (uint32_t i = 0; i < judged->cases.len; i++)
        judged->cases.at[i].verdict.config = judged->config;
    Buf log = {0};
    buf_puts(&log, judged->log);
    if (spec->time && judged->status == VERDICT_OK)
        time_plan(arena, spec, task, judged, &log);
    return judge_sum_up(arena, judged, &log);
}
