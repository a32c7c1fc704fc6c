/* Windows that are reduced, rewritten into sums of the shifted tensor: no window is ever stored.
 *
 *     (x.unfold(-1, 3, 1) * w).sum(-1)      x[..., 0:n] * w[0] + x[..., 1:n + 1] * w[1] + ...
 *
 * In: a reduction over the last dimensions of what unfold and elementwise operators make. */
#include "gen/plan/rewrite.h"

#include "gen/plan/prim_int.h"

enum { MOST_PLACES = 49, MOST_WINDOWS = 3, DEEPEST = 16 };

typedef struct Window {
    Rewrite *r;
    int dims; /* how many, all last */
    int64_t size[MOST_WINDOWS], at[MOST_WINDOWS];
} Window;

/* ---- whether ---- */

static int window_dims(Shape s, int dims) { return s.rank < dims ? s.rank : dims; }

/* Has nothing to be laid out: one number, or one for each place of the window. */
static bool is_light(Shape s, int dims)
{
    bool ones = true;
    for (int i = s.rank - window_dims(s, dims); i < s.rank; i++)
        ones = ones && s.dim[i] == 1;
    return ones || s.rank <= dims;
}

/* All that has the window's dimensions is made of unfold; *found: something is. */
static bool is_windowed(const Graph *g, ValueId id, int dims, int depth, bool *found)
{
    const Value *v = graph_value(g, id);
    const Node *node = graph_maker(g, id);
    if (dims == 0 || is_light(v->shape, dims))
        return v->dtype != DT_C64;
    if (!node || depth > DEEPEST || v->dtype == DT_C64)
        return false;
    if (node->op == OP_UNFOLD) {
        Shape in = graph_value(g, node->in[0])->shape;
        int dim = 0;
        *found = true;
        return shape_dim(in, node_int(node, AT_DIM, 0), &dim) && dim <= in.rank - dims &&
               is_windowed(g, node->in[0], dims - 1, depth + 1, found);
    }
    for (uint32_t i = 0; i < node->n_in && op_is_elementwise(node->op); i++)
        if (node->in[i] != VALUE_NONE && !is_windowed(g, node->in[i], dims, depth + 1, found))
            return false;
    return op_is_elementwise(node->op);
}

/* ---- one place ---- */

/* What had dimensions keeps one, as a number without any would have no say in the dtype of a result. */
static ValueId without_last(Rewrite *r, ValueId x, int dims)
{
    Shape s = rw_value(r, x)->shape;
    bool keeps = dims > 0 && s.rank == dims;
    s.rank -= dims;
    return rw_reshape(r, x, keeps ? (Shape){1, {1}} : s);
}

static ValueId place(const Window *w, ValueId id, int dims);

static ValueId place_unfolded(const Window *w, const Node *node, int dims)
{
    Shape to = graph_value(w->r->from, node->out)->shape;
    int64_t step = node_int(node, AT_STEP, 1), at = w->at[dims - 1];
    int dim = 0;
    shape_dim(graph_value(w->r->from, node->in[0])->shape, node_int(node, AT_DIM, 0), &dim);
    ValueId x = place(w, node->in[0], dims - 1);
    return rw_slice(w->r, x, dim, at, at + (to.dim[dim] - 1) * step + 1, step);
}

/* What has a number for each place: that of this one. Of the first `dims` windows it may have the last. */
static ValueId place_light(const Window *w, ValueId id, int dims)
{
    Rewrite *r = w->r;
    ValueId x = r->map[id];
    Shape s = rw_value(r, x)->shape;
    int own = window_dims(s, dims);
    for (int i = 0; i < own; i++) {
        int dim = s.rank - own + i;
        int64_t at = w->at[dims - own + i];
        if (s.dim[dim] > 1)
            x = rw_slice(r, x, dim, at, at + 1, 1);
    }
    return without_last(r, x, own);
}

