/* Expressions: Python's numbers, text and containers are computed here; anything that touches a
 * tensor goes to tvar.h and the function table. */
#include "torch/interp.h"

#include "base/hash.h"
#include "torch/tvar.h"
#include "torch/record.h"
#include <math.h>
#include <string.h>

/* --- needs -------------------------------------------------------------------------------- */

int64_t need_int(Interp *it, Span at, PyVal v, const char *what)
{
    if (v.tag == PV_TENSOR)
        v = tensor_item(it, at, v.tensor);
    if (v.tag == PV_FLOAT && v.f == floor(v.f) && fabs(v.f) < 0x1p62)
        return (int64_t)v.f;
    if (!pv_is_int(v))
        interp_fail(it, at, "T010", "%s must be an integer, not %s", what, pv_type_name(v));
    return pv_as_int(v);
}

double need_double(Interp *it, Span at, PyVal v, const char *what)
{
    if (v.tag == PV_TENSOR)
        v = tensor_item(it, at, v.tensor);
    if (!pv_is_number(v))
        interp_fail(it, at, "T010", "%s must be a number, not %s", what, pv_type_name(v));
    return pv_as_double(v);
}

Str need_str(Interp *it, Span at, PyVal v, const char *what)
{
    if (v.tag != PV_STR)
        interp_fail(it, at, "T010", "%s must be text, not %s", what, pv_type_name(v));
    return *v.str;
}

/* --- numbers ------------------------------------------------------------------------------ */

