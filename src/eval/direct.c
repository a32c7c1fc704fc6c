/* Kernels with their own host code and no model around it. In: a binding with one function, which
 * gets the task's inputs, or a program that reads and writes files. Out: its results, compared. */
#include "eval/device.h"

#include <string.h>

enum { MOST_ARGS = 256 };

typedef struct Direct {
    EvalJudge *j;
    EvalHost host;
    EvalDevice device;
    EvalTensors tensors;
    const char *function;
    uint32_t arity;
    const TwinValue *names; /* of its parameters */
    uint32_t name_count;    /* 0: the binding gives none */
} Direct;

/* ---- which function ---- */

static bool choose(Direct *x)
{
    EvalJudge *j = x->j;
    TwinBindCall list = {.function = ""};
    TwinBindDone done;
    uint32_t found = 0;
    if (!twin_binding_call(j->arena, x->host.binding, &list, &j->twin, &done, j->verdict))
        return false;
    for (uint32_t i = 0; i < done.events.len; i++) {
        const TwinEvent *e = &done.events.at[i];
        bool wanted = !j->candidate->entry[0] || strcmp(j->candidate->entry, e->name) == 0;
        if (e->kind != BIND_FUNCTION || !wanted)
            continue;
        x->function = e->name;
        x->arity = e->arity;
        x->names = e->args;
        x->name_count = e->count;
        found++;
    }
    if (found == 1)
        return true;
    return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT,
                           found ? "the host code offers several functions, name one"
                                 : "the host code offers no function to call");
}

/* ---- arguments ---- */

static bool add_tensor(Direct *x, const TwinTensor *t, TwinValue *v)
{
    EvalRoom *room = eval_device_add(x->j, &x->device, t->bytes);
    if (!room)
        return false;
    if (t->bytes && t->data)
        memcpy(room->memory.data, t->data, t->bytes);
    room->holds = t->data;
    room->known = room->given = true;
    *v = (TwinValue){.kind = BIND_TENSOR, .name = ""};
    v->view = (TwinView){.address = room->address, .dtype = t->dtype, .rank = t->rank};
    int64_t stride = 1;
    for (uint32_t d = t->rank; d-- > 0; stride *= v->view.size[d] > 0 ? v->view.size[d] : 1) {
        v->view.size[d] = (int64_t)t->shape[d];
        v->view.stride[d] = stride;
    }
    return true;
}

/* "eps=1e-05" as a number. */
static bool add_number(const char *attr, TwinValue *v)
{
    const char *equals = strchr(attr, '=');
    Str text = str_from(equals ? equals + 1 : "");
    *v = (TwinValue){.kind = BIND_INT, .name = ""};
    if (str_to_i64(text, &v->i))
        return true;
    v->kind = BIND_FLOAT;
    if (str_to_double(text, &v->f))
        return true;
    v->kind = BIND_BOOL;
    v->i = str_is(text, "true");
    return v->i || str_is(text, "false");
}

/* Numbers for the parameters behind the tensors, where the task has one of that name. */
static void place_by_name(Direct *x, TwinValue *args, uint32_t *count)
{
    for (uint32_t p = *count, all = *count; p < x->name_count && p < x->arity && *count < MOST_ARGS;
         p++) {
        Str name = x->names[p].text;
        for (uint32_t i = 0; i < x->tensors.attrs.len && *count == all; i++) {
            const char *attr = x->tensors.attrs.at[i];
            if (!strncmp(attr, name.at, name.len) && attr[name.len] == '=' &&
                add_number(attr, &args[*count]))
                args[(*count)++].name = str_dup(x->j->arena, name);
        }
        all = *count;
    }
}

static bool place(Direct *x, TwinValue *args, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < x->tensors.count && *count < MOST_ARGS; i++)
        if (x->tensors.at[i].role != SIM_OUT &&
            !add_tensor(x, &x->tensors.at[i], &args[(*count)++]))
            return false;
    if (x->name_count) {
        place_by_name(x, args, count);
        return true;
    }
    for (uint32_t i = 0; i < x->tensors.attrs.len && *count < x->arity; i++)
        if (add_number(x->tensors.attrs.at[i], &args[*count]))
            ++*count;
    *count = *count > x->arity ? x->arity : *count;
    return true;
}

/* ---- results ---- */

