/* Calls and attributes: the file's own functions, classes and objects, and the way from a
 * dotted library name to its row in fn.def or nn.def. */
#include "torch/foreach.h"
#include "torch/nn.h"
#include "torch/nn_int.h"
#include "torch/outside.h"
#include "torch/record.h"
#include "torch/sparse.h"
#include "torch/unsupported.h"

#include <string.h>

void interp_fail(Interp *it, Span at, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(it->diag, code, at, "%s", str_vformat(it->arena, format, args));
    va_end(args);
    interp_stop(it);
}

/* An error inside a function of defined.def is reported as that function's. */
static void name_said(Interp *it)
{
    if (!it->defining || !it->diag->items.len)
        return;
    DiagItem *last = &it->diag->items.at[it->diag->items.len - 1];
    const char *prefix = str_format(it->arena, "%s: ", it->defining);
    if (!str_starts(str_from(last->text), prefix))
        last->text = str_format(it->arena, "%s%s", prefix, last->text);
}

void interp_stop(Interp *it)
{
    name_said(it);
    longjmp(it->fail, 1);
}

/* --- functions ---------------------------------------------------------------------------- */

PyVal interp_new_func(Interp *it, Env *env, const Py *def)
{
    PyFunc *func = arena_new(it->arena, PyFunc);
    func->def = def;
    func->env = env;
    func->defaults = arena_array(it->arena, PyVal, def->kids.len + 1);
    for (uint32_t i = 0; i < def->kids.len; i++) {
        if (def->kids.at[i]->a)
            func->defaults[i] = interp_eval(it, env, def->kids.at[i]->a);
    }
    return (PyVal){.tag = PV_FUNC, .func = func};
}

static bool take_keyword(const CallArgs *args, bool *used, Str name, PyVal *value)
{
    for (uint32_t i = 0; i < args->n_kw; i++) {
        if (!used[i] && str_equal(args->kw_names[i], name)) {
            used[i] = true;
            *value = args->kw[i];
            return true;
        }
    }
    return false;
}

static PyVal rest_positional(Interp *it, const CallArgs *args, uint32_t from)
{
    bool some = args->n > from;
    return pv_tuple_of(it->arena, some ? args->n - from : 0, some ? args->v + from : NULL);
}

static PyVal rest_keywords(Interp *it, const CallArgs *args, bool *used)
{
    PyVal dict = pv_dict(it->arena);
    for (uint32_t i = 0; i < args->n_kw; i++) {
        if (!used[i])
            dict_set_name(it->arena, dict.dict, args->kw_names[i], args->kw[i]);
        used[i] = true;
    }
    return dict;
}

static void bind_parameters(Interp *it, Span at, const PyFunc *func, Env *env, const CallArgs *args)
{
    const Py *def = func->def;
    bool *used = arena_array(it->arena, bool, args->n_kw + 1), star = false;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < def->kids.len; i++) {
        const Py *param = def->kids.at[i];
        PyVal value;
        if (param->op == PYOP_MUL) {
            star = true;
            value = rest_positional(it, args, taken < args->n ? taken : args->n);
            taken = param->text.len ? args->n : taken;
            if (!param->text.len)
                continue;
        } else if (param->op == PYOP_POW) {
            value = rest_keywords(it, args, used);
        } else if (!star && taken < args->n) {
            value = args->v[taken++];
        } else if (!take_keyword(args, used, param->text, &value)) {
            if (!param->a)
                interp_fail(it, at, "T010", "argument '%.*s' is missing in a call of %.*s",
                            STR_ARG(param->text), STR_ARG(def->text));
            value = func->defaults[i];
        }
        env_set(it->arena, env, param->text, value);
    }
    if (taken < args->n)
        interp_fail(it, at, "T010", "%.*s takes %u arguments, got %u", STR_ARG(def->text), taken,
                    args->n);
    for (uint32_t i = 0; i < args->n_kw; i++) {
        if (!used[i])
            interp_fail(it, at, "T010", "%.*s has no argument '%.*s'", STR_ARG(def->text),
                        STR_ARG(args->kw_names[i]));
    }
}

