/* Windows as values of a nest: pools and pads. In: a node and an index of its result. Out: the value there.
 *
 *     y = max_pool(x, 3, stride 2, padding 1)         axes a (rows of y), h (rows of x, read by windows of a)
 *       v1 = load x [h]
 *       v2 = window max at 2 a + -1 + k, k < 3, along h of v1
 *
 * What a window reads is a value along an axis of its own, so that it is computed once for all windows that share
 * an element. Windows of several dimensions are one window after the other, the outermost dimension first. */
#include "gen/plan/nest/derive_int.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SPATIAL = 3,
    MOST_COUNT = 16, /* elements of a window along one dimension */
    MOST_PAD = 64    /* elements before or behind a dimension */
};

static uint64_t bit(uint32_t axis) { return UINT64_C(1) << axis; }

/* ---- axes ---- */

uint64_t nest_roots(const Nest *nest, uint64_t axes)
{
    uint64_t roots = 0;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (axes >> a & 1)
            roots |= bit(nest->axes.at[a].halo.root ? nest->axes.at[a].halo.root : a);
    return roots;
}

Affine nest_root_index(const Nest *nest, const Affine *index)
{
    Affine out = affine_number(index->at);
    for (uint32_t i = 0; i < index->n; i++) {
        uint32_t root = nest->axes.at[index->term[i].axis].halo.root;
        Affine term = affine_axis(root ? root : index->term[i].axis, index->term[i].by);
        affine_add(&out, &term, 1);
    }
    return out;
}

bool nest_has_window(const Nest *nest, uint32_t axis)
{
    if (nest->axes.at[axis].halo.root)
        return true;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (nest->axes.at[a].halo.root == axis)
            return true;
    return false;
}

bool nest_has_windows(const Nest *nest)
{
    for (NestId i = 1; i < nest->values.len; i++)
        if (nest->values.at[i].op == NEST_WINDOW && nest->values.at[i].uses)
            return true;
    return false;
}

/* The axis of `size` elements that windows of axis `to`, `by` apart, read; 0: there are too many axes. */
static uint32_t halo_axis(Derive *d, uint32_t to, int64_t by, int64_t size)
{
    NestHalo of = d->nest->axes.at[to].halo;
    NestHalo halo = {.root = of.root ? of.root : to,
                     .level = of.level + 1,
                     .scale = (of.root ? of.scale : 1) * by};
    for (uint32_t a = 1; a < d->nest->axes.len; a++) {
        const NestAxis *axis = &d->nest->axes.at[a];
        if (axis->halo.root == halo.root && axis->halo.level == halo.level &&
            axis->halo.scale == halo.scale && axis->size == size)
            return a;
    }
    if (d->nest->axes.len + 1 >= NEST_MAX_AXES)
        return 0;
    vec_push(d->arena, &d->nest->axes, ((NestAxis){.size = size, .whole = size, .halo = halo}));
    return d->nest->axes.len - 1;
}

/* ---- windows ---- */

/* A window along one dimension of the operand, and the axis that it reads. */
typedef struct DimWindow {
    int dim;
    uint32_t axis;
    NestWindow window;
} DimWindow;

typedef struct DimWindows {
    int n;
    DimWindow at[GRAPH_MAX_RANK];
    PrimReduce reduce;
    double fill;
} DimWindows;

/* The window stands at `by` times what the index is, and `at`. False: the index is no multiple of one axis. */
static bool add_window(Derive *d, DimWindows *w, int dim, const Affine *index, int64_t size,
                       NestWindow window)
{
    if (index->n != 1 || index->term[0].by < 1)
        return false;
    window.to = index->term[0].axis;
    window.at += window.by * index->at;
    window.by *= index->term[0].by;
    DimWindow one = {dim, halo_axis(d, window.to, window.by, size), window};
    w->at[w->n++] = one;
    return one.axis != 0;
}

