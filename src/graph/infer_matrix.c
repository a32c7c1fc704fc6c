/* Shape rules of matrix products, einsum, convolution, pooling and resampling. */
#include "graph/infer_int.h"

#include <string.h>

static bool mismatch(Infer *infer, Shape a, Shape b)
{
    return infer_fail(infer, "shapes %s and %s do not go together", infer_text(infer, a),
                      infer_text(infer, b));
}

static Shape batch_dims(Shape shape)
{
    shape.rank = shape.rank > 2 ? shape.rank - 2 : 0;
    return shape;
}

bool infer_matmul(Infer *infer)
{
    Shape a = infer_in(infer, 0)->shape, b = infer_in(infer, 1)->shape, *out = &infer->out[0];
    if (a.rank < 1 || b.rank < 1)
        return infer_fail(infer, "both operands need at least one dim");
    int64_t inner = b.rank == 1 ? b.dim[0] : b.dim[b.rank - 2];
    if (a.dim[a.rank - 1] != inner || !shape_broadcast(batch_dims(a), batch_dims(b), out))
        return mismatch(infer, a, b);
    if (a.rank > 1)
        out->dim[out->rank++] = a.dim[a.rank - 2];
    if (b.rank > 1)
        out->dim[out->rank++] = b.dim[b.rank - 1];
    DType common = infer->dtype[0];
    for (uint32_t i = 0; i < 2; i++) {
        if (infer_in(infer, i)->dtype != common)
            return infer_fail(infer, "operands have different dtypes, %s and %s",
                              dtype_name(infer_in(infer, 0)->dtype),
                              dtype_name(infer_in(infer, 1)->dtype));
    }
    infer->dtype[0] = node_dtype(infer->node, AT_DTYPE, common);
    return true;
}

bool infer_linear(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, weight = infer_in(infer, 1)->shape;
    if (x.rank < 1 || weight.rank != 2 || x.dim[x.rank - 1] != weight.dim[1])
        return mismatch(infer, x, weight);
    if (infer_in(infer, 0)->dtype != infer_in(infer, 1)->dtype)
        return infer_fail(infer, "input is %s, weight is %s", dtype_name(infer_in(infer, 0)->dtype),
                          dtype_name(infer_in(infer, 1)->dtype));
    infer->out[0] = x;
    infer->out[0].dim[x.rank - 1] = weight.dim[0];
    if (!infer_has(infer, 2))
        return true;
    Shape bias = infer_in(infer, 2)->shape;
    return (bias.rank == 1 && bias.dim[0] == weight.dim[0]) || mismatch(infer, weight, bias);
}

/* --- einsum ------------------------------------------------------------------------------ */

