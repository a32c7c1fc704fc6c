/* Statements: assignment, loops, conditions, definitions, imports. */
#include "torch/interp.h"

#include "torch/record.h"
#include "torch/tvar.h"
#include <string.h>

void interp_step(Interp *it, uint64_t cost, Span at)
{
    it->steps += cost;
    if (it->steps > it->max_steps)
        interp_fail(it, at, "T012", "the file runs too long: more than %llu steps",
                    (unsigned long long)it->max_steps);
    if (it->arena->bytes > it->max_bytes)
        interp_fail(it, at, "T012", "the file needs too much memory: more than %zu MiB",
                    it->max_bytes >> 20);
}

void interp_enter(Interp *it, Span at)
{
    if (++it->depth > INTERP_MAX_DEPTH)
        interp_fail(it, at, "T012", "calls or constructors are nested too deeply");
}

/* --- assignment --------------------------------------------------------------------------- */

static void unpack(Interp *it, Env *env, const Py *target, PyVal value)
{
    PyVal items = interp_items(it, target->at, value);
    uint32_t have = items.list->items.len, want = target->kids.len, star = want;
    for (uint32_t i = 0; i < want; i++) {
        if (target->kids.at[i]->kind == PY_STAR)
            star = i;
    }
    if (star == want ? have != want : have + 1 < want)
        interp_fail(it, target->at, "T010", "%u values cannot be unpacked into %u names", have,
                    want);
    for (uint32_t i = 0, from = 0; i < want; i++) {
        if (i != star) {
            interp_assign(it, env, target->kids.at[i], items.list->items.at[from++]);
            continue;
        }
        PyVal rest = pv_list(it->arena, PV_LIST);
        for (uint32_t n = have + 1 - want; n > 0; n--)
            pv_push(it->arena, rest, items.list->items.at[from++]);
        interp_assign(it, env, target->kids.at[i]->a, rest);
    }
}

void interp_assign(Interp *it, Env *env, const Py *target, PyVal value)
{
    PyVal owner;
    interp_enter(it, target->at);
    switch (target->kind) {
    case PY_NAME: env_set(it->arena, env, target->text, value); break;
    case PY_ATTR:
        interp_set_attr(it, target->at, interp_eval(it, env, target->a), target->text, value);
        break;
    case PY_INDEX:
        owner = interp_eval(it, env, target->a);
        interp_set_index(it, target->at, owner, interp_eval(it, env, target->b), value);
        break;
    case PY_TUPLE:
    case PY_LIST: unpack(it, env, target, value); break;
    default: interp_fail(it, target->at, "T010", "cannot assign to this expression");
    }
    interp_leave(it);
}

/* a += b writes into a tensor, extends a list, and rebinds anything else. */
static PyVal augmented(Interp *it, const Py *s, PyVal old, PyVal value)
{
    if (old.tag == PV_TENSOR) {
        PyVal result = tensor_binary(it, s->at, s->op, old, value);
        return tensor_inplace(it, s->at, old.tensor, result);
    }
    if (old.tag == PV_LIST && s->op == PYOP_ADD) {
        PyVal items = interp_items(it, s->at, value);
        uint32_t count = items.list->items.len;
        interp_step(it, count, s->at);
        for (uint32_t i = 0; i < count; i++)
            pv_push(it->arena, old, items.list->items.at[i]);
        return old;
    }
    return interp_binary(it, s->at, s->op, old, value);
}

static void augmented_assign(Interp *it, Env *env, const Py *s)
{
    if (s->a->kind == PY_INDEX) {
        PyVal owner = interp_eval(it, env, s->a->a), index = interp_eval(it, env, s->a->b);
        PyVal old = interp_index(it, s->at, owner, index), value = interp_eval(it, env, s->b);
        PyVal result = old.tag == PV_TENSOR ? tensor_binary(it, s->at, s->op, old, value)
                                            : augmented(it, s, old, value);
        interp_set_index(it, s->at, owner, index, result);
        return;
    }
    PyVal old = interp_eval(it, env, s->a);
    interp_assign(it, env, s->a, augmented(it, s, old, interp_eval(it, env, s->b)));
}

