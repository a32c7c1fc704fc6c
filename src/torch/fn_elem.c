/* Elementwise functions, casts and copies. */
#include "torch/fn_int.h"

#include <string.h>

ValueId fn_unary_id(Args *a, int kind, ValueId x)
{
    return emit1(a->it, a->at, OP_UNARY, kind, x, NULL);
}

ValueId fn_binary_id(Args *a, int kind, ValueId x, ValueId y)
{
    tensor_check_divisor(a->it, a->at, kind, x, y);
    return emit2(a->it, a->at, OP_BINARY, kind, x, y, NULL);
}

ValueId fn_number(Args *a, double value)
{
    return graph_const_float(a->it->graphs[a->it->graph], value);
}

PyVal fn_unary(Args *a)
{
    TVar *x = a->v[0].tag == PV_TENSOR ? a->v[0].tensor : NULL;
    if (a->kind == UNARY_conj && x && tvar_dtype(a->it, x) != DT_C64)
        return a->v[0];
    return out1(a, fn_unary_id(a, a->kind, arg_value(a, 0)));
}

static PyVal unary_with(Args *a, int kind, const Attrs *attrs)
{
    return out1(a, emit1(a->it, a->at, OP_UNARY, kind, arg_value(a, 0), attrs));
}

PyVal fn_unary_a(Args *a)
{
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, arg_float(a, 1));
    return unary_with(a, a->kind, &attrs);
}

PyVal fn_unary_ab(Args *a)
{
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, arg_float(a, 1));
    attrs_float(&attrs, AT_B, arg_float(a, 2));
    return unary_with(a, a->kind, &attrs);
}

PyVal fn_round(Args *a)
{
    Attrs attrs = {0};
    if (arg_int(a, 1))
        attrs_float(&attrs, AT_A, arg_float(a, 1));
    return unary_with(a, UNARY_round, &attrs);
}

PyVal fn_gelu(Args *a)
{
    Attrs attrs = {0};
    Str how = arg_str(a, 1);
    if (!str_is(how, "none") && !str_is(how, "tanh"))
        arg_fail(a, "approximate '%.*s' is unknown", STR_ARG(how));
    if (str_is(how, "tanh"))
        attrs_text(&attrs, AT_APPROX, how);
    return unary_with(a, UNARY_gelu, &attrs);
}

PyVal fn_nan_to_num(Args *a)
{
    static const AttrKey keys[] = {AT_A, AT_B, AT_C};
    Attrs attrs = {0};
    for (uint32_t i = 0; i < 3; i++) {
        if (!arg_none(a, i + 1))
            attrs_float(&attrs, keys[i], arg_float(a, i + 1));
    }
    return unary_with(a, UNARY_nan_to_num, &attrs);
}

PyVal fn_binary(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    return out1(a, fn_binary_id(a, a->kind, x, y));
}

/* The factor of y: an attribute, or, where it is taken from a tensor (step.item()), a product, so
 * that what was read holds for any value of it. */
static ValueId with_factor(Args *a, uint32_t arg, AttrKey key, ValueId y, Attrs *attrs)
{
    bool tensor = a->v[arg].tag == PV_TENSOR;
    double factor = tensor ? 1 : arg_float(a, arg);
    if (factor != 1 || key != AT_ALPHA)
        attrs_float(attrs, key, factor);
    return tensor ? emit2(a->it, a->at, OP_BINARY, BINARY_mul, y, arg_value(a, arg), NULL) : y;
}

PyVal fn_binary_alpha(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Attrs attrs = {0};
    y = with_factor(a, 2, AT_ALPHA, y, &attrs);
    return out1(a, emit2(a->it, a->at, OP_BINARY, a->kind, x, y, &attrs));
}

PyVal fn_div(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    int kind = BINARY_div;
    if (!arg_none(a, 2))
        kind = str_is(arg_str(a, 2), "floor") ? BINARY_floor_div : BINARY_trunc_div;
    return out1(a, fn_binary_id(a, kind, x, y));
}

PyVal fn_isclose(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Attrs attrs = {0};
    attrs_float(&attrs, AT_A, arg_float(a, 2));
    attrs_float(&attrs, AT_B, arg_float(a, 3));
    return out1(a, emit2(a->it, a->at, OP_BINARY, BINARY_isclose, x, y, &attrs));
}

static PyVal clamp(Args *a, ValueId low, ValueId high)
{
    return out1(a, emit3(a->it, a->at, OP_CLAMP, arg_value(a, 0), low, high, NULL));
}

PyVal fn_clamp(Args *a)
{
    ValueId low = arg_optional(a, 1), high = arg_optional(a, 2);
    if (low == VALUE_NONE && high == VALUE_NONE)
        arg_fail(a, "one of min and max must be given");
    return clamp(a, low, high);
}

