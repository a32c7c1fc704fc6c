/* Calls into code outside PyTorch: the arguments go to the caller of torch_read as plain data, what
 * comes back is described by shapes. Each result is a new input of the graph, whose elements the
 * caller works out later. */
#include "torch/outside.h"

#include "torch/knob.h"
#include "torch/nn.h"
#include <string.h>

enum { MOST_DEPTH = 8, MOST_ITEMS = 4096 };

/* --- the candidate's file --------------------------------------------------------------------- */

/* The first name in the text by which Python changes itself, or of what the file defines; NULL: there is none. */
static const Py *changes_what_is_defined(const Env *env, const Py *s)
{
    static const char *const names[] = {"exec",       "eval",     "compile", "setattr",
                                        "delattr",    "globals",  "locals",  "vars",
                                        "__import__", "builtins", "modules", "__builtins__"};
    PyVal value;
    if (!s)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((s->kind == PY_NAME || s->kind == PY_ATTR) && str_is(s->text, names[i]))
            return s;
    if (s->kind == PY_NAME && env_get(env, s->text, &value) &&
        (value.tag == PV_CLASS || value.tag == PV_FUNC))
        return s;
    const Py *parts[] = {s->a, s->b, s->c}, *found = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !found; i++)
        found = changes_what_is_defined(env, parts[i]);
    for (uint32_t i = 0; i < s->kids.len && !found; i++)
        found = changes_what_is_defined(env, s->kids.at[i]);
    return found;
}

/* What is left out must not matter. */
static void leave_out(Interp *it, const Env *env, const Py *s)
{
    const Py *name = changes_what_is_defined(env, s);
    for (uint32_t i = 0; s->kind == PY_ASSIGN && i < s->kids.len && !name; i++)
        name = s->kids.at[i]->kind == PY_ATTR ? s->kids.at[i] : NULL;
    if (name)
        interp_fail(it, s->at, "T011", "this statement could not be read, and it names '%.*s'",
                    STR_ARG(name->text));
}

/* A statement for effect (search paths, loading libraries) may fail here without harm: what it
 * would have set is then missing where it is used. */
static void try_statement(Interp *it, Env *env, Py *s)
{
    Py block = {.kind = PY_BLOCK, .at = s->at};
    jmp_buf outer;
    Diag before = *it->diag;
    uint32_t depth = it->depth;
    const char *defining = it->defining;
    volatile bool left_out = s->kind == PY_EXPR; /* as the reader does with calls for effect */
    vec_push(it->arena, &block.kids, s);
    memcpy(outer, it->fail, sizeof outer);
    if (setjmp(it->fail)) {
        *it->diag = before;
        it->depth = depth;
        it->defining = defining;
        left_out = true;
    } else {
        interp_block(it, env, &block);
    }
    memcpy(it->fail, outer, sizeof outer);
    if (left_out)
        leave_out(it, env, s);
}

static void run_file(Interp *it, const Py *module)
{
    Env *own = env_new(it->arena, it->globals);
    own->globals = own;
    it->globals = own;
    for (uint32_t i = 0; i < module->kids.len; i++) {
        Py *s = module->kids.at[i];
        bool needed = s->kind == PY_DEF || s->kind == PY_CLASS || s->kind == PY_IMPORT ||
                      s->kind == PY_FROM;
        Py block = {.kind = PY_BLOCK, .at = s->at};
        vec_push(it->arena, &block.kids, s);
        if (needed)
            interp_block(it, own, &block);
        else
            try_statement(it, own, s);
    }
}

PyVal outside_class(Interp *it)
{
    const TorchOutside *o = it->outside;
    PyVal found;
    if (o->source.len) {
        it->diag->file = o->path;
        it->diag->source = o->source;
        const Py *module = py_parse(it->arena, o->source, it->diag);
        if (!module)
            interp_stop(it);
        KnobList both;
        knob_follow(it->arena, it->sizes, module, o->class_name, &both);
        it->knobs = both.overrides.at;
        it->n_knobs = both.overrides.len;
        run_file(it, module);
    }
    if (!env_get(it->globals, str_from(o->class_name), &found) || found.tag != PV_CLASS)
        interp_fail(it, (Span){0}, "T020", "%s has no class %s", o->path, o->class_name);
    return found;
}

/* --- arguments -------------------------------------------------------------------------------- */

typedef struct Passed {
    Interp *it;
    Span at;
    VEC(TVar *) tensors; /* in the order of their TorchArgs */
} Passed;