/* --- loops -------------------------------------------------------------------------------- */

static Flow run_body(Interp *it, Env *env, const Py *body, bool *stop)
{
    Flow flow = interp_block(it, env, body);
    *stop = flow == FLOW_BREAK || flow == FLOW_RETURN;
    return flow == FLOW_RETURN ? FLOW_RETURN : FLOW_NEXT;
}

/* A range is not written out, so that a loop that ends early costs only what it ran. */
static Flow run_for(Interp *it, Env *env, const Py *s)
{
    PyVal over = interp_eval(it, env, s->b);
    bool ranged = over.tag == PV_RANGE, stop = false;
    PyVal items = ranged ? over : interp_items(it, s->at, over);
    Flow flow = FLOW_NEXT;
    for (int64_t i = 0; !stop; i++) {
        if (i >= (ranged ? over.range->count : (int64_t)items.list->items.len))
            break;
        interp_step(it, 1, s->at);
        interp_assign(it, env, s->a,
                      ranged ? pv_int(over.range->start + i * over.range->step)
                             : items.list->items.at[i]);
        flow = run_body(it, env, s->kids.at[0], &stop);
    }
    if (!stop && s->kids.len > 1)
        return interp_block(it, env, s->kids.at[1]);
    return flow;
}

static Flow run_while(Interp *it, Env *env, const Py *s)
{
    bool stop = false;
    Flow flow = FLOW_NEXT;
    while (!stop && interp_truth(it, s->at, interp_eval(it, env, s->a)))
        flow = run_body(it, env, s->b, &stop);
    if (!stop && s->c)
        return interp_block(it, env, s->c);
    return flow;
}

static Flow run_if(Interp *it, Env *env, const Py *s)
{
    for (; s && s->kind == PY_IF; s = s->c) {
        if (interp_truth(it, s->at, interp_eval(it, env, s->a)))
            return interp_block(it, env, s->b);
    }
    return s ? interp_block(it, env, s) : FLOW_NEXT;
}

/* --- imports ------------------------------------------------------------------------------ */

/* Where a file is ready for a module that is missing, those we know nothing of are. */
static void need_module(Interp *it, Span at, Str path)
{
    static const char *const known[] = {
        "torch",       "numpy",       "math",     "typing",
        "collections", "functools",   "einops",   "itertools",
        "os",          "sys",         "json",     "copy",
        "random",      "time",        "warnings", "abc",
        "enum",        "dataclasses", "re",       "contextlib",
        "operator",    "string",      "logging",  "scipy",
        "ast",         "__future__",  "types",    "numbers",
        "inspect",     "pathlib",     "argparse", "typing_extensions"};
    Str root = path;
    str_next(&path, '.', &root);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!it->trying || str_is(root, known[i]))
            return;
    }
    it->raised = STR("ImportError");
    interp_fail(it, at, "T013", "there is no module %.*s", STR_ARG(root));
}

static void run_import(Interp *it, Env *env, const Py *s)
{
    for (uint32_t i = 0; i < s->kids.len; i++) {
        const Py *alias = s->kids.at[i];
        need_module(it, s->at, alias->text);
        Str path = alias->text, name = alias->b ? alias->b->text : path;
        if (!alias->b) {
            size_t dot = 0;
            while (dot < path.len && path.at[dot] != '.')
                dot++;
            path = name = str_slice(path, 0, dot);
        }
        env_set(it->arena, env, name, pv_name(it->arena, path));
    }
}

static void run_from(Interp *it, Env *env, const Py *s)
{
    need_module(it, s->at, s->text);
    for (uint32_t i = 0; i < s->kids.len; i++) {
        const Py *alias = s->kids.at[i];
        PyVal value, owner = pv_name(it->arena, s->text);
        value = interp_attr(it, s->at, owner, alias->text);
        env_set(it->arena, env, alias->b ? alias->b->text : alias->text, value);
    }
}

