/* Library modules as objects: construction, attributes, containers, and the methods that
 * nn.Module itself has. */
#include "torch/nn_int.h"

#include <string.h>

const NnRow nn_rows[] = {
#define NN(name, params, make, call, function, kind) {name, params, make, call, function, kind},
#include "torch/nn.def"
#undef NN
};
const uint32_t nn_count = sizeof nn_rows / sizeof *nn_rows;

const NnRow *nn_find(Str path)
{
    Str space, name = path_name(path, &space);
    if (!str_is(space, "torch.nn") && !str_is(space, "torch.nn.modules"))
        return NULL;
    for (uint32_t i = 0; i < nn_count; i++) {
        if (str_is(name, nn_rows[i].name))
            return &nn_rows[i];
    }
    return NULL;
}

/* --- attributes --------------------------------------------------------------------------- */

PyVal self_get(Args *a, const char *name)
{
    PyVal value;
    return dict_get_name(&a->self->attrs, str_from(name), &value) ? value : pv_none();
}

void self_set(Args *a, const char *name, PyVal value)
{
    dict_set_name(a->it->arena, &a->self->attrs, str_from(name), value);
}

int64_t self_int(Args *a, const char *name)
{
    return need_int(a->it, a->at, self_get(a, name), name);
}
double self_float(Args *a, const char *name)
{
    return need_double(a->it, a->at, self_get(a, name), name);
}
bool self_bool(Args *a, const char *name) { return interp_truth(a->it, a->at, self_get(a, name)); }

ValueId self_value(Args *a, const char *name)
{
    PyVal value = self_get(a, name);
    return value.tag == PV_TENSOR ? tvar_read(a->it, value.tensor) : VALUE_NONE;
}

static void self_tensor(Args *a, const char *name, ValueId id, TRole role)
{
    PyVal value = tensor_of(a->it, id);
    value.tensor->role = role;
    value.tensor->requires_grad = role == ROLE_PARAM;
    self_set(a, name, value);
}

static DType self_dtype(Args *a)
{
    PyVal dtype = self_get(a, "dtype");
    return dtype.tag == PV_DTYPE ? dtype.dtype : a->it->float_type;
}

void self_param_uniform(Args *a, const char *name, Shape shape, double bound)
{
    self_tensor(a, name,
                emit_random(a->it, a->at, RANDOM_uniform, shape, self_dtype(a), -bound, bound, 0),
                ROLE_PARAM);
}

void self_param_full(Args *a, const char *name, Shape shape, double value)
{
    self_tensor(a, name, emit_full(a->it, a->at, shape, self_dtype(a), value), ROLE_PARAM);
}

void self_buffer_full(Args *a, const char *name, Shape shape, DType dtype, double value)
{
    self_tensor(a, name, emit_full(a->it, a->at, shape, dtype, value), ROLE_BUFFER);
}

/* --- construction ------------------------------------------------------------------------- */

static bool is_container(const NnRow *row)
{
    return row->make == make_list || row->make == make_dict;
}

void nn_init_object(Interp *it, Span at, PyObject *self, const NnRow *row, const CallArgs *call)
{
    Args a = {.it = it, .at = at, .name = row->name, .kind = row->kind, .self = self};
    if (strcmp(row->name, "Module") == 0)
        return;
    interp_enter(it, at);
    args_bind(&a, row->params, call);
    for (uint32_t i = 0, n = params_count(row->params); i < n && !is_container(row); i++)
        dict_set_name(it->arena, &self->attrs, params_name(row->params, i), a.v[i]);
    if (row->make)
        row->make(&a);
    interp_leave(it);
}

PyVal nn_construct(Interp *it, Span at, const NnRow *row, const CallArgs *call)
{
    PyObject *self = arena_new(it->arena, PyObject);
    self->nn = row;
    nn_init_object(it, at, self, row, call);
    return (PyVal){.tag = PV_OBJECT, .object = self};
}

void self_module(Args *a, const char *name, const char *row, uint32_t n, const PyVal *v)
{
    const NnRow *found = nn_find(str_from(str_format(a->it->arena, "torch.nn.%s", row)));
    CallArgs call = {.n = n, .v = (PyVal *)v};
    self_set(a, name, nn_construct(a->it, a->at, found, &call));
}

