/* Library modules with parameters: linear, convolution, normalisation, embedding; and the
 * few without that are no plain function call. */
#include "torch/nn_int.h"

#include <math.h>
#include <string.h>

static Shape vector(int64_t size) { return (Shape){1, {size}}; }

static int64_t positive(Args *a, const char *name)
{
    int64_t value = self_int(a, name);
    if (value < 0)
        arg_fail(a, "%s is negative", name);
    return value;
}

static void optional_bias(Args *a, int64_t size, double bound)
{
    if (self_bool(a, "bias"))
        self_param_uniform(a, "bias", vector(size), bound);
    else
        self_set(a, "bias", pv_none());
}

static double inverse_root(double fan) { return fan > 0 ? 1 / sqrt(fan) : 0; }

void make_linear(Args *a)
{
    int64_t in = positive(a, "in_features"), out = positive(a, "out_features");
    double bound = inverse_root((double)in);
    self_param_uniform(a, "weight", (Shape){2, {out, in}}, bound);
    optional_bias(a, out, bound);
}

void make_bilinear(Args *a)
{
    int64_t left = positive(a, "in1_features"), right = positive(a, "in2_features");
    int64_t out = positive(a, "out_features");
    double bound = inverse_root((double)left);
    self_param_uniform(a, "weight", (Shape){3, {out, left, right}}, bound);
    optional_bias(a, out, bound);
}

PyVal nn_bilinear(Args *a, const CallArgs *call)
{
    if (call->n != 2)
        arg_fail(a, "two inputs are expected");
    PyVal in[] = {pv_str(a->it->arena, STR("...i,oij,...j->...o")), call->v[0],
                  self_get(a, "weight"), call->v[1]};
    PyVal product = fn_apply(a->it, a->at, "torch.einsum", 4, in);
    PyVal bias = self_get(a, "bias");
    return pv_is_none(bias) ? product : interp_binary(a->it, a->at, PYOP_ADD, product, bias);
}

static void set_role(PyVal tensor, TRole role)
{
    tensor.tensor->role = role;
    tensor.tensor->requires_grad = role == ROLE_PARAM;
}

void make_embedding(Args *a)
{
    Shape shape = {2, {positive(a, "num_embeddings"), positive(a, "embedding_dim")}};
    PyVal weight = tensor_of(
        a->it, emit_random(a->it, a->at, RANDOM_normal, shape, a->it->float_type, 0, 1, 0));
    set_role(weight, ROLE_PARAM);
    self_set(a, "weight", weight);
    PyVal padding = self_get(a, "padding_idx");
    if (pv_is_none(padding))
        return;
    PyVal row = interp_index(a->it, a->at, weight, padding);
    tensor_inplace(a->it, a->at, row.tensor, pv_int(0));
}

/* --- convolution -------------------------------------------------------------------------- */

/* An attribute that is one int or n of them; written back as a tuple of n. */
static void ntuple_attr(Args *a, const char *name, uint32_t n, int64_t out[GRAPH_MAX_RANK])
{
    Args b = {.it = a->it, .at = a->at, .name = a->name, .v = {self_get(a, name)}};
    arg_ntuple(&b, 0, n, out);
    PyVal tuple = pv_list(a->it->arena, PV_TUPLE);
    for (uint32_t i = 0; i < n; i++)
        pv_push(a->it->arena, tuple, pv_int(out[i]));
    self_set(a, name, tuple);
}

static void conv_weight(Args *a, int64_t first, int64_t second, int64_t out)
{
    uint32_t n = (uint32_t)a->kind;
    int64_t kernel[GRAPH_MAX_RANK];
    ntuple_attr(a, "kernel_size", n, kernel);
    Shape shape = {(int)n + 2, {first, second}};
    double fan = (double)second;
    for (uint32_t i = 0; i < n; i++) {
        shape.dim[2 + i] = kernel[i];
        fan *= (double)kernel[i];
    }
    self_param_uniform(a, "weight", shape, inverse_root(fan));
    optional_bias(a, out, inverse_root(fan));
}

static void check_groups(Args *a, int64_t in, int64_t out, int64_t groups)
{
    if (groups < 1 || in % groups || out % groups)
        arg_fail(a, "%lld groups do not divide %lld and %lld channels", (long long)groups,
                 (long long)in, (long long)out);
}

void make_conv(Args *a)
{
    int64_t in = positive(a, "in_channels"), out = positive(a, "out_channels"),
            groups = self_int(a, "groups");
    check_groups(a, in, out, groups);
    conv_weight(a, out, in / groups, out);
}

void make_conv_transpose(Args *a)
{
    int64_t in = positive(a, "in_channels"), out = positive(a, "out_channels"),
            groups = self_int(a, "groups");
    check_groups(a, in, out, groups);
    conv_weight(a, in, out / groups, out);
}

/* padding_mode other than zeros: the input is padded first. */
static PyVal pad_first(Args *a, PyVal x, Str mode, uint32_t n)
{
    int64_t padding[GRAPH_MAX_RANK];
    ntuple_attr(a, "padding", n, padding);
    PyVal pads = pv_list(a->it->arena, PV_TUPLE);
    for (uint32_t i = n; i-- > 0;) {
        pv_push(a->it->arena, pads, pv_int(padding[i]));
        pv_push(a->it->arena, pads, pv_int(padding[i]));
    }
    PyVal in[] = {x, pads, pv_str(a->it->arena, mode)};
    return fn_apply(a->it, a->at, "torch.nn.functional.pad", 3, in);
}