ATTR_NORETURN static void overflow(Interp *it, Span at)
{
    interp_fail(it, at, "T012", "an integer grows beyond 64 bits");
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static PyVal int_power(Interp *it, Span at, int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return pv_float(pow((double)base, (double)exponent));
    int64_t result = 1;
    for (; exponent; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
            overflow(it, at);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
            overflow(it, at);
    }
    return pv_int(result);
}

static PyVal int_shift(Interp *it, Span at, PyOp op, int64_t a, int64_t by)
{
    if (by < 0)
        interp_fail(it, at, "T010", "negative shift count");
    if (op == PYOP_SHR)
        return pv_int(by > 62 ? (a < 0 ? -1 : 0) : a >> by);
    int64_t result;
    if (by > 62 || __builtin_mul_overflow(a, INT64_C(1) << by, &result))
        overflow(it, at);
    return pv_int(result);
}

static PyVal int_binary(Interp *it, Span at, PyOp op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool bad = false;
    if ((op == PYOP_DIV || op == PYOP_FLOORDIV || op == PYOP_MOD) && b == 0)
        interp_fail(it, at, "T010", "division by zero");
    if ((op == PYOP_FLOORDIV || op == PYOP_MOD) && b == -1)
        return op == PYOP_MOD ? pv_int(0) : int_binary(it, at, PYOP_MUL, a, -1);
    switch (op) {
    case PYOP_ADD: bad = __builtin_add_overflow(a, b, &r); break;
    case PYOP_SUB: bad = __builtin_sub_overflow(a, b, &r); break;
    case PYOP_MUL: bad = __builtin_mul_overflow(a, b, &r); break;
    case PYOP_DIV: return pv_float((double)a / (double)b);
    case PYOP_FLOORDIV: r = floor_div(a, b); break;
    case PYOP_MOD: r = a - floor_div(a, b) * b; break;
    case PYOP_POW: return int_power(it, at, a, b);
    case PYOP_SHL:
    case PYOP_SHR: return int_shift(it, at, op, a, b);
    case PYOP_AND: r = a & b; break;
    case PYOP_OR: r = a | b; break;
    case PYOP_XOR: r = a ^ b; break;
    default: interp_fail(it, at, "T010", "'%s' is not defined for integers", py_op_text(op));
    }
    if (bad)
        overflow(it, at);
    return pv_int(r);
}

static PyVal float_binary(Interp *it, Span at, PyOp op, double a, double b)
{
    if ((op == PYOP_DIV || op == PYOP_FLOORDIV || op == PYOP_MOD) && b == 0)
        interp_fail(it, at, "T010", "division by zero");
    switch (op) {
    case PYOP_ADD: return pv_float(a + b);
    case PYOP_SUB: return pv_float(a - b);
    case PYOP_MUL: return pv_float(a * b);
    case PYOP_DIV: return pv_float(a / b);
    case PYOP_FLOORDIV: return pv_float(floor(a / b));
    case PYOP_MOD: return pv_float(a - floor(a / b) * b);
    case PYOP_POW: return pv_float(pow(a, b));
    default: interp_fail(it, at, "T010", "'%s' is not defined for floats", py_op_text(op));
    }
}

/* --- text and lists ----------------------------------------------------------------------- */

static PyVal repeat_value(Interp *it, Span at, PyVal v, int64_t times)
{
    uint64_t length = v.tag == PV_STR ? v.str->len : v.list->items.len;
    uint64_t count = times < 0 ? 0 : (uint64_t)times;
    if (length && count > INTERP_MAX_ITEMS / length)
        interp_fail(it, at, "T012", "repeating this %lld times makes it too long",
                    (long long)times);
    interp_step(it, length * count, at);
    if (v.tag == PV_STR) {
        char *text = arena_alloc(it->arena, length * count + 1);
        for (uint64_t i = 0; length && i < count; i++)
            memcpy(text + i * length, v.str->at, length);
        return pv_str(it->arena, (Str){text, length * count});
    }
    PyVal out = pv_list(it->arena, v.tag);
    for (uint64_t i = 0; length && i < count; i++) {
        for (uint32_t j = 0; j < length; j++)
            pv_push(it->arena, out, v.list->items.at[j]);
    }
    return out;
}

static PyVal join_values(Interp *it, Span at, PyVal a, PyVal b)
{
    if (a.tag == PV_STR) {
        interp_step(it, a.str->len + b.str->len, at);
        if (a.str->len + b.str->len > INTERP_MAX_ITEMS)
            interp_fail(it, at, "T012", "this text grows too long");
        return pv_str(it->arena, str_from(str_format(it->arena, "%.*s%.*s", STR_ARG(*a.str),
                                                     STR_ARG(*b.str))));
    }
    PyVal out = pv_list(it->arena, a.tag);
    interp_step(it, (uint64_t)a.list->items.len + b.list->items.len, at);
    for (uint32_t i = 0; i < a.list->items.len; i++)
        pv_push(it->arena, out, a.list->items.at[i]);
    for (uint32_t i = 0; i < b.list->items.len; i++)
        pv_push(it->arena, out, b.list->items.at[i]);
    return out;
}

/* a.__add__(b), else b.__radd__(a), of objects whose class defines it. */
static bool object_binary(Interp *it, Span at, PyOp op, PyVal a, PyVal b, PyVal *result)
{
    static const char *const names[] = {
        [PYOP_ADD] = "add",     [PYOP_SUB] = "sub",           [PYOP_MUL] = "mul",
        [PYOP_DIV] = "truediv", [PYOP_FLOORDIV] = "floordiv", [PYOP_MOD] = "mod",
        [PYOP_POW] = "pow",     [PYOP_MATMUL] = "matmul"};
    const char *name = (size_t)op < sizeof names / sizeof *names ? names[op] : NULL;
    for (int turned = 0; name && turned < 2; turned++) {
        PyVal self = turned ? b : a, function;
        PyVal pair[2] = {self, turned ? a : b};
        Str method = str_from(str_format(it->arena, "__%s%s__", turned ? "r" : "", name));
        if (self.tag == PV_OBJECT && self.object->cls &&
            interp_class_attr(self.object->cls, method, &function, NULL)) {
            *result = interp_call(it, at, function, &(CallArgs){.n = 2, .v = pair});
            return true;
        }
    }
    return false;
}

PyVal interp_binary(Interp *it, Span at, PyOp op, PyVal a, PyVal b)
{
    PyVal result;
    if ((a.tag == PV_OBJECT || b.tag == PV_OBJECT) && object_binary(it, at, op, a, b, &result))
        return result;
    if (op == PYOP_MOD && a.tag == PV_STR)
        return interp_percent(it, at, *a.str, b);
    if (a.tag == PV_TENSOR || b.tag == PV_TENSOR)
        return tensor_binary(it, at, op, a, b);
    if (a.tag == PV_BOOL && b.tag == PV_BOOL && (op == PYOP_AND || op == PYOP_OR || op == PYOP_XOR))
        return pv_bool(op == PYOP_AND ? a.b && b.b : op == PYOP_OR ? a.b || b.b : a.b != b.b);
    if (pv_is_int(a) && pv_is_int(b))
        return int_binary(it, at, op, pv_as_int(a), pv_as_int(b));
    if (pv_is_number(a) && pv_is_number(b))
        return float_binary(it, at, op, pv_as_double(a), pv_as_double(b));
    bool sequence = a.tag == PV_STR || a.tag == PV_LIST || a.tag == PV_TUPLE;
    if (op == PYOP_ADD && sequence && a.tag == b.tag)
        return join_values(it, at, a, b);
    if (op == PYOP_MUL && sequence && pv_is_int(b))
        return repeat_value(it, at, a, pv_as_int(b));
    if (op == PYOP_MUL && pv_is_int(a) &&
        (b.tag == PV_STR || b.tag == PV_LIST || b.tag == PV_TUPLE))
        return repeat_value(it, at, b, pv_as_int(a));
    interp_fail(it, at, "T010", "'%s' is not defined between %s and %s", py_op_text(op),
                pv_type_name(a), pv_type_name(b));
}

/* --- comparisons -------------------------------------------------------------------------- */

static bool contains(Interp *it, Span at, PyVal item, PyVal owner)
{
    if (owner.tag == PV_DICT) {
        PyVal ignored;
        return dict_get(owner.dict, item, &ignored);
    }
    if (owner.tag == PV_STR)
        return item.tag == PV_STR && str_find(*owner.str, *item.str) >= 0;
    if (owner.tag == PV_RANGE) {
        if (!pv_is_int(item))
            return false;
        int64_t first = owner.range->start, step = owner.range->step, v = pv_as_int(item);
        return (step > 0 ? v >= first && v < owner.range->stop
                         : v <= first && v > owner.range->stop) &&
               (v - first) % step == 0;
    }
    PyVal items = interp_items(it, at, owner);
    interp_step(it, items.list->items.len, at);
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        if (pv_equal(items.list->items.at[i], item))
            return true;
    }
    return false;
}