/* Whether some window reads what is outside. */
static bool leaves(const Nest *nest, const DimWindow *w)
{
    const NestWindow *k = &w->window;
    return k->at < 0 ||
           k->by * (nest->axes.at[k->to].size - 1) + k->at + k->step * (k->count - 1) >=
               nest->axes.at[w->axis].size;
}

static bool derive_windows(Derive *d, const Node *node, const NestIndex *index, const DimWindows *w,
                           NestId *out)
{
    NestIndex inner = *index;
    for (int i = 0; i < w->n; i++)
        inner.dim[w->at[i].dim] = affine_axis(w->at[i].axis, 1);
    if (!derive_at(d, node->in[0], &inner, out))
        return false;
    *out = derive_number(d->nest, *out);
    for (int i = 0; i < w->n; i++) {
        if (!(d->nest->values.at[*out].axes & bit(w->at[i].axis)))
            return derive_refuse(d, node, "a window over a constant is not planned");
        *out = nest_window(d->nest, w->reduce, *out, w->at[i].axis, &w->at[i].window, w->fill);
    }
    return true;
}

/* ---- pools ---- */

static int64_t int_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    if (!a || !a->ints.len)
        return fallback;
    return a->ints.at[a->ints.len == 1 ? 0 : (uint32_t)i];
}

/* How many elements count of a window that begins at `from`: those up to `end`, and behind `begin`. */
static NestId count_along(Nest *nest, const Affine *from, int64_t size, int64_t begin, int64_t end)
{
    NestId first = nest_place(nest, from);
    NestId behind = nest_map2(nest, "$0 + $1", first, nest_number(nest, (double)size));
    NestId last = nest_map2(nest, "min($0, $1)", behind, nest_number(nest, (double)end));
    first = nest_map2(nest, "max($0, $1)", first, nest_number(nest, (double)begin));
    return nest_map2(nest, "$0 - $1", last, first);
}

/* What a mean divides by: a number, or counts along each dimension. */
static NestId mean_divisor(Derive *d, const Node *node, const NestIndex *index)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    Shape in = graph_value(d->graph, node->in[0])->shape,
          out = graph_value(d->graph, node->out)->shape;
    int first = in.rank - (int)kernel->ints.len;
    bool pads = node_bool(node, AT_COUNT_PAD);
    double count = (double)node_int(node, AT_DIVISOR, 0);
    NestId varies = 0;
    if (count != 0)
        return nest_number(d->nest, count);
    count = 1;
    for (int i = 0; i < (int)kernel->ints.len; i++) {
        int64_t size = kernel->ints.at[i], stride = int_at(node, AT_STRIDE, i, size);
        int64_t padding = int_at(node, AT_PADDING, i, 0), end = in.dim[first + i];
        int64_t last = (out.dim[first + i] - 1) * stride - padding + size;
        end += pads ? padding : 0;
        if (last <= end && (pads || !padding)) {
            count *= (double)size;
            continue;
        }
        Affine from = affine_number(-padding);
        affine_add(&from, &index->dim[first + i], stride);
        NestId along = count_along(d->nest, &from, size, pads ? -padding : 0, end);
        varies = varies ? nest_map2(d->nest, "$0 * $1", varies, along) : along;
    }
    NestId number = nest_number(d->nest, count);
    return !varies ? number : count == 1 ? varies : nest_map2(d->nest, "$0 * $1", varies, number);
}

