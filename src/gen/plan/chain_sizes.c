/* Which dimensions are one size. In: a graph. Out: classes of dimensions; see chain_sizes.h. */
#include "gen/plan/chain_sizes.h"

#include "gen/plan/prim_int.h"

static uint32_t find(ChainSizes *s, uint32_t c)
{
    while (s->classes[c].same != c)
        c = s->classes[c].same;
    return c;
}

static uint32_t class_of(ChainSizes *s, ValueId value, int dim)
{
    return find(s, value * GRAPH_MAX_RANK + (uint32_t)dim);
}

static void unite(ChainSizes *s, uint32_t a, uint32_t b)
{
    a = find(s, a);
    b = find(s, b);
    if (a == b)
        return;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    s->classes[high].same = low;
    s->classes[low].fixed = s->classes[low].fixed || s->classes[high].fixed;
    if (s->classes[high].most < s->classes[low].most)
        s->classes[low].most = s->classes[high].most;
}

static const Shape *shape_of(const ChainSizes *s, ValueId value)
{
    return &graph_value(s->g, value)->shape;
}

static void link(ChainSizes *s, ValueId a, int i, ValueId b, int k)
{
    int64_t one = shape_of(s, a)->dim[i], other = shape_of(s, b)->dim[k];
    if (one == other && one != 1)
        unite(s, class_of(s, a, i), class_of(s, b, k));
}

void sizes_fix(ChainSizes *s, ValueId value)
{
    for (int i = 0; i < shape_of(s, value)->rank; i++)
        s->classes[class_of(s, value, i)].fixed = true;
}

void sizes_fix_all(ChainSizes *s)
{
    for (uint32_t i = 0; i < s->g->values.len; i++)
        sizes_fix(s, i);
}

/* ---- operators ---- */

/* Dimensions line up from the right; one that repeats is as long as the operator says. */
static void line_up(ChainSizes *s, ValueId in, ValueId out)
{
    int a = shape_of(s, in)->rank, b = shape_of(s, out)->rank;
    for (int i = 1; i <= a && i <= b; i++)
        link(s, in, a - i, out, b - i);
}

static void link_kept(ChainSizes *s, const Node *node)
{
    int rank = shape_of(s, node->in[0])->rank, next = 0;
    uint32_t dims = prim_dims(node, rank);
    bool keep = node_bool(node, AT_KEEPDIM);
    for (int i = 0; i < rank; i++) {
        bool reduced = dims >> i & 1;
        for (uint32_t k = 0; k < node->n_out && !reduced; k++)
            link(s, node->in[0], i, node->out + k, keep ? i : next);
        next += !reduced;
    }
}

static void link_permuted(ChainSizes *s, const Node *node)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    int rank = shape_of(s, node->out)->rank;
    for (int i = 0; dims && i < rank; i++) {
        int64_t from = dims->ints.at[i] < 0 ? dims->ints.at[i] + rank : dims->ints.at[i];
        link(s, node->in[0], (int)from, node->out, i);
    }
}

static void fix_dim(ChainSizes *s, ValueId value, int dim)
{
    s->classes[class_of(s, value, dim)].fixed = true;
}

/* The dimensions of a value that are not 1. */
static int dims_of(const Shape *shape, int *dims)
{
    int n = 0;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] != 1)
            dims[n++] = i;
    return n;
}

/* Dimensions at both ends that stay as they are; what is regrouped between them knows its sizes. */
static void link_reshaped(ChainSizes *s, const Node *node)
{
    const Shape *a = shape_of(s, node->in[0]), *b = shape_of(s, node->out);
    int of_a[GRAPH_MAX_RANK], of_b[GRAPH_MAX_RANK];
    int end_a = dims_of(a, of_a), end_b = dims_of(b, of_b), first = 0;
    while (first < end_a && first < end_b && a->dim[of_a[first]] == b->dim[of_b[first]]) {
        link(s, node->in[0], of_a[first], node->out, of_b[first]);
        first++;
    }
    while (end_a > first && end_b > first && a->dim[of_a[end_a - 1]] == b->dim[of_b[end_b - 1]]) {
        end_a--;
        end_b--;
        link(s, node->in[0], of_a[end_a], node->out, of_b[end_b]);
    }
    for (int i = first; i < end_a; i++)
        fix_dim(s, node->in[0], of_a[i]);
    for (int i = first; i < end_b; i++)
        fix_dim(s, node->out, of_b[i]);
}

