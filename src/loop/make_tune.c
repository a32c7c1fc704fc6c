/* Tuning the shipped program over sizes. In: a planned program. Out: the same with a rule over the
 * shape in place of its choices. */
#include "loop/craft_edit.h"
#include "loop/make_int.h"

#include "craft/craft.h"

enum { MAX_SHAPES = 6, TUNE_RUNS = 16, MOST_KNOBS = 64 };

typedef struct Shapes {
    const EvalOperand *at[MAX_SHAPES];
    uint32_t len;
    const Graph *graph;
} Shapes;

/* Counts only where the plan is the shipped one. */
static void add_shape(Arena *arena, const MakeJob *job, const TorchTask *task, Shapes *shapes)
{
    Diag said = diag_make(arena, job->spec->path, STR(""));
    Plan plan;
    if (!task || shapes->len == MAX_SHAPES ||
        !make_plan(arena, job, task->graph, 0, &plan, &said) || !make_same(job->result, &plan))
        return;
    shapes->graph = task->graph;
    shapes->at[shapes->len++] = make_operands(arena, &plan);
}

static TorchTask *read_at(Arena *arena, const MakeJob *job, TorchScale scale)
{
    const MakeSpec *spec = job->spec;
    TorchOptions options = make_options(job, spec->seed);
    Diag said = diag_make(arena, spec->path, spec->source);
    sizes_in_ranges(arena, &spec->ranges, job->result->task, scale, spec->seed, 0, &options);
    return torch_read_scaled(arena, spec->path, spec->source, &options, scale, &said);
}

/* Small, medium, two sizes between, and medium with one of the largest integers small. */
static void find_shapes(Arena *arena, const MakeJob *job, Shapes *shapes)
{
    const MakeSpec *spec = job->spec;
    TorchOptions options = make_options(job, spec->seed);
    Diag said = diag_make(arena, spec->path, spec->source);
    TorchTask *small = read_at(arena, job, SCALE_SMALL), *large = read_at(arena, job, SCALE_MEDIUM);
    if (!small || !large || small->knobs.len > MOST_KNOBS)
        return;
    add_shape(arena, job, small, shapes);
    add_shape(arena, job, large, shapes);
    for (int step = 1; step <= 2; step++) {
        double share[MOST_KNOBS];
        for (uint32_t i = 0; i < small->knobs.len; i++)
            share[i] = step / 3.0;
        add_shape(
            arena, job,
            sizes_between(arena, spec->path, spec->source, &options, small, large, share, &said),
            shapes);
    }
    for (uint32_t k = 0; k < small->knobs.len; k++) {
        double share[MOST_KNOBS];
        for (uint32_t i = 0; i < small->knobs.len; i++)
            share[i] = i == k ? 0 : 1;
        if (small->knobs.at[k].value != large->knobs.at[k].value)
            add_shape(arena, job,
                      sizes_between(arena, spec->path, spec->source, &options, small, large, share,
                                    &said),
                      shapes);
    }
}

static bool has_choice(const MakeJob *job)
{
    Arena scratch = {0};
    bool has = edit_has_choice(&scratch, job->result->plan.craft);
    arena_drop(&scratch);
    return has;
}

TuneWork *make_tune_open(Arena *arena, MakeJob *job)
{
    MakeResult *result = job->result;
    Shapes shapes = {0};
    if (!has_choice(job))
        return NULL;
    find_shapes(arena, job, &shapes);
    if (!shapes.len)
        return NULL;
    EvalConfig *config = arena_new(arena, EvalConfig);
    EvalCraft *craft = arena_new(arena, EvalCraft);
    *config = (EvalConfig){.chip = job->spec->chip,
                           .trust = job->spec->trust,
                           .no_memo = job->spec->no_memo,
                           .only_time = true,
                           .straight = true};
    *craft = make_candidate(arena, &result->plan);
    TuneSpec spec = {
        .candidate = craft, .graph = shapes.graph, .config = config, .budget = TUNE_RUNS};
    Diag said = diag_make(arena, craft->file, craft->text);
    TuneWork *work = tune_work_open(arena, &spec, shapes.at, shapes.len, &result->tuned, &said);
    if (!work)
        result->tuned = (TuneTable){0};
    return work;
}

void make_tune_end(Arena *arena, MakeJob *job, TuneWork *work)
{
    MakeResult *result = job->result;
    if (!tune_work_end(work)) {
        result->tuned = (TuneTable){0};
        return;
    }
    result->rule = tune_fit(&result->tuned);
    result->rule_text = tune_rule_text(arena, &result->tuned, &result->rule);
    result->plan.craft = tune_rule_apply(arena, result->plan.craft, &result->tuned, &result->rule);
}
