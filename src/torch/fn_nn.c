/* Normalisations, attention, resampling, losses and transforms. */
#include "torch/fn_int.h"

#include <math.h>
#include <string.h>

/* --- normalisation ------------------------------------------------------------------------ */

PyVal fn_batch_norm(Args *a)
{
    ValueId in[5];
    for (uint32_t i = 0; i < 5; i++)
        in[i] = arg_optional(a, i);
    Attrs attrs = {0};
    attrs_bool(&attrs, AT_TRAINING, arg_bool(a, 5));
    attrs_float(&attrs, AT_EPS, arg_float(a, 7));
    if (!arg_bool(a, 5) && (in[1] == VALUE_NONE || in[2] == VALUE_NONE))
        arg_fail(a, "running statistics are needed outside training");
    if (arg_bool(a, 5)) {
        int64_t count, channels;
        Shape shape = emit_info(a->it, in[0])->shape;
        channels = shape.rank > 1 ? shape.dim[1] : 0;
        if (shape.rank < 2)
            arg_fail(a, "needs at least two dims");
        if (shape_count(shape, &count) && channels > 0 && count / channels == 1)
            arg_fail(a, "more than one value per channel is needed in training");
        in[1] = in[2] = VALUE_NONE;
    }
    return out1(a, emit(a->it, a->at, OP_BATCH_NORM, 0, 5, in, &attrs, 0));
}

static ValueId layer_norm(Args *a, uint32_t eps, uint32_t outputs)
{
    ValueId in[] = {arg_value(a, 0), arg_optional(a, 2), arg_optional(a, 3)};
    Shape shape = arg_shape(a, 1);
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_float(&attrs, AT_EPS, arg_float(a, eps));
    return emit(a->it, a->at, OP_LAYER_NORM, 0, 3, in, &attrs, outputs);
}

PyVal fn_layer_norm(Args *a) { return out1(a, layer_norm(a, 4, 1)); }
PyVal fn_native_layer_norm(Args *a) { return out_tuple(a, layer_norm(a, 4, 3), 3); }

static ValueId group_norm(Args *a, uint32_t weight, uint32_t groups, uint32_t eps, uint32_t outputs)
{
    ValueId in[] = {arg_value(a, 0), arg_optional(a, weight), arg_optional(a, weight + 1)};
    Attrs attrs = {0};
    attrs_int(&attrs, AT_GROUPS, arg_int(a, groups));
    attrs_float(&attrs, AT_EPS, arg_float(a, eps));
    return emit(a->it, a->at, OP_GROUP_NORM, 0, 3, in, &attrs, outputs);
}

PyVal fn_group_norm(Args *a) { return out1(a, group_norm(a, 2, 1, 4, 1)); }
PyVal fn_native_group_norm(Args *a) { return out_tuple(a, group_norm(a, 1, 6, 7, 3), 3); }

PyVal fn_instance_norm(Args *a)
{
    ValueId x = arg_value(a, 0), weight = arg_optional(a, 3), bias = arg_optional(a, 4);
    if (!arg_bool(a, 5))
        interp_fail(a->it, a->at, "T011", "instance_norm with running statistics is not supported");
    Attrs attrs = {0};
    attrs_float(&attrs, AT_EPS, arg_float(a, 7));
    return out1(a, emit3(a->it, a->at, OP_INSTANCE_NORM, x, weight, bias, &attrs));
}

PyVal fn_rms_norm(Args *a)
{
    static const double machine[] = {
        [DT_F32] = 0x1p-23, [DT_F16] = 0x1p-10, [DT_BF16] = 0x1p-7, [DT_F64] = 0x1p-52};
    ValueId x = arg_value(a, 0), weight = arg_optional(a, 2);
    DType dtype = emit_info(a->it, x)->dtype;
    if (!dtype_is_float(dtype))
        arg_fail(a, "needs a floating dtype");
    Shape shape = arg_shape(a, 1);
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_float(&attrs, AT_EPS, arg_none(a, 3) ? machine[dtype] : arg_float(a, 3));
    return out1(a, emit2(a->it, a->at, OP_RMS_NORM, 0, x, weight, &attrs));
}