static bool has_keyword(const CallArgs *call, Str name)
{
    for (uint32_t i = 0; i < call->n_kw; i++) {
        if (str_equal(call->kw_names[i], name))
            return true;
    }
    return false;
}

PyVal nn_by_function(Args *a, const char *path, const CallArgs *call)
{
    const FnRow *row = fn_find(str_from(path));
    if (!row)
        panic("nn.def names %s, which fn.def lacks", path);
    uint32_t count = params_count(row->params);
    CallArgs all = *call;
    all.kw = arena_array(a->it->arena, PyVal, call->n_kw + count);
    all.kw_names = arena_array(a->it->arena, Str, call->n_kw + count);
    for (uint32_t i = 0; i < call->n_kw; i++) {
        all.kw[i] = call->kw[i];
        all.kw_names[i] = call->kw_names[i];
    }
    for (uint32_t i = call->n; i < count; i++) {
        Str name = params_name(row->params, i);
        PyVal value;
        bool training = str_is(name, "training");
        if (has_keyword(call, name) || (!dict_get_name(&a->self->attrs, name, &value) && !training))
            continue;
        if (training && !dict_get_name(&a->self->attrs, name, &value))
            value = pv_bool(true);
        all.kw_names[all.n_kw] = name;
        all.kw[all.n_kw++] = value;
    }
    return fn_call(a->it, a->at, row, &all);
}

/* forward(input, offsets, per_sample_weights), of which the function has the weight second. */
PyVal nn_embedding_bag(Args *a, const CallArgs *call)
{
    static const char *const names[] = {"offsets", "per_sample_weights"};
    CallArgs named = *call;
    if (call->n < 1 || call->n > 3)
        arg_fail(a, "takes an input, offsets and weights of samples");
    named.n = 1;
    named.kw = arena_array(a->it->arena, PyVal, call->n_kw + 2);
    named.kw_names = arena_array(a->it->arena, Str, call->n_kw + 2);
    for (uint32_t i = 0; i < call->n_kw; i++) {
        named.kw[i] = call->kw[i];
        named.kw_names[i] = call->kw_names[i];
    }
    for (uint32_t i = 1; i < call->n; i++) {
        named.kw[named.n_kw] = call->v[i];
        named.kw_names[named.n_kw++] = str_from(names[i - 1]);
    }
    return nn_by_function(a, "torch.nn.functional.embedding_bag", &named);
}

PyVal nn_call_row(Interp *it, Span at, PyObject *self, const NnRow *row, const CallArgs *call)
{
    Args a = {.it = it, .at = at, .name = row->name, .kind = row->kind, .self = self};
    interp_enter(it, at);
    PyVal result = row->call ? row->call(&a, call) : nn_by_function(&a, row->function, call);
    interp_leave(it);
    return result;
}

PyVal nn_no_forward(Args *a, const CallArgs *call)
{
    (void)call;
    arg_fail(a, "this module has no forward");
}

PyVal nn_identity(Args *a, const CallArgs *call)
{
    if (!call->n)
        arg_fail(a, "an input is missing");
    return call->v[0];
}

/* --- containers --------------------------------------------------------------------------- */

static void add_child(Args *a, PyVal child)
{
    const char *name = str_format(a->it->arena, "%u", a->self->attrs.live);
    if (a->kind == 1 && child.tag == PV_TENSOR && child.tensor->role == ROLE_PLAIN)
        child.tensor->role = ROLE_PARAM;
    self_set(a, name, child);
}

/* Sequential(a, b), Sequential(OrderedDict(...)), ModuleList([a, b]) */
void make_list(Args *a)
{
    PyVal list = a->v[0];
    if (pv_is_none(list))
        return;
    if (list.tag == PV_TUPLE && list.list->items.len == 1 && list.list->items.at[0].tag == PV_DICT)
        list = list.list->items.at[0];
    if (list.tag == PV_DICT) {
        make_dict(a);
        return;
    }
    PyVal items = interp_items(a->it, a->at, list);
    for (uint32_t i = 0; i < items.list->items.len; i++)
        add_child(a, items.list->items.at[i]);
}

void make_dict(Args *a)
{
    PyVal from = a->v[0];
    if (from.tag == PV_TUPLE && from.list->items.len == 1)
        from = from.list->items.at[0];
    if (pv_is_none(from))
        return;
    if (from.tag != PV_DICT)
        arg_fail(a, "a dict is expected");
    for (uint32_t i = 0; i < from.dict->entries.len; i++) {
        const PyEntry *entry = &from.dict->entries.at[i];
        if (!entry->gone)
            dict_set(a->it->arena, &a->self->attrs, entry->key, entry->value);
    }
}

