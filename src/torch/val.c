/* Values of the static evaluator: making, comparing, printing, and the scopes that hold them. */
#include "torch/val.h"

#include <string.h>

static PyVal text_value(Arena *arena, PvTag tag, Str s)
{
    Str *copy = arena_new(arena, Str);
    *copy = s;
    return (PyVal){.tag = tag, .str = copy};
}

PyVal pv_str(Arena *arena, Str s) { return text_value(arena, PV_STR, s); }
PyVal pv_name(Arena *arena, Str path) { return text_value(arena, PV_NAME, path); }
PyVal pv_opaque(Arena *arena, const char *what)
{
    return text_value(arena, PV_OPAQUE, str_from(what));
}

PyVal pv_list(Arena *arena, PvTag tag)
{
    return (PyVal){.tag = tag, .list = arena_new(arena, PyList)};
}

PyVal pv_dict(Arena *arena) { return (PyVal){.tag = PV_DICT, .dict = arena_new(arena, PyDict)}; }

PyVal pv_tuple_of(Arena *arena, uint32_t count, const PyVal *items)
{
    PyVal tuple = pv_list(arena, PV_TUPLE);
    for (uint32_t i = 0; i < count; i++)
        pv_push(arena, tuple, items[i]);
    return tuple;
}

void pv_push(Arena *arena, PyVal list, PyVal item) { vec_push(arena, &list.list->items, item); }

/* --- dictionaries ------------------------------------------------------------------------- */

static PyEntry *find_entry(const PyDict *dict, PyVal key)
{
    uint32_t slot;
    if (key.tag == PV_STR)
        return map_get(&dict->names, *key.str, &slot) && !dict->entries.at[slot].gone
                   ? &dict->entries.at[slot]
                   : NULL;
    for (uint32_t i = 0; i < dict->entries.len; i++) {
        PyEntry *entry = &dict->entries.at[i];
        if (!entry->gone && entry->key.tag != PV_STR && pv_equal(entry->key, key))
            return entry;
    }
    return NULL;
}

bool dict_get(const PyDict *dict, PyVal key, PyVal *value)
{
    const PyEntry *entry = find_entry(dict, key);
    if (entry)
        *value = entry->value;
    return entry != NULL;
}

void dict_set(Arena *arena, PyDict *dict, PyVal key, PyVal value)
{
    PyEntry *entry = find_entry(dict, key);
    if (entry) {
        entry->value = value;
        return;
    }
    if (key.tag == PV_STR)
        map_put(arena, &dict->names, *key.str, dict->entries.len);
    vec_push(arena, &dict->entries, ((PyEntry){key, value, false}));
    dict->live++;
}

bool dict_remove(PyDict *dict, PyVal key)
{
    PyEntry *entry = find_entry(dict, key);
    if (!entry)
        return false;
    entry->gone = true;
    dict->live--;
    return true;
}

bool dict_get_name(const PyDict *dict, Str name, PyVal *value)
{
    return dict_get(dict, (PyVal){.tag = PV_STR, .str = &name}, value);
}

void dict_set_name(Arena *arena, PyDict *dict, Str name, PyVal value)
{
    dict_set(arena, dict, pv_str(arena, name), value);
}

/* --- comparing ---------------------------------------------------------------------------- */

bool pv_same(PyVal a, PyVal b)
{
    if (a.tag != b.tag)
        return false;
    switch (a.tag) {
    case PV_NONE:
    case PV_ELLIPSIS: return true;
    case PV_BOOL: return a.b == b.b;
    case PV_INT: return a.i == b.i;
    case PV_FLOAT: return memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case PV_STR:
    case PV_NAME:
    case PV_OPAQUE: return str_equal(*a.str, *b.str);
    case PV_DTYPE: return a.dtype == b.dtype;
    default: return a.list == b.list;
    }
}

enum { MAX_NEST = 60 }; /* lists may hold themselves; deeper ones count as different */

static bool equal_at(PyVal a, PyVal b, int depth);

static bool items_equal(const PyList *a, const PyList *b, int depth)
{
    if (a->items.len != b->items.len)
        return false;
    for (uint32_t i = 0; i < a->items.len; i++) {
        if (!equal_at(a->items.at[i], b->items.at[i], depth + 1))
            return false;
    }
    return true;
}

static bool dicts_equal(const PyDict *a, const PyDict *b, int depth)
{
    if (a->live != b->live)
        return false;
    for (uint32_t i = 0; i < a->entries.len; i++) {
        PyVal other;
        if (!a->entries.at[i].gone && (!dict_get(b, a->entries.at[i].key, &other) ||
                                       !equal_at(a->entries.at[i].value, other, depth + 1)))
            return false;
    }
    return true;
}