PyVal fn_lrn(Args *a)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, arg_int(a, 1));
    attrs_float(&attrs, AT_A, arg_float(a, 2));
    attrs_float(&attrs, AT_B, arg_float(a, 3));
    attrs_float(&attrs, AT_C, arg_float(a, 4));
    return out1(a, emit1(a->it, a->at, OP_LRN, 0, arg_value(a, 0), &attrs));
}

/* --- attention ---------------------------------------------------------------------------- */

PyVal fn_sdpa(Args *a)
{
    ValueId in[] = {arg_value(a, 0), arg_value(a, 1), arg_value(a, 2), arg_optional(a, 3)};
    Attrs attrs = {0};
    attrs_bool(&attrs, AT_CAUSAL, arg_bool(a, 5));
    if (!arg_none(a, 6))
        attrs_float(&attrs, AT_SCALE, arg_float(a, 6));
    attrs_bool(&attrs, AT_GQA, arg_bool(a, 7));
    if (arg_float(a, 4) != 0)
        attrs_float(&attrs, AT_P, arg_float(a, 4));
    return out1(a, emit(a->it, a->at, OP_SDPA, 0, 4, in, &attrs, 0));
}

/* --- resampling --------------------------------------------------------------------------- */

static void scaled_size(Args *a, Shape x, uint32_t n, int64_t *size, double *factors)
{
    PyVal factor = a->v[2];
    if (pv_is_seq(factor) && factor.list->items.len != n)
        arg_fail(a, "the scale factor needs %u numbers", n);
    for (uint32_t i = 0; i < n; i++) {
        factors[i] = need_double(
            a->it, a->at, pv_is_seq(factor) ? factor.list->items.at[i] : factor, "a scale factor");
        double scaled = floor((double)x.dim[2 + i] * factors[i]);
        if (!(scaled >= 0 && scaled < 0x1p40))
            arg_fail(a, "scale factor %g is out of range", factors[i]);
        size[i] = (int64_t)scaled;
    }
}

/* input size scale_factor mode align_corners recompute_scale_factor antialias */
PyVal fn_interpolate(Args *a)
{
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape;
    int64_t size[GRAPH_MAX_RANK];
    double factors[GRAPH_MAX_RANK];
    if (shape.rank < 3 || shape.rank > 5 || arg_none(a, 1) == arg_none(a, 2))
        arg_fail(a, "needs 3 to 5 dims, and one of size and scale_factor");
    uint32_t n = (uint32_t)shape.rank - 2;
    bool by_factor = arg_none(a, 1);
    if (by_factor)
        scaled_size(a, shape, n, size, factors);
    else
        arg_ntuple(a, 1, n, size);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_SHAPE, size, n);
    attrs_text(&attrs, AT_MODE, arg_str(a, 3));
    attrs_bool(&attrs, AT_ALIGN, !arg_none(a, 4) && arg_bool(a, 4));
    bool full = a->name[0] == 'i';
    attrs_bool(&attrs, AT_ANTIALIAS, full && arg_bool(a, 6));
    if (by_factor && !(full && !arg_none(a, 5) && arg_bool(a, 5))) {
        Buf buf = {0};
        for (uint32_t i = 0; i < n; i++) {
            buf_puts(&buf, i ? "," : "");
            buf_double(&buf, factors[i]);
        }
        attrs_text(&attrs, AT_SCALES, str_from(buf_take(&buf, a->it->arena)));
        buf_free(&buf);
    }
    return out1(a, emit1(a->it, a->at, OP_INTERPOLATE, 0, x, &attrs));
}

PyVal fn_grid_sample(Args *a)
{
    ValueId x = arg_value(a, 0), grid = arg_value(a, 1);
    Attrs attrs = {0};
    attrs_text(&attrs, AT_MODE, arg_str(a, 2));
    attrs_text(&attrs, AT_PAD_MODE, arg_str(a, 3));
    attrs_bool(&attrs, AT_ALIGN, !arg_none(a, 4) && arg_bool(a, 4));
    return out1(a, emit2(a->it, a->at, OP_GRID_SAMPLE, 0, x, grid, &attrs));
}

