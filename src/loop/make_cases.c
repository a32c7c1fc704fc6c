/* Making a kernel for a task whose inputs are listed beside it (NPUKernelBench). In: a model file
 * and its cases. Out: the plan of the first case, and a verdict for every case of up to a million
 * elements; each case is planned with its own dtypes and sizes. */
#include "loop/make_cases.h"

#include <time.h>

static const int64_t most_elements = 1 << 20;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool make_is_large(const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++) {
        int64_t count = 0;
        if (!shape_count(g->values.at[i].shape, &count) || count > most_elements)
            return true;
    }
    return false;
}

static bool is_half(const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++)
        if (g->values.at[i].dtype == DT_F16 || g->values.at[i].dtype == DT_BF16)
            return true;
    return false;
}

/* The first program is shipped, with its reasons; another is the same text wherever it is the same
 * program, and so compiled once. */
static Str text_to_judge(MakeJob *job, const Plan *plan)
{
    MakeResult *result = job->result;
    Str bare = make_without_reasons(plan->craft);
    if (!result->plan.craft.len)
        result->plan = *plan;
    bool same = str_equal(bare, make_without_reasons(result->plan.craft));
    return same ? result->plan.craft : bare;
}

static void judge(Arena *arena, MakeJob *job, const TorchTask *task, Verdict *verdict, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    EvalConfig config = {
        .chip = spec->chip, .engine = spec->engine, .trust = spec->trust, .strict = spec->strict};
    Diag own = diag_make(arena, spec->path, spec->source);
    EvalReference ref = {0};
    Plan plan = {0};
    if (!plan_make(arena, task->graph, spec->chip, 0, &plan, &own) ||
        !eval_reference(arena, task->graph, spec->seed, RULE_ACRAFT, &ref, &own)) {
        verdict_fail(verdict, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                     own.items.len ? own.items.at[0].text : "the case could not be made");
    } else {
        plan.craft = text_to_judge(job, &plan);
        EvalCraft craft = make_candidate(arena, &plan);
        Diag said = diag_make(arena, craft.file, craft.text);
        eval_craft(arena, &craft, &ref, &config, verdict, &said);
        for (uint32_t i = 0; i < said.items.len; i++)
            if (said.items.at[i].level == DIAG_ERROR)
                vec_push(diag->arena, &diag->items, said.items.at[i]);
    }
    eval_reference_free(&ref);
}

static TorchTask *read_case(Arena *arena, const MakeJob *job, uint32_t i, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    TorchOptions options = {.seed = spec->seed, .cases = &job->cases, .case_index = i};
    return torch_read_scaled(arena, spec->path, spec->source, &options,
                             spec->tiny ? SCALE_TINY : SCALE_FULL, diag);
}

static bool add_case(Arena *arena, MakeJob *job, uint32_t i, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    double start = now();
    TorchTask *task = read_case(arena, job, i, diag);
    if (!task)
        return false;
    if (make_is_large(task->graph) && !spec->only)
        return true;
    Verdict v = verdict_make();
    v.task = task->name;
    v.candidate = "plan";
    v.kase = str_format(arena, "listed%u", i);
    Verdict empty = v;
    judge(arena, job, task, &v, diag);
    if (v.status == VERDICT_WRONG && is_half(task->graph)) { /* numbers cancel: round as the task */
        vec_push(arena, &task->graph->notes, plan_rounds);
        v = empty;
        judge(arena, job, task, &v, diag);
    }
    v.seconds = now() - start;
    result->inserted += make_excuse(spec, &v);
    result->ok += v.status == VERDICT_OK;
    vec_push(arena, &result->verdicts, v);
    if (spec->progress)
        spec->progress(spec->context, &v, result->verdicts.len, job->cases.lines.len);
    return true;
}

bool make_cases(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    uint32_t listed = job->cases.lines.len;
    uint32_t first = spec->only > 0 ? (uint32_t)(spec->only - 1) : 0;
    uint32_t end = spec->only > 0 ? first + 1 : listed;
    if (spec->only < 0 || spec->only > listed) {
        diag_error(diag, "M016", (Span){0}, "the list beside the file has %u cases", listed);
        return false;
    }
    result->task = read_case(arena, job, first, diag);
    if (!result->task)
        return false;
    if (spec->plan_only)
        return plan_make(arena, result->task->graph, spec->chip, 0, &result->plan, diag);
    for (uint32_t i = first; i < end; i++)
        if (!add_case(arena, job, i, diag))
            return false;
    if (!result->plan.craft.len && result->verdicts.len)
        diag_error(diag, "G004", (Span){0}, "%s", result->verdicts.at[0].reason);
    return result->verdicts.len && result->ok == result->verdicts.len;
}