static int order_of(Interp *it, Span at, PyVal a, PyVal b, int depth)
{
    if (pv_is_int(a) && pv_is_int(b))
        return (pv_as_int(a) > pv_as_int(b)) - (pv_as_int(a) < pv_as_int(b));
    if (pv_is_number(a) && pv_is_number(b))
        return (pv_as_double(a) > pv_as_double(b)) - (pv_as_double(a) < pv_as_double(b));
    if (a.tag == PV_STR && b.tag == PV_STR)
        return str_compare(*a.str, *b.str);
    if (a.tag == b.tag && (a.tag == PV_TUPLE || a.tag == PV_LIST) && depth < 20) {
        uint32_t n = a.list->items.len, m = b.list->items.len;
        for (uint32_t i = 0; i < n && i < m; i++) {
            int order = order_of(it, at, a.list->items.at[i], b.list->items.at[i], depth + 1);
            if (order)
                return order;
        }
        return (n > m) - (n < m);
    }
    interp_fail(it, at, "T010", "%s and %s have no order", pv_type_name(a), pv_type_name(b));
}

static bool is_nan(PyVal v) { return v.tag == PV_FLOAT && isnan(v.f); }

/* Reports what is compared to the observer. */
static void tell_compared(Interp *it, Span at, PyVal a, PyVal b)
{
    if (!it->outside || !pv_is_number(a) || !pv_is_number(b))
        return;
    double both[2] = {pv_as_double(a), pv_as_double(b)};
    it->compared = it->compared * 31 ^ hash64(both, sizeof both);
    if (it->outside->compared)
        it->outside->compared(it->outside->context, at, pv_as_double(a), pv_as_double(b));
}

PyVal interp_compare(Interp *it, Span at, PyOp op, PyVal a, PyVal b)
{
    tell_compared(it, at, a, b);
    if (op == PYOP_IS || op == PYOP_ISNOT)
        return pv_bool(pv_same(a, b) == (op == PYOP_IS));
    if (op == PYOP_IN || op == PYOP_NOTIN)
        return pv_bool(contains(it, at, a, b) == (op == PYOP_IN));
    bool number_like = (a.tag == PV_TENSOR && (b.tag == PV_TENSOR || pv_is_number(b))) ||
                       (b.tag == PV_TENSOR && pv_is_number(a));
    if (number_like)
        return tensor_compare(it, at, op, a, b);
    if (op == PYOP_EQ || op == PYOP_NE)
        return pv_bool(pv_equal(a, b) == (op == PYOP_EQ));
    if (is_nan(a) || is_nan(b))
        return pv_bool(false);
    int order = order_of(it, at, a, b, 0);
    switch (op) {
    case PYOP_LT: return pv_bool(order < 0);
    case PYOP_LE: return pv_bool(order <= 0);
    case PYOP_GT: return pv_bool(order > 0);
    default: return pv_bool(order >= 0);
    }
}

