/* torch_read: parses a model file, runs its module level, its constructor and its forward, and
 * hands the two graphs over without dead parts. */
#include "torch/torch.h"

#include "base/file.h"
#include "torch/case.h"
#include "torch/kept.h"
#include "torch/knob.h"
#include "torch/nn.h"
#include "torch/operand.h"
#include "torch/record.h"
#include "torch/outside.h"
#include <string.h>

/* --- running ------------------------------------------------------------------------------ */

static bool is_module_class(const PyVal value) { return value.tag == PV_CLASS; }

/* The class named Model, else the last class of the file. */
static PyVal find_model(Interp *it, const Py *module)
{
    PyVal found;
    if (env_get(it->globals, STR("Model"), &found) && is_module_class(found))
        return found;
    for (uint32_t i = module->kids.len; i-- > 0;) {
        if (module->kids.at[i]->kind == PY_CLASS &&
            env_get(it->globals, module->kids.at[i]->text, &found))
            return found;
    }
    interp_fail(it, (Span){0}, "T020", "the file has no class Model");
}

static PyVal call_global(Interp *it, const char *name, bool needed)
{
    PyVal function;
    CallArgs args = {0};
    if (it->param.tag == PV_DICT) {
        args.n = 1;
        args.v = &it->param;
    }
    if (env_get(it->globals, str_from(name), &function) && function.tag == PV_FUNC)
        return interp_call(it, function.func->def->at, function, &args);
    if (needed)
        interp_fail(it, (Span){0}, "T020",
                    "the file has no function %s: add one that returns the list of arguments",
                    name);
    return pv_list(it->arena, PV_LIST);
}

/* get_input_groups gives a list of cases; with one case read at a time, the first is it. */
static PyVal make_inputs(Interp *it)
{
    PyVal function;
    if (!env_get(it->globals, STR("get_input_groups"), &function))
        return call_global(it, "get_inputs", true);
    PyVal groups = interp_items(it, it->at, call_global(it, "get_input_groups", true));
    if (!groups.list->items.len)
        interp_fail(it, it->at, "T020", "get_input_groups gives no case");
    return groups.list->items.at[0];
}

/* Defaults that are floats are given by name, so that they can be narrowed or set as others are. */
static void add_defaults(Interp *it, const Py *init, CallArgs *args)
{
    CallArgs more = *args;
    more.kw = arena_array(it->arena, PyVal, args->n_kw + init->kids.len + 1);
    more.kw_names = arena_array(it->arena, Str, args->n_kw + init->kids.len + 1);
    for (uint32_t i = 0; i < args->n_kw; i++) {
        more.kw[i] = args->kw[i];
        more.kw_names[i] = args->kw_names[i];
    }
    bool changed = it->narrow || it->n_given;
    for (uint32_t i = args->n + 1; changed && i < init->kids.len; i++) {
        const Py *param = init->kids.at[i];
        bool given = param->op != PYOP_NONE || !param->a || param->a->kind != PY_FLOAT;
        for (uint32_t k = 0; k < args->n_kw && !given; k++)
            given = str_equal(args->kw_names[k], param->text);
        if (given)
            continue;
        more.kw[more.n_kw] = pv_float(param->a->f);
        more.kw_names[more.n_kw++] = param->text;
    }
    *args = more;
}

/* A constructor with arguments that no default gives wants the file to say them. */
static void want_init_inputs(Interp *it, const PyFunc *init, const CallArgs *args)
{
    PyVal function;
    if (args->n || args->n_kw || env_get(it->globals, STR("get_init_inputs"), &function))
        return;
    for (uint32_t i = 1; i < init->def->kids.len; i++) { /* after self */
        const Py *param = init->def->kids.at[i];
        if (param->op != PYOP_MUL && param->op != PYOP_POW && !param->a)
            interp_fail(it, init->def->at, "T020",
                        "the constructor takes '%.*s', and the file has no get_init_inputs: add "
                        "def get_init_inputs(): return [...] with its arguments",
                        STR_ARG(param->text));
    }
}

