/* The library function table, and how call arguments become a row's parameters. */
#include "torch/fn_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const FnRow fn_rows[] = {
#define FN(name, where, params, body, kind) {name, where, params, body, kind},
#include "torch/fn.def"
#undef FN
};
const uint32_t fn_count = sizeof fn_rows / sizeof *fn_rows;

/* --- parameters --------------------------------------------------------------------------- */

typedef struct Param {
    Str name;
    bool star, has_default;
    Str fallback;
} Param;

static bool next_param(Str *rest, Param *param)
{
    Str word;
    if (!rest->len || !str_next(rest, ' ', &word))
        return false;
    *param = (Param){.star = word.at[0] == '*'};
    if (param->star)
        word = str_slice(word, 1, word.len);
    ptrdiff_t equal = str_find(word, STR("="));
    param->name = equal < 0 ? word : str_slice(word, 0, (size_t)equal);
    param->has_default = equal >= 0;
    if (param->has_default)
        param->fallback = str_slice(word, (size_t)equal + 1, word.len);
    return true;
}

uint32_t params_count(const char *params)
{
    Str rest = str_from(params);
    Param param;
    uint32_t count = 0;
    while (next_param(&rest, &param))
        count++;
    return count;
}

Str params_name(const char *params, uint32_t index)
{
    Str rest = str_from(params);
    Param param = {0};
    for (uint32_t i = 0; i <= index && next_param(&rest, &param); i++)
        ;
    return param.name;
}

static PyVal default_value(Interp *it, Str text)
{
    int64_t i;
    double f;
    if (str_is(text, "None"))
        return pv_none();
    if (str_is(text, "True") || str_is(text, "False"))
        return pv_bool(str_is(text, "True"));
    if (str_to_i64(text, &i))
        return pv_int(i);
    if (str_to_double(text, &f))
        return pv_float(f);
    return pv_str(it->arena, text);
}

void arg_fail(Args *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = str_vformat(a->it->arena, format, args);
    va_end(args);
    interp_fail(a->it, a->at, "T010", "%s: %s", a->it->defining ? a->it->defining : a->name, text);
}

/* Keywords of other libraries' habits. */
static bool names_param(Str keyword, Str name)
{
    static const char *const same[][2] = {
        {"axis", "dim"},  {"keepdims", "keepdim"}, {"self", "input"}, {"x", "input"},
        {"x1", "input"},  {"x2", "other"},         {"mat2", "other"}, {"vec2", "other"},
        {"a_min", "min"}, {"a_max", "max"}};
    if (str_equal(keyword, name))
        return true;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (str_is(keyword, same[i][0]) && str_is(name, same[i][1]))
            return true;
    }
    return false;
}

static bool is_ignored(Str keyword)
{
    static const char *const names[] = {"device",     "requires_grad", "layout",
                                        "pin_memory", "memory_format", "non_blocking",
                                        "generator",  "inplace",       "out",
                                        "copy",       "names",         "track_running_stats_",
                                        "sparse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_is(keyword, names[i]))
            return true;
    }
    return false;
}

static PyVal star_value(Args *a, const CallArgs *call, uint32_t taken)
{
    uint32_t left = call->n - taken;
    if (left == 1 && (pv_is_seq(call->v[taken])))
        return call->v[taken];
    return pv_tuple_of(a->it->arena, left, left ? call->v + taken : NULL);
}

void args_bind(Args *a, const char *params, const CallArgs *call)
{
    Str rest = str_from(params);
    Param param;
    bool *used = arena_array(a->it->arena, bool, call->n_kw + 1);
    uint32_t taken = 0;
    for (uint32_t i = 0; next_param(&rest, &param); a->n = ++i) {
        if (i == FN_MAX_ARGS)
            panic("%s has too many parameters", a->name);
        for (uint32_t k = 0; k < call->n_kw; k++) {
            if (!used[k] && !a->given[i] && names_param(call->kw_names[k], param.name)) {
                used[k] = a->given[i] = true;
                a->v[i] = call->kw[k];
            }
        }
        if (a->given[i])
            continue;
        if (param.star) {
            a->v[i] = star_value(a, call, taken);
            a->given[i] = call->n > taken;
            taken = call->n;
        } else if (taken < call->n) {
            a->v[i] = call->v[taken++];
            a->given[i] = true;
        } else if (param.has_default) {
            a->v[i] = default_value(a->it, param.fallback);
        } else {
            arg_fail(a, "argument '%.*s' is missing", STR_ARG(param.name));
        }
    }
    if (taken < call->n)
        arg_fail(a, "takes at most %u positional arguments, got %u", taken, call->n);
    for (uint32_t k = 0; k < call->n_kw; k++) {
        if (!used[k] && !is_ignored(call->kw_names[k]))
            arg_fail(a, "argument '%.*s' is not known", STR_ARG(call->kw_names[k]));
    }
}