PyVal fn_clamp_min(Args *a) { return clamp(a, arg_value(a, 1), VALUE_NONE); }
PyVal fn_clamp_max(Args *a) { return clamp(a, VALUE_NONE, arg_value(a, 1)); }

PyVal fn_relu6(Args *a) { return clamp(a, fn_number(a, 0), fn_number(a, 6)); }

PyVal fn_where(Args *a)
{
    if (arg_none(a, 1) && arg_none(a, 2)) {
        a->v[1] = pv_bool(true);
        return fn_nonzero(a);
    }
    /* as a method: x.where(condition, other) */
    uint32_t cond = 0, x = 1;
    if (a->v[0].tag == PV_TENSOR && tvar_dtype(a->it, a->v[0].tensor) != DT_BOOL &&
        a->v[1].tag == PV_TENSOR && tvar_dtype(a->it, a->v[1].tensor) == DT_BOOL) {
        cond = 1;
        x = 0;
    }
    ValueId c = arg_value(a, cond), p = arg_value(a, x), q = arg_value(a, 2);
    return out1(a, emit3(a->it, a->at, OP_WHERE, c, p, q, NULL));
}

/* The tensor keeps its dtype, whatever the value's. */
PyVal fn_masked_fill(Args *a)
{
    ValueId x = arg_value(a, 0), mask = arg_value(a, 1), value = arg_value(a, 2);
    DType dtype = emit_info(a->it, x)->dtype;
    if (!emit_info(a->it, value)->weak)
        value = emit_cast(a->it, a->at, value, dtype);
    ValueId out = emit3(a->it, a->at, OP_WHERE, mask, value, x, NULL);
    return out1(a, emit_cast(a->it, a->at, out, dtype));
}

PyVal fn_lerp(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1), w = arg_value(a, 2);
    return out1(a, emit3(a->it, a->at, OP_LERP, x, y, w, NULL));
}

PyVal fn_addc(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1), z = arg_value(a, 2);
    Attrs attrs = {0};
    y = with_factor(a, 3, AT_VALUE, y, &attrs);
    return out1(a, emit3(a->it, a->at, (Op)a->kind, x, y, z, &attrs));
}

PyVal fn_prelu(Args *a)
{
    ValueId x = arg_value(a, 0), weight = arg_value(a, 1);
    Shape shape = emit_info(a->it, x)->shape, wide = emit_info(a->it, weight)->shape;
    if (wide.rank == 1 && wide.dim[0] > 1 && shape.rank > 2) {
        Shape column = {.rank = shape.rank - 1, .dim = {wide.dim[0]}};
        for (int i = 1; i < column.rank; i++)
            column.dim[i] = 1;
        weight = emit_reshape(a->it, a->at, weight, column);
    }
    ValueId zero = fn_number(a, 0), negative = fn_binary_id(a, BINARY_mul, weight, x);
    ValueId cond = fn_binary_id(a, BINARY_gt, x, zero);
    return out1(a, emit3(a->it, a->at, OP_WHERE, cond, x, negative, NULL));
}

PyVal fn_glu(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, x);
    int dim = arg_dim(a, 1, shape);
    if (!shape.rank || shape.dim[dim] % 2)
        arg_fail(a, "the halved dim must be even");
    int64_t half = shape.dim[dim] / 2;
    PyVal left = tensor_slice(a->it, a->at, x, dim, 0, half, 1);
    PyVal right = tensor_slice(a->it, a->at, x, dim, half, 2 * half, 1);
    ValueId gate = fn_unary_id(a, UNARY_sigmoid, tvar_read(a->it, right.tensor));
    return out1(a, fn_binary_id(a, BINARY_mul, tvar_read(a->it, left.tensor), gate));
}

/* x / max(norm(x), eps) */
PyVal fn_normalize(Args *a)
{
    ValueId x = arg_value(a, 0);
    int64_t dim = arg_dim(a, 2, emit_info(a->it, x)->shape);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, &dim, 1);
    attrs_bool(&attrs, AT_KEEPDIM, true);
    attrs_float(&attrs, AT_P, arg_float(a, 1));
    ValueId norm = emit1(a->it, a->at, OP_REDUCE, REDUCE_norm, x, &attrs);
    ValueId floor = emit3(a->it, a->at, OP_CLAMP, norm, arg_value(a, 3), VALUE_NONE, NULL);
    return out1(a, fn_binary_id(a, BINARY_div, x, floor));
}

PyVal fn_softmax(Args *a)
{
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape;
    Attrs attrs = {0};
    int legacy = shape.rank == 0 || shape.rank == 1 || shape.rank == 3 ? 0 : 1;
    attrs_int(&attrs, AT_DIM, arg_none(a, 1) ? legacy : arg_dim(a, 1, shape));
    attrs_bool(&attrs, AT_LOG, a->kind == 1);
    if (!arg_none(a, 2))
        attrs_dtype(&attrs, arg_dtype(a, 2, DT_F32));
    if (a->kind == 2)
        x = fn_unary_id(a, UNARY_neg, x);
    return out1(a, emit1(a->it, a->at, OP_SOFTMAX, 0, x, &attrs));
}

