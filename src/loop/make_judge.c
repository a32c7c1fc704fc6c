/* Judging one case of a task. In: what is to be shipped, the case. Out: an answer. Nothing of the
 * job is changed, so that any process can do it and the answer is the same in all of them. */
#include "loop/craft_edit.h"
#include "loop/make_int.h"
#include <string.h>

#include "loop/bench_judge_int.h"
#include "loop/bench_pool.h"

enum { FULL_SECONDS = 600 };
/* From this draw on one size after the other is 1, as long as there are sizes. */
enum { FIRST_SINGLE = 8 };

/* A case while it is read: what is known, what is still missing. */
typedef struct Reading {
    Arena *arena;
    const MakeJob *job;
    const MakeCase *c;
    TorchTask *task;
    Plan plan;
    bool serves; /* it is the shipped program's, with the operands of this size */
    IrTurns turns;
    EvalReference ref;
    Diag said;
} Reading;

/* Judges the case with the shipped program where that accepts these sizes and the task has the same constants at them:
 * that is what a user will run. False: the case needs a plan of its own. */
static bool use_shipped(Reading *r)
{
    MakeShipped shipped;
    r->turns.len = 0;
    r->serves = !r->c->tile_limit && make_shipped_read(r->arena, r->job, &shipped) &&
                make_shipped_serves(r->arena, r->job, &shipped, r->task->graph, &r->plan,
                                    &r->turns);
    return r->serves;
}

static bool read_and_plan(Reading *r, uint32_t tries, TorchOptions *options)
{
    const MakeJob *job = r->job;
    const MakeSpec *spec = job->spec;
    const MakeCase *c = r->c;
    r->said = diag_make(r->arena, spec->path, spec->source);
    sizes_in_ranges(r->arena, &spec->ranges, job->result->task, c->scale, options->seed,
                    c->draw + tries, options);
    if (tries == 0 && c->draw >= FIRST_SINGLE && !spec->ranges.len)
        sizes_single(r->arena, job->result->task, c->draw - FIRST_SINGLE, options);
    if (c->n_sets) {
        options->sets = c->sets;
        options->n_sets = c->n_sets;
    }
    r->task = torch_read_scaled(r->arena, spec->path, spec->source, options, c->scale, &r->said);
    return r->task && !graph_any_empty(r->task->graph) &&
           (use_shipped(r) ||
            make_plan(r->arena, job, r->task->graph, c->tile_limit, &r->plan, &r->said));
}

static bool must_wait(const Reading *r)
{
    return r->job->tunes && (r->serves || make_same(r->job->result, &r->plan));
}

/* Nothing is launched for empty tensors, a size of 1 can take an operator out of the planner's reach, and
 * at some sizes the task itself fails (an index beyond a tensor that has become smaller): such sizes
 * are drawn again. */
static bool read_case(Reading *r)
{
    const MakeCase *c = r->c;
    TorchOptions options = make_options(r->job, c->seed);
    for (uint32_t tries = 0; tries < 20; tries++) {
        bool planned = read_and_plan(r, tries, &options);
        if (planned && (must_wait(r) || eval_reference(r->arena, r->task->graph, c->seed,
                                                       RULE_ACRAFT, &r->ref, &r->said)))
            return true;
        eval_reference_free(&r->ref);
        if (planned && c->scale != SCALE_FUZZ)
            return false;
        options.seed += 1000003;
    }
    return false;
}

/* Else the text planned for these sizes, without its reasons: what is the same program is the same
 * text, and compiled once. */
static void choose_text(Reading *r, MakeAnswer *answer)
{
    const MakeJob *job = r->job;
    Plan *plan = &r->plan;
    answer->same = r->serves || make_same(job->result, plan);
    answer->turns = r->turns;
    plan->craft = answer->same ? job->result->plan.craft
                               : edit_without_reasons(r->arena, plan->craft);
}

