/* Making a kernel for a task whose inputs are listed beside it (NPUKernelBench). In: a model file
 * and its cases. Out: the plan of the first case, and a verdict for every case of up to a million
 * elements; each case is planned with its own dtypes and sizes, in as many processes as the job may
 * have. */
#include "loop/make_cases.h"

#include "loop/bench_pool.h"
#include "loop/pieces.h"
#include "loop/craft_edit.h"

static const int64_t most_elements = 1 << 20;

static bool is_large(const Graph *g)
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

/* Judges the requested cases on the pool of processes. */
typedef struct Listed {
    Arena *arena;
    const MakeJob *job;
    uint32_t first, count;
    MakeAnswer *answers; /* by case, from `first` on */
    uint32_t answered;
} Listed;

static TorchTask *read_case(Arena *arena, const MakeJob *job, uint32_t i, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    TorchOptions options = make_options(job, spec->seed);
    options.case_index = i;
    return torch_read_scaled(arena, spec->path, spec->source, &options,
                             spec->tiny ? SCALE_TINY : SCALE_FULL, diag);
}

/* A case that is shipped for all sizes for which it holds. */
static TorchTask *read_shipped(Arena *arena, const MakeJob *job, uint32_t i, Diag *diag)
{
    TorchOptions options = make_options(job, job->spec->seed);
    options.case_index = i;
    TorchTask *task = read_case(arena, job, i, diag);
    if (task && !job->spec->tiny)
        torch_mark_held(arena, job->spec->path, job->spec->source, &options, task);
    return task;
}

static bool is_left_out(const MakeJob *job, const TorchTask *task)
{
    return is_large(task->graph) && !job->spec->only;
}

/* Another program is the same text as the shipped one wherever it is the same program, and so
 * compiled once. */
static Str text_to_judge(Arena *arena, const MakeJob *job, const Plan *plan)
{
    Str bare = edit_without_reasons(arena, plan->craft), shipped = job->result->plan.craft;
    return str_equal(bare, edit_without_reasons(arena, shipped)) ? shipped : bare;
}

static void judge(Arena *arena, const MakeJob *job, const TorchTask *task, MakeAnswer *answer)
{
    const MakeSpec *spec = job->spec;
    EvalConfig config = {
        .chip = spec->chip, .engine = spec->engine, .trust = spec->trust, .strict = spec->strict};
    Diag own = diag_make(arena, spec->path, spec->source);
    EvalReference ref = {0};
    Plan plan = {0};
    if (!plan_make(arena, task->graph, spec->chip, 0, &plan, &own) ||
        !eval_reference(arena, task->graph, spec->seed, RULE_ACRAFT, &ref, &own)) {
        verdict_fail(&answer->verdict, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                     own.items.len ? own.items.at[0].text : "the case could not be made");
    } else {
        plan.craft = text_to_judge(arena, job, &plan);
        EvalCraft craft = make_candidate(arena, &plan);
        answer->said = diag_make(arena, craft.file, craft.text);
        eval_craft(arena, &craft, &ref, &config, &answer->verdict, &answer->said);
    }
    eval_reference_free(&ref);
}

static void judge_case(Arena *arena, const MakeJob *job, uint32_t i, MakeAnswer *answer)
{
    double start = pool_clock();
    *answer = (MakeAnswer){.end = MAKE_UNREAD, .verdict = verdict_make()};
    answer->said = diag_make(arena, job->spec->path, job->spec->source);
    TorchTask *task = read_case(arena, job, i, &answer->said);
    if (!task)
        return;
    answer->end = is_left_out(job, task) ? MAKE_LEFT_OUT : MAKE_JUDGED;
    if (answer->end == MAKE_LEFT_OUT)
        return;
    answer->verdict.task = task->name;
    answer->verdict.candidate = "plan";
    answer->verdict.kase = str_format(arena, "listed%u", i);
    answer->verdict.inputs = make_inputs(arena, task->graph);
    MakeAnswer empty = *answer;
    judge(arena, job, task, answer);
    if (answer->verdict.status == VERDICT_WRONG && is_half(task->graph)) { /* numbers cancel */
        vec_push(arena, &task->graph->notes, plan_rounds);
        *answer = empty;
        judge(arena, job, task, answer);
    }
    answer->verdict.seconds = pool_clock() - start;
}

/* ---- over processes ---- */

