/* Shape rules of the operators that only move elements: reshape, slices, joins, padding. */
#include "graph/infer_int.h"

#include <string.h>

bool infer_reshape(Infer *infer)
{
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    Shape in = infer_in(infer, 0)->shape, *out = &infer->out[0];
    if (!attr || attr->ints.len > GRAPH_MAX_RANK)
        return infer_fail(infer, "needs a shape of at most %d dims", GRAPH_MAX_RANK);
    int hole = -1;
    Shape known = {.rank = (int)attr->ints.len};
    for (int i = 0; i < known.rank; i++) {
        known.dim[i] = attr->ints.at[i];
        if (known.dim[i] == -1 && hole < 0) {
            hole = i;
            known.dim[i] = 1;
        } else if (known.dim[i] < 0) {
            return infer_fail(infer, "bad size %lld", (long long)known.dim[i]);
        }
    }
    int64_t have, want;
    if (!shape_count(in, &have) || !shape_count(known, &want))
        return infer_fail(infer, "sizes overflow 64 bits");
    if (hole >= 0 && want > 0 && have % want == 0) {
        known.dim[hole] = have / want;
        want = have;
    }
    if (have != want)
        return infer_fail(infer, "%s has %lld elements, the shape asks for %lld%s",
                          infer_text(infer, in), (long long)have, (long long)want,
                          hole >= 0 ? " times something" : "");
    *out = known;
    return true;
}

bool infer_permute(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    const Attr *attr = node_attr(infer->node, AT_DIMS);
    if (!attr || (int)attr->ints.len != in.rank)
        return infer_fail(infer, "needs %d dims for %s", in.rank, infer_text(infer, in));
    unsigned seen = 0;
    infer->out[0].rank = in.rank;
    for (int i = 0; i < in.rank; i++) {
        int64_t dim = attr->ints.at[i];
        if (dim < 0 || dim >= in.rank || (seen >> dim & 1))
            return infer_fail(infer, "dims are no permutation of %s", infer_text(infer, in));
        seen |= 1u << dim;
        infer->out[0].dim[i] = in.dim[dim];
    }
    return true;
}

bool infer_expand(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape, *out = &infer->out[0];
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    if (!attr || attr->ints.len > GRAPH_MAX_RANK || (int)attr->ints.len < in.rank)
        return infer_fail(infer, "cannot expand %s to %u dims", infer_text(infer, in),
                          attr ? attr->ints.len : 0);
    out->rank = (int)attr->ints.len;
    int lead = out->rank - in.rank;
    for (int i = 0; i < out->rank; i++) {
        int64_t want = attr->ints.at[i], have = i < lead ? 1 : in.dim[i - lead];
        if (want == -1 && i >= lead)
            want = have;
        if (want < 0 || (have != want && have != 1))
            return infer_fail(infer, "cannot expand size %lld of %s to %lld", (long long)have,
                              infer_text(infer, in), (long long)want);
        out->dim[i] = want;
    }
    return true;
}

static bool slice_length(Infer *infer, Shape in, int dim, int64_t *length)
{
    int64_t start = node_int(infer->node, AT_START, 0), step = node_int(infer->node, AT_STEP, 1);
    int64_t end = node_int(infer->node, AT_END, in.rank ? in.dim[dim] : 0);
    if (!in.rank || step < 1 || start < 0 || end < start || end > in.dim[dim])
        return infer_fail(infer, "%lld:%lld:%lld does not lie in %s along dim %d", (long long)start,
                          (long long)end, (long long)step, infer_text(infer, in), dim);
    *length = end == start ? 0 : (end - start - 1) / step + 1;
    return true;
}

bool infer_slice(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    int dim;
    infer->out[0] = in;
    return infer_dim(infer, in, 0, &dim) && slice_length(infer, in, dim, &infer->out[0].dim[dim]);
}

