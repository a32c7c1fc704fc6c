/* Python's own functions, and the table of all names that are no tensor function. */
#include "torch/builtin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void builtin_fail(B *b, const char *why)
{
    interp_fail(b->it, b->at, "T010", "%s(): %s", b->name, why);
}

PyVal builtin_arg(B *b, uint32_t i)
{
    if (i >= b->args->n)
        builtin_fail(b, "an argument is missing");
    return b->args->v[i];
}

bool builtin_keyword(const B *b, const char *name, PyVal *value)
{
    for (uint32_t i = 0; i < b->args->n_kw; i++) {
        if (str_is(b->args->kw_names[i], name)) {
            *value = b->args->kw[i];
            return true;
        }
    }
    return false;
}

PyVal builtin_items(B *b, PyVal v) { return interp_items(b->it, b->at, v); }

/* --- containers --------------------------------------------------------------------------- */

static PyVal b_len(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_STR)
        return pv_int((int64_t)v.str->len);
    if (v.tag == PV_DICT)
        return pv_int(v.dict->live);
    if (v.tag == PV_RANGE)
        return pv_int(v.range->count);
    if (v.tag == PV_TENSOR) {
        Shape shape = tvar_shape(b->it, v.tensor);
        if (!shape.rank)
            builtin_fail(b, "a tensor without dims has no length");
        return tensor_sizes(b->it, b->at, v.tensor).list->items.at[0];
    }
    return pv_int(builtin_items(b, v).list->items.len);
}

static PyVal b_range(B *b)
{
    PyRange *range = arena_new(b->it->arena, PyRange);
    int64_t first = need_int(b->it, b->at, builtin_arg(b, 0), "a range bound");
    range->start = b->args->n > 1 ? first : 0;
    range->stop = b->args->n > 1 ? need_int(b->it, b->at, builtin_arg(b, 1), "a range bound")
                                 : first;
    range->step = b->args->n > 2 ? need_int(b->it, b->at, builtin_arg(b, 2), "a range step") : 1;
    if (range->step == 0 || range->step == INT64_MIN)
        builtin_fail(b, "bad step");
    int64_t span;
    if (__builtin_sub_overflow(range->stop, range->start, &span))
        builtin_fail(b, "the range is too long");
    int64_t step = range->step > 0 ? range->step : -range->step;
    if (range->step < 0)
        span = span == INT64_MIN ? 0 : -span;
    range->count = span > 0 ? (span - 1) / step + 1 : 0;
    return (PyVal){.tag = PV_RANGE, .range = range};
}

static PyVal copy_items(B *b, PvTag tag)
{
    PyVal out = pv_list(b->it->arena, tag);
    if (!b->args->n)
        return out;
    PyVal from = builtin_items(b, builtin_arg(b, 0));
    interp_step(b->it, from.list->items.len, b->at);
    for (uint32_t i = 0; i < from.list->items.len; i++)
        pv_push(b->it->arena, out, from.list->items.at[i]);
    return out;
}

static PyVal b_list(B *b) { return copy_items(b, PV_LIST); }
static PyVal b_tuple(B *b) { return copy_items(b, PV_TUPLE); }

static PyVal b_set(B *b)
{
    PyVal all = copy_items(b, PV_LIST), out = pv_list(b->it->arena, PV_SET);
    for (uint32_t i = 0; i < all.list->items.len; i++) {
        bool seen = false;
        interp_step(b->it, out.list->items.len, b->at);
        for (uint32_t j = 0; j < out.list->items.len && !seen; j++)
            seen = pv_equal(out.list->items.at[j], all.list->items.at[i]);
        if (!seen)
            pv_push(b->it->arena, out, all.list->items.at[i]);
    }
    return out;
}

