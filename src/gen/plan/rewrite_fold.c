/* F.fold, blocks summed back to where they overlap, and F.unfold. In: col2im, im2col. Out: permutes, pads and sums; of
 * im2col a join of the padded tensor's slices, one for each place of a block.
 *
 * A block as long as `turns` strides is that many pieces of one stride each. Piece q of all blocks, one
 * block behind the other, is a line without gaps that starts q strides into the result: as many
 * lines as turns are added, whatever the length of a block. */
#include "gen/plan/rewrite.h"

enum { MOST_LINES = 49, MOST_PLACES = 16 /* parts of a result */ };

typedef struct Along {
    int64_t kernel, stride, padding, size; /* size: of the result */
    int64_t blocks, turns;
} Along;

static int64_t attr_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    return a && i < (int)a->ints.len ? a->ints.at[i] : fallback;
}

static bool open_along(const Node *node, int i, Along *a)
{
    *a = (Along){.kernel = attr_at(node, AT_KERNEL, i, 1),
                 .stride = attr_at(node, AT_STRIDE, i, 1),
                 .padding = attr_at(node, AT_PADDING, i, 0),
                 .size = attr_at(node, AT_SHAPE, i, 1)};
    if (a->stride < 1 || a->kernel < 1 || attr_at(node, AT_DILATION, i, 1) != 1)
        return false;
    a->blocks = (a->size + 2 * a->padding - a->kernel) / a->stride + 1;
    a->turns = (a->kernel + a->stride - 1) / a->stride;
    return true;
}

/* [N, C*kh*kw, L] to [N, C, turns, turns, blocks * stride, blocks * stride] */
static ValueId in_lines(Rewrite *r, ValueId x, const Along *h, const Along *w)
{
    Shape s = rw_value(r, x)->shape;
    int64_t n = s.rank == 3 ? s.dim[0] : 1, c = s.dim[s.rank - 2] / (h->kernel * w->kernel);
    int64_t pads[] = {
        0, 0, 0, 0, 0, w->turns * w->stride - w->kernel, 0, h->turns * h->stride - h->kernel};
    x = rw_reshape(r, x, (Shape){6, {n, c, h->kernel, w->kernel, h->blocks, w->blocks}});
    if (pads[5] || pads[7])
        x = rw_pad(r, x, 4, pads, 0);
    x = rw_reshape(
        r, x, (Shape){8, {n, c, h->turns, h->stride, w->turns, w->stride, h->blocks, w->blocks}});
    x = rw_permute(r, x, (int64_t[]){0, 1, 2, 4, 6, 3, 7, 5});
    return rw_reshape(
        r, x, (Shape){6, {n, c, h->turns, w->turns, h->blocks * h->stride, w->blocks * w->stride}});
}

static ValueId line_at(Rewrite *r, ValueId lines, const Along *h, const Along *w, int64_t i,
                       int64_t k)
{
    Shape s = rw_value(r, lines)->shape;
    int64_t pads[] = {k * w->stride, (w->turns - 1 - k) * w->stride, i * h->stride,
                      (h->turns - 1 - i) * h->stride};
    ValueId v = rw_slice(r, rw_slice(r, lines, 2, i, i + 1, 1), 3, k, k + 1, 1);
    v = rw_reshape(r, v, (Shape){4, {s.dim[0], s.dim[1], s.dim[4], s.dim[5]}});
    return pads[0] || pads[1] || pads[2] || pads[3] ? rw_pad(r, v, 2, pads, 0) : v;
}

/* What the padding took is cut off; where no block reached there is nothing. */
static ValueId cut(Rewrite *r, ValueId v, int dim, const Along *a)
{
    int64_t have = rw_value(r, v)->shape.dim[dim], need = a->padding + a->size;
    int64_t pads[] = {0, dim == 3 && need > have ? need - have : 0, 0,
                      dim == 2 && need > have ? need - have : 0};
    if (need > have)
        v = rw_pad(r, v, 2, pads, 0);
    if (a->padding || need < have)
        v = rw_slice(r, v, dim, a->padding, need, 1);
    return v;
}

static int64_t window_of(const Node *node, AttrKey key, int i, int64_t otherwise)
{
    const Attr *a = node_attr(node, key);
    return a && a->ints.len ? a->ints.at[i < (int)a->ints.len ? i : 0] : otherwise;
}

/* The elements along one dimension that stand at place `at` of the blocks. */
static ValueId at_place(Rewrite *r, const Node *node, ValueId x, int i, int64_t at)
{
    int64_t kernel = window_of(node, AT_KERNEL, i, 1), step = window_of(node, AT_STRIDE, i, 1);
    int64_t apart = window_of(node, AT_DILATION, i, 1), size = rw_value(r, x)->shape.dim[2 + i];
    int64_t blocks = (size - apart * (kernel - 1) - 1) / step + 1, from = at * apart;
    return rw_slice(r, x, 2 + i, from, from + (blocks - 1) * step + 1, step);
}

/* [N, C, H, W] to [N, C * kh * kw, L]: all nests take, where a copy of single elements would. */
static bool unfold(Rewrite *r, const Node *node, ValueId *out)
{
    int64_t high = window_of(node, AT_KERNEL, 0, 1), wide = window_of(node, AT_KERNEL, 1, 1);
    int64_t top = window_of(node, AT_PADDING, 0, 0), left = window_of(node, AT_PADDING, 1, 0);
    ValueId x = rw_in(r, node, 0), part[MOST_PLACES];
    Attr along = {.key = AT_DIM, .i = 2};
    uint32_t n = 0;
    if (!r->composites || rw_value(r, x)->shape.rank != 4 || high * wide > MOST_PLACES)
        return false;
    if (top || left)
        x = rw_pad(r, x, 2, (int64_t[]){left, left, top, top}, 0);
    for (int64_t i = 0; i < high; i++)
        for (int64_t k = 0; k < wide; k++)
            part[n++] = rw_with_dim(r, at_place(r, node, at_place(r, node, x, 0, i), 1, k), 2);
    ValueId all = n == 1 ? part[0] : rw_make(r, OP_CAT, 0, n, part, 1, &along);
    out[0] = rw_reshape(r, all, graph_value(r->from, node->out)->shape);
    return true;
}

bool rewrite_fold(Rewrite *r, const Node *node, ValueId *out)
{
    Along h, w;
    if (node->op == OP_IM2COL)
        return unfold(r, node, out);
    if (node->op != OP_COL2IM || !open_along(node, 0, &h) || !open_along(node, 1, &w) ||
        h.turns * w.turns > MOST_LINES)
        return false;
    const Value *was = graph_value(r->from, node->out);
    ValueId x = rw_cast(r, rw_in(r, node, 0), DT_F32), sum = VALUE_NONE;
    ValueId lines = in_lines(r, x, &h, &w);
    for (int64_t i = 0; i < h.turns; i++)
        for (int64_t k = 0; k < w.turns; k++) {
            ValueId line = line_at(r, lines, &h, &w, i, k);
            sum = sum == VALUE_NONE ? line : rw_binary(r, BINARY_add, sum, line);
        }
    sum = cut(r, cut(r, sum, 3, &w), 2, &h);
    out[0] = rw_cast(r, rw_reshape(r, sum, was->shape), was->dtype);
    return true;
}
