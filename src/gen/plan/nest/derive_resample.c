/* Resampling in general nests: every result is a sum of weighted elements that are picked by places.
 *
 *     y(o) = sum over taps k of weight_k(o) x(place_k(o))      per dimension
 *
 * In: an interpolate, grid_sample or affine_grid node and an index of its result. Out: the value there. */
#include "gen/plan/nest/derive_int.h"

#include <math.h>

enum { MOST_SPATIAL = 3, MOST_TAPS = 4 };

typedef enum TapMode { TAP_NEAREST, TAP_EXACT, TAP_LINEAR, TAP_CUBIC, TAP_AREA } TapMode;

/* Where a dimension is read for one result: taps of their own, or one that an axis of `over` walks. */
typedef struct Taps {
    uint32_t n;
    NestId place[MOST_TAPS], weight[MOST_TAPS]; /* weight 0: 1 */
    NestId mask[MOST_TAPS];                     /* the place lies inside; 0: it always does */
    uint64_t over;
} Taps;

static NestId number(Derive *d, double x) { return nest_number(d->nest, x); }
static NestId add_nodes(Derive *d, NestId a, NestId b)
{
    return nest_map2(d->nest, "$0 + $1", a, b);
}
static NestId subtract(Derive *d, NestId a, NestId b)
{
    return nest_map2(d->nest, "$0 - $1", a, b);
}
static NestId multiply(Derive *d, NestId a, NestId b)
{
    return nest_map2(d->nest, "$0 * $1", a, b);
}
static NestId least(Derive *d, NestId a, NestId b)
{
    return nest_map2(d->nest, "min($0, $1)", a, b);
}
static NestId most(Derive *d, NestId a, NestId b)
{
    return nest_map2(d->nest, "max($0, $1)", a, b);
}
static NestId floor_of(Derive *d, NestId a) { return nest_map1(d->nest, "floor($0)", a); }

static NestId clamp(Derive *d, NestId x, int64_t size)
{
    return least(d, most(d, x, number(d, 0)), number(d, (double)(size - 1)));
}

static NestId both(Derive *d, NestId a, NestId b)
{
    return !a || !b ? (a ? a : b) : nest_map(d->nest, "$0 & $1", true, 2, (NestId[]){a, b});
}

/* ---- weights ---- */

/* The cubic convolution kernel of parameter a at a distance x <= 1, (1 - x) (1 + x - (a + 2) x x), and at 1 + x,
 * a x (1 - x) (1 - x). */
static NestId cubic_near(Derive *d, NestId x, double a)
{
    NestId one = number(d, 1), square = multiply(d, multiply(d, x, x), number(d, a + 2));
    return multiply(d, subtract(d, one, x), subtract(d, add_nodes(d, one, x), square));
}

static NestId cubic_far(Derive *d, NestId x, double a)
{
    NestId left = subtract(d, number(d, 1), x);
    return multiply(d, multiply(d, number(d, a), x), multiply(d, left, left));
}

static NestId cubic_any(Derive *d, NestId x, double a)
{
    NestId size = nest_map1(d->nest, "abs($0)", x), args[2] = {size, number(d, 1)};
    NestId near = nest_map(d->nest, "$0 < $1", true, 2, args);
    args[1] = number(d, 2);
    NestId inside = nest_map(d->nest, "$0 < $1", true, 2, args);
    NestId far = nest_map(
        d->nest, "where($0, $1, $2)", false, 3,
        (NestId[]){inside, cubic_far(d, subtract(d, size, number(d, 1)), a), number(d, 0)});
    return nest_map(d->nest, "where($0, $1, $2)", false, 3,
                    (NestId[]){near, cubic_near(d, size, a), far});
}

/* Four taps around a place. */
static void cubic_taps(Derive *d, NestId low, NestId part, Taps *t)
{
    NestId one = number(d, 1);
    t->n = 4;
    for (int k = 0; k < 4; k++)
        t->place[k] = add_nodes(d, low, number(d, k - 1));
    t->weight[0] = cubic_far(d, part, -0.75);
    t->weight[1] = cubic_near(d, part, -0.75);
    t->weight[2] = cubic_near(d, subtract(d, one, part), -0.75);
    t->weight[3] = cubic_far(d, subtract(d, one, part), -0.75);
}

