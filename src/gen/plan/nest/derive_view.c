/* Operators that only move elements, as accesses. In: a node and an index of its result. Out: the value
 * there, which is a value of its operand at another index, or a number. */
#include "gen/plan/nest/derive_int.h"

/* ---- dimensions made of pieces ---- */

typedef struct Piece {
    int64_t from, to; /* of the result's dimension */
    ValueId of;       /* VALUE_NONE: `fill` */
    int64_t at, by;   /* index in the operand: at + by * (i - from) */
    double fill;
} Piece;

typedef VEC(Piece) Pieces;

static void add_piece(Derive *d, Pieces *pieces, Piece piece)
{
    if (piece.to > piece.from)
        vec_push(d->arena, pieces, piece);
}

static bool add_cut(Derive *d, const NestWalk *walk, int64_t at)
{
    NestCut cut = {d->output, walk->part, walk->dim, walk->from + at};
    vec_push(d->arena, &d->cuts, cut);
    d->again = true;
    return false;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Where parts begin anew along an axis that goes `by` a step, so that the index crosses the border in none
 * of them, or in one of a single step. `alone`: it has no other term, which would add less than a step.
 * 0: nowhere. */
static int64_t cut_ahead(int64_t border, int64_t by, int64_t size, bool alone)
{
    int64_t at = floor_divide(border, by);
    bool exact = border % by == 0;
    if (alone && !exact)
        at++;
    if (at > 0 && at < size)
        return at;
    return !exact && !alone && at == 0 && size > 1 ? 1 : 0;
}

/* The cut of an axis that runs backwards from `first`: the elements at the border and beyond
 * come first. 0: it is not cut. */
static int64_t cut_back(int64_t first, int64_t by, int64_t size, int64_t border)
{
    int64_t at = floor_divide(first - border, by) + 1;
    return at > 0 && at < size ? at : 0;
}

/* The index crosses `border`: the result is written in parts that do not. Always false. */
bool derive_cut(Derive *d, const Node *node, const Affine *index, int64_t border)
{
    int64_t sizes[NEST_MAX_AXES];
    nest_sizes(d->nest, sizes);
    for (uint32_t i = 0; i < index->n; i++) {
        AffineTerm t = index->term[i];
        int64_t low, high;
        Affine others = *index, gone = affine_axis(t.axis, -t.by);
        affine_add(&others, &gone, 1);
        affine_range(&others, sizes, &low, &high);
        bool alone = high == low, fine = t.by > 0 && high - low < t.by;
        int64_t at = alone && t.by < 0 ? cut_back(low, -t.by, sizes[t.axis], border)
                     : fine            ? cut_ahead(border - low, t.by, sizes[t.axis], alone)
                                       : 0;
        for (uint32_t w = 0; w < d->walks.len && at; w++)
            if (d->walks.at[w].axis == t.axis)
                return add_cut(d, &d->walks.at[w], at);
    }
    return derive_refuse(
        d, node, "the tensor that is joined or filled would have to be written to memory first");
}

/* The piece that the index lies in, and the index in its operand. */
static bool find_piece(Derive *d, const Node *node, const Affine *index, const Pieces *pieces,
                       Piece *piece, Affine *inner)
{
    int64_t sizes[NEST_MAX_AXES], low, high;
    nest_sizes(d->nest, sizes);
    affine_range(index, sizes, &low, &high);
    for (uint32_t i = 0; i < pieces->len; i++) {
        Piece p = pieces->at[i];
        if (low < p.from || low >= p.to)
            continue;
        if (high >= p.to)
            return derive_cut(d, node, index, p.to);
        *piece = p;
        *inner = affine_number(p.at - p.by * p.from);
        return affine_add(inner, index, p.by) ||
               derive_refuse(d, node, "an index is a sum of too many terms");
    }
    return derive_refuse(d, node, "an index leaves its tensor");
}

bool derive_one_of(Derive *d, const Node *node, const Affine *index, int64_t n, int64_t *which)
{
    Pieces pieces = {0};
    Affine inner;
    Piece p;
    for (int64_t i = 0; i < n; i++)
        add_piece(d, &pieces, (Piece){i, i + 1, VALUE_NONE, 0, 0, 0});
    if (!find_piece(d, node, index, &pieces, &p, &inner))
        return false;
    *which = p.from;
    return true;
}

static bool at_piece(Derive *d, const Node *node, const NestIndex *index, int dim,
                     const Pieces *pieces, NestId *out)
{
    NestIndex inner = *index;
    Piece p;
    return find_piece(d, node, &index->dim[dim], pieces, &p, &inner.dim[dim]) &&
           derive_at(d, p.of, &inner, out);
}

static int positive_dim(const Node *node, int rank)
{
    int64_t dim = node_int(node, AT_DIM, 0);
    return (int)(dim < 0 ? dim + rank : dim);
}

static bool at_cat(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    int dim = positive_dim(node, index->rank);
    Pieces pieces = {0};
    int64_t from = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        Shape shape = graph_value(d->graph, node->in[i])->shape;
        if (shape.rank != index->rank)
            continue;
        add_piece(d, &pieces, (Piece){from, from + shape.dim[dim], node->in[i], 0, 1, 0});
        from += shape.dim[dim];
    }
    return at_piece(d, node, index, dim, &pieces, out);
}