static bool is_child(const PyEntry *entry)
{
    return !entry->gone && (entry->value.tag == PV_OBJECT || entry->value.tag == PV_TENSOR);
}

/* What iteration gives: the members of a list, the keys of a dict. */
PyVal module_items(Interp *it, Span at, PyObject *object)
{
    if (!is_container(object->nn))
        interp_fail(it, at, "T010", "cannot iterate over nn.%s", object->nn->name);
    PyVal out = pv_list(it->arena, PV_LIST);
    for (uint32_t i = 0; i < object->attrs.entries.len; i++) {
        const PyEntry *entry = &object->attrs.entries.at[i];
        if (is_child(entry))
            pv_push(it->arena, out, object->nn->make == make_dict ? entry->key : entry->value);
    }
    return out;
}

PyVal nn_sequential(Args *a, const CallArgs *call)
{
    if (call->n != 1)
        arg_fail(a, "one input is expected");
    PyVal x = call->v[0], layers = module_items(a->it, a->at, a->self);
    for (uint32_t i = 0; i < layers.list->items.len; i++)
        x = interp_call1(a->it, a->at, layers.list->items.at[i], x);
    return x;
}

PyVal module_index(Interp *it, Span at, PyObject *object, PyVal index)
{
    if (!object->nn || !is_container(object->nn))
        interp_fail(it, at, "T010", "this object has no items");
    PyVal value;
    if (index.tag == PV_STR) {
        if (!dict_get(&object->attrs, index, &value))
            interp_fail(it, at, "T010", "the module dict has no '%.*s'", STR_ARG(*index.str));
        return value;
    }
    PyVal items = module_items(it, at, object);
    value = interp_index(it, at, items, index);
    if (index.tag != PV_SLICE)
        return value;
    CallArgs call = {.n = 1, .v = &value};
    return nn_construct(it, at, object->nn, &call);
}

void module_set_index(Interp *it, Span at, PyObject *object, PyVal index, PyVal value)
{
    if (!object->nn || !is_container(object->nn))
        interp_fail(it, at, "T010", "items of this object cannot be set");
    if (index.tag != PV_STR)
        index = pv_str(
            it->arena,
            str_from(str_format(it->arena, "%lld", (long long)need_int(it, at, index, "a place"))));
    dict_set(it->arena, &object->attrs, index, value);
}

/* --- methods of nn.Module ----------------------------------------------------------------- */

typedef enum Walk { WALK_PARAMS, WALK_BUFFERS, WALK_MODULES, WALK_CHILDREN } Walk;

static bool is_listed(PyVal value, Walk walk)
{
    if (walk == WALK_PARAMS || walk == WALK_BUFFERS)
        return value.tag == PV_TENSOR &&
               value.tensor->role == (walk == WALK_PARAMS ? ROLE_PARAM : ROLE_BUFFER);
    return value.tag == PV_OBJECT && value.object->nn;
}

static void push_found(Interp *it, PyVal out, bool named, const char *name, PyVal value)
{
    PyVal pair[] = {pv_str(it->arena, str_from(name)), value};
    pv_push(it->arena, out, named ? pv_tuple_of(it->arena, 2, pair) : value);
}

static void walk_module(Interp *it, Span at, PyObject *object, Walk walk, bool named,
                        const char *prefix, PyVal out)
{
    interp_enter(it, at);
    for (uint32_t i = 0; i < object->attrs.entries.len; i++) {
        const PyEntry *entry = &object->attrs.entries.at[i];
        if (entry->gone || entry->key.tag != PV_STR)
            continue;
        interp_step(it, 1, at);
        const char *name = str_format(it->arena, "%s%s%.*s", prefix, *prefix ? "." : "",
                                      STR_ARG(*entry->key.str));
        if (is_listed(entry->value, walk))
            push_found(it, out, named, name, entry->value);
        if (walk != WALK_CHILDREN && entry->value.tag == PV_OBJECT && entry->value.object->nn)
            walk_module(it, at, entry->value.object, walk, named, name, out);
    }
    interp_leave(it);
}

