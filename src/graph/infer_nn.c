/* Shape rules of normalisations, attention, recurrent networks, losses and transforms. */
#include "graph/infer_int.h"

static bool mismatch(Infer *infer, const char *what, Shape got, Shape x)
{
    return infer_fail(infer, "%s %s does not go with %s", what, infer_text(infer, got),
                      infer_text(infer, x));
}

/* Optional inputs from `first` on must be vectors of `size`. */
static bool vectors_of(Infer *infer, uint32_t first, int64_t size)
{
    for (uint32_t i = first; i < infer->node->n_in; i++) {
        if (!infer_has(infer, i))
            continue;
        Shape shape = infer_in(infer, i)->shape;
        if (shape.rank != 1 || shape.dim[0] != size)
            return mismatch(infer, "weight or bias", shape, infer_in(infer, 0)->shape);
    }
    return true;
}

bool infer_layer_norm(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    Shape tail = {.rank = attr ? (int)attr->ints.len : 0};
    if (tail.rank < 1 || tail.rank > x.rank)
        return infer_fail(infer, "needs between 1 and %d normalised dims", x.rank);
    for (int i = 0; i < tail.rank; i++) {
        tail.dim[i] = attr->ints.at[i];
        if (tail.dim[i] != x.dim[x.rank - tail.rank + i])
            return mismatch(infer, "normalised shape", tail, x);
    }
    for (uint32_t i = 1; i < infer->node->n_in; i++) {
        if (infer_has(infer, i) && !shape_equal(infer_in(infer, i)->shape, tail))
            return mismatch(infer, "weight or bias", infer_in(infer, i)->shape, tail);
    }
    infer->out[0] = infer->out[1] = x;
    for (int i = x.rank - tail.rank; i < x.rank; i++)
        infer->out[1].dim[i] = 1;
    infer->out[2] = infer->out[1];
    return true;
}

bool infer_group_norm(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    int64_t groups = node_int(infer->node, AT_GROUPS, 0);
    if (x.rank < 2 || groups < 1 || x.dim[1] % groups)
        return infer_fail(infer, "%lld groups do not divide the channels of %s", (long long)groups,
                          infer_text(infer, x));
    infer->out[0] = x;
    infer->out[1] = infer->out[2] = (Shape){2, {x.dim[0], groups}};
    return vectors_of(infer, 1, x.dim[1]);
}

bool infer_instance_norm(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    int64_t plane = 1;
    if (x.rank < 3)
        return infer_fail(infer, "needs at least 3 dims, got %s", infer_text(infer, x));
    for (int i = 2; i < x.rank; i++)
        plane = x.dim[i] == 1 ? plane : 2;
    if (plane == 1)
        return infer_fail(infer, "needs more than one element per channel, got %s",
                          infer_text(infer, x));
    infer->out[0] = x;
    return vectors_of(infer, 1, x.dim[1]);
}

/* --- attention --------------------------------------------------------------------------- */

static bool sdpa_batch(Infer *infer, Shape q, Shape k, Shape v, Shape *out)
{
    Shape a = q, b = k, c = v;
    a.rank = b.rank = c.rank = q.rank - 2;
    if (node_bool(infer->node, AT_GQA) && a.rank > 0) {
        int head = a.rank - 1;
        if (b.dim[head] < 1 || c.dim[head] < 1 || a.dim[head] % b.dim[head] ||
            a.dim[head] % c.dim[head])
            return infer_fail(infer, "query heads are no multiple of key heads");
        b.dim[head] = c.dim[head] = a.dim[head];
    }
    return (shape_broadcast(a, b, out) && shape_broadcast(*out, c, out)) ||
           infer_fail(infer, "batch dims of %s, %s and %s do not broadcast", infer_text(infer, q),
                      infer_text(infer, k), infer_text(infer, v));
}

bool infer_sdpa(Infer *infer)
{
    Shape q = infer_in(infer, 0)->shape, k = infer_in(infer, 1)->shape,
          v = infer_in(infer, 2)->shape;
    Shape *out = &infer->out[0], both;
    if (q.rank < 2 || k.rank != q.rank || v.rank != q.rank ||
        q.dim[q.rank - 1] != k.dim[k.rank - 1] || k.dim[k.rank - 2] != v.dim[v.rank - 2])
        return infer_fail(infer, "query %s, key %s and value %s do not go together",
                          infer_text(infer, q), infer_text(infer, k), infer_text(infer, v));
    if (!sdpa_batch(infer, q, k, v, out))
        return false;
    out->dim[out->rank++] = q.dim[q.rank - 2];
    out->dim[out->rank++] = v.dim[v.rank - 1];
    Shape scores = *out;
    scores.dim[scores.rank - 1] = k.dim[k.rank - 2];
    if (!infer_has(infer, 3))
        return true;
    if (node_bool(infer->node, AT_CAUSAL))
        return infer_fail(infer, "a mask and causal exclude each other");
    Shape mask = infer_in(infer, 3)->shape;
    return (shape_broadcast(mask, scores, &both) && shape_equal(both, scores)) ||
           mismatch(infer, "mask", mask, scores);
}

