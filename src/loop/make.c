/* Planning and judging one task. In: a model file. Out: a plan and a verdict per case. */
#include "loop/make.h"

#include "craft/craft.h"
#include "loop/make_cases.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct MakeCase {
    const char *name;
    TorchScale scale;
    uint64_t seed;
    int64_t tile_limit; /* 0: the program as it is shipped */
} MakeCase;

/* Tiles of so few elements make odd sizes long: rows are streamed and split over the cores. */
enum { TINY_TILE = 64, TUNE_RUNS = 16 };

static EvalCraft candidate(Arena *arena, const Plan *plan)
{
    EvalOperand *operands = arena_array(arena, EvalOperand, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = (EvalOperand){plan->operands.at[i].value, plan->operands.at[i].shape};
    return (EvalCraft){.file = str_format(arena, "%s.craft", plan->name),
                       .text = plan->craft,
                       .operands = operands,
                       .operand_count = plan->operands.len};
}

/* The program without the reasons at its top, which speak of one size. */
static Str program_of(const Plan *plan)
{
    ptrdiff_t at = str_find(plan->craft, STR("craft = 1"));
    return str_slice(plan->craft, at < 0 ? 0 : (size_t)at, plan->craft.len);
}

static bool any_empty(const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++)
        for (int d = 0; d < g->values.at[i].shape.rank; d++)
            if (g->values.at[i].shape.dim[d] == 0)
                return true;
    return false;
}

/* Nothing is launched for empty tensors, and a size of 1 can take an operator out of the planner's
 * reach: such sizes are drawn again. */
static TorchTask *read_case(Arena *arena, const MakeSpec *spec, const MakeCase *c,
                            TorchOptions *options, Plan *plan, Diag *diag)
{
    for (uint32_t tries = 0; tries < 20; tries++) {
        Diag own = diag_make(arena, spec->path, spec->source);
        TorchTask *task = torch_read_scaled(arena, spec->path, spec->source, options, c->scale,
                                            &own);
        bool planned = task && !any_empty(task->graph) &&
                       plan_make(arena, task->graph, spec->chip, c->tile_limit, plan, &own);
        if (planned)
            return task;
        *diag = own;
        options->seed += 1000003;
    }
    return NULL;
}

static void judge(Arena *arena, const MakeSpec *spec, const MakeCase *c, MakeResult *result,
                  Verdict *verdict, Diag *diag)
{
    TorchOptions options = {.seed = c->seed};
    EvalConfig config = {.chip = spec->chip, .engine = spec->engine, .trust = spec->trust};
    Diag own = diag_make(arena, spec->path, spec->source);
    Plan plan;
    TorchTask *task = read_case(arena, spec, c, &options, &plan, &own);
    EvalReference ref = {0};
    if (!task || !eval_reference(arena, task->graph, c->seed, RULE_ACRAFT, &ref, &own)) {
        verdict_fail(verdict, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                     own.items.len ? own.items.at[0].text : "the case could not be made");
    } else {
        bool same = str_equal(program_of(&plan), program_of(&result->plan));
        if (same)
            plan.craft = result->plan.craft; /* the same text is compiled once */
        result->other_plans += !same && !c->tile_limit;
        result->small_tiles += c->tile_limit != 0;
        EvalCraft craft = candidate(arena, &plan);
        Diag said = diag_make(arena, craft.file, craft.text);
        eval_craft(arena, &craft, &ref, &config, verdict, &said);
        for (uint32_t i = 0; i < said.items.len; i++)
            if (said.items.at[i].level == DIAG_ERROR)
                vec_push(diag->arena, &diag->items, said.items.at[i]);
    }
    eval_reference_free(&ref);
}

/* The medium size without values: the choices that make it fastest, and its predicted time. False:
 * what the kernel does depends on values. */
static bool tune_medium(Arena *arena, const MakeSpec *spec, const MakeCase *c, MakeResult *result,
                        Verdict *verdict)
{
    TorchOptions options = {.seed = c->seed};
    EvalConfig config = {.chip = spec->chip, .trust = spec->trust};
    Diag own = diag_make(arena, spec->path, spec->source);
    Plan plan;
    TorchTask *task = read_case(arena, spec, c, &options, &plan, &own);
    if (!task || !str_equal(program_of(&plan), program_of(&result->plan)))
        return false;
    plan.craft = result->plan.craft;
    EvalCraft craft = candidate(arena, &plan);
    TuneSpec tune = {
        .candidate = &craft, .graph = task->graph, .config = &config, .budget = TUNE_RUNS};
    Diag said = diag_make(arena, craft.file, craft.text);
    if (!tune_program(arena, &tune, &result->tuned, &said)) {
        result->tuned.rows.len = 0;
        return false;
    }
    Verdict best = result->tuned.verdict;
    best.task = verdict->task;
    best.candidate = verdict->candidate;
    best.kase = verdict->kase;
    *verdict = best;
    const TuneRow *row = &result->tuned.rows.at[result->tuned.best];
    result->plan.craft = tune_apply(arena, result->plan.craft, row);
    return true;
}

static void add_case(Arena *arena, const MakeSpec *spec, const MakeCase *c, uint32_t all,
                     MakeResult *result, Diag *diag)
{
    double start = now();
    Verdict v = verdict_make();
    v.task = result->task->name;
    v.candidate = "plan";
    v.kase = c->name;
    bool timed = c->scale == SCALE_MEDIUM && spec->engine == EVAL_TWIN &&
                 tune_medium(arena, spec, c, result, &v);
    if (!timed)
        judge(arena, spec, c, result, &v, diag);
    v.seconds = now() - start;
    result->ok += v.status == VERDICT_OK;
    vec_push(arena, &result->verdicts, v);
    if (spec->progress)
        spec->progress(spec->context, &v, result->verdicts.len, all);
}

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
               said.items.len ? said.items.at[0].text : "no reason given");
    result->plan = (Plan){0};
    return false;
}

bool make_kernel(Arena *arena, const MakeSpec *spec, MakeResult *result, Diag *diag)
{
    TorchOptions options = {.seed = spec->seed};
    uint32_t all = 1 + spec->fuzz + spec->medium;
    TorchCases cases = {0};
    *result = (MakeResult){0};
    if (!torch_cases(arena, spec->path, &cases, diag))
        return false;
    if (spec->listed && cases.lines.len)
        return make_cases(arena, spec, &cases, result, diag);
    result->task = torch_read(arena, spec->path, spec->source, &options, diag);
    if (!result->task ||
        !plan_make(arena, result->task->graph, spec->chip, 0, &result->plan, diag) ||
        !plan_compiles(arena, result, diag))
        return false;
    if (spec->plan_only)
        return true;
    MakeCase small = {"small", SCALE_SMALL, spec->seed, 0};
    add_case(arena, spec, &small, all, result, diag);
    for (uint32_t i = 0; i < spec->fuzz; i++) {
        MakeCase c = {str_format(arena, "fuzz%u", i), SCALE_FUZZ, spec->seed + 1 + i,
                      i % 2 ? TINY_TILE : 0};
        add_case(arena, spec, &c, all, result, diag);
    }
    if (spec->medium) {
        MakeCase medium = {"medium", SCALE_MEDIUM, spec->seed, 0};
        add_case(arena, spec, &medium, all, result, diag);
    }
    return result->ok == all;
}