static PyVal eval_compare(Interp *it, Env *env, const Py *e)
{
    PyVal left = interp_eval(it, env, e->a), result = pv_bool(true);
    for (uint32_t i = 0; i < e->kids.len; i++) {
        const Py *step = e->kids.at[i];
        PyVal right = interp_eval(it, env, step->a);
        result = interp_compare(it, step->at, step->op, left, right);
        if (e->kids.len > 1 && !interp_truth(it, step->at, result))
            return pv_bool(false);
        left = right;
    }
    return result;
}

/* What the class says of it: __bool__, else whether __len__ is 0. */
static bool object_truth(Interp *it, Span at, PyVal v)
{
    PyVal function;
    bool own = v.object->cls &&
               (interp_class_attr(v.object->cls, STR("__bool__"), &function, NULL) ||
                interp_class_attr(v.object->cls, STR("__len__"), &function, NULL));
    return !own || interp_truth(it, at, interp_call1(it, at, function, v));
}

bool interp_truth(Interp *it, Span at, PyVal v)
{
    if (v.tag != PV_BOOL)
        tell_compared(it, at, v, pv_int(0));
    switch (v.tag) {
    case PV_NONE: return false;
    case PV_BOOL: return v.b;
    case PV_INT: return v.i != 0;
    case PV_FLOAT: return v.f != 0;
    case PV_STR: return v.str->len != 0;
    case PV_LIST:
    case PV_TUPLE:
    case PV_SET: return v.list->items.len != 0;
    case PV_DICT: return v.dict->live != 0;
    case PV_RANGE: return v.range->count != 0;
    case PV_TENSOR: return tensor_truth(it, at, v.tensor);
    case PV_OBJECT: return object_truth(it, at, v);
    default: return true;
    }
}

/* --- containers --------------------------------------------------------------------------- */

static PyVal range_items(Interp *it, Span at, const PyRange *range)
{
    if (range->count > INTERP_MAX_ITEMS)
        interp_fail(it, at, "T012", "a range of %lld items is too long", (long long)range->count);
    interp_step(it, (uint64_t)range->count, at);
    PyVal out = pv_list(it->arena, PV_LIST);
    for (int64_t i = 0; i < range->count; i++)
        pv_push(it->arena, out, pv_int(range->start + i * range->step));
    return out;
}

/* The case list in hand, line by line. */
static PyVal file_lines(Interp *it, Span at)
{
    PyVal out = pv_list(it->arena, PV_LIST);
    Str rest = it->case_text, line;
    interp_step(it, rest.len, at);
    while (str_next(&rest, '\n', &line))
        pv_push(it->arena, out, pv_str(it->arena, line));
    return out;
}

PyVal interp_items(Interp *it, Span at, PyVal v)
{
    PyVal out;
    switch (v.tag) {
    case PV_LIST:
    case PV_TUPLE:
    case PV_SET: return v;
    case PV_RANGE: return range_items(it, at, v.range);
    case PV_TENSOR: return tensor_rows(it, at, v.tensor);
    case PV_DICT:
        out = pv_list(it->arena, PV_LIST);
        for (uint32_t i = 0; i < v.dict->entries.len; i++) {
            if (!v.dict->entries.at[i].gone)
                pv_push(it->arena, out, v.dict->entries.at[i].key);
        }
        return out;
    case PV_STR:
        out = pv_list(it->arena, PV_LIST);
        interp_step(it, v.str->len, at);
        for (size_t i = 0; i < v.str->len; i++)
            pv_push(it->arena, out, pv_str(it->arena, str_slice(*v.str, i, i + 1)));
        return out;
    case PV_OBJECT:
        if (v.object->nn)
            return module_items(it, at, v.object);
        if (record_items(it, v.object, &out))
            return out;
        break;
    case PV_CLASS:
        if (!v.cls->is_enum)
            break;
        out = pv_list(it->arena, PV_LIST);
        for (uint32_t i = 0; i < v.cls->attrs.entries.len; i++) {
            if (v.cls->attrs.entries.at[i].value.tag == PV_OBJECT)
                pv_push(it->arena, out, v.cls->attrs.entries.at[i].value);
        }
        return out;
    case PV_OPAQUE:
        if (str_is(*v.str, "file"))
            return file_lines(it, at);
        break;
    default: break;
    }
    interp_fail(it, at, "T010", "cannot iterate over %s", pv_type_name(v));
}