/* The value at this place of the window, without the window's dimensions. */
static ValueId place(const Window *w, ValueId id, int dims)
{
    Rewrite *r = w->r;
    const Node *node = graph_maker(r->from, id);
    Shape s = graph_value(r->from, id)->shape;
    if (dims == 0)
        return r->map[id];
    if (is_light(s, dims))
        return place_light(w, id, dims);
    if (node->op == OP_UNFOLD)
        return place_unfolded(w, node, dims);
    ValueId *in = arena_array(r->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == VALUE_NONE ? VALUE_NONE : place(w, node->in[i], dims);
    return rw_again(r, node, in);
}

static bool next_place(Window *w)
{
    for (int i = w->dims; i-- > 0; w->at[i] = 0)
        if (++w->at[i] < w->size[i])
            return true;
    return false;
}

/* ---- all places ---- */

/* Combines all places of a window by sum, product, maximum or minimum. With `middle`, it is
 * subtracted and the difference squared first. */
static ValueId combine(Window *w, ValueId x, BINARY_Kind kind, ValueId middle)
{
    Rewrite *r = w->r;
    ValueId all = VALUE_NONE;
    for (int i = 0; i < w->dims; i++)
        w->at[i] = 0;
    do {
        ValueId one = rw_cast(r, place(w, x, w->dims), DT_F32);
        if (middle != VALUE_NONE)
            one = rw_unary(r, UNARY_square, rw_binary(r, BINARY_sub, one, middle));
        all = all == VALUE_NONE ? one : rw_binary(r, kind, all, one);
    } while (next_place(w) && !r->failed);
    return all;
}

static ValueId scaled(Rewrite *r, ValueId x, double by)
{
    return rw_binary(r, BINARY_mul, x, rw_number(r, by));
}

/* The first place and what all are off it by: exact where all are equal, and close to them where they
 * are close together, so that what is measured from here does not cancel. Infinities are off too. */
static ValueId steady_mean(Window *w, ValueId x, int64_t count)
{
    Rewrite *r = w->r;
    for (int i = 0; i < w->dims; i++)
        w->at[i] = 0;
    ValueId first = rw_cast(r, place(w, x, w->dims), DT_F32);
    ValueId base = rw_clamp(r, first, rw_number(r, -1e30), rw_number(r, 1e30));
    ValueId off = rw_binary(r, BINARY_sub, first, base);
    while (next_place(w) && !r->failed) {
        ValueId one = rw_binary(r, BINARY_sub, rw_cast(r, place(w, x, w->dims), DT_F32), base);
        off = rw_binary(r, BINARY_add, off, one);
    }
    return rw_binary(r, BINARY_add, base, scaled(r, off, 1 / (double)count));
}

/* The task asks how far these windows spread, too. */
static bool is_spread(const Graph *g, ValueId x)
{
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const Node *node = &g->nodes.at[i];
        if (node->op == OP_REDUCE && node->in[0] == x &&
            (node->kind == REDUCE_var || node->kind == REDUCE_std))
            return true;
    }
    return false;
}

static ValueId mean_of(Window *w, ValueId x, int64_t count)
{
    if (is_spread(w->r->from, x))
        return steady_mean(w, x, count);
    return scaled(w->r, combine(w, x, BINARY_add, VALUE_NONE), 1 / (double)count);
}

static ValueId reduced(Window *w, const Node *node, int64_t count)
{
    Rewrite *r = w->r;
    ValueId x = node->in[0];
    ValueId sum = VALUE_NONE;
    switch (node->kind) {
    case REDUCE_max: return combine(w, x, BINARY_maximum, VALUE_NONE);
    case REDUCE_min: return combine(w, x, BINARY_minimum, VALUE_NONE);
    case REDUCE_prod: return combine(w, x, BINARY_mul, VALUE_NONE);
    case REDUCE_sum: return combine(w, x, BINARY_add, VALUE_NONE);
    case REDUCE_mean: return mean_of(w, x, count);
    default: break;
    }
    double free = (double)count - node_float(node, AT_A, 1);
    sum = combine(w, x, BINARY_add, mean_of(w, x, count));
    sum = scaled(r, sum, 1 / free);
    return node->kind == REDUCE_std ? rw_unary(r, UNARY_sqrt, sum) : sum;
}

static bool takes(const Node *node, int64_t count)
{
    switch (node->kind) {
    case REDUCE_max:
    case REDUCE_min:
    case REDUCE_prod:
    case REDUCE_sum:
    case REDUCE_mean: return true;
    case REDUCE_var:
    case REDUCE_std: return node_float(node, AT_A, 1) < (double)count;
    default: return false;
    }
}

bool rewrite_window(Rewrite *r, const Node *node, ValueId *out)
{
    if (node->op != OP_REDUCE)
        return false;
    const Value *x = graph_value(r->from, node->in[0]), *y = graph_value(r->from, node->out);
    uint32_t dims = prim_dims(node, x->shape.rank);
    Window w = {.r = r};
    int64_t count = 1;
    bool found = false;
    while (w.dims < MOST_WINDOWS && w.dims < x->shape.rank &&
           dims >> (x->shape.rank - 1 - w.dims) & 1)
        w.dims++;
    for (int i = 0; i < w.dims; i++) {
        w.size[i] = x->shape.dim[x->shape.rank - w.dims + i];
        count *= w.size[i];
    }
    if (w.dims == 0 || dims != ((1u << w.dims) - 1) << (x->shape.rank - w.dims) || count < 1 ||
        count > MOST_PLACES || !dtype_is_float(x->dtype) || !dtype_is_float(y->dtype) ||
        !takes(node, count) || !is_windowed(r->from, node->in[0], w.dims, 0, &found) || !found)
        return false;
    out[0] = rw_reshape(r, rw_cast(r, reduced(&w, node, count), y->dtype), y->shape);
    return true;
}
