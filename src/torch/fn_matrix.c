/* Matrix products, einsum, convolution and pooling. */
#include "torch/fn_int.h"

#include <string.h>

PyVal fn_matmul(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    int need = a->kind; /* rank that mm and bmm insist on; 0: any */
    if (need &&
        (emit_info(a->it, x)->shape.rank != need || emit_info(a->it, y)->shape.rank != need))
        arg_fail(a, "both tensors need %d dims", need);
    return out1(a, emit2(a->it, a->at, OP_MATMUL, 0, x, y, NULL));
}

static ValueId transpose_last(Args *a, ValueId x)
{
    int rank = emit_info(a->it, x)->shape.rank;
    int64_t dims[GRAPH_MAX_RANK];
    if (rank < 2)
        return x;
    for (int i = 0; i < rank; i++)
        dims[i] = i < rank - 2 ? i : i == rank - 2 ? rank - 1 : rank - 2;
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, dims, (uint32_t)rank);
    return emit1(a->it, a->at, OP_PERMUTE, 0, x, &attrs);
}

PyVal fn_inner(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    return out1(a, emit2(a->it, a->at, OP_MATMUL, 0, x, transpose_last(a, y), NULL));
}

PyVal fn_outer(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Shape s = emit_info(a->it, x)->shape, t = emit_info(a->it, y)->shape;
    if (s.rank != 1 || t.rank != 1)
        arg_fail(a, "needs two vectors");
    x = emit_reshape(a->it, a->at, x, (Shape){2, {s.dim[0], 1}});
    return out1(a, fn_binary_id(a, BINARY_mul, x, y));
}

/* beta*input + alpha*(mat1 @ mat2) */
PyVal fn_addmm(Args *a)
{
    ValueId c = arg_value(a, 0), x = arg_value(a, 1), y = arg_value(a, 2);
    ValueId product = emit2(a->it, a->at, OP_MATMUL, 0, x, y, NULL);
    double beta = arg_float(a, 3), alpha = arg_float(a, 4);
    if (beta != 1)
        c = fn_binary_id(a, BINARY_mul, c, arg_value(a, 3));
    Attrs attrs = {0};
    if (alpha != 1)
        attrs_float(&attrs, AT_ALPHA, alpha);
    return out1(a, emit2(a->it, a->at, OP_BINARY, BINARY_add, c, product, &attrs));
}

PyVal fn_linear(Args *a)
{
    ValueId x = arg_value(a, 0), weight = arg_value(a, 1), bias = arg_optional(a, 2);
    return out1(a, emit3(a->it, a->at, OP_LINEAR, x, weight, bias, NULL));
}

PyVal fn_cross(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Shape both;
    if (!shape_broadcast(emit_info(a->it, x)->shape, emit_info(a->it, y)->shape, &both))
        arg_fail(a, "the shapes do not broadcast");
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, arg_dim(a, 2, both));
    return out1(a, emit2(a->it, a->at, OP_CROSS, 0, x, y, &attrs));
}

PyVal fn_cdist(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1);
    Attrs attrs = {0};
    attrs_float(&attrs, AT_P, arg_float(a, 2));
    return out1(a, emit2(a->it, a->at, OP_CDIST, 0, x, y, &attrs));
}

PyVal fn_grouped_mm(Args *a)
{
    ValueId x = arg_value(a, 0), y = arg_value(a, 1), offsets = arg_optional(a, 2);
    return out1(a, emit3(a->it, a->at, OP_GROUPED_MATMUL, x, y, offsets, NULL));
}

/* --- einsum ------------------------------------------------------------------------------- */

typedef struct Equation {
    char text[256];
    size_t len;
    int used[128]; /* how often a letter stands on the left */
} Equation;

static void put_letter(Args *a, Equation *e, char c)
{
    if (e->len + 1 >= sizeof e->text)
        arg_fail(a, "the equation is too long");
    e->text[e->len++] = c;
}

/* The letters '...' stands for, counted from the right: ones the equation does not use. */
static char spare_letter(Args *a, Str equation, int index)
{
    for (char c = 'A'; c <= 'Z'; c++) {
        if (!memchr(equation.at, c, equation.len) && index-- == 0)
            return c;
    }
    arg_fail(a, "no letters are left for '...'");
}

