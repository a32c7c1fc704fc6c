/* The operand table of a docstring, and what a case has for each row. In: the docstring, the
 * arguments forward is called with, what it returns. Out: it->operands (layout in torch.h). */
#include "torch/operand.h"

#include <string.h>

enum { MAX_OPERANDS = 64, MAX_TYPES = 256 };

static const char *const roles[] = {"in", "opt", "list", "out", "outs", "mut", "attr"};
static const char *const attrs[] = {"bool", "int", "float", "text", "ints", "floats"};

static int find_word(const char *const *words, int n, Str word)
{
    for (int i = 0; i < n; i++) {
        if (str_is(word, words[i]))
            return i;
    }
    return -1;
}

static bool next_word(Str *rest, Str *word)
{
    *rest = str_trim(*rest);
    size_t n = 0;
    while (n < rest->len && rest->at[n] != ' ' && rest->at[n] != '\t')
        n++;
    *word = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return n > 0;
}

ATTR_NORETURN static void bad_row(Interp *it, Str row, const char *what)
{
    interp_fail(it, it->at, "T025", "operand '%.*s': %s", STR_ARG(row), what);
}

/* --- the table ---------------------------------------------------------------------------- */

/* f16, or f16*3 for three combinations. */
static void take_type(Interp *it, Str row, Str word, TorchOperand *o)
{
    ptrdiff_t star = str_find(word, STR("*"));
    int64_t times = 1;
    DType type;
    Str name = star < 0 ? word : str_slice(word, 0, (size_t)star);
    if (!dtype_from_name(name, &type))
        bad_row(it, row, "an element type is unknown");
    if (star >= 0 && !str_to_i64(str_slice(word, (size_t)star + 1, word.len), &times))
        bad_row(it, row, "a number belongs after '*'");
    if (times < 1 || times > MAX_TYPES - (int64_t)o->types.len)
        bad_row(it, row, "too many types");
    while (times-- > 0)
        vec_push(it->arena, &o->types, type);
}

static void set_number(Interp *it, TorchOperand *o, double value, int64_t whole)
{
    int64_t *ints = arena_new(it->arena, int64_t);
    double *floats = arena_new(it->arena, double);
    *ints = whole;
    *floats = value;
    o->ints = ints;
    o->floats = floats;
    o->count = 1;
}

static void take_default(Interp *it, Str row, Str text, TorchOperand *o)
{
    int64_t whole = 0;
    double value = 0;
    if (!text.len)
        return;
    if (o->attr == OPATTR_TEXT) {
        o->text = str_dup(it->arena, text);
        o->count = 1;
    } else if (o->attr == OPATTR_BOOL) {
        whole = str_is(text, "True");
        set_number(it, o, (double)whole, whole);
    } else if (o->attr == OPATTR_FLOAT && str_to_double(text, &value)) {
        set_number(it, o, value, 0);
    } else if (o->attr == OPATTR_INT && str_to_i64(text, &whole)) {
        set_number(it, o, (double)whole, whole);
    } else {
        bad_row(it, row, "the default does not fit its type");
    }
}

static void take_row(Interp *it, Str row)
{
    TorchOperand o = {0};
    Str rest = row, word;
    next_word(&rest, &word);
    int role = find_word(roles, 7, word);
    if (role < 0 || it->operands.len >= MAX_OPERANDS)
        bad_row(it, row, role < 0 ? "no such role" : "too many operands");
    o.role = (GraphRole)role;
    if (!next_word(&rest, &word))
        bad_row(it, row, "it has no name");
    o.name = str_dup(it->arena, word);
    if (o.role == OPERAND_ATTR) {
        int kind = next_word(&rest, &word) ? find_word(attrs, 6, word) : -1;
        if (kind < 0)
            bad_row(it, row, "the type of an attribute is bool, int, float, text, ints or floats");
        o.attr = (GraphAttr)kind;
        take_default(it, row, str_trim(rest), &o);
    } else {
        while (next_word(&rest, &word))
            take_type(it, row, word, &o);
    }
    vec_push(it->arena, &it->operands, o);
}

/* A docstring whose second paragraph does not begin with a role has no table. */
static bool is_row(Str line)
{
    Str word;
    return next_word(&line, &word) && find_word(roles, 7, word) >= 0;
}

