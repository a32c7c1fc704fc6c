/* Convolutions in the form that the cube multiplies. In: conv of 1 to 3 dimensions, plain or transposed, with
 * any stride, dilation, padding and groups. Out: the input padded and split into the phases of its strides,
 * the weight with its channels last, conv_taps; of transposed ones the phases of the result are channels, and
 * are put side by side afterwards; a bias is added element by element.
 *
 *     plain        y[o] = sum over k of x[o s + k d - p] w[k]          x[i s + r - p] lies at i of phase r
 *     transposed   y[q s + r - p] = sum over e of x[q - e] w[e s + r]  the phase r of y is a channel
 *
 * Windows of one place are products of matrices. What a few vector instructions an element do is left to
 * rewrite_small.c. */
#include "gen/plan/rewrite.h"

enum {
    DIMS = 3,
    FRACTAL = 16,      /* columns of L0C that can be stored apart from others start at multiples */
    MOST_COLUMNS = 256 /* of a row that is multiplied beside others */
};

/* One dimension: sizes of input, result and window; `lead` places before the first element. */
typedef struct Along {
    int64_t in, out, k, stride, dilation, lead;
    int64_t length; /* of the input as the taps see it, a phase of it */
} Along;

typedef struct Conv {
    const Node *node;
    int dims;
    bool transposed;
    int64_t images, groups, channels, outputs; /* channels and outputs of a group */
    Along along[DIMS];                         /* the last `dims` are the convolution's */
    int64_t start;                             /* elements before the first that is seen */
    int64_t shared; /* columns before a row that are the end of the row before; 0: none */
    int64_t block;  /* elements of 32 bytes */
} Conv;

static int64_t number_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    return a && i < (int)a->ints.len ? a->ints.at[i] : fallback;
}

static bool read_conv(Rewrite *r, const Node *node, Conv *c)
{
    Shape x = rw_value(r, rw_in(r, node, 0))->shape, w = rw_value(r, rw_in(r, node, 1))->shape;
    Shape y = graph_value(r->from, node->out)->shape;
    DType dtype = graph_value(r->from, node->out)->dtype;
    *c = (Conv){.node = node,
                .dims = w.rank - 2,
                .transposed = node_bool(node, AT_TRANSPOSED),
                .groups = node_int(node, AT_GROUPS, 1)};
    if (c->dims < 1 || c->dims > DIMS || (dtype != DT_F32 && dtype != DT_F16 && dtype != DT_BF16))
        return false;
    c->block = 32 / (int64_t)dtype_bytes(dtype);
    c->images = x.rank == w.rank ? x.dim[0] : 1;
    c->channels = (c->transposed ? w.dim[0] : w.dim[1] * c->groups) / c->groups;
    c->outputs = c->transposed ? w.dim[1] : w.dim[0] / c->groups;
    for (int i = 0; i < DIMS; i++) {
        int at = i - (DIMS - c->dims);
        Along *a = &c->along[i];
        *a = (Along){.in = 1, .out = 1, .k = 1, .stride = 1, .dilation = 1};
        if (at < 0)
            continue;
        a->in = x.dim[x.rank - c->dims + at];
        a->out = y.dim[y.rank - c->dims + at];
        a->k = w.dim[2 + at];
        a->stride = number_at(node, AT_STRIDE, at, 1);
        a->dilation = a->k == 1 ? 1 : number_at(node, AT_DILATION, at, 1);
        a->lead = number_at(node, AT_PADDING, at, 0);
    }
    return true;
}

static int64_t taps_of(const Conv *c) { return c->along[0].k * c->along[1].k * c->along[2].k; }

static int64_t phases_of_window(const Along *a) { return a[0].stride * a[1].stride * a[2].stride; }
static int64_t phases_of(const Conv *c) { return phases_of_window(c->along); }

/* The vector cores do these, exactly. */
static bool is_small(const Rewrite *r, const Conv *c)
{
    return !c->transposed && !node_bool(c->node, AT_HF32) &&
           graph_conv_products(r->from, c->node) <= GRAPH_FEW_PRODUCTS;
}

/* ---- the input ---- */

/* Pads or cuts a dimension of x so that it has `lead` places before its first element and `size` in all. */
static ValueId fit_dims(Rewrite *r, ValueId x, const int64_t *lead, const int64_t *size)
{
    int rank = rw_value(r, x)->shape.rank;
    int64_t pads[2 * DIMS] = {0};
    bool padded = false;
    for (int i = 0; i < DIMS; i++) {
        int dim = rank - DIMS + i;
        int64_t from = lead[i] < 0 ? -lead[i] : 0, in = rw_value(r, x)->shape.dim[dim];
        int64_t before = lead[i] < 0 ? 0 : lead[i], end = size[i] - before + from;
        end = end > in ? in : end;
        x = rw_slice(r, x, dim, from, end, 1);
        pads[2 * (DIMS - 1 - i)] = before;
        pads[2 * (DIMS - 1 - i) + 1] = size[i] - before - (end - from);
        padded = padded || before || size[i] - before - (end - from);
    }
    return padded ? rw_pad(r, x, DIMS, pads, 0) : x;
}