static PyVal call_func(Interp *it, Span at, const PyFunc *func, const CallArgs *args)
{
    interp_enter(it, at);
    interp_step(it, 5, at);
    Env *env = env_new(it->arena, func->env);
    bind_parameters(it, at, func, env, args);
    if (func->owner && args->n) {
        env_set(it->arena, env, STR("__class__"), (PyVal){.tag = PV_CLASS, .cls = func->owner});
        env_set(it->arena, env, STR("__self__"), args->v[0]);
    }
    PyVal result = pv_none();
    if (func->def->kind == PY_LAMBDA)
        result = interp_eval(it, env, func->def->a);
    else if (interp_block(it, env, func->def->a) == FLOW_RETURN)
        result = it->result;
    interp_leave(it);
    return result;
}

static PyVal call_with_self(Interp *it, Span at, PyVal self, PyVal callee, const CallArgs *args)
{
    CallArgs all = *args;
    all.n = args->n + 1;
    all.v = arena_array(it->arena, PyVal, all.n);
    all.v[0] = self;
    if (args->n)
        memcpy(all.v + 1, args->v, args->n * sizeof *all.v);
    return interp_call(it, at, callee, &all);
}

/* --- classes ------------------------------------------------------------------------------ */

/* Python calls these by itself, and then a class or its objects are not what they look like. */
static bool changes_the_class(Str name)
{
    static const char *const names[] = {"__new__",
                                        "__getattribute__",
                                        "__setattr__",
                                        "__delattr__",
                                        "__dict__",
                                        "__get__",
                                        "__init_subclass__",
                                        "__set_name__",
                                        "__prepare__",
                                        "__set__",
                                        "__eq__",
                                        "__ne__",
                                        "__instancecheck__",
                                        "__torch_function__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool is_plain_metaclass(const Py *keyword)
{
    Str name = keyword->a->text;
    return !str_is(keyword->text, "metaclass") || str_is(name, "ABCMeta") || str_is(name, "type") ||
           str_is(name, "EnumMeta");
}

static void take_bases(Interp *it, Env *env, const Py *def, PyClass *cls)
{
    for (uint32_t i = 0; i < def->kids.len; i++) {
        const Py *base = def->kids.at[i];
        if (base->kind != PY_KEYWORD)
            vec_push(it->arena, &cls->bases, interp_eval(it, env, base));
        else if (!is_plain_metaclass(base))
            interp_fail(it, base->at, "T011", "a metaclass is not supported");
    }
}

PyVal interp_new_class(Interp *it, Env *env, const Py *def)
{
    PyClass *cls = arena_new(it->arena, PyClass);
    cls->name = def->text;
    cls->at = def->at;
    take_bases(it, env, def, cls);
    Env *body = env_new(it->arena, env);
    interp_block(it, body, def->a);
    for (uint32_t i = 0; i < def->a->kids.len; i++) {
        const Py *s = def->a->kids.at[i];
        Str name = s->kind == PY_DEF || s->kind == PY_CLASS                 ? s->text
                   : s->kind == PY_ASSIGN && s->kids.at[0]->kind == PY_NAME ? s->kids.at[0]->text
                   : s->kind == PY_ANNASSIGN && s->a->kind == PY_NAME       ? s->a->text
                                                                            : STR("");
        uint32_t slot;
        if (changes_the_class(name))
            interp_fail(it, s->at, "T011", "a class with %.*s is not supported", STR_ARG(name));
        if (!name.len || !map_get(&body->names, name, &slot))
            continue;
        PyVal value = body->slots.at[slot];
        if (value.tag == PV_FUNC && !value.func->owner) {
            value.func->owner = cls;
            value.func->env = env;
        }
        dict_set_name(it->arena, &cls->attrs, name, value);
    }
    record_finish(it, cls, def->a);
    return (PyVal){.tag = PV_CLASS, .cls = cls};
}

/* The order in which Python looks a method up: a class stands after all that derive from it. */
typedef struct Order {
    const PyClass *at[64];
    uint32_t n;
} Order;

static void class_order(const PyClass *cls, Order *order, int depth)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < order->n; i++) {
        if (order->at[i] != cls)
            order->at[k++] = order->at[i];
    }
    order->n = k;
    if (k == 64 || depth > 50)
        return;
    order->at[order->n++] = cls;
    for (uint32_t i = 0; i < cls->bases.len; i++) {
        if (cls->bases.at[i].tag == PV_CLASS)
            class_order(cls->bases.at[i].cls, order, depth + 1);
    }
}

