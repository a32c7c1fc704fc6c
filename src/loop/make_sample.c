/* Cases to store beside a project. In: what was made. Out: files with inputs and expected results, at
 * sizes that the shipped program takes. */
#include "loop/make_sample.h"

#include "graph/npy.h"
#include "loop/make_int.h"

/* Elements of all tensors of a case that is stored. */
#define MOST_STORED 0x1p20

static const Tensor *tensor_of(const EvalReference *ref, const PlanOperand *o)
{
    const Graph *g = ref->graph;
    for (uint32_t i = 0; i < g->outputs.len && o->output; i++)
        if (g->outputs.at[i] == o->value)
            return ref->want[i];
    for (uint32_t i = 0; i < g->inputs.len && !o->output; i++)
        if (g->inputs.at[i] == o->value)
            return ref->in.inputs[i];
    for (uint32_t i = 0; i < g->params.len && !o->output; i++)
        if (g->params.at[i] == o->value)
            return ref->in.params[i];
    return NULL;
}

/* As the program's parameter sees it. */
static bool add_tensor(Arena *arena, const char *dir, const char *name, const PlanOperand *o,
                       const Tensor *t, MakeSamples *out)
{
    Tensor *seen = t ? tensor_alias(t, o->shape) : NULL;
    Buf text = {0};
    if (!seen)
        return false;
    npy_format(seen, &text);
    MakeSample file = {str_format(arena, "%s/%s_%s.npy", dir, o->output ? "out" : "in", name),
                       str_copy(arena, buf_view(&text))};
    vec_push(arena, out, file);
    buf_free(&text);
    tensor_free(seen);
    return true;
}

static bool add_case(Arena *arena, const MakeJob *job, const char *dir, const Plan *plan,
                     const Graph *graph, MakeSamples *out)
{
    Diag said = diag_make(arena, job->spec->path, job->spec->source);
    EvalReference ref = {0};
    uint32_t before = out->len;
    bool ok = eval_reference(arena, graph, job->spec->seed, RULE_ACRAFT, &ref, &said);
    for (uint32_t i = 0; ok && i < plan->operands.len; i++)
        ok = add_tensor(arena, dir, job->result->plan.operands.at[i].name, &plan->operands.at[i],
                        tensor_of(&ref, &plan->operands.at[i]), out);
    if (!ok)
        out->len = before;
    eval_reference_free(&ref);
    return ok;
}

static void try_case(Arena *arena, const MakeJob *job, const char *name, TorchScale scale,
                     uint64_t seed, MakeSamples *out)
{
    const MakeSpec *spec = job->spec;
    Diag said = diag_make(arena, spec->path, spec->source);
    TorchOptions options = make_options(job, seed);
    MakeShipped shipped;
    Plan plan;
    sizes_in_ranges(arena, &spec->ranges, job->result->task, scale, seed, 0, &options);
    TorchTask *task = torch_read_scaled(arena, spec->path, spec->source, &options, scale, &said);
    if (task && !graph_any_empty(task->graph) && make_elements(task->graph) <= MOST_STORED &&
        make_plan(arena, job, task->graph, 0, &plan, &said) &&
        make_shipped_read(arena, job, &shipped) && make_shipped_takes(arena, &shipped, &plan, NULL))
        add_case(arena, job, str_format(arena, "cases/%s", name), &plan, task->graph, out);
}

void make_samples(Arena *arena, const MakeSpec *spec, MakeResult *result, MakeSamples *out)
{
    MakeJob job = {.spec = spec, .result = result, .rounds = result->rounds};
    Diag said = diag_make(arena, spec->path, spec->source);
    torch_cases(arena, spec->path, &job.cases, &said);
    try_case(arena, &job, "tiny", SCALE_TINY, spec->seed, out);
    try_case(arena, &job, "odd", SCALE_FUZZ, spec->seed + 3, out);
    if (!out->len)
        try_case(arena, &job, "tiny", SCALE_FULL, spec->seed, out);
}