static TorchArg arg_of(Passed *p, PyVal v, int depth)
{
    Interp *it = p->it;
    TorchArg a = {.kind = TORCH_ARG_NONE, .name = ""};
    if (v.tag == PV_TENSOR) {
        a.kind = TORCH_ARG_TENSOR;
        a.value = tvar_read(it, v.tensor);
        a.shape = emit_info(it, a.value)->shape;
        a.dtype = emit_info(it, a.value)->dtype;
        a.tensor = p->tensors.len;
        vec_push(it->arena, &p->tensors, v.tensor);
    } else if (v.tag == PV_BOOL) {
        a.kind = TORCH_ARG_BOOL;
        a.i = v.b;
    } else if (v.tag == PV_INT) {
        a.kind = TORCH_ARG_INT;
        a.i = v.i;
    } else if (v.tag == PV_FLOAT) {
        a.kind = TORCH_ARG_FLOAT;
        a.f = v.f;
    } else if (v.tag == PV_STR) {
        a.kind = TORCH_ARG_TEXT;
        a.text = *v.str;
    } else if (pv_is_seq(v)) {
        uint32_t n = v.list->items.len;
        if (depth > MOST_DEPTH || n > MOST_ITEMS)
            interp_fail(it, p->at, "T012", "an argument nests too deeply or is too long");
        TorchArg *list = arena_array(it->arena, TorchArg, n + 1);
        for (uint32_t i = 0; i < n; i++)
            list[i] = arg_of(p, v.list->items.at[i], depth + 1);
        a.kind = TORCH_ARG_LIST;
        a.list = list;
        a.count = n;
    } else if (!pv_is_none(v)) {
        interp_fail(it, p->at, "T011", "%s cannot be passed to a function outside",
                    pv_type_name(v));
    }
    return a;
}

/* --- results ---------------------------------------------------------------------------------- */

static ValueId new_value(Interp *it, Shape shape, DType dtype)
{
    Value v = {.dtype = dtype,
               .shape = shape,
               .kind = VALUE_INPUT,
               .node = NODE_NONE,
               .source = UINT32_MAX,
               .name = "kernel result"};
    return graph_add_value(it->graphs[1], v);
}

static PyVal result_of(Interp *it, TorchArg *a, int depth)
{
    switch (a->kind) {
    case TORCH_ARG_TENSOR:
        a->value = new_value(it, a->shape, a->dtype);
        return tensor_of(it, a->value);
    case TORCH_ARG_BOOL: return pv_bool(a->i != 0);
    case TORCH_ARG_INT: return pv_int(a->i);
    case TORCH_ARG_FLOAT: return pv_float(a->f);
    case TORCH_ARG_TEXT: return pv_str(it->arena, a->text);
    case TORCH_ARG_LIST: {
        PyVal list = pv_list(it->arena, PV_TUPLE);
        for (uint32_t i = 0; i < a->count && depth < MOST_DEPTH; i++)
            pv_push(it->arena, list, result_of(it, &((TorchArg *)a->list)[i], depth + 1));
        return list;
    }
    default: return pv_none();
    }
}

PyVal outside_call(Interp *it, Span at, Str path, const CallArgs *args)
{
    Passed p = {.it = it, .at = at};
    TorchCall call = {.function = str_dup(it->arena, path), .at = at, .error = "it failed"};
    call.arg_count = args->n + args->n_kw;
    TorchArg *list = arena_array(it->arena, TorchArg, call.arg_count + 1);
    if (it->graph != 1)
        interp_fail(it, at, "T011", "%.*s is called outside forward", STR_ARG(path));
    for (uint32_t i = 0; i < args->n; i++)
        list[i] = arg_of(&p, args->v[i], 0);
    for (uint32_t i = 0; i < args->n_kw; i++) {
        list[args->n + i] = arg_of(&p, args->kw[i], 0);
        list[args->n + i].name = str_dup(it->arena, args->kw_names[i]);
    }
    call.graph = it->graphs[1];
    call.source = it->graphs[0];
    call.args = list;
    call.tensor_count = p.tensors.len;
    call.after = arena_array(it->arena, ValueId, p.tensors.len + 1);
    for (uint32_t i = 0; i < p.tensors.len; i++)
        call.after[i] = VALUE_NONE;
    call.written = arena_array(it->arena, bool, p.tensors.len + 1);
    it->outside_calls++;
    call.again = it->again;
    TorchCall *kept = it->outside->call(it->outside->context, &call);
    if (!kept)
        interp_fail(it, at, "T016", "%s", call.error);
    PyVal result = result_of(it, &kept->result, 0);
    for (uint32_t i = 0; i < p.tensors.len; i++) {
        if (!kept->written[i])
            continue;
        kept->after[i] = new_value(it, tvar_shape(it, p.tensors.at[i]),
                                   tvar_dtype(it, p.tensors.at[i]));
        tvar_write(it, at, p.tensors.at[i], kept->after[i]);
    }
    return result;
}