PyVal fn_dropout(Args *a)
{
    static const char *const modes[] = {"element", "channel", "alpha"};
    double p = arg_float(a, 1);
    if (p < 0 || p > 1)
        arg_fail(a, "the probability must lie between 0 and 1");
    if (!arg_bool(a, 2) || p == 0)
        return a->v[0];
    Attrs attrs = {0};
    attrs_float(&attrs, AT_P, p);
    attrs_bool(&attrs, AT_TRAINING, true);
    if (a->kind)
        attrs_text(&attrs, AT_MODE, str_from(modes[a->kind]));
    return out1(a, emit1(a->it, a->at, OP_DROPOUT, 0, arg_value(a, 0), &attrs));
}

/* --- casts and copies --------------------------------------------------------------------- */

static PyVal cast_tensor(Args *a, DType dtype)
{
    TVar *x = arg_tensor(a, 0);
    if (tvar_dtype(a->it, x) == dtype)
        return a->v[0];
    return out1(a, emit_cast(a->it, a->at, tvar_read(a->it, x), dtype));
}

PyVal fn_cast(Args *a) { return cast_tensor(a, (DType)a->kind); }

/* .to(dtype), .to(device), .to(device, dtype), .to(other) */
PyVal fn_to(Args *a)
{
    DType dtype = tvar_dtype(a->it, arg_tensor(a, 0));
    PyVal rest = a->v[1];
    for (uint32_t i = 0; i < rest.list->items.len; i++) {
        PyVal v = rest.list->items.at[i];
        if (v.tag == PV_DTYPE)
            dtype = v.dtype;
        else if (v.tag == PV_TENSOR)
            dtype = tvar_dtype(a->it, v.tensor);
        else if (v.tag == PV_NAME)
            arg_no_dtype(a, *v.str);
    }
    return cast_tensor(a, arg_dtype(a, 2, dtype));
}

/* x.type() is a name, x.type(other) a cast. */
PyVal fn_to_type(Args *a)
{
    if (arg_none(a, 1))
        return pv_str(a->it->arena, str_from(fn_tensor_type(tvar_dtype(a->it, arg_tensor(a, 0)))));
    return cast_tensor(a, arg_dtype(a, 1, DT_F32));
}

PyVal fn_type_as(Args *a) { return cast_tensor(a, tvar_dtype(a->it, arg_tensor(a, 1))); }
PyVal fn_clone(Args *a) { return out1(a, tvar_read(a->it, arg_tensor(a, 0))); }

PyVal fn_same(Args *a)
{
    arg_tensor(a, 0);
    return a->v[0];
}

/* x.numpy() and torch.from_numpy(x): the same elements under the other library's type. */
PyVal fn_numpy(Args *a)
{
    TVar *t = arg_tensor(a, 0);
    if (t->array == (a->kind != 0))
        return a->v[0];
    PyVal view = tensor_reshape(a->it, a->at, t, tvar_shape(a->it, t));
    view.tensor->array = a->kind != 0;
    return view;
}

/* abs * (cos(angle) + i sin(angle)) */
PyVal fn_polar(Args *a)
{
    ValueId size = arg_value(a, 0), angle = arg_value(a, 1);
    ValueId real = fn_binary_id(a, BINARY_mul, size, fn_unary_id(a, UNARY_cos, angle));
    ValueId imag = fn_binary_id(a, BINARY_mul, size, fn_unary_id(a, UNARY_sin, angle));
    return out1(a, fn_binary_id(a, BINARY_complex, real, imag));
}

PyVal fn_angle(Args *a)
{
    ValueId x = arg_value(a, 0);
    if (emit_info(a->it, x)->dtype != DT_C64)
        interp_fail(a->it, a->at, "T011", "angle of real numbers is not supported");
    return out1(a, fn_binary_id(a, BINARY_atan2, fn_unary_id(a, UNARY_imag, x),
                                fn_unary_id(a, UNARY_real, x)));
}

PyVal fn_contiguous(Args *a)
{
    TVar *x = arg_tensor(a, 0);
    return x->strided ? out1(a, tvar_read(a->it, x)) : a->v[0];
}

PyVal fn_copy_(Args *a) { return tensor_inplace(a->it, a->at, arg_tensor(a, 0), a->v[1]); }

/* round(x * (1/scale)) + zero point, kept in the range of qint8; only its integers are ever used. A
 * zero point that is no integer is added before rounding. */