/* False: its windows are none that this file holds. */
static bool pool_windows(Derive *d, const Node *node, const NestIndex *index, DimWindows *w)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    Shape in = graph_value(d->graph, node->in[0])->shape;
    bool max = node->kind == POOL_max, shared = false;
    *w = (DimWindows){.reduce = max ? PRIM_MAX : PRIM_SUM, .fill = max ? -INFINITY : 0};
    if (node->kind == POOL_lp || !kernel || (int)kernel->ints.len > MOST_SPATIAL)
        return false;
    for (int i = 0; i < (int)kernel->ints.len; i++) {
        int dim = in.rank - (int)kernel->ints.len + i;
        int64_t size = kernel->ints.at[i], stride = int_at(node, AT_STRIDE, i, size);
        int64_t padding = int_at(node, AT_PADDING, i, 0);
        NestWindow window = {
            .by = stride, .at = -padding, .step = int_at(node, AT_DILATION, i, 1), .count = size};
        shared = shared || stride < size || padding;
        if (size == 1 && stride == 1 && !padding)
            continue;
        if (size > MOST_COUNT || !add_window(d, w, dim, &index->dim[dim], in.dim[dim], window))
            return false;
        shared = shared || leaves(d->nest, &w->at[w->n - 1]);
    }
    return shared;
}

static bool at_pool(Derive *d, const Node *node, const NestIndex *index, const DimWindows *w,
                    NestId *out)
{
    if (!derive_windows(d, node, index, w, out))
        return false;
    if (w->reduce == PRIM_MAX)
        return true;
    NestId by = mean_divisor(d, node, index);
    const NestValue *number = &d->nest->values.at[by];
    *out = number->op == NEST_NUMBER && !d->decides[node->out]
               ? nest_map2(d->nest, "$0 * $1", *out, nest_number(d->nest, 1 / number->number))
               : nest_map2(d->nest, "$0 / $1", *out, by);
    return true;
}

/* ---- pads ---- */

/* Few elements before and behind dimensions of which the result reads every k-th. */
static bool pad_windows(Derive *d, const Node *node, const NestIndex *index, DimWindows *w)
{
    const Attr *pads = node_attr(node, AT_PADS);
    Shape in = graph_value(d->graph, node->in[0])->shape;
    Str mode = node_text(node, AT_MODE);
    *w = (DimWindows){.reduce = PRIM_SUM, .fill = node_float(node, AT_VALUE, 0)};
    if (str_is(mode, "circular") || !pads)
        return false;
    for (int i = 0; i < in.rank; i++) {
        uint32_t at = 2 * (uint32_t)(in.rank - 1 - i);
        int64_t low = at < pads->ints.len ? pads->ints.at[at] : 0;
        int64_t high = at + 1 < pads->ints.len ? pads->ints.at[at + 1] : 0;
        NestWindow window = {.by = 1,
                             .at = -low,
                             .step = 1,
                             .count = 1,
                             .edge = str_is(mode, "reflect")     ? NEST_REFLECT
                                     : str_is(mode, "replicate") ? NEST_CLAMP
                                                                 : NEST_FILL};
        if (!low && !high)
            continue;
        if (low > MOST_PAD || high > MOST_PAD ||
            !add_window(d, w, i, &index->dim[i], in.dim[i], window))
            return false;
    }
    return w->n > 0;
}

bool derive_window(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken)
{
    DimWindows w;
    *taken = (node->op == OP_POOL && pool_windows(d, node, index, &w)) ||
             (node->op == OP_PAD && pad_windows(d, node, index, &w));
    if (!*taken)
        return false;
    return node->op == OP_POOL ? at_pool(d, node, index, &w, out)
                               : derive_windows(d, node, index, &w, out);
}

/* ---- the whole nest ---- */

/* What windows of the next level need, from what those before them need. */
static void widen(Nest *nest, const NestValue *v, bool *seen)
{
    const NestWindow *w = &v->window;
    uint32_t axis = 1;
    while (!(v->over >> axis & 1))
        axis++;
    NestHalo of = nest->axes.at[w->to].halo, *halo = &nest->axes.at[axis].halo;
    int64_t low = w->by * of.low + w->at, high = w->by * of.high + w->at + w->step * (w->count - 1);
    if (w->edge != NEST_FILL) { /* what stands for elements outside is in the same tile */
        int64_t more = (high > 0 ? high : 0) - (low < 0 ? low : 0);
        low -= more;
        high += more;
    }
    halo->low = !seen[axis] || low < halo->low ? low : halo->low;
    halo->high = !seen[axis] || high > halo->high ? high : halo->high;
    seen[axis] = true;
}

