/* Stated ranges become ranges of the program's dims. In: a planned program, ranges of the model
 * file's integers. Out: the program with `n0 = dim(lo, hi)` where n0 is such an integer; a dim that
 * several sizes went into keeps the planner's range, widened where the upper end needs it. */
#include "loop/craft_edit.h"
#include "loop/make_int.h"

#include "craft/craft.h"

typedef struct Dims {
    const IrProgram *program; /* NULL: none was made */
    int64_t *size;            /* beside its dims */
} Dims;

static bool dims_of(Arena *arena, const Plan *plan, Dims *dims)
{
    Diag said = diag_make(arena, plan->name, plan->craft);
    CraftFile *file = craft_read(arena, plan->name, plan->craft, &said);
    IrProgram *p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    *dims = (Dims){p, p ? arena_array(arena, int64_t, p->dims.len + 1) : NULL};
    return p && tune_dims(p, make_operands(arena, plan), dims->size);
}

/* The plan with one range at one of its ends, everything else at the task's own size, or inside its
 * own range. */
static bool plan_at(Arena *arena, const MakeJob *job, const MakeRange *range, int64_t value,
                    Plan *plan, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    TorchSet *sets = arena_array(arena, TorchSet, spec->ranges.len + 1);
    TorchOptions options = make_options(job, spec->seed);
    sizes_in_ranges(arena, &spec->ranges, job->result->task, SCALE_FULL, spec->seed, 0, &options);
    for (uint32_t i = 0; i < options.n_sets; i++)
        sets[i] = &spec->ranges.at[i] == range ? (TorchSet){range->name, value} : options.sets[i];
    options.sets = sets;
    TorchTask *task = torch_read(arena, spec->path, spec->source, &options, diag);
    return task && make_plan(arena, job, task->graph, 0, plan, diag);
}

/* At a size of 1 axes fall together, and the program's dims are others. */
static int64_t low_end(const MakeRange *range)
{
    return range->lo < 2 && range->hi > 1 ? 2 : range->lo;
}

/* A stated range that the program cannot have is no range: one of its ends is refused. */
static bool takes_ends(Arena *arena, const MakeJob *job, const MakeRange *range, const Plan *low,
                       const Plan *high, Diag *diag)
{
    MakeShipped shipped;
    if (!make_shipped_read(arena, job, &shipped))
        return false;
    bool takes_low = make_shipped_takes(arena, &shipped, low, NULL);
    if (takes_low && make_shipped_takes(arena, &shipped, high, NULL))
        return true;
    diag_error(diag, "M019", (Span){0},
               "--range %s=%lld..%lld: the program planned for this task takes one value of %s "
               "alone, and refuses %lld",
               range->name, (long long)range->lo, (long long)range->hi, range->name,
               (long long)(takes_low ? range->hi : low_end(range)));
    diag_hint(diag, "make one project for each value, for instance with --range %s=%lld..%lld",
              range->name, (long long)range->hi, (long long)range->hi);
    return false;
}

static void limit(Arena *arena, const Dims *low, const Dims *high, const MakeRange *range,
                  Plan *plan)
{
    for (uint32_t i = 0; i < high->program->dims.len; i++) {
        const IrVar *v = &high->program->vars.at[high->program->dims.at[i]];
        bool itself = high->size[i] == range->hi && low->size[i] == low_end(range);
        if (itself && range->lo < range->hi && !ir_is_derived(v))
            plan->craft = edit_dim(arena, plan->craft, v->name, range->lo, range->hi);
        else if (high->size[i] > PLAN_DIM_MOST)
            plan->craft = edit_dim(arena, plan->craft, v->name, 1, PLAN_DIM_HUGE);
    }
}

bool make_limit(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeRanges *ranges = &job->spec->ranges;
    for (uint32_t i = 0; i < ranges->len; i++) {
        const MakeRange *r = &ranges->at[i];
        Dims own, low = {0}, high;
        Plan at_low, at_high;
        if (!plan_at(arena, job, r, low_end(r), &at_low, diag) ||
            !plan_at(arena, job, r, r->hi, &at_high, diag) ||
            !dims_of(arena, &job->result->plan, &own) || !dims_of(arena, &at_low, &low) ||
            !dims_of(arena, &at_high, &high))
            return false;
        if (low.program && high.program->dims.len == own.program->dims.len &&
            low.program->dims.len == own.program->dims.len)
            limit(arena, &low, &high, r, &job->result->plan);
        if (r->lo < r->hi && !takes_ends(arena, job, r, &at_low, &at_high, diag))
            return false;
    }
    return true;
}
