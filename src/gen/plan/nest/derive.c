/* From a graph to nests. In: a graph. Out: the values of its results over axes, with what reads and
 * writes memory as affine accesses; or a diagnostic that names the operator. derive_view.c has the
 * operators that only move elements, derive_op.c the others. */
#include "gen/plan/nest/derive_int.h"

#include "gen/plan/prim_int.h"
#include "gen/plan/int64.h"
#include <string.h>

enum {
    MAX_VALUES = 2048,
    MAX_DEPTH = 300,
    MAX_TRIES = 40,
    MAX_STORES = 16,
    MAX_GENERAL_STORES = 64
};

bool derive_refuse(Derive *d, const Node *node, const char *why)
{
    const char *kind = node ? node_kind_name(node) : "";
    d->stuck = node ? node : d->node;
    if (!d->again)
        diag_error(d->diag, "G001", node ? node->at : (Span){0},
                   "the planner cannot plan %s%s%s in one kernel: %s",
                   node ? op_rows[node->op].name : "this task", *kind ? "." : "", kind, why);
    return false;
}

/* ---- dimensions and axes ---- */

static const NestSplit *split_of(const Derive *d, int64_t whole)
{
    for (uint32_t i = 0; i < d->splits.len; i++)
        if (d->splits.at[i].whole == whole)
            return &d->splits.at[i];
    return NULL;
}

static uint32_t add_axis(Derive *d, int64_t size, int64_t whole, uint32_t part)
{
    NestAxis axis = {.size = size, .whole = whole, .part = part};
    vec_push(d->arena, &d->nest->axes, axis);
    return d->nest->axes.len - 1;
}

/* The axes of a new dimension; those of size 1 are left out. */
static NestDim make_dim(Derive *d, int64_t size)
{
    NestDim dim = {.size = size};
    NestSplit one = {size, 1, {size}};
    const NestSplit *split = split_of(d, size);
    int64_t stride = size;
    split = split ? split : &one;
    for (uint32_t i = 0; i < split->n; i++) {
        stride /= split->factor[i];
        if (split->factor[i] == 1)
            continue;
        uint32_t axis = add_axis(d, split->factor[i], size, i);
        Affine term = affine_axis(axis, stride);
        affine_add(&dim.index, &term, 1);
        dim.axes |= UINT64_C(1) << axis;
    }
    return dim;
}

const NestDim *derive_dim(Derive *d, int64_t size, uint64_t avoid)
{
    avoid |= d->mask ? d->nest->values.at[d->mask].axes : 0;
    avoid |= nest_roots(d->nest, avoid);
    for (uint32_t i = 0; i < d->dims.len; i++)
        if (d->dims.at[i].size == size && !(d->dims.at[i].axes & avoid))
            return &d->dims.at[i];
    if (d->nest->axes.len + DERIVE_FACTORS >= NEST_MAX_AXES)
        return NULL;
    NestDim dim = make_dim(d, size);
    uint32_t at = d->dims.len;
    vec_push(d->arena, &d->dims, dim);
    for (uint32_t i = 0; i < dim.index.n && dim.index.n > 1;
         i++) { /* its parts are dimensions too */
        uint32_t axis = dim.index.term[i].axis;
        NestDim part = {d->nest->axes.at[axis].size, affine_axis(axis, 1), UINT64_C(1) << axis};
        vec_push(d->arena, &d->dims, part);
    }
    return &d->dims.at[at];
}

uint64_t derive_axes(const NestIndex *index)
{
    uint64_t axes = 0;
    for (int i = 0; i < index->rank; i++)
        for (uint32_t k = 0; k < index->dim[i].n; k++)
            axes |= UINT64_C(1) << index->dim[i].term[k].axis;
    return axes;
}

/* The dimension that the axis is part of gets one axis more: the inner one has `inner` elements. */
static bool split_axis(Derive *d, uint32_t axis, int64_t inner)
{
    NestAxis a = d->nest->axes.at[axis];
    NestSplit *split = (NestSplit *)split_of(d, a.whole);
    if (inner <= 1 || a.size % inner || (split && split->n == DERIVE_FACTORS))
        return false;
    if (!split) {
        NestSplit one = {a.whole, 1, {a.whole}};
        vec_push(d->arena, &d->splits, one);
        split = &vec_last(&d->splits);
    }
    for (uint32_t k = split->n; k > a.part + 1; k--)
        split->factor[k] = split->factor[k - 1];
    split->factor[a.part] = a.size / inner;
    split->factor[a.part + 1] = inner;
    split->n++;
    d->again = true;
    return true;
}

