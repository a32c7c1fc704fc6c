/* Tasks of the families behind MIXED: products, convolutions, pools, orders. In: dice. Out: a whole
 * graph. What stands first is what the family is named after, where a program computes nothing before it; a few steps
 * of the others follow. */
#include "rows/draw_int.h"

#include <string.h>

static Size whole(Draw *d, int64_t n)
{
    return (Size){n, str_format(d->arena, "%lld", (long long)n), 0};
}

/* ---- products ---- */

static Size product_size(Draw *d)
{
    static const int64_t often[] = {16,  17,  24,   32,   48,   63,   64,  96,  100,
                                    128, 160, 192,  200,  256,  320,  333, 384, 500,
                                    512, 768, 1000, 1024, 1536, 2048, 4096};
    return draw_knob(d, often[dice_below(&d->dice, 25)]);
}

/* The last two axes of x exchanged. */
static ValueId turned(Draw *d, ValueId x)
{
    Sizes sizes = draw_sizes(d, x);
    int64_t dims[GRAPH_MAX_RANK];
    int rank = sizes.rank;
    for (int i = 0; i < rank; i++)
        dims[i] = i;
    dims[rank - 2] = rank - 1;
    dims[rank - 1] = rank - 2;
    Size last = sizes.dim[rank - 1];
    sizes.dim[rank - 1] = sizes.dim[rank - 2];
    sizes.dim[rank - 2] = last;
    Attr attr = draw_ints(d, AT_DIMS, dims, (uint32_t)rank);
    return draw_node(d, OP_PERMUTE, 0, &x, 1, &attr, 1, sizes);
}

/* An input of these two last axes behind the batch, or the turned one of them exchanged. */
static ValueId factor(Draw *d, const Size *batch, Size rows, Size columns, bool turn)
{
    Sizes sizes = {0};
    if (batch)
        sizes.dim[sizes.rank++] = *batch;
    sizes.dim[sizes.rank++] = turn ? columns : rows;
    sizes.dim[sizes.rank++] = turn ? rows : columns;
    ValueId x = draw_input(d, sizes, d->dtype);
    return turn ? turned(d, x) : x;
}

static ValueId multiply(Draw *d, ValueId a, ValueId b)
{
    Sizes x = draw_sizes(d, a), y = draw_sizes(d, b), out = x.rank >= y.rank ? x : y;
    ValueId in[] = {a, b};
    out.dim[out.rank - 2] = x.dim[x.rank - 2];
    out.dim[out.rank - 1] = y.dim[y.rank - 1];
    return draw_node(d, OP_MATMUL, 0, in, 2, NULL, 0, out);
}

static void start_linear(Draw *d, const Size *batch, Size m, Size k, Size n)
{
    Sizes weight = {.rank = 2, .dim = {n, k}}, bias = {.rank = 1, .dim = {n}}, out;
    ValueId in[] = {factor(d, batch, m, k, false), VALUE_NONE, VALUE_NONE};
    in[1] = draw_input(d, weight, d->dtype);
    if (dice_chance(&d->dice, 60))
        in[2] = draw_input(d, bias, d->dtype);
    out = draw_sizes(d, in[0]);
    out.dim[out.rank - 1] = n;
    d->at = draw_node(d, OP_LINEAR, 0, in, 3, NULL, 0, out);
}

static void start_einsum(Draw *d, Size m, Size k, Size n)
{
    static const char *const forms[] = {"ik,kn->in", "ki,kn->in", "ik,nk->in", "ki,nk->in"};
    uint32_t form = (uint32_t)dice_below(&d->dice, 4);
    Sizes a = {.rank = 2, .dim = {form & 1 ? k : m, form & 1 ? m : k}};
    Sizes b = {.rank = 2, .dim = {form & 2 ? n : k, form & 2 ? k : n}};
    Sizes out = {.rank = 2, .dim = {m, n}};
    ValueId in[] = {draw_input(d, a, d->dtype), draw_input(d, b, d->dtype)};
    Attr attr = {.key = AT_EQUATION, .text = str_from(forms[form])};
    d->at = draw_node(d, OP_EINSUM, 0, in, 2, &attr, 1, out);
}