static bool wanted(void *context, uint32_t piece)
{
    (void)context, (void)piece;
    return true;
}

static void work(void *context, uint32_t piece, Buf *text)
{
    const Listed *l = context;
    Arena scratch = {0};
    MakeAnswer answer;
    judge_case(&scratch, l->job, l->first + piece, &answer);
    make_answer_put(&answer, text);
    arena_drop(&scratch);
}

static void take_listed(void *context, uint32_t piece, Str text, const char *died)
{
    Listed *l = context;
    const MakeSpec *spec = l->job->spec;
    MakeAnswer *answer = &l->answers[piece];
    if (!make_answer_take(l->arena, text, answer))
        make_answer_lost(l->arena, l->job->result->task->name,
                         str_format(l->arena, "listed%u", l->first + piece), died, answer);
    l->answered++;
    if (spec->progress && answer->end == MAKE_JUDGED)
        spec->progress(spec->context, &answer->verdict, l->answered, l->count);
}

/* In the order of the list; false: a case cannot be read, and `diag` says why. */
static bool sum_up(const Listed *l, Diag *diag)
{
    MakeResult *result = l->job->result;
    for (uint32_t i = 0; i < l->count; i++) {
        MakeAnswer *a = &l->answers[i];
        for (uint32_t k = 0; k < a->said.items.len; k++)
            vec_push(diag->arena, &diag->items, a->said.items.at[k]);
        if (a->end == MAKE_UNREAD)
            return false;
        result->left_out += a->end == MAKE_LEFT_OUT;
        if (a->end != MAKE_JUDGED)
            continue;
        result->inserted += make_excuse(l->job->spec, &a->verdict);
        result->ok += a->verdict.status == VERDICT_OK;
        vec_push(l->arena, &result->verdicts, a->verdict);
    }
    return true;
}

/* The first of them that is planned is shipped, with its reasons. */
static void ship_first(Arena *arena, const Listed *l)
{
    Diag quiet = diag_make(arena, l->job->spec->path, l->job->spec->source);
    Plan *plan = &l->job->result->plan;
    for (uint32_t i = 0; i < l->count && !plan->craft.len; i++) {
        TorchTask *task = read_shipped(arena, l->job, l->first + i, &quiet);
        if (!task)
            return;
        if (!is_left_out(l->job, task) &&
            !plan_make(arena, task->graph, l->job->spec->chip, 0, plan, &quiet))
            *plan = (Plan){0};
    }
}

/* The largest case, by what it must move. */
static const Verdict *largest(const MakeResult *result)
{
    const Verdict *most = NULL;
    for (uint32_t i = 0; i < result->verdicts.len; i++) {
        const Verdict *v = &result->verdicts.at[i];
        if (v->predicted_us > 0 && (!most || v->bound_us > most->bound_us))
            most = v;
    }
    return most;
}

static bool judge_all(Listed *l, Diag *diag)
{
    MakeResult *result = l->job->result;
    ship_first(l->arena, l);
    l->answers = arena_array(l->arena, MakeAnswer, l->count + 1);
    pieces_do(&(Pieces){l->count, l->job->spec->jobs, wanted, work, take_listed, l});
    if (!sum_up(l, diag))
        return false;
    if (!result->verdicts.len)
        diag_error(diag, "M018", (Span){0},
                   "each of the %u listed cases has a tensor of more than %lld elements", l->count,
                   (long long)most_elements);
    if (!result->plan.craft.len && result->verdicts.len)
        diag_error(diag, "G004", (Span){0}, "%s", result->verdicts.at[0].reason);
    result->timed = largest(result);
    return result->verdicts.len && result->ok == result->verdicts.len;
}

bool make_cases(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    uint32_t listed = job->cases.lines.len;
    Listed l = {.arena = arena, .job = job, .count = listed};
    if (spec->only < 0 || spec->only > listed) {
        diag_error(diag, "M016", (Span){0}, "the list beside the file has %u cases", listed);
        return false;
    }
    if (spec->only) {
        l.first = (uint32_t)(spec->only - 1);
        l.count = 1;
    }
    result->task = read_shipped(arena, job, l.first, diag);
    if (!result->task)
        return false;
    if (spec->plan_only)
        return plan_make(arena, result->task->graph, spec->chip, 0, &result->plan, diag);
    return judge_all(&l, diag);
}