static void linear_taps(Derive *d, NestId low, NestId part, Taps *t)
{
    t->n = 2;
    t->place[0] = low;
    t->place[1] = add_nodes(d, low, number(d, 1));
    t->weight[0] = subtract(d, number(d, 1), part);
    t->weight[1] = part;
}

/* ---- interpolate ---- */

typedef struct Scale {
    TapMode mode;
    bool align, antialias;
    int64_t in, out;
    double by; /* elements of the input for one of the result */
} Scale;

static TapMode mode_of(const Node *node)
{
    Str m = node_text(node, AT_MODE);
    return str_is(m, "nearest")         ? TAP_NEAREST
           : str_is(m, "nearest-exact") ? TAP_EXACT
           : str_is(m, "bicubic")       ? TAP_CUBIC
           : str_is(m, "area")          ? TAP_AREA
                                        : TAP_LINEAR;
}

static Scale scale_of(const Node *node, int64_t in, int64_t out, double factor)
{
    Scale s = {.mode = mode_of(node), .in = in, .out = out};
    bool smooth = s.mode == TAP_LINEAR || s.mode == TAP_CUBIC;
    s.align = smooth && node_bool(node, AT_ALIGN);
    s.antialias = smooth && node_bool(node, AT_ANTIALIAS);
    s.by = s.align      ? (out > 1 ? (double)(in - 1) / (double)(out - 1) : 0)
           : factor > 0 ? 1 / factor
                        : (double)in / (double)out;
    return s;
}

/* The place of a result in the input is (up * o + begin) / down, of whole numbers that f32 holds: so are the element
 * before it and how far it is behind that. */
typedef struct Ratio {
    int64_t up, begin, down;
} Ratio;

static bool ratio_of(const Scale *s, Ratio *r)
{
    *r = s->align ? (Ratio){s->out > 1 ? s->in - 1 : 0, 0, s->out > 1 ? s->out - 1 : 1}
                  : (Ratio){2 * s->in, s->in - s->out, 2 * s->out};
    bool same = s->align || fabs(s->by * (double)s->out - (double)s->in) < 1e-9 * (double)s->in;
    return same && 4 * s->in * s->out < EXACT_INT;
}

static NestId divide(Derive *d, NestId a, int64_t by)
{
    return nest_map2(d->nest, "$0 / $1", a, number(d, (double)by));
}

/* up * o + begin */
static NestId ratio_at(Derive *d, NestId o, int64_t up, int64_t begin)
{
    NestId x = multiply(d, o, number(d, (double)up));
    return begin ? add_nodes(d, x, number(d, (double)begin)) : x;
}

/* Taps that an axis walks: elements `from` to `to`, weighted by how far they are from the center. */
static bool walked_taps(Derive *d, const Node *node, const Scale *s, NestId o, uint64_t avoid,
                        Taps *t)
{
    bool area = s->mode == TAP_AREA;
    int64_t reach = s->mode == TAP_CUBIC ? 2 : 1, in = s->in, out = s->out;
    int64_t wide = in > out ? in : out; /* of 2 * out */
    int64_t count = area ? in / out + 2 : 2 * reach * wide / out + 2;
    Ratio r;
    if (!ratio_of(s, &r) || s->align)
        return derive_refuse(d, node, "its sizes and factors do not agree, or corners are aligned");
    const NestDim *walked = derive_dim(d, count, avoid);
    if (!walked || walked->index.n != 1)
        return derive_refuse(d, node, "its windows have too many dimensions");
    Affine step = walked->index;
    NestId k = nest_place(d->nest, &step), zero = number(d, 0), one = number(d, 1), from, to;
    t->over = walked->axes;
    if (area) {
        from = floor_of(d, divide(d, ratio_at(d, o, in, 0), out));
        to = nest_map1(d->nest, "ceil($0)", divide(d, ratio_at(d, o, in, in), out));
    } else { /* the center is (2 in o + in) / (2 out), the reach 2 wide reach of that */
        NestId low = ratio_at(d, o, 2 * in, in - 2 * reach * wide + out);
        NestId high = ratio_at(d, o, 2 * in, in + 2 * reach * wide + out);
        from = floor_of(d, divide(d, most(d, low, zero), 2 * out));
        to = least(d, floor_of(d, divide(d, high, 2 * out)), number(d, (double)in));
    }
    NestId place = add_nodes(d, from, k);
    NestId inside = nest_map(d->nest, "$0 < $1", true, 2, (NestId[]){place, to}), weight = one;
    if (!area) {
        NestId off = subtract(d, ratio_at(d, place, 2 * out, out), ratio_at(d, o, 2 * in, in));
        off = divide(d, off, 2 * wide);
        weight = s->mode == TAP_CUBIC
                     ? cubic_any(d, off, -0.5)
                     : most(d, subtract(d, one, nest_map1(d->nest, "abs($0)", off)), zero);
    }
    weight = nest_map(d->nest, "where($0, $1, $2)", false, 3, (NestId[]){inside, weight, zero});
    NestId sum = nest_reduce(d->nest, PRIM_SUM, weight, t->over);
    t->n = 1;
    t->place[0] = clamp(d, place, in);
    t->weight[0] = nest_map2(d->nest, "$0 / $1", weight, sum);
    return true;
}

