/* Methods of text, lists, tuples, sets and dicts. */
#include "torch/interp.h"

#include <math.h>
#include <string.h>

typedef struct M {
    Interp *it;
    Span at;
    PyVal self;
    const CallArgs *args;
} M;

static PyVal arg(M *m, uint32_t i)
{
    if (i >= m->args->n)
        interp_fail(m->it, m->at, "T010", "a method's argument is missing");
    return m->args->v[i];
}

static PyVal l_append(M *m)
{
    pv_push(m->it->arena, m->self, arg(m, 0));
    return pv_none();
}

static PyVal l_extend(M *m)
{
    PyVal items = interp_items(m->it, m->at, arg(m, 0));
    uint32_t count = items.list->items.len;
    interp_step(m->it, count, m->at);
    for (uint32_t i = 0; i < count; i++)
        pv_push(m->it->arena, m->self, items.list->items.at[i]);
    return pv_none();
}

static PyVal l_insert(M *m)
{
    PyVals *v = &m->self.list->items;
    int64_t place = need_int(m->it, m->at, arg(m, 0), "a place");
    place = place < 0 ? place + v->len : place;
    place = place < 0 ? 0 : place > v->len ? v->len : place;
    pv_push(m->it->arena, m->self, pv_none());
    interp_step(m->it, v->len, m->at);
    memmove(v->at + place + 1, v->at + place, (size_t)(v->len - 1 - place) * sizeof *v->at);
    v->at[place] = arg(m, 1);
    return pv_none();
}

static PyVal l_pop(M *m)
{
    PyVals *v = &m->self.list->items;
    int64_t place = m->args->n ? need_int(m->it, m->at, arg(m, 0), "a place") : -1;
    place = place < 0 ? place + v->len : place;
    if (place < 0 || place >= v->len)
        interp_fail(m->it, m->at, "T010", "pop from outside the list");
    PyVal item = v->at[place];
    memmove(v->at + place, v->at + place + 1, (size_t)(v->len - 1 - place) * sizeof *v->at);
    v->len--;
    return item;
}

static PyVal l_reverse(M *m)
{
    PyVals *v = &m->self.list->items;
    for (uint32_t i = 0; i < v->len / 2; i++) {
        PyVal swap = v->at[i];
        v->at[i] = v->at[v->len - 1 - i];
        v->at[v->len - 1 - i] = swap;
    }
    return pv_none();
}

static PyVal l_sort(M *m)
{
    CallArgs call = *m->args;
    PyVal sorted;
    call.n = 1;
    call.v = &m->self;
    builtin_call(m->it, m->at, STR("sorted"), &call, &sorted);
    m->self.list->items = sorted.list->items;
    return pv_none();
}

static PyVal l_copy(M *m)
{
    PyVal copy = pv_list(m->it->arena, m->self.tag);
    for (uint32_t i = 0; i < m->self.list->items.len; i++)
        pv_push(m->it->arena, copy, m->self.list->items.at[i]);
    return copy;
}

static PyVal l_index(M *m)
{
    for (uint32_t i = 0; i < m->self.list->items.len; i++) {
        if (pv_equal(m->self.list->items.at[i], arg(m, 0)))
            return pv_int(i);
    }
    interp_fail(m->it, m->at, "T010", "the item is not in the list");
}

static PyVal l_count(M *m)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < m->self.list->items.len; i++)
        count += pv_equal(m->self.list->items.at[i], arg(m, 0));
    return pv_int(count);
}

/* torch.Size */
static PyVal l_numel(M *m)
{
    PyVal product = pv_int(1);
    for (uint32_t i = 0; i < m->self.list->items.len; i++)
        product = interp_binary(m->it, m->at, PYOP_MUL, product, m->self.list->items.at[i]);
    return product;
}

static PyVal entries(M *m, int what)
{
    PyVal out = pv_list(m->it->arena, PV_LIST);
    const PyDict *dict = m->self.dict;
    for (uint32_t i = 0; i < dict->entries.len; i++) {
        const PyEntry *entry = &dict->entries.at[i];
        if (entry->gone)
            continue;
        PyVal pair[] = {entry->key, entry->value};
        pv_push(m->it->arena, out,
                what == 0   ? entry->key
                : what == 1 ? entry->value
                            : pv_tuple_of(m->it->arena, 2, pair));
    }
    return out;
}

static PyVal d_keys(M *m) { return entries(m, 0); }
static PyVal d_values(M *m) { return entries(m, 1); }
static PyVal d_items(M *m) { return entries(m, 2); }

static PyVal d_get(M *m)
{
    PyVal value;
    if (dict_get(m->self.dict, arg(m, 0), &value))
        return value;
    return m->args->n > 1 ? arg(m, 1) : pv_none();
}

static PyVal d_pop(M *m)
{
    PyVal value = d_get(m);
    dict_remove(m->self.dict, arg(m, 0));
    return value;
}

static PyVal d_setdefault(M *m)
{
    PyVal value;
    if (dict_get(m->self.dict, arg(m, 0), &value))
        return value;
    value = m->args->n > 1 ? arg(m, 1) : pv_none();
    dict_set(m->it->arena, m->self.dict, arg(m, 0), value);
    return value;
}

