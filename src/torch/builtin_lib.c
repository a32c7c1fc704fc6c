/* The bits of math, itertools, json, os.path, random and numpy that model files use on plain
 * values, and what torch has besides tensor functions. */
#include "torch/builtin.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

/* --- math and itertools ------------------------------------------------------------------- */

typedef double MathFunction(double);

static const struct {
    const char *name;
    MathFunction *function;
} math_functions[] = {{"sqrt", sqrt},   {"exp", exp},     {"log2", log2}, {"log10", log10},
                      {"log1p", log1p}, {"sin", sin},     {"cos", cos},   {"tan", tan},
                      {"tanh", tanh},   {"atan", atan},   {"fabs", fabs}, {"erf", erf},
                      {"expm1", expm1}, {"radians", NULL}};

PyVal b_math(B *b)
{
    const char *name = strrchr(b->name, '.') + 1;
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_TENSOR)
        return fn_apply(b->it, b->at, str_format(b->it->arena, "torch.%s", name), 1, &v);
    double x = need_double(b->it, b->at, v, "the argument");
    for (size_t i = 0; i < sizeof math_functions / sizeof *math_functions; i++) {
        if (math_functions[i].function && strcmp(name, math_functions[i].name) == 0) {
            double y = math_functions[i].function(x);
            if (isnan(y) && !isnan(x))
                builtin_fail(b, "outside its domain");
            return pv_float(y);
        }
    }
    builtin_fail(b, "is not supported");
}

PyVal b_log(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag == PV_TENSOR)
        return fn_apply(b->it, b->at, "torch.log", 1, &v);
    double x = need_double(b->it, b->at, v, "the argument");
    if (!(x > 0))
        builtin_fail(b, "outside its domain");
    if (b->args->n > 1)
        return pv_float(log(x) / log(need_double(b->it, b->at, builtin_arg(b, 1), "the base")));
    return pv_float(log(x));
}

PyVal b_rounding(B *b)
{
    double x = need_double(b->it, b->at, builtin_arg(b, 0), "the argument");
    char kind = strrchr(b->name, '.')[1];
    double y = kind == 'f' ? floor(x) : kind == 'c' ? ceil(x) : trunc(x);
    if (!(fabs(y) < 0x1p62))
        builtin_fail(b, "the number does not fit an integer");
    return pv_int((int64_t)y);
}

PyVal b_isinf(B *b)
{
    return pv_bool(isinf(need_double(b->it, b->at, builtin_arg(b, 0), "the argument")));
}
PyVal b_isnan(B *b)
{
    return pv_bool(isnan(need_double(b->it, b->at, builtin_arg(b, 0), "the argument")));
}

PyVal b_prod(B *b)
{
    PyVal v = builtin_arg(b, 0), product = pv_int(1);
    if (v.tag == PV_TENSOR)
        return fn_apply(b->it, b->at, "torch.prod", 1, &v);
    PyVal items = builtin_items(b, v);
    for (uint32_t i = 0; i < items.list->items.len; i++)
        product = interp_binary(b->it, b->at, PYOP_MUL, product, items.list->items.at[i]);
    return product;
}

static int64_t gcd_of(int64_t a, int64_t c) { return c ? gcd_of(c, a % c) : (a < 0 ? -a : a); }

PyVal b_gcd(B *b)
{
    int64_t x = need_int(b->it, b->at, builtin_arg(b, 0), "the argument"),
            y = need_int(b->it, b->at, builtin_arg(b, 1), "the argument");
    if (x == INT64_MIN || y == INT64_MIN)
        builtin_fail(b, "the number is too large");
    return pv_int(gcd_of(x, y));
}

PyVal b_itertools_repeat(B *b)
{
    int64_t times = b->args->n > 1 ? need_int(b->it, b->at, builtin_arg(b, 1), "times") : -1;
    if (times < 0)
        builtin_fail(b, "without an end is not supported");
    PyVal one = pv_list(b->it->arena, PV_LIST);
    pv_push(b->it->arena, one, builtin_arg(b, 0));
    return interp_binary(b->it, b->at, PYOP_MUL, one, pv_int(times));
}

PyVal b_chain(B *b)
{
    PyVal out = pv_list(b->it->arena, PV_LIST);
    for (uint32_t i = 0; i < b->args->n; i++) {
        PyVal items = builtin_items(b, builtin_arg(b, i));
        interp_step(b->it, items.list->items.len, b->at);
        for (uint32_t j = 0; j < items.list->items.len; j++)
            pv_push(b->it->arena, out, items.list->items.at[j]);
    }
    return out;
}