static bool equal_at(PyVal a, PyVal b, int depth)
{
    if (depth > MAX_NEST)
        return false;
    if (pv_is_int(a) && pv_is_int(b))
        return pv_as_int(a) == pv_as_int(b);
    if (pv_is_number(a) && pv_is_number(b))
        return pv_as_double(a) == pv_as_double(b);
    if (a.tag == b.tag && pv_is_seq(a))
        return items_equal(a.list, b.list, depth);
    if (a.tag == PV_DICT && b.tag == PV_DICT)
        return dicts_equal(a.dict, b.dict, depth);
    return pv_same(a, b);
}

bool pv_equal(PyVal a, PyVal b) { return equal_at(a, b, 0); }

/* --- printing ----------------------------------------------------------------------------- */

const char *pv_type_name(PyVal v)
{
    static const char *const names[] = {
        "None",  "bool",   "int",    "float", "str",          "list",         "tuple",
        "set",   "dict",   "slice",  "...",   "range",        "function",     "method",
        "class", "object", "tensor", "dtype", "library name", "opaque object"};
    return names[v.tag];
}

static void print_at(PyVal v, bool quoted, int depth, Buf *out);

static void print_items(PyVal v, const char *open, const char *close, int depth, Buf *out)
{
    buf_puts(out, open);
    for (uint32_t i = 0; i < v.list->items.len && i < 1000; i++) {
        buf_puts(out, i ? ", " : "");
        print_at(v.list->items.at[i], true, depth + 1, out);
    }
    buf_puts(out, v.tag == PV_TUPLE && v.list->items.len == 1 ? "," : "");
    buf_puts(out, close);
}

static void print_dict(const PyDict *dict, int depth, Buf *out)
{
    bool first = true;
    buf_char(out, '{');
    for (uint32_t i = 0; i < dict->entries.len && i < 1000; i++) {
        if (dict->entries.at[i].gone)
            continue;
        buf_puts(out, first ? "" : ", ");
        first = false;
        print_at(dict->entries.at[i].key, true, depth + 1, out);
        buf_puts(out, ": ");
        print_at(dict->entries.at[i].value, true, depth + 1, out);
    }
    buf_char(out, '}');
}

static void print_float(double f, Buf *out)
{
    size_t before = out->len;
    buf_double(out, f);
    for (size_t i = before; i < out->len; i++) {
        char c = out->at[i];
        if (!(c == '-' || (c >= '0' && c <= '9')))
            return;
    }
    buf_puts(out, ".0");
}

static void print_at(PyVal v, bool quoted, int depth, Buf *out)
{
    enum { MOST = 1 << 16 };
    if (out->len > MOST || depth > MAX_NEST)
        return;
    switch (v.tag) {
    case PV_NONE: buf_puts(out, "None"); break;
    case PV_BOOL: buf_puts(out, v.b ? "True" : "False"); break;
    case PV_INT: buf_printf(out, "%lld", (long long)v.i); break;
    case PV_FLOAT: print_float(v.f, out); break;
    case PV_STR:
        buf_puts(out, quoted ? "'" : "");
        buf_str(out, *v.str);
        buf_puts(out, quoted ? "'" : "");
        break;
    case PV_NAME:
    case PV_OPAQUE: buf_str(out, *v.str); break;
    case PV_LIST: print_items(v, "[", "]", depth, out); break;
    case PV_TUPLE: print_items(v, "(", ")", depth, out); break;
    case PV_SET: print_items(v, "{", "}", depth, out); break;
    case PV_DICT: print_dict(v.dict, depth, out); break;
    case PV_DTYPE: buf_printf(out, "torch.%s", dtype_rows[v.dtype].torch); break;
    default: buf_printf(out, "<%s>", pv_type_name(v)); break;
    }
}

void pv_print(PyVal v, bool quoted, Buf *out) { print_at(v, quoted, 0, out); }

/* --- scopes ------------------------------------------------------------------------------- */

Env *env_new(Arena *arena, Env *outer)
{
    Env *env = arena_new(arena, Env);
    env->outer = outer;
    env->globals = outer ? outer->globals : env;
    return env;
}

static bool own_get(const Env *env, Str name, PyVal *value)
{
    uint32_t slot;
    if (!map_get(&env->names, name, &slot))
        return false;
    *value = env->slots.at[slot];
    return true;
}

bool env_get(const Env *env, Str name, PyVal *value)
{
    for (; env; env = env->outer) {
        if (own_get(env, name, value))
            return true;
    }
    return false;
}

void env_set(Arena *arena, Env *env, Str name, PyVal value)
{
    uint32_t slot;
    if (map_get(&env->outer_names, name, &slot)) {
        if (slot == 0) {
            env = env->globals;
        } else {
            Env *found = env->outer;
            while (found && !map_get(&found->names, name, &slot))
                found = found->outer;
            env = found ? found : env->globals;
        }
    }
    if (map_get(&env->names, name, &slot)) {
        env->slots.at[slot] = value;
        return;
    }
    map_put(arena, &env->names, name, env->slots.len);
    vec_push(arena, &env->slots, value);
}
