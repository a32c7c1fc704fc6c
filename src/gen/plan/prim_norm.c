/* Composite operators as primitives: softmax, the norms, the losses. In: a node. Out: its value
 * from maps and reductions, in the numerical form that PyTorch's result asks for. */
#include "gen/plan/prim_int.h"

PrimValue prim_mean(PrimGraph *g, PrimValue x, uint32_t dims, bool keep)
{
    PrimValue n = prim_size(g, x, dims);
    return prim_map2(g, "$0 / $1", prim_reduce(g, PRIM_SUM, x, dims, keep), n);
}

/* Two passes: the mean, then the mean square of what is left. */
PrimValue prim_variance(PrimGraph *g, PrimValue x, uint32_t dims, bool keep, double correction)
{
    PrimValue centred = prim_map2(g, "$0 - $1", x, prim_mean(g, x, dims, true));
    PrimValue sum = prim_reduce(g, PRIM_SUM, prim_map1(g, "$0 * $0", centred), dims, keep);
    PrimValue n = prim_size(g, x, dims);
    if (correction != 0)
        n = prim_map2(g, "max($0 - $1, 0.0)", n, prim_number(g, correction));
    return prim_map2(g, "$0 / $1", sum, n);
}

PrimValue prim_logsumexp(PrimGraph *g, PrimValue x, uint32_t dims, bool keep)
{
    PrimValue m = prim_reduce(g, PRIM_MAX, x, dims, true);
    PrimValue e = prim_map2(g, "exp($0 - $1)", x, m);
    PrimValue s = prim_map1(g, "log($0)", prim_reduce(g, PRIM_SUM, e, dims, true));
    PrimValue out = prim_map2(g, "$0 + $1", s, m);
    if (keep)
        return out;
    PrimValue flat = {.prim = out.prim};
    for (int i = 0; i < out.rank; i++)
        if (!(dims >> i & 1))
            flat.dim[flat.rank++] = out.dim[i];
    return flat;
}

static bool make_softmax(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    int64_t dim = node_int(node, AT_DIM, -1);
    uint32_t dims = 1u << (dim < 0 ? dim + x.rank : dim);
    PrimValue m = prim_reduce(g, PRIM_MAX, x, dims, true);
    PrimValue d = prim_map2(g, "$0 - $1", x, m);
    PrimValue e = prim_map1(g, "exp($0)", d);
    PrimValue s = prim_reduce(g, PRIM_SUM, e, dims, true);
    *out = node_bool(node, AT_LOG) ? prim_map2(g, "$0 - $1", d, prim_map1(g, "log($0)", s))
                                   : prim_map2(g, "$0 / $1", e, s);
    return true;
}

/* (x - mean) / sqrt(var + eps), over the dims */
static PrimValue standardise(PrimGraph *g, PrimValue x, uint32_t dims, double eps)
{
    PrimValue centred = prim_map2(g, "$0 - $1", x, prim_mean(g, x, dims, true));
    PrimValue square = prim_map1(g, "$0 * $0", centred);
    PrimValue var = prim_mean(g, square, dims, true);
    PrimValue dev = prim_map2(g, "sqrt($0 + $1)", var, prim_number(g, eps));
    return prim_map2(g, "$0 / $1", centred, dev);
}

/* The operand under `shape`: a tensor of the task under any, what is computed only with dimensions
 * of size 1 added or gone. */
static bool seen_as(PrimGraph *g, const Node *node, ValueId id, Shape shape, PrimValue *out)
{
    PrimValue v;
    int next = 0;
    if (graph_value(g->graph, id)->kind != VALUE_NODE) {
        *out = prim_leaf(g, id, shape);
        return true;
    }
    if (!prim_value(g, id, &v))
        return false;
    *out = (PrimValue){.prim = v.prim, .rank = shape.rank};
    for (int i = 0; i < shape.rank; i++) {
        while (next < v.rank && !v.dim[next])
            next++;
        if (shape.dim[i] == 1)
            continue;
        if (next == v.rank || g->axes.at[v.dim[next]].size != shape.dim[i])
            return prim_refuse(g, node, "an operand changes its shape");
        out->dim[i] = v.dim[next++];
    }
    return true;
}

