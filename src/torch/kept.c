/* Which attribute of a model holds a new result after forward; see kept.h. What depends on parameters alone
 * (a weight that is packed once) may be kept. */
#include "torch/kept.h"

#include "base/hash.h"

enum { MOST_DEPTH = 6, MOST_ITEMS = 10000 };

static void collect(Interp *it, PyVal v, const char *where, int depth, KeptTensors *all)
{
    const PyDict *dict = v.tag == PV_DICT ? v.dict : v.tag == PV_OBJECT ? &v.object->attrs : NULL;
    if (depth > MOST_DEPTH || all->len > MOST_ITEMS)
        return;
    if (v.tag == PV_TENSOR) {
        KeptTensor one = {v.tensor, where};
        vec_push(it->arena, all, one);
    }
    for (uint32_t i = 0; pv_is_seq(v) && i < v.list->items.len; i++)
        collect(it, v.list->items.at[i], where, depth + 1, all);
    for (uint32_t i = 0; dict && i < dict->entries.len; i++)
        if (!dict->entries.at[i].gone)
            collect(it, dict->entries.at[i].value, where, depth + 1, all);
}

static void collect_named(Interp *it, const PyDict *dict, KeptTensors *all)
{
    for (uint32_t i = 0; i < dict->entries.len; i++) {
        const PyEntry *e = &dict->entries.at[i];
        if (!e->gone && e->key.tag == PV_STR)
            collect(it, e->value, str_dup(it->arena, *e->key.str), 0, all);
    }
}

/* The variables of the file that the class stands in; NULL: they are not known. */
static const Env *file_of(PyVal model)
{
    PyVal forward;
    if (!interp_forward(model.object, &forward) || forward.tag != PV_FUNC || !forward.func->env)
        return NULL;
    return forward.func->env->globals ? forward.func->env->globals : forward.func->env;
}

void kept_tensors(Interp *it, PyVal model, KeptTensors *all)
{
    if (model.tag != PV_OBJECT)
        return;
    collect_named(it, &model.object->attrs, all);
    if (!model.object->cls)
        return;
    collect_named(it, &model.object->cls->attrs, all);
    const Env *file = file_of(model);
    for (uint32_t i = 0; file && i < file->slots.len; i++)
        collect(it, file->slots.at[i], "a variable of the file", 0, all);
}

static uint64_t hash_numbers(PyVal v, int depth, uint64_t h)
{
    const PyDict *dict = v.tag == PV_DICT ? v.dict : v.tag == PV_OBJECT ? &v.object->attrs : NULL;
    if (depth > MOST_DEPTH)
        return h;
    if (pv_is_number(v)) {
        double x = pv_as_double(v);
        h = h * 31 ^ hash64(&x, sizeof x);
    }
    if (v.tag == PV_STR)
        h = h * 31 ^ hash64(v.str->at, v.str->len);
    for (uint32_t i = 0; pv_is_seq(v) && i < v.list->items.len && i < MOST_ITEMS; i++)
        h = hash_numbers(v.list->items.at[i], depth + 1, h);
    for (uint32_t i = 0; dict && i < dict->entries.len && i < MOST_ITEMS; i++)
        if (!dict->entries.at[i].gone)
            h = hash_numbers(dict->entries.at[i].value, depth + 1, h);
    return h;
}

uint64_t kept_numbers(Interp *it, PyVal model)
{
    (void)it;
    if (model.tag != PV_OBJECT)
        return 0;
    uint64_t h = hash_numbers(model, 0, 1);
    for (uint32_t i = 0; model.object->cls && i < model.object->cls->attrs.entries.len; i++)
        if (!model.object->cls->attrs.entries.at[i].gone)
            h = hash_numbers(model.object->cls->attrs.entries.at[i].value, 0, h);
    const Env *file = file_of(model);
    for (uint32_t i = 0; file && i < file->slots.len; i++)
        h = hash_numbers(file->slots.at[i], 0, h);
    return h;
}

bool kept_decides(Interp *it, Span at, PyVal model, const CallArgs *args, uint32_t calls)
{
    uint64_t compared[2];
    bool same = true;
    it->again = true;
    for (int i = 0; i < 2; i++) {
        uint32_t before = it->outside_calls;
        it->compared = 0;
        interp_call(it, at, model, args);
        compared[i] = it->compared;
        same = same && it->outside_calls - before == calls;
    }
    it->again = false;
    return !same || compared[0] != compared[1];
}

/* By value of the graph: it depends on an argument of forward or is what a call outside gave. */
static bool *given_values(Arena *arena, const Graph *g)
{
    bool *given = arena_array(arena, bool, g->values.len + 1);
    for (uint32_t i = 0; i < g->values.len; i++)
        given[i] = g->values.at[i].kind == VALUE_INPUT;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool any = false;
        for (uint32_t i = 0; i < node->n_in; i++)
            any |= node->in[i] != VALUE_NONE && given[node->in[i]];
        for (uint32_t o = 0; o < node->n_out; o++)
            given[node->out + o] = any;
    }
    return given;
}

static bool was_there(const KeptTensors *before, const TVar *tensor)
{
    for (uint32_t i = 0; i < before->len; i++)
        if (before->at[i].tensor == tensor)
            return true;
    return false;
}

const char *kept_result(Interp *it, PyVal model, const KeptTensors *before)
{
    const Graph *g = it->graphs[1];
    const bool *given = given_values(it->arena, g);
    KeptTensors after = {0};
    kept_tensors(it, model, &after);
    for (uint32_t i = 0; i < after.len; i++) {
        const TVar *t = after.at[i].tensor;
        if (t->graph == 1 && t->id < g->values.len && given[t->id] && !was_there(before, t))
            return after.at[i].where;
    }
    return NULL;
}
