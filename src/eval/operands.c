/* The task's tensors as a launch takes them. In: a case. Out: twin tensors named and ordered as the
 * kernel or operator expects, attributes as text.
 *
 * A task with an operand table (torch.h) says exactly what the operator's arguments are; else they
 * are the inputs of forward, the parameters, the outputs, and numbers the constructor was given. */
#include "eval/candidate_int.h"

#include "eval/footprint.h"
#include "eval/sample.h"

#include <string.h>

static bool set_tensor(const EvalJudge *j, TwinTensor *to, const char *name, DType dtype,
                       Shape shape, SimRole role)
{
    int64_t bytes;
    *to = (TwinTensor){.name = name, .dtype = dtype, .rank = (uint32_t)shape.rank, .role = role};
    if (!shape_bytes(shape, dtype, &bytes))
        return false;
    for (int d = 0; d < shape.rank; d++)
        to->shape[d] = (uint64_t)shape.dim[d];
    if (shape.rank == 0) {
        to->rank = 1;
        to->shape[0] = 1;
    }
    to->bytes = (size_t)bytes;
    return j->config->no_values || twin_tensor_alloc(to);
}

/* The memory of a sample, where there is one. */
static bool take_sample(const EvalJudge *j, TwinTensor *to, ValueId value)
{
    const TwinTensor *own = j->config->sample ? eval_sample_tensor(j->config->sample, value) : NULL;
    if (!own || own->bytes != to->bytes)
        return false;
    to->data = own->data;
    to->fd = own->fd;
    return true;
}

/* Without values, integers have theirs all the same: they decide where a kernel goes. */
enum { MOST_INDEX_BYTES = 64 << 20 };

Tensor *eval_index_values(EvalJudge *j, ValueId value)
{
    const Value *v = graph_value(j->ref->graph, value);
    Diag quiet = diag_make(j->arena, "", (Str){0});
    int64_t bytes;
    if (dtype_is_float(v->dtype) || !shape_bytes(v->shape, v->dtype, &bytes) ||
        bytes > MOST_INDEX_BYTES)
        return NULL;
    return graph_input(j->ref->graph, j->config->seed, value, &quiet);
}

static bool add_given(EvalJudge *j, EvalTensors *t, const char *name, const Tensor *from,
                      ValueId value)
{
    TwinTensor *to = &t->at[t->count];
    const Value *v = graph_value(j->ref->graph, value);
    if (!set_tensor(j, to, name, v->dtype, v->shape, SIM_IN))
        return false;
    t->values[t->count++] = value;
    if (take_sample(j, to, value))
        return true;
    Tensor *drawn = from ? NULL : eval_index_values(j, value);
    from = from ? from : drawn;
    if (from && to->bytes && (to->data || twin_tensor_alloc(to)))
        memcpy(to->data, from->at, to->bytes);
    tensor_free(drawn);
    return true;
}

/* The n-th input of a name: those of a list share theirs. */
static TwinTensor *input_named(EvalTensors *t, const char *name, uint32_t n)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->at[i].role != SIM_OUT && strcmp(t->at[i].name, name) == 0 && n-- == 0)
            return &t->at[i];
    return NULL;
}

static bool add_output(EvalJudge *j, EvalTensors *t, const char *name, uint32_t n, uint32_t output)
{
    const Value *want = graph_value(j->ref->graph, j->ref->graph->outputs.at[output]);
    const TwinTensor *same = input_named(t, name, n);
    TwinTensor *to = &t->at[t->count];
    if (!set_tensor(j, to, name, want->dtype, want->shape, SIM_OUT))
        return false;
    if (j->config->sample && (same || !take_sample(j, to, j->ref->graph->outputs.at[output])))
        return false;
    if (same && same->bytes == to->bytes) {
        if (to->data && same->data)
            memcpy(to->data, same->data, to->bytes);
        vec_push(j->arena, &t->in_place, name);
    }
    t->values[t->count] = VALUE_NONE;
    t->outputs[output] = t->count++;
    return true;
}

/* ---- without a table ---- */

static bool add_all(EvalJudge *j, EvalTensors *t)
{
    const Graph *g = j->ref->graph;
    GraphNames names = graph_names(j->arena, g);
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->inputs.len; i++)
        ok = add_given(j, t, names.inputs[i], eval_input(j, i), g->inputs.at[i]);
    for (uint32_t i = 0; ok && i < g->params.len; i++)
        ok = add_given(j, t, names.params[i], eval_param(j, i), g->params.at[i]);
    for (uint32_t i = 0; ok && i < g->outputs.len; i++)
        ok = add_output(j, t, names.outputs[i], 0, i);
    return ok;
}

/* ---- with a table ---- */

static void add_attr(EvalJudge *j, EvalTensors *t, const TorchOperand *o)
{
    Buf text = {0};
    buf_printf(&text, "%s=", o->name);
    if (o->attr == OPATTR_TEXT)
        buf_puts(&text, o->text);
    for (uint32_t i = 0; o->attr != OPATTR_TEXT && i < o->count; i++) {
        buf_puts(&text, i ? "," : "");
        if (o->attr == OPATTR_FLOAT || o->attr == OPATTR_FLOATS)
            buf_double(&text, o->floats[i]);
        else if (o->attr == OPATTR_BOOL)
            buf_puts(&text, o->ints[i] ? "true" : "false");
        else
            buf_printf(&text, "%lld", (long long)o->ints[i]);
    }
    vec_push(j->arena, &t->attrs, (const char *)buf_take(&text, j->arena));
    buf_free(&text);
}

