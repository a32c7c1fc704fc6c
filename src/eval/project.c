/* An operator project judged against a task: the inputs of its op definition are the task's, by name,
 * then in order; its own tiling function decides blocks and tiling. */
#include "eval/candidate_int.h"

#include <string.h>

static bool in_folder(const char *path, const char *folder)
{
    const char *at = strstr(path, folder);
    return at && (at == path || at[-1] == '/');
}

void eval_candidate_project(Arena *arena, const EvalCandidate *c, TwinProject *project)
{
    *project = (TwinProject){0};
    for (uint32_t i = 0; i < c->texts.len; i++) {
        const EvalText *text = &c->texts.at[i];
        TwinHostFile file = {.path = text->path};
        bool host = in_folder(text->path, "op_host/"), kernel = in_folder(text->path, "op_kernel/");
        if (!(host || kernel) || !str_ends(str_from(text->path), ".cpp"))
            continue;
        if (host && twin_is_library_glue(text->path, text->text))
            continue;
        file.text = eval_include(arena, c, text);
        if (host)
            vec_push(arena, &project->host, file);
        else
            vec_push(arena, &project->kernel, file);
    }
}

/* A tiling function decides by shapes, and by values that say sizes or are single numbers. */
enum { MOST_BY_VALUE = 64, MOST_INTEGERS = 256 };

static uint64_t most_by_value(DType dtype)
{
    return (dtype_is_float(dtype) ? MOST_BY_VALUE : MOST_INTEGERS) * dtype_bytes(dtype);
}

bool eval_values_stay(EvalJudge *j, const TwinOp *op, const TwinTensor *tensors, uint32_t count)
{
    for (uint32_t i = 0; op && i < op->inputs.len; i++)
        for (uint32_t k = 0; op->inputs.at[i].by_value && k < count; k++)
            if (strcmp(tensors[k].name, op->inputs.at[i].name) == 0 &&
                tensors[k].bytes > most_by_value(tensors[k].dtype))
                return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_TILING,
                                       str_format(j->arena,
                                                  "the tiling function asks for the values of "
                                                  "'%s': computing is the kernel's",
                                                  tensors[k].name));
    return true;
}

static const TwinOp *only_op(const EvalJudge *j, const TwinOpened *opened)
{
    const TwinOps *ops = twin_host_ops(twin_project_host(opened));
    for (uint32_t i = 0; i < ops->len; i++)
        if (!j->candidate->entry[0] || strcmp(ops->at[i].name, j->candidate->entry) == 0)
            return &ops->at[i];
    return NULL;
}

static bool judge_opened(EvalJudge *j, TwinProject *project, TwinOpened *opened)
{
    EvalTensors tensors = {0};
    TwinTensors made = {0};
    TwinRun run = {0};
    const char *unread = NULL;
    bool ok = eval_tensors(j, &tensors) &&
              eval_values_stay(j, only_op(j, opened), tensors.at, tensors.count);
    project->open = tensors.in_place;
    TwinCase kase = {.op = j->candidate->entry[0] ? j->candidate->entry : NULL,
                     .tensors = tensors.at,
                     .tensor_count = tensors.count,
                     .attrs = tensors.attrs,
                     .inferred = j->config->inferred};
    if (ok) {
        ok = twin_project_run(j->arena, opened, &kase, &j->twin, &made, &run, j->verdict, j->diag);
        unread = eval_unread(j, &tensors, run.tensors, run.tensor_count);
        eval_launched(j);
    }
    ok = ok && eval_tensors_compare(j, &tensors);
    if (ok && unread)
        ok = eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN, unread);
    for (uint32_t i = 0; i < made.len; i++)
        twin_tensor_free(&made.at[i]);
    eval_tensors_free(j, &tensors);
    return ok;
}

bool eval_judge_project(EvalJudge *j)
{
    TwinProject project;
    eval_candidate_project(j->arena, j->candidate, &project);
    if (!project.host.len || !project.kernel.len)
        return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT,
                               project.host.len ? "the project has no kernel"
                                                : "the project has no host");
    TwinOpened *opened = twin_project_open(j->arena, &project, &j->twin, j->verdict, j->diag);
    if (!opened)
        return false;
    const TwinOp *op = only_op(j, opened);
    NameList attrs = {0};
    for (uint32_t i = 0; op && i < op->attrs.len; i++)
        vec_push(j->arena, &attrs, op->attrs.at[i].name);
    EvalNarrow narrow;
    eval_narrow(j, &attrs, &narrow);
    bool ok = judge_opened(j, &project, opened);
    twin_project_close(opened);
    eval_narrow_end(j, &narrow);
    return ok;
}