static void start_product(Draw *d)
{
    int64_t form = dice_below(&d->dice, 100);
    bool batched = dice_chance(&d->dice, 30), shared = dice_chance(&d->dice, 25);
    Size b = batched ? draw_knob(d, 2 + dice_below(&d->dice, 30)) : (Size){0};
    const Size *batch = batched ? &b : NULL;
    Size m = product_size(d), k = product_size(d), n = product_size(d);
    if (form < 30) {
        start_linear(d, batch, m, k, n);
    } else if (form < 40 && !batched) {
        start_einsum(d, m, k, n);
    } else {
        ValueId x = factor(d, batch, m, k, dice_chance(&d->dice, 25));
        d->at = multiply(d, x, factor(d, shared ? NULL : batch, k, n, dice_chance(&d->dice, 30)));
    }
    if (dice_chance(&d->dice, 25)) { /* one more tensor, of a row or of all elements */
        Sizes sizes = draw_sizes(d, d->at), row = {.rank = 1, .dim = {n}};
        ValueId other = draw_input(d, dice_chance(&d->dice, 60) ? row : sizes, d->dtype);
        d->at = draw_binary(d, dice_chance(&d->dice, 70) ? BINARY_add : BINARY_mul, d->at, other);
    }
}

/* ---- convolutions, pools ---- */

typedef struct Window {
    int64_t size, step, pad;
} Window;

/* (n + 2 * pad - size) // step + 1 */
static Size window_count(Draw *d, Size of, Window w)
{
    int64_t over = of.n + 2 * w.pad - w.size;
    if (over < 0) {
        d->failed = true;
        return of;
    }
    return (Size){over / w.step + 1,
                  str_format(d->arena, "((%s + %lld) // %lld + 1)", of.text,
                             (long long)(2 * w.pad - w.size), (long long)w.step),
                  0};
}

static Window draw_window(Draw *d)
{
    Window w = {.size = 1 + dice_below(&d->dice, 4), .step = 1};
    if (dice_chance(&d->dice, 40))
        w.step = dice_chance(&d->dice, 60) ? 2 : w.size;
    if (w.size > 1 && dice_chance(&d->dice, 45))
        w.pad = w.size / 2;
    return w;
}

static Attr same_ints(Draw *d, AttrKey key, int64_t n, int dims)
{
    int64_t all[] = {n, n, n};
    return draw_ints(d, key, all, (uint32_t)dims);
}

static void start_convolution(Draw *d)
{
    static const int64_t channels[] = {3, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};
    static const int64_t areas[] = {7, 8, 14, 16, 20, 28, 31, 32, 56, 64};
    int dims = dice_chance(&d->dice, 70) ? 2 : 1;
    bool depthwise = dice_chance(&d->dice, 65); /* the others are more than one kernel, mostly */
    Window w = draw_window(d);
    Size c = depthwise ? whole(d, channels[dice_below(&d->dice, 11)])
                       : draw_knob(d, channels[dice_below(&d->dice, 11)]);
    Size o = depthwise ? c : draw_knob(d, channels[dice_below(&d->dice, 11)]);
    Sizes x = {.rank = 2, .dim = {draw_knob(d, 1 + dice_below(&d->dice, 16)), c}};
    Sizes weight = {.rank = 2, .dim = {o, depthwise ? whole(d, 1) : c}};
    Sizes bias = {.rank = 1, .dim = {o}}, out = {.rank = 2, .dim = {x.dim[0], o}};
    for (int i = 0; i < dims; i++) {
        int64_t n = areas[dice_below(&d->dice, 10)];
        x.dim[x.rank++] = draw_knob(d, dims == 1 ? n * 16 : n);
        weight.dim[weight.rank++] = whole(d, w.size);
        out.dim[out.rank++] = window_count(d, x.dim[x.rank - 1], w);
    }
    ValueId in[] = {draw_input(d, x, d->dtype), draw_input(d, weight, d->dtype), VALUE_NONE};
    if (dice_chance(&d->dice, 40))
        in[2] = draw_input(d, bias, d->dtype);
    Attr attr[] = {same_ints(d, AT_STRIDE, w.step, dims),
                   same_ints(d, AT_PADDING, w.pad, dims),
                   same_ints(d, AT_DILATION, 1, dims),
                   {.key = AT_GROUPS, .i = depthwise ? c.n : 1}};
    d->at = draw_node(d, OP_CONV, 0, in, 3, attr, 4, out);
}

