/* Functions that make tensors: constants, counters, random numbers, initialisers. */
#include "torch/fn_int.h"

#include <math.h>

PyVal fn_tensor(Args *a)
{
    PyVal v = a->v[0];
    if (v.tag == PV_TENSOR) {
        ValueId x = tvar_read(a->it, v.tensor);
        return out1(a, emit_cast(a->it, a->at, x, arg_dtype(a, 1, emit_info(a->it, x)->dtype)));
    }
    /* a list of tensors of one element each */
    if (pv_is_seq(v) && v.list->items.len && v.list->items.at[0].tag == PV_TENSOR) {
        PyVal stacked = fn_apply(a->it, a->at, "torch.stack", 1, &v);
        ValueId x = tvar_read(a->it, stacked.tensor);
        return out1(a, emit_cast(a->it, a->at, x, arg_dtype(a, 1, emit_info(a->it, x)->dtype)));
    }
    DType natural = a->kind == 1 ? a->it->float_type : DT_COUNT;
    return tensor_literal(a->it, a->at, v, arg_dtype(a, 1, natural));
}

/* torch.LongTensor([1, 2]), torch.FloatTensor(2, 3): elements, or sizes of a tensor not yet filled */
PyVal fn_old_tensor(Args *a)
{
    const PyVals *rest = &a->v[1].list->items;
    DType dtype = a->kind == DT_F32 ? a->it->float_type : (DType)a->kind;
    if (pv_is_seq(a->v[0]) || a->v[0].tag == PV_TENSOR) {
        PyVal made = fn_apply(a->it, a->at, "torch.tensor", 1, &a->v[0]);
        return out1(a, emit_cast(a->it, a->at, tvar_read(a->it, made.tensor), dtype));
    }
    Shape shape = {.rank = 1 + (int)rest->len, .dim = {arg_int(a, 0)}};
    if (rest->len >= GRAPH_MAX_RANK)
        arg_fail(a, "more than %d dims are not supported", GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < rest->len; i++)
        shape.dim[1 + i] = need_int(a->it, a->at, rest->at[i], "a size");
    return out1(a, emit_full(a->it, a->at, shape, dtype, 0));
}

PyVal fn_full(Args *a)
{
    return out1(
        a, emit_full(a->it, a->at, arg_shape(a, 0), arg_dtype(a, 1, a->it->float_type), a->kind));
}

static DType number_dtype(const Args *a, PyVal v)
{
    return v.tag == PV_BOOL ? DT_BOOL : v.tag == PV_INT ? DT_I64 : a->it->float_type;
}

static PyVal full_of(Args *a, Shape shape, uint32_t value, DType dtype)
{
    if (a->v[value].tag != PV_TENSOR)
        return out1(a, emit_full(a->it, a->at, shape, dtype, arg_float(a, value)));
    ValueId x = emit_cast(a->it, a->at, arg_value(a, value), dtype);
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return out1(a, emit1(a->it, a->at, OP_EXPAND, 0, x, &attrs));
}

PyVal fn_full_value(Args *a)
{
    DType natural = a->v[1].tag == PV_TENSOR ? tvar_dtype(a->it, a->v[1].tensor)
                                             : number_dtype(a, a->v[1]);
    return full_of(a, arg_shape(a, 0), 1, arg_dtype(a, 2, natural));
}

PyVal fn_full_like(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    return out1(a, emit_full(a->it, a->at, tvar_shape(a->it, x),
                             arg_dtype(a, 1, tvar_dtype(a->it, x)), a->kind));
}

PyVal fn_full_like_value(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    return full_of(a, tvar_shape(a->it, x), 1, arg_dtype(a, 2, tvar_dtype(a->it, x)));
}

PyVal fn_new(Args *a)
{
    DType dtype = tvar_dtype(a->it, arg_tensor(a, 0));
    return out1(a, emit_full(a->it, a->at, arg_shape(a, 1), arg_dtype(a, 2, dtype), a->kind));
}

PyVal fn_new_full(Args *a)
{
    return full_of(a, arg_shape(a, 1), 2, arg_dtype(a, 3, tvar_dtype(a->it, arg_tensor(a, 0))));
}

PyVal fn_new_tensor(Args *a)
{
    return tensor_literal(a->it, a->at, a->v[1],
                          arg_dtype(a, 2, tvar_dtype(a->it, arg_tensor(a, 0))));
}

