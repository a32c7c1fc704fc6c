/* Records: objects whose fields are listed by a class's annotations or by namedtuple, Enum members,
 * and partial functions. All are plain objects with attributes. */
#include "torch/record.h"

#include <string.h>

static bool is_path(Str path, const char *a, const char *b)
{
    return str_is(path, a) || str_is(path, b);
}

/* --- fields ------------------------------------------------------------------------------- */

void record_decorate(Interp *it, Str decorator, PyClass *cls)
{
    (void)it;
    if (is_path(decorator, "dataclasses.dataclass", "dataclass"))
        cls->is_record = true;
}

static void add_fields(Interp *it, PyClass *cls, const Py *body)
{
    for (uint32_t i = 0; i < body->kids.len; i++) {
        const Py *s = body->kids.at[i];
        if (s->kind == PY_ANNASSIGN && s->a->kind == PY_NAME)
            vec_push(it->arena, &cls->fields, s->a->text);
    }
}

/* Attributes that are no functions become members. */
static void make_members(Interp *it, PyClass *cls)
{
    cls->is_enum = true;
    for (uint32_t i = 0; i < cls->attrs.entries.len; i++) {
        PyEntry *e = &cls->attrs.entries.at[i];
        if (e->value.tag == PV_FUNC || e->key.tag != PV_STR)
            continue;
        PyObject *member = arena_new(it->arena, PyObject);
        member->cls = cls;
        dict_set_name(it->arena, &member->attrs, STR("name"), e->key);
        dict_set_name(it->arena, &member->attrs, STR("value"), e->value);
        e->value = (PyVal){.tag = PV_OBJECT, .object = member};
    }
}

void record_finish(Interp *it, PyClass *cls, const Py *body)
{
    add_fields(it, cls, body);
    for (uint32_t i = 0; i < cls->bases.len; i++) {
        PyVal base = cls->bases.at[i];
        if (base.tag == PV_CLASS) {
            cls->is_record |= base.cls->is_record;
            cls->is_tuple |= base.cls->is_tuple;
        } else if (base.tag == PV_NAME && is_path(*base.str, "typing.NamedTuple", "NamedTuple")) {
            cls->is_record = cls->is_tuple = true;
        } else if (base.tag == PV_NAME && is_path(*base.str, "enum.Enum", "enum.StrEnum")) {
            make_members(it, cls);
        }
    }
}

bool record_member(Interp *it, Span at, PyClass *cls, const CallArgs *args, PyVal *value)
{
    if (!cls->is_enum)
        return false;
    for (uint32_t i = 0; args->n == 1 && i < cls->attrs.entries.len; i++) {
        PyVal held, member = cls->attrs.entries.at[i].value;
        if (member.tag == PV_OBJECT && dict_get_name(&member.object->attrs, STR("value"), &held) &&
            pv_equal(held, args->v[0])) {
            *value = member;
            return true;
        }
    }
    interp_fail(it, at, "T010", "%.*s has no such member", STR_ARG(cls->name));
}

/* Inherited fields stand first. */
static void all_fields(Interp *it, const PyClass *cls, PyVal list, int depth)
{
    for (uint32_t i = 0; i < cls->bases.len && depth < 50; i++) {
        if (cls->bases.at[i].tag == PV_CLASS)
            all_fields(it, cls->bases.at[i].cls, list, depth + 1);
    }
    for (uint32_t i = 0; i < cls->fields.len; i++) {
        bool known = false;
        for (uint32_t k = 0; k < list.list->items.len; k++)
            known = known || str_equal(*list.list->items.at[k].str, cls->fields.at[i]);
        if (!known)
            pv_push(it->arena, list, pv_str(it->arena, cls->fields.at[i]));
    }
}

static bool field_default(Interp *it, Span at, const PyClass *cls, Str name, PyVal *value)
{
    PyVal inner;
    CallArgs none = {0};
    if (!interp_class_attr(cls, name, value, NULL))
        return false;
    if (value->tag != PV_OBJECT ||
        !dict_get_name(&value->object->attrs, STR("field:default"), &inner))
        return true;
    if (dict_get_name(&value->object->attrs, STR("field:factory"), value)) {
        *value = interp_call(it, at, *value, &none);
        return true;
    }
    *value = inner;
    return inner.tag != PV_ELLIPSIS;
}

