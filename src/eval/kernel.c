/* A kernel file judged against a task: its parameters are the task's inputs, parameters and outputs,
 * by name, then in order. */
#include "eval/candidate_int.h"

#include <string.h>

static const EvalText *kernel_text(const EvalCandidate *c)
{
    for (uint32_t i = 0; i < c->texts.len; i++)
        if (eval_is_kernel(c->texts.at[i].text))
            return &c->texts.at[i];
    return NULL;
}

static TwinKernel *compile(EvalJudge *j, const EvalText *text)
{
    TwinSource source = {.path = text->path, .text = eval_include(j->arena, j->candidate, text)};
    if (j->candidate->entry[0])
        source.kernel = j->candidate->entry;
    j->diag->file = text->path;
    j->diag->source = text->text;
    return twin_compile(j->arena, &source, &j->twin, j->verdict, j->diag);
}

static const char *first_error(const EvalJudge *j, uint32_t from)
{
    for (uint32_t i = from; i < j->diag->items.len; i++)
        if (j->diag->items.at[i].level == DIAG_ERROR)
            return j->diag->items.at[i].text;
    return "its parameters do not fit the task";
}

static uint32_t blocks(const EvalJudge *j, const TwinKernel *kernel)
{
    SimKind kind = twin_kernel_kind(kernel, 0);
    const NpuChip *chip = j->config->chip;
    return j->config->blocks ? j->config->blocks : kind == SIM_AIV ? chip->aiv : chip->aic;
}

/* By address, or a struct by value that has no bytes yet. */
static bool is_tiling(const TwinArg *arg)
{
    return arg->kind == TWIN_ARG_TILING || (arg->kind == TWIN_ARG_VALUE && !arg->bytes.len);
}

/* A kernel whose tiling nobody gave has gone by zeros. */
static void say_zeros(EvalJudge *j, const TwinParams *params, const TwinArg *args)
{
    for (uint32_t i = 0; i < params->len; i++)
        if (is_tiling(&args[i]) && !j->config->tiling.len)
            diag_note(
                j->diag, "V013", (Span){0},
                "the kernel's parameter '%s' was all zeros: acraft run --tiling gives its bytes",
                params->at[i].name);
}

static bool launch(EvalJudge *j, const TwinKernel *kernel, EvalTensors *tensors,
                   const char **unread)
{
    const TwinParams *params = twin_kernel_params(kernel);
    uint32_t before = j->diag->items.len;
    TwinArg *args = arena_array(j->arena, TwinArg, params->len + 1);
    if (!eval_operand_args(j, tensors, params, args) &&
        !twin_bind(j->arena, params, tensors->at, tensors->count, j->config->attrs, &args, j->diag))
        return eval_judge_fail(j, VERDICT_BAD_TILING, STAGE_TILING, first_error(j, before));
    for (uint32_t i = 0; i < params->len; i++)
        if (args[i].kind == TWIN_ARG_VALUE && is_tiling(&args[i]))
            args[i].bytes = j->config->tiling;
    TwinLaunch l = {.tensors = tensors->at,
                    .tensor_count = tensors->count,
                    .args = args,
                    .arg_count = params->len,
                    .tiling = j->config->tiling,
                    .blocks = blocks(j, kernel)};
    TwinRun run;
    bool ok = twin_run(j->arena, kernel, &l, &j->twin, &run, j->verdict);
    if (!ok || j->verdict->hazards.len)
        say_zeros(j, params, args);
    *unread = eval_unread(j, tensors, l.tensors, l.tensor_count);
    eval_launched(j);
    return ok;
}

bool eval_judge_kernel(EvalJudge *j)
{
    const EvalText *text = kernel_text(j->candidate);
    if (!text)
        return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT,
                               "no kernel: no function is declared __global__ __aicore__");
    TwinKernel *kernel = compile(j, text);
    EvalTensors tensors = {0};
    if (!kernel)
        return false;
    const char *unread = NULL;
    bool ok = eval_tensors(j, &tensors) && launch(j, kernel, &tensors, &unread) &&
              eval_tensors_compare(j, &tensors);
    if (ok && unread)
        ok = eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN, unread);
    twin_release(kernel);
    eval_tensors_free(j, &tensors);
    return ok;
}
