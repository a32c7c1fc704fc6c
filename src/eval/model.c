/* A candidate with a Python model around its binding: forward is read by our reader, and each call
 * into the binding is executed at once on the twin, so that what follows sees real values. PyTorch
 * itself may only move elements on the way: a candidate that computes with it is named. */
#include "eval/device.h"

#include "eval/sample.h"

#include <string.h>

/* ---- what is known of the model's values ---- */

typedef struct KnownValue {
    const ValueId *id; /* numbered by the reader once the call has returned */
    Tensor *tensor;
} KnownValue;

typedef struct ParamValue {
    ValueId source;
    Tensor *tensor;
} ParamValue;

/* A result of a launch that ran in part, with its memory. */
typedef struct SampledResult {
    const ValueId *id;
    TwinTensor memory;
} SampledResult;

typedef struct Model {
    EvalJudge *j;
    EvalHost host;
    VEC(KnownValue) known;
    VEC(ParamValue) params;
    bool *taken; /* parameters of the task that the model already has */
    VEC(SampledResult) sampled;
} Model;

/* ---- parameters ---- */

static const char *tail(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot ? dot + 1 : name ? name : "";
}

static bool same_parameter(const char *a, const char *b)
{
    static const char *const names[][3] = {{"weight", "gamma", "scale"}, {"bias", "beta", "shift"}};
    a = tail(a);
    b = tail(b);
    if (strcmp(a, b) == 0)
        return a[0];
    for (size_t row = 0; row < sizeof names / sizeof *names; row++) {
        bool has_a = false, has_b = false;
        for (size_t i = 0; i < 3; i++) {
            has_a = has_a || strcmp(a, names[row][i]) == 0;
            has_b = has_b || strcmp(b, names[row][i]) == 0;
        }
        if (has_a && has_b)
            return true;
    }
    return false;
}

/* The task's parameter that the model means: by name, else the next of that shape. -1: none. */
static int find_parameter(Model *m, const Value *v)
{
    const EvalReference *ref = m->j->ref;
    for (int by_name = 1; by_name >= 0; by_name--) {
        for (uint32_t i = 0; i < ref->in.n_params; i++) {
            const Value *own = graph_value(ref->graph, ref->graph->params.at[i]);
            bool fits = !m->taken[i] && own->dtype == v->dtype && shape_equal(own->shape, v->shape);
            if (fits && (!by_name || same_parameter(v->name, own->name)))
                return (int)i;
        }
    }
    return -1;
}

/* A parameter that the task has not: as the model's own constructor makes it. */
static Tensor *own_parameter(Model *m, const Graph *source, ValueId id)
{
    Graph g = *source;
    Tensor *out = NULL;
    EvalOptions options = {.seed = m->j->ref->in.seed};
    Diag quiet = diag_make(m->j->arena, "model", (Str){0});
    g.outputs.at = &id;
    g.outputs.len = 1;
    Graph *pruned = graph_prune(m->j->arena, &g);
    graph_eval(pruned, NULL, NULL, &options, &out, &quiet);
    return out;
}

static Tensor *parameter(Model *m, const Graph *source, const Value *v)
{
    for (uint32_t i = 0; i < m->params.len; i++)
        if (m->params.at[i].source == v->source)
            return m->params.at[i].tensor;
    int at = find_parameter(m, v);
    Tensor *t = at >= 0 ? tensor_copy(m->j->ref->in.params[at])
                        : own_parameter(m, source, v->source);
    if (at >= 0)
        m->taken[at] = true;
    ParamValue p = {v->source, t};
    vec_push(m->j->arena, &m->params, p);
    return t;
}

/* ---- values ---- */

typedef VEC(ValueId) Ids;
typedef VEC(Tensor *) TensorPointers;

static void add_known(Model *m, Graph *g, TensorPointers *tensors)
{
    const Graph old = *g;
    g->inputs.at = NULL;
    g->inputs.len = g->inputs.cap = 0;
    for (uint32_t i = 0; i < old.inputs.len && i < m->j->ref->graph->inputs.len; i++) {
        vec_push(m->j->arena, &g->inputs, old.inputs.at[i]);
        vec_push(m->j->arena, tensors, (Tensor *)eval_input(m->j, i));
    }
    for (uint32_t i = 0; i < m->known.len; i++) {
        if (*m->known.at[i].id == VALUE_NONE)
            continue;
        vec_push(m->j->arena, &g->inputs, *m->known.at[i].id);
        vec_push(m->j->arena, tensors, m->known.at[i].tensor);
    }
}