/* The element before the place of a result, and how far it is behind that. */
static void place_parts(Derive *d, const Scale *s, NestId o, NestId *low, NestId *part)
{
    NestId half = number(d, 0.5), by = number(d, s->by), zero = number(d, 0), at;
    Ratio r;
    if (ratio_of(s, &r)) {
        at = ratio_at(d, o, r.up, r.begin);
        at = s->mode == TAP_LINEAR ? most(d, at, zero) : at;
        *low = floor_of(d, divide(d, at, r.down));
        *part = divide(d, subtract(d, at, multiply(d, *low, number(d, (double)r.down))), r.down);
        return;
    }
    at = s->align ? multiply(d, o, by) : subtract(d, multiply(d, add_nodes(d, o, half), by), half);
    at = s->mode == TAP_LINEAR ? most(d, at, zero) : at;
    *low = floor_of(d, at);
    *part = subtract(d, at, *low);
}

static bool scale_taps(Derive *d, const Node *node, const Scale *s, const Affine *index,
                       uint64_t avoid, Taps *t)
{
    NestId o = nest_place(d->nest, index), by = number(d, s->by), half = number(d, 0.5), low, part;
    *t = (Taps){0};
    if (s->in == s->out && s->by == 1 && !s->antialias) { /* as it is */
        t->n = 1;
        t->place[0] = o;
        return true;
    }
    if (s->mode == TAP_AREA || s->antialias)
        return walked_taps(d, node, s, o, avoid, t);
    if (s->mode == TAP_NEAREST || s->mode == TAP_EXACT) {
        o = s->mode == TAP_EXACT ? add_nodes(d, o, half) : o;
        t->n = 1;
        t->place[0] = clamp(d, floor_of(d, multiply(d, o, by)), s->in);
        return true;
    }
    place_parts(d, s, o, &low, &part);
    if (s->mode == TAP_CUBIC)
        cubic_taps(d, low, part, t);
    else
        linear_taps(d, low, part, t);
    for (uint32_t k = 0; k < t->n; k++)
        t->place[k] = clamp(d, t->place[k], s->in);
    return true;
}

/* ---- sums over taps ---- */

/* What is picked from, walked along its last dimensions by axes of their own. */
typedef struct Image {
    const Node *node;
    ValueId value;
    NestIndex index;
    int dims;
    uint64_t avoid;
} Image;

/* The element at one tap of each dimension. */
static bool pick_element(Derive *d, const Image *im, const NestId *place, NestId mask, NestId *out)
{
    Shape shape = graph_value(d->graph, im->value)->shape;
    NestIndex index = im->index;
    uint32_t axis[MOST_SPATIAL] = {0};
    uint64_t avoid = im->avoid;
    NestId outer = d->mask;
    for (int i = 0; i < im->dims; i++) {
        int at = shape.rank - im->dims + i;
        index.dim[at] = affine_number(0);
        if (shape.dim[at] == 1)
            continue;
        const NestDim *walked = derive_dim(d, shape.dim[at], avoid);
        if (!walked || walked->index.n != 1)
            return derive_refuse(d, im->node, "its images have too many dimensions");
        index.dim[at] = walked->index;
        axis[i] = walked->index.term[0].axis;
        avoid |= walked->axes;
    }
    d->mask = both(d, outer, mask);
    bool ok = derive_at(d, im->value, &index, out);
    d->mask = outer;
    for (int i = 0; i < im->dims && ok; i++)
        ok = !axis[i] || derive_replace_axis(d, *out, axis[i], place[i], out) ||
             derive_refuse(d, im->node,
                           "the tensor it samples would have to be written to memory first");
    return ok;
}