/* --- statements --------------------------------------------------------------------------- */

/* The class an exception is named by. */
static Str last_name(const Py *e)
{
    return e->kind == PY_NAME || e->kind == PY_ATTR ? e->text : STR("");
}

static void run_assert(Interp *it, Env *env, const Py *s)
{
    uint32_t looks = it->looks.len;
    bool holds = interp_truth(it, s->at, interp_eval(it, env, s->a));
    it->looks.len = looks; /* nothing that is computed comes of it */
    if (holds)
        return;
    PyVal text = s->b ? interp_eval(it, env, s->b) : pv_none();
    it->raised = STR("AssertionError");
    if (text.tag == PV_STR)
        interp_fail(it, s->at, "T013", "the file's assertion fails: %.*s", STR_ARG(*text.str));
    interp_fail(it, s->at, "T013", "the file's assertion fails");
}

/* "IndexError: no such dimension" without the class. */
static Str without_class(Str text)
{
    ptrdiff_t colon = str_find(text, STR(": "));
    return colon < 0 ? text : str_slice(text, (size_t)colon + 2, text.len);
}

static void run_raise(Interp *it, Env *env, const Py *s)
{
    PyVal what = s->a ? interp_eval(it, env, s->a) : pv_none();
    it->raised = !s->a ? STR("") : last_name(s->a->kind == PY_CALL ? s->a->a : s->a);
    if (it->defining && what.tag == PV_OPAQUE)
        interp_fail(it, s->at, "T010", "%.*s", STR_ARG(without_class(*what.str)));
    if (what.tag == PV_OPAQUE || what.tag == PV_NAME)
        interp_fail(it, s->at, "T013", "the file raises %.*s", STR_ARG(*what.str));
    interp_fail(it, s->at, "T013", "the file raises an exception");
}

static void run_global(Interp *it, Env *env, const Py *s)
{
    for (uint32_t i = 0; i < s->kids.len; i++) {
        PyVal ignored;
        bool outer = env->outer && env->outer != env->globals &&
                     env_get(env->outer, s->kids.at[i]->text, &ignored);
        map_put(it->arena, &env->outer_names, s->kids.at[i]->text, outer);
    }
}

static bool is_harmless_context(PyVal v)
{
    return v.tag == PV_OPAQUE && (str_is(*v.str, "context") || str_is(*v.str, "file"));
}

static Flow run_with(Interp *it, Env *env, const Py *s)
{
    for (uint32_t i = 0; i < s->kids.len; i++) {
        PyVal context = interp_eval(it, env, s->kids.at[i]->a);
        if (!is_harmless_context(context))
            interp_fail(it, s->kids.at[i]->at, "T011", "'with' over %s is not supported",
                        pv_type_name(context));
        if (s->kids.at[i]->b)
            interp_assign(it, env, s->kids.at[i]->b, context);
    }
    return interp_block(it, env, s->a);
}

/* --- exceptions --------------------------------------------------------------------------- */

static bool is_one_of(Str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, names[i]))
            return true;
    }
    return false;
}

/* `except NAME` against the current exception. One of ours whose Python class is not known is
 * caught by any class but an import error's: the file runs in PyTorch, so its handler is meant. */
static bool name_catches(Str name, Str raised)
{
    static const char *const all[] = {"Exception", "BaseException"};
    static const char *const imports[] = {"ImportError", "ModuleNotFoundError"};
    static const char *const under[][2] = {{"NotImplementedError", "RuntimeError"},
                                           {"KeyError", "LookupError"},
                                           {"IndexError", "LookupError"},
                                           {"ZeroDivisionError", "ArithmeticError"}};
    if (is_one_of(name, all, 2) || str_equal(name, raised))
        return true;
    if (is_one_of(raised, imports, 2) || is_one_of(name, imports, 2))
        return is_one_of(raised, imports, 2) && is_one_of(name, imports, 2);
    for (size_t i = 0; i < sizeof under / sizeof *under; i++) {
        if (str_is(raised, under[i][0]) && str_is(name, under[i][1]))
            return true;
    }
    return !raised.len;
}

