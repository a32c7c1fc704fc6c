/* Views of tensors: their dimensions as axes of a kernel. In: an affine access of a flat tensor. Out: dimensions of the
 * tensor, each with the part of the access that walks it; what does not fall apart so is gathered. */
#include "gen/pallas/pallas_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- the tensor's own dimensions ---- */

static bool dims_of_shape(Shape shape, int64_t count, PallasView *view)
{
    int64_t stride = count;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] <= 0 || stride % shape.dim[i])
            return false;
        stride /= shape.dim[i];
        if (shape.dim[i] > 1 && view->n == PALLAS_DIMS)
            return false;
        if (shape.dim[i] > 1)
            view->dim[view->n++] = (PallasDim){.size = shape.dim[i], .stride = stride};
    }
    return stride == 1;
}

/* Gives an access that walks all of the tensor one dimension for each axis. */
static bool dims_of_access(const Nest *nest, const Affine *index, int64_t count, PallasView *view)
{
    int64_t above = count;
    bool done[AFFINE_TERMS] = {false};
    for (uint32_t i = 0; i < index->n; i++) {
        uint32_t best = 0;
        int64_t by = 0;
        for (uint32_t t = 0; t < index->n; t++)
            if (!done[t] && llabs(index->term[t].by) > by) {
                best = t;
                by = llabs(index->term[t].by);
            }
        done[best] = true;
        if (!by || above % by || above / by < nest->axes.at[index->term[best].axis].size)
            return false;
        view->dim[view->n++] = (PallasDim){.size = above / by, .stride = by};
        above = by;
    }
    if (above > 1)
        view->dim[view->n++] = (PallasDim){.size = above, .stride = 1};
    return true;
}

static bool start_dims(const Nest *nest, uint32_t tensor, PallasView *view)
{
    const NestTensor *t = &nest->tensors.at[tensor];
    *view = (PallasView){0};
    if (t->value != VALUE_NONE && t->role == NEST_INPUT)
        return dims_of_shape(graph_value(nest->graph, t->value)->shape, t->count, view);
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (nest->stores.at[i].tensor == tensor)
            return dims_of_access(nest, &nest->stores.at[i].index, t->count, view);
    return false;
}

/* ---- terms ---- */

static void range_of(const Nest *nest, const PallasDim *d, int64_t *low, int64_t *high)
{
    *low = *high = d->at;
    for (uint32_t i = 0; i < d->n; i++) {
        int64_t most = d->term[i].by * (nest->axes.at[d->term[i].axis].size - 1);
        *(most < 0 ? low : high) += most;
    }
}

/* Terms go to the dimension with the largest stride below theirs. */
static bool place_terms(const Affine *index, PallasView *view)
{
    for (uint32_t i = 0; i < index->n; i++) {
        AffineTerm t = index->term[i];
        uint32_t d = 0;
        while (d + 1 < view->n && view->dim[d].stride > llabs(t.by))
            d++;
        if (!view->n || t.by % view->dim[d].stride)
            return false;
        t.by /= view->dim[d].stride;
        view->dim[d].term[view->dim[d].n++] = t;
    }
    return true;
}

/* A dimension whose terms leave it becomes one with the dimension around it. */
static bool join_dims(const Nest *nest, const Affine *index, PallasView *view)
{
    for (uint32_t d = 0; d < view->n; d++) {
        int64_t low, high;
        range_of(nest, &view->dim[d], &low, &high);
        if (high - low < view->dim[d].size)
            continue;
        if (!d)
            return false;
        view->dim[d - 1].size *= view->dim[d].size;
        view->dim[d - 1].stride = view->dim[d].stride;
        for (uint32_t i = d; i + 1 < view->n; i++)
            view->dim[i] = view->dim[i + 1];
        view->n--;
        for (uint32_t i = 0; i < view->n; i++)
            view->dim[i].n = 0;
        return place_terms(index, view) && join_dims(nest, index, view);
    }
    return true;
}

/* ---- where each dimension begins ---- */