/* Sum over the taps of all dimensions, weighted. */
static bool sum_taps(Derive *d, const Image *im, const Taps *taps, NestId *out)
{
    uint32_t all = 1;
    uint64_t over = 0;
    NestId sum = 0;
    for (int i = 0; i < im->dims; i++) {
        all *= taps[i].n;
        over |= taps[i].over;
    }
    for (uint32_t t = 0; t < all; t++) {
        NestId place[MOST_SPATIAL], weight = 0, mask = 0, x;
        uint32_t rest = t;
        for (int i = im->dims; i-- > 0; rest /= taps[i].n) {
            uint32_t k = rest % taps[i].n;
            NestId w = taps[i].weight[k];
            place[i] = taps[i].place[k];
            mask = both(d, mask, taps[i].mask[k]);
            weight = !weight || !w ? (weight ? weight : w) : multiply(d, weight, w);
        }
        if (!pick_element(d, im, place, mask, &x))
            return false;
        x = weight ? multiply(d, weight, x) : x;
        sum = sum ? add_nodes(d, sum, x) : x;
    }
    *out = over ? nest_reduce(d->nest, PRIM_SUM, sum, over) : sum;
    return true;
}

static bool at_interpolate(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape in = graph_value(d->graph, node->in[0])->shape;
    Shape size = graph_value(d->graph, node->out)->shape;
    Image im = {node, node->in[0], *index, in.rank - 2, derive_axes(index)};
    Taps taps[MOST_SPATIAL];
    Str scales = node_text(node, AT_SCALES), word;
    if (im.dims < 1 || im.dims > MOST_SPATIAL)
        return derive_refuse(d, node, "its images have too many dimensions");
    for (int i = 0; i < im.dims; i++) {
        double factor = 0;
        if (str_next(&scales, ',', &word))
            str_to_double(str_trim(word), &factor);
        Scale s = scale_of(node, in.dim[2 + i], size.dim[2 + i], factor);
        if (!scale_taps(d, node, &s, &index->dim[2 + i], im.avoid, &taps[i]))
            return false;
        im.avoid |= taps[i].over;
    }
    return sum_taps(d, &im, taps, out);
}

/* ---- grids ---- */

typedef struct Sampler {
    TapMode mode;
    bool zeros, reflects, align;
} Sampler;

/* Mirrored at both ends, as often as needed. */
static NestId reflect(Derive *d, const Sampler *s, NestId x, int64_t size)
{
    double low = s->align ? 0 : -0.5, span = s->align ? (double)(size - 1) : (double)size;
    if (span == 0)
        return number(d, 0);
    x = nest_map1(d->nest, "abs($0)", subtract(d, x, number(d, low)));
    NestId turns = floor_of(d, multiply(d, x, number(d, 1 / span)));
    NestId extra = subtract(d, x, multiply(d, turns, number(d, span)));
    NestId even = multiply(d, floor_of(d, multiply(d, turns, number(d, 0.5))), number(d, 2));
    NestId back = subtract(d, number(d, span), extra);
    NestId same = nest_map(d->nest, "$0 == $1", true, 2, (NestId[]){turns, even});
    x = nest_map(d->nest, "where($0, $1, $2)", false, 3, (NestId[]){same, extra, back});
    return add_nodes(d, x, number(d, low));
}

static NestId pad_place(Derive *d, const Sampler *s, NestId x, int64_t size)
{
    if (s->reflects)
        x = reflect(d, s, x, size);
    return s->zeros ? x : clamp(d, x, size);
}