PyVal fn_eye(Args *a)
{
    Shape shape = {2, {arg_int(a, 0), arg_none(a, 1) ? arg_int(a, 0) : arg_int(a, 1)}};
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_dtype(&attrs, arg_dtype(a, 2, a->it->float_type));
    return out1(a, emit(a->it, a->at, OP_EYE, 0, 0, NULL, &attrs, 0));
}

static PyVal plain_number(Args *a, uint32_t i)
{
    return a->v[i].tag == PV_TENSOR ? tensor_item(a->it, a->at, a->v[i].tensor) : a->v[i];
}

PyVal fn_arange(Args *a)
{
    bool bounded = !arg_none(a, 1), whole = true;
    double bounds[3] = {0, 0, 1};
    for (uint32_t i = 0; i < 3; i++) {
        if (arg_none(a, i))
            continue;
        PyVal v = plain_number(a, i);
        whole = whole && v.tag != PV_FLOAT;
        bounds[i] = need_double(a->it, a->at, v, a->name);
    }
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, bounded ? bounds[0] : 0);
    attrs_float(&attrs, AT_B, bounded ? bounds[1] : bounds[0]);
    attrs_float(&attrs, AT_C, bounds[2]);
    attrs_dtype(&attrs, arg_dtype(a, 3, whole ? DT_I64 : a->it->float_type));
    return out1(a, emit(a->it, a->at, OP_ARANGE, 0, 0, NULL, &attrs, 0));
}

PyVal fn_linspace(Args *a)
{
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, arg_float(a, 0));
    attrs_float(&attrs, AT_B, arg_float(a, 1));
    attrs_int(&attrs, AT_SIZE, arg_int(a, 2));
    attrs_dtype(&attrs, arg_dtype(a, 3, a->it->float_type));
    return out1(a, emit(a->it, a->at, OP_LINSPACE, 0, 0, NULL, &attrs, 0));
}

/* --- random ------------------------------------------------------------------------------- */

static PyVal random_tensor(Args *a, int kind, Shape shape, DType dtype, double p, double q)
{
    return out1(a, emit_random(a->it, a->at, kind, shape, dtype, p, q, 0));
}

PyVal fn_random(Args *a)
{
    return random_tensor(a, a->kind, arg_shape(a, 0), arg_dtype(a, 1, a->it->float_type), 0, 1);
}

PyVal fn_random_like(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    return random_tensor(a, a->kind, tvar_shape(a->it, x), arg_dtype(a, 1, tvar_dtype(a->it, x)), 0,
                         1);
}

/* randint(high, size), randint(low, high, size) */
PyVal fn_randint(Args *a)
{
    double low = arg_float(a, 0), high;
    uint32_t size = 2;
    if (arg_none(a, 1) || (pv_is_seq(a->v[1]) && arg_none(a, 2))) {
        size = arg_none(a, 1) ? 2 : 1;
        high = low;
        low = 0;
    } else {
        high = arg_float(a, 1);
    }
    if (arg_none(a, size))
        arg_fail(a, "argument 'size' is missing");
    if (!(low < high))
        arg_fail(a, "the range %g to %g is empty", low, high);
    return random_tensor(a, RANDOM_integer, arg_shape(a, size), arg_dtype(a, 3, DT_I64), low, high);
}

PyVal fn_randint_like(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    double low = arg_none(a, 2) ? 0 : arg_float(a, 1), high = arg_float(a, arg_none(a, 2) ? 1 : 2);
    if (!(low < high))
        arg_fail(a, "the range %g to %g is empty", low, high);
    return random_tensor(a, RANDOM_integer, tvar_shape(a->it, x),
                         arg_dtype(a, 3, tvar_dtype(a->it, x)), low, high);
}

PyVal fn_randperm(Args *a)
{
    int64_t n = arg_int(a, 0);
    return random_tensor(a, RANDOM_permutation, (Shape){1, {n}}, arg_dtype(a, 1, DT_I64), 0, 0);
}

PyVal fn_normal(Args *a)
{
    if (a->v[0].tag == PV_TENSOR || a->v[1].tag == PV_TENSOR)
        interp_fail(a->it, a->at, "T011",
                    "torch.normal with tensors for mean or std is not supported");
    double mean = arg_float(a, 0), std = arg_float(a, 1);
    return random_tensor(a, RANDOM_normal, arg_shape(a, 2), arg_dtype(a, 3, a->it->float_type),
                         mean, std);
}

