/* Shapes of tensors from their accesses; see layout.h. */
#include "gen/plan/build/layout.h"

static bool refuse_layout(Diag *diag, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "the planner cannot plan this task in one kernel: %s", why);
    return false;
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* ---- strides ---- */

static bool add_stride(LayoutTensor *t, int64_t stride)
{
    uint32_t at = 0;
    while (at < t->rank && t->dim[at].stride > stride)
        at++;
    if (at < t->rank && t->dim[at].stride == stride)
        return true;
    if (t->rank == LAYOUT_RANK)
        return false;
    for (uint32_t i = t->rank; i > at; i--)
        t->dim[i] = t->dim[i - 1];
    t->dim[at] = (LayoutDim){.stride = stride};
    t->rank++;
    return true;
}

/* What lies next to each other in a box is one dimension, whatever axes walk it. */
static bool add_box_strides(const Nest *nest, LayoutTensor *t, const Affine *index)
{
    uint32_t other;
    int64_t run = nest_box_run(nest, index, &other);
    bool ok = add_stride(t, 1);
    for (uint32_t i = 0; i < index->n && ok; i++)
        if (index->term[i].by >= run)
            ok = add_stride(t, index->term[i].by);
    return ok;
}

static bool add_strides(const Nest *nest, LayoutTensor *t, const Affine *index)
{
    bool ok = true;
    if (nest_boxed(nest, index))
        return add_box_strides(nest, t, index);
    for (uint32_t i = 0; i < index->n && ok; i++)
        ok = add_stride(t, magnitude(index->term[i].by));
    return ok;
}

/* Sizes from strides. The last dimension counts single elements, whatever the stride of its axes. */
static bool finish_dims(LayoutTensor *t, int64_t count)
{
    if (t->rank == 0 && !add_stride(t, 1))
        return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t above = i ? t->dim[i - 1].stride : count;
        t->dim[i].unit = i + 1 == t->rank ? 1 : t->dim[i].stride;
        if (above % t->dim[i].stride)
            return false;
        t->dim[i].size = above / t->dim[i].unit;
    }
    return true;
}

/* The dimension that a stride walks: the innermost one that it steps over in whole indices. */
static uint32_t dim_of(const LayoutTensor *t, int64_t by)
{
    uint32_t i = 0;
    while (i + 1 < t->rank && (magnitude(by) < t->dim[i].unit || magnitude(by) % t->dim[i].unit))
        i++;
    return i;
}

void layout_index(const Nest *nest, const LayoutTensor *tensor, const Affine *index,
                  LayoutIndex out[LAYOUT_RANK])
{
    int64_t rest = index->at;
    (void)nest;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const LayoutDim *dim = &tensor->dim[i];
        out[i] = (LayoutIndex){0};
        out[i].at = rest / dim->unit;
        rest -= out[i].at * dim->unit;
    }
    for (uint32_t k = 0; k < index->n; k++) {
        LayoutIndex *at = &out[dim_of(tensor, index->term[k].by)];
        int64_t by = index->term[k].by / tensor->dim[at - out].unit;
        if (!at->axis) {
            at->axis = index->term[k].axis;
            at->by = by;
        } else if (magnitude(by) > magnitude(at->by)) {
            at->inner = at->axis;
            at->axis = index->term[k].axis;
            at->by = by;
        } else {
            at->inner = index->term[k].axis;
        }
    }
}

/* Every dimension but the last has one axis, and all stay inside. */
static bool box_fits(const Nest *nest, const LayoutTensor *t, const Affine *index)
{
    int64_t high[LAYOUT_RANK] = {0}, rest = index->at;
    uint32_t axes[LAYOUT_RANK] = {0};
    for (uint32_t i = 0; i < t->rank; i++) {
        high[i] = rest / t->dim[i].unit;
        rest -= high[i] * t->dim[i].unit;
    }
    for (uint32_t k = 0; k < index->n; k++) {
        uint32_t i = dim_of(t, index->term[k].by);
        high[i] += index->term[k].by / t->dim[i].unit *
                   (nest->axes.at[index->term[k].axis].size - 1);
        axes[i]++;
    }
    for (uint32_t i = 0; i < t->rank; i++)
        if (high[i] >= t->dim[i].size || (axes[i] > 1 && i + 1 < t->rank))
            return false;
    return index->at >= 0;
}