static PyVal construct(Interp *it, PyVal cls, PyVal init)
{
    CallArgs args = {0};
    if (init.tag == PV_DICT) {
        args.n_kw = init.dict->entries.len;
        args.kw = arena_array(it->arena, PyVal, args.n_kw + 1);
        args.kw_names = arena_array(it->arena, Str, args.n_kw + 1);
        for (uint32_t i = 0; i < args.n_kw; i++) {
            args.kw[i] = init.dict->entries.at[i].value;
            args.kw_names[i] = need_str(it, it->at, init.dict->entries.at[i].key,
                                        "an argument name");
        }
    } else {
        PyVal items = interp_items(it, it->at, init);
        args.n = items.list->items.len;
        args.v = items.list->items.at;
    }
    PyVal made;
    if (cls.tag == PV_CLASS && interp_class_attr(cls.cls, STR("__init__"), &made, NULL) &&
        made.tag == PV_FUNC) {
        want_init_inputs(it, made.func, &args);
        add_defaults(it, made.func->def, &args);
        operand_set_numbers(it, made.func->def, &args);
        operand_take_numbers(it, made.func->def, &args);
    }
    return interp_call(it, it->at, cls, &args);
}

/* --- inputs and outputs ------------------------------------------------------------------- */

static const Py *forward_of(PyVal model)
{
    PyVal forward;
    if (model.tag == PV_OBJECT && interp_forward(model.object, &forward) && forward.tag == PV_FUNC)
        return forward.func->def;
    return NULL;
}

static void mark_input(Interp *it, PyVal *value, const char *name, int depth)
{
    if (value->tag == PV_TENSOR) {
        TVar *t = arena_new(it->arena, TVar);
        t->id = tvar_read(it, value->tensor);
        t->role = ROLE_INPUT;
        t->name = name;
        tvar_own(it, it->at, t);
        *value = pv_tensor(t);
    } else if (value->tag == PV_DICT && depth < 8) {
        PyVal copy = pv_dict(it->arena);
        for (uint32_t i = 0; i < value->dict->entries.len; i++) {
            PyEntry e = value->dict->entries.at[i];
            Buf key = {0};
            if (e.gone)
                continue;
            pv_print(e.key, false, &key);
            mark_input(it, &e.value, str_format(it->arena, "%s.%.*s", name, (int)key.len, key.at),
                       depth + 1);
            buf_free(&key);
            dict_set(it->arena, copy.dict, e.key, e.value);
        }
        *value = copy;
    } else if (pv_is_seq(*value) && depth < 8) {
        PyVal copy = pv_list(it->arena, value->tag);
        for (uint32_t i = 0; i < value->list->items.len && i < 10000; i++) {
            PyVal item = value->list->items.at[i];
            mark_input(it, &item, str_format(it->arena, "%s.%u", name, i), depth + 1);
            pv_push(it->arena, copy, item);
        }
        *value = copy;
    }
}

/* get_inputs may name them. */
static CallArgs keyword_inputs(Interp *it, PyDict *inputs)
{
    CallArgs args = {0};
    args.kw = arena_array(it->arena, PyVal, inputs->entries.len + 1);
    args.kw_names = arena_array(it->arena, Str, inputs->entries.len + 1);
    for (uint32_t i = 0; i < inputs->entries.len; i++) {
        const PyEntry *e = &inputs->entries.at[i];
        if (e->gone)
            continue;
        Str name = need_str(it, it->at, e->key, "the name of an input");
        args.kw_names[args.n_kw] = name;
        args.kw[args.n_kw] = e->value;
        mark_input(it, &args.kw[args.n_kw++], str_dup(it->arena, name), 0);
    }
    return args;
}