void operand_table(Interp *it, const Py *module)
{
    const Py *first = module->kids.len ? module->kids.at[0] : NULL;
    if (!first || first->kind != PY_EXPR || first->a->kind != PY_STRING)
        return;
    Str text = first->a->text, line;
    bool gap = false, in_table = false;
    it->at = first->at;
    while (str_next(&text, '\n', &line)) {
        line = str_trim(line);
        in_table = line.len && (in_table || (gap && is_row(line)));
        if (in_table)
            take_row(it, line);
        gap = !line.len;
    }
}

/* --- the case ----------------------------------------------------------------------------- */

static uint32_t count_tensors(PyVal value, int depth)
{
    uint32_t n = value.tag == PV_TENSOR;
    for (uint32_t i = 0; pv_is_seq(value) && depth < 8 && i < value.list->items.len; i++)
        n += count_tensors(value.list->items.at[i], depth + 1);
    return n;
}

/* How many outputs of the graph a result becomes: numbers are outputs, too. */
static uint32_t count_outputs(PyVal value, int depth)
{
    uint32_t n = value.tag == PV_TENSOR || pv_is_number(value);
    for (uint32_t i = 0; pv_is_seq(value) && depth < 8 && i < value.list->items.len; i++)
        n += count_outputs(value.list->items.at[i], depth + 1);
    for (uint32_t i = 0; value.tag == PV_DICT && depth < 8 && i < value.dict->entries.len; i++)
        n += count_outputs(value.dict->entries.at[i].value, depth + 1);
    return n;
}

static void take_numbers(Interp *it, TorchOperand *o, const PyVal *items, uint32_t n)
{
    int64_t *ints = arena_array(it->arena, int64_t, n + 1);
    double *floats = arena_array(it->arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        floats[i] = need_double(it, it->at, items[i], o->name);
        ints[i] = pv_is_int(items[i]) ? pv_as_int(items[i]) : 0;
        if (!pv_is_int(items[i]) && o->attr != OPATTR_FLOAT && o->attr != OPATTR_FLOATS)
            interp_fail(it, it->at, "T025", "attribute '%s' is no integer", o->name);
    }
    o->ints = ints;
    o->floats = floats;
    o->count = n;
}

static void take_attr(Interp *it, TorchOperand *o, PyVal value)
{
    o->count = 0;
    if (pv_is_none(value))
        return;
    if (o->attr == OPATTR_TEXT) {
        o->text = str_dup(it->arena, need_str(it, it->at, value, o->name));
        o->count = 1;
    } else if (o->attr == OPATTR_INTS || o->attr == OPATTR_FLOATS) {
        PyVal items = interp_items(it, it->at, value);
        take_numbers(it, o, items.list->items.at, items.list->items.len);
    } else {
        take_numbers(it, o, &value, 1);
    }
}

static void narrow_value(PyVal *value)
{
    if (value->tag == PV_FLOAT)
        value->f = (double)(float)value->f;
}

static bool fits_role(GraphRole role, PyVal value)
{
    return role == OPERAND_LIST  ? pv_is_seq(value)
           : role == OPERAND_OPT ? value.tag == PV_TENSOR || pv_is_none(value)
                                 : value.tag == PV_TENSOR;
}

static bool is_result(GraphRole role)
{
    return role == OPERAND_OUT || role == OPERAND_OUTS || role == OPERAND_MUT;
}

/* The next tensor operand, or the attribute of this name; NULL: forward and table disagree. */
static TorchOperand *operand_for(Interp *it, Str name, uint32_t *next)
{
    while (*next < it->operands.len &&
           (is_result(it->operands.at[*next].role) || it->operands.at[*next].role == OPERAND_ATTR))
        ++*next;
    if (*next < it->operands.len)
        return str_is(name, it->operands.at[*next].name) ? &it->operands.at[(*next)++] : NULL;
    for (uint32_t i = 0; i < it->operands.len; i++) {
        TorchOperand *o = &it->operands.at[i];
        if (o->role == OPERAND_ATTR && str_is(name, o->name))
            return o;
    }
    return NULL;
}