static void judge_values(Reading *r, MakeAnswer *answer)
{
    const MakeSpec *spec = r->job->spec;
    Verdict *verdict = &answer->verdict;
    Buf trace = {0};
    EvalConfig config = {.chip = spec->chip,
                         .engine = spec->engine,
                         .trust = spec->trust,
                         .strict = spec->strict,
                         .trace = r->c->scale == SCALE_SMALL && spec->trace ? &trace : NULL,
                         .seconds = FULL_SECONDS};
    choose_text(r, answer);
    EvalCraft craft = make_candidate(r->arena, &r->plan);
    answer->said = diag_make(r->arena, craft.file, craft.text);
    eval_craft(r->arena, &craft, &r->ref, &config, verdict, &answer->said);
    if (verdict->status != VERDICT_OK && verdict->reason)
        verdict->reason = make_names(r->arena, r->task->graph, &r->plan, verdict->reason);
    answer->trace = str_copy(r->arena, buf_view(&trace));
    buf_free(&trace);
}

static void judge(Arena *arena, const MakeJob *job, const MakeCase *c, MakeAnswer *answer)
{
    Reading r = {.arena = arena, .job = job, .c = c};
    answer->planned = read_case(&r);
    answer->verdict.inputs = r.task ? make_inputs(arena, r.task->graph) : "";
    if (!answer->planned)
        verdict_fail(&answer->verdict, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                     r.said.items.len ? r.said.items.at[0].text : "the case could not be made");
    else if (must_wait(&r))
        answer->end = MAKE_LATER;
    else
        judge_values(&r, answer);
    eval_reference_free(&r.ref);
}

/* The task's own size without values. False: what the kernel does depends on them. */
static bool time_full(Arena *arena, const MakeJob *job, Verdict *verdict)
{
    EvalConfig config = {.chip = job->spec->chip,
                         .strict = job->spec->strict,
                         .trust = job->spec->trust,
                         .no_memo = job->spec->no_memo,
                         .seconds = FULL_SECONDS};
    EvalCraft craft = make_candidate(arena, &job->result->plan);
    Diag said = diag_make(arena, craft.file, craft.text);
    EvalTimer *timer = eval_timer_open(arena, &craft, job->result->task->graph, &config, verdict,
                                       &said);
    if (timer)
        eval_timer_run(arena, timer, craft.operands, NULL, 0, verdict);
    eval_timer_close(timer);
    return verdict->status != VERDICT_NEEDS_DATA;
}

void make_judge(Arena *arena, const MakeJob *job, const MakeCase *c, MakeAnswer *answer)
{
    double start = pool_clock();
    *answer = (MakeAnswer){.end = MAKE_JUDGED, .verdict = verdict_make()};
    answer->verdict.task = job->result->task->name;
    answer->verdict.candidate = "plan";
    answer->verdict.kase = c->name;
    answer->verdict.inputs = make_inputs(arena, job->result->task->graph);
    if (c->scale != SCALE_FULL || c->values)
        judge(arena, job, c, answer);
    else if (!time_full(arena, job, &answer->verdict))
        answer->end = MAKE_LEFT_OUT;
    answer->verdict.seconds = pool_clock() - start;
}

enum { PICTURE_SECONDS = 20 };

Str make_full_trace(Arena *arena, const MakeSpec *spec, MakeResult *result)
{
    Buf picture = {0};
    Verdict verdict = verdict_make();
    EvalConfig config = {.chip = spec->chip,
                         .strict = spec->strict,
                         .trust = spec->trust,
                         .no_memo = true,
                         .trace = &picture,
                         .seconds = PICTURE_SECONDS};
    EvalCraft craft = make_candidate(arena, &result->plan);
    Diag said = diag_make(arena, craft.file, craft.text);
    EvalTimer *timer = eval_timer_open(arena, &craft, result->task->graph, &config, &verdict,
                                       &said);
    if (timer)
        eval_timer_run(arena, timer, craft.operands, NULL, 0, &verdict);
    eval_timer_close(timer);
    Str cut = verdict.status == VERDICT_OK ? judge_trace(arena, &picture) : (Str){0};
    buf_free(&picture);
    return cut;
}