PyVal b_product(B *b)
{
    PyVal rows = pv_list(b->it->arena, PV_LIST);
    pv_push(b->it->arena, rows, pv_list(b->it->arena, PV_TUPLE));
    for (uint32_t i = 0; i < b->args->n; i++) {
        PyVal items = builtin_items(b, builtin_arg(b, i)), next = pv_list(b->it->arena, PV_LIST);
        for (uint32_t r = 0; r < rows.list->items.len; r++) {
            for (uint32_t j = 0; j < items.list->items.len; j++) {
                PyVal one = pv_tuple_of(b->it->arena, 1, &items.list->items.at[j]);
                pv_push(b->it->arena, next,
                        interp_binary(b->it, b->at, PYOP_ADD, rows.list->items.at[r], one));
            }
        }
        rows = next;
    }
    return rows;
}

PyVal b_broadcast_shapes(B *b)
{
    Shape out = {0};
    for (uint32_t i = 0; i < b->args->n; i++) {
        PyVal sizes = builtin_items(b, builtin_arg(b, i));
        Shape next = {.rank = (int)sizes.list->items.len};
        if (next.rank > GRAPH_MAX_RANK)
            builtin_fail(b, "too many dims");
        for (int d = 0; d < next.rank; d++)
            next.dim[d] = need_int(b->it, b->at, sizes.list->items.at[d], "a size");
        if (!shape_broadcast(out, next, &out))
            builtin_fail(b, "the shapes do not broadcast");
    }
    PyVal tuple = pv_list(b->it->arena, PV_TUPLE);
    for (int d = 0; d < out.rank; d++)
        pv_push(b->it->arena, tuple, pv_int(out.dim[d]));
    return tuple;
}

PyVal b_checkpoint(B *b)
{
    PyVal function = builtin_arg(b, 0);
    CallArgs rest = {.n = b->args->n - 1, .v = b->args->v + 1};
    return interp_call(b->it, b->at, function, &rest);
}

PyVal b_finfo(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag != PV_DTYPE)
        builtin_fail(b, "needs a dtype");
    PyObject *object = arena_new(b->it->arena, PyObject);
    double max = v.dtype == DT_F16    ? 65504
                 : v.dtype == DT_BF16 ? 0x1.fep127
                 : v.dtype == DT_F64  ? 0x1.fffffffffffffp1023
                                      : 0x1.fffffep127;
    double eps = v.dtype == DT_F16    ? 0x1p-10
                 : v.dtype == DT_BF16 ? 0x1p-7
                 : v.dtype == DT_F64  ? 0x1p-52
                                      : 0x1p-23;
    double tiny = v.dtype == DT_F16 ? 0x1p-14 : v.dtype == DT_F64 ? 0x1p-1022 : 0x1p-126;
    dict_set_name(b->it->arena, &object->attrs, STR("max"), pv_float(max));
    dict_set_name(b->it->arena, &object->attrs, STR("min"), pv_float(-max));
    dict_set_name(b->it->arena, &object->attrs, STR("eps"), pv_float(eps));
    dict_set_name(b->it->arena, &object->attrs, STR("tiny"), pv_float(tiny));
    return (PyVal){.tag = PV_OBJECT, .object = object};
}

PyVal b_iinfo(B *b)
{
    PyVal v = builtin_arg(b, 0);
    if (v.tag != PV_DTYPE || !dtype_is_int(v.dtype) || v.dtype == DT_U64)
        builtin_fail(b, "needs an integer dtype");
    int bits = (int)dtype_bytes(v.dtype) * 8;
    bool sign = dtype_rows[v.dtype].kind == DTC_I;
    int64_t max = bits == 64 ? INT64_MAX : (INT64_C(1) << (sign ? bits - 1 : bits)) - 1;
    PyObject *object = arena_new(b->it->arena, PyObject);
    dict_set_name(b->it->arena, &object->attrs, STR("max"), pv_int(max));
    dict_set_name(b->it->arena, &object->attrs, STR("min"), pv_int(sign ? -max - 1 : 0));
    return (PyVal){.tag = PV_OBJECT, .object = object};
}

/* --- case files --------------------------------------------------------------------------- */

PyVal b_open(B *b)
{
    if (!b->it->case_text.at)
        interp_fail(b->it, b->at, "T011",
                    "open() is only understood for a list of cases, and none is given");
    return pv_opaque(b->it->arena, "file");
}