static void put_ellipsis(Args *a, Equation *e, Str equation, int count, bool left)
{
    for (int i = count - 1; i >= 0; i--) {
        char c = spare_letter(a, equation, i);
        put_letter(a, e, c);
        if (left)
            e->used[(int)c]++;
    }
}

/* One side of the arrow without spaces and dots. */
static void put_side(Args *a, Equation *e, Str equation, Str side, int rank, bool left, int *dots)
{
    int letters = 0;
    for (size_t i = 0; i < side.len; i++)
        letters += side.at[i] != ' ' && side.at[i] != '.';
    for (size_t i = 0; i < side.len; i++) {
        char c = side.at[i];
        if (c == '.') {
            int count = left ? rank - letters : *dots;
            if (count < 0)
                arg_fail(a, "the equation names more dims than an operand has");
            put_ellipsis(a, e, equation, count, left);
            *dots = count > *dots ? count : *dots;
            while (i + 1 < side.len && side.at[i + 1] == '.')
                i++;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            put_letter(a, e, c);
            if (left)
                e->used[(int)c]++;
        } else if (c != ' ') {
            arg_fail(a, "'%c' has no meaning in an equation", c);
        }
    }
}

/* Implicit result: what stands once on the left, in order of the alphabet, '...' first. */
static void put_implicit(Args *a, Equation *e, Str equation, int dots)
{
    put_ellipsis(a, e, equation, dots, false);
    for (char c = 'A'; c <= 'z'; c++) {
        if (e->used[(int)c] == 1 && memchr(equation.at, c, equation.len))
            put_letter(a, e, c);
    }
}

PyVal fn_einsum(Args *a)
{
    Str equation = arg_str(a, 0), side;
    PyVal list = interp_items(a->it, a->at, a->v[1]);
    uint32_t n = list.list->items.len, operand = 0;
    ValueId *ids = arena_array(a->it->arena, ValueId, n + 1);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = tvar_read(a->it, need_tensor(a->it, a->at, list.list->items.at[i], a->name));
    Equation e = {0};
    ptrdiff_t arrow = str_find(equation, STR("->"));
    Str left = arrow < 0 ? equation : str_slice(equation, 0, (size_t)arrow);
    int dots = 0;
    while (str_next(&left, ',', &side)) {
        if (operand >= n)
            arg_fail(a, "the equation names more operands than are given");
        if (operand)
            put_letter(a, &e, ',');
        put_side(a, &e, equation, side, emit_info(a->it, ids[operand++])->shape.rank, true, &dots);
    }
    put_letter(a, &e, '-');
    put_letter(a, &e, '>');
    if (arrow < 0)
        put_implicit(a, &e, equation, dots);
    else
        put_side(a, &e, equation, str_slice(equation, (size_t)arrow + 2, equation.len), 0, false,
                 &dots);
    Attrs attrs = {0};
    attrs_text(&attrs, AT_EQUATION, (Str){e.text, e.len});
    if (!n)
        arg_fail(a, "no operands");
    return out1(a, emit(a->it, a->at, OP_EINSUM, 0, n, ids, &attrs, 0));
}

/* --- convolution -------------------------------------------------------------------------- */

/* padding='same': the larger half goes behind, by a pad of its own where the halves differ. */
static ValueId same_padding(Args *a, ValueId x, Shape weight, uint32_t n, const int64_t *dilation,
                            int64_t *padding)
{
    int64_t pads[2 * GRAPH_MAX_RANK] = {0};
    bool uneven = false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t total;
        if (__builtin_mul_overflow(dilation[i], weight.dim[2 + i] - 1, &total))
            arg_fail(a, "sizes overflow 64 bits");
        padding[i] = total / 2;
        pads[2 * (n - 1 - i) + 1] = total % 2;
        uneven = uneven || total % 2;
    }
    if (!uneven)
        return x;
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_PADS, pads, 2 * n);
    attrs_text(&attrs, AT_MODE, STR("constant"));
    return emit1(a->it, a->at, OP_PAD, 0, x, &attrs);
}