static PyVal b_dict(B *b)
{
    PyVal out = pv_dict(b->it->arena);
    if (b->args->n && builtin_arg(b, 0).tag == PV_DICT) {
        const PyDict *from = builtin_arg(b, 0).dict;
        for (uint32_t i = 0; i < from->entries.len; i++) {
            if (!from->entries.at[i].gone)
                dict_set(b->it->arena, out.dict, from->entries.at[i].key,
                         from->entries.at[i].value);
        }
    } else if (b->args->n) {
        PyVal pairs = builtin_items(b, builtin_arg(b, 0));
        for (uint32_t i = 0; i < pairs.list->items.len; i++) {
            PyVal pair = builtin_items(b, pairs.list->items.at[i]);
            if (pair.list->items.len != 2)
                builtin_fail(b, "needs pairs");
            dict_set(b->it->arena, out.dict, pair.list->items.at[0], pair.list->items.at[1]);
        }
    }
    for (uint32_t i = 0; i < b->args->n_kw; i++)
        dict_set_name(b->it->arena, out.dict, b->args->kw_names[i], b->args->kw[i]);
    return out;
}

static PyVal b_enumerate(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 0)), out = pv_list(b->it->arena, PV_LIST),
          start = pv_int(0);
    if (b->args->n > 1)
        start = builtin_arg(b, 1);
    builtin_keyword(b, "start", &start);
    int64_t first = need_int(b->it, b->at, start, "start");
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        PyVal pair[] = {pv_int(first + i), items.list->items.at[i]};
        pv_push(b->it->arena, out, pv_tuple_of(b->it->arena, 2, pair));
    }
    return out;
}

static PyVal b_zip(B *b)
{
    PyVal out = pv_list(b->it->arena, PV_LIST);
    PyVal *lists = arena_array(b->it->arena, PyVal, b->args->n + 1);
    uint32_t shortest = b->args->n ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < b->args->n; i++) {
        lists[i] = builtin_items(b, builtin_arg(b, i));
        if (lists[i].list->items.len < shortest)
            shortest = lists[i].list->items.len;
    }
    for (uint32_t i = 0; i < shortest; i++) {
        PyVal row = pv_list(b->it->arena, PV_TUPLE);
        interp_step(b->it, b->args->n, b->at);
        for (uint32_t j = 0; j < b->args->n; j++)
            pv_push(b->it->arena, row, lists[j].list->items.at[i]);
        pv_push(b->it->arena, out, row);
    }
    return out;
}

static PyVal b_map(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 1)), out = pv_list(b->it->arena, PV_LIST);
    for (uint32_t i = 0; i < items.list->items.len; i++)
        pv_push(b->it->arena, out,
                interp_call1(b->it, b->at, builtin_arg(b, 0), items.list->items.at[i]));
    return out;
}

static PyVal b_filter(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 1)), out = pv_list(b->it->arena, PV_LIST),
          test = builtin_arg(b, 0);
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        PyVal item = items.list->items.at[i];
        if (interp_truth(b->it, b->at,
                         pv_is_none(test) ? item : interp_call1(b->it, b->at, test, item)))
            pv_push(b->it->arena, out, item);
    }
    return out;
}

static PyVal b_reversed(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 0)), out = pv_list(b->it->arena, PV_LIST);
    for (uint32_t i = items.list->items.len; i-- > 0;)
        pv_push(b->it->arena, out, items.list->items.at[i]);
    return out;
}

static PyVal sort_key(B *b, PyVal key, PyVal item)
{
    return pv_is_none(key) ? item : interp_call1(b->it, b->at, key, item);
}

static PyVal b_sorted(B *b)
{
    PyVal out = copy_items(b, PV_LIST), key = pv_none(), reverse = pv_bool(false);
    builtin_keyword(b, "key", &key);
    builtin_keyword(b, "reverse", &reverse);
    PyOp op = interp_truth(b->it, b->at, reverse) ? PYOP_GT : PYOP_LT;
    PyVals *v = &out.list->items;
    for (uint32_t i = 1; i < v->len; i++) {
        PyVal item = v->at[i], place = sort_key(b, key, item);
        uint32_t j = i;
        interp_step(b->it, i, b->at);
        for (; j > 0 && interp_compare(b->it, b->at, op, place, sort_key(b, key, v->at[j - 1])).b;
             j--)
            v->at[j] = v->at[j - 1];
        v->at[j] = item;
    }
    return out;
}

/* An iterator is a list of what is left: next takes its first item off. */
static PyVal b_iter(B *b) { return copy_items(b, PV_LIST); }