/* x * weight + bias, where `shape` puts the vector on the right dimensions. */
static bool affine(PrimGraph *g, const Node *node, uint32_t weight, uint32_t bias, Shape shape,
                   PrimValue *x)
{
    PrimValue v;
    if (weight < node->n_in && node->in[weight] != VALUE_NONE) {
        if (!seen_as(g, node, node->in[weight], shape, &v))
            return false;
        *x = prim_map2(g, "$0 * $1", *x, v);
    }
    if (bias < node->n_in && node->in[bias] != VALUE_NONE) {
        if (!seen_as(g, node, node->in[bias], shape, &v))
            return false;
        *x = prim_map2(g, "$0 + $1", *x, v);
    }
    return true;
}

static bool make_layer_norm(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Attr *shape = node_attr(node, AT_SHAPE);
    bool rms = node->op == OP_RMS_NORM;
    double eps = node_float(node, AT_EPS, 1e-5);
    Shape last = {.rank = (int)shape->ints.len};
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    for (int i = 0; i < last.rank; i++)
        last.dim[i] = shape->ints.at[i];
    uint32_t dims = ((1u << last.rank) - 1) << (x.rank - last.rank);
    if (rms) {
        PrimValue mean = prim_mean(g, prim_map1(g, "$0 * $0", x), dims, true);
        *out = prim_map2(g, "$0 / $1", x, prim_map2(g, "sqrt($0 + $1)", mean, prim_number(g, eps)));
    } else {
        *out = standardise(g, x, dims, eps);
    }
    return affine(g, node, 1, rms ? UINT32_MAX : 2, last, out);
}

/* [C] as [C, 1, 1, ...] under a tensor of `rank` */
static Shape channel_shape(int64_t channels, int rank)
{
    Shape s = {.rank = rank - 1};
    for (int i = 0; i < s.rank; i++)
        s.dim[i] = i ? 1 : channels;
    return s;
}

static bool make_channel_norm(PrimGraph *g, const Node *node, PrimValue *out)
{
    bool batch = node->op == OP_BATCH_NORM;
    Shape shape = graph_value(g->graph, node->in[0])->shape;
    Shape per_channel = channel_shape(shape.dim[1], shape.rank);
    double eps = node_float(node, AT_EPS, 1e-5);
    uint32_t all = (1u << shape.rank) - 1;
    PrimValue x;
    if (!prim_value(g, node->in[0], &x))
        return false;
    if (batch && !node_bool(node, AT_TRAINING)) {
        PrimValue mean, var;
        if (!seen_as(g, node, node->in[1], per_channel, &mean) ||
            !seen_as(g, node, node->in[2], per_channel, &var))
            return false;
        PrimValue dev = prim_map2(g, "sqrt($0 + $1)", var, prim_number(g, eps));
        *out = prim_map2(g, "$0 / $1", prim_map2(g, "$0 - $1", x, mean), dev);
    } else {
        *out = standardise(g, x, all & ~(batch ? 2u : 3u), eps);
    }
    return affine(g, node, batch ? 3 : 1, batch ? 4 : 2, per_channel, out);
}

static bool is_read(const Graph *graph, ValueId id)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++)
            if (graph->nodes.at[i].in[k] == id)
                return true;
    return false;
}

/* The channel dimension is cut in (groups, channels of a group): only a leaf can be seen so. */
static bool make_group_norm(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Value *v = graph_value(g->graph, node->in[0]);
    int64_t groups = node_int(node, AT_GROUPS, 1), each = v->shape.dim[1] / groups;
    if (v->kind == VALUE_NODE || v->shape.rank >= GRAPH_MAX_RANK || is_read(g->graph, node->out))
        return prim_refuse(g, node, "other operators stand before or behind it");
    Shape cut = {.rank = v->shape.rank + 1, .dim = {v->shape.dim[0], groups, each}};
    Shape weight = {.rank = v->shape.rank, .dim = {groups, each}};
    for (int i = 2; i < v->shape.rank; i++) {
        cut.dim[i + 1] = v->shape.dim[i];
        weight.dim[i] = 1;
    }
    PrimValue x = prim_leaf(g, node->in[0], cut);
    uint32_t dims = ((1u << cut.rank) - 1) & ~3u;
    *out = standardise(g, x, dims, node_float(node, AT_EPS, 1e-5));
    return affine(g, node, 1, 2, weight, out);
}