/* The bounds under which an access is made: leaves of a mask that are joined by "and". */
static void find_bounds(const Nest *nest, NestId id, const NestValue **bounds, uint32_t *n)
{
    const NestValue *v = &nest->values.at[id];
    if (v->op == NEST_INSIDE && *n < PALLAS_DIMS)
        bounds[(*n)++] = v;
    for (uint32_t i = 0; v->op == NEST_MAP && v->mask && i < v->n_arg; i++)
        if (nest->values.at[v->arg[i]].op == NEST_INSIDE || nest->values.at[v->arg[i]].mask)
            find_bounds(nest, v->arg[i], bounds, n);
}

static bool is_bound(const PallasDim *d, const NestValue *bound)
{
    if (bound->bound != d->size || bound->index.n != d->n || !d->n)
        return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (affine_by(&bound->index, d->term[i].axis) != d->term[i].by)
            return false;
    return true;
}

static bool place_begins(const Nest *nest, int64_t at, NestId mask, PallasView *view)
{
    const NestValue *bounds[PALLAS_DIMS];
    uint32_t n = 0;
    bool found[PALLAS_DIMS] = {false};
    if (mask)
        find_bounds(nest, mask, bounds, &n);
    for (uint32_t d = 0; d < view->n; d++)
        for (uint32_t i = 0; i < n && !found[d]; i++)
            if (is_bound(&view->dim[d], bounds[i])) {
                view->dim[d].at = bounds[i]->index.at;
                at -= view->dim[d].at * view->dim[d].stride;
                found[d] = true;
            }
    for (uint32_t d = 0; d < view->n; d++) {
        int64_t low, high;
        range_of(nest, &view->dim[d], &low, &high);
        if (!found[d])
            at += low * view->dim[d].stride; /* low <= 0: terms that walk backwards */
    }
    for (uint32_t d = 0; d < view->n; d++) {
        int64_t low, high, digit = at / view->dim[d].stride;
        if (found[d])
            continue;
        range_of(nest, &view->dim[d], &low, &high);
        view->dim[d].at = digit - low;
        at -= digit * view->dim[d].stride;
        if (digit < 0 || digit + high - low >= view->dim[d].size)
            return false;
    }
    return at == 0;
}

/* ---- dimensions of two axes ---- */

/* Two terms of which the first steps over all of the second are two dimensions. */
static void split_dims(const Nest *nest, PallasView *view)
{
    for (uint32_t d = 0; d < view->n && view->n < PALLAS_DIMS; d++) {
        PallasDim *dim = &view->dim[d];
        if (dim->n < 2 || dim->at || dim->picked)
            continue;
        uint32_t least = 0;
        int64_t cover = 1, last;
        for (uint32_t i = 1; i < dim->n; i++)
            least = llabs(dim->term[i].by) < llabs(dim->term[least].by) ? i : least;
        last = nest->axes.at[dim->term[least].axis].size;
        bool fits = dim->term[least].by == 1 && dim->size % last == 0;
        for (uint32_t i = 0; i < dim->n; i++) {
            fits = fits && dim->term[i].by > 0 && (i == least || dim->term[i].by % last == 0);
            cover += dim->term[i].by * (nest->axes.at[dim->term[i].axis].size - 1);
        }
        if (!fits || cover > dim->size)
            continue;
        for (uint32_t i = view->n; i > d + 1; i--)
            view->dim[i] = view->dim[i - 1];
        view->n++;
        PallasDim *inner = &view->dim[d + 1];
        *inner = (PallasDim){.size = last, .stride = dim->stride, .n = 1};
        inner->term[0] = dim->term[least];
        dim->size /= last;
        dim->stride *= last;
        uint32_t n = 0;
        for (uint32_t i = 0; i < dim->n; i++)
            if (i != least) {
                dim->term[n] = dim->term[i];
                dim->term[n++].by /= last;
            }
        dim->n = n;
        d--;
    }
}

/* Axes that neither the grid nor a block has: windows, walked by loops of the kernel. */
static bool is_loop(const PallasKernel *k, uint32_t axis)
{
    return !((k->loops.kept | k->loops.row) >> axis & 1);
}

/* Along a dimension that the grid walks, blocks overlap by what their windows need. inner: the
 * dimensions after it. */