static PyVal listing(Interp *it, Span at, PyObject *object, Walk walk, bool named)
{
    PyVal out = pv_list(it->arena, PV_LIST);
    if (walk == WALK_MODULES)
        push_found(it, out, named, "", (PyVal){.tag = PV_OBJECT, .object = object});
    walk_module(it, at, object, walk, named, "", out);
    return out;
}

static const struct {
    const char *name;
    Walk walk;
    bool named;
} listings[] = {{"parameters", WALK_PARAMS, false}, {"named_parameters", WALK_PARAMS, true},
                {"buffers", WALK_BUFFERS, false},   {"named_buffers", WALK_BUFFERS, true},
                {"modules", WALK_MODULES, false},   {"named_modules", WALK_MODULES, true},
                {"children", WALK_CHILDREN, false}, {"named_children", WALK_CHILDREN, true}};

static const char *const plain_methods[] = {"forward",
                                            "__call__",
                                            "register_buffer",
                                            "register_parameter",
                                            "add_module",
                                            "register_module",
                                            "append",
                                            "extend",
                                            "insert",
                                            "keys",
                                            "values",
                                            "items",
                                            "apply",
                                            "eval",
                                            "train",
                                            "to",
                                            "cuda",
                                            "cpu",
                                            "npu",
                                            "float",
                                            "half",
                                            "double",
                                            "bfloat16",
                                            "requires_grad_",
                                            "zero_grad",
                                            "reset_parameters",
                                            "flatten_parameters",
                                            "__init__"};

bool module_has_method(const PyObject *object, Str name)
{
    if (!object->nn)
        return false;
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
        if (str_is(name, listings[i].name))
            return true;
    }
    for (size_t i = 0; i < sizeof plain_methods / sizeof *plain_methods; i++) {
        if (str_is(name, plain_methods[i]))
            return true;
    }
    return false;
}

static void cast_all(Interp *it, Span at, PyObject *object, DType dtype)
{
    for (int kind = 0; kind < 2; kind++) {
        PyVal list = listing(it, at, object, kind ? WALK_BUFFERS : WALK_PARAMS, false);
        for (uint32_t i = 0; i < list.list->items.len; i++) {
            TVar *t = list.list->items.at[i].tensor;
            if (dtype_is_float(tvar_dtype(it, t)))
                tvar_write(it, at, t, emit_cast(it, at, tvar_read(it, t), dtype));
        }
    }
}

static void set_training(Interp *it, Span at, PyObject *object, bool training)
{
    PyVal list = listing(it, at, object, WALK_MODULES, false);
    for (uint32_t i = 0; i < list.list->items.len; i++)
        dict_set_name(it->arena, &list.list->items.at[i].object->attrs, STR("training"),
                      pv_bool(training));
}

static PyVal register_tensor(Args *a, const CallArgs *call, TRole role)
{
    static const CallArgs none = {0};
    Args b = {.it = a->it, .at = a->at, .name = "register", .self = a->self};
    args_bind(&b, "name tensor persistent=True", call ? call : &none);
    if (b.v[1].tag == PV_TENSOR && b.v[1].tensor->role == ROLE_PLAIN)
        b.v[1].tensor->role = role;
    dict_set(a->it->arena, &a->self->attrs,
             pv_str(a->it->arena, need_str(a->it, a->at, b.v[0], "a name")), b.v[1]);
    return pv_none();
}

static PyVal extend_list(Args *a, const CallArgs *call, bool many)
{
    if (!call->n)
        arg_fail(a, "an argument is missing");
    if (!many) {
        add_child(a, call->v[0]);
    } else {
        PyVal items = interp_items(a->it, a->at, call->v[0]);
        for (uint32_t i = 0; i < items.list->items.len; i++)
            add_child(a, items.list->items.at[i]);
    }
    return (PyVal){.tag = PV_OBJECT, .object = a->self};
}

static PyVal dict_view(Args *a, char what)
{
    PyVal out = pv_list(a->it->arena, PV_LIST);
    for (uint32_t i = 0; i < a->self->attrs.entries.len; i++) {
        const PyEntry *entry = &a->self->attrs.entries.at[i];
        PyVal pair[] = {entry->key, entry->value};
        if (is_child(entry))
            pv_push(a->it->arena, out,
                    what == 'k'   ? pair[0]
                    : what == 'v' ? pair[1]
                                  : pv_tuple_of(a->it->arena, 2, pair));
    }
    return out;
}