static PyVal keyword_out(const CallArgs *call)
{
    for (uint32_t k = 0; k < call->n_kw; k++) {
        if (str_is(call->kw_names[k], "out"))
            return call->kw[k];
    }
    return pv_none();
}

/* relu(x, inplace=True) writes into x. */
static bool asks_in_place(const Args *a, const char *params)
{
    for (uint32_t i = 1, n = params_count(params); i < n; i++) {
        if (str_is(params_name(params, i), "inplace"))
            return a->v[i].tag == PV_BOOL && a->v[i].b && a->v[0].tag == PV_TENSOR;
    }
    return false;
}

PyVal fn_call(Interp *it, Span at, const FnRow *row, const CallArgs *call)
{
    Args a = {.it = it, .at = at, .name = row->name, .kind = row->kind};
    interp_enter(it, at);
    args_bind(&a, row->params, call);
    PyVal result = row->body(&a), out = keyword_out(call);
    if (result.tag == PV_TENSOR && a.v[0].tag == PV_TENSOR && a.v[0].tensor->array &&
        row->body != fn_numpy)
        result.tensor->array = true;
    if (out.tag == PV_TENSOR)
        result = tensor_inplace(it, at, out.tensor, result);
    else if (asks_in_place(&a, row->params) && !pv_same(a.v[0], result))
        result = tensor_inplace(it, at, a.v[0].tensor, result);
    interp_leave(it);
    return result;
}

/* --- lookup ------------------------------------------------------------------------------- */

static const struct {
    unsigned where;
    const char *path;
} spaces[] = {
    {IN_TORCH, "torch"},           {IN_F, "torch.nn.functional"}, {IN_LINALG, "torch.linalg"},
    {IN_SPECIAL, "torch.special"}, {IN_SPECIAL, "scipy.special"}, {IN_ATEN, "torch.ops.aten"},
    {IN_NUMPY, "numpy"},           {IN_FFT, "torch.fft"},         {IN_INIT, "torch.nn.init"},
    {IN_NN, "torch.nn"},           {IN_NN, "torch.nn.parameter"}, {IN_METHOD, "torch.Tensor"}};

/* The first row of that name in one of the spaces. */
static const FnRow *find_in(unsigned where, Str name)
{
    char first = name.len ? name.at[0] : '\0';
    for (uint32_t i = 0; i < fn_count; i++) {
        const FnRow *row = &fn_rows[i];
        if ((row->where & where) && row->name[0] == first && str_is(name, row->name))
            return row;
    }
    return NULL;
}

Str path_name(Str path, Str *space)
{
    size_t dot = path.len;
    while (dot > 0 && path.at[dot - 1] != '.')
        dot--;
    *space = str_slice(path, 0, dot ? dot - 1 : 0);
    return str_slice(path, dot, path.len);
}

const FnRow *fn_find(Str path)
{
    unsigned where = 0;
    Str space, name = path_name(path, &space);
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        if (str_is(space, spaces[k].path))
            where |= spaces[k].where;
    }
    return where ? find_in(where, name) : NULL;
}

const FnRow *fn_find_method(Str name)
{
    const FnRow *row = find_in(IN_METHOD, name);
    bool in_place = name.len > 1 && name.at[name.len - 1] == '_';
    return row || !in_place ? row : find_in(IN_METHOD, str_slice(name, 0, name.len - 1));
}

PyVal fn_apply(Interp *it, Span at, const char *path, uint32_t n, const PyVal *v)
{
    const FnRow *row = fn_find(str_from(path));
    if (!row)
        interp_fail(it, at, "T011", "%s is not supported", path);
    CallArgs call = {.n = n, .v = (PyVal *)v};
    return fn_call(it, at, row, &call);
}

/* --- reading ------------------------------------------------------------------------------ */

ValueId arg_value(Args *a, uint32_t i) { return value_of(a->it, a->at, a->v[i]); }

ValueId arg_optional(Args *a, uint32_t i)
{
    return pv_is_none(a->v[i]) ? VALUE_NONE : arg_value(a, i);
}

TVar *arg_tensor(Args *a, uint32_t i) { return need_tensor(a->it, a->at, a->v[i], a->name); }
int64_t arg_int(Args *a, uint32_t i) { return need_int(a->it, a->at, a->v[i], a->name); }
double arg_float(Args *a, uint32_t i) { return need_double(a->it, a->at, a->v[i], a->name); }
bool arg_bool(Args *a, uint32_t i) { return interp_truth(a->it, a->at, a->v[i]); }
Str arg_str(Args *a, uint32_t i) { return need_str(a->it, a->at, a->v[i], a->name); }
bool arg_none(const Args *a, uint32_t i) { return pv_is_none(a->v[i]); }