static bool handler_catches(const Py *handler, Str raised)
{
    const Py *what = handler->a;
    if (!what || what->kind != PY_TUPLE)
        return !what || name_catches(last_name(what), raised);
    for (uint32_t i = 0; i < what->kids.len; i++) {
        if (name_catches(last_name(what->kids.at[i]), raised))
            return true;
    }
    return false;
}

static const Py *find_handler(const Py *s, Str raised)
{
    for (uint32_t i = 0; i < s->kids.len; i++) {
        if (handler_catches(s->kids.at[i], raised))
            return s->kids.at[i];
    }
    return NULL;
}

/* What Python would raise, too: errors of the file and of shapes, not what we do not support. */
static bool is_exception(const Diag *diag)
{
    const char *code = diag->items.len ? vec_last(&diag->items).code : "";
    return strcmp(code, "T010") == 0 || strcmp(code, "T013") == 0 || code[0] == 'G';
}

/* False when an exception ended the block; the diagnostic is still there. */
static bool attempt(Interp *it, Env *env, const Py *block, Flow *flow)
{
    jmp_buf outer;
    uint32_t depth = it->depth, trying = it->trying;
    const char *scope = it->scope, *defining = it->defining;
    memcpy(outer, it->fail, sizeof outer);
    if (setjmp(it->fail)) {
        memcpy(it->fail, outer, sizeof outer);
        it->depth = depth;
        it->trying = trying;
        it->scope = scope;
        it->defining = defining;
        return false;
    }
    *flow = interp_block(it, env, block);
    memcpy(it->fail, outer, sizeof outer);
    return true;
}

static Flow run_guarded(Interp *it, Env *env, const Py *s)
{
    Flow flow = FLOW_NEXT;
    Diag before = *it->diag;
    bool imports = find_handler(s, STR("ImportError")) != NULL;
    it->raised = STR("");
    it->trying += imports;
    bool whole = attempt(it, env, s->a, &flow);
    it->trying -= imports;
    if (whole)
        return flow == FLOW_NEXT && s->b ? interp_block(it, env, s->b) : flow;
    const Py *handler = is_exception(it->diag) ? find_handler(s, it->raised) : NULL;
    if (!handler)
        interp_stop(it);
    *it->diag = before;
    it->raised = STR("");
    if (handler->text.len)
        env_set(it->arena, env, handler->text, pv_opaque(it->arena, "exception"));
    return interp_block(it, env, handler->b);
}

static Flow run_try(Interp *it, Env *env, const Py *s)
{
    Flow flow = run_guarded(it, env, s);
    if (s->c) {
        PyVal kept = it->result;
        Flow last = interp_block(it, env, s->c);
        if (last != FLOW_NEXT)
            return last;
        it->result = kept;
    }
    return flow;
}

static PyVal decorate(Interp *it, Env *env, const Py *s, PyVal value)
{
    for (uint32_t i = s->b ? s->b->kids.len : 0; i > 0; i--) {
        const Py *decorator = s->b->kids.at[i - 1];
        if (decorator->kind == PY_NAME && value.tag == PV_FUNC) {
            value.func->is_static |= str_is(decorator->text, "staticmethod");
            value.func->is_property |= str_is(decorator->text, "property");
            value.func->is_class_method |= str_is(decorator->text, "classmethod");
            if (value.func->is_static || value.func->is_property || value.func->is_class_method)
                continue;
        }
        PyVal property;
        if (decorator->kind == PY_ATTR && str_is(decorator->text, "setter") &&
            value.tag == PV_FUNC && decorator->a->kind == PY_NAME &&
            env_get(env, decorator->a->text, &property) && property.tag == PV_FUNC) {
            property.func->setter = value.func;
            value = property;
            continue;
        }
        PyVal wrapper = interp_eval(it, env, decorator);
        if (wrapper.tag == PV_NAME && value.tag == PV_CLASS)
            record_decorate(it, *wrapper.str, value.cls);
        else if (wrapper.tag == PV_FUNC || wrapper.tag == PV_CLASS || wrapper.tag == PV_OBJECT)
            value = interp_call1(it, s->at, wrapper, value);
    }
    return value;
}