/* Without values: tensors of the right shapes, whose memory nobody touches. */
static bool shapes_only(Model *m, const Graph *graph, const Ids *ids, Tensor **out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < ids->len; i++) {
        const Value *v = graph_value(graph, ids->at[i]);
        out[i] = tensor_new_raw(v->dtype, v->shape);
        ok = out[i];
    }
    return ok ||
           eval_judge_fail(m->j, VERDICT_TOO_LARGE, STAGE_RUN, "no memory for the model's tensors");
}

/* Works out values of the main graph from inputs, parameters and what kernels gave. */
static bool values(Model *m, const Graph *graph, const Graph *source, const Ids *ids, Tensor **out)
{
    EvalJudge *j = m->j;
    Graph g = *graph;
    TensorPointers inputs = {0}, params = {0};
    EvalOptions options = {.seed = j->ref->in.seed};
    add_known(m, &g, &inputs);
    g.outputs.at = ids->at;
    g.outputs.len = ids->len;
    Graph *pruned = graph_prune(j->arena, &g);
    if (j->config->no_values)
        return eval_moves_only(j, pruned, NULL, NULL) && shapes_only(m, graph, ids, out);
    for (uint32_t i = 0; i < pruned->params.len; i++) {
        Tensor *t = parameter(m, source, graph_value(pruned, pruned->params.at[i]));
        if (!t)
            return eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_RUN,
                                   "a parameter of the model could not be made");
        vec_push(j->arena, &params, t);
    }
    Diag own = diag_make(j->arena, "model", (Str){0});
    bool theirs = !j->candidate->entry[0]; /* the benchmark's own model may do as it likes */
    if (!theirs && !eval_moves_only(j, pruned, inputs.at, params.at))
        return false;
    if (graph_eval(pruned, inputs.at, params.at, &options, out, &own))
        return true;
    return eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_RUN,
                           own.items.len ? own.items.at[0].text : "the model's values");
}

/* ---- a call of the binding ---- */

typedef struct Serving {
    Model *m;
    EvalDevice device;
    Tensor **given; /* by TorchArg.tensor */
    Ids ids;        /* the values they are copies of */
    uint64_t *addresses;
} Serving;

static TwinView dense_view(uint64_t address, DType dtype, Shape shape)
{
    TwinView v = {.address = address, .dtype = dtype, .rank = (uint32_t)shape.rank};
    int64_t stride = 1;
    for (int d = shape.rank - 1; d >= 0; d--) {
        v.size[d] = shape.dim[d];
        v.stride[d] = stride;
        stride *= shape.dim[d] > 0 ? shape.dim[d] : 1;
    }
    return v;
}

static TwinValue pass(Serving *s, const TorchArg *a)
{
    static const enum BindValue kinds[] = {
        [TORCH_ARG_NONE] = BIND_NONE, [TORCH_ARG_BOOL] = BIND_BOOL,
        [TORCH_ARG_INT] = BIND_INT,   [TORCH_ARG_FLOAT] = BIND_FLOAT,
        [TORCH_ARG_TEXT] = BIND_TEXT, [TORCH_ARG_TENSOR] = BIND_TENSOR,
        [TORCH_ARG_LIST] = BIND_LIST};
    TwinValue v = {.kind = kinds[a->kind], .name = a->name, .i = a->i, .f = a->f, .text = a->text};
    if (a->kind == TORCH_ARG_TENSOR)
        v.view = dense_view(s->addresses[a->tensor], a->dtype, a->shape);
    if (a->kind == TORCH_ARG_LIST) {
        TwinValue *list = arena_array(s->m->j->arena, TwinValue, a->count + 1);
        for (uint32_t i = 0; i < a->count; i++)
            list[i] = pass(s, &a->list[i]);
        v.list = list;
        v.count = a->count;
    }
    return v;
}

static void collect_ids(Arena *arena, const TorchArg *a, Ids *ids)
{
    if (a->kind == TORCH_ARG_TENSOR)
        vec_push(arena, ids, a->value);
    for (uint32_t i = 0; a->kind == TORCH_ARG_LIST && i < a->count; i++)
        collect_ids(arena, &a->list[i], ids);
}