bool derive_divide(Derive *d, const Node *node, const Affine *index, int64_t by, Affine *times,
                   Affine *rest)
{
    int64_t sizes[NEST_MAX_AXES], low, high;
    nest_sizes(d->nest, sizes);
    *times = affine_number(index->at >= 0 ? index->at / by : -((-index->at + by - 1) / by));
    *rest = affine_number(index->at - times->at * by);
    for (uint32_t i = 0; i < index->n; i++) {
        AffineTerm t = index->term[i];
        Affine term = affine_axis(t.axis, t.by % by ? t.by : t.by / by);
        if (!affine_add(t.by % by ? rest : times, &term, 1))
            return derive_refuse(d, node, "an index is a sum of too many terms");
    }
    affine_range(rest, sizes, &low, &high);
    if (low >= 0 && high < by)
        return true;
    for (uint32_t i = 0; i < rest->n; i++) {
        AffineTerm t = rest->term[i];
        if (t.by > 0 && by % t.by == 0 && sizes[t.axis] > by / t.by &&
            split_axis(d, t.axis, by / t.by))
            return false;
    }
    return derive_refuse(d, node, "it groups elements across row ends");
}

bool derive_flatten(const NestIndex *index, Shape shape, Affine *flat)
{
    int64_t stride = 1;
    *flat = affine_number(0);
    for (int i = shape.rank; i-- > 0; stride *= shape.dim[i])
        if (shape.dim[i] != 1 && !affine_add(flat, &index->dim[i], stride))
            return false;
    return true;
}

bool derive_unflatten(Derive *d, const Node *node, Affine flat, Shape shape, NestIndex *index)
{
    *index = (NestIndex){.rank = shape.rank};
    int first = 0;
    while (first < shape.rank && shape.dim[first] == 1)
        first++;
    for (int i = shape.rank; i-- > first;) {
        Affine times;
        if (shape.dim[i] == 1)
            continue;
        if (i == first) {
            index->dim[i] = flat;
            break;
        }
        if (!derive_divide(d, node, &flat, shape.dim[i], &times, &index->dim[i]))
            return false;
        flat = times;
    }
    return true;
}

NestIndex derive_broadcast(const NestIndex *index, Shape shape)
{
    NestIndex out = {.rank = shape.rank};
    for (int i = 1; i <= shape.rank && i <= index->rank; i++)
        if (shape.dim[shape.rank - i] != 1)
            out.dim[shape.rank - i] = index->dim[index->rank - i];
    return out;
}

void nest_sizes(const Nest *nest, int64_t sizes[NEST_MAX_AXES])
{
    for (uint32_t i = 0; i < nest->axes.len; i++)
        sizes[i] = nest->axes.at[i].size;
}

/* ---- values ---- */

static bool same_index(const NestIndex *a, const NestIndex *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; i < a->rank && same; i++)
        same = affine_equal(&a->dim[i], &b->dim[i]);
    return same;
}

static bool load_tensor(Derive *d, ValueId id, const NestIndex *index, NestId *out)
{
    const Value *v = graph_value(d->graph, id);
    int64_t count = 0;
    Affine flat;
    bool plain = dtype_is_float(v->dtype) || v->dtype == DT_BOOL || dtype_is_int(v->dtype);
    if (v->kind == VALUE_CONST && shape_count(v->shape, &count) && count == 1) {
        *out = nest_number(d->nest, dtype_load(v->dtype, v->data, 0));
        return true;
    }
    if (v->kind == VALUE_CONST || !plain || v->dtype == DT_F64)
        return derive_refuse(d, NULL,
                             str_format(d->arena, "a tensor of %s%s", dtype_name(v->dtype),
                                        v->kind == VALUE_CONST ? " in the file" : ""));
    if (!derive_flatten(index, v->shape, &flat))
        return derive_refuse(d, NULL, "an index is a sum of too many terms");
    *out = d->mask ? nest_load_masked(d->nest, id, &flat, d->mask) : nest_load(d->nest, id, &flat);
    return true;
}