static PyVal b_next(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 0));
    PyVals *left = &items.list->items;
    if (!left->len)
        return builtin_arg(b, 1);
    PyVal first = left->at[0];
    left->at++;
    left->len--;
    left->cap--;
    return first;
}

static PyVal b_ord(B *b)
{
    Str text = need_str(b->it, b->at, builtin_arg(b, 0), "a character");
    if (text.len != 1)
        builtin_fail(b, "one character is expected");
    return pv_int((unsigned char)text.at[0]);
}

static PyVal b_slice(B *b)
{
    PySlice *slice = arena_new(b->it->arena, PySlice);
    *slice = b->args->n == 1 ? (PySlice){pv_none(), builtin_arg(b, 0), pv_none()}
                             : (PySlice){builtin_arg(b, 0), builtin_arg(b, 1),
                                         b->args->n > 2 ? builtin_arg(b, 2) : pv_none()};
    return (PyVal){.tag = PV_SLICE, .slice = slice};
}

/* --- numbers ------------------------------------------------------------------------------ */

static PyVal b_int(B *b)
{
    if (!b->args->n)
        return pv_int(0);
    PyVal v = builtin_arg(b, 0);
    int64_t parsed;
    if (v.tag == PV_TENSOR)
        v = tensor_number(b->it, b->at, v.tensor);
    if (v.tag == PV_TENSOR)
        return tensor_of(b->it, emit_cast(b->it, b->at, tvar_read(b->it, v.tensor), DT_I64));
    if (v.tag == PV_STR && str_to_i64(str_trim(*v.str), &parsed))
        return pv_int(parsed);
    if (v.tag == PV_FLOAT && !(fabs(v.f) < 0x1p63))
        builtin_fail(b, "the number does not fit an integer");
    if (!pv_is_number(v))
        builtin_fail(b, "needs a number");
    return pv_int(v.tag == PV_FLOAT ? (int64_t)v.f : pv_as_int(v));
}

static PyVal b_float(B *b)
{
    if (!b->args->n)
        return pv_float(0);
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_TENSOR)
        v = tensor_number(b->it, b->at, v.tensor);
    if (v.tag == PV_TENSOR)
        return dtype_is_float(tvar_dtype(b->it, v.tensor))
                   ? v
                   : tensor_of(b->it, emit_cast(b->it, b->at, tvar_read(b->it, v.tensor), DT_F32));
    if (v.tag != PV_STR)
        return pv_float(need_double(b->it, b->at, v, "the argument of float"));
    char *text = str_dup(b->it->arena, str_trim(*v.str)), *end;
    double value = strtod(text, &end);
    if (end == text || *end)
        builtin_fail(b, "the text is no number");
    return pv_float(value);
}

static PyVal b_bool(B *b)
{
    return pv_bool(b->args->n && interp_truth(b->it, b->at, builtin_arg(b, 0)));
}

static PyVal b_str(B *b)
{
    return interp_format(b->it, b->at,
                         b->args->n ? builtin_arg(b, 0) : pv_str(b->it->arena, STR("")), STR(""),
                         STR(""));
}

static PyVal b_abs(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_TENSOR)
        return fn_apply(b->it, b->at, "torch.abs", 1, &v);
    if (v.tag == PV_FLOAT)
        return pv_float(fabs(v.f));
    return pv_int(llabs(need_int(b->it, b->at, v, "the argument of abs")));
}

static PyVal b_round(B *b)
{
    double v = need_double(b->it, b->at, builtin_arg(b, 0), "the argument of round");
    if (b->args->n > 1 && !pv_is_none(builtin_arg(b, 1))) {
        int64_t digits = need_int(b->it, b->at, builtin_arg(b, 1), "digits");
        double scale = pow(10, (double)(digits < 20 ? digits : 20));
        return pv_float(nearbyint(v * scale) / scale);
    }
    if (!(fabs(v) < 0x1p62))
        builtin_fail(b, "the number does not fit an integer");
    return pv_int((int64_t)nearbyint(v));
}

static PyVal b_pow(B *b)
{
    return interp_binary(b->it, b->at, PYOP_POW, builtin_arg(b, 0), builtin_arg(b, 1));
}

