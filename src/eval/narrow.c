/* Attributes of a candidate and the task's numbers. In: names of attributes. Out: their values, and the
 * reference for floats as an attribute carries them.
 *
 * A float that is an attribute of the operator reaches it as f32; 1 - 0.999 differs by 1e-5 then. So the
 * reference of such a candidate computes with the same f32. */
#include "eval/candidate_int.h"

#include <string.h>

static const TorchOperand *number_named(const EvalJudge *j, const char *name)
{
    const TorchTask *task = j->ref && j->ref->model ? j->ref->model->task : NULL;
    for (uint32_t i = 0; task && i < task->operands.len; i++)
        if (task->operands.at[i].role == OPERAND_ATTR && task->operands.at[i].count &&
            strcmp(task->operands.at[i].name, name) == 0)
            return &task->operands.at[i];
    for (uint32_t i = 0; task && i < task->numbers.len; i++)
        if (task->numbers.at[i].count && strcmp(task->numbers.at[i].name, name) == 0)
            return &task->numbers.at[i];
    return NULL;
}

static const char *user_value(const EvalJudge *j, const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; j->config->attrs && i < j->config->attrs->len; i++)
        if (strncmp(j->config->attrs->at[i], name, n) == 0 && j->config->attrs->at[i][n] == '=')
            return j->config->attrs->at[i] + n + 1;
    return NULL;
}

bool eval_attribute(const EvalJudge *j, const char *name, double *value)
{
    const char *given = user_value(j, name);
    const TorchOperand *o = number_named(j, name);
    if (given && (!strcmp(given, "true") || !strcmp(given, "false"))) {
        *value = given[0] == 't';
        return true;
    }
    if (given)
        return str_to_double(str_from(given), value);
    if (!o || o->attr == OPATTR_TEXT)
        return false;
    *value = o->attr == OPATTR_FLOAT || o->attr == OPATTR_FLOATS ? o->floats[0]
                                                                 : (double)o->ints[0];
    return true;
}

static bool is_narrowed(const EvalJudge *j, const NameList *attrs)
{
    for (uint32_t i = 0; i < attrs->len; i++) {
        const TorchOperand *o = number_named(j, attrs->at[i]);
        if (o && o->attr == OPATTR_FLOAT && (double)(float)o->floats[0] != o->floats[0])
            return true;
    }
    return false;
}

void eval_narrow(EvalJudge *j, const NameList *attrs, EvalNarrow *narrow)
{
    *narrow = (EvalNarrow){.own = j->ref};
    if (j->config->no_values || !is_narrowed(j, attrs))
        return;
    const EvalModel *model = j->ref->model;
    TorchOptions options = model->options;
    Diag said = diag_make(j->arena, model->path, model->source);
    options.narrow = true;
    TorchTask *task = torch_read(j->arena, model->path, model->source, &options, &said);
    if (!task || !eval_reference_like(j->arena, task->graph, j->ref, &narrow->ref, &said))
        return;
    eval_reference_model(j->arena, model->path, model->source, task, &options, &narrow->ref);
    j->ref = &narrow->ref;
}

void eval_narrow_end(EvalJudge *j, EvalNarrow *narrow)
{
    j->ref = narrow->own;
    eval_reference_free(&narrow->ref);
}