static bool compare_value(Direct *x, const TwinValue *v, uint32_t *output, bool *right)
{
    EvalJudge *j = x->j;
    for (uint32_t i = 0; v->kind == BIND_LIST && i < v->count; i++)
        if (!compare_value(x, &v->list[i], output, right))
            return false;
    if (v->kind != BIND_TENSOR)
        return true;
    if (*output >= j->ref->graph->outputs.len)
        return eval_judge_fail(j, VERDICT_WRONG, STAGE_COMPARE, "the host code returns too many");
    if (!eval_device_made(j, &x->device, v->view.address))
        return false;
    Tensor *got = eval_device_get(j, &x->device, &v->view);
    if (j->config->no_values) {
        *right = got && eval_has_shape(j, (*output)++, got) && *right;
        tensor_free(got);
        return true;
    }
    *right = got && eval_compare(j->arena, j->ref, (*output)++, got, true, j->verdict) && *right;
    tensor_free(got);
    return true;
}

/* Files stand for the outputs in the order in which they were written. */
static bool compare_files(Direct *x, const TwinEvents *events, uint32_t *output, bool *right)
{
    EvalJudge *j = x->j;
    for (uint32_t i = 0; i < events->len; i++) {
        const TwinEvent *e = &events->at[i];
        if (e->kind != BIND_OUTPUT || *output >= j->ref->graph->outputs.len)
            continue;
        if (j->config->no_values)
            return eval_judge_fail(j, VERDICT_NO_TIME, STAGE_RUN, "host code writes files");
        const Tensor *want = j->ref->want[*output];
        Tensor *got = tensor_new_raw(want->dtype, want->shape);
        size_t bytes = (size_t)want->count * dtype_bytes(want->dtype);
        if (e->data.len != bytes) {
            tensor_free(got);
            return eval_judge_fail(
                j, VERDICT_WRONG, STAGE_COMPARE,
                str_format(j->arena, "%s has %zu bytes, not %zu", e->name, e->data.len, bytes));
        }
        if (got && bytes)
            memcpy(got->at, e->data.at, bytes);
        *right = eval_compare(j->arena, j->ref, (*output)++, got, true, j->verdict) && *right;
        tensor_free(got);
    }
    return true;
}

/* Inputs that the task does not update must be unchanged after the launch. */
static bool inputs_stay(Direct *x)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < x->tensors.count && !eval_task_in_place(x->j); i++) {
        const TwinTensor *t = &x->tensors.at[i];
        if (t->role == SIM_OUT || room >= x->device.rooms.len || !x->device.rooms.at[room].given)
            continue;
        const EvalRoom *now = &x->device.rooms.at[room++];
        if (t->role == SIM_IN && t->bytes && memcmp(now->memory.data, t->data, t->bytes) != 0)
            return eval_judge_fail(x->j, VERDICT_HAZARD, STAGE_RUN,
                                   str_format(x->j->arena,
                                              "a kernel overwrites '%s', which the task "
                                              "leaves as it is",
                                              t->name));
    }
    return true;
}

static bool compare_all(Direct *x, const TwinBindDone *done)
{
    EvalJudge *j = x->j;
    uint32_t output = 0;
    bool right = true;
    if (!x->host.launches)
        return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN, "no kernel is launched");
    if ((!j->config->no_values && !inputs_stay(x)) || !eval_host_computes(&x->host))
        return false;
    if (!compare_value(x, &done->result, &output, &right) ||
        !compare_files(x, &done->events, &output, &right))
        return false;
    if (output < j->ref->graph->outputs.len)
        return eval_judge_fail(j, VERDICT_WRONG, STAGE_COMPARE,
                               str_format(j->arena, "the host code gives %u of %u outputs", output,
                                          j->ref->graph->outputs.len));
    return right;
}

static bool run(Direct *x)
{
    EvalJudge *j = x->j;
    TwinValue *args = arena_array(j->arena, TwinValue, MOST_ARGS + 1);
    TwinBindCall call = {.function = x->function, .args = args};
    TwinBindDone done;
    uint32_t executed;
    if (strcmp(x->function, "main") != 0 && !place(x, args, &call.arg_count))
        return false;
    return eval_host_call(&x->host, &x->device, &call, &done, &executed) &&
           eval_device_run(&x->host, &x->device, &done.events, executed, done.events.len) &&
           compare_all(x, &done);
}

bool eval_judge_direct(EvalJudge *j)
{
    Direct x = {.j = j};
    eval_device_open(&x.device);
    bool ok = eval_host_open(&x.host, j) && choose(&x) && eval_tensors(j, &x.tensors) && run(&x);
    eval_tensors_free(j, &x.tensors);
    eval_device_close(&x.device);
    eval_host_close(&x.host);
    return ok;
}