static void bound_taps(Derive *d, int64_t size, Taps *t)
{
    for (uint32_t k = 0; k < t->n; k++) {
        NestId low[2] = {t->place[k], number(d, 0)},
               high[2] = {t->place[k], number(d, (double)(size - 1))};
        t->mask[k] = both(d, nest_map(d->nest, "$0 >= $1", true, 2, low),
                          nest_map(d->nest, "$0 <= $1", true, 2, high));
        t->place[k] = clamp(d, t->place[k], size);
    }
}

static bool grid_taps(Derive *d, const Node *node, const Sampler *s, const NestIndex *index, int i,
                      int dims, Taps *t)
{
    int64_t size = graph_value(d->graph, node->in[0])->shape.dim[2 + i];
    NestIndex where = {.rank = dims + 2};
    NestId g, at, one = number(d, 1), half = number(d, 0.5), n = number(d, (double)size);
    where.dim[0] = index->dim[0];
    for (int k = 0; k < dims; k++)
        where.dim[1 + k] = index->dim[2 + k];
    where.dim[1 + dims] = affine_number(dims - 1 - i); /* the grid names x first */
    *t = (Taps){0};
    if (!derive_at(d, node->in[1], &where, &g))
        return false;
    g = add_nodes(d, g, one);
    at = s->align ? multiply(d, multiply(d, g, half), number(d, (double)(size - 1)))
                  : multiply(d, subtract(d, multiply(d, g, n), one), half);
    if (s->mode == TAP_CUBIC) {
        cubic_taps(d, floor_of(d, at), subtract(d, at, floor_of(d, at)), t);
        for (uint32_t k = 0; k < t->n; k++)
            t->place[k] = pad_place(d, s, t->place[k], size);
    } else if (s->mode == TAP_NEAREST) {
        t->n = 1;
        t->place[0] = nest_map1(d->nest, "round($0)", pad_place(d, s, at, size));
    } else {
        at = pad_place(d, s, at, size);
        linear_taps(d, floor_of(d, at), subtract(d, at, floor_of(d, at)), t);
    }
    bound_taps(d, size, t);
    return true;
}

static bool at_sample(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Str pad = node_text(node, AT_PAD_MODE);
    Sampler s = {.mode = mode_of(node),
                 .reflects = str_is(pad, "reflection"),
                 .zeros = !str_is(pad, "reflection") && !str_is(pad, "border"),
                 .align = node_bool(node, AT_ALIGN)};
    Image im = {node, node->in[0], *index, graph_value(d->graph, node->in[0])->shape.rank - 2,
                derive_axes(index)};
    Taps taps[MOST_SPATIAL];
    if (im.dims < 1 || im.dims > MOST_SPATIAL)
        return derive_refuse(d, node, "its images have too many dimensions");
    for (int i = 0; i < im.dims; i++)
        if (!grid_taps(d, node, &s, index, i, im.dims, &taps[i]))
            return false;
    return sum_taps(d, &im, taps, out);
}

/* sum over c of theta [n, r, c] * base c, where base is the place of a result, from -1 to 1, and 1. */
static bool at_affine_grid(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    Shape shape = graph_value(d->graph, node->out)->shape;
    int dims = shape.rank - 2;
    bool align = node_bool(node, AT_ALIGN);
    *out = 0;
    for (int c = 0; c <= dims; c++) {
        NestIndex at = {.rank = 3};
        NestId x, base;
        at.dim[0] = index->dim[0];
        at.dim[1] = index->dim[dims + 1];
        at.dim[2] = affine_number(c);
        if (!derive_at(d, node->in[0], &at, &x))
            return false;
        if (c < dims) {
            double n = (double)shape.dim[dims - c]; /* base 0 is x, the last dimension */
            double by = align ? (n > 1 ? 2 / (n - 1) : 0) : 2 / n;
            double from = align ? (n > 1 ? -1 : 0) : 1 / n - 1;
            base = multiply(d, nest_place(d->nest, &index->dim[dims - c]), number(d, by));
            x = multiply(d, x, add_nodes(d, base, number(d, from)));
        }
        *out = *out ? add_nodes(d, *out, x) : x;
    }
    return true;
}

bool derive_resample(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    switch (node->op) {
    case OP_INTERPOLATE: return at_interpolate(d, node, index, out);
    case OP_GRID_SAMPLE: return at_sample(d, node, index, out);
    default: return at_affine_grid(d, node, index, out);
    }
}
