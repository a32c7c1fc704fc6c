/* Several axes as one. In: a nest and some of its axes. Out: a nest with an axis that stands for them.
 *
 *     y [48 a3 + 16 a4 + 4 a5 + a6] = x [4 a3 + 41600 a4 + 208 a5 + a6]       fold a7 of a4 a5 a6
 *     y [48 a3 + a7]                = x [4 a3 + 41600 a4 + 208 a5 + a6]       a7 = 16 a4 + 4 a5 + a6
 *
 * Patches, shuffles of pixels and channels, and means over several short dimensions have runs of a few elements
 * in memory. Folded, a tile has long rows; what is read otherwise is a box of memory. */
#include "gen/plan/nest/nest.h"

enum {
    MOST_FOLDED = 2048, /* elements */
    SHORT_RUN = 64,     /* elements: longer ones need no fold */
    MOST_TRIED = 12     /* folds that are looked at */
};

static uint64_t bit(uint32_t axis) { return UINT64_C(1) << axis; }

static uint64_t fold_bits(const NestFold *fold)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < fold->n; i++)
        bits |= bit(fold->axis[i]);
    return bits;
}

static uint64_t index_bits(const Affine *index)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < index->n; i++)
        bits |= bit(index->term[i].axis);
    return bits;
}

static int64_t fold_size(const Nest *nest, const NestFold *fold)
{
    int64_t size = 1;
    for (uint32_t i = 0; i < fold->n; i++)
        size *= nest->axes.at[fold->axis[i]].size;
    return size;
}

/* The index walks all of them as one. */
static bool is_chain(const Nest *nest, const NestFold *fold, const Affine *index)
{
    int64_t by = affine_by(index, fold->axis[fold->n - 1]);
    for (uint32_t i = fold->n; i-- > 0; by *= nest->axes.at[fold->axis[i]].size)
        if (affine_by(index, fold->axis[i]) != by || by < 1)
            return false;
    return true;
}

/* The new axis takes the place of all. */
static bool fold_index(const NestFold *fold, uint32_t axis, Affine *index)
{
    Affine walk = affine_axis(axis, affine_by(index, fold->axis[fold->n - 1]));
    for (uint32_t i = 0; i < fold->n; i++) {
        Affine gone = affine_axis(fold->axis[i], -affine_by(index, fold->axis[i]));
        affine_add(index, &gone, 1);
    }
    return affine_add(index, &walk, 1);
}

static uint64_t fold_axes(uint64_t axes, uint64_t gone, uint32_t axis)
{
    return axes & gone ? (axes & ~gone) | bit(axis) : axes;
}

static bool fold_value(const Nest *nest, const NestFold *fold, uint32_t axis, NestValue *v)
{
    uint64_t gone = fold_bits(fold);
    bool walks = v->op == NEST_LOAD && index_bits(&v->index) & gone;
    if (v->over & gone && ((v->over & gone) != gone || v->op == NEST_SCAN))
        return false;
    if (v->op == NEST_PLACE && v->axes & gone)
        return false;
    if (walks && is_chain(nest, fold, &v->index) && !fold_index(fold, axis, &v->index))
        return false;
    for (uint32_t i = 0; i < v->index.n && walks; i++)
        if (v->index.term[i].by < 1)
            return false;
    v->axes = fold_axes(v->axes, gone, axis);
    v->over = fold_axes(v->over, gone, axis);
    return true;
}

Nest *nest_fold(const Nest *nest, const NestFold *fold)
{
    Nest *out = nest_split(nest, 0, NULL, NULL); /* a copy */
    uint32_t axis = out->axes.len;
    uint64_t gone = fold_bits(fold);
    if (fold->n < 2 || axis >= NEST_MAX_AXES)
        return NULL;
    for (uint32_t i = 0; i < fold->n; i++)
        if (nest_has_window(nest, fold->axis[i]))
            return NULL;
    NestAxis a = {.size = fold_size(nest, fold), .whole = fold_size(nest, fold), .fold = *fold};
    vec_push(out->arena, &out->axes, a);
    for (NestId i = 1; i < out->values.len; i++)
        if (out->values.at[i].uses && !fold_value(out, fold, axis, &out->values.at[i]))
            return NULL;
    for (uint32_t i = 0; i < out->stores.len; i++) {
        Affine *index = &out->stores.at[i].index;
        if (index_bits(index) & gone &&
            (!is_chain(out, fold, index) || !fold_index(fold, axis, index)))
            return NULL;
    }
    return out;
}