PyVal fn_quantize(Args *a)
{
    ValueId x = arg_value(a, 0), scale = arg_value(a, 1), zero = arg_value(a, 2);
    if (a->v[4].tag != PV_NAME || !str_is(*a->v[4].str, "torch.qint8"))
        interp_fail(a->it, a->at, "T011",
                    "quantize_per_channel to other than qint8 is not supported");
    Shape shape = emit_info(a->it, x)->shape, column = {.rank = shape.rank};
    int axis = arg_dim(a, 3, shape);
    for (int i = 0; i < shape.rank; i++)
        column.dim[i] = i == axis ? shape.dim[i] : 1;
    scale = emit_reshape(a->it, a->at, scale, column);
    zero = emit_reshape(a->it, a->at, zero, column);
    bool after = dtype_is_int(emit_info(a->it, zero)->dtype);
    x = fn_binary_id(a, BINARY_mul, x, fn_binary_id(a, BINARY_div, fn_number(a, 1), scale));
    x = after ? fn_unary_id(a, UNARY_round, x) : x;
    x = fn_binary_id(a, BINARY_add, x, zero);
    x = after ? x : fn_unary_id(a, UNARY_round, x);
    x = emit3(a->it, a->at, OP_CLAMP, x, fn_number(a, -128), fn_number(a, 127), NULL);
    return out1(a, emit_cast(a->it, a->at, x, DT_I8));
}

/* --- what a tensor says of itself --------------------------------------------------------- */

PyVal fn_size(Args *a)
{
    TVar *t = arg_tensor(a, 0);
    Shape shape = tvar_shape(a->it, t);
    if (arg_none(a, 1))
        return tensor_sizes(a->it, a->at, t);
    if (!shape.rank)
        arg_fail(a, "a tensor without dims has no size");
    return tensor_sizes(a->it, a->at, t).list->items.at[arg_dim(a, 1, shape)];
}

PyVal fn_dim(Args *a) { return pv_int(tvar_shape(a->it, arg_tensor(a, 0)).rank); }

PyVal fn_numel(Args *a)
{
    PyVal sizes = tensor_sizes(a->it, a->at, arg_tensor(a, 0)), count = pv_int(1);
    for (uint32_t i = 0; i < sizes.list->items.len; i++)
        count = interp_binary(a->it, a->at, PYOP_MUL, count, sizes.list->items.at[i]);
    return count;
}

PyVal fn_item(Args *a) { return tensor_number(a->it, a->at, arg_tensor(a, 0)); }
PyVal fn_tolist(Args *a) { return tensor_to_list(a->it, a->at, arg_tensor(a, 0)); }

PyVal fn_is_floating(Args *a)
{
    DType dtype = tvar_dtype(a->it, arg_tensor(a, 0));
    return pv_bool(a->kind ? dtype == DT_C64 : dtype_is_float(dtype));
}

PyVal fn_is_contiguous(Args *a) { return pv_bool(!arg_tensor(a, 0)->strided); }
PyVal fn_element_size(Args *a)
{
    return pv_int((int64_t)dtype_bytes(tvar_dtype(a->it, arg_tensor(a, 0))));
}

bool tensor_attr(Interp *it, Span at, TVar *t, Str name, PyVal *value)
{
    Args a = {.it = it, .at = at, .name = "tensor", .v = {pv_tensor(t)}};
    if (str_is(name, "shape"))
        *value = tensor_sizes(it, at, t);
    else if (str_is(name, "dtype"))
        *value = pv_dtype(tvar_dtype(it, t));
    else if (str_is(name, "device"))
        *value = pv_opaque(it->arena, "device");
    else if (str_is(name, "ndim"))
        *value = pv_int(tvar_shape(it, t).rank);
    else if (str_is(name, "T"))
        *value = fn_t(&a);
    else if (str_is(name, "mT") || str_is(name, "H"))
        *value = fn_mt(&a);
    else if (str_is(name, "data"))
        *value = pv_tensor(t);
    else if (str_is(name, "grad"))
        *value = pv_none();
    else if (str_is(name, "requires_grad"))
        *value = pv_bool(t->requires_grad);
    else if (str_is(name, "is_cuda") || str_is(name, "is_sparse") || str_is(name, "is_quantized"))
        *value = pv_bool(false);
    else if (str_is(name, "real") || str_is(name, "imag"))
        *value = tensor_of(it,
                           emit1(it, at, OP_UNARY, str_is(name, "real") ? UNARY_real : UNARY_imag,
                                 tvar_read(it, t), NULL));
    else if (t->array && str_is(name, "size"))
        *value = fn_numel(&a);
    else if (t->array && str_is(name, "flat"))
        *value = tensor_reshape(it, at, t, (Shape){.rank = 1, .dim = {-1}});
    else if (str_is(name, "itemsize"))
        *value = pv_int((int64_t)dtype_bytes(tvar_dtype(it, t)));
    else
        return false;
    return true;
}
