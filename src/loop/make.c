/* Planning and judging one task. In: a model file. Out: a plan and a verdict per case. */
#include "loop/make.h"

#include "craft/craft.h"
#include "loop/bench_judge_int.h"
#include "loop/make_cases.h"
#include "loop/craft_edit.h"
#include "loop/make_int.h"
#include "torch/eager.h"
#include <math.h>

TorchOptions make_options(const MakeJob *job, uint64_t seed)
{
    return (TorchOptions){.seed = seed,
                          .cases = &job->cases,
                          .float_type = job->spec->float_type,
                          .hf32 = job->spec->hf32};
}

const EvalOperand *make_operands(Arena *arena, const Plan *plan)
{
    EvalOperand *operands = arena_array(arena, EvalOperand, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = (EvalOperand){plan->operands.at[i].value, plan->operands.at[i].shape,
                                    plan->operands.at[i].updates, plan->operands.at[i].result};
    return operands;
}

EvalCraft make_candidate(Arena *arena, const Plan *plan)
{
    return (EvalCraft){.file = str_format(arena, "%s.craft", plan->name),
                       .text = plan->craft,
                       .operands = make_operands(arena, plan),
                       .operand_count = plan->operands.len};
}

bool make_plan(Arena *arena, const MakeJob *job, Graph *graph, int64_t tile_limit, Plan *plan,
               Diag *diag)
{
    if (job->rounds)
        vec_push(arena, &graph->notes, plan_rounds);
    return plan_make(arena, graph, job->spec->chip, tile_limit, plan, diag);
}

bool make_same(const MakeResult *result, const Plan *plan)
{
    Arena scratch = {0};
    bool same = edit_same(&scratch, plan->craft, result->untuned);
    arena_drop(&scratch);
    return same;
}

bool make_excuse(const MakeSpec *spec, Verdict *verdict)
{
    bool only = spec->strict && verdict->status == VERDICT_HAZARD;
    for (uint32_t i = 0; i < verdict->hazards.len; i++)
        only = only && (verdict->hazards.at[i].inserted || verdict->hazards.at[i].warning);
    if (!only)
        return false;
    bool wrong = verdict->correct == VERDICT_NO;
    verdict->status = wrong ? VERDICT_WRONG : VERDICT_OK;
    verdict->stage = wrong ? STAGE_COMPARE : STAGE_DONE;
    verdict->reason = wrong ? "the values are wrong" : "";
    return !wrong;
}

bool make_lacks(const MakeResult *r)
{
    VerdictStatus first = r->verdicts.len ? r->verdicts.at[0].status : VERDICT_OK;
    return first == VERDICT_NO_TOOL || first == VERDICT_NO_WALL;
}

/* ---- the task and its plan ---- */

/* A program of ours that Craft does not take is our failure, not the task's. */
static bool plan_compiles(Arena *arena, MakeResult *result, Diag *diag)
{
    const char *file = str_format(arena, "%s.craft", result->plan.name);
    Diag said = diag_make(arena, file, result->plan.craft);
    CraftFile *craft = craft_read(arena, file, result->plan.craft, &said);
    if (craft && diag_ok(&said) && craft_program(arena, craft, 0, &said))
        return true;
    diag_error(diag, "G004", (Span){0},
               "the planner cannot plan this task yet: its program is "
               "refused: %s",
               said.items.len
                   ? make_names(arena, result->task->graph, &result->plan, said.items.at[0].text)
                   : "no reason given");
    result->plan = (Plan){0};
    return false;
}

/* The program that is shipped: of the planner, or of a schedule that somebody wrote. */
static bool plan_shipped(Arena *arena, const MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    if (!spec->schedule_file)
        return make_plan(arena, job, result->task->graph, 0, &result->plan, diag);
    return plan_by_schedule(arena, result->task->graph, spec->chip, spec->schedule_file,
                            spec->schedule, &result->plan, diag);
}

static bool read_and_plan(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    TorchOptions options = make_options(job, spec->seed);
    result->task = torch_read(arena, spec->path, spec->source, &options, diag);
    if (result->task && spec->ranges.len) {
        sizes_in_ranges(arena, &spec->ranges, result->task, SCALE_FULL, spec->seed, 0, &options);
        result->task = torch_read(arena, spec->path, spec->source, &options, diag);
    }
    if (result->task)
        torch_mark_held(arena, spec->path, spec->source, &options, result->task);
    return result->task && make_holds(arena, result->task, diag) &&
           plan_shipped(arena, job, diag) && plan_compiles(arena, result, diag) &&
           make_limit(arena, job, diag) && (make_note_fixed(arena, job), true);
}

/* What else is known about the task at this size. */
static void find_yardsticks(Arena *arena, const MakeJob *job)
{
    MakeResult *result = job->result;
    TorchEagerTable table = {0};
    Diag said = diag_make(arena, job->spec->path, STR(""));
    result->unfused_us = time_unfused_us(result->task->graph, job->spec->chip);
    result->eager_us = (double)NAN;
    if (job->spec->float_type != DT_F32)
        return;
    torch_eager_beside(arena, job->spec->path, &table, &said);
    const TorchEager *row = torch_eager_find(&table, result->task);
    if (row)
        result->eager_us = row->us;
}

bool make_again(Arena *arena, const MakeSpec *spec, MakeResult *result, Str craft, Verdict *verdict)
{
    MakeJob job = {.spec = spec, .result = result, .rounds = result->rounds};
    Diag said = diag_make(arena, spec->path, spec->source);
    MakeCase small = {.name = "written", .scale = SCALE_SMALL, .seed = spec->seed};
    MakeAnswer answer;
    Plan shipped = result->plan;
    torch_cases(arena, spec->path, &job.cases, &said);
    result->plan.craft = craft;
    make_judge(arena, &job, &small, &answer);
    result->plan = shipped;
    *verdict = answer.verdict;
    return verdict->status == VERDICT_OK;
}

/* The full size; where values decide what it does the same size with values, or else the small one. */
static const Verdict *timed_case(const MakeResult *result)
{
    static const char *const names[] = {"full", "own"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (uint32_t i = 0; i < result->verdicts.len; i++)
            if (str_is(str_from(result->verdicts.at[i].kase), names[n]))
                return &result->verdicts.at[i];
    return &result->verdicts.at[0];
}

static const Verdict *copy_of(Arena *arena, const Verdict *verdict)
{
    Verdict *copy = arena_new(arena, Verdict);
    *copy = *verdict;
    return copy;
}

/* Plans, tunes and judges. False: there is no plan. */
static bool make_once(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    MakeResult *result = job->result;
    *result = (MakeResult){.rule_text = "", .fixed = "", .free = ""};
    if (spec->trace)
        buf_clear(spec->trace);
    if (!read_and_plan(arena, job, diag))
        return false;
    if (spec->plan_only)
        return true;
    result->untuned = result->plan.craft;
    make_tune_and_judge(arena, job, diag);
    return true;
}

/* Values were wrong where the task computes in f16 or bf16: then every step is rounded, as it does. */
static bool may_round(const MakeResult *result)
{
    const Graph *g = result->task->graph;
    bool wrong = false, half = false;
    for (uint32_t i = 0; i < result->verdicts.len; i++)
        wrong = wrong || result->verdicts.at[i].status == VERDICT_WRONG;
    for (uint32_t i = 0; i < g->values.len && wrong; i++)
        half = half || g->values.at[i].dtype == DT_F16 || g->values.at[i].dtype == DT_BF16;
    return half;
}

/* Where the time goes, of programs of several kernels. */
static void find_shares(Arena *arena, const MakeSpec *spec, MakeResult *result)
{
    EvalCraft c = {.file = "plan.craft",
                   .text = result->plan.craft,
                   .operands = make_operands(arena, &result->plan),
                   .operand_count = result->plan.operands.len};
    EvalConfig config = {.chip = spec->chip, .trust = true, .straight = true};
    Verdict verdict = verdict_make();
    Diag quiet = diag_make(arena, c.file, c.text);
    EvalTimer *timer = eval_timer_open(arena, &c, result->task->graph, &config, &verdict, &quiet);
    bool several = timer && eval_timer_program(timer)->kernels.len > 1;
    if (several && !eval_timer_kernels(arena, timer, c.operands, &result->shares))
        result->shares = (EvalShares){0};
    eval_timer_close(timer);
}

bool make_kernel(Arena *arena, const MakeSpec *spec, MakeResult *result, Diag *diag)
{
    MakeJob job = {.spec = spec, .result = result, .rounds = spec->rounds};
    *result = (MakeResult){.rule_text = "", .fixed = "", .free = ""};
    if (!torch_cases(arena, spec->path, &job.cases, diag))
        return false;
    if (spec->listed && job.cases.lines.len)
        return make_cases(arena, &job, diag);
    if (!make_once(arena, &job, diag))
        return false;
    result->rounds = job.rounds;
    if (spec->plan_only || spec->tune_only)
        return true;
    if (!job.rounds && may_round(result)) {
        job.rounds = true;
        if (!make_once(arena, &job, diag))
            return false;
    }
    result->rounds = job.rounds;
    if (!result->verdicts.len) {
        diag_error(diag, "M017", (Span){0}, "this task has no case '%s'",
                   spec->one ? spec->one : "");
        return false;
    }
    find_yardsticks(arena, &job);
    const Verdict *last = timed_case(result);
    if (spec->full && last->status == VERDICT_OK && last->predicted_us > 0)
        result->timed = copy_of(arena, last);
    if (result->timed && result->ok == result->verdicts.len)
        find_shares(arena, spec, result);
    return result->ok == result->verdicts.len;
}
