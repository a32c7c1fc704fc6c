/* Library modules over sequences: recurrent networks, attention, the transformer encoder. */
#include "torch/nn_int.h"

#include <math.h>
#include <string.h>

/* --- recurrent ---------------------------------------------------------------------------- */

static int64_t gates_of(int kind) { return kind == RNN_lstm ? 4 : kind == RNN_gru ? 3 : 1; }

typedef struct RnnSizes {
    int64_t input, hidden, layers, ways, project;
    bool bias;
} RnnSizes;

static RnnSizes rnn_sizes(Args *a)
{
    RnnSizes s = {.input = self_int(a, "input_size"),
                  .hidden = self_int(a, "hidden_size"),
                  .layers = self_int(a, "num_layers"),
                  .ways = self_bool(a, "bidirectional") ? 2 : 1,
                  .bias = self_bool(a, "bias")};
    if (a->kind == RNN_lstm)
        s.project = self_int(a, "proj_size");
    if (s.input < 1 || s.hidden < 1 || s.hidden > INT32_MAX || s.layers < 1 || s.layers > 1000)
        arg_fail(a, "the sizes are out of range");
    if (s.project < 0 || s.project >= s.hidden)
        arg_fail(a, "proj_size must be smaller than hidden_size");
    return s;
}

static const char *weight_name(Args *a, const char *what, int64_t layer, bool back)
{
    return str_format(a->it->arena, "%s_l%lld%s", what, (long long)layer, back ? "_reverse" : "");
}

void make_rnn(Args *a)
{
    RnnSizes s = rnn_sizes(a);
    int64_t rows = gates_of(a->kind) * s.hidden, state = s.project ? s.project : s.hidden;
    double bound = 1 / sqrt((double)s.hidden);
    for (int64_t layer = 0; layer < s.layers; layer++) {
        for (int64_t way = 0; way < s.ways; way++) {
            int64_t in = layer ? state * s.ways : s.input;
            self_param_uniform(a, weight_name(a, "weight_ih", layer, way), (Shape){2, {rows, in}},
                               bound);
            self_param_uniform(a, weight_name(a, "weight_hh", layer, way),
                               (Shape){2, {rows, state}}, bound);
            if (s.bias) {
                self_param_uniform(a, weight_name(a, "bias_ih", layer, way), (Shape){1, {rows}},
                                   bound);
                self_param_uniform(a, weight_name(a, "bias_hh", layer, way), (Shape){1, {rows}},
                                   bound);
            }
            if (s.project)
                self_param_uniform(a, weight_name(a, "weight_hr", layer, way),
                                   (Shape){2, {s.project, s.hidden}}, bound);
        }
    }
}

static uint32_t rnn_weights(Args *a, const RnnSizes *s, ValueId *in)
{
    static const char *const names[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh",
                                        "weight_hr"};
    uint32_t n = 0;
    for (int64_t layer = 0; layer < s->layers; layer++) {
        for (int64_t way = 0; way < s->ways; way++) {
            for (int k = 0; k < 5; k++) {
                if ((k == 2 || k == 3) ? !s->bias : k == 4 ? !s->project : false)
                    continue;
                in[n++] = self_value(a, weight_name(a, names[k], layer, way));
            }
        }
    }
    return n;
}

/* forward(input, state): state is h, or (h, c) for an LSTM. */
PyVal nn_rnn(Args *a, const CallArgs *call)
{
    Args b = *a;
    args_bind(&b, "input hx=None", call);
    RnnSizes s = rnn_sizes(a);
    int kind = a->kind;
    if (kind == RNN_tanh &&
        str_is(need_str(a->it, a->at, self_get(a, "nonlinearity"), "nonlinearity"), "relu"))
        kind = RNN_relu;
    ValueId *in = arena_array(a->it->arena, ValueId, 3 + (size_t)(s.layers * s.ways) * 5);
    in[0] = arg_value(&b, 0);
    in[1] = in[2] = VALUE_NONE;
    if (kind == RNN_lstm && pv_is_seq(b.v[1])) {
        if (b.v[1].list->items.len != 2)
            arg_fail(a, "the state must be a pair");
        in[1] = value_of(a->it, a->at, b.v[1].list->items.at[0]);
        in[2] = value_of(a->it, a->at, b.v[1].list->items.at[1]);
    } else if (!pv_is_none(b.v[1])) {
        in[1] = arg_value(&b, 1);
    }
    uint32_t n = 3 + rnn_weights(a, &s, in + 3);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_HIDDEN, s.hidden);
    attrs_int(&attrs, AT_LAYERS, s.layers);
    attrs_bool(&attrs, AT_BIAS, s.bias);
    attrs_bool(&attrs, AT_BATCH_FIRST, self_bool(a, "batch_first"));
    attrs_bool(&attrs, AT_BIDIRECTIONAL, s.ways == 2);
    if (s.project)
        attrs_int(&attrs, AT_SIZE, s.project);
    if (self_float(a, "dropout") != 0 && s.layers > 1)
        attrs_float(&attrs, AT_P, self_float(a, "dropout"));
    ValueId out = emit(a->it, a->at, OP_RNN, kind, n, in, &attrs, kind == RNN_lstm ? 3 : 2);
    PyVal pair[2] = {tensor_of(a->it, out), tensor_of(a->it, out + 1)};
    if (kind == RNN_lstm)
        pair[1] = pv_tuple_of(a->it->arena, 2, (PyVal[]){pair[1], tensor_of(a->it, out + 2)});
    return pv_tuple_of(a->it->arena, 2, pair);
}