/* The functions of module operator. */
#define OPERATOR(name, op)                                                            \
    static PyVal b_operator_##name(B *b)                                              \
    {                                                                                 \
        return interp_binary(b->it, b->at, op, builtin_arg(b, 0), builtin_arg(b, 1)); \
    }
OPERATOR(add, PYOP_ADD)
OPERATOR(sub, PYOP_SUB)
OPERATOR(mul, PYOP_MUL)
OPERATOR(truediv, PYOP_DIV)
OPERATOR(floordiv, PYOP_FLOORDIV)
OPERATOR(mod, PYOP_MOD)
OPERATOR(matmul, PYOP_MATMUL)
OPERATOR(and_, PYOP_AND)
OPERATOR(or_, PYOP_OR)
OPERATOR(xor, PYOP_XOR)
#undef OPERATOR

static PyVal b_divmod(B *b)
{
    PyVal pair[] = {
        interp_binary(b->it, b->at, PYOP_FLOORDIV, builtin_arg(b, 0), builtin_arg(b, 1)),
        interp_binary(b->it, b->at, PYOP_MOD, builtin_arg(b, 0), builtin_arg(b, 1))};
    return pv_tuple_of(b->it->arena, 2, pair);
}

static PyVal b_sum(B *b)
{
    PyVal items = builtin_items(b, builtin_arg(b, 0)),
          total = b->args->n > 1 ? builtin_arg(b, 1) : pv_int(0);
    builtin_keyword(b, "start", &total);
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        /* adding to the 0 it starts from would add a node */
        bool first = i == 0 && total.tag == PV_INT && total.i == 0 &&
                     items.list->items.at[0].tag == PV_TENSOR;
        total = first ? items.list->items.at[0]
                      : interp_binary(b->it, b->at, PYOP_ADD, total, items.list->items.at[i]);
    }
    return total;
}

/* Numbers of which at least one is a tensor: the larger of both is one, whatever their values. */
static bool one_element(B *b, PyVal x, PyVal y)
{
    const PyVal both[] = {x, y};
    bool tensor = false;
    for (int i = 0; i < 2; i++) {
        if (both[i].tag == PV_TENSOR && tvar_shape(b->it, both[i].tensor).rank == 0)
            tensor = true;
        else if (!pv_is_number(both[i]))
            return false;
    }
    return tensor;
}

static PyVal as_tensor(B *b, PyVal v)
{
    return v.tag == PV_TENSOR ? v : tensor_literal(b->it, b->at, v, DT_COUNT);
}

static PyVal extreme(B *b, PyOp op)
{
    PyVal list = b->args->n == 1 ? builtin_items(b, builtin_arg(b, 0))
                                 : pv_tuple_of(b->it->arena, b->args->n, b->args->v);
    PyVal best, key = pv_none();
    builtin_keyword(b, "key", &key);
    if (!list.list->items.len) {
        if (builtin_keyword(b, "default", &best))
            return best;
        builtin_fail(b, "of nothing");
    }
    best = list.list->items.at[0];
    for (uint32_t i = 1; i < list.list->items.len; i++) {
        PyVal next = list.list->items.at[i];
        if (pv_is_none(key) && one_element(b, next, best))
            best = fn_apply(b->it, b->at, op == PYOP_GT ? "torch.maximum" : "torch.minimum", 2,
                            (PyVal[]){as_tensor(b, next), as_tensor(b, best)});
        else if (interp_truth(b->it, b->at,
                              interp_compare(b->it, b->at, op, sort_key(b, key, next),
                                             sort_key(b, key, best))))
            best = next;
    }
    return best;
}

static PyVal b_max(B *b) { return extreme(b, PYOP_GT); }
static PyVal b_min(B *b) { return extreme(b, PYOP_LT); }

static PyVal quantifier(B *b, bool any)
{
    PyVal items = builtin_items(b, builtin_arg(b, 0));
    for (uint32_t i = 0; i < items.list->items.len; i++) {
        if (interp_truth(b->it, b->at, items.list->items.at[i]) == any)
            return pv_bool(any);
    }
    return pv_bool(!any);
}