uint32_t nest_boxed(const Nest *nest, const Affine *index)
{
    uint64_t walks = index_bits(index);
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (nest->axes.at[a].fold.n && walks & fold_bits(&nest->axes.at[a].fold))
            return a;
    return 0;
}

int64_t nest_box_run(const Nest *nest, const Affine *index, uint32_t *other)
{
    uint64_t parts = fold_bits(&nest->axes.at[nest_boxed(nest, index)].fold);
    int64_t run = 1;
    *other = 0;
    for (bool more = true; more && !*other;) {
        more = false;
        for (uint32_t i = 0; i < index->n && !more; i++) {
            const AffineTerm *t = &index->term[i];
            if (t->by != run || nest->axes.at[t->axis].size < 2)
                continue;
            more = true;
            run *= nest->axes.at[t->axis].size;
            *other = parts & bit(t->axis) ? 0 : t->axis;
        }
    }
    return run;
}

/* ---- what to fold ---- */

static bool has_box(const Nest *nest)
{
    for (NestId i = 1; i < nest->values.len; i++)
        if (nest->values.at[i].uses && nest->values.at[i].op == NEST_LOAD &&
            nest_boxed(nest, &nest->values.at[i].index))
            return true;
    return false;
}

/* Folds that were looked at, whether they can be or not. */
typedef struct Folds {
    NestFold *found;
    uint32_t n, most, n_tried;
    uint64_t tried[MOST_TRIED];
} Folds;

static void add_fold(const Nest *nest, Folds *f, NestFold fold)
{
    if (f->n == f->most || fold.n < 2 || fold_size(nest, &fold) > MOST_FOLDED ||
        f->n_tried == MOST_TRIED)
        return;
    for (uint32_t i = 0; i < f->n_tried; i++)
        if (f->tried[i] == fold_bits(&fold))
            return;
    f->tried[f->n_tried++] = fold_bits(&fold);
    const Nest *folded = nest_fold(nest, &fold);
    if (folded && has_box(folded))
        f->found[f->n++] = fold;
}

/* Axes of the index from the innermost outwards, while each begins where the one before ends. */
static NestFold inner_chain(const Nest *nest, const Affine *index)
{
    NestFold inner = {0}, fold = {0};
    int64_t by = 1;
    for (bool more = true; more && inner.n < NEST_DIGITS;) {
        more = false;
        for (uint32_t i = 0; i < index->n && !more; i++) {
            int64_t size = nest->axes.at[index->term[i].axis].size;
            if (index->term[i].by != by || size < 2 || by * size > MOST_FOLDED)
                continue;
            inner.axis[inner.n++] = index->term[i].axis;
            by *= size;
            more = true;
        }
    }
    for (uint32_t i = inner.n; i-- > 0;)
        fold.axis[fold.n++] = inner.axis[i];
    return fold;
}

/* The axes that a load has of those that are reduced, the outermost in memory first. */
static NestFold reduced_fold(const Nest *nest, const Affine *index, uint64_t over)
{
    NestFold fold = {0};
    if ((index_bits(index) & over) != over)
        return fold;
    for (uint32_t i = 0; i < index->n; i++) {
        if (!(over & bit(index->term[i].axis)))
            continue;
        if (fold.n == NEST_DIGITS || index->term[i].by < 1)
            return (NestFold){0};
        uint32_t at = fold.n++;
        for (; at > 0 && affine_by(index, fold.axis[at - 1]) < index->term[i].by; at--)
            fold.axis[at] = fold.axis[at - 1];
        fold.axis[at] = index->term[i].axis;
    }
    if (fold.n && nest->axes.at[fold.axis[fold.n - 1]].size >= SHORT_RUN)
        fold.n = 0;
    return fold;
}

uint32_t nest_folds(const Nest *nest, NestFold *folds, uint32_t most)
{
    Folds f = {.found = folds, .most = most};
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        NestFold fold = inner_chain(nest, &nest->stores.at[i].index);
        if (!fold.n || nest->axes.at[fold.axis[fold.n - 1]].size >= SHORT_RUN)
            continue;
        for (; fold.n > 1; fold.n--) { /* the longest first */
            add_fold(nest, &f, fold);
            for (uint32_t k = 1; k < fold.n; k++)
                fold.axis[k - 1] = fold.axis[k];
        }
    }
    for (NestId i = 1; i < nest->values.len && f.n_tried < MOST_TRIED; i++)
        for (NestId k = 1; k < i && nest->values.at[i].op == NEST_REDUCE; k++)
            if (nest->values.at[k].op == NEST_LOAD && nest->values.at[k].uses)
                add_fold(nest, &f,
                         reduced_fold(nest, &nest->values.at[k].index, nest->values.at[i].over));
    return f.n;
}