bool interp_class_attr(const PyClass *cls, Str name, PyVal *value, PyClass **owner)
{
    Order order = {0};
    class_order(cls, &order, 0);
    for (uint32_t i = 0; i < order.n; i++)
        if (dict_get_name(&order.at[i]->attrs, name, value)) {
            if (owner)
                *owner = (PyClass *)order.at[i];
            return true;
        }
    return false;
}

bool interp_forward(const PyObject *object, PyVal *function)
{
    return object->cls && (dict_get_name(&object->attrs, STR("forward"), function) ||
                           interp_class_attr(object->cls, STR("forward"), function, NULL));
}

/* The library module a class derives from, or NULL. */
static const NnRow *library_base(const Interp *it, const PyClass *cls, int depth)
{
    for (uint32_t i = 0; i < cls->bases.len && depth < 50; i++) {
        PyVal base = cls->bases.at[i];
        const NnRow *row = base.tag == PV_NAME    ? nn_find(*base.str)
                           : base.tag == PV_CLASS ? library_base(it, base.cls, depth + 1)
                                                  : NULL;
        if (row)
            return row;
    }
    return NULL;
}

static PyVal instantiate(Interp *it, Span at, PyClass *cls, const CallArgs *args)
{
    PyObject *object = arena_new(it->arena, PyObject);
    object->cls = cls;
    object->nn = library_base(it, cls, 0);
    PyVal self = {.tag = PV_OBJECT, .object = object}, init;
    if (record_member(it, at, cls, args, &self))
        return self;
    interp_enter(it, at);
    if (interp_class_attr(cls, STR("__init__"), &init, NULL))
        call_with_self(it, at, self, init, args);
    else if (object->nn)
        nn_init_object(it, at, object, object->nn, args);
    else if (!record_init(it, at, self, args) && args->n + args->n_kw)
        interp_fail(it, at, "T011", "%.*s takes arguments, but its constructor is not known",
                    STR_ARG(cls->name));
    interp_leave(it);
    return self;
}

/* --- calls -------------------------------------------------------------------------------- */

/* A function that the class has gets the object first; one that was put into the object does not. */
static PyVal call_forward(Interp *it, Span at, PyVal self, PyVal function, const CallArgs *args)
{
    PyVal ignored;
    return dict_get_name(&self.object->attrs, STR("forward"), &ignored)
               ? interp_call(it, at, function, args)
               : call_with_self(it, at, self, function, args);
}

static PyVal call_object(Interp *it, Span at, PyVal callee, const CallArgs *args)
{
    PyObject *object = callee.object;
    PyVal function;
    const char *outer = it->scope;
    PyVal result;
    if (partial_call(it, at, object, args, &result))
        return result;
    if (object->path)
        it->scope = object->path;
    interp_enter(it, at);
    if (object->cls && interp_class_attr(object->cls, STR("__call__"), &function, NULL))
        result = call_with_self(it, at, callee, function, args);
    else if (interp_forward(object, &function))
        result = call_forward(it, at, callee, function, args);
    else if (object->cls && object->nn && object->nn->call == nn_no_forward)
        interp_fail(it, object->cls->at, "T010",
                    "class %.*s has no forward, and no class it is made from has one",
                    STR_ARG(object->cls->name));
    else if (object->nn)
        result = nn_call_row(it, at, object, object->nn, args);
    else
        interp_fail(it, at, "T010", "this object cannot be called");
    interp_leave(it);
    it->scope = outer;
    return result;
}

static PyVal call_name(Interp *it, Span at, Str path, const CallArgs *args)
{
    const FnRow *row = fn_find(path);
    if (row)
        return fn_call(it, at, row, args);
    const NnRow *module = nn_find(path);
    if (module)
        return nn_construct(it, at, module, args);
    PyVal result;
    if (builtin_call(it, at, path, args, &result) || einops_call(it, at, path, args, &result) ||
        foreach_call(it, at, path, args, &result))
        return result;
    if (it->outside)
        return outside_call(it, at, path, args);
    unsupported_name(it, at, path);
}