static bool add_operand(EvalJudge *j, EvalTensors *t, const TorchOperand *o)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < o->count; i++) {
        TwinTensor *same = input_named(t, o->name, i);
        switch (o->role) {
        case OPERAND_IN:
        case OPERAND_OPT:
        case OPERAND_LIST:
            ok = add_given(j, t, o->name, eval_input(j, o->first + i),
                           j->ref->graph->inputs.at[o->first + i]);
            break;
        case OPERAND_OUT:
        case OPERAND_OUTS: ok = add_output(j, t, o->name, i, o->first + i); break;
        case OPERAND_MUT:
            if (!same)
                return false;
            same->role = SIM_INOUT;
            t->outputs[o->first + i] = (uint32_t)(same - t->at);
            break;
        case OPERAND_ATTR: break;
        }
    }
    if (o->role == OPERAND_ATTR && o->count)
        add_attr(j, t, o);
    return ok;
}

bool eval_tensors(EvalJudge *j, EvalTensors *t)
{
    const Graph *g = j->ref->graph;
    const TorchTask *task = j->ref->model ? j->ref->model->task : NULL;
    uint32_t most = g->inputs.len + g->params.len + g->outputs.len + 1;
    bool ok = true;
    *t = (EvalTensors){.at = arena_array(j->arena, TwinTensor, most),
                       .values = arena_array(j->arena, ValueId, most),
                       .outputs = arena_array(j->arena, uint32_t, g->outputs.len + 1)};
    for (uint32_t i = 0; i < g->outputs.len; i++)
        t->outputs[i] = UINT32_MAX;
    for (uint32_t i = 0; j->config->attrs && i < j->config->attrs->len; i++)
        vec_push(j->arena, &t->attrs, j->config->attrs->at[i]);
    if (task && task->operands.len)
        for (uint32_t i = 0; ok && i < task->operands.len; i++)
            ok = add_operand(j, t, &task->operands.at[i]);
    else
        ok = add_all(j, t);
    for (uint32_t i = 0; task && i < task->numbers.len; i++)
        if (task->numbers.at[i].count)
            add_attr(j, t, &task->numbers.at[i]);
    return ok ||
           eval_judge_fail(j, VERDICT_TOO_LARGE, STAGE_RUN, "no memory for the task's tensors");
}

void eval_tensors_free(const EvalJudge *j, EvalTensors *t)
{
    for (uint32_t i = 0; i < t->count && !j->config->sample; i++)
        twin_tensor_free(&t->at[i]);
    t->count = 0;
}

/* ---- a kernel's parameters by the table: operands in order, workspace, tiling ---- */

bool eval_operand_args(EvalJudge *j, const EvalTensors *t, const TwinParams *params, TwinArg *args)
{
    const TorchTask *task = j->ref->model ? j->ref->model->task : NULL;
    uint32_t n = 0, next = 0;
    for (uint32_t i = 0; task && i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        if (o->role == OPERAND_ATTR || o->role == OPERAND_MUT)
            continue;
        bool list = o->role == OPERAND_LIST || o->role == OPERAND_OUTS;
        if (n >= params->len)
            return false;
        args[n++] = (TwinArg){.kind = list       ? TWIN_ARG_LIST
                                      : o->count ? TWIN_ARG_TENSOR
                                                 : TWIN_ARG_NULL,
                              .index = next,
                              .count = o->count};
        next += o->count;
    }
    if (!n || next != t->count || params->len < n || params->len > n + 2)
        return false;
    for (uint32_t i = n; i < params->len; i++)
        args[i] = (TwinArg){.kind = i == n ? TWIN_ARG_WORKSPACE : TWIN_ARG_TILING};
    return true;
}

/* ---- reading ---- */

/* How much of a tensor was read; the launch may have had it in another place. */
static SimReadOf read_of(const EvalJudge *j, const TwinTensor *tensor, const TwinTensor *launched,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (launched[i].role == SIM_IN && launched[i].data == tensor->data &&
            (tensor->data || strcmp(launched[i].name, tensor->name) == 0))
            return twin_read_of(&j->observer, launched, i);
    return (SimReadOf){0};
}

const char *eval_unread(EvalJudge *j, const EvalTensors *t, const TwinTensor *launched,
                        uint32_t count)
{
    const double *need = eval_footprint(j->arena, j->ref->graph);
    for (uint32_t i = 0; i < t->count && !j->config->sample; i++) {
        if (t->values[i] == VALUE_NONE)
            continue;
        SimReadOf of = read_of(j, &t->at[i], launched, count);
        double wanted = need[t->values[i]] * (double)dtype_bytes(t->at[i].dtype);
        if (of.known && (double)of.read < wanted)
            return str_format(
                j->arena, "it reads %llu of the %llu bytes of '%s'; the task needs %.0f",
                (unsigned long long)of.read, (unsigned long long)of.bytes, t->at[i].name, wanted);
    }
    return NULL;
}

/* ---- comparison ---- */

bool eval_tensors_compare(EvalJudge *j, const EvalTensors *t)
{
    bool ok = true;
    for (uint32_t i = 0; i < j->ref->graph->outputs.len && !j->config->no_values; i++) {
        const TwinTensor *from = t->outputs[i] < t->count ? &t->at[t->outputs[i]] : NULL;
        Tensor *got = from ? tensor_new_raw(from->dtype, j->ref->want[i]->shape) : NULL;
        size_t bytes = got ? (size_t)got->count * dtype_bytes(got->dtype) : 0;
        if (bytes)
            memcpy(got->at, from->data, bytes < from->bytes ? bytes : from->bytes);
        ok = eval_compare(j->arena, j->ref, i, got, true, j->verdict) && ok;
        tensor_free(got);
    }
    return ok;
}