/* A window that sees only every stride-th element sees one of stride 1 in these. */
static ValueId skip_unseen(Rewrite *r, Conv *c, ValueId x)
{
    int64_t lead[DIMS], size[DIMS];
    bool skips = false;
    for (int i = 0; i < DIMS; i++) {
        const Along *a = &c->along[i];
        bool unseen = a->stride > 1 && (a->k == 1 || a->dilation % a->stride == 0);
        lead[i] = unseen ? a->lead : 0;
        size[i] = unseen ? (a->out - 1) * a->stride + (a->k - 1) * a->dilation + 1 : a->in;
        skips = skips || unseen;
    }
    if (!skips)
        return x;
    x = fit_dims(r, x, lead, size);
    for (int i = 0; i < DIMS; i++) {
        Along *a = &c->along[i];
        if (a->stride == 1 || (a->k > 1 && a->dilation % a->stride))
            continue;
        x = rw_slice(r, x, 2 + i, 0, size[i], a->stride);
        a->dilation = a->k == 1 ? 1 : a->dilation / a->stride;
        a->in = rw_value(r, x)->shape.dim[2 + i];
        a->stride = 1;
        a->lead = 0;
    }
    return x;
}

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* What is copied begins at the first column, so that whole rows are stored: what stands before a row are the zeros
 * at the end of the row before it. Rows of one place begin at a multiple of 32 bytes. */
static void share_borders(Conv *c)
{
    Along *a = &c->along[2], *rows = &c->along[1];
    int64_t used = a->length - a->lead < a->in ? a->length - a->lead : a->in;
    int64_t trail = a->length - a->lead - used, wide = a->lead > trail ? a->lead : trail;
    if (rows->length * c->along[0].length > 1) {
        a->length = round_up(used + wide, c->block);
        c->shared = a->lead;
        a->lead = 0;
        rows->lead++;
        rows->length++;
    } else {
        c->start = round_up(a->lead, c->block) - a->lead;
        a->lead += c->start;
        a->length = round_up(a->length + c->start, c->block);
    }
}

/* Rows that are multiplied together begin at multiples of a fractal. */
static void round_rows(Conv *c, bool copied)
{
    enum { LONG = 128 };
    Along *a = &c->along[2];
    bool rows = c->along[1].out > 1 && a->out <= MOST_COLUMNS && (copied || a->out < LONG);
    if (copied && a->stride == 1 && a->lead > 0 && a->lead < a->length)
        share_borders(c);
    if (rows)
        a->length = round_up(a->length, FRACTAL);
    if (c->shared)
        c->start = a->length - c->shared;
}

/* [N, C, D, H, W] as [N, C, phases, D, H, W]; whole rows change places first. */
static ValueId split_phases(Rewrite *r, const Conv *c, ValueId x)
{
    static const int64_t order[] = {0, 3, 1, 2, 4};
    const Along *a = c->along;
    Shape to = {.rank = 6,
                .dim = {c->images, c->groups * c->channels, phases_of(c), a[0].length, a[1].length,
                        a[2].length}};
    int64_t outer = c->images * c->groups * c->channels, between = 1;
    int64_t inner = a[0].length * a[0].stride * a[1].length * a[1].stride * a[2].length *
                    a[2].stride;
    for (int i = 0; i < DIMS; i++) {
        inner /= a[i].length * a[i].stride;
        if (a[i].stride > 1) {
            x = rw_reshape(r, x, (Shape){5, {outer, between, a[i].length, a[i].stride, inner}});
            x = rw_permute(r, x, order);
        }
        outer *= a[i].stride;
        between *= a[i].length;
    }
    return rw_reshape(r, x, to);
}

static ValueId pack_input(Rewrite *r, Conv *c, ValueId x)
{
    int64_t lead[DIMS], size[DIMS];
    bool copied = false;
    for (int i = 0; i < DIMS; i++) {
        const Along *a = &c->along[i];
        copied = copied || a->stride > 1 || a->lead || a->length > a->in;
    }
    round_rows(c, copied);
    for (int i = 0; i < DIMS; i++) {
        const Along *a = &c->along[i];
        lead[i] = a->lead;
        size[i] = a->length * a->stride;
    }
    return split_phases(r, c, fit_dims(r, x, lead, size));
}

/* ---- the weight ---- */