static bool at_slice_scatter(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    int dim = positive_dim(node, index->rank);
    int64_t size = graph_value(d->graph, node->out)->shape.dim[dim];
    int64_t from = node_int(node, AT_START, 0), to = node_int(node, AT_END, size);
    Pieces pieces = {0};
    if (node_int(node, AT_STEP, 1) != 1)
        return derive_refuse(d, node, "it writes every second element or fewer");
    add_piece(d, &pieces, (Piece){0, from, node->in[0], 0, 1, 0});
    add_piece(d, &pieces, (Piece){from, to, node->in[1], 0, 1, 0});
    add_piece(d, &pieces, (Piece){to, size, node->in[0], to, 1, 0});
    return at_piece(d, node, index, dim, &pieces, out);
}

static bool at_roll(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *by = node_attr(node, AT_SHAPE), *dims = node_attr(node, AT_DIMS);
    Shape shape = graph_value(d->graph, node->out)->shape;
    NestIndex inner = *index;
    if (!by || !dims || dims->ints.len != by->ints.len)
        return derive_refuse(d, node, "it rolls a flattened tensor");
    for (uint32_t i = 0; i < dims->ints.len; i++) {
        int64_t dim = dims->ints.at[i] < 0 ? dims->ints.at[i] + shape.rank : dims->ints.at[i];
        int64_t n = shape.dim[dim], shift = ((by->ints.at[i] % n) + n) % n;
        Pieces pieces = {0};
        Affine moved;
        Piece p;
        add_piece(d, &pieces, (Piece){0, shift, node->in[0], n - shift, 1, 0});
        add_piece(d, &pieces, (Piece){shift, n, node->in[0], 0, 1, 0});
        if (!find_piece(d, node, &inner.dim[dim], &pieces, &p, &moved))
            return false;
        inner.dim[dim] = moved;
    }
    return derive_at(d, node->in[0], &inner, out);
}

/* Elements before (or behind) those of the operand, by the mode of the padding. */
static void add_padding(Derive *d, const Node *node, Pieces *pieces, int64_t from, int64_t to,
                        int64_t low, int64_t size)
{
    Str mode = node_text(node, AT_MODE);
    bool before = from < low;
    if (str_is(mode, "reflect"))
        add_piece(d, pieces, (Piece){from, to, node->in[0], before ? low - from : size - 2, -1, 0});
    else if (str_is(mode, "replicate"))
        add_piece(d, pieces, (Piece){from, to, node->in[0], before ? 0 : size - 1, 0, 0});
    else if (str_is(mode, "circular"))
        add_piece(d, pieces, (Piece){from, to, node->in[0], before ? size - low : 0, 1, 0});
    else
        add_piece(d, pieces, (Piece){from, to, VALUE_NONE, 0, 0, node_float(node, AT_VALUE, 0)});
}