static void eval_items_into(Interp *it, Env *env, const Py *e, PyVal out)
{
    for (uint32_t i = 0; i < e->kids.len; i++) {
        const Py *kid = e->kids.at[i];
        if (kid->kind != PY_STAR) {
            pv_push(it->arena, out, interp_eval(it, env, kid));
            continue;
        }
        PyVal more = interp_items(it, kid->at, interp_eval(it, env, kid->a));
        interp_step(it, more.list->items.len, kid->at);
        for (uint32_t j = 0; j < more.list->items.len; j++)
            pv_push(it->arena, out, more.list->items.at[j]);
    }
}

static PyVal eval_display(Interp *it, Env *env, const Py *e)
{
    PyVal out = pv_list(it->arena, e->kind == PY_TUPLE  ? PV_TUPLE
                                   : e->kind == PY_LIST ? PV_LIST
                                                        : PV_SET);
    eval_items_into(it, env, e, out);
    return out;
}

static void merge_dict(Interp *it, Span at, PyVal into, PyVal from)
{
    if (from.tag != PV_DICT)
        interp_fail(it, at, "T010", "'**' needs a dict, not %s", pv_type_name(from));
    for (uint32_t i = 0; i < from.dict->entries.len; i++) {
        const PyEntry *entry = &from.dict->entries.at[i];
        if (!entry->gone)
            dict_set(it->arena, into.dict, entry->key, entry->value);
    }
}

static PyVal eval_dict(Interp *it, Env *env, const Py *e)
{
    PyVal out = pv_dict(it->arena);
    for (uint32_t i = 0; i < e->kids.len; i++) {
        const Py *pair = e->kids.at[i];
        if (!pair->a) {
            merge_dict(it, pair->at, out, interp_eval(it, env, pair->b));
            continue;
        }
        PyVal key = interp_eval(it, env, pair->a);
        dict_set(it->arena, out.dict, key, interp_eval(it, env, pair->b));
    }
    return out;
}

static void run_clauses(Interp *it, Env *env, const Py *e, uint32_t clause, PyVal out)
{
    interp_step(it, 1, e->at);
    if (clause == e->kids.len) {
        PyVal item = interp_eval(it, env, e->a);
        if (e->kind == PY_DICTCOMP)
            dict_set(it->arena, out.dict, item, interp_eval(it, env, e->b));
        else
            pv_push(it->arena, out, item);
        return;
    }
    const Py *each = e->kids.at[clause];
    PyVal items = interp_items(it, each->at, interp_eval(it, env, each->b));
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        interp_assign(it, env, each->a, items.list->items.at[i]);
        bool keep = true;
        for (uint32_t j = 0; j < each->kids.len && keep; j++)
            keep = interp_truth(it, each->at, interp_eval(it, env, each->kids.at[j]));
        if (keep)
            run_clauses(it, env, e, clause + 1, out);
    }
}

static PyVal eval_comprehension(Interp *it, Env *env, const Py *e)
{
    PyVal out = e->kind == PY_DICTCOMP
                    ? pv_dict(it->arena)
                    : pv_list(it->arena, e->kind == PY_SETCOMP ? PV_SET : PV_LIST);
    run_clauses(it, env_new(it->arena, env), e, 0, out);
    return out;
}

/* --- text --------------------------------------------------------------------------------- */

static PyVal eval_fstring(Interp *it, Env *env, const Py *e)
{
    VEC(Str) pieces = {0};
    size_t total = 0;
    for (uint32_t i = 0; i < e->kids.len; i++) {
        const Py *kid = e->kids.at[i];
        Str piece = kid->text;
        if (kid->kind == PY_FORMAT) {
            PyVal spec = kid->b ? eval_fstring(it, env, kid->b) : pv_str(it->arena, STR(""));
            piece =
                *interp_format(it, kid->at, interp_eval(it, env, kid->a), kid->text, *spec.str).str;
        }
        vec_push(it->arena, &pieces, piece);
        total += piece.len;
        if (total > INTERP_MAX_ITEMS)
            interp_fail(it, e->at, "T012", "this text grows too long");
    }
    char *text = arena_alloc(it->arena, total + 1), *end = text;
    for (uint32_t i = 0; i < pieces.len; i++) {
        if (pieces.at[i].len)
            memcpy(end, pieces.at[i].at, pieces.at[i].len);
        end += pieces.at[i].len;
    }
    return pv_str(it->arena, (Str){text, total});
}