static PyVal d_update(M *m)
{
    if (m->args->n && arg(m, 0).tag == PV_DICT) {
        const PyDict *from = arg(m, 0).dict;
        uint32_t count = from->entries.len;
        for (uint32_t i = 0; i < count; i++) {
            if (!from->entries.at[i].gone)
                dict_set(m->it->arena, m->self.dict, from->entries.at[i].key,
                         from->entries.at[i].value);
        }
    }
    for (uint32_t i = 0; i < m->args->n_kw; i++)
        dict_set_name(m->it->arena, m->self.dict, m->args->kw_names[i], m->args->kw[i]);
    return pv_none();
}

static PyVal map_case(M *m, char from, char to)
{
    char *text = str_dup(m->it->arena, *m->self.str);
    for (size_t i = 0; i < m->self.str->len; i++) {
        if (text[i] >= from && text[i] <= from + 25)
            text[i] = (char)(text[i] - from + to);
    }
    return pv_str(m->it->arena, (Str){text, m->self.str->len});
}

static PyVal s_lower(M *m) { return map_case(m, 'A', 'a'); }
static PyVal s_upper(M *m) { return map_case(m, 'a', 'A'); }
static PyVal s_strip(M *m) { return pv_str(m->it->arena, str_trim(*m->self.str)); }

static PyVal s_startswith(M *m)
{
    Str head = need_str(m->it, m->at, arg(m, 0), "a prefix");
    return pv_bool(str_equal(str_slice(*m->self.str, 0, head.len), head));
}

static PyVal s_endswith(M *m)
{
    Str tail = need_str(m->it, m->at, arg(m, 0), "a suffix");
    size_t len = m->self.str->len;
    return pv_bool(tail.len <= len &&
                   str_equal(str_slice(*m->self.str, len - tail.len, len), tail));
}

static PyVal s_split(M *m)
{
    PyVal out = pv_list(m->it->arena, PV_LIST);
    Str rest = *m->self.str, piece;
    Str by = m->args->n ? need_str(m->it, m->at, arg(m, 0), "a separator") : STR(" ");
    if (by.len != 1)
        interp_fail(m->it, m->at, "T011", "split by more than one character is not supported");
    interp_step(m->it, rest.len, m->at);
    while (str_next(&rest, by.at[0], &piece)) {
        if (m->args->n || piece.len)
            pv_push(m->it->arena, out, pv_str(m->it->arena, piece));
    }
    return out;
}

static PyVal s_join(M *m)
{
    PyVal items = interp_items(m->it, m->at, arg(m, 0)), out = pv_str(m->it->arena, STR(""));
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        if (i)
            out = interp_binary(m->it, m->at, PYOP_ADD, out, m->self);
        out = interp_binary(m->it, m->at, PYOP_ADD, out, items.list->items.at[i]);
    }
    return out;
}

static PyVal s_replace(M *m)
{
    Str rest = *m->self.str, from = need_str(m->it, m->at, arg(m, 0), "a text");
    PyVal to = arg(m, 1), out = pv_str(m->it->arena, STR(""));
    need_str(m->it, m->at, to, "a text");
    for (ptrdiff_t at; from.len && (at = str_find(rest, from)) >= 0;) {
        out = interp_binary(m->it, m->at, PYOP_ADD, out,
                            pv_str(m->it->arena, str_slice(rest, 0, (size_t)at)));
        out = interp_binary(m->it, m->at, PYOP_ADD, out, to);
        rest = str_slice(rest, (size_t)at + from.len, rest.len);
    }
    return interp_binary(m->it, m->at, PYOP_ADD, out, pv_str(m->it->arena, rest));
}

static PyVal f_is_integer(M *m) { return pv_bool(m->self.f == floor(m->self.f)); }

static const struct {
    PvTag tag;
    const char *name;
    PyVal (*body)(M *m);
} rows[] = {{PV_LIST, "append", l_append},
            {PV_LIST, "extend", l_extend},
            {PV_LIST, "insert", l_insert},
            {PV_LIST, "pop", l_pop},
            {PV_LIST, "reverse", l_reverse},
            {PV_LIST, "sort", l_sort},
            {PV_LIST, "copy", l_copy},
            {PV_LIST, "index", l_index},
            {PV_LIST, "count", l_count},
            {PV_TUPLE, "index", l_index},
            {PV_TUPLE, "count", l_count},
            {PV_TUPLE, "numel", l_numel},
            {PV_FLOAT, "is_integer", f_is_integer},
            {PV_SET, "add", l_append},
            {PV_DICT, "keys", d_keys},
            {PV_DICT, "values", d_values},
            {PV_DICT, "items", d_items},
            {PV_DICT, "get", d_get},
            {PV_DICT, "pop", d_pop},
            {PV_DICT, "setdefault", d_setdefault},
            {PV_DICT, "update", d_update},
            {PV_STR, "lower", s_lower},
            {PV_STR, "upper", s_upper},
            {PV_STR, "strip", s_strip},
            {PV_STR, "startswith", s_startswith},
            {PV_STR, "endswith", s_endswith},
            {PV_STR, "split", s_split},
            {PV_STR, "join", s_join},
            {PV_STR, "replace", s_replace}};

static int find_row(PyVal self, Str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].tag == self.tag && str_is(name, rows[i].name))
            return (int)i;
    }
    return -1;
}

bool builtin_has_method(PyVal self, Str name) { return find_row(self, name) >= 0; }

PyVal builtin_method(Interp *it, Span at, PyVal self, Str name, const CallArgs *args)
{
    int row = find_row(self, name);
    if (row < 0)
        interp_fail(it, at, "T011", "%s.%.*s is not supported", pv_type_name(self), STR_ARG(name));
    M m = {it, at, self, args};
    return rows[row].body(&m);
}