static PyVal b_any(B *b) { return quantifier(b, true); }
static PyVal b_all(B *b) { return quantifier(b, false); }

/* --- objects ------------------------------------------------------------------------------ */

static PyVal b_isinstance(B *b)
{
    return pv_bool(interp_is_instance(b->it, b->at, builtin_arg(b, 0), builtin_arg(b, 1)));
}

static bool library_has(Str path) { return fn_find(path) || nn_find(path) || builtin_exists(path); }

/* A decorator with arguments that changes nothing here: something that is only passed around. */
static PyVal b_identity(B *b) { return pv_opaque(b->it->arena, b->name); }

/* The function itself; with arguments alone, a decorator that changes nothing. */
static PyVal b_compile(B *b)
{
    return b->args->n ? b->args->v[0] : pv_opaque(b->it->arena, b->name);
}

/* Mixed precision would change the type of every operation; switched off it is nothing. */
static PyVal b_autocast(B *b)
{
    PyVal enabled = pv_bool(true);
    builtin_keyword(b, "enabled", &enabled);
    if (interp_truth(b->it, b->at, enabled))
        interp_fail(b->it, b->at, "T011", "%s with enabled=True is not supported", b->name);
    return pv_opaque(b->it->arena, "context");
}

static PyVal b_hasattr(B *b)
{
    PyVal owner = builtin_arg(b, 0), value;
    Str name = need_str(b->it, b->at, builtin_arg(b, 1), "an attribute name");
    if (!interp_find_attr(b->it, b->at, owner, name, &value)) {
        if (owner.tag == PV_TENSOR)
            interp_fail(b->it, b->at, "T011", "whether a tensor has '%.*s' is not known",
                        STR_ARG(name));
        return pv_bool(false);
    }
    return pv_bool(owner.tag != PV_NAME || value.tag != PV_NAME || library_has(*value.str));
}

static PyVal b_getattr(B *b)
{
    PyVal value;
    Str name = need_str(b->it, b->at, builtin_arg(b, 1), "an attribute name");
    if (interp_find_attr(b->it, b->at, builtin_arg(b, 0), name, &value))
        return value;
    return b->args->n > 2 ? builtin_arg(b, 2) : interp_attr(b->it, b->at, builtin_arg(b, 0), name);
}

static PyVal b_setattr(B *b)
{
    interp_set_attr(b->it, b->at, builtin_arg(b, 0),
                    need_str(b->it, b->at, builtin_arg(b, 1), "a name"), builtin_arg(b, 2));
    return pv_none();
}

static PyVal b_callable(B *b)
{
    PvTag tag = builtin_arg(b, 0).tag;
    return pv_bool(tag == PV_FUNC || tag == PV_METHOD || tag == PV_CLASS || tag == PV_OBJECT ||
                   tag == PV_NAME);
}

static PyVal b_type(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_OBJECT && v.object->cls)
        return (PyVal){.tag = PV_CLASS, .cls = v.object->cls};
    if (v.tag == PV_OBJECT && v.object->nn)
        return pv_name(b->it->arena,
                       str_from(str_format(b->it->arena, "torch.nn.%s", v.object->nn->name)));
    return pv_name(b->it->arena,
                   v.tag == PV_TENSOR ? STR("torch.Tensor") : str_from(pv_type_name(v)));
}

static PyVal b_print(B *b)
{
    (void)b;
    return pv_none();
}

static PyVal b_exception(B *b)
{
    Buf buf = {0};
    buf_puts(&buf, b->name);
    if (b->args->n) {
        buf_puts(&buf, ": ");
        pv_print(b->args->v[0], false, &buf);
    }
    const char *text = buf_take(&buf, b->it->arena);
    buf_free(&buf);
    return pv_opaque(b->it->arena, text);
}

static PyVal b_context(B *b) { return pv_opaque(b->it->arena, "context"); }
static PyVal b_opaque(B *b) { return pv_opaque(b->it->arena, b->name); }
static PyVal b_first(B *b) { return builtin_arg(b, 0); }