static void check_window(Args *a, ValueId weight, uint32_t n)
{
    if (emit_info(a->it, weight)->shape.rank != (int)n + 2)
        arg_fail(a, "the weight needs %u dims", n + 2);
}

/* input weight bias stride padding dilation groups */
PyVal fn_conv(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    ValueId x = arg_value(a, 0), weight = arg_value(a, 1), bias = arg_optional(a, 2);
    int64_t stride[GRAPH_MAX_RANK], padding[GRAPH_MAX_RANK] = {0}, dilation[GRAPH_MAX_RANK];
    check_window(a, weight, n);
    arg_ntuple(a, 3, n, stride);
    arg_ntuple(a, 5, n, dilation);
    if (a->v[4].tag != PV_STR)
        arg_ntuple(a, 4, n, padding);
    else if (str_is(arg_str(a, 4), "same"))
        x = same_padding(a, x, emit_info(a->it, weight)->shape, n, dilation, padding);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_STRIDE, stride, n);
    attrs_ints(&attrs, AT_PADDING, padding, n);
    attrs_ints(&attrs, AT_DILATION, dilation, n);
    attrs_int(&attrs, AT_GROUPS, arg_int(a, 6));
    return out1(a, emit3(a->it, a->at, OP_CONV, x, weight, bias, &attrs));
}

/* input weight bias stride padding output_padding groups dilation */
PyVal fn_conv_transpose(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    ValueId x = arg_value(a, 0), weight = arg_value(a, 1), bias = arg_optional(a, 2);
    int64_t stride[GRAPH_MAX_RANK], padding[GRAPH_MAX_RANK], extra[GRAPH_MAX_RANK],
        dilation[GRAPH_MAX_RANK];
    check_window(a, weight, n);
    arg_ntuple(a, 3, n, stride);
    arg_ntuple(a, 4, n, padding);
    arg_ntuple(a, 5, n, extra);
    arg_ntuple(a, 7, n, dilation);
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_STRIDE, stride, n);
    attrs_ints(&attrs, AT_PADDING, padding, n);
    attrs_ints(&attrs, AT_DILATION, dilation, n);
    attrs_ints(&attrs, AT_OUT_PADDING, extra, n);
    attrs_int(&attrs, AT_GROUPS, arg_int(a, 6));
    attrs_bool(&attrs, AT_TRANSPOSED, true);
    return out1(a, emit3(a->it, a->at, OP_CONV, x, weight, bias, &attrs));
}

/* --- pooling ------------------------------------------------------------------------------ */

typedef struct PoolWindow {
    int64_t kernel[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK], padding[GRAPH_MAX_RANK],
        dilation[GRAPH_MAX_RANK];
} PoolWindow;

/* No stride means the kernel's size; an empty list too. */
static void window_of(Args *a, uint32_t kernel, uint32_t n, PoolWindow *w)
{
    PyVal stride = a->v[kernel + 1];
    arg_ntuple(a, kernel, n, w->kernel);
    memcpy(w->stride, w->kernel, sizeof w->stride);
    if (!pv_is_none(stride) && !(pv_is_seq(stride) && !stride.list->items.len))
        arg_ntuple(a, kernel + 1, n, w->stride);
    for (uint32_t i = 0; i < n; i++) {
        w->padding[i] = 0;
        w->dilation[i] = 1;
    }
}

static Attrs window_attrs(const PoolWindow *w, uint32_t n, bool ceil_mode)
{
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_KERNEL, w->kernel, n);
    attrs_ints(&attrs, AT_STRIDE, w->stride, n);
    attrs_ints(&attrs, AT_PADDING, w->padding, n);
    attrs_ints(&attrs, AT_DILATION, w->dilation, n);
    attrs_bool(&attrs, AT_CEIL, ceil_mode);
    return attrs;
}