PyVal fn_affine_grid(Args *a)
{
    Shape shape = arg_shape(a, 1);
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_bool(&attrs, AT_ALIGN, !arg_none(a, 2) && arg_bool(a, 2));
    return out1(a, emit1(a->it, a->at, OP_AFFINE_GRID, 0, arg_value(a, 0), &attrs));
}

/* --- losses ------------------------------------------------------------------------------- */

/* The old size_average and reduce flags still decide where they are given. */
static Str reduction(Args *a, uint32_t average, uint32_t reduce, uint32_t name)
{
    if (arg_none(a, average) && arg_none(a, reduce))
        return arg_str(a, name);
    if (!arg_none(a, reduce) && !arg_bool(a, reduce))
        return STR("none");
    return arg_none(a, average) || arg_bool(a, average) ? STR("mean") : STR("sum");
}

static PyVal loss(Args *a, int kind, ValueId weight, Attrs *attrs)
{
    ValueId in[] = {arg_value(a, 0), arg_value(a, 1), weight};
    return out1(a, emit(a->it, a->at, OP_LOSS, kind, 3, in, attrs, 0));
}

PyVal fn_loss(Args *a)
{
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 2, 3, 4));
    return loss(a, a->kind, VALUE_NONE, &attrs);
}

PyVal fn_loss_a(Args *a)
{
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 2, 3, 4));
    attrs_float(&attrs, AT_A, arg_float(a, 5));
    return loss(a, a->kind, VALUE_NONE, &attrs);
}

PyVal fn_kl_div(Args *a)
{
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 2, 3, 4));
    attrs_bool(&attrs, AT_LOG_TARGET, arg_bool(a, 5));
    return loss(a, LOSS_kl_div, VALUE_NONE, &attrs);
}

PyVal fn_bce(Args *a)
{
    if (a->kind == LOSS_bce_logits && !arg_none(a, 6)) {
        a->kind = DEFINED_bce_positive;
        return fn_defined(a);
    }
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 3, 4, 5));
    return loss(a, a->kind, arg_optional(a, 2), &attrs);
}

PyVal fn_hinge(Args *a)
{
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 3, 4, 5));
    attrs_float(&attrs, AT_MARGIN, arg_float(a, 2));
    return loss(a, LOSS_hinge_embedding, VALUE_NONE, &attrs);
}

PyVal fn_poisson(Args *a)
{
    if (arg_bool(a, 3)) {
        a->kind = DEFINED_poisson_full;
        return fn_defined(a);
    }
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 4, 6, 7));
    attrs_bool(&attrs, AT_LOG, arg_bool(a, 2));
    attrs_float(&attrs, AT_EPS, arg_float(a, 5));
    return loss(a, LOSS_poisson_nll, VALUE_NONE, &attrs);
}

static PyVal reduced(Args *a, ValueId each, Str how)
{
    if (str_is(how, "none"))
        return out1(a, each);
    return out1(
        a, fn_reduce_id(a, str_is(how, "sum") ? REDUCE_sum : REDUCE_mean, each, NULL, 0, false));
}

/* max(0, -y*(x1-x2) + margin) */
PyVal fn_margin_ranking(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1), target = arg_value(a, 2);
    ValueId difference = fn_binary_id(a, BINARY_sub, x, y);
    ValueId wrong = fn_binary_id(a, BINARY_mul, fn_unary_id(a, UNARY_neg, target), difference);
    ValueId each = fn_binary_id(a, BINARY_add, wrong, arg_value(a, 3));
    each = emit3(a->it, a->at, OP_CLAMP, each, fn_number(a, 0), VALUE_NONE, NULL);
    return reduced(a, each, reduction(a, 4, 5, 6));
}