/* [G O, C, ..] or, of transposed ones, [G C, O, ..] as [G, O, kd, kh, kw, C]. */
static ValueId channels_last(Rewrite *r, const Conv *c, ValueId w)
{
    const int64_t moved[] = {0, c->transposed ? 2 : 1, 3, 4, 5, c->transposed ? 1 : 2};
    const Along *a = c->along;
    Shape s = {.rank = 6, .dim = {c->groups, c->outputs, c->channels, a[0].k, a[1].k, a[2].k}};
    Shape last = {.rank = 6, .dim = {c->groups, c->outputs, a[0].k, a[1].k, a[2].k, c->channels}};
    if (c->transposed) {
        s.dim[1] = c->channels;
        s.dim[2] = c->outputs;
    }
    bool still = !c->transposed ? c->channels == 1 || taps_of(c) == 1
                                : c->channels == 1 || c->outputs * taps_of(c) == 1;
    w = rw_reshape(r, w, s);
    return still ? rw_reshape(r, w, last) : rw_permute(r, w, moved);
}

static ValueId pad_dim(Rewrite *r, ValueId x, int dim, int64_t size)
{
    int64_t pads[2 * GRAPH_MAX_RANK] = {0};
    Shape s = rw_value(r, x)->shape;
    pads[2 * (s.rank - 1 - dim) + 1] = size - s.dim[dim];
    return size == s.dim[dim] ? x : rw_pad(r, x, s.rank - dim, pads, 0);
}

/* Dimension i of the window of a transposed convolution, [.., k, ..] with all before it as `outer` and
 * `inner` (phases; outputs and dimensions done), as [outer, stride, inner, taps of a phase, rest]. */
static ValueId split_window(Rewrite *r, Along *a, ValueId w, int64_t outer, int64_t inner)
{
    static const int64_t order[] = {0, 3, 1, 2, 4};
    int64_t count = 0;
    shape_count(rw_value(r, w)->shape, &count);
    int64_t rest = count / (outer * inner * a->k);
    if (a->stride == 1)
        return w;
    w = rw_reshape(r, w, (Shape){5, {outer, inner, a->k, 1, rest}});
    if (a->dilation > 1)
        w = pad_dim(r, w, 3, a->dilation);
    int64_t span = (a->k - 1) * a->dilation + 1, taps = (span + a->stride - 1) / a->stride;
    w = rw_reshape(r, w, (Shape){4, {outer, inner, a->k * a->dilation, rest}});
    if (a->k * a->dilation > taps * a->stride)
        w = rw_slice(r, w, 2, 0, taps * a->stride, 1);
    w = pad_dim(r, w, 2, taps * a->stride);
    w = rw_reshape(r, w, (Shape){5, {outer, inner, taps, a->stride, rest}});
    a->k = taps;
    a->dilation = 1;
    return inner * taps == 1 ? w : rw_permute(r, w, order);
}

/* The taps in reversed order. */
static ValueId turn_window(Rewrite *r, const Conv *c, ValueId w)
{
    int64_t dims[DIMS];
    Attr turned = {.key = AT_DIMS};
    for (int i = 0; i < DIMS; i++)
        if (c->along[i].k > 1)
            dims[turned.ints.len++] = 1 + i;
    int64_t *own = arena_array(r->arena, int64_t, DIMS);
    for (uint32_t i = 0; i < turned.ints.len; i++)
        own[i] = dims[i];
    turned.ints.at = own;
    return turned.ints.len ? rw_make(r, OP_FLIP, 0, 1, &w, 1, &turned) : w;
}

/* ---- the convolution ---- */

static Attr three(Rewrite *r, AttrKey key, int64_t a, int64_t b, int64_t c)
{
    int64_t *own = arena_array(r->arena, int64_t, DIMS);
    own[0] = a;
    own[1] = b;
    own[2] = c;
    Attr attr = {.key = key};
    attr.ints.at = own;
    attr.ints.len = DIMS;
    return attr;
}

static ValueId make_taps(Rewrite *r, const Conv *c, ValueId x, ValueId w, int64_t outputs)
{
    const Along *a = c->along;
    Attr attrs[] = {three(r, AT_SHAPE, a[0].out, a[1].out, a[2].out),
                    three(r, AT_STRIDE, a[0].stride, a[1].stride, a[2].stride),
                    three(r, AT_DILATION, a[0].dilation, a[1].dilation, a[2].dilation),
                    {.key = AT_GROUPS, .i = c->groups},
                    {.key = AT_START, .i = c->start},
                    {.key = AT_HF32, .i = 1}};
    uint32_t n = node_bool(c->node, AT_HF32) ? 6 : 5;
    w = rw_reshape(r, w, (Shape){5, {outputs, a[0].k, a[1].k, a[2].k, c->channels}});
    return rw_make(r, OP_CONV_TAPS, 0, 2, (ValueId[]){x, w}, n, attrs);
}