/* Every index stays inside its dimension, and no two axes walk the same, but a step and inside it. */
static bool index_fits(const Nest *nest, const LayoutTensor *t, const Affine *index)
{
    LayoutIndex at[LAYOUT_RANK];
    uint32_t found = 0;
    if (nest_boxed(nest, index))
        return box_fits(nest, t, index);
    layout_index(nest, t, index, at);
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t last = at[i].axis ? at[i].by * (nest->axes.at[at[i].axis].size - 1) : 0;
        int64_t low = at[i].at + (last < 0 ? last : 0), high = at[i].at + (last > 0 ? last : 0);
        found += at[i].inner ? 2 : at[i].axis ? 1 : 0;
        if (at[i].inner) {
            int64_t inner = nest->axes.at[at[i].inner].size;
            if (i + 1 < t->rank || at[i].by < inner || affine_by(index, at[i].inner) != 1 ||
                at[i].at % at[i].by + inner > at[i].by)
                return false;
            high += inner - 1;
        }
        if (low < 0 || high >= t->dim[i].size)
            return false;
    }
    return found == index->n;
}

/* ---- sizes ---- */

static uint32_t first_same(const Layout *l, uint32_t axis)
{
    while (l->same[axis] != axis)
        axis = l->same[axis];
    return axis;
}

static void same_size(Layout *l, uint32_t a, uint32_t b)
{
    a = first_same(l, a);
    b = first_same(l, b);
    l->same[a < b ? b : a] = a < b ? a : b;
}

static bool is_whole(const Nest *nest, const LayoutDim *dim, const LayoutIndex *at)
{
    int64_t step = dim->stride / dim->unit;
    bool ahead = at->by == step && at->at >= 0 && at->at < step;
    bool back = at->by == -1 && at->at == dim->size - 1;
    if (at->inner && nest->axes.at[at->inner].size != step)
        return false;
    return at->axis && nest->axes.at[at->axis].size * step == dim->size && (ahead || back);
}

/* A dimension gets the size of the axes that walk all of it. */
static void name_dims(const Nest *nest, LayoutTensor *t, const Affine *index, Layout *l)
{
    LayoutIndex at[LAYOUT_RANK];
    uint32_t named = t->rank - (nest_boxed(nest, index) ? 1 : 0);
    layout_index(nest, t, index, at);
    for (uint32_t i = 0; i < named; i++) {
        if (!is_whole(nest, &t->dim[i], &at[i]))
            continue;
        if (t->dim[i].axis)
            same_size(l, t->dim[i].axis, at[i].axis);
        else
            t->dim[i].axis = at[i].axis;
    }
}

/* Axes that walk a part of a dimension, or a part that the task itself cut, keep their size; and so does
 * a dimension that some access walks in part. */
static void fix_sizes(const Nest *nest, const LayoutTensor *t, const Affine *index, Layout *l)
{
    LayoutIndex at[LAYOUT_RANK];
    layout_index(nest, t, index, at);
    for (uint32_t k = 0; k < index->n && nest_boxed(nest, index); k++)
        if (dim_of(t, index->term[k].by) + 1 == t->rank)
            l->free[first_same(l, index->term[k].axis)] = false;
    for (uint32_t i = 0; i < t->rank; i++) {
        bool whole = is_whole(nest, &t->dim[i], &at[i]);
        if (at[i].axis && (!whole || at[i].by < 0 || nest->axes.at[at[i].axis].part))
            l->free[first_same(l, at[i].axis)] = false;
        if (at[i].inner)
            l->free[first_same(l, at[i].inner)] = false;
        if (!whole && t->dim[i].axis && t->dim[i].size > 1)
            l->free[first_same(l, t->dim[i].axis)] = false;
    }
}

typedef void PerAccess(const Nest *nest, LayoutTensor *t, const Affine *index, Layout *l);

static void each_access(const Nest *nest, Layout *l, PerAccess *visit)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (nest_reads(&nest->values.at[i]))
            visit(nest, &l->tensors[nest->values.at[i].tensor], &nest->values.at[i].index, l);
    for (uint32_t i = 0; i < nest->stores.len; i++)
        visit(nest, &l->tensors[nest->stores.at[i].tensor], &nest->stores.at[i].index, l);
}

static void fix_access(const Nest *nest, LayoutTensor *t, const Affine *index, Layout *l)
{
    fix_sizes(nest, t, index, l);
}

/* Whether all accesses of the tensor fit its dimensions. */
static bool accesses_fit(const Nest *nest, const LayoutTensor *t, uint32_t tensor)
{
    bool ok = true;
    for (uint32_t i = 1; i < nest->values.len && ok; i++)
        if (nest_reads(&nest->values.at[i]) && nest->values.at[i].tensor == tensor)
            ok = index_fits(nest, t, &nest->values.at[i].index);
    for (uint32_t i = 0; i < nest->stores.len && ok; i++)
        if (nest->stores.at[i].tensor == tensor)
            ok = index_fits(nest, t, &nest->stores.at[i].index);
    return ok;
}