static void set_halo(const Nest *nest, const PallasKernel *k, PallasDim *d, uint32_t inner)
{
    int64_t steps = d->phases ? d->phases : 1, most = d->at + d->pad_low;
    int64_t unit = inner == 0 ? PALLAS_LANES : inner == 1 ? PALLAS_SUBLANES : 1;
    uint32_t axis = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (is_loop(k, d->term[i].axis))
            most += d->term[i].by > 0 ? d->term[i].by * (nest->axes.at[d->term[i].axis].size - 1)
                                      : 0;
        else
            axis = d->term[i].axis;
    int64_t blocks = pallas_blocks(nest, k, axis);
    if (blocks == 1)
        return;
    d->walks = axis;
    d->halo = (k->block[axis] + most / steps + unit - 1) / unit * unit;
    int64_t all = ((blocks - 1) * k->block[axis] + d->halo) * steps;
    int64_t padded_now = d->size + d->pad_low + d->pad_end;
    d->pad_end += all > padded_now ? all - padded_now : 0;
}

/* What the kernel takes of a dimension itself: its ends are padded so that every index is inside. */
static void keep_whole(const Nest *nest, const PallasKernel *k, PallasDim *d, bool gather,
                       uint32_t inner)
{
    int64_t low = d->at, high = d->at;
    uint32_t others = 0;
    d->whole = true;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t axis = d->term[i].axis;
        int64_t size = nest->axes.at[axis].size;
        if (!is_loop(k, axis)) {
            size = pallas_blocks(nest, k, axis) * k->block[axis];
            d->phases = d->term[i].by;
            others++;
        }
        *(d->term[i].by < 0 ? &low : &high) += d->term[i].by * (size - 1);
    }
    d->pad_low = low < 0 ? -low : 0;
    d->pad_end = high >= d->size ? high - d->size + 1 : 0;
    if (gather || others != 1 || d->phases < 2)
        d->phases = 0;
    if (!gather && others == 1)
        set_halo(nest, k, d, inner);
    if (d->phases)
        d->pad_end += (d->phases - (d->size + d->pad_low + d->pad_end) % d->phases) % d->phases;
}

/* A block of windows needs gathering when two axes of the blocks walk one dimension. */
static bool needs_gather(const PallasKernel *k, const PallasView *view)
{
    for (uint32_t d = 0; d < view->n; d++) {
        uint32_t others = 0;
        for (uint32_t i = 0; i < view->dim[d].n; i++) {
            bool loop = is_loop(k, view->dim[d].term[i].axis);
            others += !loop;
            if (!loop && view->dim[d].n > 1 && view->dim[d].term[i].by < 1)
                return true;
        }
        if (others > 1 || view->dim[d].picked)
            return true;
    }
    return false;
}

static void make_flat(const Nest *nest, const NestValue *v, PallasView *view)
{
    *view = (PallasView){.n = 1};
    view->dim[0] = (PallasDim){.size = nest->tensors.at[v->tensor].count,
                               .stride = 1,
                               .at = v->index.at,
                               .n = v->index.n,
                               .picked = v->op == NEST_PICK ? v->by : 0};
    memcpy(view->dim[0].term, v->index.term, sizeof v->index.term);
}

/* The dimension that the place of a pick walks; where it walks several, they become one. */
static bool place_picked(const NestValue *v, PallasView *view)
{
    uint32_t d = view->n;
    while (d > 0 && (v->by <= 0 || v->by % view->dim[d - 1].stride ||
                     v->by / view->dim[d - 1].stride >= view->dim[d - 1].size))
        d--;
    if (!d--)
        return false;
    while (d > 0 && v->bound > view->dim[d].size && !view->dim[d].n && !view->dim[d - 1].n) {
        view->dim[d - 1].size *= view->dim[d].size;
        view->dim[d - 1].stride = view->dim[d].stride;
        for (uint32_t i = d; i + 1 < view->n; i++)
            view->dim[i] = view->dim[i + 1];
        view->n--;
        d--;
    }
    view->dim[d].picked = v->by / view->dim[d].stride;
    return view->dim[d].picked == 1 && !view->dim[d].n && v->bound <= view->dim[d].size;
}