bool derive_at(Derive *d, ValueId id, const NestIndex *index, NestId *out)
{
    const Node *node = graph_maker(d->graph, id);
    bool ok;
    for (uint32_t i = 0; i < d->memo.len; i++)
        if (d->memo.at[i].value == id && d->memo.at[i].mask == d->mask &&
            same_index(&d->memo.at[i].index, index)) {
            *out = d->memo.at[i].is;
            return true;
        }
    if (!node)
        return load_tensor(d, id, index, out);
    if (d->depth == MAX_DEPTH || d->nest->values.len > MAX_VALUES)
        return derive_refuse(d, node, "the task is too large for one kernel");
    const Node *reader = d->node;
    d->depth++;
    d->node = node;
    ok = derive_node(d, node, index, id != node->out, out);
    d->node = reader;
    d->depth--;
    const char *rounding = ok && d->rounds ? prim_rounding(d->graph, node) : NULL;
    if (rounding && !d->nest->values.at[*out].mask)
        *out = nest_map1(d->nest, rounding, *out);
    if (ok) {
        NestMemo memo = {id, d->mask, *index, *out};
        vec_push(d->arena, &d->memo, memo);
    }
    return ok;
}

/* ---- results ---- */

static bool store_part(Derive *d, const NestIndex *index)
{
    ValueId id = d->graph->outputs.at[d->output];
    NestStore store = {.tensor = d->output};
    if (d->nest->stores.len == (d->kind < NEST_GENERAL ? MAX_STORES : MAX_GENERAL_STORES))
        return derive_refuse(d, NULL, "a result has too many parts");
    if (!derive_flatten(index, graph_value(d->graph, id)->shape, &store.index) ||
        !derive_at(d, id, index, &store.value))
        return false;
    d->mask = 0;
    bool mask = d->kind < NEST_GENERAL && graph_value(d->graph, id)->dtype == DT_BOOL;
    store.value = mask ? derive_mask(d->nest, store.value) : derive_number(d->nest, store.value);
    vec_push(d->arena, &d->nest->stores, store);
    return true;
}

/* The next place after `from` at which this part of the dimension begins anew, at most `size`. */
static int64_t next_cut(const Derive *d, int dim, uint32_t part, int64_t from, int64_t size)
{
    int64_t next = size;
    for (uint32_t i = 0; i < d->cuts.len; i++) {
        const NestCut *c = &d->cuts.at[i];
        if (c->output == d->output && c->dim == dim && c->part == part && c->at > from &&
            c->at < next)
            next = c->at;
    }
    return next;
}

static bool is_cut(const Derive *d, int dim)
{
    for (uint32_t i = 0; i < d->cuts.len; i++)
        if (d->cuts.at[i].output == d->output && d->cuts.at[i].dim == dim)
            return true;
    return false;
}

static bool walk_dim(Derive *d, NestIndex *index, int dim, uint64_t used);

static void note_walks(Derive *d, const Affine *index, int dim)
{
    for (uint32_t i = 0; i < index->n; i++) {
        NestWalk walk = {index->term[i].axis, d->nest->axes.at[index->term[i].axis].part, dim, 0};
        vec_push(d->arena, &d->walks, walk);
    }
}

/* What is still to be walked of a dimension that is cut: factors, the outermost first. A factor is known by
 * its code: its number among those of the dimension, or a longer one inside a part that is split itself. */
enum { MOST_FACTORS = 12, CODES = 64, CODE_PARTS = 8 };
typedef struct Factors {
    uint32_t n;
    int64_t size[MOST_FACTORS], stride[MOST_FACTORS];
    uint32_t code[MOST_FACTORS];
} Factors;

/* The factors behind the first, with those of a split in its place; codes count from `code` on. */
static bool split_factor(const Factors *f, const NestSplit *split, uint32_t code, Factors *out)
{
    int64_t stride = f->size[0] * f->stride[0];
    if (split->n + f->n - 1 > MOST_FACTORS || code > UINT32_MAX / CODES / 2)
        return false;
    out->n = 0;
    for (uint32_t i = 0; i < split->n; i++) {
        stride /= split->factor[i];
        out->size[out->n] = split->factor[i];
        out->stride[out->n] = stride;
        out->code[out->n++] = code + i;
    }
    for (uint32_t i = 1; i < f->n; i++) {
        out->size[out->n] = f->size[i];
        out->stride[out->n] = f->stride[i];
        out->code[out->n++] = f->code[i];
    }
    return true;
}

