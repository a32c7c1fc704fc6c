/* Products in general nests: matrices, einsum, convolutions. Each is a sum of products over axes that both factors
 * have. A convolution reads its input at stride * o + dilation * k - padding. A transposed one with a stride is one
 * convolution for each place modulo the stride, with every stride-th tap of the weight: its output is written in a part
 * of whole strides and what stands before and behind; or, where taps are dilated, it reads the place from which its
 * output is reached, where there is one. In: a node and an index of its result. Out: the value there. */
#include "gen/plan/nest/derive_int.h"

#include <string.h>

enum {
    SHORT_SIDE = 32, /* of a product that is summed up like any reduction */
    LEAST_SIDE = 8,  /* of one that is worth tiles of its own */
    MOST_OPERANDS = 4,
    MOST_SPATIAL = 3
};

static int64_t count_axes(const Nest *nest, uint64_t axes)
{
    int64_t n = 1;
    for (uint32_t i = 1; i < nest->axes.len; i++)
        n *= axes >> i & 1 ? nest->axes.at[i].size : 1;
    return n;
}

/* A sum over axes that both factors have, and worth tiles: rows and columns are axes of one factor alone. */
static NestId sum_of_products(Derive *d, NestId a, NestId b, uint64_t over)
{
    uint64_t left = d->nest->values.at[a].axes, right = d->nest->values.at[b].axes;
    bool tiles = !(over & ~(left & right)) && count_axes(d->nest, left & ~right) >= LEAST_SIDE &&
                 count_axes(d->nest, right & ~left) >= LEAST_SIDE &&
                 count_axes(d->nest, over) >= LEAST_SIDE;
    if (d->kind == NEST_PRODUCTS && tiles)
        return nest_product(d->nest, a, b, over);
    return nest_reduce(d->nest, PRIM_SUM, nest_map2(d->nest, "$0 * $1", a, b), over);
}

/* ---- matrices ---- */

/* An operand's index from those of its letters. */
static bool operand_at(Derive *d, ValueId id, Str letters, const Affine *by_letter, NestId *out)
{
    NestIndex at = {.rank = (int)letters.len};
    for (size_t i = 0; i < letters.len; i++)
        at.dim[i] = graph_value(d->graph, id)->shape.dim[i] == 1
                        ? affine_number(0)
                        : by_letter[(unsigned char)letters.at[i]];
    return derive_at(d, id, &at, out);
}

/* The sum over the letters that the result does not have. */
static bool at_letters(Derive *d, const Node *node, uint32_t n, const Str *operands, Str result,
                       const NestIndex *index, NestId *out)
{
    Affine by_letter[256] = {0};
    bool known[256] = {false};
    uint64_t over = 0, avoid = derive_axes(index);
    NestId x[MOST_OPERANDS];
    int large = 0;
    for (size_t i = 0; i < result.len; i++) {
        by_letter[(unsigned char)result.at[i]] = index->dim[i];
        known[(unsigned char)result.at[i]] = true;
    }
    for (uint32_t o = 0; o < n; o++)
        for (size_t i = 0; i < operands[o].len; i++) {
            unsigned char c = (unsigned char)operands[o].at[i];
            int64_t size = graph_value(d->graph, node->in[o])->shape.dim[i];
            if (known[c] || size == 1)
                continue;
            const NestDim *walked = derive_dim(d, size, avoid | over);
            if (!walked)
                return derive_refuse(d, node, "it has too many dimensions");
            by_letter[c] = walked->index;
            over |= walked->axes;
            known[c] = true;
            large += size > SHORT_SIDE;
        }
    Shape shape = graph_value(d->graph, node->out)->shape;
    for (size_t i = 0; i < result.len; i++) {
        bool shared = true;
        for (uint32_t o = 0; o < n; o++)
            shared = shared && memchr(operands[o].at, result.at[i], operands[o].len);
        large += !shared && shape.dim[i] > SHORT_SIDE;
    }
    if (large > 2 && (d->kind != NEST_PRODUCTS || n > 2))
        return derive_refuse(d, node, "products of large matrices are not planned");
    for (uint32_t o = 0; o < n; o++)
        if (!operand_at(d, node->in[o], operands[o], by_letter, &x[o]))
            return false;
    for (uint32_t o = 1; o + 1 < n; o++)
        x[0] = nest_map2(d->nest, "$0 * $1", x[0], x[o]);
    *out = !over   ? (n > 1 ? nest_map2(d->nest, "$0 * $1", x[0], x[n - 1]) : x[0])
           : n > 1 ? sum_of_products(d, x[0], x[n - 1], over)
                   : nest_reduce(d->nest, PRIM_SUM, x[0], over);
    return true;
}