static PyVal json_value(B *b, Str text)
{
    Diag inner = diag_make(b->it->arena, "json", text);
    const Py *value = py_parse_expression(b->it->arena, text, &inner);
    if (!value)
        builtin_fail(b, "the case is no JSON");
    return interp_eval(b->it, env_new(b->it->arena, NULL), value);
}

PyVal b_json_loads(B *b)
{
    return json_value(b, need_str(b->it, b->at, builtin_arg(b, 0), "the text"));
}

/* eval of a literal, as case tables hold lists; names are those of the file. */
PyVal b_eval(B *b)
{
    Str text = need_str(b->it, b->at, builtin_arg(b, 0), "the text");
    Diag inner = diag_make(b->it->arena, "eval", text);
    const Py *value = py_parse_expression(b->it->arena, text, &inner);
    if (!value)
        builtin_fail(b, "the text is no expression");
    return interp_eval(b->it, b->it->globals, value);
}

PyVal b_json_load(B *b)
{
    builtin_arg(b, 0);
    return json_value(b, b->it->case_text);
}

PyVal b_path_join(B *b)
{
    PyVal out = builtin_arg(b, 0);
    for (uint32_t i = 1; i < b->args->n; i++) {
        out = interp_binary(b->it, b->at, PYOP_ADD, out, pv_str(b->it->arena, STR("/")));
        out = interp_binary(b->it, b->at, PYOP_ADD, out, builtin_arg(b, i));
    }
    return out;
}

static size_t last_of(Str s, char c)
{
    for (size_t i = s.len; i > 0; i--) {
        if (s.at[i - 1] == c)
            return i - 1;
    }
    return s.len;
}

PyVal b_dirname(B *b)
{
    Str path = need_str(b->it, b->at, builtin_arg(b, 0), "a path");
    size_t slash = last_of(path, '/');
    return pv_str(b->it->arena, slash < path.len ? str_slice(path, 0, slash) : STR("."));
}

PyVal b_basename(B *b)
{
    Str path = need_str(b->it, b->at, builtin_arg(b, 0), "a path");
    size_t slash = last_of(path, '/');
    return pv_str(b->it->arena, slash < path.len ? str_slice(path, slash + 1, path.len) : path);
}

PyVal b_splitext(B *b)
{
    Str path = need_str(b->it, b->at, builtin_arg(b, 0), "a path");
    size_t dot = last_of(path, '.');
    PyVal pair[] = {pv_str(b->it->arena, str_slice(path, 0, dot)),
                    pv_str(b->it->arena, str_slice(path, dot, path.len))};
    return pv_tuple_of(b->it->arena, 2, pair);
}

/* torch.distributions: an object that remembers its two parameters. */
PyVal b_distribution(B *b)
{
    PyObject *object = arena_new(b->it->arena, PyObject);
    bool uniform = str_ends(str_from(b->name), "Uniform");
    dict_set_name(b->it->arena, &object->attrs, STR("a"), builtin_arg(b, 0));
    dict_set_name(b->it->arena, &object->attrs, STR("b"), builtin_arg(b, 1));
    PyMethod *sample = arena_new(b->it->arena, PyMethod);
    sample->self = (PyVal){.tag = PV_OBJECT, .object = object};
    sample->function = pv_name(b->it->arena,
                               uniform ? STR("sample:uniform") : STR("sample:normal"));
    dict_set_name(b->it->arena, &object->attrs, STR("sample"),
                  (PyVal){.tag = PV_METHOD, .method = sample});
    return sample->self;
}

PyVal b_true(B *b)
{
    (void)b;
    return pv_bool(true);
}

/* --- random numbers ----------------------------------------------------------------------- */

PyVal b_none(B *b)
{
    (void)b;
    return pv_none();
}

/* A number that Python draws in forward is another one in every call. */
static void note_draw(B *b)
{
    if (b->it->graph == 1)
        vec_push(b->it->arena, &b->it->looks,
                 ((TorchLook){b->at, false, "draw it in get_inputs and give it to forward"}));
}

PyVal b_random_int(B *b)
{
    note_draw(b);
    int64_t low = need_int(b->it, b->at, builtin_arg(b, 0), "a bound");
    int64_t high = need_int(b->it, b->at, builtin_arg(b, 1), "a bound");
    if (low > high || high == INT64_MAX)
        builtin_fail(b, "the range is empty");
    return pv_int(rng_range(b->it->seed, (uint64_t)b->it->stream++, 0, low, high + 1));
}