static bool is_matrix(const Infer *infer, uint32_t input, int64_t rows, int64_t cols)
{
    Shape shape = infer_in(infer, input)->shape;
    return shape.rank == 2 && shape.dim[0] == rows && shape.dim[1] == cols;
}

static bool mha_weights(Infer *infer, int64_t width, Shape q, Shape k, Shape v)
{
    if (!is_matrix(infer, 3, width, q.dim[q.rank - 1]) ||
        !is_matrix(infer, 4, width, k.dim[k.rank - 1]) ||
        !is_matrix(infer, 5, width, v.dim[v.rank - 1]) || !is_matrix(infer, 7, width, width))
        return infer_fail(infer, "projection weights do not go with %s", infer_text(infer, q));
    return true;
}

bool infer_mha(Infer *infer)
{
    const Node *node = infer->node;
    Shape q = infer_in(infer, 0)->shape, k = infer_in(infer, 1)->shape,
          v = infer_in(infer, 2)->shape;
    int64_t heads = node_int(node, AT_HEADS, 0), width = q.rank ? q.dim[q.rank - 1] : 0;
    int batch = q.rank == 3 ? (node_bool(node, AT_BATCH_FIRST) ? 0 : 1) : -1;
    int length = batch == 0 ? 1 : 0;
    if ((q.rank != 2 && q.rank != 3) || k.rank != q.rank || v.rank != q.rank ||
        k.dim[length] != v.dim[length] ||
        (batch >= 0 && (q.dim[batch] != k.dim[batch] || k.dim[batch] != v.dim[batch])))
        return infer_fail(infer, "query %s, key %s and value %s do not go together",
                          infer_text(infer, q), infer_text(infer, k), infer_text(infer, v));
    if (heads < 1 || width % heads)
        return infer_fail(infer, "%lld heads do not divide %lld", (long long)heads,
                          (long long)width);
    if (!mha_weights(infer, width, q, k, v))
        return false;
    infer->out[0] = q;
    Shape *weights = &infer->out[1];
    if (batch >= 0)
        weights->dim[weights->rank++] = q.dim[batch];
    if (node_bool(node, AT_KEEPDIM))
        weights->dim[weights->rank++] = heads;
    weights->dim[weights->rank++] = q.dim[length];
    weights->dim[weights->rank++] = k.dim[length];
    return true;
}

/* --- recurrent --------------------------------------------------------------------------- */

static int64_t gates_of(int kind) { return kind == RNN_lstm ? 4 : kind == RNN_gru ? 3 : 1; }

static bool rnn_weights(Infer *infer, int64_t input, int64_t hidden, int64_t state)
{
    const Node *node = infer->node;
    int64_t layers = node_int(node, AT_LAYERS, 1), ways = node_bool(node, AT_BIDIRECTIONAL) ? 2 : 1;
    uint32_t each = 2 + (node_bool(node, AT_BIAS) ? 2u : 0u) + (state != hidden ? 1u : 0u);
    if (layers < 1 || layers > 10000 || node->n_in != 3 + (uint32_t)(layers * ways) * each)
        return infer_fail(infer, "%lld layers do not go with %u inputs", (long long)layers,
                          node->n_in);
    int64_t rows = gates_of(node->kind) * hidden;
    for (uint32_t i = 0; i < (uint32_t)(layers * ways); i++) {
        int64_t from = i < (uint32_t)ways ? input : state * ways;
        if (!is_matrix(infer, 3 + i * each, rows, from) ||
            !is_matrix(infer, 4 + i * each, rows, state))
            return infer_fail(infer, "the weights of layer %u do not fit", i / (uint32_t)ways);
    }
    return true;
}

static bool rnn_state(Infer *infer, uint32_t input, Shape want)
{
    return !infer_has(infer, input) || shape_equal(infer_in(infer, input)->shape, want) ||
           mismatch(infer, "state", infer_in(infer, input)->shape, want);
}

bool infer_rnn(Infer *infer)
{
    const Node *node = infer->node;
    Shape x = infer_in(infer, 0)->shape;
    int64_t hidden = node_int(node, AT_HIDDEN, 0), project = node_int(node, AT_SIZE, 0);
    int64_t state = project ? project : hidden, ways = node_bool(node, AT_BIDIRECTIONAL) ? 2 : 1;
    if ((x.rank != 2 && x.rank != 3) || hidden < 1 || hidden > INT32_MAX || state < 1 ||
        state > hidden)
        return infer_fail(infer, "input %s is no sequence", infer_text(infer, x));
    if (!rnn_weights(infer, x.dim[x.rank - 1], hidden, state))
        return false;
    infer->out[0] = x;
    infer->out[0].dim[x.rank - 1] = state * ways;
    Shape last = {.rank = x.rank, .dim = {node_int(node, AT_LAYERS, 1) * ways}};
    if (x.rank == 3)
        last.dim[1] = x.dim[node_bool(node, AT_BATCH_FIRST) ? 0 : 1];
    last.dim[x.rank - 1] = state;
    infer->out[1] = infer->out[2] = last;
    infer->out[2].dim[x.rank - 1] = hidden;
    if (node->n_out != (node->kind == RNN_lstm ? 3 : 2))
        return infer_fail(infer, "wrong number of outputs");
    return rnn_state(infer, 1, infer->out[1]) && rnn_state(infer, 2, infer->out[2]);
}