/* --- the table ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    PyVal (*body)(B *b);
} rows[] = {{"len", b_len},
            {"range", b_range},
            {"list", b_list},
            {"tuple", b_tuple},
            {"set", b_set},
            {"dict", b_dict},
            {"enumerate", b_enumerate},
            {"zip", b_zip},
            {"map", b_map},
            {"filter", b_filter},
            {"reversed", b_reversed},
            {"sorted", b_sorted},
            {"ord", b_ord},
            {"iter", b_iter},
            {"next", b_next},
            {"slice", b_slice},
            {"int", b_int},
            {"float", b_float},
            {"bool", b_bool},
            {"str", b_str},
            {"repr", b_str},
            {"abs", b_abs},
            {"round", b_round},
            {"pow", b_pow},
            {"divmod", b_divmod},
            {"sum", b_sum},
            {"max", b_max},
            {"min", b_min},
            {"any", b_any},
            {"all", b_all},
            {"isinstance", b_isinstance},
            {"hasattr", b_hasattr},
            {"getattr", b_getattr},
            {"setattr", b_setattr},
            {"callable", b_callable},
            {"type", b_type},
            {"print", b_print},
            {"object", b_opaque},
            {"ValueError", b_exception},
            {"TypeError", b_exception},
            {"RuntimeError", b_exception},
            {"NotImplementedError", b_exception},
            {"KeyError", b_exception},
            {"IndexError", b_exception},
            {"AssertionError", b_exception},
            {"Exception", b_exception},
            {"ImportError", b_exception},
            {"ModuleNotFoundError", b_exception},
            {"AttributeError", b_exception},
            {"math.sqrt", b_math},
            {"math.exp", b_math},
            {"math.log2", b_math},
            {"math.log10", b_math},
            {"math.log1p", b_math},
            {"math.expm1", b_math},
            {"math.sin", b_math},
            {"math.cos", b_math},
            {"math.tan", b_math},
            {"math.tanh", b_math},
            {"math.atan", b_math},
            {"math.fabs", b_math},
            {"math.erf", b_math},
            {"math.log", b_log},
            {"math.pow", b_pow},
            {"math.floor", b_rounding},
            {"math.ceil", b_rounding},
            {"math.trunc", b_rounding},
            {"math.prod", b_prod},
            {"math.gcd", b_gcd},
            {"math.isinf", b_isinf},
            {"math.isnan", b_isnan},
            {"numpy.sqrt", b_math},
            {"numpy.log2", b_math},
            {"numpy.log10", b_math},
            {"numpy.exp", b_math},
            {"numpy.log", b_log},
            {"numpy.prod", b_prod},
            {"itertools.repeat", b_itertools_repeat},
            {"itertools.chain", b_chain},
            {"itertools.product", b_product},
            {"copy.deepcopy", b_first},
            {"copy.copy", b_first},
            {"collections.OrderedDict", b_dict},
            {"torch.Size", b_tuple},
            {"torch.broadcast_shapes", b_broadcast_shapes},
            {"torch.device", b_opaque},
            {"torch.manual_seed", b_print},
            {"torch.Generator", b_opaque},
            {"torch.no_grad", b_context},
            {"torch.inference_mode", b_context},
            {"torch.set_grad_enabled", b_context},
            {"torch.is_tensor", b_isinstance},
            {"torch.finfo", b_finfo},
            {"torch.iinfo", b_iinfo},
            {"torch.cuda.is_available", b_opaque},
            {"torch.cuda.synchronize", b_print},
            {"torch.utils.checkpoint.checkpoint", b_checkpoint},
            {"typing.TypeVar", b_opaque},
            {"torch.autograd.set_detect_anomaly", b_context},
            {"torch.autograd.grad", b_autograd_grad},
            {"torch.promote_types", b_promote_types},
            {"torch.compile", b_compile},
            {"torch.jit.script", b_compile},
            {"torch.jit.trace", b_compile},
            {"dataclasses.dataclass", b_dataclass},
            {"dataclasses.field", b_field},
            {"collections.namedtuple", b_namedtuple},
            {"functools.partial", b_partial},
            {"einops.layers.torch.Rearrange", b_einops_layer},
            {"einops.layers.torch.Reduce", b_einops_layer},
            {"functools.reduce", b_reduce},
            {"operator.pow", b_pow},
            {"operator.add", b_operator_add},
            {"operator.sub", b_operator_sub},
            {"operator.mul", b_operator_mul},
            {"operator.truediv", b_operator_truediv},
            {"operator.floordiv", b_operator_floordiv},
            {"operator.mod", b_operator_mod},
            {"operator.matmul", b_operator_matmul},
            {"operator.and_", b_operator_and_},
            {"operator.or_", b_operator_or_},
            {"operator.xor", b_operator_xor},
            {"functools.lru_cache", b_identity},
            {"functools.wraps", b_identity},
            {"torch.autocast", b_autocast},
            {"torch.amp.autocast", b_autocast},
            {"torch.cuda.amp.autocast", b_autocast},
            {"torch.cpu.amp.autocast", b_autocast},
            {"torch.sparse_coo_tensor", b_sparse},
            {"warnings.warn", b_print},
            {"open", b_open},
            {"random.randint", b_random_int},
            {"random.random", b_random_float},
            {"random.uniform", b_random_float},
            {"random.seed", b_none},
            {"numpy.random.seed", b_none},
            {"numpy.random.rand", b_numpy_uniform},
            {"numpy.random.uniform", b_numpy_uniform},
            {"numpy.random.randn", b_numpy_normal},
            {"numpy.random.normal", b_numpy_normal},
            {"numpy.random.randint", b_numpy_integers},
            {"numpy.random.choice", b_choice},
            {"random.choice", b_choice},
            {"torch.enable_grad", b_context},
            {"eval", b_eval},
            {"ast.literal_eval", b_eval},
            {"json.loads", b_json_loads},
            {"json.load", b_json_load},
            {"os.path.join", b_path_join},
            {"os.path.dirname", b_dirname},
            {"os.path.basename", b_basename},
            {"os.path.abspath", b_first},
            {"os.path.realpath", b_first},
            {"os.path.splitext", b_splitext},
            {"os.path.exists", b_true},
            {"torch.distributions.Uniform", b_distribution},
            {"torch.distributions.Normal", b_distribution},
            {"torch.distributions.uniform.Uniform", b_distribution},
            {"torch.distributions.normal.Normal", b_distribution}};

static int find_row(Str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (str_is(name, rows[i].name))
            return (int)i;
    }
    return -1;
}

bool builtin_exists(Str name) { return find_row(name) >= 0 || str_is(name, "super"); }

bool builtin_call(Interp *it, Span at, Str name, const CallArgs *args, PyVal *result)
{
    int row = find_row(name);
    if (row < 0)
        return false;
    B b = {it, at, rows[row].name, args};
    interp_enter(it, at);
    if (str_is(name, "torch.is_tensor"))
        *result = pv_bool(args->n && args->v[0].tag == PV_TENSOR);
    else if (str_is(name, "torch.cuda.is_available"))
        *result = pv_bool(false);
    else
        *result = rows[row].body(&b);
    interp_leave(it);
    return true;
}

/* --- constants ---------------------------------------------------------------------------- */

bool name_constant(Interp *it, Str path, PyVal *value)
{
    static const struct {
        const char *name;
        double value;
    } numbers[] = {{"math.pi", 3.14159265358979323846},
                   {"math.e", 2.71828182845904523536},
                   {"math.inf", INFINITY},
                   {"math.nan", NAN},
                   {"torch.pi", 3.14159265358979323846},
                   {"torch.inf", INFINITY},
                   {"torch.nan", NAN},
                   {"numpy.pi", 3.14159265358979323846},
                   {"numpy.inf", INFINITY},
                   {"numpy.nan", NAN}};
    (void)it;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (str_is(path, numbers[i].name)) {
            *value = pv_float(numbers[i].value);
            return true;
        }
    }
    if (str_is(path, "numpy.newaxis")) {
        *value = pv_none();
        return true;
    }
    DType dtype;
    bool torch = str_starts(path, "torch."), numpy = str_starts(path, "numpy.");
    Str tail = str_slice(path, 6, path.len);
    if ((torch || numpy) && dtype_from_torch(tail, &dtype) && !(numpy && str_is(tail, "float"))) {
        *value = pv_dtype(dtype);
        return true;
    }
    return false;
}