static bool walk_factors(Derive *d, NestIndex *index, int dim, const Factors *f, uint64_t used);

/* Elements from..to-1 of the first factor, and all behind it. */
static bool walk_part(Derive *d, NestIndex *index, int dim, const Factors *f, int64_t from,
                      int64_t to, uint32_t piece, uint64_t used)
{
    Factors rest = *f;
    const NestSplit *split = to - from < f->size[0] ? split_of(d, to - from) : NULL;
    index->dim[dim].at += from * f->stride[0];
    if (split) {
        rest.size[0] = to - from;
        Factors inner;
        uint32_t code = (f->code[0] + 1) * CODES + piece * CODE_PARTS;
        return piece < CODES / CODE_PARTS && split_factor(&rest, split, code, &inner)
                   ? walk_factors(d, index, dim, &inner, used)
                   : derive_refuse(d, NULL, "a result has too many parts");
    }
    uint64_t axes = 0;
    if (to - from > 1) {
        const NestDim *walked = derive_dim(d, to - from, used);
        if (!walked || walked->index.n != 1)
            return derive_refuse(d, NULL, "a result has too many parts");
        axes = walked->axes;
        NestWalk walk = {walked->index.term[0].axis, f->code[0], dim, from};
        vec_push(d->arena, &d->walks, walk);
        if (!affine_add(&index->dim[dim], &walked->index, f->stride[0]))
            return derive_refuse(d, NULL, "an index is a sum of too many terms");
    }
    for (uint32_t i = 1; i < f->n; i++) {
        rest.size[i - 1] = f->size[i];
        rest.stride[i - 1] = f->stride[i];
        rest.code[i - 1] = f->code[i];
    }
    rest.n = f->n - 1;
    return walk_factors(d, index, dim, &rest, used | axes);
}

static bool walk_factors(Derive *d, NestIndex *index, int dim, const Factors *f, uint64_t used)
{
    Affine before = index->dim[dim];
    uint32_t piece = 0;
    if (!f->n)
        return walk_dim(d, index, dim + 1, used);
    for (int64_t from = 0; from < f->size[0]; piece++) {
        int64_t to = next_cut(d, dim, f->code[0], from, f->size[0]);
        uint32_t mark = d->walks.len;
        index->dim[dim] = before;
        if (!walk_part(d, index, dim, f, from, to, piece, used))
            return false;
        d->walks.len = mark;
        from = to;
    }
    return true;
}

/* Dimension `dim` of the present result, and all behind it. */
static bool walk_dim(Derive *d, NestIndex *index, int dim, uint64_t used)
{
    Shape shape = graph_value(d->graph, d->graph->outputs.at[d->output])->shape;
    if (dim == shape.rank)
        return store_part(d, index);
    index->dim[dim] = affine_number(0);
    if (is_cut(d, dim)) {
        NestSplit one = {shape.dim[dim], 1, {shape.dim[dim]}};
        const NestSplit *split = split_of(d, shape.dim[dim]);
        Factors whole = {1, {shape.dim[dim]}, {1}, {0}}, factors;
        return split_factor(&whole, split ? split : &one, 0, &factors) &&
               walk_factors(d, index, dim, &factors, used);
    }
    uint32_t mark = d->walks.len;
    const NestDim *walked = shape.dim[dim] == 1 ? NULL : derive_dim(d, shape.dim[dim], used);
    uint64_t axes = walked ? walked->axes : 0;
    if (shape.dim[dim] != 1 && !walked)
        return derive_refuse(d, NULL, "it has too many dimensions");
    if (walked) {
        index->dim[dim] = walked->index;
        note_walks(d, &walked->index, dim);
    }
    bool ok = walk_dim(d, index, dim + 1, used | axes);
    d->walks.len = mark;
    return ok;
}

static bool derive_output(Derive *d, uint32_t output)
{
    ValueId id = d->graph->outputs.at[output];
    Shape shape = graph_value(d->graph, id)->shape;
    NestIndex index = {.rank = shape.rank};
    d->output = output;
    return walk_dim(d, &index, 0, 0);
}