/* One padded dimension after the other. */
static bool at_pad(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *pads = node_attr(node, AT_PADS);
    Shape in = graph_value(d->graph, node->in[0])->shape;
    NestIndex inner = *index;
    for (int i = 0; i < in.rank; i++) {
        uint32_t at = 2 * (uint32_t)(in.rank - 1 - i);
        int64_t low = at < pads->ints.len ? pads->ints.at[at] : 0;
        int64_t high = at + 1 < pads->ints.len ? pads->ints.at[at + 1] : 0;
        int64_t size = in.dim[i], first = low > 0 ? low : 0;
        Pieces pieces = {0};
        Affine moved;
        Piece p;
        if (!low && !high)
            continue;
        add_padding(d, node, &pieces, 0, first, low, size);
        add_piece(d, &pieces,
                  (Piece){first, low + size + (high < 0 ? high : 0), node->in[0],
                          low < 0 ? -low : 0, 1, 0});
        add_padding(d, node, &pieces, low + size, high > 0 ? low + size + high : 0, low, size);
        if (!find_piece(d, node, &inner.dim[i], &pieces, &p, &moved))
            return false;
        if (p.of == VALUE_NONE) {
            *out = nest_number(d->nest, p.fill);
            return true;
        }
        inner.dim[i] = moved;
    }
    return derive_at(d, node->in[0], &inner, out);
}

/* ---- dimensions regrouped ---- */

static bool at_reshape(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Value *from = graph_value(d->graph, node->in[0]);
    NestIndex inner;
    Affine flat;
    if (!derive_flatten(index, graph_value(d->graph, node->out)->shape, &flat))
        return derive_refuse(d, node, "an index is a sum of too many terms");
    if (from->kind != VALUE_NODE) { /* memory has no dimensions */
        int64_t count = 1;
        shape_count(from->shape, &count);
        inner = (NestIndex){.rank = from->shape.rank};
        if (count > 1) {
            int last = from->shape.rank - 1;
            while (last > 0 && from->shape.dim[last] == 1)
                last--;
            inner.dim[last] = flat;
        }
        return derive_at(d, node->in[0], &inner, out);
    }
    return derive_unflatten(d, node, flat, from->shape, &inner) &&
           derive_at(d, node->in[0], &inner, out);
}

/* Each element along a dimension `times` times, or the whole dimension again and again. */
static bool at_repeat(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape in = graph_value(d->graph, node->in[0])->shape;
    int more = index->rank - in.rank;
    NestIndex inner = {.rank = in.rank};
    for (int i = 0; i < in.rank; i++) {
        Affine times;
        int64_t size = graph_value(d->graph, node->out)->shape.dim[i + more];
        if (in.dim[i] == 1)
            continue;
        if (size == in.dim[i])
            inner.dim[i] = index->dim[i + more];
        else if (!derive_divide(d, node, &index->dim[i + more], in.dim[i], &times, &inner.dim[i]))
            return false;
    }
    return derive_at(d, node->in[0], &inner, out);
}

static bool at_interleave(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *times = node_attr(node, AT_SHAPE);
    int dim = positive_dim(node, index->rank);
    NestIndex inner = *index;
    Affine rest;
    if (!node_attr(node, AT_DIM) || !times || times->ints.len != 1)
        return derive_refuse(d, node, "how often each element is repeated differs");
    return derive_divide(d, node, &index->dim[dim], times->ints.at[0], &inner.dim[dim], &rest) &&
           derive_at(d, node->in[0], &inner, out);
}