static ValueId plain(Rewrite *r, Conv *c, ValueId x, ValueId w)
{
    int64_t outputs = c->groups * c->outputs;
    x = skip_unseen(r, c, x);
    bool point = c->groups == 1 && taps_of(c) == 1;
    for (int i = 0; i < DIMS; i++) {
        Along *a = &c->along[i];
        a->length = (a->k - 1) * a->dilation / a->stride + a->out;
        point = point && a->lead == 0 && a->length == a->in;
    }
    if (!point)
        return make_taps(r, c, pack_input(r, c, x), channels_last(r, c, w), outputs);
    int64_t places = c->along[0].out * c->along[1].out * c->along[2].out;
    const Attr hf32 = {.key = AT_HF32, .i = 1};
    w = rw_reshape(r, w, (Shape){2, {outputs, c->channels}});
    x = rw_reshape(r, x, (Shape){3, {c->images, c->channels, places}});
    return rw_make(r, OP_MATMUL, 0, 2, (ValueId[]){w, x}, node_bool(c->node, AT_HF32), &hf32);
}

/* [N G, phases, O, ..] as [N, G O, ..] with the phases of each dimension side by side, cut to the result. The last
 * dimension comes first: afterwards whole rows change places. */
static ValueId join_phases(Rewrite *r, const Conv *c, const Along *was, ValueId y)
{
    static const int64_t order[] = {0, 2, 3, 1, 4};
    int64_t outer = c->images * c->groups * phases_of_window(was), inner = 1;
    int64_t count = 0;
    Shape whole = {.rank = 5, .dim = {c->images, c->groups * c->outputs}};
    shape_count(rw_value(r, y)->shape, &count);
    for (int i = DIMS; i-- > 0;) {
        int64_t stride = was[i].stride, size = c->along[i].out;
        outer /= stride;
        if (stride > 1) {
            int64_t between = count / (outer * stride * size * inner);
            y = rw_reshape(r, y, (Shape){5, {outer, stride, between, size, inner}});
            y = rw_permute(r, y, order);
        }
        inner *= size * stride;
        whole.dim[2 + i] = size * stride;
    }
    y = rw_reshape(r, y, whole);
    for (int i = 0; i < DIMS; i++) {
        int64_t from = was[i].lead % was[i].stride;
        y = rw_slice(r, y, 2 + i, from, from + was[i].out, 1);
    }
    return y;
}

static ValueId transposed(Rewrite *r, Conv *c, ValueId x, ValueId w)
{
    int64_t outer = c->groups, inner = c->outputs, phases = phases_of(c);
    Along was[DIMS];
    w = channels_last(r, c, w);
    for (int i = 0; i < DIMS; i++) {
        Along *a = &c->along[i];
        was[i] = *a;
        w = split_window(r, a, w, outer, inner);
        outer *= a->stride;
        inner *= a->k;
        int64_t first = a->lead / a->stride, last = (a->lead + a->out - 1) / a->stride;
        a->out = last - first + 1;
        a->length = a->out + (a->k - 1) * a->dilation;
        a->lead = (a->k - 1) * a->dilation - first;
        a->stride = 1;
    }
    int64_t outputs = c->groups * phases * c->outputs;
    const Along *a = c->along;
    w = rw_reshape(r, w, (Shape){5, {outputs, a[0].k, a[1].k, a[2].k, c->channels}});
    w = turn_window(r, c, w);
    ValueId y = make_taps(r, c, pack_input(r, c, x), w, outputs);
    return phases > 1 ? join_phases(r, c, was, y) : y;
}

bool rewrite_conv(Rewrite *r, const Node *node, ValueId *out)
{
    Conv c;
    if (node->op != OP_CONV || !read_conv(r, node, &c) || is_small(r, &c))
        return false;
    Shape y = graph_value(r->from, node->out)->shape;
    ValueId x = rw_in(r, node, 0), w = rw_in(r, node, 1);
    const Along *a = c.along;
    for (int i = 0, rank = rw_value(r, x)->shape.rank; i < c.dims; i++)
        rw_hold(r, x, rank - c.dims + i);
    x = rw_reshape(r, x, (Shape){5, {c.images, c.groups * c.channels, a[0].in, a[1].in, a[2].in}});
    ValueId v = rw_reshape(r, c.transposed ? transposed(r, &c, x, w) : plain(r, &c, x, w), y);
    if (node->in[2] != VALUE_NONE) {
        Shape bias = {.rank = 1 + c.dims, .dim = {c.groups * c.outputs, 1, 1, 1}};
        v = rw_binary(r, BINARY_add, v, rw_reshape(r, rw_in(r, node, 2), bias));
    }
    out[0] = v;
    return true;
}