static CallArgs name_inputs(Interp *it, PyVal inputs, const Py *forward)
{
    if (inputs.tag == PV_DICT)
        return keyword_inputs(it, inputs.dict);
    if (inputs.tag == PV_TENSOR)
        inputs = pv_tuple_of(it->arena, 1, &inputs);
    PyVal items = interp_items(it, it->at, inputs);
    CallArgs args = {.n = items.list->items.len};
    args.v = arena_array(it->arena, PyVal, args.n + 1);
    for (uint32_t i = 0; i < args.n; i++) {
        bool named = forward && i + 1 < forward->kids.len &&
                     forward->kids.at[i + 1]->op == PYOP_NONE;
        const char *name = named ? str_dup(it->arena, forward->kids.at[i + 1]->text)
                                 : str_format(it->arena, "input%u", i);
        args.v[i] = items.list->items.at[i];
        mark_input(it, &args.v[i], name, 0);
    }
    return args;
}

/* Every input is a value of the main graph, used or not. */
static void import_inputs(Interp *it, PyVal value)
{
    if (value.tag == PV_TENSOR) {
        tvar_read(it, value.tensor);
    } else if (pv_is_seq(value)) {
        for (uint32_t i = 0; i < value.list->items.len; i++)
            import_inputs(it, value.list->items.at[i]);
    } else if (value.tag == PV_DICT) {
        for (uint32_t i = 0; i < value.dict->entries.len; i++)
            import_inputs(it, value.dict->entries.at[i].value);
    }
}

static void add_output(Interp *it, PyVal value, int depth)
{
    Graph *graph = it->graphs[1];
    PyVal fields;
    if (depth > 8)
        interp_fail(it, it->at, "T011", "the result is nested too deeply");
    if (value.tag == PV_TENSOR || pv_is_number(value)) {
        vec_push(it->arena, &graph->outputs, value_of(it, it->at, value));
    } else if (pv_is_seq(value)) {
        for (uint32_t i = 0; i < value.list->items.len; i++)
            add_output(it, value.list->items.at[i], depth + 1);
    } else if (value.tag == PV_DICT) {
        for (uint32_t i = 0; i < value.dict->entries.len; i++)
            add_output(it, value.dict->entries.at[i].value, depth + 1);
    } else if (value.tag == PV_OBJECT && record_fields(it, value.object, &fields)) {
        add_output(it, fields, depth + 1);
    } else if (!pv_is_none(value)) {
        interp_fail(
            it, it->at, "T011",
            "forward returns %s; tensors, and lists, tuples, dicts and dataclasses of them are "
            "results",
            pv_type_name(value));
    }
}

static void run(Interp *it, const Py *module, const Py *companion, const CaseRow *row)
{
    operand_table(it, module);
    if (row->len)
        it->param = case_row_dict(it, row);
    interp_block(it, it->globals, module);
    if (companion)
        interp_block(it, it->globals, companion);
    /* Whoever brings a class of his own brings no inputs of his own. */
    PyVal inputs = it->outside ? make_inputs(it) : pv_none();
    PyVal init = call_global(it, "get_init_inputs", false);
    PyVal model = construct(it, it->outside ? outside_class(it) : find_model(it, module), init);
    if (model.tag == PV_OBJECT)
        module_name_all(it, model.object, "", 0);
    if (!it->outside)
        inputs = make_inputs(it);
    CallArgs args = name_inputs(it, inputs, forward_of(model));
    operand_set_numbers(it, forward_of(model), &args);
    if (!it->outside) {
        operand_bind_inputs(it, forward_of(model), &args);
        operand_take_numbers(it, forward_of(model), &args);
    }
    it->graph = 1;
    for (uint32_t i = 0; i < args.n; i++)
        import_inputs(it, args.v[i]);
    for (uint32_t i = 0; i < args.n_kw; i++)
        import_inputs(it, args.kw[i]);
    Span at = forward_of(model) ? forward_of(model)->at : (Span){0};
    KeptTensors before = {0};
    uint64_t numbers = it->outside ? kept_numbers(it, model) : 0;
    if (it->outside)
        kept_tensors(it, model, &before);
    PyVal result = interp_call(it, at, model, &args);
    if (!it->outside)
        operand_bind_outputs(it, at, result);
    else
        it->kept = kept_result(it, model, &before);
    if (it->outside && !it->kept && kept_numbers(it, model) != numbers &&
        kept_decides(it, at, model, &args, it->outside_calls))
        it->kept = "a number that it goes by";
    it->alone = result.tag == PV_TENSOR;
    add_output(it, result, 0);
    if (!it->graphs[1]->outputs.len)
        interp_fail(it, at, "T020", "forward returns no tensor");
}

