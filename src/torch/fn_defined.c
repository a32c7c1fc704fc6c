/* Library functions that are defined by other ones (defined.def): their text is read and called like a function of
 * the model file, only that everything in it stands where the call does and is told by its name. */
#include "torch/fn_int.h"
#include "torch/py.h"

static const char *const texts[] = {
#define DEFINED(name, text) text,
#include "torch/defined.def"
#undef DEFINED
};

static const struct {
    const char *name, *path;
} known[] = {{"torch", "torch"}, {"F", "torch.nn.functional"}, {"math", "math"}};

static PyVal defined_function(Interp *it, Span at, const char *text)
{
    Env *env = env_new(it->arena, NULL);
    PyVal defined = pv_none();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        env_set(it->arena, env, str_from(known[i].name),
                pv_name(it->arena, str_from(known[i].path)));
    const Py *module = py_parse_at(it->arena, str_from(text), at, it->diag);
    if (!module)
        interp_stop(it);
    interp_block(it, env, module);
    env_get(env, STR("function"), &defined);
    return defined;
}

PyVal fn_defined(Args *a)
{
    CallArgs args = {.n = a->n, .v = a->v};
    const char *outer = a->it->defining;
    a->it->defining = outer ? outer : a->name;
    PyVal result = interp_call(a->it, a->at, defined_function(a->it, a->at, texts[a->kind]), &args);
    a->it->defining = outer;
    return result;
}