static bool keyword(const CallArgs *args, Str name, PyVal *value)
{
    for (uint32_t i = 0; i < args->n_kw; i++) {
        if (str_equal(args->kw_names[i], name)) {
            *value = args->kw[i];
            return true;
        }
    }
    return false;
}

bool record_init(Interp *it, Span at, PyVal self, const CallArgs *args)
{
    PyClass *cls = self.object->cls;
    if (!cls->is_record)
        return false;
    PyVal names = pv_list(it->arena, PV_LIST), value, after;
    uint32_t used = 0;
    all_fields(it, cls, names, 0);
    for (uint32_t i = 0; i < names.list->items.len; i++) {
        Str name = *names.list->items.at[i].str;
        if (i < args->n)
            value = args->v[i];
        else if (keyword(args, name, &value))
            used++;
        else if (!field_default(it, at, cls, name, &value))
            interp_fail(it, at, "T010", "field '%.*s' of %.*s is missing", STR_ARG(name),
                        STR_ARG(cls->name));
        dict_set_name(it->arena, &self.object->attrs, name, value);
    }
    if (args->n > names.list->items.len || used != args->n_kw)
        interp_fail(it, at, "T010", "%.*s has not so many fields, or none of that name",
                    STR_ARG(cls->name));
    if (interp_class_attr(cls, STR("__post_init__"), &after, NULL))
        interp_call1(it, at, after, self);
    return true;
}

bool record_fields(Interp *it, const PyObject *object, PyVal *items)
{
    if (!object->cls || !object->cls->is_record)
        return false;
    PyVal names = pv_list(it->arena, PV_LIST), value;
    *items = pv_list(it->arena, PV_TUPLE);
    all_fields(it, object->cls, names, 0);
    for (uint32_t i = 0; i < names.list->items.len; i++) {
        if (dict_get_name(&object->attrs, *names.list->items.at[i].str, &value))
            pv_push(it->arena, *items, value);
    }
    return true;
}

bool record_items(Interp *it, const PyObject *object, PyVal *items)
{
    return object->cls && object->cls->is_tuple && record_fields(it, object, items);
}

/* @dataclass(frozen=True) */
PyVal b_dataclass(B *b) { return pv_name(b->it->arena, str_from(b->name)); }

/* dataclasses.field(default=..., default_factory=...) */
PyVal b_field(B *b)
{
    PyObject *object = arena_new(b->it->arena, PyObject);
    PyVal value = {.tag = PV_ELLIPSIS}, factory;
    builtin_keyword(b, "default", &value);
    dict_set_name(b->it->arena, &object->attrs, STR("field:default"), value);
    if (builtin_keyword(b, "default_factory", &factory))
        dict_set_name(b->it->arena, &object->attrs, STR("field:factory"), factory);
    return (PyVal){.tag = PV_OBJECT, .object = object};
}

/* collections.namedtuple("P", ["x", "y"]), also "x y" and "x, y" */
PyVal b_namedtuple(B *b)
{
    Arena *arena = b->it->arena;
    PyClass *cls = arena_new(arena, PyClass);
    PyVal names = builtin_arg(b, 1), defaults;
    cls->name = need_str(b->it, b->at, builtin_arg(b, 0), "a name");
    cls->is_record = cls->is_tuple = true;
    if (names.tag == PV_STR) {
        Str rest = *names.str, word;
        while (str_next(&rest, str_find(*names.str, STR(",")) >= 0 ? ',' : ' ', &word)) {
            if (str_trim(word).len)
                vec_push(arena, &cls->fields, str_trim(word));
        }
    } else {
        names = builtin_items(b, names);
        for (uint32_t i = 0; i < names.list->items.len; i++)
            vec_push(arena, &cls->fields,
                     need_str(b->it, b->at, names.list->items.at[i], "a field"));
    }
    if (builtin_keyword(b, "defaults", &defaults)) {
        defaults = builtin_items(b, defaults);
        uint32_t n = defaults.list->items.len;
        for (uint32_t i = 0; i < n && n <= cls->fields.len; i++)
            dict_set_name(arena, &cls->attrs, cls->fields.at[cls->fields.len - n + i],
                          defaults.list->items.at[i]);
    }
    return (PyVal){.tag = PV_CLASS, .cls = cls};
}