/* y == 1: 1 - cos; y == -1: max(0, cos - margin) */
PyVal fn_cosine_embedding(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1), target = arg_value(a, 2);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, emit_info(a->it, x)->shape.rank > 1 ? 1 : 0);
    attrs_float(&attrs, AT_EPS, 1e-8);
    ValueId cosine = emit2(a->it, a->at, OP_COSINE_SIMILARITY, 0, x, y, &attrs);
    ValueId near = fn_binary_id(a, BINARY_sub, fn_number(a, 1), cosine);
    ValueId far = fn_binary_id(a, BINARY_sub, cosine, arg_value(a, 3));
    far = emit3(a->it, a->at, OP_CLAMP, far, fn_number(a, 0), VALUE_NONE, NULL);
    ValueId positive = fn_binary_id(a, BINARY_eq, target, fn_number(a, 1));
    return reduced(a, emit3(a->it, a->at, OP_WHERE, positive, near, far, NULL),
                   reduction(a, 4, 5, 6));
}

/* input target weight size_average ignore_index reduce reduction [label_smoothing] */
static PyVal class_loss(Args *a, Op op, double smoothing)
{
    ValueId in[] = {arg_value(a, 0), arg_value(a, 1), arg_optional(a, 2)};
    Attrs attrs = {0};
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 3, 5, 6));
    attrs_int(&attrs, AT_IGNORE, arg_int(a, 4));
    if (smoothing != 0)
        attrs_float(&attrs, AT_SMOOTHING, smoothing);
    return out1(a, emit(a->it, a->at, op, 0, 3, in, &attrs, 0));
}

PyVal fn_nll(Args *a) { return class_loss(a, OP_NLL_LOSS, 0); }
PyVal fn_cross_entropy(Args *a) { return class_loss(a, OP_CROSS_ENTROPY, arg_float(a, 7)); }

PyVal fn_triplet(Args *a)
{
    ValueId in[] = {arg_value(a, 0), arg_value(a, 1), arg_value(a, 2)};
    Attrs attrs = {0};
    attrs_float(&attrs, AT_MARGIN, arg_float(a, 3));
    attrs_float(&attrs, AT_P, arg_float(a, 4));
    attrs_float(&attrs, AT_EPS, arg_float(a, 5));
    attrs_bool(&attrs, AT_SWAP, arg_bool(a, 6));
    attrs_text(&attrs, AT_REDUCTION, reduction(a, 7, 8, 9));
    return out1(a, emit(a->it, a->at, OP_TRIPLET_LOSS, 0, 3, in, &attrs, 0));
}

PyVal fn_cosine(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Shape both;
    if (!shape_broadcast(emit_info(a->it, x)->shape, emit_info(a->it, y)->shape, &both))
        arg_fail(a, "the shapes do not broadcast");
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, 2, both));
    attrs_float(&attrs, AT_EPS, arg_float(a, 3));
    return out1(a, emit2(a->it, a->at, OP_COSINE_SIMILARITY, 0, x, y, &attrs));
}

PyVal fn_pairwise(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Attrs attrs = {0};
    attrs_float(&attrs, AT_P, arg_float(a, 2));
    attrs_float(&attrs, AT_EPS, arg_float(a, 3));
    attrs_bool(&attrs, AT_KEEPDIM, arg_bool(a, 4));
    attrs_int(&attrs, AT_DIM, -1);
    return out1(a, emit2(a->it, a->at, OP_PAIRWISE_DISTANCE, 0, x, y, &attrs));
}

/* --- transforms --------------------------------------------------------------------------- */

PyVal fn_fft(Args *a)
{
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape;
    int dim = arg_dim(a, 2, shape);
    int64_t length = shape.rank ? shape.dim[dim] : 0;
    if (a->kind == FFT_irfft)
        length = 2 * (length - 1);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_SIZE, arg_none(a, 1) ? length : arg_int(a, 1));
    attrs_int(&attrs, AT_DIM, dim);
    attrs_text(&attrs, AT_MODE, arg_none(a, 3) ? STR("backward") : arg_str(a, 3));
    return out1(a, emit1(a->it, a->at, OP_FFT, a->kind, x, &attrs));
}