bool infer_slice_scatter(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape, slot = in;
    int dim;
    if (!infer_dim(infer, in, 0, &dim) || !slice_length(infer, in, dim, &slot.dim[dim]))
        return false;
    infer->out[0] = in;
    Shape source = infer_in(infer, 1)->shape;
    return shape_equal(slot, source) ||
           infer_fail(infer, "the slice has shape %s, the source %s", infer_text(infer, slot),
                      infer_text(infer, source));
}

static bool is_legacy_empty(Shape shape) { return shape.rank == 1 && shape.dim[0] == 0; }

bool infer_cat(Infer *infer)
{
    const Node *node = infer->node;
    Shape out = infer_in(infer, 0)->shape;
    for (uint32_t i = 1; i < node->n_in && is_legacy_empty(out); i++)
        out = infer_in(infer, i)->shape;
    int dim;
    if (!out.rank)
        return infer_fail(infer, "a number without dims cannot be joined");
    if (!infer_dim(infer, out, 0, &dim))
        return false;
    Shape form = out;
    form.dim[dim] = out.dim[dim] = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        Shape next = infer_in(infer, i)->shape;
        if (is_legacy_empty(next))
            continue;
        int64_t extent = next.rank == form.rank ? next.dim[dim] : 0;
        next.dim[dim] = 0;
        if (!shape_equal(next, form))
            return infer_fail(infer, "input %u has shape %s, which does not fit %s along dim %d", i,
                              infer_text(infer, infer_in(infer, i)->shape),
                              infer_text(infer, infer_in(infer, 0)->shape), dim);
        if (!infer_muladd(infer, extent, 1, out.dim[dim], &out.dim[dim]))
            return false;
    }
    infer->out[0] = out;
    return true;
}

static bool check_dims(Infer *infer, Shape in, AttrKey key)
{
    const Attr *attr = node_attr(infer->node, key);
    unsigned seen = 0;
    for (uint32_t i = 0; attr && i < attr->ints.len; i++) {
        int64_t dim = attr->ints.at[i];
        if (dim < 0 || dim >= (in.rank ? in.rank : 1) || (seen >> dim & 1))
            return infer_fail(infer, "dim %lld is outside %s or named twice", (long long)dim,
                              infer_text(infer, in));
        seen |= 1u << dim;
    }
    return true;
}

bool infer_flip(Infer *infer)
{
    infer->out[0] = infer_in(infer, 0)->shape;
    return check_dims(infer, infer->out[0], AT_DIMS);
}

bool infer_roll(Infer *infer)
{
    const Attr *shifts = node_attr(infer->node, AT_SHAPE), *dims = node_attr(infer->node, AT_DIMS);
    infer->out[0] = infer_in(infer, 0)->shape;
    if (!shifts || shifts->ints.len != (dims ? dims->ints.len : 1))
        return infer_fail(infer, "needs one shift for each dim");
    return !dims || check_dims(infer, infer->out[0], AT_DIMS);
}

bool infer_repeat(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape, *out = &infer->out[0];
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    if (!attr || attr->ints.len > GRAPH_MAX_RANK || (int)attr->ints.len < in.rank)
        return infer_fail(infer, "needs %d to %d repeat counts", in.rank, GRAPH_MAX_RANK);
    out->rank = (int)attr->ints.len;
    int lead = out->rank - in.rank;
    for (int i = 0; i < out->rank; i++) {
        if (attr->ints.at[i] < 0)
            return infer_fail(infer, "negative repeat count");
        if (!infer_muladd(infer, attr->ints.at[i], i < lead ? 1 : in.dim[i - lead], 0,
                          &out->dim[i]))
            return false;
    }
    return true;
}