/* --- losses ------------------------------------------------------------------------------ */

static bool reduce_loss(Infer *infer, Shape each)
{
    Str how = node_text(infer->node, AT_REDUCTION);
    infer->out[0] = each;
    if (str_is(how, "mean") || str_is(how, "sum") || str_is(how, "batchmean"))
        infer->out[0].rank = 0;
    else if (!str_is(how, "none"))
        return infer_fail(infer, "unknown reduction '%.*s'", STR_ARG(how));
    return true;
}

bool infer_loss(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, y = infer_in(infer, 1)->shape, both;
    if (!shape_broadcast(x, y, &both))
        return mismatch(infer, "target", y, x);
    if (infer_has(infer, 2) && (!shape_broadcast(both, infer_in(infer, 2)->shape, &both)))
        return mismatch(infer, "weight", infer_in(infer, 2)->shape, x);
    return reduce_loss(infer, both);
}

bool infer_nll_loss(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, target = infer_in(infer, 1)->shape, each = x;
    int channel = x.rank > 1 ? 1 : 0;
    if (x.rank < 1)
        return infer_fail(infer, "needs at least one dim");
    for (int i = channel; i + 1 < x.rank; i++)
        each.dim[i] = x.dim[i + 1];
    each.rank--;
    bool probabilities = infer->node->op == OP_CROSS_ENTROPY &&
                         dtype_is_float(infer_in(infer, 1)->dtype);
    if (!shape_equal(target, probabilities ? x : each))
        return mismatch(infer, "target", target, x);
    if (!probabilities && !dtype_is_int(infer_in(infer, 1)->dtype))
        return infer_fail(infer, "the target must be integers");
    return vectors_of(infer, 2, x.dim[channel]) && reduce_loss(infer, each);
}

bool infer_triplet(Infer *infer)
{
    Shape each = infer_in(infer, 0)->shape;
    for (uint32_t i = 1; i < 3; i++) {
        if (!shape_broadcast(each, infer_in(infer, i)->shape, &each))
            return mismatch(infer, "input", infer_in(infer, i)->shape, each);
    }
    if (each.rank < 1)
        return infer_fail(infer, "needs at least one dim");
    each.rank--;
    return reduce_loss(infer, each);
}

bool infer_cosine(Infer *infer)
{
    Shape a = infer_in(infer, 0)->shape, b = infer_in(infer, 1)->shape, both;
    int dim;
    if (!shape_broadcast(a, b, &both) || both.rank < 1)
        return mismatch(infer, "input", b, a);
    int64_t fallback = infer->node->op == OP_COSINE_SIMILARITY ? 1 : -1;
    if (!infer_dim(infer, both, fallback, &dim))
        return false;
    for (int i = 0; i < both.rank; i++) {
        if (i != dim || node_bool(infer->node, AT_KEEPDIM))
            infer->out[0].dim[infer->out[0].rank++] = i == dim ? 1 : both.dim[i];
    }
    return true;
}

/* --- transforms -------------------------------------------------------------------------- */

bool infer_fft(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    DType in = infer_in(infer, 0)->dtype;
    int kind = infer->node->kind, dim;
    if (!infer_dim(infer, x, -1, &dim))
        return false;
    int64_t length = node_int(infer->node, AT_SIZE, x.rank ? x.dim[dim] : 0);
    if (x.rank < 1 || length < 1)
        return infer_fail(infer, "needs at least one point");
    if (in == DT_F64 || (kind == FFT_rfft && in == DT_C64))
        return infer_fail(infer, "is not supported for %s", dtype_name(in));
    infer->out[0] = x;
    infer->out[0].dim[dim] = kind == FFT_rfft ? length / 2 + 1 : length;
    infer->dtype[0] = kind == FFT_irfft ? DT_F32 : DT_C64;
    return true;
}

bool infer_view_as_real(Infer *infer)
{
    Shape *out = &infer->out[0];
    *out = infer_in(infer, 0)->shape;
    if (infer_in(infer, 0)->dtype != DT_C64 || out->rank >= GRAPH_MAX_RANK)
        return infer_fail(infer, "needs a complex tensor");
    out->dim[out->rank++] = 2;
    infer->dtype[0] = DT_F32;
    return true;
}

bool infer_view_as_complex(Infer *infer)
{
    Shape *out = &infer->out[0];
    *out = infer_in(infer, 0)->shape;
    if (infer_in(infer, 0)->dtype != DT_F32 || out->rank < 1 || out->dim[out->rank - 1] != 2)
        return infer_fail(infer, "needs an f32 tensor whose last dim is 2");
    out->rank--;
    infer->dtype[0] = DT_C64;
    return true;
}