/* Dimensions that the operator repeats are as long as it says. */
static void link_expanded(ChainSizes *s, const Node *node)
{
    int a = shape_of(s, node->in[0])->rank, b = shape_of(s, node->out)->rank;
    line_up(s, node->in[0], node->out);
    for (int i = 0; i < b; i++) {
        int from = i - (b - a);
        if (from < 0 || shape_of(s, node->in[0])->dim[from] != shape_of(s, node->out)->dim[i])
            s->classes[class_of(s, node->out, i)].fixed = true;
    }
}

/* Rows by number: all dimensions of x but the indexed one, and those of the index. */
static void link_selected(ChainSizes *s, const Node *node)
{
    const Shape *x = shape_of(s, node->in[0]), *at = shape_of(s, node->in[1]);
    int dim = 0;
    shape_dim(*x, node_int(node, AT_DIM, 0), &dim);
    for (int i = 0; i < at->rank; i++)
        link(s, node->in[1], i, node->out, dim + i);
    for (int i = 0; i < x->rank; i++)
        if (i != dim)
            link(s, node->in[0], i, node->out, i < dim ? i : i + at->rank - 1);
}

static void link_gathered(ChainSizes *s, const Node *node)
{
    const Shape *x = shape_of(s, node->in[0]);
    int dim = 0;
    shape_dim(*x, node_int(node, AT_DIM, 0), &dim);
    line_up(s, node->in[1], node->out);
    for (int i = 0; i < x->rank; i++)
        if (i != dim)
            link(s, node->in[0], i, node->out, i);
}

static void fix_node(ChainSizes *s, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            sizes_fix(s, node->in[i]);
    for (uint32_t k = 0; k < node->n_out; k++)
        sizes_fix(s, node->out + k);
}

/* All sizes of the operator but the first dimension of two of its values. */
static void fix_node_but(ChainSizes *s, const Node *node, ValueId in, ValueId out)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        for (int d = 0; node->in[i] != VALUE_NONE && d < shape_of(s, node->in[i])->rank; d++)
            if (node->in[i] != in || d)
                fix_dim(s, node->in[i], d);
    for (uint32_t k = 0; k < node->n_out; k++)
        for (int d = 0; d < shape_of(s, node->out + k)->rank; d++)
            if (node->out + k != out || d)
                fix_dim(s, node->out + k, d);
}

static void link_alike(ChainSizes *s, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            line_up(s, node->in[i], node->out);
    for (uint32_t k = 1; k < node->n_out; k++)
        line_up(s, node->out, node->out + k);
}

/* Input k and result k line up but for the dimensions in `known`, whose sizes the operator knows. */
static void link_but(ChainSizes *s, ValueId in, ValueId out, uint32_t known)
{
    for (int i = 0; i < shape_of(s, out)->rank && i < shape_of(s, in)->rank; i++) {
        if (!(known >> i & 1)) {
            link(s, in, i, out, i);
            continue;
        }
        fix_dim(s, in, i);
        fix_dim(s, out, i);
    }
}

static uint32_t bit_of_dim(const ChainSizes *s, ValueId value, const Node *node)
{
    int dim = 0;
    shape_dim(*shape_of(s, value), node_int(node, AT_DIM, 0), &dim);
    return UINT32_C(1) << dim;
}