/* "super:torch.nn.Module.__init__" and the like, called on the object. */
static PyVal call_super(Interp *it, Span at, PyObject *self, Str path, const CallArgs *args)
{
    size_t dot = path.len;
    while (dot > 0 && path.at[dot - 1] != '.')
        dot--;
    Str name = str_slice(path, dot, path.len);
    const NnRow *row = nn_find(str_slice(path, 0, dot ? dot - 1 : 0));
    PyVal function;
    if (row && row->call == nn_no_forward && str_is(name, "__call__") &&
        interp_forward(self, &function))
        return call_forward(it, at, (PyVal){.tag = PV_OBJECT, .object = self}, function, args);
    if (row && str_is(name, "__init__")) {
        nn_init_object(it, at, self, row, args);
        return pv_none();
    }
    if (row && (str_is(name, "forward") || str_is(name, "__call__")))
        return nn_call_row(it, at, self, row, args);
    if (row && module_has_method(self, name))
        return module_method(it, at, self, name, args);
    if (str_is(name, "__init__"))
        return pv_none();
    interp_fail(it, at, "T011", "super().%.*s is not supported", STR_ARG(name));
}

/* distribution.sample(shape) */
static PyVal sample(Interp *it, Span at, PyObject *self, bool uniform, const CallArgs *args)
{
    PyVal low = pv_none(), high = pv_none();
    Args a = {.it = it, .at = at, .name = "sample"};
    args_bind(&a, "sample_shape=None", args);
    Shape shape = {0};
    if (!arg_none(&a, 0))
        shape = arg_shape(&a, 0);
    dict_get_name(&self->attrs, STR("a"), &low);
    dict_get_name(&self->attrs, STR("b"), &high);
    return tensor_of(it, emit_random(it, at, uniform ? RANDOM_uniform : RANDOM_normal, shape,
                                     it->float_type, need_double(it, at, low, "a bound"),
                                     need_double(it, at, high, "a bound"), 0));
}