bool infer_repeat_interleave(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    const Attr *attr = node_attr(infer->node, AT_SHAPE);
    int dim;
    if (!infer_dim(infer, in, 0, &dim))
        return false;
    int64_t extent = in.rank ? in.dim[dim] : 1, total = 0;
    if (!attr || (attr->ints.len != 1 && (int64_t)attr->ints.len != extent))
        return infer_fail(infer, "needs one repeat count, or one for each element of the dim");
    for (uint32_t i = 0; i < attr->ints.len; i++) {
        if (attr->ints.at[i] < 0)
            return infer_fail(infer, "negative repeat count");
        if (!infer_muladd(infer, attr->ints.at[i], 1, total, &total))
            return false;
    }
    infer->out[0] = in.rank ? in : (Shape){1, {1}};
    if (attr->ints.len == 1)
        return infer_muladd(infer, extent, total, 0, &infer->out[0].dim[dim]);
    infer->out[0].dim[dim] = total;
    return true;
}

/* Reflection needs a pad smaller than the dim, wrapping one not larger. */
static bool pad_fits(Infer *infer, Str mode, int64_t size, int64_t low, int64_t high)
{
    int64_t most = str_is(mode, "reflect") ? size - 1 : str_is(mode, "circular") ? size : INT64_MAX;
    if (str_is(mode, "replicate") && size < 1)
        most = 0;
    return (low <= most && high <= most) ||
           infer_fail(infer, "padding %lld and %lld is too large for size %lld in mode %.*s",
                      (long long)low, (long long)high, (long long)size, STR_ARG(mode));
}

bool infer_pad(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    const Attr *attr = node_attr(infer->node, AT_PADS);
    Str mode = node_text(infer->node, AT_MODE);
    if (!attr || attr->ints.len % 2 || (int)attr->ints.len > 2 * in.rank)
        return infer_fail(infer, "needs pairs of sizes, at most one pair for each dim of %s",
                          infer_text(infer, in));
    if (!str_is(mode, "constant") && !str_is(mode, "reflect") && !str_is(mode, "replicate") &&
        !str_is(mode, "circular"))
        return infer_fail(infer, "unknown mode '%.*s'", STR_ARG(mode));
    infer->out[0] = in;
    for (uint32_t i = 0; i < attr->ints.len / 2; i++) {
        int dim = in.rank - 1 - (int)i;
        int64_t low = attr->ints.at[2 * i], high = attr->ints.at[2 * i + 1],
                *size = &infer->out[0].dim[dim];
        if (!pad_fits(infer, mode, in.dim[dim], low, high) ||
            !infer_muladd(infer, low, 1, *size, size) || !infer_muladd(infer, high, 1, *size, size))
            return false;
        if (*size < 0)
            return infer_fail(infer, "padding cuts away more than dim %d has", dim);
    }
    return true;
}

bool infer_unfold(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    int64_t size = node_int(infer->node, AT_SIZE, 0), step = node_int(infer->node, AT_STEP, 1);
    int dim;
    if (!infer_dim(infer, in, 0, &dim))
        return false;
    if (in.rank < 1 || in.rank >= GRAPH_MAX_RANK || size < 0 || step < 1 || size > in.dim[dim])
        return infer_fail(infer, "window of %lld by steps of %lld does not fit %s", (long long)size,
                          (long long)step, infer_text(infer, in));
    infer->out[0] = in;
    infer->out[0].dim[dim] = (in.dim[dim] - size) / step + 1;
    infer->out[0].dim[infer->out[0].rank++] = size;
    return true;
}

/* How many windows fit along one spatial dim. */
static bool blocks_along(Infer *infer, int i, int64_t size, int64_t *count)
{
    const int64_t *kernel, *stride, *padding, *dilation;
    if (!infer_ints(infer, AT_KERNEL, 2, 1, &kernel) ||
        !infer_ints(infer, AT_STRIDE, 2, 1, &stride) ||
        !infer_ints(infer, AT_PADDING, 2, 0, &padding) ||
        !infer_ints(infer, AT_DILATION, 2, 1, &dilation))
        return false;
    int64_t span, padded;
    if (!infer_muladd(infer, dilation[i], kernel[i] - 1, 1, &span) ||
        !infer_muladd(infer, padding[i], 2, size, &padded))
        return false;
    if (padded < span)
        return infer_fail(infer, "window of %lld is larger than the padded size %lld",
                          (long long)span, (long long)padded);
    *count = (padded - span) / stride[i] + 1;
    return true;
}