static bool try_dims(const Nest *nest, LayoutTensor t, uint32_t tensor, uint32_t drop, Layout *l)
{
    for (uint32_t i = drop; i + 1 < t.rank && drop < t.rank; i++)
        t.dim[i] = t.dim[i + 1];
    t.rank -= drop < t.rank;
    if (!finish_dims(&t, nest->tensors.at[tensor].count) || !accesses_fit(nest, &t, tensor))
        return false;
    l->tensors[tensor] = t;
    return true;
}

/* A dimension for each stride; but what is read in small steps and inside them has one for both, and so has
 * what is read in steps here and element by element there. */
static bool make_dims(const Nest *nest, uint32_t tensor, bool inside, Layout *l)
{
    enum { MOST_INSIDE = 4 };
    LayoutTensor t = l->tensors[tensor];
    uint32_t last = t.rank - 1;
    if (inside && t.rank > 1 && nest->tensors.at[tensor].role == NEST_INPUT &&
        t.dim[last].stride == 1 && t.dim[last - 1].stride <= MOST_INSIDE &&
        try_dims(nest, t, tensor, last, l))
        return true;
    return try_dims(nest, t, tensor, t.rank, l) ||
           (t.rank > 1 && try_dims(nest, t, tensor, last - 1, l));
}

static bool make_tensors(const Nest *nest, bool inside, Layout *l)
{
    bool ok = true;
    for (uint32_t i = 1; i < nest->values.len && ok; i++)
        if (nest_reads(&nest->values.at[i]))
            ok = add_strides(nest, &l->tensors[nest->values.at[i].tensor],
                             &nest->values.at[i].index);
    for (uint32_t i = 0; i < nest->stores.len && ok; i++)
        ok = add_strides(nest, &l->tensors[nest->stores.at[i].tensor], &nest->stores.at[i].index);
    for (uint32_t i = 0; i < nest->tensors.len && ok; i++)
        ok = make_dims(nest, i, inside, l);
    return ok;
}

/* Sizes are read from the inputs: what no input has as a dimension keeps its size. */
static void fix_unread(const Nest *nest, Layout *l)
{
    bool read[NEST_MAX_AXES] = {false};
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        for (uint32_t k = 0; k < l->tensors[i].rank && nest->tensors.at[i].role == NEST_INPUT; k++)
            if (l->tensors[i].dim[k].stride == l->tensors[i].dim[k].unit)
                read[first_same(l, l->tensors[i].dim[k].axis)] = true;
    for (uint32_t i = 1; i < nest->axes.len; i++)
        if (!read[first_same(l, i)])
            l->free[first_same(l, i)] = false;
}

bool layout_make(const Nest *nest, bool inside, Layout *l, Diag *diag)
{
    *l = (Layout){.tensors = arena_array(nest->arena, LayoutTensor, nest->tensors.len)};
    for (uint32_t i = 0; i < nest->axes.len; i++) {
        l->same[i] = i;
        l->free[i] = true;
    }
    if (!make_tensors(nest, inside, l))
        return refuse_layout(diag, "a tensor is read in two shapes that no common view has");
    each_access(nest, l, name_dims);
    each_access(nest, l, fix_access);
    fix_unread(nest, l);
    for (uint32_t i = 1; i < nest->axes.len; i++) /* places under windows are numbers */
        if (nest->axes.at[i].halo.root)
            l->free[first_same(l, i)] = l->free[first_same(l, nest->axes.at[i].halo.root)] = false;
    for (uint32_t i = 1; i < nest->axes.len; i++) /* a folded axis has the size of its parts */
        for (uint32_t k = 0; k < nest->axes.at[i].fold.n; k++)
            l->free[first_same(l, nest->axes.at[i].fold.axis[k])] = false;
    for (uint32_t i = 1; i < nest->axes.len; i++)
        if (nest->axes.at[i].fold.n)
            l->free[first_same(l, i)] = false;
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        uint32_t first = first_same(l, i);
        l->same[i] = first;
        l->free[i] = l->free[first];
        l->size[i] = l->free[i] ? str_format(nest->arena, "n%u", first)
                                : str_format(nest->arena, "%lld", (long long)nest->axes.at[i].size);
    }
    return true;
}

const char *layout_shape(const Nest *nest, const Layout *l, uint32_t tensor)
{
    const LayoutTensor *t = &l->tensors[tensor];
    Buf out = {0};
    for (uint32_t i = 0; i < t->rank; i++) {
        buf_puts(&out, i ? ", " : "");
        if (t->dim[i].axis && t->dim[i].stride != t->dim[i].unit)
            buf_printf(&out, "%lld * ", (long long)(t->dim[i].stride / t->dim[i].unit));
        if (t->dim[i].axis)
            buf_puts(&out, l->size[t->dim[i].axis]);
        else
            buf_printf(&out, "%lld", (long long)t->dim[i].size);
    }
    char *text = buf_take(&out, nest->arena);
    buf_free(&out);
    return text;
}