/* Without values, an input of integers as it is has its own. */
static void place_indices(Serving *s, const Graph *graph, ValueId id, EvalRoom *room)
{
    EvalJudge *j = s->m->j;
    for (uint32_t i = 0; i < graph->inputs.len && i < j->ref->graph->inputs.len; i++) {
        Tensor *t = graph->inputs.at[i] == id ? eval_index_values(j, j->ref->graph->inputs.at[i])
                                              : NULL;
        if (t && (size_t)t->count * dtype_bytes(t->dtype) == room->memory.bytes) {
            memcpy(room->memory.data, t->at, room->memory.bytes);
            room->holds = true;
        }
        tensor_free(t);
    }
}

/* Skips nodes that only reshape: the value before them has the same elements in the same order. */
static ValueId unreshaped(const Graph *graph, ValueId id)
{
    for (const Node *node; (node = graph_maker(graph, id)) != NULL && node->op == OP_RESHAPE;)
        id = node->in[0];
    return id;
}

/* The sample's tensor that a value of the model is; NULL: it is none as it lies. */
static const TwinTensor *sample_of(Model *m, const Graph *graph, ValueId id)
{
    const EvalJudge *j = m->j;
    const Graph *task = j->ref->graph;
    id = unreshaped(graph, id);
    for (uint32_t i = 0; i < graph->inputs.len && i < task->inputs.len; i++)
        if (graph->inputs.at[i] == id)
            return eval_sample_tensor(j->config->sample, task->inputs.at[i]);
    const Value *v = graph_value(graph, id);
    for (uint32_t i = 0; v->kind == VALUE_PARAM && i < task->params.len; i++) {
        const Value *own = graph_value(task, task->params.at[i]);
        if (own->dtype == v->dtype && shape_equal(own->shape, v->shape) &&
            same_parameter(v->name, own->name))
            return eval_sample_tensor(j->config->sample, task->params.at[i]);
    }
    return NULL;
}

/* Copies of the arguments in device memory; the same value twice is the same memory. */
static bool place_arguments(Serving *s, const TorchCall *call)
{
    EvalJudge *j = s->m->j;
    Ids ids = {0};
    for (uint32_t i = 0; i < call->arg_count; i++)
        collect_ids(j->arena, &call->args[i], &ids);
    s->ids = ids;
    s->given = arena_array(j->arena, Tensor *, ids.len + 1);
    s->addresses = arena_array(j->arena, uint64_t, ids.len + 1);
    if (!ids.len)
        return true;
    if (!values(s->m, call->graph, call->source, &ids, s->given))
        return false;
    for (uint32_t i = 0; i < ids.len; i++) {
        const Tensor *t = s->given[i];
        for (uint32_t k = 0; k < i && !s->addresses[i]; k++)
            if (ids.at[k] == ids.at[i])
                s->addresses[i] = s->addresses[k];
        if (s->addresses[i])
            continue;
        size_t bytes = (size_t)t->count * dtype_bytes(t->dtype);
        EvalRoom *room = eval_device_add(j, &s->device, bytes);
        if (!room)
            return false;
        const TwinTensor *own = j->config->sample ? sample_of(s->m, call->graph, ids.at[i]) : NULL;
        if (j->config->sample && (!own || own->bytes != bytes))
            return eval_judge_fail(j, VERDICT_NO_TIME, STAGE_RUN, "the model moves elements");
        if (own) {
            twin_tensor_free(&room->memory);
            room->memory.data = own->data;
            room->memory.fd = own->fd;
            room->lent = true;
        }
        if (bytes && !j->config->no_values)
            memcpy(room->memory.data, t->at, bytes);
        if (j->config->no_values && !own)
            place_indices(s, call->graph, ids.at[i], room);
        room->known = room->given = true;
        s->addresses[i] = room->address;
    }
    return true;
}

static void know(Model *m, const ValueId *id, Tensor *t)
{
    KnownValue known = {id, t};
    vec_push(m->j->arena, &m->known, known);
}