PyVal b_random_float(B *b)
{
    note_draw(b);
    bool bounded = b->args->n == 2;
    double low = bounded ? need_double(b->it, b->at, builtin_arg(b, 0), "a bound") : 0;
    double high = bounded ? need_double(b->it, b->at, builtin_arg(b, 1), "a bound") : 1;
    return pv_float(low + (high - low) * rng_uniform(b->it->seed, (uint64_t)b->it->stream++, 0));
}

static Shape sizes_from(B *b, PyVal sizes)
{
    Args a = {.it = b->it, .at = b->at, .name = b->name, .v = {sizes}};
    Shape none = {0};
    return pv_is_none(sizes) ? none : arg_shape(&a, 0);
}

static PyVal array_of(B *b, ValueId id)
{
    PyVal array = tensor_of(b->it, id);
    array.tensor->array = true;
    return array;
}

/* rand(d0, d1, ...) against uniform(low, high, size) */
static PyVal numpy_draw(B *b, int kind, bool by_size)
{
    PyVal v[3] = {pv_float(0), pv_float(1), pv_none()};
    static const char *const names[] = {"low", "high", "size"};
    static const char *const normal[] = {"loc", "scale", "size"};
    for (uint32_t i = 0; by_size && i < 3; i++) {
        if (i < b->args->n)
            v[i] = b->args->v[i];
        else
            builtin_keyword(b, (kind == RANDOM_normal ? normal : names)[i], &v[i]);
    }
    if (!by_size)
        v[2] = pv_tuple_of(b->it->arena, b->args->n, b->args->v);
    if (!by_size && !b->args->n)
        return b_random_float(b);
    return array_of(b, emit_random(b->it, b->at, kind, sizes_from(b, v[2]), DT_F64,
                                   need_double(b->it, b->at, v[0], "a bound"),
                                   need_double(b->it, b->at, v[1], "a bound"), 0));
}

PyVal b_numpy_uniform(B *b)
{
    return numpy_draw(b, RANDOM_uniform, str_ends(str_from(b->name), "uniform"));
}
PyVal b_numpy_normal(B *b)
{
    return numpy_draw(b, RANDOM_normal, str_ends(str_from(b->name), "normal"));
}

PyVal b_numpy_integers(B *b)
{
    PyVal v[3] = {pv_int(0), pv_none(), pv_none()};
    static const char *const names[] = {"low", "high", "size"};
    for (uint32_t i = 0; i < 3; i++) {
        if (i < b->args->n)
            v[i] = b->args->v[i];
        else
            builtin_keyword(b, names[i], &v[i]);
    }
    double low = need_double(b->it, b->at, v[0], "a bound"), high;
    if (pv_is_none(v[1])) {
        high = low;
        low = 0;
    } else {
        high = need_double(b->it, b->at, v[1], "a bound");
    }
    if (!(low < high))
        builtin_fail(b, "the range is empty");
    if (pv_is_none(v[2]))
        return pv_int(
            rng_range(b->it->seed, (uint64_t)b->it->stream++, 0, (int64_t)low, (int64_t)high));
    return array_of(
        b, emit_random(b->it, b->at, RANDOM_integer, sizes_from(b, v[2]), DT_I64, low, high, 0));
}

PyVal b_promote_types(B *b)
{
    PyVal x = builtin_arg(b, 0), y = builtin_arg(b, 1);
    if (x.tag != PV_DTYPE || y.tag != PV_DTYPE)
        builtin_fail(b, "two dtypes are expected");
    return pv_dtype(dtype_promote(x.dtype, y.dtype));
}

/* choice(n) or choice(items): one of them, or an array of `size`. */
PyVal b_choice(B *b)
{
    PyVal from = builtin_arg(b, 0), size = pv_none();
    if (b->args->n > 1)
        size = b->args->v[1];
    builtin_keyword(b, "size", &size);
    bool range = pv_is_int(from);
    PyVal items = range ? from : builtin_items(b, from);
    int64_t n = range ? pv_as_int(from) : (int64_t)items.list->items.len;
    if (n < 1)
        builtin_fail(b, "there is nothing to choose from");
    if (pv_is_none(size)) {
        int64_t i = rng_range(b->it->seed, (uint64_t)b->it->stream++, 0, 0, n);
        return range ? pv_int(i) : items.list->items.at[i];
    }
    PyVal places = array_of(
        b, emit_random(b->it, b->at, RANDOM_integer, sizes_from(b, size), DT_I64, 0, (double)n, 0));
    return range
               ? places
               : tensor_index(b->it, b->at,
                              need_tensor(b->it, b->at,
                                          tensor_literal(b->it, b->at, items, DT_COUNT), "choice"),
                              places);
}