static void step_adaptive(Draw *d, int dims)
{
    Sizes sizes = draw_sizes(d, d->at);
    int64_t n = dice_chance(&d->dice, 70) ? 1 : 2 + dice_below(&d->dice, 3);
    for (int i = sizes.rank - dims; i < sizes.rank; i++)
        sizes.dim[i] = whole(d, n);
    Attr attr = same_ints(d, AT_SHAPE, n, dims);
    d->at = draw_node(d, OP_ADAPTIVE_POOL, dice_chance(&d->dice, 60) ? POOL_avg : POOL_max, &d->at,
                      1, &attr, 1, sizes);
}

static void step_pool(Draw *d)
{
    static const int kinds[] = {POOL_max, POOL_max, POOL_avg, POOL_avg, POOL_lp};
    Sizes sizes = draw_sizes(d, d->at);
    int dims = sizes.rank - 2, kind = kinds[dice_below(&d->dice, 5)];
    Window w = draw_window(d);
    if (dims < 1 || dims > 2) {
        d->failed = true;
        return;
    }
    if (dice_chance(&d->dice, 20)) {
        step_adaptive(d, dims);
        return;
    }
    if (w.size == 1)
        w = (Window){2, 2, 0};
    if (kind == POOL_lp)
        w.pad = 0;
    for (int i = 2; i < sizes.rank; i++)
        sizes.dim[i] = window_count(d, sizes.dim[i], w);
    Attr attr[] = {same_ints(d, AT_KERNEL, w.size, dims), same_ints(d, AT_STRIDE, w.step, dims),
                   same_ints(d, AT_PADDING, w.pad, dims), same_ints(d, AT_DILATION, 1, dims),
                   kind == POOL_avg
                       ? (Attr){.key = AT_COUNT_PAD, .i = 1}
                       : (Attr){.key = AT_P, .f = (double)(1 + dice_below(&d->dice, 3))}};
    d->at = draw_node(d, OP_POOL, kind, &d->at, 1, attr, kind == POOL_max ? 4 : 5, sizes);
}

/* ---- steps behind ---- */

static void note_older(Draw *d) { vec_push(d->arena, &d->older, d->at); }

/* Elementwise steps, now and then one with broadcasting or of rows. */
static void follow(Draw *d, int64_t steps)
{
    for (int64_t i = 0; i < steps && !d->failed && !d->ended; i++) {
        int64_t form = dice_below(&d->dice, 100);
        if (form < 75)
            draw_elementwise(d);
        else
            draw_step(d, form < 87   ? FAMILY_BROADCAST
                         : form < 94 ? FAMILY_ROW_REDUCE
                                     : FAMILY_NORMALISE);
        note_older(d);
    }
}

/* ---- orders ---- */

/* The places in place of the values. */
static void take_place(Draw *d, Sizes sizes)
{
    d->at++;
    draw_set_sizes(d, d->at, sizes);
}

static void step_sorted(Draw *d, int dim)
{
    Sizes sizes = draw_sizes(d, d->at);
    Attr attr[] = {{.key = AT_DIM, .i = dim}, {.key = AT_DESCENDING, .i = 1}};
    d->at = draw_node(d, OP_SORT, 0, &d->at, 1, attr, 1 + dice_chance(&d->dice, 50), sizes);
    if (dice_chance(&d->dice, 25))
        take_place(d, sizes);
}