static bool changes_shape(const char *name)
{
    static const char *const names[] = {"t", "transpose", "squeeze", "unsqueeze", "swapaxes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static PyVal call_method(Interp *it, Span at, const PyMethod *method, const CallArgs *args)
{
    PyVal self = method->self, function = method->function;
    if (function.tag != PV_NAME)
        return call_with_self(it, at, self, function, args);
    if (str_starts(*function.str, "super:"))
        return call_super(it, at, self.object, str_slice(*function.str, 6, function.str->len),
                          args);
    if (str_is(*function.str, "autograd:apply")) {
        PyVal forward;
        if (!interp_class_attr(self.cls, STR("forward"), &forward, NULL))
            interp_fail(it, at, "T010", "%.*s has no forward", STR_ARG(self.cls->name));
        return call_with_self(it, at, pv_opaque(it->arena, "context"), forward, args);
    }
    if (str_starts(*function.str, "sparse:"))
        return sparse_method(it, at, self.object, str_slice(*function.str, 7, function.str->len),
                             args);
    if (str_starts(*function.str, "sample:"))
        return sample(it, at, self.object, str_ends(*function.str, "uniform"), args);
    if (self.tag == PV_TENSOR) {
        const FnRow *row = fn_find_method(*function.str);
        bool in_place = !str_equal(str_from(row->name), *function.str);
        if (in_place && changes_shape(row->name))
            interp_fail(it, at, "T011", "%.*s, which changes a shape in place, is not supported",
                        STR_ARG(*function.str));
        CallArgs all = *args;
        all.n = args->n + 1;
        all.v = arena_array(it->arena, PyVal, all.n);
        all.v[0] = self;
        if (args->n)
            memcpy(all.v + 1, args->v, args->n * sizeof *all.v);
        PyVal result = fn_call(it, at, row, &all);
        return in_place ? tensor_inplace(it, at, self.tensor, result) : result;
    }
    if (self.tag == PV_OBJECT)
        return module_method(it, at, self.object, *function.str, args);
    return builtin_method(it, at, self, *function.str, args);
}

/* numpy.int64(n), numpy.float32(f): a number of that kind. */
static PyVal call_dtype(Interp *it, Span at, DType dtype, const CallArgs *args)
{
    PyVal v = args->n == 1 ? args->v[0] : pv_none();
    if (v.tag != PV_INT && v.tag != PV_FLOAT)
        interp_fail(it, at, "T010", "a dtype is called with one number");
    double number = v.tag == PV_FLOAT ? v.f : (double)v.i;
    switch (dtype) {
    case DT_F64: return pv_float(number);
    case DT_F32: return pv_float((double)(float)number);
    case DT_I64:
        if (number > -9e18 && number < 9e18)
            return v.tag == PV_INT ? v : pv_int((int64_t)number);
        break;
    case DT_I32:
        if (number > -2147483649.0 && number < 2147483648.0)
            return pv_int((int64_t)number);
        break;
    default: break;
    }
    interp_fail(it, at, "T010", "a number of this dtype cannot be made");
}

PyVal interp_call(Interp *it, Span at, PyVal callee, const CallArgs *args)
{
    switch (callee.tag) {
    case PV_FUNC: return call_func(it, at, callee.func, args);
    case PV_METHOD: return call_method(it, at, callee.method, args);
    case PV_CLASS: return instantiate(it, at, callee.cls, args);
    case PV_OBJECT: return call_object(it, at, callee, args);
    case PV_NAME: return call_name(it, at, *callee.str, args);
    case PV_OPAQUE: return callee;
    case PV_DTYPE: return call_dtype(it, at, callee.dtype, args);
    default: interp_fail(it, at, "T010", "%s cannot be called", pv_type_name(callee));
    }
}

PyVal interp_call1(Interp *it, Span at, PyVal callee, PyVal arg)
{
    CallArgs args = {.n = 1, .v = &arg};
    return interp_call(it, at, callee, &args);
}

/* --- attributes --------------------------------------------------------------------------- */

static PyVal bound(Interp *it, PyVal self, PyVal function)
{
    PyMethod *method = arena_new(it->arena, PyMethod);
    method->self = self;
    method->function = function;
    return (PyVal){.tag = PV_METHOD, .method = method};
}

/* A class under torch.autograd.Function. */
static bool is_function_class(const PyClass *cls)
{
    for (uint32_t i = 0; i < cls->bases.len; i++) {
        if (cls->bases.at[i].tag == PV_NAME &&
            str_is(*cls->bases.at[i].str, "torch.autograd.Function"))
            return true;
    }
    return false;
}

static PyVal class_value(Interp *it, Span at, PyVal self, PyVal value)
{
    if (value.tag != PV_FUNC || value.func->is_static)
        return value;
    if (value.func->is_property)
        return interp_call1(it, at, value, self);
    if (value.func->is_class_method && self.tag == PV_OBJECT)
        return bound(it, (PyVal){.tag = PV_CLASS, .cls = self.object->cls}, value);
    return bound(it, self, value);
}

static bool object_attr(Interp *it, Span at, PyVal owner, Str name, PyVal *value)
{
    PyObject *object = owner.object;
    if (dict_get_name(&object->attrs, name, value))
        return true;
    if (object->cls && interp_class_attr(object->cls, name, value, NULL)) {
        *value = class_value(it, at, owner, *value);
        return true;
    }
    if (str_is(name, "__class__")) {
        *value = object->cls ? (PyVal){.tag = PV_CLASS, .cls = object->cls} : pv_none();
        return true;
    }
    if (object->nn && str_is(name, "training")) {
        *value = pv_bool(true);
        return true;
    }
    if (object->nn && module_has_method(object, name)) {
        *value = bound(it, owner, pv_name(it->arena, name));
        return true;
    }
    return false;
}

static bool super_attr(Interp *it, Span at, const PyMethod *proxy, Str name, PyVal *value)
{
    const PyClass *cls = proxy->function.cls;
    const PyClass *own = proxy->self.tag == PV_OBJECT && proxy->self.object->cls
                             ? proxy->self.object->cls
                             : cls;
    Order order = {0};
    class_order(own, &order, 0);
    uint32_t i = order.n;
    while (i > 0 && order.at[i - 1] != cls)
        i--;
    for (; i < order.n; i++) {
        if (dict_get_name(&order.at[i]->attrs, name, value)) {
            *value = class_value(it, at, proxy->self, *value);
            return true;
        }
    }
    const NnRow *row = library_base(it, own, 0);
    const char *path = str_format(it->arena, "super:torch.nn.%s.%.*s", row ? row->name : "object",
                                  STR_ARG(name));
    *value = bound(it, proxy->self, pv_name(it->arena, str_from(path)));
    return proxy->self.tag == PV_OBJECT;
}

static bool name_attr(Interp *it, PyVal owner, Str name, PyVal *value)
{
    Str path = str_from(str_format(it->arena, "%.*s.%.*s", STR_ARG(*owner.str), STR_ARG(name))),
        space;
    if (str_is(name, "__name__")) {
        *value = pv_str(it->arena, path_name(*owner.str, &space));
        return true;
    }
    if (!name_constant(it, path, value))
        *value = pv_name(it->arena, path);
    return true;
}

/* max(x, dim), sort and topk give a named pair. */
static bool pair_attr(PyVal owner, Str name, PyVal *value)
{
    bool first = str_is(name, "values");
    if (owner.tag != PV_TUPLE || owner.list->items.len != 2 || (!first && !str_is(name, "indices")))
        return false;
    *value = owner.list->items.at[first ? 0 : 1];
    return true;
}

bool interp_find_attr(Interp *it, Span at, PyVal owner, Str name, PyVal *value)
{
    switch (owner.tag) {
    case PV_OBJECT: return object_attr(it, at, owner, name, value);
    case PV_TENSOR:
        if (tensor_attr(it, at, owner.tensor, name, value))
            return true;
        if (!fn_find_method(name))
            return false;
        *value = bound(it, owner, pv_name(it->arena, name));
        return true;
    case PV_CLASS:
        if (str_is(name, "__name__"))
            *value = pv_str(it->arena, owner.cls->name);
        else if (str_is(name, "apply") && is_function_class(owner.cls))
            *value = bound(it, owner, pv_name(it->arena, STR("autograd:apply")));
        else if (!interp_class_attr(owner.cls, name, value, NULL))
            return false;
        else if (value->tag == PV_FUNC && value->func->is_class_method)
            *value = bound(it, owner, *value);
        return true;
    case PV_METHOD:
        return owner.method->function.tag == PV_CLASS &&
               super_attr(it, at, owner.method, name, value);
    case PV_NAME: return name_attr(it, owner, name, value);
    case PV_SLICE:
        *value = str_is(name, "start")  ? owner.slice->start
                 : str_is(name, "stop") ? owner.slice->stop
                                        : owner.slice->step;
        return true;
    case PV_OPAQUE: *value = owner; return true;
    case PV_DTYPE:
        *value = pv_bool(dtype_is_float(owner.dtype));
        return str_is(name, "is_floating_point");
    default:
        if (pair_attr(owner, name, value))
            return true;
        if (!builtin_has_method(owner, name))
            return false;
        *value = bound(it, owner, pv_name(it->arena, name));
        return true;
    }
}

PyVal interp_attr(Interp *it, Span at, PyVal owner, Str name)
{
    PyVal value;
    if (interp_find_attr(it, at, owner, name, &value))
        return value;
    if (owner.tag == PV_OBJECT && owner.object->cls)
        unsupported_attribute(it, at, owner.object, name);
    if (owner.tag == PV_OBJECT && owner.object->nn)
        interp_fail(it, at, "T011", "nn.%s has no attribute '%.*s' here", owner.object->nn->name,
                    STR_ARG(name));
    if (owner.tag == PV_TENSOR)
        unsupported_name(
            it, at, str_from(str_format(it->arena, "%s.%.*s", pv_type_name(owner), STR_ARG(name))));
    interp_fail(it, at, "T010", "%s.%.*s is not supported", pv_type_name(owner), STR_ARG(name));
}

/* Numbers and switches of a library may be set without harm; its functions may not be replaced. */
static bool replaces_a_function(PyVal owner, PyVal value)
{
    bool library = owner.tag == PV_NAME || owner.tag == PV_OPAQUE;
    return library && (value.tag == PV_FUNC || value.tag == PV_METHOD || value.tag == PV_CLASS ||
                       value.tag == PV_NAME);
}

void interp_set_attr(Interp *it, Span at, PyVal owner, Str name, PyVal value)
{
    PyVal property;
    PyVal pair[2] = {owner, value};
    bool own = owner.tag == PV_OBJECT || owner.tag == PV_CLASS;
    if (replaces_a_function(owner, value))
        interp_fail(it, at, "T011", "a function of a library is replaced: '%.*s'", STR_ARG(name));
    if (own && (changes_the_class(name) || str_is(name, "__class__") || str_is(name, "__bases__")))
        interp_fail(it, at, "T011", "attribute '%.*s' cannot be set here", STR_ARG(name));
    if (owner.tag == PV_OBJECT && owner.object->cls &&
        interp_class_attr(owner.object->cls, name, &property, NULL) && property.tag == PV_FUNC &&
        property.func->setter)
        interp_call(it, at, (PyVal){.tag = PV_FUNC, .func = property.func->setter},
                    &(CallArgs){.n = 2, .v = pair});
    else if (owner.tag == PV_OBJECT)
        dict_set_name(it->arena, &owner.object->attrs, name, value);
    else if (owner.tag == PV_CLASS)
        dict_set_name(it->arena, &owner.cls->attrs, name, value);
    else if (owner.tag == PV_TENSOR && str_is(name, "data"))
        tensor_inplace(it, at, owner.tensor, value);
    else if (owner.tag == PV_TENSOR && str_is(name, "requires_grad"))
        owner.tensor->requires_grad = interp_truth(it, at, value);
    else if (owner.tag != PV_NAME && owner.tag != PV_OPAQUE)
        interp_fail(it, at, "T011", "attribute '%.*s' of %s cannot be set", STR_ARG(name),
                    pv_type_name(owner));
}

static bool class_derives(const PyClass *cls, const PyClass *from, int depth)
{
    if (cls == from)
        return true;
    for (uint32_t i = 0; i < cls->bases.len && depth < 50; i++) {
        if (cls->bases.at[i].tag == PV_CLASS &&
            class_derives(cls->bases.at[i].cls, from, depth + 1))
            return true;
    }
    return false;
}

static bool is_instance_of_name(PyVal v, Str name)
{
    static const struct {
        const char *name;
        PvTag tag;
    } types[] = {{"int", PV_INT},
                 {"int", PV_BOOL},
                 {"bool", PV_BOOL},
                 {"float", PV_FLOAT},
                 {"str", PV_STR},
                 {"list", PV_LIST},
                 {"tuple", PV_TUPLE},
                 {"dict", PV_DICT},
                 {"set", PV_SET},
                 {"slice", PV_SLICE},
                 {"range", PV_RANGE},
                 {"torch.Tensor", PV_TENSOR},
                 {"torch.FloatTensor", PV_TENSOR},
                 {"torch.nn.Parameter", PV_TENSOR},
                 {"torch.dtype", PV_DTYPE},
                 {"torch.Size", PV_TUPLE},
                 {"numpy.ndarray", PV_TENSOR}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (v.tag == types[i].tag && str_is(name, types[i].name))
            return !str_is(name, "torch.nn.Parameter") || v.tensor->role == ROLE_PARAM;
    }
    if (str_ends(name, "Iterable") || str_ends(name, "Sequence") || str_ends(name, "Sized"))
        return pv_is_seq(v) || v.tag == PV_DICT || v.tag == PV_STR || v.tag == PV_RANGE ||
               v.tag == PV_TENSOR;
    if (str_ends(name, "numbers.Number") || str_ends(name, ".Number"))
        return pv_is_number(v);
    const NnRow *row = nn_find(name);
    return row && v.tag == PV_OBJECT && v.object->nn &&
           (v.object->nn == row || str_is(str_from(row->name), "Module"));
}

bool interp_is_instance(Interp *it, Span at, PyVal v, PyVal type)
{
    if (type.tag == PV_TUPLE || type.tag == PV_LIST) {
        for (uint32_t i = 0; i < type.list->items.len; i++) {
            if (!pv_is_seq(type.list->items.at[i]) &&
                interp_is_instance(it, at, v, type.list->items.at[i]))
                return true;
        }
        return false;
    }
    if (type.tag == PV_CLASS)
        return v.tag == PV_OBJECT && v.object->cls && class_derives(v.object->cls, type.cls, 0);
    if (type.tag == PV_NAME)
        return is_instance_of_name(v, *type.str);
    if (pv_is_none(type))
        return pv_is_none(v);
    interp_fail(it, at, "T011", "isinstance with %s is not supported", pv_type_name(type));
}
