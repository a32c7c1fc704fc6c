/* Stated ranges become ranges of the program's dims. In: a planned program, ranges of the model
 * file's integers. Out: the program with `n0 = dim(lo, hi)` where n0 is such an integer; a dim that
 * several sizes went into keeps the planner's range, widened where the upper end needs it. */
#include "loop/make_int.h"

#include "craft/craft.h"

typedef struct Dims {
    TuneTable table; /* for its names */
    int64_t size[TUNE_SIZES];
} Dims;

static bool dims_of(Arena *arena, const Plan *plan, Dims *dims)
{
    Diag said = diag_make(arena, plan->name, plan->craft);
    CraftFile *file = craft_read(arena, plan->name, plan->craft, &said);
    IrProgram *p = file && diag_ok(&said) ? craft_program(arena, file, 0, &said) : NULL;
    *dims = (Dims){0};
    if (!p || !tune_sizes(arena, p, make_operands(arena, plan), &dims->table, dims->size))
        return false;
    dims->table.names = p->dims.len < TUNE_SIZES ? p->dims.len : 0;
    return true;
}

/* The dims with one range at one of its ends, everything else at the task's own size. */
static bool dims_at(Arena *arena, const MakeJob *job, const MakeRange *range, int64_t value,
                    Dims *dims, Diag *diag)
{
    const MakeSpec *spec = job->spec;
    TorchSet *set = arena_new(arena, TorchSet);
    TorchOptions options = make_options(job, spec->seed);
    Plan plan;
    *set = (TorchSet){range->name, value};
    options.sets = set;
    options.n_sets = 1;
    TorchTask *task = torch_read(arena, spec->path, spec->source, &options, diag);
    return task && make_plan(arena, job, task->graph, 0, &plan, diag) &&
           dims_of(arena, &plan, dims);
}

/* n0 = dim(1, 1073741824)  ─▶  n0 = dim(16, 65536) */
static void put_dim(Arena *arena, const char *name, int64_t lo, int64_t hi, Plan *plan)
{
    const char *head = str_format(arena, "\n%s = dim(", name);
    ptrdiff_t at = str_find(plan->craft, str_from(head));
    if (at < 0)
        return;
    size_t from = (size_t)at + str_from(head).len;
    ptrdiff_t end = str_find(str_slice(plan->craft, from, plan->craft.len), STR(")"));
    if (end < 0)
        return;
    Buf out = {0};
    buf_str(&out, str_slice(plan->craft, 0, from));
    buf_printf(&out, "%lld, %lld", (long long)lo, (long long)hi);
    buf_str(&out, str_slice(plan->craft, from + (size_t)end, plan->craft.len));
    plan->craft = str_from(buf_take(&out, arena));
    buf_free(&out);
}

/* At a size of 1 axes fall together, and the program's dims are others. */
static int64_t low_end(const MakeRange *range) { return range->lo < 2 ? 2 : range->lo; }

static void limit(Arena *arena, const Dims *low, const Dims *high, const MakeRange *range,
                  Plan *plan)
{
    for (uint32_t i = 0; i < high->table.names; i++) {
        bool itself = high->size[i] == range->hi && low->size[i] == low_end(range);
        if (itself && range->lo < range->hi)
            put_dim(arena, high->table.name[i], range->lo, range->hi, plan);
        else if (high->size[i] > PLAN_DIM_MOST)
            put_dim(arena, high->table.name[i], 1, PLAN_DIM_HUGE, plan);
    }
}

bool make_limit(Arena *arena, MakeJob *job, Diag *diag)
{
    const MakeRanges *ranges = &job->spec->ranges;
    for (uint32_t i = 0; i < ranges->len; i++) {
        const MakeRange *r = &ranges->at[i];
        Diag said = diag_make(arena, job->spec->path, job->spec->source);
        Dims own, low = {0}, high;
        dims_at(arena, job, r, low_end(r), &low, &said);
        if (!dims_of(arena, &job->result->plan, &own) ||
            !dims_at(arena, job, r, r->hi, &high, diag))
            return false;
        if (high.table.names == own.table.names && low.table.names == own.table.names)
            limit(arena, &low, &high, r, &job->result->plan);
    }
    return true;
}
