/* Slices taken earlier: a part of what is computed is computed of parts.
 *
 *     max(a[:, None, :2], b[None, :, :2])[..., 0]      max(a[:, 0][:, None], b[:, 0][None])
 *
 * Only where nothing but slices, which together are no larger than it, read what is computed: then no
 * element is computed twice. Slices that are there already are not made again. */
#include "gen/plan/rewrite.h"

enum { DEEPEST = 32 };

/* Elements start, start + step, ... along a dimension. */
typedef struct Cut {
    int dim;
    int64_t start, len, step;
} Cut;

static Cut cut_of(const Graph *g, const Node *node)
{
    Cut c = {.start = node_int(node, AT_START, 0), .step = node_int(node, AT_STEP, 1)};
    shape_dim(graph_value(g, node->in[0])->shape, node_int(node, AT_DIM, 0), &c.dim);
    c.len = graph_value(g, node->out)->shape.dim[c.dim];
    return c;
}

static bool is_elementwise(const Graph *g, const Node *node)
{
    bool is = op_is_elementwise(node->op);
    for (uint32_t i = 0; i < node->n_in && is; i++) /* complex ones are taken apart first */
        is = node->in[i] == VALUE_NONE || graph_value(g, node->in[i])->dtype != DT_C64;
    return is && graph_value(g, node->out)->dtype != DT_C64;
}

static bool only_cut_apart(const Graph *g, ValueId id, int dim)
{
    int64_t together = 0;
    bool only = !graph_is_output(g, id);
    for (uint32_t i = 0; i < g->nodes.len && only; i++)
        for (uint32_t k = 0; k < g->nodes.at[i].n_in && only; k++) {
            const Node *node = &g->nodes.at[i];
            if (node->in[k] != id)
                continue;
            only = node->op == OP_SLICE && cut_of(g, node).dim == dim;
            together += only ? cut_of(g, node).len : 0;
        }
    return only && together <= graph_value(g, id)->shape.dim[dim];
}

/* The dimension that is the same one behind a reshape which only adds and drops ones; -1: none. */
static int same_dim(Shape of, Shape in, int dim)
{
    int at = -1, i = 0, j = 0;
    for (; i < of.rank || j < in.rank; i++, j++) {
        while (i < of.rank && of.dim[i] == 1)
            i++;
        while (j < in.rank && in.dim[j] == 1)
            j++;
        if (i >= of.rank || j >= in.rank)
            break;
        if (of.dim[i] != in.dim[j])
            return -1;
        at = i == dim ? j : at;
    }
    return i >= of.rank && j >= in.rank ? at : -1;
}

/* One that is there already; VALUE_NONE: none. */
static ValueId find_slice(const Rewrite *r, ValueId x, Cut c)
{
    for (uint32_t i = 0; i < r->to->nodes.len; i++) {
        const Node *node = &r->to->nodes.at[i];
        if (node->op != OP_SLICE || node->in[0] != x)
            continue;
        Cut own = cut_of(r->to, node);
        if (own.dim == c.dim && own.start == c.start && own.len == c.len && own.step == c.step)
            return node->out;
    }
    return VALUE_NONE;
}

static ValueId slice_of(Rewrite *r, ValueId x, Cut c)
{
    ValueId found = find_slice(r, x, c);
    int64_t end = c.start + (c.len - 1) * c.step + 1;
    return found != VALUE_NONE ? found : rw_slice(r, x, c.dim, c.start, end, c.step);
}

static ValueId part(Rewrite *r, ValueId id, Cut c, int depth);

static ValueId part_computed(Rewrite *r, const Node *node, Cut c, int depth)
{
    ValueId *in = arena_array(r->arena, ValueId, node->n_in + 1);
    int rank = graph_value(r->from, node->out)->shape.rank;
    for (uint32_t i = 0; i < node->n_in; i++) {
        in[i] = rw_in(r, node, i);
        if (in[i] == VALUE_NONE)
            continue;
        Shape s = graph_value(r->from, node->in[i])->shape;
        Cut own = c;
        own.dim = c.dim - (rank - s.rank);
        if (own.dim >= 0 && s.dim[own.dim] != 1)
            in[i] = part(r, node->in[i], own, depth + 1);
    }
    return rw_again(r, node, in);
}

static ValueId part_reshaped(Rewrite *r, const Node *node, Cut c, int depth)
{
    Shape to = graph_value(r->from, node->out)->shape;
    int dim = same_dim(to, graph_value(r->from, node->in[0])->shape, c.dim);
    if (dim < 0 || to.dim[c.dim] == 1)
        return slice_of(r, r->map[node->out], c);
    to.dim[c.dim] = c.len;
    c.dim = dim;
    return rw_reshape(r, part(r, node->in[0], c, depth + 1), to);
}

/* Two slices along one dimension are one; along two, either may come first. */
static ValueId part_sliced(Rewrite *r, const Node *node, Cut c, int depth)
{
    Cut first = cut_of(r->from, node);
    if (first.dim != c.dim)
        return slice_of(r, part(r, node->in[0], c, depth + 1), first);
    c.start = first.start + c.start * first.step;
    c.step *= first.step;
    return part(r, node->in[0], c, depth + 1);
}

/* The part of a value of the old graph, in the new one. */
static ValueId part(Rewrite *r, ValueId id, Cut c, int depth)
{
    const Node *node = graph_maker(r->from, id);
    bool alone = node && depth < DEEPEST && graph_readers(r->from, id) == 1;
    if (alone && is_elementwise(r->from, node))
        return part_computed(r, node, c, depth);
    if (node && depth < DEEPEST && node->op == OP_RESHAPE)
        return part_reshaped(r, node, c, depth);
    if (node && depth < DEEPEST && node->op == OP_SLICE)
        return part_sliced(r, node, c, depth);
    return slice_of(r, r->map[id], c);
}

bool rewrite_slice(Rewrite *r, const Node *node, ValueId *out)
{
    if (node->op != OP_SLICE || rw_in(r, node, 0) == VALUE_NONE)
        return false;
    Cut c = cut_of(r->from, node);
    const Node *made = graph_maker(r->from, node->in[0]);
    if (made && is_elementwise(r->from, made) && only_cut_apart(r->from, node->in[0], c.dim))
        out[0] = part_computed(r, made, c, 0);
    else
        out[0] = find_slice(r, rw_in(r, node, 0), c);
    return out[0] != VALUE_NONE;
}