/* What the call gives back, with its elements. */
static bool take_result(Serving *s, const TwinValue *v, TorchArg *a)
{
    EvalJudge *j = s->m->j;
    *a = (TorchArg){.kind = TORCH_ARG_NONE, .name = "", .i = v->i, .f = v->f, .text = v->text};
    switch (v->kind) {
    case BIND_BOOL: a->kind = TORCH_ARG_BOOL; break;
    case BIND_INT: a->kind = TORCH_ARG_INT; break;
    case BIND_FLOAT: a->kind = TORCH_ARG_FLOAT; break;
    case BIND_TEXT: a->kind = TORCH_ARG_TEXT; break;
    case BIND_TENSOR: {
        Tensor *t = eval_device_made(j, &s->device, v->view.address)
                        ? eval_device_get(j, &s->device, &v->view)
                        : NULL;
        if (!t)
            return false;
        a->kind = TORCH_ARG_TENSOR;
        a->shape = t->shape;
        a->dtype = t->dtype;
        a->value = VALUE_NONE;
        know(s->m, &a->value, t);
        EvalRoom *room = eval_device_at(&s->device, v->view.address);
        if (room && room->sampled && twin_view_dense(&v->view) &&
            room->memory.bytes == (size_t)t->count * dtype_bytes(t->dtype)) {
            vec_push(j->arena, &s->m->sampled, ((SampledResult){&a->value, room->memory}));
            room->lent = true;
        }
        break;
    }
    case BIND_LIST: {
        TorchArg *list = arena_array(j->arena, TorchArg, v->count + 1);
        a->kind = TORCH_ARG_LIST;
        a->list = list;
        a->count = v->count;
        for (uint32_t i = 0; i < v->count; i++)
            if (!take_result(s, &v->list[i], &list[i]))
                return false;
        break;
    }
    default: break;
    }
    return true;
}

/* The value is one of the task's inputs or parameters, perhaps under another shape. */
static const char *task_input(const Graph *graph, ValueId id)
{
    const Value *v = graph_value(graph, unreshaped(graph, id));
    bool given = v->kind == VALUE_INPUT || v->kind == VALUE_PARAM;
    return given ? (v->name ? v->name : "an input") : NULL;
}

/* The benchmark's own binding gives this argument back: its operator writes in place (NPUKernelBench's Gemm). */
static bool is_theirs_to_write(Serving *s, uint32_t argument)
{
    const EvalRoom *room = eval_device_at(&s->device, s->addresses[argument]);
    return eval_host_is_theirs(s->m->j) && room && room->is_result;
}

/* Arguments that are not what they were have been written. */
static bool take_written(Serving *s, TorchCall *call)
{
    for (uint32_t i = 0; i < call->tensor_count && !s->m->j->config->no_values; i++) {
        const Tensor *before = s->given[i];
        TwinView view = dense_view(s->addresses[i], before->dtype, before->shape);
        Tensor *now = eval_device_get(s->m->j, &s->device, &view);
        if (!now)
            return false;
        call->written[i] = !tensor_equal(before, now);
        const char *input = call->written[i] ? task_input(call->graph, s->ids.at[i]) : NULL;
        if (input && !eval_task_in_place(s->m->j) && !is_theirs_to_write(s, i)) {
            tensor_free(now);
            return eval_judge_fail(s->m->j, VERDICT_HAZARD, STAGE_RUN,
                                   str_format(s->m->j->arena,
                                              "a kernel overwrites '%s', which the "
                                              "task leaves as it is",
                                              input));
        }
        if (call->written[i] && !eval_device_made(s->m->j, &s->device, s->addresses[i])) {
            tensor_free(now);
            return false;
        }
        if (call->written[i])
            know(s->m, &call->after[i], now);
        else
            tensor_free(now);
    }
    return true;
}

static bool serve(Serving *s, TorchCall *call)
{
    EvalJudge *j = s->m->j;
    const char *dot = strrchr(call->function, '.');
    TwinBindCall bind = {.function = dot ? dot + 1 : call->function};
    TwinBindDone done;
    uint32_t executed;
    if (strncmp(call->function, "torch_npu.", 10) == 0)
        return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                               str_format(j->arena, "line %u of the model calls the vendor's %s",
                                          call->at.line, call->function));
    if (!place_arguments(s, call))
        return false;
    TwinValue *args = arena_array(j->arena, TwinValue, call->arg_count + 1);
    for (uint32_t i = 0; i < call->arg_count; i++)
        args[i] = pass(s, &call->args[i]);
    bind.args = args;
    bind.arg_count = call->arg_count;
    return eval_host_call(&s->m->host, &s->device, &bind, &done, &executed) &&
           eval_device_run(&s->m->host, &s->device, &done.events, executed, done.events.len) &&
           take_result(s, &done.result, &call->result) && take_written(s, call);
}