/* --- the rest ----------------------------------------------------------------------------- */

static PyVal eval_int(Interp *it, const Py *e)
{
    for (uint32_t i = 0; i < it->n_knobs; i++) {
        if (it->knobs[i].literal == e)
            return pv_int(it->knobs[i].value);
    }
    return pv_int(e->i);
}

static PyVal eval_name(Interp *it, Env *env, const Py *e)
{
    PyVal value;
    if (env_get(env, e->text, &value))
        return value;
    if (str_is(e->text, "true") || str_is(e->text, "false"))
        return pv_bool(str_is(e->text, "true"));
    if (str_is(e->text, "null") || str_is(e->text, "NaN") || str_is(e->text, "nan"))
        return str_is(e->text, "null") ? pv_none() : pv_float(NAN);
    if (builtin_exists(e->text))
        return pv_name(it->arena, e->text);
    interp_fail(it, e->at, "T010", "name '%.*s' is not defined", STR_ARG(e->text));
}

static PyVal eval_unary(Interp *it, Env *env, const Py *e)
{
    PyVal v = interp_eval(it, env, e->a);
    if (v.tag == PV_TENSOR)
        return tensor_unary_op(it, e->at, e->op, v);
    if (e->op == PYOP_INVERT && pv_is_int(v))
        return pv_int(~pv_as_int(v));
    if (!pv_is_number(v) || e->op == PYOP_INVERT)
        interp_fail(it, e->at, "T010", "'%s' is not defined for %s", py_op_text(e->op),
                    pv_type_name(v));
    if (e->op == PYOP_POS)
        return v.tag == PV_BOOL ? pv_int(v.b) : v;
    return v.tag == PV_FLOAT ? pv_float(-v.f) : int_binary(it, e->at, PYOP_SUB, 0, pv_as_int(v));
}

static PyVal eval_slice(Interp *it, Env *env, const Py *e)
{
    PySlice *slice = arena_new(it->arena, PySlice);
    slice->start = e->a ? interp_eval(it, env, e->a) : pv_none();
    slice->stop = e->b ? interp_eval(it, env, e->b) : pv_none();
    slice->step = e->c ? interp_eval(it, env, e->c) : pv_none();
    return (PyVal){.tag = PV_SLICE, .slice = slice};
}

/* super() and super(Class, self): a method whose function is the class to look above. */
static PyVal eval_super(Interp *it, Env *env, const Py *e)
{
    PyMethod *proxy = arena_new(it->arena, PyMethod);
    bool found = false;
    if (e->kids.len == 2) {
        proxy->function = interp_eval(it, env, e->kids.at[0]);
        proxy->self = interp_eval(it, env, e->kids.at[1]);
        found = proxy->function.tag == PV_CLASS;
    } else if (e->kids.len == 0) {
        found = env_get(env, STR("__class__"), &proxy->function) &&
                env_get(env, STR("__self__"), &proxy->self);
    }
    if (!found)
        interp_fail(it, e->at, "T010", "super() is used outside a method");
    return (PyVal){.tag = PV_METHOD, .method = proxy};
}

static void add_keyword(Interp *it, CallArgs *args, Str name, PyVal value)
{
    args->kw_names[args->n_kw] = name;
    args->kw[args->n_kw++] = value;
    (void)it;
}