static void step_largest(Draw *d, int dim)
{
    Sizes sizes = draw_sizes(d, d->at);
    int64_t most = sizes.dim[dim].n < 16 ? sizes.dim[dim].n : 16;
    int64_t k = 1 + dice_below(&d->dice, most);
    Attr attr[] = {{.key = AT_DIM, .i = dim},
                   {.key = AT_K, .i = k},
                   {.key = AT_SORTED, .i = 1},
                   {.key = AT_LARGEST, .i = 1}};
    sizes = draw_with(d, sizes, dim, k);
    d->at = draw_node(d, OP_TOPK, 0, &d->at, 1, attr, 3 + dice_chance(&d->dice, 70), sizes);
    if (dice_chance(&d->dice, 25))
        take_place(d, sizes);
}

static void step_order(Draw *d)
{
    static const int scans[] = {SCAN_max, SCAN_min, SCAN_logsumexp};
    Sizes sizes = draw_sizes(d, d->at);
    int64_t form = dice_below(&d->dice, 100);
    int dim = dice_chance(&d->dice, 80) ? sizes.rank - 1 : (int)dice_below(&d->dice, sizes.rank);
    Attr attr = {.key = AT_DIM, .i = dim};
    if (form < 35) {
        step_sorted(d, dim);
    } else if (form < 70) {
        step_largest(d, dim);
    } else if (form < 85) {
        follow(d, 1);
        d->at = draw_tensor(d, OP_SCAN, scans[dice_below(&d->dice, 3)], &d->at, 1, &attr, 1);
        return;
    } else {
        int64_t dims[] = {dim};
        memmove(sizes.dim + dim, sizes.dim + dim + 1,
                (size_t)(sizes.rank - dim - 1) * sizeof *sizes.dim);
        sizes.rank--;
        attr = draw_ints(d, AT_DIMS, dims, 1);
        d->at = draw_node(d, OP_MEDIAN, 0, &d->at, 1, &attr, 1, sizes);
    }
    d->ended = true; /* one kernel sorts, and does nothing else */
}

/* ---- whole tasks ---- */

/* Planes of a few thousand elements: a program of windows fixes their sizes. */
static Sizes plane_sizes(Draw *d)
{
    Sizes sizes = {.rank = dice_chance(&d->dice, 40) ? 3 : 4};
    sizes.dim[0] = draw_knob(d, 1 + dice_below(&d->dice, 8));
    sizes.dim[1] = draw_knob(d, 1 + dice_below(&d->dice, 16));
    for (int i = 2; i < sizes.rank; i++)
        sizes.dim[i] = draw_knob(d, 6 + dice_below(&d->dice, sizes.rank == 3 ? 400 : 30));
    return sizes;
}

static void start(Draw *d)
{
    bool plane = d->family == FAMILY_POOL && dice_chance(&d->dice, 60);
    d->at = draw_input(d, plane ? plane_sizes(d) : draw_first_sizes(d), d->dtype);
    note_older(d);
    if (d->family != FAMILY_ORDER && dice_chance(&d->dice, 35))
        follow(d, 1 + dice_below(&d->dice, 2));
}

void draw_wide(Draw *d)
{
    static const uint8_t lengths[] = {30, 28, 20, 12, 6, 4};
    d->families |= 1u << d->family;
    switch (d->family) {
    case FAMILY_PRODUCT: start_product(d); break;
    case FAMILY_CONVOLUTION: start_convolution(d); break;
    case FAMILY_INTEGER: draw_integers(d); break;
    case FAMILY_SHIPPED: draw_shipped(d); break;
    default:
        start(d);
        if (d->family == FAMILY_POOL)
            step_pool(d);
        else if (d->family == FAMILY_ORDER)
            step_order(d);
        else if (d->family == FAMILY_MOVE)
            draw_move(d);
        else
            draw_rare(d);
        break;
    }
    note_older(d);
    follow(d, dice_weighted(&d->dice, lengths, 6));
}