static TorchCall *on_call(void *context, TorchCall *call)
{
    Model *m = context;
    Serving s = {.m = m};
    TorchCall *kept = arena_new(m->j->arena, TorchCall);
    *kept = *call;
    Verdict first = *m->j->verdict;
    eval_device_open(&s.device);
    bool ok = serve(&s, kept);
    if (ok && call->again) /* its time is that of the first call */
        *m->j->verdict = first;
    eval_device_close(&s.device);
    for (uint32_t i = 0; s.given && i < kept->tensor_count; i++)
        tensor_free(s.given[i]);
    call->error = m->j->verdict->reason;
    return ok ? kept : NULL;
}

/* ---- the whole ---- */

/* By the reader's codes (interp.h); those below T010 are of its parser. */
static VerdictStatus reader_status(const char *code)
{
    if (strcmp(code, "T011") == 0 || strcmp(code, "T014") == 0)
        return VERDICT_UNSUPPORTED;
    if (strcmp(code, "T012") == 0)
        return VERDICT_TIMEOUT;
    return strcmp(code, "T010") < 0 ? VERDICT_NOT_COMPILED : VERDICT_CRASHED;
}

/* The reader stopped: what the candidate's Python did wrong, or what we lack. */
static bool reader_failed(Model *m, const Diag *own)
{
    EvalJudge *j = m->j;
    const DiagItem *first = NULL;
    for (uint32_t i = 0; i < own->items.len && !first; i++)
        first = own->items.at[i].level == DIAG_ERROR ? &own->items.at[i] : NULL;
    if (!first)
        return eval_judge_fail(j, VERDICT_INTERNAL, STAGE_RUN, "the model could not be read");
    vec_push(j->diag->arena, &j->diag->items, *first);
    j->diag->errors++;
    return eval_judge_fail(
        j, reader_status(first->code), STAGE_RUN,
        str_format(j->arena, "%s:%u: %s", first->file, first->at.line, first->text));
}

/* An output in which no kernel had a part is no answer, however right. */
static bool kernels_took_part(Model *m, const Graph *graph, uint32_t output)
{
    Graph g = *graph;
    TensorPointers tensors = {0};
    uint32_t first = g.inputs.len;
    if (!m->host.launches)
        return eval_judge_fail(m->j, VERDICT_NOT_COMPUTED, STAGE_RUN, "no kernel is launched");
    add_known(m, &g, &tensors);
    g.outputs.at = &graph->outputs.at[output];
    g.outputs.len = 1;
    Graph *pruned = graph_prune(m->j->arena, &g);
    for (uint32_t i = first; i < pruned->inputs.len; i++) {
        ValueId id = pruned->inputs.at[i];
        if (pruned->outputs.at[0] == id)
            return true;
        for (uint32_t n = 0; n < pruned->nodes.len; n++)
            for (uint32_t k = 0; k < pruned->nodes.at[n].n_in; k++)
                if (pruned->nodes.at[n].in[k] == id)
                    return true;
    }
    return eval_judge_fail(
        m->j, VERDICT_NOT_COMPUTED, STAGE_RUN,
        str_format(m->j->arena,
                   m->host.launches ? "no kernel has a part in output %u" : "no kernel is launched",
                   output));
}

/* The memory that holds each output of the task is the sample's from here on. */
static void keep_sampled(Model *m, const Graph *graph)
{
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        for (uint32_t k = 0; k < m->sampled.len; k++)
            if (m->sampled.at[k].memory.data &&
                *m->sampled.at[k].id == unreshaped(graph, graph->outputs.at[i]))
                eval_sample_replace(m->j->config->sample, i, &m->sampled.at[k].memory);
}