static const char *loss_form(PrimGraph *g, const Node *node)
{
    double a = node_float(node, AT_A, 1);
    switch (node->kind) {
    case LOSS_mse: return "($0 - $1) * ($0 - $1)";
    case LOSS_l1: return "abs($0 - $1)";
    case LOSS_huber:
        return str_format(
            g->arena, "min(abs($0 - $1), %.9g) * (abs($0 - $1) - min(abs($0 - $1), %.9g) * 0.5)", a,
            a);
    case LOSS_smooth_l1:
        return a == 0 ? "abs($0 - $1)"
                      : str_format(g->arena,
                                   "min(abs($0 - $1), %.9g) * (abs($0 - $1) - "
                                   "min(abs($0 - $1), %.9g) * 0.5) / %.9g",
                                   a, a, a);
    case LOSS_kl_div:
        return node_bool(node, AT_LOG_TARGET) ? "exp($1) * ($1 - $0)"
                                              : "where($1 > 0.0, $1 * (log($1) - $0), 0.0)";
    case LOSS_soft_margin: return "softplus(-($0 * $1))";
    default: return NULL;
    }
}

static bool make_loss(PrimGraph *g, const Node *node, PrimValue *out)
{
    const char *form = loss_form(g, node);
    Str reduction = node_text(node, AT_REDUCTION);
    PrimValue x, y;
    if (!form || (node->n_in > 2 && node->in[2] != VALUE_NONE))
        return prim_refuse(g, node, form ? "weights are not planned" : "this loss is not planned");
    if (!prim_value(g, node->in[0], &x) || !prim_value(g, node->in[1], &y))
        return false;
    *out = prim_map2(g, form, x, y);
    uint32_t all = (1u << out->rank) - 1;
    if (str_is(reduction, "none"))
        return true;
    if (str_is(reduction, "sum"))
        *out = prim_reduce(g, PRIM_SUM, *out, all, false);
    else if (str_is(reduction, "batchmean"))
        *out = prim_map2(g, "$0 / $1", prim_reduce(g, PRIM_SUM, *out, all, false),
                         prim_size(g, *out, 1));
    else if (str_is(reduction, "mean") || reduction.len == 0)
        *out = prim_mean(g, *out, all, false);
    else
        return prim_refuse(g, node, "this reduction is not planned");
    return true;
}

/* max(|x|, eps) along dimension `dim` of the product that x broadcasts to */
static PrimValue length_along(PrimGraph *g, PrimValue x, PrimValue product, int64_t dim, double eps)
{
    int64_t at = dim - (product.rank - x.rank);
    PrimValue sum = prim_map1(g, "$0 * $0", x);
    if (at >= 0)
        sum = prim_reduce(g, PRIM_SUM, sum, 1u << at, false);
    if (at < 0 || (x.dim[at] == 0 && product.dim[dim] != 0))
        sum = prim_map2(g, "$0 * $1", sum, prim_size(g, product, 1u << dim));
    return prim_map2(g, "max(sqrt($0), $1)", sum, prim_number(g, eps));
}

/* x . y / (max(|x|, eps) * max(|y|, eps)) along dim */
static bool make_cosine(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue x, y;
    if (!prim_value(g, node->in[0], &x) || !prim_value(g, node->in[1], &y))
        return false;
    double eps = node_float(node, AT_EPS, 1e-8);
    PrimValue product = prim_map2(g, "$0 * $1", x, y);
    int64_t dim = node_int(node, AT_DIM, 1);
    dim = dim < 0 ? dim + product.rank : dim;
    PrimValue xx = length_along(g, x, product, dim, eps);
    PrimValue yy = length_along(g, y, product, dim, eps);
    PrimValue xy = prim_reduce(g, PRIM_SUM, product, 1u << dim, false);
    *out = prim_map2(g, "$0 / $1", xy, prim_map2(g, "$0 * $1", xx, yy));
    return true;
}

/* The norm of order 2 of (a - b + eps), along the last dimension */
static PrimValue distance(PrimGraph *g, PrimValue a, PrimValue b, double eps)
{
    PrimValue d = prim_map(g, "$0 - $1 + $2", 3, (PrimValue[]){a, b, prim_number(g, eps)});
    PrimValue sum = prim_reduce(g, PRIM_SUM, prim_map1(g, "$0 * $0", d), 1u << (d.rank - 1), false);
    return prim_map1(g, "sqrt($0)", sum);
}