static void run_delete(Interp *it, Env *env, const Py *target)
{
    if (target && target->kind == PY_TUPLE) {
        for (uint32_t i = 0; i < target->kids.len; i++)
            run_delete(it, env, target->kids.at[i]);
    } else if (target && target->kind == PY_INDEX) {
        PyVal owner = interp_eval(it, env, target->a);
        if (owner.tag == PV_DICT)
            dict_remove(owner.dict, interp_eval(it, env, target->b));
        else
            interp_fail(it, target->at, "T011", "'del' of an item of %s is not supported",
                        pv_type_name(owner));
    }
}

static Flow run_statement(Interp *it, Env *env, const Py *s)
{
    PyVal value;
    switch (s->kind) {
    case PY_EXPR: interp_eval(it, env, s->a); return FLOW_NEXT;
    case PY_ASSIGN:
        value = interp_eval(it, env, s->a);
        for (uint32_t i = 0; i < s->kids.len; i++)
            interp_assign(it, env, s->kids.at[i], value);
        return FLOW_NEXT;
    case PY_AUGASSIGN: augmented_assign(it, env, s); return FLOW_NEXT;
    case PY_ANNASSIGN:
        if (s->c)
            interp_assign(it, env, s->a, interp_eval(it, env, s->c));
        return FLOW_NEXT;
    case PY_RETURN: it->result = s->a ? interp_eval(it, env, s->a) : pv_none(); return FLOW_RETURN;
    case PY_IF: return run_if(it, env, s);
    case PY_FOR: return run_for(it, env, s);
    case PY_WHILE: return run_while(it, env, s);
    case PY_DEF:
        env_set(it->arena, env, s->text, decorate(it, env, s, interp_new_func(it, env, s)));
        return FLOW_NEXT;
    case PY_CLASS:
        env_set(it->arena, env, s->text, decorate(it, env, s, interp_new_class(it, env, s)));
        return FLOW_NEXT;
    case PY_IMPORT: run_import(it, env, s); return FLOW_NEXT;
    case PY_FROM: run_from(it, env, s); return FLOW_NEXT;
    case PY_PASS: return FLOW_NEXT;
    case PY_BREAK: return FLOW_BREAK;
    case PY_CONTINUE: return FLOW_CONTINUE;
    case PY_RAISE: run_raise(it, env, s); return FLOW_NEXT;
    case PY_ASSERT: run_assert(it, env, s); return FLOW_NEXT;
    case PY_GLOBAL: run_global(it, env, s); return FLOW_NEXT;
    case PY_DEL: run_delete(it, env, s->a); return FLOW_NEXT;
    case PY_WITH: return run_with(it, env, s);
    case PY_TRY: return run_try(it, env, s);
    default: interp_fail(it, s->at, "T011", "this statement is not supported");
    }
}

/* `if __name__ == "__main__":` and top-level calls for effect belong to a script. */
static bool is_script_part(const Interp *it, const Env *env, const Py *s)
{
    if (env != it->globals)
        return false;
    if (s->kind == PY_IF && s->a->kind == PY_COMPARE && s->a->a->kind == PY_NAME)
        return str_is(s->a->a->text, "__name__");
    return s->kind == PY_EXPR && s->a->kind == PY_CALL;
}

Flow interp_block(Interp *it, Env *env, const Py *block)
{
    interp_enter(it, block->at);
    Flow flow = FLOW_NEXT;
    for (uint32_t i = 0; i < block->kids.len && flow == FLOW_NEXT; i++) {
        const Py *s = block->kids.at[i];
        interp_step(it, 1, s->at);
        it->at = s->at;
        if (!is_script_part(it, env, s))
            flow = run_statement(it, env, s);
    }
    interp_leave(it);
    return flow;
}