static bool compare_outputs(Model *m, const Graph *graph)
{
    EvalJudge *j = m->j;
    Ids ids = {0};
    bool ok = true;
    if (graph->outputs.len != j->ref->graph->outputs.len)
        return eval_judge_fail(j, VERDICT_WRONG, STAGE_COMPARE,
                               str_format(j->arena, "the model returns %u tensors, not %u",
                                          graph->outputs.len, j->ref->graph->outputs.len));
    for (uint32_t i = 0; i < graph->outputs.len; i++) {
        vec_push(j->arena, &ids, graph->outputs.at[i]);
        if (!kernels_took_part(m, graph, i))
            return false;
    }
    if (j->config->sample)
        keep_sampled(m, graph);
    Tensor **got = arena_array(j->arena, Tensor *, ids.len + 1);
    if (!values(m, graph, graph->source, &ids, got))
        return false;
    bool computes = eval_host_computes(&m->host);
    for (uint32_t i = 0; i < ids.len; i++) {
        if (j->config->no_values) {
            ok = eval_has_shape(j, i, got[i]) && ok;
            tensor_free(got[i]);
            continue;
        }
        ok = computes && eval_compare(j->arena, j->ref, i, got[i], false, j->verdict) && ok;
        tensor_free(got[i]);
    }
    return computes && ok;
}

static bool read_and_run(Model *m, const TorchOutside *outside)
{
    EvalJudge *j = m->j;
    const EvalModel *task = j->ref->model;
    TorchOptions options = task->options;
    Diag own = diag_make(j->arena, task->path, task->source);
    options.outside = outside;
    TorchTask *read = torch_read(j->arena, task->path, task->source, &options, &own);
    if (!read)
        return reader_failed(m, &own);
    if (read->kept && !eval_host_is_theirs(j))
        return eval_judge_fail(
            j, VERDICT_NOT_COMPUTED, STAGE_RUN,
            str_format(j->arena, "the model keeps a result for its next call: %s", read->kept));
    if (task->task->alone && !read->alone && read->graph->outputs.len == 1 &&
        !eval_host_is_theirs(j))
        return eval_judge_fail(j, VERDICT_WRONG, STAGE_COMPARE,
                               "the model returns a list of one tensor, not the tensor");
    return compare_outputs(m, read->graph);
}

static void drop(Model *m)
{
    for (uint32_t i = 0; i < m->known.len; i++)
        tensor_free(m->known.at[i].tensor);
    for (uint32_t i = 0; i < m->params.len; i++)
        tensor_free(m->params.at[i].tensor);
    for (uint32_t i = 0; i < m->sampled.len; i++)
        if (m->sampled.at[i].memory.data)
            twin_tensor_free(&m->sampled.at[i].memory);
    eval_host_close(&m->host);
}

const EvalText *eval_candidate_model(const EvalCandidate *c)
{
    const char *colons = strstr(c->entry, "::"); /* "ModelNew.py::ModelNew" */
    Str path = str_slice(str_from(c->entry), 0, colons ? (size_t)(colons - c->entry) : 0);
    for (uint32_t i = 0; path.len && i < c->texts.len; i++)
        if (str_equal(str_from(c->texts.at[i].path), path))
            return &c->texts.at[i];
    return NULL;
}

static bool find_entry(EvalJudge *j, TorchOutside *outside)
{
    const char *entry = j->candidate->entry, *colons = strstr(entry, "::");
    const EvalText *text = eval_candidate_model(j->candidate);
    outside->class_name = colons ? colons + 2 : "ModelNew";
    if (!entry[0]) {
        outside->path = j->ref->model->path; /* the class stands in the task's own file */
        return true;
    }
    if (!text)
        return eval_judge_fail(j, VERDICT_NO_ANSWER, STAGE_EXTRACT,
                               str_format(j->arena, "there is no model file for '%s'", entry));
    outside->path = text->path;
    outside->source = text->text;
    return true;
}

bool eval_judge_model(EvalJudge *j)
{
    Model m = {.j = j};
    TorchOutside outside = {.call = on_call, .context = &m};
    if (!j->ref->model)
        return eval_judge_fail(j, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                               "a model around a binding needs the task's model file");
    if (!find_entry(j, &outside))
        return false;
    m.taken = arena_array(j->arena, bool, j->ref->in.n_params + 1);
    bool ok = eval_host_open(&m.host, j) && read_and_run(&m, &outside);
    drop(&m);
    return ok;
}