static bool make_triplet(PrimGraph *g, const Node *node, PrimValue *out)
{
    Str reduction = node_text(node, AT_REDUCTION);
    double eps = node_float(node, AT_EPS, 1e-6);
    PrimValue a, p, n;
    if (node_float(node, AT_P, 2) != 2 || node_bool(node, AT_SWAP))
        return prim_refuse(g, node, "only the distance of order 2 without swap is planned");
    if (!prim_value(g, node->in[0], &a) || !prim_value(g, node->in[1], &p) ||
        !prim_value(g, node->in[2], &n))
        return false;
    PrimValue gap = prim_map2(g, "$0 - $1", distance(g, a, p, eps), distance(g, a, n, eps));
    *out = prim_map2(g, "max($0 + $1, 0.0)", gap, prim_number(g, node_float(node, AT_MARGIN, 1)));
    uint32_t all = (1u << out->rank) - 1;
    if (str_is(reduction, "sum"))
        *out = prim_reduce(g, PRIM_SUM, *out, all, false);
    else if (!str_is(reduction, "none"))
        *out = prim_mean(g, *out, all, false);
    return true;
}

/* The score of the right class of each row. */
static PrimValue pick(PrimGraph *g, PrimValue x, PrimValue target)
{
    uint64_t over = UINT64_C(1) << prim_axis(g, x.dim[1]);
    PrimValue rows = prim_map2(g, "", prim_reduce(g, PRIM_MAX, x, 2, false), target);
    Prim p = {.op = PRIM_PICK, .n_arg = 2, .arg = {x.prim, target.prim}, .over = over};
    rows.prim = prim_add(g, p);
    return rows;
}

static bool make_cross_entropy(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Value *scores = graph_value(g->graph, node->in[0]);
    Str reduction = node_text(node, AT_REDUCTION);
    PrimValue x, target;
    bool plain = scores->kind != VALUE_NODE && scores->shape.rank == 2 &&
                 scores->shape.dim[1] > 1 && (node->n_in < 3 || node->in[2] == VALUE_NONE) &&
                 node_float(node, AT_SMOOTHING, 0) == 0 &&
                 !dtype_is_float(graph_value(g->graph, node->in[1])->dtype);
    if (!plain)
        return prim_refuse(g, node,
                           "only plain scores [rows, classes] and class numbers are planned");
    if (!prim_value(g, node->in[0], &x) || !prim_value(g, node->in[1], &target))
        return false;
    PrimValue lse = prim_logsumexp(g, x, 2, false);
    *out = prim_map2(g, "$0 - $1", lse, pick(g, x, target));
    if (str_is(reduction, "sum"))
        *out = prim_reduce(g, PRIM_SUM, *out, 1, false);
    else if (!str_is(reduction, "none"))
        *out = prim_mean(g, *out, 1, false);
    return true;
}

bool prim_composite(PrimGraph *g, const Node *node, PrimValue *out)
{
    switch (node->op) {
    case OP_SOFTMAX: return make_softmax(g, node, out);
    case OP_LAYER_NORM:
    case OP_RMS_NORM: return make_layer_norm(g, node, out);
    case OP_BATCH_NORM:
    case OP_INSTANCE_NORM: return make_channel_norm(g, node, out);
    case OP_GROUP_NORM: return make_group_norm(g, node, out);
    case OP_LOSS: return make_loss(g, node, out);
    case OP_COSINE_SIMILARITY: return make_cosine(g, node, out);
    case OP_CROSS_ENTROPY: return make_cross_entropy(g, node, out);
    case OP_TRIPLET_LOSS: return make_triplet(g, node, out);
    case OP_MATMUL:
    case OP_LINEAR:
    case OP_EINSUM:
        return prim_refuse(g, node,
                           "it is matrix work that is no plain product of two float matrices");
    case OP_CONV:
    case OP_CONV_TAPS:
    case OP_GROUPED_MATMUL:
    case OP_SDPA:
    case OP_MHA:
    case OP_RNN:
        return prim_refuse(g, node,
                           "it is matrix work of another kind than products of two matrices");
    case OP_NONZERO:
        return prim_refuse(g, node,
                           "how many elements it finds depends on values; torch.where keeps their "
                           "places, and torch.masked_select is planned as a result");
    case OP_RANDOM:
        return prim_refuse(g, node,
                           "it draws numbers; draw them in get_inputs and give them to forward");
    default: return prim_refuse(g, node, "no strategy takes it");
    }
}