static bool at_einsum(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Str left, result, operands[MOST_OPERANDS];
    uint32_t n = 0;
    if (!node_equation(node, &left, &result) || node->n_in > MOST_OPERANDS)
        return derive_refuse(d, node, "its equation has a form that is not planned");
    while (n < node->n_in && str_next(&left, ',', &operands[n]))
        n++;
    return n == node->n_in ? at_letters(d, node, n, operands, result, index, out)
                           : derive_refuse(d, node, "its equation has a form that is not planned");
}

static const char batch_letters[] = "abcdefgh";

/* Batches are lined up from the right; a vector has no letter of its own in the result. */
static bool at_matmul(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape a = graph_value(d->graph, node->in[0])->shape,
          b = graph_value(d->graph, node->in[1])->shape;
    char text[3][GRAPH_MAX_RANK + 1];
    size_t n[3] = {0}, batches = (size_t)(a.rank > b.rank ? a.rank : b.rank);
    batches = batches > 2 ? batches - 2 : 0;
    for (int side = 0; side < 3; side++) {
        size_t own = side == 2 ? batches : (size_t)(side ? b.rank : a.rank);
        own = side == 2 ? own : own > 2 ? own - 2 : 0;
        memcpy(text[side], batch_letters + batches - own, own);
        n[side] = own;
    }
    if (a.rank > 1)
        text[0][n[0]++] = text[2][n[2]++] = 'i';
    text[0][n[0]++] = text[1][n[1]++] = 'k';
    if (b.rank > 1)
        text[1][n[1]++] = text[2][n[2]++] = 'j';
    Str operands[2] = {{text[0], n[0]}, {text[1], n[1]}};
    return at_letters(d, node, 2, operands, (Str){text[2], n[2]}, index, out);
}

static NestId add_bias(Derive *d, NestId sum, NestId bias)
{
    return nest_map2(d->nest, "$0 + $1", sum, bias);
}

static bool at_linear(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape a = graph_value(d->graph, node->in[0])->shape;
    char x[GRAPH_MAX_RANK + 1], y[GRAPH_MAX_RANK + 1];
    size_t n = (size_t)a.rank;
    memcpy(x, batch_letters, n - 1);
    memcpy(y, batch_letters, n - 1);
    x[n - 1] = 'k';
    y[n - 1] = 'j';
    bool vector = graph_value(d->graph, node->in[1])->shape.rank ==
                  1; /* one output, without its dimension */
    Str operands[2] = {{x, n}, vector ? STR("k") : STR("jk")};
    if (!at_letters(d, node, 2, operands, (Str){y, n - vector}, index, out))
        return false;
    if (node->n_in < 3 || node->in[2] == VALUE_NONE)
        return true;
    NestIndex at = derive_broadcast(index, graph_value(d->graph, node->in[2])->shape);
    NestId bias;
    if (!derive_at(d, node->in[2], &at, &bias))
        return false;
    *out = add_bias(d, *out, bias);
    return true;
}

/* ---- convolutions ---- */

typedef struct Conv {
    const Node *node;
    Shape x, w;
    int spatial, first; /* its dimensions from `first` of the input on */
    int64_t groups, stride[MOST_SPATIAL], padding[MOST_SPATIAL], dilation[MOST_SPATIAL];
    bool transposed;
    bool stretched;       /* transposed with a stride, and not by phases */
    NestIndex at, weight; /* of the input and of the weight */
    Affine
        place[MOST_SPATIAL]; /* of the input, as if it had no ends; transposed: times the stride */
    NestBound tap[MOST_SPATIAL]; /* of the weight, where it may lie behind its end */
    uint32_t n_tap;
    uint64_t over;
} Conv;

static int64_t number_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    return !a || !a->ints.len ? fallback : a->ints.at[a->ints.len == 1 ? 0 : (uint32_t)i];
}

static Conv read_conv(Derive *d, const Node *node)
{
    Conv c = {.node = node,
              .x = graph_value(d->graph, node->in[0])->shape,
              .w = graph_value(d->graph, node->in[1])->shape,
              .groups = node_int(node, AT_GROUPS, 1),
              .transposed = node_bool(node, AT_TRANSPOSED)};
    c.spatial = c.w.rank - 2;
    c.first = c.x.rank - c.spatial;
    for (int i = 0; i < c.spatial; i++) {
        c.stride[i] = number_at(node, AT_STRIDE, i, 1);
        c.padding[i] = number_at(node, AT_PADDING, i, 0);
        c.dilation[i] = number_at(node, AT_DILATION, i, 1);
    }
    return c;
}