bool infer_im2col(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    if (in.rank != 3 && in.rank != 4)
        return infer_fail(infer, "needs [N,C,H,W] or [C,H,W], got %s", infer_text(infer, in));
    int64_t high, wide;
    if (!blocks_along(infer, 0, in.dim[in.rank - 2], &high) ||
        !blocks_along(infer, 1, in.dim[in.rank - 1], &wide))
        return false;
    const int64_t *kernel = node_attr(infer->node, AT_KERNEL)->ints.at;
    Shape *out = &infer->out[0];
    int lead = in.rank - 3;
    out->rank = lead + 2;
    out->dim[0] = in.dim[0];
    return infer_muladd(infer, in.dim[lead], kernel[0], 0, &out->dim[lead]) &&
           infer_muladd(infer, out->dim[lead], kernel[1], 0, &out->dim[lead]) &&
           infer_muladd(infer, high, wide, 0, &out->dim[lead + 1]);
}

bool infer_col2im(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    const int64_t *size;
    int64_t high, wide, blocks, window;
    if (in.rank != 2 && in.rank != 3)
        return infer_fail(infer, "needs [N,C*kh*kw,L], got %s", infer_text(infer, in));
    if (!infer_ints(infer, AT_SHAPE, 2, 1, &size) || !blocks_along(infer, 0, size[0], &high) ||
        !blocks_along(infer, 1, size[1], &wide) || !infer_muladd(infer, high, wide, 0, &blocks))
        return false;
    const int64_t *kernel = node_attr(infer->node, AT_KERNEL)->ints.at;
    if (!infer_muladd(infer, kernel[0], kernel[1], 0, &window))
        return false;
    int lead = in.rank - 2;
    if (in.dim[lead] % window || in.dim[lead + 1] != blocks)
        return infer_fail(infer, "%s does not hold blocks of %lld at %lld places",
                          infer_text(infer, in), (long long)window, (long long)blocks);
    Shape out = {.rank = lead + 3, .dim = {in.dim[0]}};
    out.dim[lead] = in.dim[lead] / window;
    memcpy(out.dim + lead + 1, size, 2 * sizeof *size);
    infer->out[0] = out;
    return true;
}

bool infer_tri(Infer *infer)
{
    infer->out[0] = infer_in(infer, 0)->shape;
    return infer->out[0].rank >= 2 || infer_fail(infer, "needs a matrix");
}

bool infer_diag(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    int64_t offset = node_int(infer->node, AT_DIAGONAL, 0), side;
    if (in.rank != 1)
        return infer_fail(infer, "needs a vector, got %s", infer_text(infer, in));
    if (offset == INT64_MIN ||
        !infer_muladd(infer, offset < 0 ? -offset : offset, 1, in.dim[0], &side))
        return false;
    infer->out[0] = (Shape){2, {side, side}};
    return true;
}

bool infer_diagonal(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape, *out = &infer->out[0];
    const int64_t *dims;
    if (!infer_ints(infer, AT_DIMS, 2, 0, &dims))
        return false;
    if (dims[0] == dims[1] || dims[0] >= in.rank || dims[1] >= in.rank)
        return infer_fail(infer, "needs two different dims of %s", infer_text(infer, in));
    int64_t offset = node_int(infer->node, AT_DIAGONAL, 0);
    int64_t rows = in.dim[dims[0]], cols = in.dim[dims[1]];
    if (offset > cols || offset < -rows)
        return infer_fail(infer, "diagonal %lld lies outside %s", (long long)offset,
                          infer_text(infer, in));
    int64_t length = offset >= 0 ? cols - offset : rows + offset;
    int64_t other = offset >= 0 ? rows : cols;
    for (int i = 0; i < in.rank; i++) {
        if (i != dims[0] && i != dims[1])
            out->dim[out->rank++] = in.dim[i];
    }
    out->dim[out->rank++] = length < other ? length : other;
    return true;
}