void make_cell(Args *a)
{
    int64_t in = self_int(a, "input_size"), hidden = self_int(a, "hidden_size");
    if (in < 1 || hidden < 1 || hidden > INT32_MAX)
        arg_fail(a, "the sizes are out of range");
    int64_t rows = gates_of(a->kind) * hidden;
    double bound = 1 / sqrt((double)hidden);
    self_param_uniform(a, "weight_ih", (Shape){2, {rows, in}}, bound);
    self_param_uniform(a, "weight_hh", (Shape){2, {rows, hidden}}, bound);
    if (self_bool(a, "bias")) {
        self_param_uniform(a, "bias_ih", (Shape){1, {rows}}, bound);
        self_param_uniform(a, "bias_hh", (Shape){1, {rows}}, bound);
    }
}

/* A cell is one step of the sequence operator: [N,I] becomes [1,N,I]. */
PyVal nn_cell(Args *a, const CallArgs *call)
{
    Args b = *a;
    args_bind(&b, "input hx=None", call);
    int kind = a->kind;
    if (kind == RNN_tanh &&
        str_is(need_str(a->it, a->at, self_get(a, "nonlinearity"), "nonlinearity"), "relu"))
        kind = RNN_relu;
    PyVal zero = pv_int(0), state[2] = {pv_none(), pv_none()};
    if (kind == RNN_lstm && pv_is_seq(b.v[1]) && b.v[1].list->items.len == 2)
        memcpy(state, b.v[1].list->items.at, sizeof state);
    else
        state[0] = b.v[1];
    ValueId in[7] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    PyVal lead[] = {b.v[0], state[0], state[1]};
    if (b.v[0].tag != PV_TENSOR || tvar_shape(a->it, b.v[0].tensor).rank != 2)
        arg_fail(a, "an input [N, features] is expected");
    for (uint32_t i = 0; i < 3; i++) {
        if (!pv_is_none(lead[i]))
            in[i] = tvar_read(
                a->it,
                fn_apply(a->it, a->at, "torch.unsqueeze", 2, (PyVal[]){lead[i], zero}).tensor);
    }
    uint32_t n = 3;
    in[n++] = self_value(a, "weight_ih");
    in[n++] = self_value(a, "weight_hh");
    bool bias = self_bool(a, "bias");
    if (bias) {
        in[n++] = self_value(a, "bias_ih");
        in[n++] = self_value(a, "bias_hh");
    }
    Attrs attrs = {0};
    attrs_int(&attrs, AT_HIDDEN, self_int(a, "hidden_size"));
    attrs_int(&attrs, AT_LAYERS, 1);
    attrs_bool(&attrs, AT_BIAS, bias);
    ValueId out = emit(a->it, a->at, OP_RNN, kind, n, in, &attrs, kind == RNN_lstm ? 3 : 2);
    PyVal pair[2];
    for (uint32_t i = 0; i < 2; i++) {
        ValueId id = out + 1 + (kind == RNN_lstm ? i : 0);
        pair[i] = fn_apply(a->it, a->at, "torch.squeeze", 2, (PyVal[]){tensor_of(a->it, id), zero});
    }
    return kind == RNN_lstm ? pv_tuple_of(a->it->arena, 2, pair) : pair[0];
}

/* --- attention ---------------------------------------------------------------------------- */