/* input kernel_size stride padding dilation ceil_mode return_indices */
PyVal fn_max_pool(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    PoolWindow w;
    window_of(a, 1, n, &w);
    arg_ntuple(a, 3, n, w.padding);
    arg_ntuple(a, 4, n, w.dilation);
    Attrs attrs = window_attrs(&w, n, arg_bool(a, 5));
    ValueId x = arg_value(a, 0);
    uint32_t outputs = arg_bool(a, 6) ? 2 : 1;
    ValueId out = emit(a->it, a->at, OP_POOL, POOL_max, 1, &x, &attrs, outputs);
    return outputs == 2 ? out_tuple(a, out, 2) : out1(a, out);
}

/* input kernel_size stride padding ceil_mode count_include_pad divisor_override */
PyVal fn_avg_pool(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    PoolWindow w;
    window_of(a, 1, n, &w);
    arg_ntuple(a, 3, n, w.padding);
    Attrs attrs = window_attrs(&w, n, arg_bool(a, 4));
    attrs_bool(&attrs, AT_COUNT_PAD, arg_bool(a, 5));
    if (n > 1 && !arg_none(a, 6))
        attrs_int(&attrs, AT_DIVISOR, arg_int(a, 6));
    return out1(a, emit1(a->it, a->at, OP_POOL, POOL_avg, arg_value(a, 0), &attrs));
}

PyVal fn_lp_pool(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    PoolWindow w;
    window_of(a, 2, n, &w);
    Attrs attrs = window_attrs(&w, n, arg_bool(a, 4));
    attrs_float(&attrs, AT_P, arg_float(a, 1));
    return out1(a, emit1(a->it, a->at, OP_POOL, POOL_lp, arg_value(a, 0), &attrs));
}

/* None in the size keeps that dim. */
PyVal fn_adaptive_pool(Args *a)
{
    uint32_t n = (uint32_t)a->kind % 10;
    bool max = a->kind > 10;
    ValueId x = arg_value(a, 0);
    Shape shape = emit_info(a->it, x)->shape;
    int64_t size[GRAPH_MAX_RANK];
    PyVal want = a->v[1];
    if (pv_is_seq(want) && want.list->items.len != n)
        arg_fail(a, "the size needs %u numbers", n);
    if (shape.rank < (int)n)
        arg_fail(a, "the tensor has only %d dims", shape.rank);
    for (uint32_t i = 0; i < n; i++) {
        PyVal each = pv_is_seq(want) ? want.list->items.at[i] : want;
        size[i] = pv_is_none(each) ? shape.dim[shape.rank - (int)(n - i)]
                                   : need_int(a->it, a->at, each, "a size");
    }
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_SHAPE, size, n);
    bool indices = max && arg_bool(a, 2);
    ValueId out = emit(a->it, a->at, OP_ADAPTIVE_POOL, max ? POOL_max : POOL_avg, 1, &x, &attrs,
                       indices ? 2 : 1);
    return indices ? out_tuple(a, out, 2) : out1(a, out);
}

PyVal fn_unpool(Args *a)
{
    uint32_t n = (uint32_t)a->kind;
    PoolWindow w;
    window_of(a, 2, n, &w);
    arg_ntuple(a, 4, n, w.padding);
    ValueId x = arg_value(a, 0), indices = arg_value(a, 1);
    Shape shape = emit_info(a->it, x)->shape;
    int64_t size[GRAPH_MAX_RANK];
    if (shape.rank < (int)n)
        arg_fail(a, "the tensor has only %d dims", shape.rank);
    if (!arg_none(a, 5)) {
        Shape want = arg_shape(a, 5);
        if (want.rank < (int)n)
            arg_fail(a, "the size needs %u numbers", n);
        memcpy(size, want.dim + want.rank - n, n * sizeof *size);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            int64_t last = shape.dim[shape.rank - (int)(n - i)] - 1, far;
            if (__builtin_mul_overflow(last, w.stride[i], &far) || far > INT64_MAX / 4)
                arg_fail(a, "sizes overflow 64 bits");
            size[i] = far + w.kernel[i] - 2 * w.padding[i];
        }
    }
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_SHAPE, size, n);
    return out1(a, emit2(a->it, a->at, OP_UNPOOL, 0, x, indices, &attrs));
}
