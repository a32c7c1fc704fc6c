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

/* Only dimensions of size 1 come or go; other reshapes know their sizes. */
static void link_reshaped(ChainSizes *s, const Node *node)
{
    const Shape *a = shape_of(s, node->in[0]), *b = shape_of(s, node->out);
    int pairs[GRAPH_MAX_RANK], k = 0, n = 0;
    bool same = true;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] == 1)
            continue;
        while (k < b->rank && b->dim[k] == 1)
            k++;
        same = same && k < b->rank && a->dim[i] == b->dim[k];
        pairs[n++] = k++;
    }
    n = 0;
    if (!same) {
        sizes_fix(s, node->in[0]);
        sizes_fix(s, node->out);
    }
    for (int i = 0; i < a->rank && same; i++)
        if (a->dim[i] != 1)
            link(s, node->in[0], i, node->out, pairs[n++]);
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

static void link_alike(ChainSizes *s, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            line_up(s, node->in[i], node->out);
    for (uint32_t k = 1; k < node->n_out; k++)
        line_up(s, node->out, node->out + k);
}

static void link_node(ChainSizes *s, const Node *node)
{
    if (op_is_elementwise(node->op)) {
        link_alike(s, node);
        return;
    }
    switch (node->op) {
    case OP_DROPOUT:
    case OP_SOFTMAX:
    case OP_SCAN:
    case OP_SORT:
    case OP_FLIP:
    case OP_LAYER_NORM:
    case OP_RMS_NORM: link_alike(s, node); break;
    case OP_REDUCE:
    case OP_REDUCE_INDEX: link_kept(s, node); break;
    case OP_PERMUTE: link_permuted(s, node); break;
    case OP_RESHAPE: link_reshaped(s, node); break;
    case OP_EXPAND: link_expanded(s, node); break;
    case OP_INDEX_SELECT:
    case OP_EMBEDDING: link_selected(s, node); break;
    case OP_GATHER: link_gathered(s, node); break;
    case OP_FULL: break; /* a number, as long as what it meets */
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

void sizes_fix_unread(ChainSizes *s)
{
    bool *read = arena_array(s->arena, bool, (s->g->values.len + 1) * GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < s->g->values.len; i++) {
        ValueKind kind = s->g->values.at[i].kind;
        for (int d = 0; d < shape_of(s, i)->rank; d++)
            read[class_of(s, i, d)] |= kind == VALUE_INPUT || kind == VALUE_PARAM ||
                                       kind == VALUE_BUFFER;
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
    int next = 0;
    for (int i = 0; i < seen.rank; i++) {
        int64_t left = seen.dim[i];
        axes[i] = (SizeProduct){.number = 1};
        while (left > 1) {
            while (next < own->rank && own->dim[next] == 1)
                next++;
            if (next == own->rank || left % own->dim[next])
                return false;
            left /= own->dim[next];
            multiply(s, &axes[i], class_of(s, value, next++));
        }
    }
    while (next < own->rank && own->dim[next] == 1)
        next++;
    return next == own->rank;
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

void sizes_unite(ChainSizes *s, const SizeProduct *a, const SizeProduct *b)
{
    if (sizes_same(a, b))
        return;
    bool single = a->n == 1 && b->n == 1 && a->number == 1 && b->number == 1;
    if (single)
        unite(s, a->of[0], b->of[0]);
    for (uint32_t i = 0; i < a->n && !single; i++)
        s->classes[find(s, a->of[i])].fixed = true;
    for (uint32_t i = 0; i < b->n && !single; i++)
        s->classes[find(s, b->of[i])].fixed = true;
}

void sizes_limit(ChainSizes *s, const SizeProduct *p, int64_t most)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (most < s->classes[p->of[i]].most)
            s->classes[p->of[i]].most = most;
}