static void start_try(Derive *d)
{
    Nest *nest = arena_new(d->arena, Nest);
    *nest = (Nest){.arena = d->arena, .graph = d->graph};
    vec_push(d->arena, &nest->axes, (NestAxis){0});
    vec_push(d->arena, &nest->values, (NestValue){0});
    nest->axes.at[0].size = 1;
    d->nest = nest;
    d->dims.len = d->memo.len = d->walks.len = d->depth = d->mask = 0;
    d->again = false;
}

/* Outputs get their tensors behind the inputs; stores named them by their numbers. */
static bool finish_nest(Derive *d)
{
    Nest *nest = d->nest;
    uint32_t inputs = nest->tensors.len;
    for (uint32_t i = 0; i < d->graph->outputs.len; i++) {
        const Value *v = graph_value(d->graph, d->graph->outputs.at[i]);
        NestTensor t = {.value = d->graph->outputs.at[i], .role = NEST_OUTPUT, .dtype = v->dtype};
        bool small = v->dtype == DT_I8 || v->dtype == DT_U8 || v->dtype == DT_I16;
        bool known = v->dtype == DT_F32 || v->dtype == DT_F16 || v->dtype == DT_BF16 ||
                     v->dtype == DT_BOOL || small || derive_is_exact(d->graph, t.value);
        if (!known || derive_may_wrap(d->graph, t.value))
            return derive_refuse(d, NULL,
                                 str_format(d->arena, "a result of %s", dtype_name(v->dtype)));
        shape_count(v->shape, &t.count);
        vec_push(d->arena, &nest->tensors, t);
    }
    derive_halos(nest);
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        nest->stores.at[i].tensor += inputs;
        nest->values.at[nest->stores.at[i].value].uses++;
    }
    for (uint32_t i = nest->values.len; i-- > 1;)
        for (uint32_t k = 0; k < nest->values.at[i].n_arg && nest->values.at[i].uses; k++)
            nest->values.at[nest->values.at[i].arg[k]].uses++;
    if (!inputs)
        return derive_refuse(d, NULL, "it has no input");
    return true;
}

Nest *nest_derive(Arena *arena, const Graph *graph, Diag *diag)
{
    return nest_derive_kind(arena, graph, NEST_AFFINE, diag);
}

static bool has_integers(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->values.len; i++)
        if (dtype_is_int(graph->values.at[i].dtype))
            return true;
    return false;
}

Nest *nest_derive_kind(Arena *arena, const Graph *graph, NestKind kind, Diag *diag)
{
    const Node *stuck;
    return nest_derive_until(arena, graph, kind, &stuck, diag);
}

static void say_all(Diag *diag, const Diag *said)
{
    for (uint32_t i = 0; i < said->items.len; i++)
        vec_push(diag->arena, &diag->items, said->items.at[i]);
    diag->errors += said->errors;
}

static Nest *derive_graph(Derive *d)
{
    for (int i = 0; i < MAX_TRIES; i++) {
        bool ok = true;
        start_try(d);
        for (uint32_t k = 0; k < d->graph->outputs.len && ok; k++)
            ok = derive_output(d, k);
        if (ok)
            return finish_nest(d) ? d->nest : NULL;
        if (!d->again)
            return NULL;
    }
    d->again = false;
    derive_refuse(d, NULL, "its dimensions are regrouped too often");
    return NULL;
}

Nest *nest_derive_until(Arena *arena, const Graph *graph, NestKind kind, const Node **stuck,
                        Diag *diag)
{
    Diag quiet = diag_make(arena, diag->file, diag->source);
    Derive start = {.arena = arena,
                    .graph = has_integers(graph) ? int64_bounds(arena, graph) : graph,
                    .diag = diag,
                    .kind = kind,
                    .rounds = prim_widens(graph)};
    start.decides = prim_decisive(arena, start.graph);
    Derive phases = start, whole = start;
    phases.diag = &quiet;
    Nest *nest = derive_graph(&phases);
    *stuck = phases.stuck;
    if (nest || !phases.phased) {
        say_all(diag, &quiet);
        return nest;
    }
    whole.stretched = true;
    nest = derive_graph(&whole);
    *stuck = whole.stuck;
    return nest;
}