/* The nearest element, where sizes are whole multiples of each other: repeated, or every k-th. */
static bool at_nearest(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape in = graph_value(d->graph, node->in[0])->shape;
    Shape shape = graph_value(d->graph, node->out)->shape;
    Str factors = node_text(node, AT_SCALES), word;
    bool exact = str_is(node_text(node, AT_MODE), "nearest-exact");
    NestIndex inner = *index;
    for (int i = 2; i < in.rank; i++) {
        if (in.dim[i] < 1 || shape.dim[i] < 1)
            return derive_refuse(d, node, "it has no elements");
        int64_t up = shape.dim[i] / in.dim[i], down = in.dim[i] / shape.dim[i];
        double factor = 0;
        if (str_next(&factors, ',', &word))
            str_to_double(str_trim(word), &factor);
        bool agrees = factor <= 0 || factor * (double)in.dim[i] == (double)shape.dim[i];
        Affine rest;
        if (shape.dim[i] == in.dim[i] && agrees)
            continue;
        if (!agrees || (up * in.dim[i] != shape.dim[i] && down * shape.dim[i] != in.dim[i]))
            return derive_refuse(d, node, "a size is not a multiple of the other");
        if (up > 1) {
            if (!derive_divide(d, node, &index->dim[i], up, &inner.dim[i], &rest))
                return false;
            continue;
        }
        inner.dim[i] = affine_number(exact ? down / 2 : 0);
        if (!affine_add(&inner.dim[i], &index->dim[i], down))
            return derive_refuse(d, node, "an index is a sum of too many terms");
    }
    return derive_at(d, node->in[0], &inner, out);
}

/* ---- the others ---- */

static bool at_permute(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    NestIndex inner = {.rank = index->rank};
    for (int i = 0; i < index->rank; i++) {
        int64_t at = dims->ints.at[i];
        inner.dim[at < 0 ? at + index->rank : at] = index->dim[i];
    }
    return derive_at(d, node->in[0], &inner, out);
}

static bool at_slice(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    int dim = positive_dim(node, index->rank);
    NestIndex inner = *index;
    inner.dim[dim] = affine_number(node_int(node, AT_START, 0));
    return affine_add(&inner.dim[dim], &index->dim[dim], node_int(node, AT_STEP, 1)) &&
           derive_at(d, node->in[0], &inner, out);
}

static bool at_flip(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    Shape shape = graph_value(d->graph, node->out)->shape;
    NestIndex inner = *index;
    for (uint32_t i = 0; i < dims->ints.len; i++) {
        int64_t dim = dims->ints.at[i] < 0 ? dims->ints.at[i] + shape.rank : dims->ints.at[i];
        inner.dim[dim] = affine_number(shape.dim[dim] - 1);
        if (!affine_add(&inner.dim[dim], &index->dim[dim], -1))
            return derive_refuse(d, node, "an index is a sum of too many terms");
    }
    return derive_at(d, node->in[0], &inner, out);
}

/* Windows along a dimension: the place in a window is the last dimension. */
static bool at_unfold(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    int rank = index->rank - 1, dim = positive_dim(node, rank);
    NestIndex inner = *index;
    inner.rank = rank;
    inner.dim[dim] = index->dim[rank];
    return affine_add(&inner.dim[dim], &index->dim[dim], node_int(node, AT_STEP, 1)) &&
           derive_at(d, node->in[0], &inner, out);
}

static bool at_expand(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    NestIndex inner = derive_broadcast(index, graph_value(d->graph, node->in[0])->shape);
    return derive_at(d, node->in[0], &inner, out);
}

bool derive_view(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *is_view)
{
    *is_view = true;
    switch (node->op) {
    case OP_RESHAPE: return at_reshape(d, node, index, out);
    case OP_PERMUTE: return at_permute(d, node, index, out);
    case OP_EXPAND: return at_expand(d, node, index, out);
    case OP_SLICE: return at_slice(d, node, index, out);
    case OP_FLIP: return at_flip(d, node, index, out);
    case OP_UNFOLD: return at_unfold(d, node, index, out);
    case OP_REPEAT: return at_repeat(d, node, index, out);
    case OP_REPEAT_INTERLEAVE: return at_interleave(d, node, index, out);
    case OP_CAT: return at_cat(d, node, index, out);
    case OP_SLICE_SCATTER: return at_slice_scatter(d, node, index, out);
    case OP_ROLL: return at_roll(d, node, index, out);
    case OP_PAD: return at_pad(d, node, index, out);
    case OP_DROPOUT: return derive_at(d, node->in[0], index, out);
    case OP_INTERPOLATE:
        *is_view = str_is(node_text(node, AT_MODE), "nearest") ||
                   str_is(node_text(node, AT_MODE), "nearest-exact");
        return *is_view && at_nearest(d, node, index, out);
    default: *is_view = false; return false;
    }
}