void make_mha(Args *a)
{
    int64_t width = self_int(a, "embed_dim");
    int64_t kdim = pv_is_none(self_get(a, "kdim")) ? width : self_int(a, "kdim");
    int64_t vdim = pv_is_none(self_get(a, "vdim")) ? width : self_int(a, "vdim");
    if (width < 1 || width > INT32_MAX || self_int(a, "num_heads") < 1 ||
        width % self_int(a, "num_heads"))
        arg_fail(a, "the heads do not divide the width");
    if (self_bool(a, "add_bias_kv") || self_bool(a, "add_zero_attn"))
        interp_fail(a->it, a->at, "T011",
                    "MultiheadAttention with add_bias_kv or add_zero_attn is not supported");
    if (kdim == width && vdim == width) {
        self_param_uniform(a, "in_proj_weight", (Shape){2, {3 * width, width}},
                           sqrt(6.0 / (double)(4 * width)));
    } else {
        self_param_uniform(a, "q_proj_weight", (Shape){2, {width, width}},
                           sqrt(6.0 / (double)(2 * width)));
        self_param_uniform(a, "k_proj_weight", (Shape){2, {width, kdim}},
                           sqrt(6.0 / (double)(width + kdim)));
        self_param_uniform(a, "v_proj_weight", (Shape){2, {width, vdim}},
                           sqrt(6.0 / (double)(width + vdim)));
    }
    bool bias = self_bool(a, "bias");
    if (bias)
        self_param_full(a, "in_proj_bias", (Shape){1, {3 * width}}, 0);
    PyVal sizes[] = {pv_int(width), pv_int(width), pv_bool(bias)};
    self_module(a, "out_proj", "Linear", 3, sizes);
    PyVal zero = pv_int(0), out_bias;
    if (bias && dict_get_name(&self_get(a, "out_proj").object->attrs, STR("bias"), &out_bias))
        fn_apply(a->it, a->at, "torch.nn.init.constant_", 2, (PyVal[]){out_bias, zero});
}

static ValueId projection(Args *a, const char *name, int which, int64_t width)
{
    PyVal whole = self_get(a, "in_proj_weight");
    if (whole.tag != PV_TENSOR)
        return self_value(a, name);
    return tvar_read(
        a->it,
        tensor_slice(a->it, a->at, whole.tensor, 0, which * width, (which + 1) * width, 1).tensor);
}

PyVal nn_mha(Args *a, const CallArgs *call)
{
    Args b = *a;
    args_bind(&b,
              "query key value key_padding_mask=None need_weights=True attn_mask=None "
              "average_attn_weights=True is_causal=False",
              call);
    int64_t width = self_int(a, "embed_dim");
    PyObject *out_proj = self_get(a, "out_proj").object;
    Args o = {.it = a->it, .at = a->at, .name = a->name, .self = out_proj};
    ValueId in[11] = {arg_value(&b, 0),
                      arg_value(&b, 1),
                      arg_value(&b, 2),
                      projection(a, "q_proj_weight", 0, width),
                      projection(a, "k_proj_weight", 1, width),
                      projection(a, "v_proj_weight", 2, width),
                      self_value(a, "in_proj_bias"),
                      self_value(&o, "weight"),
                      self_value(&o, "bias"),
                      arg_optional(&b, 5),
                      arg_optional(&b, 3)};
    bool weights = arg_bool(&b, 4);
    Attrs attrs = {0};
    attrs_int(&attrs, AT_HEADS, self_int(a, "num_heads"));
    attrs_bool(&attrs, AT_BATCH_FIRST, self_bool(a, "batch_first"));
    attrs_bool(&attrs, AT_KEEPDIM, weights && !arg_bool(&b, 6));
    if (self_float(a, "dropout") != 0)
        attrs_float(&attrs, AT_P, self_float(a, "dropout"));
    ValueId out = emit(a->it, a->at, OP_MHA, 0, 11, in, &attrs, weights ? 2 : 1);
    PyVal pair[] = {tensor_of(a->it, out), weights ? tensor_of(a->it, out + 1) : pv_none()};
    return pv_tuple_of(a->it->arena, 2, pair);
}

/* --- transformer encoder ------------------------------------------------------------------ */

void make_encoder_layer(Args *a)
{
    PyVal width = self_get(a, "d_model"), hidden = self_get(a, "dim_feedforward"),
          bias = self_get(a, "bias");
    PyVal eps = self_get(a, "layer_norm_eps");
    PyVal attention[] = {width,
                         self_get(a, "nhead"),
                         self_get(a, "dropout"),
                         bias,
                         pv_bool(false),
                         pv_bool(false),
                         pv_none(),
                         pv_none(),
                         self_get(a, "batch_first")};
    self_module(a, "self_attn", "MultiheadAttention", 9, attention);
    self_module(a, "linear1", "Linear", 3, (PyVal[]){width, hidden, bias});
    self_module(a, "linear2", "Linear", 3, (PyVal[]){hidden, width, bias});
    self_module(a, "norm1", "LayerNorm", 2, (PyVal[]){width, eps});
    self_module(a, "norm2", "LayerNorm", 2, (PyVal[]){width, eps});
}