/* --- finishing ---------------------------------------------------------------------------- */

static void note(Graph *graph, const Node *node, const char *text)
{
    vec_push(graph->arena, &graph->notes,
             str_format(graph->arena, "line %u: %s", node->at.line, text));
}

static void write_notes(Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        double p = node_float(node, AT_P, 0);
        if (node->op == OP_DROPOUT)
            note(graph, node,
                 str_format(graph->arena,
                            "dropout with p=%g in training mode is random; taken as the identity",
                            p));
        else if ((node->op == OP_SDPA || node->op == OP_MHA || node->op == OP_RNN) && p != 0)
            note(graph, node,
                 str_format(graph->arena,
                            "%s with dropout p=%g is random; dropout taken as the identity",
                            op_rows[node->op].name, p));
        else if (node->op == OP_RANDOM)
            note(graph, node, "forward draws random numbers; they come from our own generator");
    }
}

/* Parameters in order of construction. */
static void sort_params(Graph *graph)
{
    for (uint32_t i = 1; i < graph->params.len; i++) {
        ValueId id = graph->params.at[i];
        uint32_t place = i;
        for (; place > 0 && graph_value(graph, graph->params.at[place - 1])->source >
                                graph_value(graph, id)->source;
             place--)
            graph->params.at[place] = graph->params.at[place - 1];
        graph->params.at[place] = id;
    }
}

/* From a value of the source graph to the number of the output that it is; the tensors of the main
 * graph have an output each, those of the conditions share it. */
static void link_source(Graph *graph, Graph *source, ValueId id, bool shared)
{
    Value *value = &graph->values.at[id];
    uint32_t k = shared ? 0 : source->outputs.len;
    while (k < source->outputs.len && source->outputs.at[k] != value->source)
        k++;
    if (k == source->outputs.len)
        vec_push(source->arena, &source->outputs, value->source);
    value->source = k;
}

static void link_all(Graph *graph, Graph *source, bool shared)
{
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        link_source(graph, source, graph->inputs.at[i], shared);
    for (uint32_t i = 0; i < graph->params.len; i++)
        link_source(graph, source, graph->params.at[i], shared);
}

/* The values forward looked at, as a graph of their own. */
static Graph *conditions_of(Interp *it)
{
    Graph view = *it->graphs[1];
    memset(&view.outputs, 0, sizeof view.outputs);
    memset(&view.notes, 0, sizeof view.notes);
    for (uint32_t i = 0; i < it->outcomes.len; i++)
        vec_push(it->arena, &view.outputs, it->outcomes.at[i].id);
    return graph_prune(it->arena, &view);
}

static void finish(Interp *it, TorchTask *task)
{
    Graph *graph = it->graphs[1], *source = it->graphs[0];
    if (it->outcomes.len)
        task->conditions = conditions_of(it);
    if (!it->outside)
        graph = graph_prune(it->arena, graph);
    sort_params(graph);
    link_all(graph, source, false);
    if (task->conditions)
        link_all(task->conditions, source, true);
    graph->source = graph_prune(it->arena, source);
    if (task->conditions)
        task->conditions->source = graph->source;
    task->outcomes = arena_array(it->arena, const void *, it->outcomes.len + 1);
    for (uint32_t i = 0; i < it->outcomes.len; i++)
        task->outcomes[i] = it->outcomes.at[i].data;
    write_notes(graph);
    task->graph = graph;
}

static bool guarded(Interp *it, const Py *module, const Py *companion, const CaseRow *row)
{
    if (setjmp(it->fail))
        return false;
    run(it, module, companion, row);
    return true;
}

/* T/validation/module.py is the task T. */
static const char *task_path(Arena *arena, const char *path)
{
    const char *dir = path_dir(arena, path);
    bool inner = str_is(path_base(path), "module.py") && str_is(path_base(dir), "validation");
    return inner ? path_dir(arena, dir) : path;
}