/* --- functions with arguments ------------------------------------------------------------- */

PyVal b_partial(B *b)
{
    Arena *arena = b->it->arena;
    PyObject *object = arena_new(arena, PyObject);
    PyVal given = pv_dict(arena);
    for (uint32_t i = 0; i < b->args->n_kw; i++)
        dict_set_name(arena, given.dict, b->args->kw_names[i], b->args->kw[i]);
    dict_set_name(arena, &object->attrs, STR("func"), builtin_arg(b, 0));
    dict_set_name(arena, &object->attrs, STR("args"),
                  pv_tuple_of(arena, b->args->n - 1, b->args->v + 1));
    dict_set_name(arena, &object->attrs, STR("partial:keywords"), given);
    return (PyVal){.tag = PV_OBJECT, .object = object};
}

/* einops.layers.torch.Rearrange(pattern, ...): the tensor comes first when it is called. */
PyVal b_einops_layer(B *b)
{
    Arena *arena = b->it->arena;
    Str name = str_ends(str_from(b->name), "Rearrange") ? STR("einops.rearrange")
                                                        : STR("einops.reduce");
    PyVal *v = arena_array(arena, PyVal, b->args->n + 1);
    CallArgs call = *b->args;
    v[0] = pv_name(arena, name);
    for (uint32_t i = 0; i < call.n; i++)
        v[i + 1] = call.v[i];
    call.v = v;
    call.n++;
    PyVal layer = b_partial(&(B){b->it, b->at, b->name, &call});
    dict_set_name(arena, &layer.object->attrs, STR("partial:after"), pv_bool(true));
    return layer;
}

bool partial_call(Interp *it, Span at, const PyObject *object, const CallArgs *args, PyVal *result)
{
    PyVal function, first, given;
    if (!dict_get_name(&object->attrs, STR("partial:keywords"), &given) ||
        !dict_get_name(&object->attrs, STR("func"), &function) ||
        !dict_get_name(&object->attrs, STR("args"), &first))
        return false;
    uint32_t before = first.list->items.len, n = 0;
    CallArgs all = {.n = before + args->n};
    all.v = arena_array(it->arena, PyVal, all.n + 1);
    all.kw = arena_array(it->arena, PyVal, args->n_kw + given.dict->entries.len + 1);
    all.kw_names = arena_array(it->arena, Str, args->n_kw + given.dict->entries.len + 1);
    PyVal after;
    bool last = dict_get_name(&object->attrs, STR("partial:after"), &after);
    for (uint32_t i = 0; i < all.n; i++)
        all.v[i] = last         ? (i < args->n ? args->v[i] : first.list->items.at[i - args->n])
                   : i < before ? first.list->items.at[i]
                                : args->v[i - before];
    for (uint32_t i = 0; i < given.dict->entries.len; i++) {
        PyVal value;
        Str name = *given.dict->entries.at[i].key.str;
        if (keyword(args, name, &value))
            continue;
        all.kw_names[n] = name;
        all.kw[n++] = given.dict->entries.at[i].value;
    }
    for (uint32_t i = 0; i < args->n_kw; i++) {
        all.kw_names[n] = args->kw_names[i];
        all.kw[n++] = args->kw[i];
    }
    all.n_kw = n;
    *result = interp_call(it, at, function, &all);
    return true;
}

PyVal b_reduce(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 1));
    uint32_t i = b->args->n > 2 ? 0 : 1;
    if (i == 1 && !items.list->items.len)
        builtin_fail(b, "there is nothing to reduce");
    PyVal sum = i ? items.list->items.at[0] : b->args->v[2];
    for (; i < items.list->items.len; i++) {
        PyVal pair[2] = {sum, items.list->items.at[i]};
        CallArgs call = {.n = 2, .v = pair};
        sum = interp_call(b->it, b->at, builtin_arg(b, 0), &call);
    }
    return sum;
}