void operand_bind_inputs(Interp *it, const Py *forward, const CallArgs *args)
{
    uint32_t tensors = 0, next = 0;
    if (!it->operands.len || !forward)
        return;
    it->at = forward->at;
    if (forward->kids.len != args->n + 1)
        interp_fail(it, it->at, "T025", "get_inputs gives %u values, forward takes %u", args->n,
                    forward->kids.len ? forward->kids.len - 1 : 0);
    for (uint32_t i = 0; i < args->n; i++) {
        Str name = forward->kids.at[i + 1]->text;
        TorchOperand *o = operand_for(it, name, &next);
        if (!o)
            interp_fail(it, it->at, "T025", "forward's '%.*s' is not the operand in its place",
                        STR_ARG(name));
        if (o->role == OPERAND_ATTR) {
            if (o->attr == OPATTR_FLOAT && it->narrow)
                narrow_value(&args->v[i]);
            take_attr(it, o, args->v[i]);
            continue;
        }
        if (!fits_role(o->role, args->v[i]))
            interp_fail(it, it->at, "T025", "operand '%s' is %s", o->name,
                        pv_type_name(args->v[i]));
        o->first = tensors;
        o->count = count_tensors(args->v[i], 0);
        tensors += o->count;
    }
}

static void take_number(Interp *it, Str name, PyVal *value)
{
    TorchOperand o = {.role = OPERAND_ATTR, .name = str_dup(it->arena, name)};
    if (it->narrow)
        narrow_value(value);
    o.attr = value->tag == PV_BOOL    ? OPATTR_BOOL
             : value->tag == PV_FLOAT ? OPATTR_FLOAT
             : value->tag == PV_STR   ? OPATTR_TEXT
                                      : OPATTR_INT;
    if (value->tag != PV_FLOAT && value->tag != PV_STR && !pv_is_int(*value))
        return;
    take_attr(it, &o, *value);
    vec_push(it->arena, &it->numbers, o);
}

/* A default is known where it is written as a number. */
static void take_written_default(Interp *it, const Py *param)
{
    PyVal value = pv_none();
    if (param->a && param->a->kind == PY_FLOAT)
        value = pv_float(param->a->f);
    else if (param->a && param->a->kind == PY_INT)
        value = pv_int(param->a->i);
    else if (param->a && (param->a->kind == PY_TRUE || param->a->kind == PY_FALSE))
        value = pv_bool(param->a->kind == PY_TRUE);
    if (!pv_is_none(value))
        take_number(it, param->text, &value);
}

/* The argument for parameter `i` of a method; NULL: it has its default. */
static PyVal *argument_of(const Py *function, uint32_t i, const CallArgs *args)
{
    const Py *param = function->kids.at[i];
    PyVal *given = i - 1 < args->n && param->op == PYOP_NONE ? &args->v[i - 1] : NULL;
    for (uint32_t k = 0; k < args->n_kw && !given; k++)
        given = str_equal(args->kw_names[k], param->text) ? &args->kw[k] : NULL;
    return given;
}

void operand_set_numbers(Interp *it, const Py *function, const CallArgs *args)
{
    for (uint32_t i = 1; function && it->n_given && i < function->kids.len; i++) {
        PyVal *given = argument_of(function, i, args);
        for (uint32_t k = 0; k < it->n_given && given; k++)
            if (given->tag == PV_FLOAT && str_is(function->kids.at[i]->text, it->given[k].name))
                given->f = it->given[k].value;
    }
}

void operand_take_numbers(Interp *it, const Py *function, const CallArgs *args)
{
    for (uint32_t i = 1; function && i < function->kids.len; i++) {
        const Py *param = function->kids.at[i];
        PyVal *given = argument_of(function, i, args);
        if (given)
            take_number(it, param->text, given);
        else
            take_written_default(it, param);
    }
}

void operand_bind_outputs(Interp *it, Span at, PyVal result)
{
    uint32_t n = 0, taken = 0, tensors = 0;
    for (uint32_t i = 0; i < it->operands.len; i++)
        n += is_result(it->operands.at[i].role);
    if (!n)
        return;
    bool several = n > 1 && pv_is_seq(result);
    PyVal items = several ? result : pv_tuple_of(it->arena, 1, &result);
    if (items.list->items.len != n)
        interp_fail(it, at, "T025", "forward returns %u results, the table has %u",
                    items.list->items.len, n);
    for (uint32_t i = 0; i < it->operands.len; i++) {
        TorchOperand *o = &it->operands.at[i];
        if (!is_result(o->role))
            continue;
        o->first = tensors;
        o->count = count_outputs(items.list->items.at[taken++], 0);
        tensors += o->count;
    }
}

const TorchOperand *torch_operand(const TorchTask *task, const char *name)
{
    for (uint32_t i = 0; i < task->operands.len; i++) {
        if (strcmp(task->operands.at[i].name, name) == 0)
            return &task->operands.at[i];
    }
    return NULL;
}