static uint32_t last_dims(const ChainSizes *s, ValueId value, uint32_t count)
{
    uint32_t rank = (uint32_t)shape_of(s, value)->rank, bits = 0;
    for (uint32_t i = 0; i < count && i < rank; i++)
        bits |= UINT32_C(1) << (rank - 1 - i);
    return bits;
}

static uint32_t padded_dims(const ChainSizes *s, const Node *node)
{
    const Attr *pads = node_attr(node, AT_PADS);
    int rank = shape_of(s, node->in[0])->rank;
    uint32_t bits = 0;
    for (uint32_t i = 0; pads && i < pads->ints.len; i++)
        if (pads->ints.at[i] && (int)(i / 2) < rank)
            bits |= UINT32_C(1) << (rank - 1 - (int)(i / 2));
    return pads ? bits : UINT32_MAX;
}

/* Weights for each channel of x, which is dimension 1. */
static void link_channels(ChainSizes *s, const Node *node)
{
    for (uint32_t i = 1; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && shape_of(s, node->in[i])->rank == 1)
            link(s, node->in[i], 0, node->in[0], 1);
}

/* [.., m, k] by [.., k, n]; vectors know their sizes. */
static void link_product(ChainSizes *s, const Node *node)
{
    ValueId a = node->in[0], b = node->in[1], y = node->out;
    int ra = shape_of(s, a)->rank, rb = shape_of(s, b)->rank, ry = shape_of(s, y)->rank;
    if (ra < 2 || rb < 2) {
        fix_node(s, node);
        return;
    }
    link(s, a, ra - 1, b, rb - 2);
    link(s, a, ra - 2, y, ry - 2);
    link(s, b, rb - 1, y, ry - 1);
    for (int i = 3; i <= ry; i++) {
        if (i <= ra)
            link(s, a, ra - i, y, ry - i);
        if (i <= rb)
            link(s, b, rb - i, y, ry - i);
    }
}

static void link_linear(ChainSizes *s, const Node *node)
{
    int rank = shape_of(s, node->out)->rank;
    link(s, node->in[0], rank - 1, node->in[1], 1);
    link(s, node->in[1], 0, node->out, rank - 1);
    if (node->in[2] != VALUE_NONE)
        link(s, node->in[2], 0, node->out, rank - 1);
    for (int i = 0; i + 1 < rank; i++)
        link(s, node->in[0], i, node->out, i);
}

/* Joined along one dimension. */
static void link_joined(ChainSizes *s, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        link_but(s, node->in[i], node->out, bit_of_dim(s, node->out, node));
}

/* x [N, C, ...]: samples are one size, all else the operator knows. */
static void link_samples(ChainSizes *s, const Node *node)
{
    fix_node_but(s, node, node->in[0], node->out);
    link(s, node->in[0], 0, node->out, 0);
}

/* Pooling and resizing of the last dimensions, all results alike. */
static void link_planes(ChainSizes *s, const Node *node, uint32_t spatial)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        link_but(s, node->in[0], node->out + k, last_dims(s, node->out, spatial));
}

static uint32_t attr_len(const Node *node, AttrKey key)
{
    const Attr *a = node_attr(node, key);
    return a ? a->ints.len : GRAPH_MAX_RANK;
}

static void link_norm(ChainSizes *s, const Node *node)
{
    link_but(s, node->in[0], node->out, 0);
    link_channels(s, node);
}

/* Operators of which every dimension is free, or none. */
static bool link_plain(ChainSizes *s, const Node *node)
{
    switch (node->op) {
    case OP_DROPOUT:
    case OP_SOFTMAX:
    case OP_SCAN:
    case OP_SORT:
    case OP_FLIP:
    case OP_TRI:
    case OP_LAYER_NORM:
    case OP_RMS_NORM: link_alike(s, node); break;
    case OP_REDUCE:
    case OP_REDUCE_INDEX: link_kept(s, node); break;
    case OP_PERMUTE: link_permuted(s, node); break;
    case OP_EXPAND: link_expanded(s, node); break;
    case OP_INDEX_SELECT:
    case OP_EMBEDDING: link_selected(s, node); break;
    case OP_GATHER: link_gathered(s, node); break;
    case OP_MATMUL: link_product(s, node); break;
    case OP_LINEAR: link_linear(s, node); break;
    case OP_BATCH_NORM:
    case OP_INSTANCE_NORM: link_norm(s, node); break;
    case OP_FULL: break; /* a number, as long as what it meets */
    default: return false;
    }
    return true;
}