static Interp *new_interp(Arena *arena, const char *path, const TorchOptions *options, Diag *diag)
{
    Interp *it = arena_new(arena, Interp);
    it->arena = arena;
    it->diag = diag;
    it->path = path;
    it->graphs[0] = graph_new(arena, "source");
    it->graphs[1] = graph_new(arena, str_dup(arena, path_stem(task_path(arena, path))));
    it->globals = env_new(arena, NULL);
    it->seed = options->seed;
    it->no_data = options->no_data;
    it->float_type = options->float_type;
    it->outside = options->outside;
    it->narrow = options->narrow;
    it->given = options->numbers;
    it->n_given = options->n_numbers;
    it->max_steps = options->max_steps ? options->max_steps : 20000000;
    it->max_bytes = arena->bytes + (options->max_bytes ? options->max_bytes : (size_t)1 << 30);
    env_set(arena, it->globals, STR("__file__"), pv_str(arena, str_from(path)));
    env_set(arena, it->globals, STR("__name__"), pv_str(arena, STR("model")));
    return it;
}

TorchTask *torch_read_tree(Arena *arena, const char *path, const Py *module, const KnobList *knobs,
                           const TorchOptions *options, Diag *diag)
{
    Interp *it = new_interp(arena, path, options, diag);
    const Py *companion = NULL;
    it->knobs = knobs->overrides.at;
    it->n_knobs = knobs->overrides.len;
    it->sizes = knobs;
    if (!case_prepare(it, options, &companion) || !guarded(it, module, companion, &knobs->row))
        return NULL;
    TorchTask *task = arena_new(arena, TorchTask);
    task->name = it->graphs[1]->name;
    task->category = str_dup(arena, path_base(path_dir(arena, task_path(arena, path))));
    finish(it, task);
    if (options->hf32 && graph_use_hf32(task->graph))
        vec_push(arena, &task->graph->notes,
                 "convolutions of f32 round their factors to 11 bits after the point (HF32)");
    for (uint32_t i = 0; i < it->operands.len; i++) {
        vec_push(arena, &task->operands, it->operands.at[i]);
        vec_push(arena, &task->graph->operands, it->operands.at[i]);
    }
    for (uint32_t i = 0; i < it->numbers.len; i++)
        vec_push(arena, &task->numbers, it->numbers.at[i]);
    task->used_data = it->used_data;
    task->in_place = it->in_place;
    task->kept = it->kept;
    task->alone = it->alone;
    for (uint32_t i = 0; i < it->looks.len; i++)
        vec_push(arena, &task->looks, it->looks.at[i]);
    task->in_range = it->outside || torch_fit_indices(task->graph);
    for (uint32_t i = 0; i < knobs->all.len; i++)
        vec_push(arena, &task->knobs, knobs->all.at[i].knob);
    return task;
}

TorchTask *torch_read(Arena *arena, const char *path, Str source, const TorchOptions *options,
                      Diag *diag)
{
    Py *module = py_parse(arena, source, diag);
    KnobList knobs = {0};
    if (!module || !knob_list(arena, module, options, &knobs, diag))
        return NULL;
    return torch_read_tree(arena, path, module, &knobs, options, diag);
}

TorchTask *torch_read_file(Arena *arena, const char *path, const TorchOptions *options, Diag *diag)
{
    Str source;
    if (!file_read(arena, path, PY_MAX_BYTES, &source, diag))
        return NULL;
    diag->source = source;
    return torch_read(arena, path, source, options, diag);
}

TorchTask *torch_open(Arena *arena, const char *path, const TorchOptions *options, TorchScale scale,
                      Diag *diag)
{
    TorchCases *cases = arena_new(arena, TorchCases);
    TorchOptions with = *options;
    Str source;
    with.cases = cases;
    if (!torch_cases(arena, path, cases, diag) ||
        !file_read(arena, path, PY_MAX_BYTES, &source, diag))
        return NULL;
    diag->source = source;
    return torch_read_scaled(arena, path, source, &with, scale, diag);
}
