/* What is read from a tensor that was filled part by part, taken from the part it was written from.
 *
 *     r[:, 1] = a;  r[:, 2] = b;  r[:, 1] + r[:, 2]       a + b
 *
 * In: a slice of what slices were written into, reshapes that add or drop ones between. Out: the
 * part itself, a slice of it, or a slice of what lay there before. Recurrences that keep their
 * states in one tensor become recurrences over the states. */
#include "gen/plan/rewrite.h"

enum { DEEPEST = 40 };

/* Neighbouring elements along a dimension. */
typedef struct Span1 {
    int dim;
    int64_t start, end;
} Span1;

static bool span_of(const Graph *g, const Node *node, Span1 *s)
{
    *s = (Span1){.start = node_int(node, AT_START, 0), .end = node_int(node, AT_END, 0)};
    return node_int(node, AT_STEP, 1) == 1 &&
           shape_dim(graph_value(g, node->in[0])->shape, node_int(node, AT_DIM, 0), &s->dim);
}

/* A reshape that only adds and drops ones has the dimension elsewhere; -1: it is no such. */
static int same_dim(Shape of, Shape in, int dim)
{
    int at = -1, i = 0, j = 0;
    for (;; i++, j++) {
        while (i < of.rank && of.dim[i] == 1)
            i++;
        while (j < in.rank && in.dim[j] == 1)
            j++;
        if (i >= of.rank || j >= in.rank)
            return i >= of.rank && j >= in.rank ? at : -1;
        if (of.dim[i] != in.dim[j])
            return -1;
        at = i == dim ? j : at;
    }
}

static ValueId read_part(Rewrite *r, ValueId id, Span1 s, int depth, bool *found);

static ValueId plain_slice(Rewrite *r, ValueId id, Span1 s)
{
    ValueId x = r->map[id];
    if (x == VALUE_NONE)
        return VALUE_NONE;
    if (s.start == 0 && s.end == rw_value(r, x)->shape.dim[s.dim])
        return x;
    return rw_slice(r, x, s.dim, s.start, s.end, 1);
}

static ValueId read_reshaped(Rewrite *r, const Node *node, Span1 s, int depth, bool *found)
{
    Shape to = graph_value(r->from, node->out)->shape;
    int dim = to.dim[s.dim] == 1 ? -1
                                 : same_dim(to, graph_value(r->from, node->in[0])->shape, s.dim);
    if (dim < 0)
        return plain_slice(r, node->out, s);
    to.dim[s.dim] = s.end - s.start;
    s.dim = dim;
    ValueId v = read_part(r, node->in[0], s, depth + 1, found);
    return v == VALUE_NONE ? v : rw_reshape(r, v, to);
}

/* Inside what was written, or beside it; else as it is. */
static ValueId read_written(Rewrite *r, const Node *node, Span1 s, int depth, bool *found)
{
    Span1 w;
    bool same = span_of(r->from, node, &w) && w.dim == s.dim;
    if (same && s.start >= w.start && s.end <= w.end) {
        DType own = graph_value(r->from, node->out)->dtype;
        s.start -= w.start;
        s.end -= w.start;
        *found = true;
        ValueId v = read_part(r, node->in[1], s, depth + 1, found);
        return v == VALUE_NONE ? v : rw_cast(r, v, own);
    }
    if (!same || (s.start < w.end && s.end > w.start))
        return plain_slice(r, node->out, s);
    *found = true;
    return read_part(r, node->in[0], s, depth, found);
}

static ValueId read_full(Rewrite *r, const Node *node, Span1 s, bool *found)
{
    const Value *v = graph_value(r->from, node->out);
    Shape shape = v->shape;
    shape.dim[s.dim] = s.end - s.start;
    *found = true;
    return rw_full(r, shape, v->dtype, node_float(node, AT_VALUE, 0));
}

static ValueId read_part(Rewrite *r, ValueId id, Span1 s, int depth, bool *found)
{
    const Node *node = graph_maker(r->from, id);
    if (node && depth < DEEPEST && node->op == OP_SLICE_SCATTER)
        return read_written(r, node, s, depth, found);
    if (node && depth < DEEPEST && node->op == OP_RESHAPE)
        return read_reshaped(r, node, s, depth, found);
    if (node && depth && node->op == OP_FULL)
        return read_full(r, node, s, found);
    return plain_slice(r, id, s);
}

bool rewrite_written(Rewrite *r, const Node *node, ValueId *out)
{
    Span1 s;
    bool found = false;
    if (node->op != OP_SLICE || !span_of(r->from, node, &s))
        return false;
    Shape to = graph_value(r->from, node->out)->shape;
    ValueId v = read_part(r, node->in[0], s, 0, &found);
    if (!found || v == VALUE_NONE || rw_value(r, v)->kind != VALUE_NODE)
        return false;
    out[0] = rw_reshape(r, v, to);
    return true;
}