static void link_node(ChainSizes *s, const Node *node)
{
    if (op_is_elementwise(node->op)) {
        link_alike(s, node);
        return;
    }
    if (link_plain(s, node))
        return;
    switch (node->op) {
    case OP_RESHAPE: link_reshaped(s, node); break;
    case OP_SLICE:
    case OP_REPEAT_INTERLEAVE:
        link_but(s, node->in[0], node->out, bit_of_dim(s, node->in[0], node));
        break;
    case OP_TOPK:
        for (uint32_t k = 0; k < node->n_out; k++)
            link_but(s, node->in[0], node->out + k, bit_of_dim(s, node->in[0], node));
        break;
    case OP_CAT: link_joined(s, node); break;
    case OP_PAD: link_but(s, node->in[0], node->out, padded_dims(s, node)); break;
    case OP_POOL: link_planes(s, node, attr_len(node, AT_KERNEL)); break;
    case OP_ADAPTIVE_POOL:
    case OP_INTERPOLATE: link_planes(s, node, attr_len(node, AT_SHAPE)); break;
    case OP_CONV:
    case OP_CONV_TAPS:
    case OP_GROUP_NORM: link_samples(s, node); break;
    default: fix_node(s, node); break;
    }
}

ChainSizes *chain_sizes(Arena *arena, const Graph *g)
{
    ChainSizes *s = arena_new(arena, ChainSizes);
    *s = (ChainSizes){.arena = arena, .g = g};
    s->classes = arena_array(arena, SizeClass, (g->values.len + 1) * GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < g->values.len * GRAPH_MAX_RANK; i++) {
        const Shape *shape = shape_of(s, i / GRAPH_MAX_RANK);
        int dim = (int)(i % GRAPH_MAX_RANK);
        s->classes[i] = (SizeClass){.same = i, .most = PLAN_DIM_MOST};
        s->classes[i].size = dim < shape->rank ? shape->dim[dim] : 1;
    }
    for (uint32_t i = 0; i < g->nodes.len; i++)
        link_node(s, &g->nodes.at[i]);
    for (uint32_t i = 0; i < g->values.len; i++)
        if (g->values.at[i].dtype == DT_C64)
            sizes_fix(s, i);
    for (uint32_t i = 0; i < g->values.len; i++)
        for (int d = 0; d < shape_of(s, i)->rank; d++)
            if (g->values.at[i].held_axes >> d & 1)
                s->classes[class_of(s, i, d)].fixed = true;
    return s;
}