void pallas_view(const Nest *nest, const PallasKernel *k, NestId id, PallasView *view)
{
    const NestValue *v = &nest->values.at[id];
    NestId mask = v->op == NEST_PICK ? 0 : v->n_arg ? v->arg[0] : 0;
    bool apart = start_dims(nest, v->tensor, view) && place_terms(&v->index, view) &&
                 (mask || join_dims(nest, &v->index, view)) &&
                 (v->op != NEST_PICK || place_picked(v, view)) &&
                 place_begins(nest, v->index.at, mask, view);
    if (apart)
        split_dims(nest, view);
    else
        make_flat(nest, v, view);
    view->gather = !apart || needs_gather(k, view);
    for (uint32_t d = 0; d < view->n; d++) {
        PallasDim *dim = &view->dim[d];
        if (dim->n > 1 || dim->picked || !apart)
            keep_whole(nest, k, dim, view->gather, view->n - 1 - d);
        else if (dim->n == 1) {
            int64_t low, high;
            range_of(nest, dim, &low, &high);
            dim->pad_low = low < 0 ? -low : 0;
            dim->pad_end = high >= dim->size ? high - dim->size + 1 : 0;
        }
    }
}

bool pallas_store_view(const Nest *nest, const NestStore *s, PallasView *view)
{
    *view = (PallasView){0};
    int64_t count = nest->tensors.at[s->tensor].count;
    const NestTensor *t = &nest->tensors.at[s->tensor];
    bool shaped = t->value != VALUE_NONE &&
                  dims_of_shape(graph_value(nest->graph, t->value)->shape, count, view);
    if (!shaped)
        *view = (PallasView){0};
    if (!shaped && !dims_of_access(nest, &s->index, count, view))
        return false;
    if (!place_terms(&s->index, view) || !join_dims(nest, &s->index, view) ||
        !place_begins(nest, s->index.at, 0, view))
        return false;
    split_dims(nest, view);
    for (uint32_t d = 0; d < view->n; d++)
        if (view->dim[d].n > 1)
            return false;
    return true;
}

/* ---- what the caller hands over ---- */

static int64_t padded(const PallasDim *d) { return d->size + d->pad_low + d->pad_end; }

uint32_t pallas_entries(const Nest *nest, const PallasKernel *k, const PallasView *view,
                        PallasEntry entries[2 * PALLAS_DIMS])
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < view->n; d++)
        if (view->dim[d].phases)
            entries[n++] = (PallasEntry){.kind = PALLAS_PHASE,
                                         .dim = d,
                                         .size = view->dim[d].phases,
                                         .block = view->dim[d].phases};
    for (uint32_t d = 0; d < view->n; d++) {
        const PallasDim *dim = &view->dim[d];
        if (dim->whole) {
            int64_t size = padded(dim) / (dim->phases ? dim->phases : 1);
            entries[n++] = (PallasEntry){.kind = PALLAS_WHOLE,
                                         .dim = d,
                                         .axis = dim->walks,
                                         .size = size,
                                         .block = dim->walks ? dim->halo : size,
                                         .overlaps = dim->walks != 0,
                                         .step = dim->walks ? k->block[dim->walks] : 0};
        } else if (dim->n) {
            uint32_t axis = dim->term[0].axis;
            int64_t size = nest->axes.at[axis].size;
            entries[n++] = (PallasEntry){.kind = PALLAS_AXIS,
                                         .axis = axis,
                                         .dim = d,
                                         .size = size,
                                         .block = is_loop(k, axis)       ? size
                                                  : k->tiled >> axis & 1 ? k->block[axis]
                                                                         : 0};
        }
    }
    return n;
}

uint32_t pallas_legalize(PallasEntry entries[2 * PALLAS_DIMS], uint32_t n)
{
    static const PallasEntry unit = {.kind = PALLAS_UNIT, .size = 1, .block = 1};
    if (!n || (entries[n - 1].block != entries[n - 1].size &&
               (!entries[n - 1].block || entries[n - 1].block % PALLAS_LANES))) {
        entries[n++] = unit;
        entries[n++] = unit;
        return n;
    }
    const PallasEntry *second = n > 1 ? &entries[n - 2] : NULL;
    if (!second ||
        (second->block != second->size && (!second->block || second->block % PALLAS_SUBLANES))) {
        entries[n] = entries[n - 1];
        entries[n - 1] = unit;
        n++;
    }
    return n;
}

static void put_reshape(const PallasEntry *entries, uint32_t n, Buf *out)
{
    buf_puts(out, ".reshape(");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)entries[i].size);
    buf_char(out, ')');
}