/* Room for `**` entries is counted before the arrays are made. */
static PyVal eval_call(Interp *it, Env *env, const Py *e)
{
    PyVal ignored;
    if (e->a->kind == PY_NAME && str_is(e->a->text, "super") && !env_get(env, e->a->text, &ignored))
        return eval_super(it, env, e);
    PyVal callee = interp_eval(it, env, e->a), list = pv_list(it->arena, PV_LIST);
    PyVal keywords = pv_dict(it->arena);
    for (uint32_t i = 0; i < e->kids.len; i++) {
        const Py *arg = e->kids.at[i];
        if (arg->kind == PY_KEYWORD) {
            dict_set(it->arena, keywords.dict, pv_str(it->arena, arg->text),
                     interp_eval(it, env, arg->a));
        } else if (arg->kind == PY_DSTAR) {
            merge_dict(it, arg->at, keywords, interp_eval(it, env, arg->a));
        } else if (arg->kind == PY_STAR) {
            PyVal more = interp_items(it, arg->at, interp_eval(it, env, arg->a));
            for (uint32_t j = 0; j < more.list->items.len; j++)
                pv_push(it->arena, list, more.list->items.at[j]);
        } else {
            pv_push(it->arena, list, interp_eval(it, env, arg));
        }
    }
    const PyDict *kw = keywords.dict;
    CallArgs args = {.n = list.list->items.len, .v = list.list->items.at};
    args.kw = arena_array(it->arena, PyVal, kw->entries.len + 1);
    args.kw_names = arena_array(it->arena, Str, kw->entries.len + 1);
    for (uint32_t i = 0; i < kw->entries.len; i++) {
        if (kw->entries.at[i].key.tag != PV_STR)
            interp_fail(it, e->at, "T010", "keywords must be text");
        add_keyword(it, &args, *kw->entries.at[i].key.str, kw->entries.at[i].value);
    }
    return interp_call(it, e->at, callee, &args);
}

static PyVal eval_logic(Interp *it, Env *env, const Py *e)
{
    PyVal left = interp_eval(it, env, e->a);
    if (interp_truth(it, e->at, left) == (e->kind == PY_OR))
        return left;
    return interp_eval(it, env, e->b);
}

/* A complex number is a tensor of one element: only arithmetic with tensors has a use for it. */
static PyVal complex_number(Interp *it, double imaginary)
{
    float *parts = arena_array(it->arena, float, 2);
    parts[1] = (float)imaginary;
    return tensor_of(
        it, graph_add_value(
                it->graphs[it->graph],
                (Value){.dtype = DT_C64, .kind = VALUE_CONST, .node = NODE_NONE, .data = parts}));
}

static PyVal eval_kind(Interp *it, Env *env, const Py *e)
{
    PyVal v;
    switch (e->kind) {
    case PY_NAME: return eval_name(it, env, e);
    case PY_INT: return eval_int(it, e);
    case PY_FLOAT: return pv_float(e->f);
    case PY_COMPLEX: return complex_number(it, e->f);
    case PY_STRING: return pv_str(it->arena, e->text);
    case PY_FSTRING: return eval_fstring(it, env, e);
    case PY_TRUE: return pv_bool(true);
    case PY_FALSE: return pv_bool(false);
    case PY_NONE: return pv_none();
    case PY_ELLIPSIS: return (PyVal){.tag = PV_ELLIPSIS};
    case PY_TUPLE:
    case PY_LIST:
    case PY_SET: return eval_display(it, env, e);
    case PY_DICT: return eval_dict(it, env, e);
    case PY_LISTCOMP:
    case PY_SETCOMP:
    case PY_GENEXP:
    case PY_DICTCOMP: return eval_comprehension(it, env, e);
    case PY_LAMBDA: return interp_new_func(it, env, e);
    case PY_IFEXP:
        return interp_eval(it, env,
                           interp_truth(it, e->at, interp_eval(it, env, e->a)) ? e->b : e->c);
    case PY_AND:
    case PY_OR: return eval_logic(it, env, e);
    case PY_NOT: return pv_bool(!interp_truth(it, e->at, interp_eval(it, env, e->a)));
    case PY_UNARY: return eval_unary(it, env, e);
    case PY_BINARY:
        v = interp_eval(it, env, e->a);
        return interp_binary(it, e->at, e->op, v, interp_eval(it, env, e->b));
    case PY_COMPARE: return eval_compare(it, env, e);
    case PY_CALL: return eval_call(it, env, e);
    case PY_ATTR: return interp_attr(it, e->at, interp_eval(it, env, e->a), e->text);
    case PY_INDEX:
        v = interp_eval(it, env, e->a);
        return interp_index(it, e->at, v, interp_eval(it, env, e->b));
    case PY_SLICE: return eval_slice(it, env, e);
    case PY_WALRUS:
        v = interp_eval(it, env, e->a);
        env_set(it->arena, env, e->text, v);
        return v;
    default: interp_fail(it, e->at, "T011", "this expression is not supported");
    }
}

PyVal interp_eval(Interp *it, Env *env, const Py *e)
{
    interp_enter(it, e->at);
    interp_step(it, 1, e->at);
    PyVal v = eval_kind(it, env, e);
    interp_leave(it);
    return v;
}