void arg_no_dtype(Args *a, Str name)
{
    arg_fail(a,
             "%.*s is not supported; known are float32, float16, bfloat16, float64, complex64, "
             "int8, int16, int32, int64, uint8 and bool",
             STR_ARG(name));
}

/* The old names of dtypes, as x.type() gives them. */
static const struct {
    const char *name;
    DType dtype;
} tensor_types[] = {{"torch.FloatTensor", DT_F32}, {"torch.DoubleTensor", DT_F64},
                    {"torch.HalfTensor", DT_F16},  {"torch.BFloat16Tensor", DT_BF16},
                    {"torch.LongTensor", DT_I64},  {"torch.IntTensor", DT_I32},
                    {"torch.ShortTensor", DT_I16}, {"torch.CharTensor", DT_I8},
                    {"torch.ByteTensor", DT_U8},   {"torch.BoolTensor", DT_BOOL}};

const char *fn_tensor_type(DType dtype)
{
    for (size_t i = 0; i < sizeof tensor_types / sizeof *tensor_types; i++)
        if (tensor_types[i].dtype == dtype)
            return tensor_types[i].name;
    return "torch.Tensor";
}

/* torch.cuda.FloatTensor is a FloatTensor. */
static bool old_name(Str name, DType *dtype)
{
    ptrdiff_t cuda = str_find(name, STR("cuda."));
    for (size_t i = 0; i < sizeof tensor_types / sizeof *tensor_types; i++) {
        Str own = str_from(tensor_types[i].name), last = str_slice(own, 6, own.len);
        *dtype = tensor_types[i].dtype;
        if (str_equal(name, own) || (cuda >= 0 && str_ends(name, last.at)))
            return true;
    }
    return false;
}

DType arg_dtype(Args *a, uint32_t i, DType fallback)
{
    PyVal v = a->v[i];
    if (pv_is_none(v))
        return fallback;
    if (v.tag == PV_DTYPE)
        return v.dtype;
    DType old;
    if ((v.tag == PV_NAME || v.tag == PV_STR) && old_name(*v.str, &old))
        return old;
    if (v.tag == PV_NAME &&
        (str_is(*v.str, "bool") || str_is(*v.str, "int") || str_is(*v.str, "float")))
        return str_is(*v.str, "bool") ? DT_BOOL : str_is(*v.str, "int") ? DT_I64 : DT_F32;
    if (v.tag == PV_NAME)
        arg_no_dtype(a, *v.str);
    arg_fail(a, "a dtype is expected, not %s", pv_type_name(v));
}

uint32_t arg_ints(Args *a, uint32_t i, int64_t out[GRAPH_MAX_RANK])
{
    PyVal v = a->v[i];
    if (v.tag == PV_TENSOR && tvar_shape(a->it, v.tensor).rank == 1)
        v = tensor_to_list(a->it, a->at, v.tensor);
    if (!pv_is_seq(v)) {
        out[0] = need_int(a->it, a->at, v, a->name);
        return 1;
    }
    if (v.list->items.len > GRAPH_MAX_RANK)
        arg_fail(a, "more than %d dims are not supported", GRAPH_MAX_RANK);
    for (uint32_t k = 0; k < v.list->items.len; k++)
        out[k] = need_int(a->it, a->at, v.list->items.at[k], a->name);
    return v.list->items.len;
}

void arg_ntuple(Args *a, uint32_t i, uint32_t n, int64_t out[GRAPH_MAX_RANK])
{
    uint32_t count = arg_ints(a, i, out);
    if (count != 1 && count != n)
        arg_fail(a, "%u or 1 numbers are expected, got %u", n, count);
    for (uint32_t k = 1; count == 1 && k < n; k++)
        out[k] = out[0];
}

Shape arg_shape(Args *a, uint32_t i)
{
    Shape shape = {0};
    shape.rank = (int)arg_ints(a, i, shape.dim);
    return shape;
}

int arg_dim(Args *a, uint32_t i, Shape shape)
{
    int dim;
    int64_t want = arg_int(a, i);
    if (!shape_dim(shape, want, &dim))
        arg_fail(a, "dim %lld is outside a tensor of %d dims", (long long)want, shape.rank);
    return dim;
}

PyVal out1(Args *a, ValueId id) { return tensor_of(a->it, id); }

PyVal out_tuple(Args *a, ValueId first, uint32_t count)
{
    PyVal tuple = pv_list(a->it->arena, PV_TUPLE);
    for (uint32_t i = 0; i < count; i++)
        pv_push(a->it->arena, tuple, tensor_of(a->it, first + i));
    return tuple;
}