/* bernoulli(probabilities): uniform numbers below them. */
PyVal fn_bernoulli(Args *a)
{
    ValueId x = arg_value(a, 0);
    const Value *info = emit_info(a->it, x);
    DType dtype = info->dtype;
    Shape shape = info->shape;
    if (!arg_none(a, 1))
        return random_tensor(a, RANDOM_bernoulli, shape, dtype, arg_float(a, 1), 0);
    ValueId draw = emit_random(a->it, a->at, RANDOM_uniform, shape, dtype, 0, 1, 0);
    return out1(a, emit_cast(a->it, a->at, fn_binary_id(a, BINARY_lt, draw, x), dtype));
}

/* --- writing into a tensor ---------------------------------------------------------------- */

static PyVal refill(Args *a, ValueId id)
{
    TVar *x = arg_tensor(a, 0);
    tvar_write(a->it, a->at, x, id);
    return a->v[0];
}

static PyVal refill_value(Args *a, double value)
{
    TVar *x = arg_tensor(a, 0);
    return refill(a, emit_full(a->it, a->at, tvar_shape(a->it, x), tvar_dtype(a->it, x), value));
}

static PyVal refill_random(Args *a, int kind, double p, double q, double cut)
{
    TVar *x = arg_tensor(a, 0);
    return refill(
        a, emit_random(a->it, a->at, kind, tvar_shape(a->it, x), tvar_dtype(a->it, x), p, q, cut));
}

PyVal fn_fill_(Args *a)
{
    if (a->v[1].tag == PV_TENSOR)
        return tensor_inplace(a->it, a->at, arg_tensor(a, 0), a->v[1]);
    return refill_value(a, arg_float(a, 1));
}

PyVal fn_zero_(Args *a) { return refill_value(a, 0); }
PyVal fn_one_(Args *a) { return refill_value(a, 1); }
PyVal fn_init_uniform(Args *a)
{
    return refill_random(a, RANDOM_uniform, arg_float(a, 1), arg_float(a, 2), 0);
}
PyVal fn_init_normal(Args *a)
{
    return refill_random(a, RANDOM_normal, arg_float(a, 1), arg_float(a, 2), 0);
}

/* The generator cuts symmetrically about the mean: the nearer of the two bounds counts. */
PyVal fn_init_trunc(Args *a)
{
    double mean = arg_float(a, 1), low = mean - arg_float(a, 3), high = arg_float(a, 4) - mean;
    return refill_random(a, RANDOM_trunc_normal, mean, arg_float(a, 2), low < high ? low : high);
}

/* Fan in and fan out of a weight: channels times the window behind them. */
static void fans(Args *a, double *in, double *out)
{
    Shape shape = tvar_shape(a->it, arg_tensor(a, 0));
    if (shape.rank < 2)
        arg_fail(a, "needs a tensor of at least two dims");
    double window = 1;
    for (int i = 2; i < shape.rank; i++)
        window *= (double)shape.dim[i];
    *in = (double)shape.dim[1] * window;
    *out = (double)shape.dim[0] * window;
}

PyVal fn_init_xavier(Args *a)
{
    double in, out;
    fans(a, &in, &out);
    double std = arg_float(a, 1) * sqrt(2 / (in + out));
    if (a->kind == 1)
        return refill_random(a, RANDOM_normal, 0, std, 0);
    return refill_random(a, RANDOM_uniform, -sqrt(3) * std, sqrt(3) * std, 0);
}

static double gain_of(Args *a)
{
    Str name = arg_str(a, 3);
    double slope = arg_float(a, 1);
    if (str_is(name, "relu"))
        return sqrt(2);
    if (str_is(name, "leaky_relu"))
        return sqrt(2 / (1 + slope * slope));
    if (str_is(name, "tanh"))
        return 5.0 / 3;
    return str_is(name, "selu") ? 0.75 : 1;
}

PyVal fn_init_kaiming(Args *a)
{
    double in, out;
    fans(a, &in, &out);
    double std = gain_of(a) / sqrt(str_is(arg_str(a, 2), "fan_out") ? out : in);
    if (a->kind == 1)
        return refill_random(a, RANDOM_normal, 0, std, 0);
    return refill_random(a, RANDOM_uniform, -sqrt(3) * std, sqrt(3) * std, 0);
}

/* nn.Parameter: the same value under a name of its own. */
PyVal fn_parameter(Args *a)
{
    if (arg_none(a, 0))
        interp_fail(a->it, a->at, "T011", "a parameter without data is not supported");
    PyVal made = out1(a, tvar_read(a->it, arg_tensor(a, 0)));
    made.tensor->role = (TRole)a->kind;
    made.tensor->requires_grad = a->kind == ROLE_PARAM && arg_bool(a, 1);
    return made;
}