static PyVal dropout(Args *a, PyVal x)
{
    PyVal training = self_get(a, "training");
    PyVal in[] = {x, self_get(a, "dropout"), pv_is_none(training) ? pv_bool(true) : training};
    return fn_apply(a->it, a->at, "torch.nn.functional.dropout", 3, in);
}

static PyVal attend(Args *a, const Args *b, PyVal x)
{
    PyVal in[] = {x, x, x, b->v[2], pv_bool(false), b->v[1]};
    CallArgs call = {.n = 6, .v = in};
    PyVal pair = interp_call(a->it, a->at, self_get(a, "self_attn"), &call);
    return dropout(a, pair.list->items.at[0]);
}

static PyVal feed_forward(Args *a, PyVal x)
{
    PyVal act = self_get(a, "activation");
    PyVal wide = interp_call1(a->it, a->at, self_get(a, "linear1"), x);
    if (act.tag == PV_STR)
        wide = fn_apply(a->it, a->at,
                        str_is(*act.str, "gelu") ? "torch.nn.functional.gelu"
                                                 : "torch.nn.functional.relu",
                        1, &wide);
    else
        wide = interp_call1(a->it, a->at, act, wide);
    return dropout(a, interp_call1(a->it, a->at, self_get(a, "linear2"), dropout(a, wide)));
}

PyVal nn_encoder_layer(Args *a, const CallArgs *call)
{
    Args b = *a;
    args_bind(&b, "src src_mask=None src_key_padding_mask=None is_causal=False", call);
    PyVal x = b.v[0], norm1 = self_get(a, "norm1"), norm2 = self_get(a, "norm2");
    if (self_bool(a, "norm_first")) {
        x = interp_binary(a->it, a->at, PYOP_ADD, x,
                          attend(a, &b, interp_call1(a->it, a->at, norm1, x)));
        return interp_binary(a->it, a->at, PYOP_ADD, x,
                             feed_forward(a, interp_call1(a->it, a->at, norm2, x)));
    }
    x = interp_call1(a->it, a->at, norm1,
                     interp_binary(a->it, a->at, PYOP_ADD, x, attend(a, &b, x)));
    return interp_call1(a->it, a->at, norm2,
                        interp_binary(a->it, a->at, PYOP_ADD, x, feed_forward(a, x)));
}

/* A copy with parameters of its own: same values, as deepcopy leaves them. */
static PyVal copy_module(Interp *it, Span at, PyVal value)
{
    if (value.tag == PV_TENSOR) {
        Shape shape = tvar_shape(it, value.tensor);
        Attrs attrs = {0};
        attrs_shape(&attrs, AT_SHAPE, &shape);
        PyVal copy = tensor_of(it,
                               emit1(it, at, OP_RESHAPE, 0, tvar_read(it, value.tensor), &attrs));
        copy.tensor->role = value.tensor->role;
        return copy;
    }
    if (value.tag != PV_OBJECT)
        return value;
    interp_enter(it, at);
    PyObject *copy = arena_new(it->arena, PyObject);
    copy->cls = value.object->cls;
    copy->nn = value.object->nn;
    for (uint32_t i = 0; i < value.object->attrs.entries.len; i++) {
        const PyEntry *entry = &value.object->attrs.entries.at[i];
        if (!entry->gone)
            dict_set(it->arena, &copy->attrs, entry->key, copy_module(it, at, entry->value));
    }
    interp_leave(it);
    return (PyVal){.tag = PV_OBJECT, .object = copy};
}

void make_encoder(Args *a)
{
    PyVal layer = self_get(a, "encoder_layer"), layers = pv_list(a->it->arena, PV_LIST);
    int64_t n = self_int(a, "num_layers");
    if (n < 0 || n > 1000)
        arg_fail(a, "num_layers is %lld, which is out of range", (long long)n);
    dict_remove(&a->self->attrs, pv_str(a->it->arena, STR("encoder_layer")));
    for (int64_t i = 0; i < n; i++)
        pv_push(a->it->arena, layers, copy_module(a->it, a->at, layer));
    self_module(a, "layers", "ModuleList", 1, &layers);
}

PyVal nn_encoder(Args *a, const CallArgs *call)
{
    Args b = *a;
    args_bind(&b, "src mask=None src_key_padding_mask=None is_causal=None", call);
    PyVal x = b.v[0], layers = module_items(a->it, a->at, self_get(a, "layers").object);
    for (uint32_t i = 0; i < layers.list->items.len; i++) {
        PyVal in[] = {x, b.v[1], b.v[2]};
        CallArgs each = {.n = 3, .v = in};
        x = interp_call(a->it, a->at, layers.list->items.at[i], &each);
    }
    PyVal norm = self_get(a, "norm");
    return pv_is_none(norm) ? x : interp_call1(a->it, a->at, norm, x);
}