static int letter_index(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static bool einsum_operand(Infer *infer, Str letters, Shape shape, int64_t extent[52])
{
    if ((int)letters.len != shape.rank)
        return infer_fail(infer, "'%.*s' names %zu dims, the operand is %s", STR_ARG(letters),
                          letters.len, infer_text(infer, shape));
    for (size_t i = 0; i < letters.len; i++) {
        int letter = letter_index(letters.at[i]);
        if (letter < 0)
            return infer_fail(infer, "'%c' is no index letter", letters.at[i]);
        int64_t *known = &extent[letter], size = shape.dim[i];
        const char *twice = memchr(letters.at, letters.at[i], i);
        if (twice && shape.dim[twice - letters.at] != size)
            return infer_fail(infer, "index '%c' stands twice for dims of %lld and %lld",
                              letters.at[i], (long long)shape.dim[twice - letters.at],
                              (long long)size);
        if (*known >= 0 && *known != size && *known != 1 && size != 1)
            return infer_fail(infer, "index '%c' is both %lld and %lld", letters.at[i],
                              (long long)*known, (long long)size);
        if (*known < 0 || *known == 1)
            *known = size;
    }
    return true;
}

bool infer_einsum(Infer *infer)
{
    Str inputs, output, letters;
    if (!node_equation(infer->node, &inputs, &output))
        return infer_fail(infer, "the equation needs '->'");
    int64_t extent[52];
    memset(extent, -1, sizeof extent);
    uint32_t operand = 0;
    for (bool more = true; more; operand++) {
        size_t comma = 0;
        while (comma < inputs.len && inputs.at[comma] != ',')
            comma++;
        letters = str_slice(inputs, 0, comma);
        more = comma < inputs.len;
        inputs = str_slice(inputs, comma + 1, inputs.len);
        if (operand >= infer->node->n_in)
            return infer_fail(infer, "the equation names more operands than are given");
        if (!einsum_operand(infer, letters, infer_in(infer, operand)->shape, extent))
            return false;
    }
    if (operand != infer->node->n_in || output.len > GRAPH_MAX_RANK)
        return infer_fail(infer, "the equation names %u operands, %u are given", operand,
                          infer->node->n_in);
    for (size_t i = 0; i < output.len; i++) {
        int letter = letter_index(output.at[i]);
        if (letter < 0 || extent[letter] < 0 || memchr(output.at, output.at[i], i))
            return infer_fail(infer, "'%c' of the result is no index, or stands twice",
                              output.at[i]);
        infer->out[0].dim[infer->out[0].rank++] = extent[letter];
    }
    return true;
}

bool infer_cdist(Infer *infer)
{
    Shape a = infer_in(infer, 0)->shape, b = infer_in(infer, 1)->shape, *out = &infer->out[0];
    if (a.rank < 2 || b.rank < 2 || a.dim[a.rank - 1] != b.dim[b.rank - 1] ||
        !shape_broadcast(batch_dims(a), batch_dims(b), out))
        return mismatch(infer, a, b);
    out->dim[out->rank++] = a.dim[a.rank - 2];
    out->dim[out->rank++] = b.dim[b.rank - 2];
    return true;
}

bool infer_grouped_matmul(Infer *infer)
{
    Shape a = infer_in(infer, 0)->shape, b = infer_in(infer, 1)->shape, *out = &infer->out[0];
    bool offsets = infer_has(infer, 2);
    int64_t groups = offsets && infer_in(infer, 2)->shape.rank == 1
                         ? infer_in(infer, 2)->shape.dim[0]
                         : 0;
    if (a.rank == 3 && b.rank == 3 && a.dim[0] == b.dim[0] && a.dim[2] == b.dim[1])
        *out = (Shape){3, {a.dim[0], a.dim[1], b.dim[2]}};
    else if (offsets && a.rank == 2 && b.rank == 3 && a.dim[1] == b.dim[1] && groups == b.dim[0])
        *out = (Shape){2, {a.dim[0], b.dim[2]}};
    else if (offsets && a.rank == 3 && b.rank == 2 && a.dim[2] == b.dim[0] && groups == a.dim[0])
        *out = (Shape){2, {a.dim[1], b.dim[1]}};
    else if (offsets && a.rank == 2 && b.rank == 2 && a.dim[1] == b.dim[0])
        *out = (Shape){3, {groups, a.dim[0], b.dim[1]}};
    else
        return mismatch(infer, a, b);
    return true;
}

/* --- windows ----------------------------------------------------------------------------- */

typedef struct Window {
    const int64_t *kernel, *stride, *padding, *dilation;
} Window;

static bool window_attrs(Infer *infer, uint32_t dims, Window *window)
{
    return infer_ints(infer, AT_STRIDE, dims, 1, &window->stride) &&
           infer_ints(infer, AT_PADDING, dims, 0, &window->padding) &&
           infer_ints(infer, AT_DILATION, dims, 1, &window->dilation);
}

/* Positions of the window along spatial dim i; ceil mode rounds up, but no window may start
 * in the padding past the end. */
static bool window_count(Infer *infer, const Window *w, int i, int64_t size, bool ceil_mode,
                         int64_t *count)
{
    int64_t span, padded;
    if (!infer_muladd(infer, w->dilation[i], w->kernel[i] - 1, 1, &span) ||
        !infer_muladd(infer, w->padding[i], 2, size, &padded))
        return false;
    if (padded < span)
        return infer_fail(infer, "window of %lld is larger than the padded size %lld",
                          (long long)span, (long long)padded);
    int64_t room = padded - span;
    *count = room / w->stride[i] + 1;
    if (ceil_mode && room % w->stride[i] && *count * w->stride[i] < size + w->padding[i])
        ++*count;
    return true;
}

static bool transposed_size(Infer *infer, const Window *w, int i, int64_t size, int64_t extra,
                            int64_t *out)
{
    int64_t span;
    if (extra >= w->stride[i] && extra >= w->dilation[i])
        return infer_fail(infer, "output padding must be smaller than stride or dilation");
    return size >= 1 && infer_muladd(infer, w->dilation[i], w->kernel[i] - 1, 1 + extra, &span) &&
           infer_muladd(infer, size - 1, w->stride[i], span, out) &&
           infer_muladd(infer, w->padding[i], -2, *out, out) &&
           (*out >= 1 || infer_fail(infer, "the result would have size %lld", (long long)*out));
}

static bool conv_channels(Infer *infer, Shape x, Shape weight, int channel, int64_t *out)
{
    int64_t groups = node_int(infer->node, AT_GROUPS, 1), in = x.dim[channel];
    bool transposed = node_bool(infer->node, AT_TRANSPOSED);
    if (groups < 1 || weight.dim[0] % groups || in % groups)
        return infer_fail(infer, "%lld groups do not divide the channels", (long long)groups);
    if (in != (transposed ? weight.dim[0] : weight.dim[1] * groups))
        return infer_fail(
            infer, "input %s has %lld channels, weight %s with %lld groups wants %lld",
            infer_text(infer, x), (long long)in, infer_text(infer, weight), (long long)groups,
            (long long)(transposed ? weight.dim[0] : weight.dim[1] * groups));
    *out = transposed ? weight.dim[1] * groups : weight.dim[0];
    if (!infer_has(infer, 2))
        return true;
    Shape bias = infer_in(infer, 2)->shape;
    return (bias.rank == 1 && bias.dim[0] == *out) || mismatch(infer, weight, bias);
}

bool infer_conv(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, weight = infer_in(infer, 1)->shape;
    int dims = weight.rank - 2, channel = x.rank - dims - 1;
    if (dims < 1 || dims > 3 || (channel != 0 && channel != 1))
        return mismatch(infer, x, weight);
    if (infer_in(infer, 0)->dtype != infer_in(infer, 1)->dtype)
        return infer_fail(infer, "input is %s, weight is %s", dtype_name(infer_in(infer, 0)->dtype),
                          dtype_name(infer_in(infer, 1)->dtype));
    Window window = {.kernel = weight.dim + 2};
    const int64_t *extra = NULL;
    bool transposed = node_bool(infer->node, AT_TRANSPOSED);
    infer->out[0] = x;
    if (!window_attrs(infer, (uint32_t)dims, &window) ||
        (transposed && !infer_ints(infer, AT_OUT_PADDING, (uint32_t)dims, 0, &extra)) ||
        !conv_channels(infer, x, weight, channel, &infer->out[0].dim[channel]))
        return false;
    for (int i = 0; i < dims; i++) {
        int at = channel + 1 + i;
        if (weight.dim[2 + i] < 1)
            return infer_fail(infer, "empty kernel");
        if (transposed
                ? !transposed_size(infer, &window, i, x.dim[at], extra[i], &infer->out[0].dim[at])
                : !window_count(infer, &window, i, x.dim[at], false, &infer->out[0].dim[at]))
            return false;
    }
    return true;
}

/* Every tap of every place lies inside its phase. */
bool infer_conv_taps(Infer *infer)
{
    enum { DIMS = 3, RANK_X = 6, RANK_W = 5 };
    Shape x = infer_in(infer, 0)->shape, w = infer_in(infer, 1)->shape;
    const int64_t *stride, *dilation, *size;
    int64_t groups = node_int(infer->node, AT_GROUPS, 1), phases = 1, volume = 1, last = 0;
    int64_t start = node_int(infer->node, AT_START, 0);
    if (x.rank != RANK_X || w.rank != RANK_W || groups < 1 || start < 0 || w.dim[0] % groups ||
        x.dim[1] != groups * w.dim[4])
        return mismatch(infer, x, w);
    if (!infer_ints(infer, AT_STRIDE, DIMS, 1, &stride) ||
        !infer_ints(infer, AT_DILATION, DIMS, 1, &dilation) ||
        !infer_ints(infer, AT_SHAPE, DIMS, 1, &size))
        return false;
    infer->out[0] = (Shape){.rank = RANK_W, .dim = {x.dim[0], w.dim[0]}};
    for (int i = 0; i < DIMS; i++) {
        int64_t far;
        if (w.dim[1 + i] < 1 || !infer_muladd(infer, w.dim[1 + i] - 1, dilation[i], 0, &far) ||
            !infer_muladd(infer, last, x.dim[3 + i], far / stride[i] + size[i] - 1, &last) ||
            !infer_muladd(infer, volume, x.dim[3 + i], 0, &volume) ||
            !infer_muladd(infer, phases, stride[i], 0, &phases))
            return mismatch(infer, x, w);
        infer->out[0].dim[2 + i] = size[i];
    }
    return (phases == x.dim[2] && last < volume - start) || mismatch(infer, x, w);
}

static void index_output(Infer *infer)
{
    infer->dtype[0] = infer_in(infer, 0)->dtype;
    infer->out[1] = infer->out[0];
    infer->dtype[1] = DT_I64;
}

bool infer_pool(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    const Attr *kernel = node_attr(infer->node, AT_KERNEL);
    uint32_t dims = kernel ? kernel->ints.len : 0;
    Window window;
    if (dims < 1 || dims > 3 || (x.rank != (int)dims + 1 && x.rank != (int)dims + 2))
        return infer_fail(infer, "a window of %u dims does not fit %s", dims, infer_text(infer, x));
    if (!infer_ints(infer, AT_KERNEL, dims, 1, &window.kernel) ||
        !window_attrs(infer, dims, &window))
        return false;
    infer->out[0] = x;
    for (int i = 0; i < (int)dims; i++) {
        int at = x.rank - (int)dims + i;
        if (window.padding[i] > window.kernel[i] / 2)
            return infer_fail(infer, "padding must be at most half the kernel");
        if (!window_count(infer, &window, i, x.dim[at], node_bool(infer->node, AT_CEIL),
                          &infer->out[0].dim[at]))
            return false;
    }
    index_output(infer);
    return true;
}

/* Replaces the last dims of input 0 by attribute shape. */
static bool resized(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape;
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    uint32_t dims = attr ? attr->ints.len : 0;
    if (dims < 1 || dims > 3 || x.rank <= (int)dims)
        return infer_fail(infer, "a size of %u dims does not fit %s", dims, infer_text(infer, x));
    infer->out[0] = x;
    for (uint32_t i = 0; i < dims; i++) {
        int at = x.rank - (int)(dims - i);
        if (attr->ints.at[i] < 0 || (attr->ints.at[i] > 0 && x.dim[at] == 0))
            return infer_fail(infer, "bad size %lld from %s", (long long)attr->ints.at[i],
                              infer_text(infer, x));
        infer->out[0].dim[at] = attr->ints.at[i];
    }
    return true;
}

bool infer_adaptive_pool(Infer *infer)
{
    if (!resized(infer))
        return false;
    index_output(infer);
    return true;
}

bool infer_unpool(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, index = infer_in(infer, 1)->shape;
    return shape_equal(x, index) ? resized(infer) : mismatch(infer, x, index);
}

bool infer_interpolate(Infer *infer)
{
    static const char *const modes[] = {"nearest", "nearest-exact", "linear", "bilinear",
                                        "bicubic", "trilinear",     "area"};
    static const int ranks[] = {0, 0, 3, 4, 4, 5, 0};
    Shape x = infer_in(infer, 0)->shape;
    Str mode = node_text(infer->node, AT_MODE);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!str_is(mode, modes[i]))
            continue;
        if (ranks[i] && ranks[i] != x.rank)
            return infer_fail(infer, "mode %s needs %d dims, got %s", modes[i], ranks[i],
                              infer_text(infer, x));
        const Attr *size = node_attr(infer->node, AT_SHAPE);
        if (!size || (int)size->ints.len != x.rank - 2)
            return infer_fail(infer, "the size must name the %d spatial dims of %s", x.rank - 2,
                              infer_text(infer, x));
        return resized(infer);
    }
    return infer_fail(infer, "unknown mode '%.*s'", STR_ARG(mode));
}