static PyVal apply_all(Args *a, const CallArgs *call)
{
    PyVal list = listing(a->it, a->at, a->self, WALK_MODULES, false);
    for (uint32_t i = list.list->items.len; call->n && i-- > 0;)
        interp_call1(a->it, a->at, call->v[0], list.list->items.at[i]);
    return (PyVal){.tag = PV_OBJECT, .object = a->self};
}

static bool cast_method(Str name, const CallArgs *call, DType *dtype)
{
    static const struct {
        const char *name;
        DType dtype;
    } casts[] = {{"float", DT_F32}, {"half", DT_F16}, {"double", DT_F64}, {"bfloat16", DT_BF16}};
    for (size_t i = 0; i < 4; i++) {
        if (str_is(name, casts[i].name)) {
            *dtype = casts[i].dtype;
            return true;
        }
    }
    for (uint32_t i = 0; str_is(name, "to") && i < call->n + call->n_kw; i++) {
        PyVal v = i < call->n ? call->v[i] : call->kw[i - call->n];
        if (v.tag == PV_DTYPE) {
            *dtype = v.dtype;
            return true;
        }
    }
    return false;
}

PyVal module_method(Interp *it, Span at, PyObject *object, Str name, const CallArgs *call)
{
    Args a = {
        .it = it, .at = at, .name = object->nn->name, .kind = object->nn->kind, .self = object};
    PyVal self = {.tag = PV_OBJECT, .object = object};
    DType dtype;
    for (size_t i = 0; i < sizeof listings / sizeof *listings; i++) {
        if (str_is(name, listings[i].name))
            return listing(it, at, object, listings[i].walk, listings[i].named);
    }
    if (str_is(name, "forward") || str_is(name, "__call__"))
        return nn_call_row(it, at, object, object->nn, call);
    if (str_is(name, "register_buffer"))
        return register_tensor(&a, call, ROLE_BUFFER);
    if (str_is(name, "register_parameter") || str_is(name, "add_module") ||
        str_is(name, "register_module"))
        return register_tensor(&a, call, ROLE_PARAM);
    if (str_is(name, "append") || str_is(name, "extend"))
        return extend_list(&a, call, str_is(name, "extend"));
    if (str_is(name, "keys") || str_is(name, "values") || str_is(name, "items"))
        return dict_view(&a, name.at[0]);
    if (str_is(name, "apply"))
        return apply_all(&a, call);
    if (str_is(name, "eval") || str_is(name, "train"))
        set_training(it, at, object,
                     str_is(name, "train") && (!call->n || interp_truth(it, at, call->v[0])));
    else if (cast_method(name, call, &dtype))
        cast_all(it, at, object, dtype);
    else if (str_is(name, "insert"))
        interp_fail(it, at, "T011", "insert into a module list is not supported");
    return self;
}

/* --- names -------------------------------------------------------------------------------- */

static void name_value(Interp *it, PyVal value, const char *name, int depth)
{
    if (depth > 40)
        return;
    if (value.tag == PV_TENSOR && !value.tensor->name) {
        value.tensor->name = name;
        if (value.tensor->role == ROLE_PARAM || value.tensor->role == ROLE_BUFFER)
            tvar_own(it, it->at, value.tensor);
    } else if (value.tag == PV_OBJECT && !value.object->path) {
        value.object->path = name;
        module_name_all(it, value.object, name, depth + 1);
    } else if (value.tag == PV_LIST || value.tag == PV_TUPLE) {
        for (uint32_t i = 0; i < value.list->items.len && i < 10000; i++)
            name_value(it, value.list->items.at[i], str_format(it->arena, "%s.%u", name, i),
                       depth + 1);
    }
}

void module_name_all(Interp *it, PyObject *object, const char *prefix, int depth)
{
    for (uint32_t i = 0; i < object->attrs.entries.len; i++) {
        const PyEntry *entry = &object->attrs.entries.at[i];
        if (entry->gone || entry->key.tag != PV_STR)
            continue;
        interp_step(it, 1, it->at);
        name_value(
            it, entry->value,
            str_format(it->arena, "%s%s%.*s", prefix, *prefix ? "." : "", STR_ARG(*entry->key.str)),
            depth);
    }
}