static bool walk_axis(Derive *d, Conv *c, int64_t size, uint64_t avoid, Affine *out)
{
    const NestDim *walked = size > 1 ? derive_dim(d, size, avoid | c->over) : NULL;
    if (size > 1 && !walked)
        return derive_refuse(d, c->node, "it has too many dimensions");
    *out = walked ? walked->index : affine_number(0);
    c->over |= walked ? walked->axes : 0;
    return true;
}

/* Channels of input and weight: group g has the same share of both. */
static bool walk_channels(Derive *d, Conv *c, const NestIndex *index)
{
    int64_t inputs = c->x.dim[c->first - 1] / c->groups;
    int64_t outputs = c->transposed ? c->w.dim[1] : c->w.dim[0] / c->groups;
    Affine channel = index->dim[c->first - 1], group = affine_number(0), own = channel, input;
    if (c->groups > 1 && !derive_divide(d, c->node, &channel, outputs, &group, &own))
        return false;
    if (!walk_axis(d, c, inputs, derive_axes(index), &input))
        return false;
    Affine all = input;
    if (!affine_add(&all, &group, inputs))
        return derive_refuse(d, c->node, "an index is a sum of too many terms");
    c->at.dim[c->first - 1] = all;
    c->weight.dim[0] = c->transposed ? all : channel;
    c->weight.dim[1] = c->transposed ? own : input;
    return true;
}

/* Taps of a transposed convolution with this stride are every stride-th one. */
static bool has_phases(const Conv *c, int i)
{
    return c->transposed && c->stride[i] > 1 && !c->stretched;
}

/* Place u of the stretched input is stride * whole + phase. */
static bool divide_place(Derive *d, const Conv *c, int i, const Affine *index, Affine *whole,
                         Affine *phase)
{
    int64_t sizes[NEST_MAX_AXES], low, high, by = c->stride[i], padding = c->padding[i];
    Affine u = *index, none = affine_number(padding);
    nest_sizes(d->nest, sizes);
    affine_add(&u, &none, 1);
    affine_range(&u, sizes, &low, &high);
    if (low / by == high / by) {
        *whole = affine_number(low / by);
        *phase = u;
        phase->at -= low / by * by;
        return true;
    }
    if (low % by)
        return derive_cut(d, c->node, index, (low / by + 1) * by - padding);
    if ((high + 1) % by)
        return derive_cut(d, c->node, index, (high + 1) / by * by - padding);
    return derive_divide(d, c->node, &u, by, whole, phase);
}

/* One dimension of a transposed convolution with a stride: tap stride * t + phase reads element whole - t. */
static bool walk_phase(Derive *d, Conv *c, int i, const NestIndex *index)
{
    int64_t taps = c->w.dim[2 + i], by = c->stride[i];
    Affine whole, phase, tap;
    if (!divide_place(d, c, i, &index->dim[c->first + i], &whole, &phase) ||
        !walk_axis(d, c, (taps + by - 1) / by, derive_axes(index), &tap))
        return false;
    c->weight.dim[2 + i] = phase;
    c->place[i] = whole;
    if (!affine_add(&c->weight.dim[2 + i], &tap, by) || !affine_add(&c->place[i], &tap, -1))
        return derive_refuse(d, c->node, "an index is a sum of too many terms");
    if (taps % by)
        c->tap[c->n_tap++] = (NestBound){c->weight.dim[2 + i], taps};
    return true;
}

static bool walk_window(Derive *d, Conv *c, const NestIndex *index)
{
    for (int i = 0; i < c->spatial; i++) {
        if (has_phases(c, i)) {
            if (!walk_phase(d, c, i, index))
                return false;
            continue;
        }
        Affine tap, at = affine_number(c->transposed ? c->padding[i] : -c->padding[i]);
        if (!walk_axis(d, c, c->w.dim[2 + i], derive_axes(index), &tap))
            return false;
        c->weight.dim[2 + i] = tap;
        if (!affine_add(&at, &index->dim[c->first + i], c->transposed ? 1 : c->stride[i]) ||
            !affine_add(&at, &tap, c->transposed ? -c->dilation[i] : c->dilation[i]))
            return derive_refuse(d, c->node, "an index is a sum of too many terms");
        c->place[i] = at;
    }
    return true;
}