/* The load reads what the other one, under windows, does: element by element from one axis to the other. */
static bool is_under(const Nest *nest, const NestValue *load, const NestValue *under)
{
    bool windows = false;
    if (under->op != NEST_LOAD || under->tensor != load->tensor)
        return false;
    for (uint32_t i = 0; i < under->index.n; i++) {
        const NestAxis *a = &nest->axes.at[under->index.term[i].axis];
        windows = windows || a->halo.root;
        if (a->halo.root && (a->halo.scale != 1 || a->size != nest->axes.at[a->halo.root].size))
            return false;
    }
    Affine index = nest_root_index(nest, &under->index);
    return windows && affine_equal(&index, &load->index);
}

/* Wraps the load in windows of one element each: the same element, read as the other loads read
 * theirs. */
static NestId through_windows(Nest *nest, NestId under)
{
    Affine index = nest->values.at[under].index;
    NestId out = under;
    for (uint32_t n = 0; n < index.n; n++) { /* the outermost first */
        uint32_t best = 0;
        for (uint32_t i = 1; i < index.n; i++)
            best = index.term[i].by > index.term[best].by ? i : best;
        uint32_t axis = index.term[best].axis;
        NestWindow w = {.to = nest->axes.at[axis].halo.root, .by = 1, .step = 1, .count = 1};
        index.term[best].by = 0;
        if (w.to)
            out = nest_window(nest, PRIM_SUM, out, axis, &w, 0);
    }
    return out;
}

static void order_value(const Nest *from, Nest *to, NestId id, NestId *names)
{
    if (names[id])
        return;
    NestValue v = from->values.at[id];
    for (uint32_t i = 0; i < v.n_arg; i++) {
        order_value(from, to, v.arg[i], names);
        v.arg[i] = names[v.arg[i]];
    }
    if (v.follows) {
        order_value(from, to, v.follows, names);
        v.follows = names[v.follows];
    }
    vec_push(to->arena, &to->values, v);
    names[id] = to->values.len - 1;
}

/* Arguments before those that use them again, and nothing that is not used. */
static void order_values(Nest *nest)
{
    Nest from = *nest;
    NestId *names = arena_array(nest->arena, NestId, nest->values.len);
    memset(&nest->values, 0, sizeof nest->values);
    vec_push(nest->arena, &nest->values, (NestValue){0});
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        order_value(&from, nest, nest->stores.at[i].value, names);
        nest->stores.at[i].value = names[nest->stores.at[i].value];
    }
}

void derive_halos(Nest *nest)
{
    bool seen[NEST_MAX_AXES] = {false};
    uint32_t n = nest->values.len, most = 0;
    for (NestId i = 1; i < n; i++)
        for (NestId k = 1; k < n && nest->values.at[i].op == NEST_LOAD; k++) {
            if (!is_under(nest, &nest->values.at[i], &nest->values.at[k]))
                continue;
            NestId other = through_windows(nest, k);
            for (NestId u = 1; u < n; u++)
                for (uint32_t g = 0; g < nest->values.at[u].n_arg; g++)
                    if (nest->values.at[u].arg[g] == i)
                        nest->values.at[u].arg[g] = other;
            for (uint32_t s = 0; s < nest->stores.len; s++)
                if (nest->stores.at[s].value == i)
                    nest->stores.at[s].value = other;
            break;
        }
    for (uint32_t a = 1; a < nest->axes.len; a++)
        most = nest->axes.at[a].halo.level > most ? nest->axes.at[a].halo.level : most;
    if (most)
        order_values(nest);
    for (uint32_t level = 1; level <= most; level++)
        for (NestId i = 1; i < nest->values.len; i++)
            if (nest->values.at[i].op == NEST_WINDOW &&
                nest->axes.at[nest->values.at[i].window.to].halo.level + 1 == level)
                widen(nest, &nest->values.at[i], seen);
}