PyVal nn_conv(Args *a, const CallArgs *call)
{
    uint32_t n = (uint32_t)a->kind;
    const char *path = str_format(a->it->arena, "torch.nn.functional.conv%ud", n);
    Str mode = need_str(a->it, a->at, self_get(a, "padding_mode"), "padding_mode");
    if (str_is(mode, "zeros") || !call->n)
        return nn_by_function(a, path, call);
    PyVal in[] = {pad_first(a, call->v[0], mode, n),
                  self_get(a, "weight"),
                  self_get(a, "bias"),
                  self_get(a, "stride"),
                  pv_int(0),
                  self_get(a, "dilation"),
                  self_get(a, "groups")};
    return fn_apply(a->it, a->at, path, 7, in);
}

/* --- normalisation ------------------------------------------------------------------------ */

static void affine(Args *a, const char *flag, Shape shape, bool with_bias)
{
    if (!self_bool(a, flag)) {
        self_set(a, "weight", pv_none());
        self_set(a, "bias", pv_none());
        return;
    }
    self_param_full(a, "weight", shape, 1);
    if (with_bias)
        self_param_full(a, "bias", shape, 0);
    else
        self_set(a, "bias", pv_none());
}

void make_batch_norm(Args *a)
{
    Shape shape = vector(positive(a, "num_features"));
    affine(a, "affine", shape, true);
    if (self_bool(a, "track_running_stats")) {
        self_buffer_full(a, "running_mean", shape, a->it->float_type, 0);
        self_buffer_full(a, "running_var", shape, a->it->float_type, 1);
    }
}

/* The dims an input may have: [N,C] too for the one-dimensional kind. */
PyVal nn_batch_norm(Args *a, const CallArgs *call)
{
    if (!call->n || call->v[0].tag != PV_TENSOR)
        arg_fail(a, "a tensor is expected");
    int rank = tvar_shape(a->it, call->v[0].tensor).rank;
    if (rank != a->kind + 2 && !(a->kind == 1 && rank == 2))
        arg_fail(a, "an input of %d dims is not expected", rank);
    Shape shape = tvar_shape(a->it, call->v[0].tensor);
    if (shape.dim[1] != self_int(a, "num_features"))
        arg_fail(a, "the input has %lld channels, the module %lld", (long long)shape.dim[1],
                 (long long)self_int(a, "num_features"));
    bool tracked = self_get(a, "running_mean").tag == PV_TENSOR;
    PyVal training = self_get(a, "training");
    bool by_batch = !tracked || training.tag != PV_BOOL || training.b;
    PyVal in[] = {call->v[0],
                  self_get(a, "running_mean"),
                  self_get(a, "running_var"),
                  self_get(a, "weight"),
                  self_get(a, "bias"),
                  pv_bool(by_batch),
                  pv_float(0.1),
                  self_get(a, "eps")};
    return fn_apply(a->it, a->at, "torch.nn.functional.batch_norm", 8, in);
}

void make_instance_norm(Args *a) { affine(a, "affine", vector(positive(a, "num_features")), true); }

PyVal nn_instance_norm(Args *a, const CallArgs *call)
{
    if (!call->n || call->v[0].tag != PV_TENSOR)
        arg_fail(a, "a tensor is expected");
    TVar *x = call->v[0].tensor;
    Shape shape = tvar_shape(a->it, x);
    if (shape.rank == a->kind + 1 && shape.rank < GRAPH_MAX_RANK) {
        /* no batch dim: add one and take it off again */
        PyVal one = fn_apply(a->it, a->at, "torch.unsqueeze", 2, (PyVal[]){call->v[0], pv_int(0)});
        CallArgs inner = {.n = 1, .v = &one};
        PyVal out = nn_by_function(a, "torch.nn.functional.instance_norm", &inner);
        return fn_apply(a->it, a->at, "torch.squeeze", 2, (PyVal[]){out, pv_int(0)});
    }
    if (shape.rank != a->kind + 2)
        arg_fail(a, "an input of %d dims is not expected", shape.rank);
    return nn_by_function(a, "torch.nn.functional.instance_norm", call);
}

void make_group_norm(Args *a)
{
    int64_t channels = positive(a, "num_channels"), groups = self_int(a, "num_groups");
    if (groups < 1 || channels % groups)
        arg_fail(a, "%lld groups do not divide %lld channels", (long long)groups,
                 (long long)channels);
    affine(a, "affine", vector(channels), true);
}

void make_layer_norm(Args *a)
{
    Args b = {.it = a->it, .at = a->at, .name = a->name, .v = {self_get(a, "normalized_shape")}};
    Shape shape = arg_shape(&b, 0);
    bool bias = a->kind == 0 && self_bool(a, "bias");
    affine(a, "elementwise_affine", shape, bias);
}

void make_prelu(Args *a)
{
    self_param_full(a, "weight", vector(positive(a, "num_parameters")), self_float(a, "init"));
}

/* --- others ------------------------------------------------------------------------------- */

PyVal nn_unflatten(Args *a, const CallArgs *call)
{
    if (!call->n)
        arg_fail(a, "an input is missing");
    PyVal in[] = {call->v[0], self_get(a, "dim"), self_get(a, "unflattened_size")};
    return fn_apply(a->it, a->at, "torch.unflatten", 3, in);
}

PyVal nn_pad(Args *a, const CallArgs *call)
{
    if (!call->n)
        arg_fail(a, "an input is missing");
    uint32_t sides = 2 * (uint32_t)a->kind;
    int64_t pads[GRAPH_MAX_RANK];
    ntuple_attr(a, "padding", sides, pads);
    const char *mode = a->self->nn->function ? a->self->nn->function : "constant";
    PyVal value = self_get(a, "value");
    PyVal in[] = {call->v[0], self_get(a, "padding"), pv_str(a->it->arena, str_from(mode)), value};
    return fn_apply(a->it, a->at, "torch.nn.functional.pad", 4, in);
}