static void put_pads(const PallasView *view, Buf *out)
{
    bool any = false;
    Buf inner = {0};
    for (uint32_t d = 0; d < view->n; d++) {
        any = any || view->dim[d].pad_low || view->dim[d].pad_end;
        buf_printf(&inner, "%s(%lld, %lld)", d ? ", " : "", (long long)view->dim[d].pad_low,
                   (long long)view->dim[d].pad_end);
    }
    if (any) {
        Buf whole = {0};
        buf_printf(&whole, "jnp.pad(%s, (%s,))", out->at, inner.at);
        buf_free(out);
        *out = whole;
    }
    buf_free(&inner);
}

static bool put_slice(const Nest *nest, const PallasDim *d, Buf *out)
{
    long long start = (long long)(d->at + d->pad_low);
    if (d->whole) {
        buf_char(out, ':');
        return false;
    }
    if (!d->n) {
        buf_printf(out, "%lld", start);
        return true;
    }
    long long by = (long long)d->term[0].by, n = (long long)nest->axes.at[d->term[0].axis].size;
    long long end = start + by * (n - 1) + (by < 0 ? -1 : 1);
    if (by == 1 && start == 0 && n == padded(d)) {
        buf_char(out, ':');
        return false;
    }
    buf_printf(out, "%lld:", start);
    if (end >= 0)
        buf_printf(out, "%lld", end);
    if (by != 1)
        buf_printf(out, ":%lld", by);
    return true;
}

const char *pallas_slices(const Nest *nest, const PallasView *view)
{
    Buf out = {0};
    bool any = false;
    buf_char(&out, '[');
    for (uint32_t d = 0; d < view->n; d++) {
        buf_puts(&out, d ? ", " : "");
        any = put_slice(nest, &view->dim[d], &out) || any;
    }
    buf_char(&out, ']');
    const char *text = kernel_take(nest->arena, &out);
    return any ? text : "";
}

/* Steps of a window become a dimension of their own, in front of all. */
static void put_phases(const PallasView *view, const PallasEntry *entries, uint32_t n, Buf *out)
{
    uint32_t phases = 0, at = 0;
    Buf shape = {0}, from = {0}, to = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].kind == PALLAS_PHASE || entries[i].kind == PALLAS_UNIT)
            continue;
        buf_printf(&shape, "%lld, ", (long long)entries[i].size);
        at++;
        if (entries[i].kind == PALLAS_WHOLE && view->dim[entries[i].dim].phases) {
            buf_printf(&shape, "%lld, ", (long long)view->dim[entries[i].dim].phases);
            buf_printf(&from, "%u, ", at++);
            buf_printf(&to, "%u, ", phases++);
        }
    }
    if (phases) {
        Buf whole = {0};
        buf_printf(&whole, "jnp.moveaxis(%s.reshape(%s), (%s), (%s))", out->at, shape.at, from.at,
                   to.at);
        buf_free(out);
        *out = whole;
    }
    buf_free(&shape);
    buf_free(&from);
    buf_free(&to);
}

static bool has_shape(const Nest *nest, const PallasView *view, uint32_t tensor)
{
    const NestTensor *t = &nest->tensors.at[tensor];
    if (t->value == VALUE_NONE || t->role != NEST_INPUT)
        return false;
    Shape shape = graph_value(nest->graph, t->value)->shape;
    bool same = shape.rank == (int)view->n;
    for (uint32_t d = 0; d < view->n && same; d++)
        same = shape.dim[d] == view->dim[d].size;
    return same;
}

const char *pallas_array(const Nest *nest, const PallasView *view, uint32_t tensor,
                         const char *array, const PallasEntry *entries, uint32_t n)
{
    Buf out = {0};
    bool units = !view->n;
    buf_puts(&out, array);
    if (!has_shape(nest, view, tensor)) {
        buf_puts(&out, ".reshape(");
        for (uint32_t d = 0; d < view->n; d++)
            buf_printf(&out, "%s%lld", d ? ", " : "", (long long)view->dim[d].size);
        buf_puts(&out, view->n ? ")" : "())");
    }
    put_pads(view, &out);
    buf_puts(&out, pallas_slices(nest, view));
    put_phases(view, entries, n, &out);
    for (uint32_t i = 0; i < n; i++)
        units = units || entries[i].kind == PALLAS_UNIT;
    if (units)
        put_reshape(entries, n, &out);
    return kernel_take(nest->arena, &out);
}