bool infer_grid_sample(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, grid = infer_in(infer, 1)->shape;
    if ((x.rank != 4 && x.rank != 5) || grid.rank != x.rank || grid.dim[0] != x.dim[0] ||
        grid.dim[grid.rank - 1] != x.rank - 2)
        return mismatch(infer, x, grid);
    infer->out[0] = x;
    for (int i = 2; i < x.rank; i++) {
        if (x.dim[i] < 1)
            return infer_fail(infer, "nothing to sample in %s", infer_text(infer, x));
        infer->out[0].dim[i] = grid.dim[i - 1];
    }
    return true;
}

bool infer_affine_grid(Infer *infer)
{
    Shape theta = infer_in(infer, 0)->shape, *out = &infer->out[0];
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    int space = attr ? (int)attr->ints.len - 2 : 0;
    if ((space != 2 && space != 3) || theta.rank != 3 || theta.dim[1] != space ||
        theta.dim[2] != space + 1 || attr->ints.at[0] != theta.dim[0])
        return infer_fail(infer, "theta %s does not go with the size", infer_text(infer, theta));
    out->dim[out->rank++] = theta.dim[0];
    for (int i = 0; i < space; i++) {
        if (attr->ints.at[2 + i] < 1)
            return infer_fail(infer, "bad size");
        out->dim[out->rank++] = attr->ints.at[2 + i];
    }
    out->dim[out->rank++] = space;
    return true;
}