/* Loads the input at affine places, within its bounds. */
static bool read_window(Derive *d, Conv *c, NestId *x)
{
    NestBound bounds[MOST_SPATIAL];
    for (int i = 0; i < c->spatial; i++) {
        int64_t size = c->x.dim[c->first + i];
        bounds[i] = (NestBound){c->place[i], size};
        c->at.dim[c->first + i] = size == 1 ? affine_number(0) : c->place[i];
    }
    return derive_bounded(d, c->node->in[0], &c->at, (uint32_t)c->spatial, bounds, 0, x);
}

static NestId both(Nest *nest, NestId a, NestId b)
{
    return a ? nest_map(nest, "$0 & $1", true, 2, (NestId[]){a, b}) : b;
}

/* Place u of the stretched input: element u / stride where that is whole, else 0. */
static bool read_stretched(Derive *d, Conv *c, NestId *x)
{
    Nest *nest = d->nest;
    const Value *v = graph_value(d->graph, c->node->in[0]);
    NestId place = 0, mask = 0;
    int64_t step = 1, bound = 1;
    Affine flat;
    if (graph_maker(d->graph, c->node->in[0]))
        return derive_refuse(d, c->node, "its input would have to be written to memory first");
    for (int i = c->spatial; i-- > 0;) {
        int64_t size = c->x.dim[c->first + i];
        NestBound inside = {c->place[i], (size - 1) * c->stride[i] + 1};
        NestId in = derive_inside(d, 1, &inside), u = nest_place(nest, &c->place[i]), at = u;
        if (c->stride[i] > 1) {
            NestId middle = nest_map2(nest, "$0 + $1", u, nest_number(nest, 0.5));
            NestId by = nest_number(nest, 1.0 / (double)c->stride[i]);
            at = nest_map1(nest, "floor($0)", nest_map2(nest, "$0 * $1", middle, by));
            NestId back = nest_map2(nest, "$0 * $1", at, nest_number(nest, (double)c->stride[i]));
            mask = both(nest, mask, nest_map(nest, "$0 == $1", true, 2, (NestId[]){back, u}));
        }
        mask = in ? both(nest, mask, in) : mask;
        at = step == 1 ? at : nest_map2(nest, "$0 * $1", at, nest_number(nest, (double)step));
        place = place ? nest_map2(nest, "$0 + $1", place, at) : at;
        c->at.dim[c->first + i] = affine_number(0);
        step *= size;
        bound *= size;
    }
    if (bound >= EXACT_INT || !derive_flatten(&c->at, v->shape, &flat))
        return derive_refuse(d, c->node, "its indices are larger than f32 can hold exactly");
    *x = nest_pick(nest, c->node->in[0], &flat, place, 1, bound, mask);
    return true;
}

static bool at_conv(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Conv c = read_conv(d, node);
    NestId x, w, bias;
    c.at = *index;
    c.weight.rank = c.w.rank;
    for (int i = 0; i < c.spatial && c.transposed; i++) {
        c.stretched = c.stretched || (c.stride[i] > 1 && (c.dilation[i] > 1 || d->stretched));
        d->phased = d->phased || c.stride[i] > 1;
    }
    if (!walk_channels(d, &c, index) || !walk_window(d, &c, index) ||
        !(c.stretched ? read_stretched(d, &c, &x) : read_window(d, &c, &x)) ||
        !derive_bounded(d, node->in[1], &c.weight, c.n_tap, c.tap, 0, &w))
        return false;
    *out = c.over ? sum_of_products(d, w, x, c.over) : nest_map2(d->nest, "$0 * $1", w, x);
    if (node->n_in < 3 || node->in[2] == VALUE_NONE)
        return true;
    NestIndex at = {.rank = 1, .dim = {index->dim[c.first - 1]}};
    if (!derive_at(d, node->in[2], &at, &bias))
        return false;
    *out = add_bias(d, *out, bias);
    return true;
}

bool derive_product(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    if (node_bool(node, AT_HF32))
        return derive_refuse(d, node, "only the cube multiplies in HF32");
    switch (node->op) {
    case OP_EINSUM: return at_einsum(d, node, index, out);
    case OP_MATMUL: return at_matmul(d, node, index, out);
    case OP_LINEAR: return at_linear(d, node, index, out);
    default: return at_conv(d, node, index, out);
    }
}