void sizes_held(Arena *arena, const Graph *g, uint32_t *held)
{
    ChainSizes *s = chain_sizes(arena, g);
    uint32_t count = g->values.len * GRAPH_MAX_RANK;
    bool *asked = arena_array(arena, bool, count + 1), *found = arena_array(arena, bool, count + 1);
    bool all = false;
    for (uint32_t i = 0; i < count; i++)
        if (g->values.at[i / GRAPH_MAX_RANK].held_axes >> i % GRAPH_MAX_RANK & 1)
            asked[find(s, i)] = true;
    for (uint32_t i = 0; i < count; i++) {
        ValueKind kind = g->values.at[i / GRAPH_MAX_RANK].kind;
        if (kind != VALUE_NODE && kind != VALUE_CONST && asked[find(s, i)]) {
            held[i / GRAPH_MAX_RANK] |= UINT32_C(1) << i % GRAPH_MAX_RANK;
            found[find(s, i)] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        all = all || (asked[i] && !found[i] && s->classes[i].size != 1);
    for (uint32_t i = 0; i < g->values.len && all; i++)
        held[i] = UINT32_MAX;
}

/* Sizes of parameters alone belong to the model: kernels of equal layers are then the same. */
void sizes_fix_unread(ChainSizes *s)
{
    bool *read = arena_array(s->arena, bool, (s->g->values.len + 1) * GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < s->g->values.len; i++) {
        ValueKind kind = s->g->values.at[i].kind;
        for (int d = 0; d < shape_of(s, i)->rank; d++)
            read[class_of(s, i, d)] |= kind == VALUE_INPUT;
    }
    for (uint32_t i = 0; i < s->g->values.len * GRAPH_MAX_RANK; i++)
        s->classes[find(s, i)].fixed = s->classes[find(s, i)].fixed || !read[find(s, i)];
}

/* ---- products ---- */

static void multiply(ChainSizes *s, SizeProduct *p, uint32_t c)
{
    uint32_t at = p->n;
    c = find(s, c);
    if (s->classes[c].fixed || s->classes[c].size == 1) {
        p->number *= s->classes[c].size;
        return;
    }
    for (; at && p->of[at - 1] > c; at--)
        p->of[at] = p->of[at - 1];
    p->of[at] = c;
    p->n++;
}

SizeProduct sizes_dim(ChainSizes *s, ValueId value, int dim)
{
    SizeProduct p = {.number = 1};
    multiply(s, &p, class_of(s, value, dim));
    return p;
}

bool sizes_axes(ChainSizes *s, ValueId value, Shape seen, SizeProduct *axes)
{
    const Shape *own = shape_of(s, value);
    int64_t part = 1; /* of the dimension before `next`, which is a number: what no axis has yet */
    int next = 0;
    for (int i = 0; i < seen.rank; i++) {
        int64_t left = seen.dim[i];
        axes[i] = (SizeProduct){.number = 1};
        while (left > 1) {
            while (next < own->rank && part == 1 && own->dim[next] == 1)
                next++;
            if (part == 1 && next == own->rank)
                return false;
            bool fresh = part == 1;
            int64_t whole = fresh ? own->dim[next] : part;
            bool number = !fresh || s->classes[class_of(s, value, next)].fixed;
            next += fresh;
            if (left % whole == 0 && !number) {
                multiply(s, &axes[i], class_of(s, value, next - 1));
            } else if (number && (left % whole == 0 || whole % left == 0)) {
                part = left % whole == 0 ? 1 : whole / left;
                whole /= part;
                axes[i].number *= whole;
            } else {
                return false;
            }
            left /= whole;
        }
    }
    while (next < own->rank && own->dim[next] == 1)
        next++;
    return next == own->rank && part == 1;
}

SizeProduct sizes_now(ChainSizes *s, const SizeProduct *p)
{
    SizeProduct now = {.number = p->number};
    for (uint32_t i = 0; i < p->n; i++)
        multiply(s, &now, p->of[i]);
    return now;
}

bool sizes_same(const SizeProduct *a, const SizeProduct *b)
{
    bool same = a->number == b->number && a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++)
        same = a->of[i] == b->of[i];
    return same;
}

void sizes_fix_product(ChainSizes *s, const SizeProduct *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        s->classes[find(s, p->of[i])].fixed = true;
}

void sizes_unite(ChainSizes *s, const SizeProduct *a, const SizeProduct *b)
{
    if (sizes_same(a, b))
        return;
    bool single = a->n == 1 && b->n == 1 && a->number == 1 && b->number == 1;
    if (single)
        unite(s, a->of[0], b->of[0]);
    if (!single) {
        sizes_fix_product(s, a);
        sizes_fix_product(s, b);
    }
}

void sizes_limit(ChainSizes *s, const SizeProduct *p, int64_t most)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (most < s->classes[p->of[i]].most)
            s->classes[p->of[i]].most = most;
}
