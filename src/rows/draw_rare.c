/* Tasks with integers, elements moved or written where integers say, functions and losses that few files use. */
#include "rows/draw_int.h"

/* ---- integers ---- */

static const int64_t bounds[] = {2, 8, 16, 100, 256, 1000, 30000};

static Size draw_bound(Draw *d)
{
    int64_t n = bounds[dice_below(&d->dice, 7)];
    return (Size){n, str_format(d->arena, "%lld", (long long)n), 0};
}

static ValueId other_integers(Draw *d)
{
    return draw_whole_input(d, draw_sizes(d, d->at), d->dtype, draw_bound(d));
}

static void step_integers(Draw *d)
{
    static const int kinds[] = {BINARY_add,        BINARY_sub,        BINARY_mul,
                                BINARY_maximum,    BINARY_minimum,    BINARY_bitwise_and,
                                BINARY_bitwise_or, BINARY_bitwise_xor};
    static const int by[] = {BINARY_floor_div,   BINARY_remainder,   BINARY_shift_left,
                             BINARY_shift_right, BINARY_bitwise_and, BINARY_mul,
                             BINARY_add};
    static const int alone[] = {UNARY_abs, UNARY_neg, UNARY_bitwise_not, UNARY_sign};
    static const int orders[] = {BINARY_gt, BINARY_lt, BINARY_ge, BINARY_le, BINARY_eq, BINARY_ne};
    int64_t form = dice_below(&d->dice, 100);
    ValueId x = d->at;
    if (form < 40) {
        d->at = draw_binary(d, kinds[dice_below(&d->dice, 8)], x, other_integers(d));
    } else if (form < 75) {
        int kind = by[dice_below(&d->dice, 7)];
        bool shift = kind == BINARY_shift_left || kind == BINARY_shift_right;
        d->at = draw_binary(d, kind, x, draw_whole(d, 1 + dice_below(&d->dice, shift ? 4 : 12)));
    } else if (form < 90) {
        d->at = draw_unary(d, alone[dice_below(&d->dice, 4)], x, 0, 0);
    } else {
        ValueId other = other_integers(d);
        ValueId in[] = {draw_binary(d, orders[dice_below(&d->dice, 6)], x, other), x, other};
        d->at = draw_node(d, OP_WHERE, 0, in, 3, NULL, 0, draw_sizes(d, x));
    }
}

/* What is made of integers at last: sums, tests, floats. */
static void end_integers(Draw *d)
{
    static const int kinds[] = {REDUCE_sum, REDUCE_max, REDUCE_min,
                                REDUCE_any, REDUCE_all, REDUCE_count_nonzero};
    int rank = draw_sizes(d, d->at).rank;
    uint32_t dims = rank > 1 && dice_chance(&d->dice, 80)
                        ? 1u << (dice_chance(&d->dice, 70) ? rank - 1 : dice_below(&d->dice, rank))
                        : (1u << rank) - 1;
    int64_t form = dice_below(&d->dice, 100);
    if (form < 40) {
        d->at = draw_reduce(d, kinds[dice_below(&d->dice, 6)], d->at, dims, false);
    } else if (form < 55) {
        Attr attr = {.key = AT_DTYPE, .dtype = DT_F32};
        d->at = draw_node(d, OP_CAST, 0, &d->at, 1, &attr, 1, draw_sizes(d, d->at));
    }
}

/* How many elements pass a test, or whether any does. */
static void count_tests(Draw *d)
{
    static const int kinds[] = {REDUCE_sum, REDUCE_any, REDUCE_all, REDUCE_count_nonzero};
    static const int orders[] = {BINARY_gt, BINARY_lt, BINARY_ge, BINARY_le};
    static const int joins[] = {BINARY_logical_and, BINARY_logical_or, BINARY_logical_xor};
    ValueId x = d->at, other = draw_input(d, draw_sizes(d, x), d->dtype);
    ValueId mask = draw_binary(d, orders[dice_below(&d->dice, 4)], x, other);
    int rank = draw_sizes(d, x).rank;
    if (dice_chance(&d->dice, 40))
        mask = draw_binary(d, joins[dice_below(&d->dice, 3)], mask,
                           draw_binary(d, BINARY_gt, other, draw_number(d, draw_scale(d))));
    if (dice_chance(&d->dice, 15))
        mask = draw_unary(d, UNARY_logical_not, mask, 0, 0);
    d->at = mask;
    if (rank > 1 && dice_chance(&d->dice, 85))
        d->at = draw_reduce(
            d, kinds[dice_below(&d->dice, 4)], mask,
            1u << (dice_chance(&d->dice, 70) ? rank - 1 : dice_below(&d->dice, rank)), false);
}

void draw_integers(Draw *d)
{
    Sizes sizes = draw_first_sizes(d);
    int64_t form = dice_below(&d->dice, 100), steps = 1 + dice_below(&d->dice, 5);
    if (form < 35) {
        d->at = draw_input(d, sizes, d->dtype);
        for (int64_t i = dice_below(&d->dice, 3); i > 0; i--)
            draw_elementwise(d);
        if (form < 28) {
            count_tests(d);
        } else {
            Attr attr = {.key = AT_DTYPE, .dtype = DT_I32};
            d->at = draw_node(d, OP_CAST, 0, &d->at, 1, &attr, 1, draw_sizes(d, d->at));
        }
    } else {
        d->dtype = dice_chance(&d->dice, 75) ? DT_I32 : DT_I64;
        d->at = draw_whole_input(d, sizes, d->dtype, draw_bound(d));
        for (int64_t i = 0; i < steps; i++)
            step_integers(d);
        end_integers(d);
    }
    d->ended = true;
}

/* ---- elements moved ---- */

static Size scaled(Draw *d, Size size, int64_t by)
{
    return (Size){size.n * by, str_format(d->arena, "%lld * (%s)", (long long)by, size.text), 0};
}

static void move_repeated(Draw *d, Sizes sizes, int dim)
{
    int64_t by[] = {2 + dice_below(&d->dice, 3)};
    Attr attr[] = {{.key = AT_DIM, .i = dim}, draw_ints(d, AT_SHAPE, by, 1)};
    sizes.dim[dim] = scaled(d, sizes.dim[dim], by[0]);
    d->at = draw_node(d, OP_REPEAT_INTERLEAVE, 0, &d->at, 1, attr, 2, sizes);
}

/* Mirrored, repeated or taken from the other end around the last axis. */
static void move_padded(Draw *d, Sizes sizes)
{
    static const char *const modes[] = {"reflect", "replicate", "circular"};
    int last = sizes.rank - 1;
    int64_t pads[] = {dice_below(&d->dice, 4), 1 + dice_below(&d->dice, 3)};
    Size *s = &sizes.dim[last];
    if (sizes.rank < 2 || sizes.rank > 3 || s->n < 8) {
        d->failed = true;
        return;
    }
    Attr attr[] = {{.key = AT_MODE, .text = str_from(modes[dice_below(&d->dice, 3)])},
                   draw_ints(d, AT_PADS, pads, 2)};
    *s = (Size){s->n + pads[0] + pads[1],
                str_format(d->arena, "(%s + %lld)", s->text, (long long)(pads[0] + pads[1])), 0};
    d->at = draw_node(d, OP_PAD, 0, &d->at, 1, attr, 2, sizes);
}

static void move_resized(Draw *d, Sizes sizes)
{
    int dims = sizes.rank - 2;
    int64_t by = 2 + dice_below(&d->dice, 2), shape[2];
    bool nearest = dice_chance(&d->dice, 70);
    if (dims < 1 || dims > 2) {
        d->failed = true;
        return;
    }
    for (int i = 0; i < dims; i++) {
        sizes.dim[2 + i] = scaled(d, sizes.dim[2 + i], by);
        shape[i] = sizes.dim[2 + i].n;
    }
    const char *scale = str_format(d->arena, dims == 1 ? "%lld" : "%lld,%lld", (long long)by,
                                   (long long)by);
    Attr attr[] = {draw_ints(d, AT_SHAPE, shape, (uint32_t)dims),
                   {.key = AT_MODE,
                    .text = nearest     ? STR("nearest")
                            : dims == 1 ? STR("linear")
                                        : STR("bilinear")},
                   {.key = AT_SCALES, .text = str_from(scale)}};
    d->at = draw_node(d, OP_INTERPOLATE, 0, &d->at, 1, attr, 3, sizes);
}

/* Rows added, or a few elements of every row. */
static void move_written(Draw *d, Sizes sizes)
{
    Size few = draw_knob(d, 1 + dice_below(&d->dice, 64));
    Sizes index = {.rank = 1, .dim = {few}}, source = sizes;
    bool rows = dice_chance(&d->dice, 60);
    int dim = rows ? 0 : sizes.rank - 1;
    source.dim[dim] = few;
    if (!rows)
        index = source;
    ValueId in[] = {d->at, draw_index_input(d, index, sizes.dim[dim]), VALUE_NONE};
    in[2] = draw_input(d, source, d->dtype);
    static const int kinds[] = {SCATTER_add, SCATTER_max, SCATTER_min, SCATTER_multiply};
    Attr attr = {.key = AT_DIM, .i = dim};
    int kind = rows ? 0 : kinds[dice_below(&d->dice, 4)];
    d->at = draw_node(d, rows ? OP_INDEX_ADD : OP_SCATTER, kind, in, 3, &attr, 1, sizes);
}

/* A stretch of an axis replaced by another tensor; of all of it nothing would be left. */
static void move_replaced(Draw *d, Sizes sizes, int dim)
{
    int64_t start = dice_below(&d->dice, 4), n = 1 + dice_below(&d->dice, 4);
    if (sizes.dim[dim].n < start + n || sizes.dim[dim].n == n) {
        d->failed = true;
        return;
    }
    Attr attr[] = {{.key = AT_DIM, .i = dim},
                   {.key = AT_START, .i = start},
                   {.key = AT_END, .i = start + n},
                   {.key = AT_STEP, .i = 1}};
    ValueId in[] = {d->at, draw_input(d, draw_with(d, sizes, dim, n), d->dtype)};
    d->at = draw_node(d, OP_SLICE_SCATTER, 0, in, 2, attr, 4, sizes);
}

static void move_by_index(Draw *d, Sizes sizes)
{
    Size few = draw_knob(d, 1 + dice_below(&d->dice, 256));
    Sizes index = {.rank = 1, .dim = {few}};
    int64_t dims[] = {0};
    Attr attr = draw_ints(d, AT_DIMS, dims, 1);
    ValueId in[] = {d->at, draw_index_input(d, index, sizes.dim[0])};
    sizes.dim[0] = few;
    d->at = draw_node(d, OP_INDEX, 0, in, 2, &attr, 1, sizes);
}

static void move_diagonal(Draw *d, Sizes sizes)
{
    int64_t dims[] = {sizes.rank - 2, sizes.rank - 1};
    if (sizes.rank < 2) {
        d->failed = true;
        return;
    }
    Size a = sizes.dim[dims[0]], b = sizes.dim[dims[1]];
    Attr attr[] = {draw_ints(d, AT_DIMS, dims, 2), {.key = AT_DIAGONAL, .i = 0}};
    sizes.dim[dims[0]] = (Size){a.n < b.n ? a.n : b.n,
                                str_format(d->arena, "min(%s, %s)", a.text, b.text), 0};
    sizes.rank--;
    d->at = draw_node(d, OP_DIAGONAL, 0, &d->at, 1, attr, 2, sizes);
}

/* A vector on the diagonal of a matrix. */
static void move_to_diagonal(Draw *d)
{
    Size n = draw_knob(d, 2 + dice_below(&d->dice, 500));
    Sizes vector = {.rank = 1, .dim = {n}}, matrix = {.rank = 2, .dim = {n, n}};
    ValueId x = draw_input(d, vector, d->dtype);
    Attr attr = {.key = AT_DIAGONAL, .i = 0};
    d->at = draw_node(d, OP_DIAG, 0, &x, 1, &attr, 1, matrix);
}

/* Integers as rows of zeros with a one. */
static void move_one_hot(Draw *d)
{
    int64_t n = 2 + dice_below(&d->dice, 60);
    Size classes = {n, str_format(d->arena, "%lld", (long long)n), 0};
    Sizes index = {.rank = 1, .dim = {draw_knob(d, 2 + dice_below(&d->dice, 2000))}}, out = index;
    ValueId x = draw_index_input(d, index, classes);
    Attr attr = {.key = AT_SIZE, .i = n};
    out.dim[out.rank++] = classes;
    d->at = draw_node(d, OP_ONE_HOT, 0, &x, 1, &attr, 1, out);
    d->ended = true;
}

/* An axis of one element made longer. */
static void move_expanded(Draw *d, Sizes sizes, int dim)
{
    int64_t n = 2 + dice_below(&d->dice, 7), shape[GRAPH_MAX_RANK];
    ValueId x = draw_input(d, draw_with(d, sizes, dim, 1), d->dtype);
    for (int i = 0; i < sizes.rank; i++)
        shape[i] = i == dim ? n : -1;
    Attr attr = draw_ints(d, AT_SHAPE, shape, (uint32_t)sizes.rank);
    d->at = draw_node(d, OP_EXPAND, 0, &x, 1, &attr, 1, draw_with(d, sizes, dim, n));
}

static Size less(Draw *d, Size size, int64_t by)
{
    return (Size){size.n - by, str_format(d->arena, "(%s - %lld)", size.text, (long long)by), 0};
}

/* The windows of planes as columns. */
static void move_columns(Draw *d)
{
    int64_t k = 2 + dice_below(&d->dice, 2), ones[] = {1, 1}, zeros[] = {0, 0}, both[] = {k, k};
    Sizes x = {.rank = 4}, out = {.rank = 3};
    x.dim[0] = draw_knob(d, 1 + dice_below(&d->dice, 6));
    x.dim[1] = draw_knob(d, 1 + dice_below(&d->dice, 6));
    x.dim[2] = draw_knob(d, 5 + dice_below(&d->dice, 30));
    x.dim[3] = draw_knob(d, 5 + dice_below(&d->dice, 30));
    Size h = less(d, x.dim[2], k - 1), w = less(d, x.dim[3], k - 1);
    out.dim[0] = x.dim[0];
    out.dim[1] = scaled(d, x.dim[1], k * k);
    out.dim[2] = (Size){h.n * w.n, str_format(d->arena, "%s * %s", h.text, w.text), 0};
    Attr attr[] = {draw_ints(d, AT_KERNEL, both, 2), draw_ints(d, AT_STRIDE, ones, 2),
                   draw_ints(d, AT_PADDING, zeros, 2), draw_ints(d, AT_DILATION, ones, 2)};
    ValueId in = draw_input(d, x, d->dtype);
    d->at = draw_node(d, OP_IM2COL, 0, &in, 1, attr, 4, out);
}

static void move_anew(Draw *d, Sizes sizes, int dim)
{
    switch (dice_below(&d->dice, 4)) {
    case 0: move_to_diagonal(d); break;
    case 1: move_one_hot(d); break;
    case 2: move_expanded(d, sizes, dim); break;
    default: move_columns(d); break;
    }
}

void draw_move(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    int dim = (int)dice_below(&d->dice, sizes.rank);
    switch (dice_below(&d->dice, 11)) {
    case 0:
    case 1: move_repeated(d, sizes, dim); break;
    case 2: move_padded(d, sizes); break;
    case 3:
    case 4:
        if (sizes.rank > 2)
            move_resized(d, sizes);
        else
            move_padded(d, sizes);
        break;
    case 5: move_written(d, sizes); break;
    case 6: move_replaced(d, sizes, dim); break;
    case 7: move_by_index(d, sizes); break;
    case 8:
    case 9: move_anew(d, sizes, dim); break;
    default: move_diagonal(d, sizes); break;
    }
}

/* ---- functions and losses that few files use ---- */

static void rare_loss(Draw *d)
{
    static const int kinds[] = {LOSS_bce_logits, LOSS_bce, LOSS_poisson_nll, LOSS_hinge_embedding};
    static const char *const ends[] = {"none", "mean", "sum"};
    Sizes sizes = draw_sizes(d, d->at);
    int kind = kinds[dice_below(&d->dice, 4)];
    int64_t end = dice_below(&d->dice, 3);
    ValueId x = d->at, y = draw_input(d, sizes, d->dtype);
    Attr attr[] = {{.key = AT_REDUCTION, .text = str_from(ends[end])},
                   {.key = AT_EPS, .f = 1e-8},
                   {.key = AT_LOG, .i = 1}};
    if (kind == LOSS_bce)
        x = draw_unary(d, UNARY_sigmoid, x, 0, 0);
    y = kind == LOSS_poisson_nll       ? draw_unary(d, UNARY_abs, y, 0, 0)
        : kind == LOSS_hinge_embedding ? draw_unary(d, UNARY_sign, y, 0, 0)
                                       : draw_unary(d, UNARY_sigmoid, y, 0, 0);
    ValueId in[] = {x, y, VALUE_NONE};
    if (kind == LOSS_hinge_embedding)
        attr[1] = (Attr){.key = AT_MARGIN, .f = 1};
    uint32_t attrs = kind == LOSS_poisson_nll ? 3 : kind == LOSS_hinge_embedding ? 2 : 1;
    d->at = draw_node(d, OP_LOSS, kind, in, 3, attr, attrs, end ? (Sizes){0} : sizes);
    d->ended = end > 0;
}

/* Vectors of three elements. */
static void rare_cross(Draw *d, Sizes sizes)
{
    int last = sizes.rank - 1;
    Sizes of = draw_with(d, sizes, last, 3);
    Attr attr = {.key = AT_DIM, .i = last};
    ValueId in[] = {draw_input(d, of, d->dtype), VALUE_NONE};
    in[1] = draw_input(d, of, d->dtype);
    d->at = draw_node(d, OP_CROSS, 0, in, 2, &attr, 1, of);
}

static bool rare_rows(Draw *d, Sizes sizes)
{
    if (sizes.rank == 2 && dice_chance(&d->dice, 50)) { /* distances of all pairs of rows */
        Sizes other = sizes, out = sizes;
        other.dim[0] = draw_knob(d, 1 + dice_below(&d->dice, 200));
        out.dim[1] = other.dim[0];
        ValueId in[] = {d->at, draw_input(d, other, d->dtype)};
        Attr attr = {.key = AT_P, .f = (double)(1 + dice_chance(&d->dice, 60))};
        d->at = draw_node(d, OP_CDIST, 0, in, 2, &attr, 1, out);
        return true;
    }
    if (sizes.rank == 2) {
        Sizes rows = {.rank = 1, .dim = {sizes.dim[0]}};
        Attr soft[] = {{.key = AT_DIM, .i = 1}, {.key = AT_LOG, .i = 1}};
        Attr attr[] = {{.key = AT_REDUCTION, .text = STR("mean")}, {.key = AT_IGNORE, .i = -100}};
        ValueId in[] = {draw_tensor(d, OP_SOFTMAX, 0, &d->at, 1, soft, 2),
                        draw_index_input(d, rows, sizes.dim[1]), VALUE_NONE};
        d->at = draw_node(d, OP_NLL_LOSS, 0, in, 3, attr, 2, (Sizes){0});
        d->ended = true;
        return true;
    }
    if (sizes.rank < 3)
        return false;
    Attr attr[] = {{.key = AT_SIZE, .i = 3 + 2 * dice_below(&d->dice, 2)},
                   {.key = AT_A, .f = 0.001},
                   {.key = AT_B, .f = 0.75},
                   {.key = AT_C, .f = 1}};
    d->at = draw_tensor(d, OP_LRN, 0, &d->at, 1, attr, 4);
    return true;
}

static void rare_test(Draw *d, Sizes sizes)
{
    if (dice_chance(&d->dice, 50)) {
        d->at = draw_unary(d, UNARY_signbit, d->at, 0, 0);
    } else {
        ValueId in[] = {d->at, draw_input(d, sizes, d->dtype)};
        Attr attr[] = {{.key = AT_A, .f = 0.5}, {.key = AT_B, .f = 0.1}};
        d->at = draw_node(d, OP_BINARY, BINARY_isclose, in, 2, attr, 2, sizes);
    }
    d->ended = true;
}

void draw_rare(Draw *d)
{
    static const int alone[] = {UNARY_trunc, UNARY_frac, UNARY_erfinv, UNARY_lgamma};
    static const int two[] = {
        BINARY_atan2,     BINARY_fmod,  BINARY_remainder,  BINARY_fmax,     BINARY_fmin,
        BINARY_floor_div, BINARY_xlogy, BINARY_logaddexp2, BINARY_copysign, BINARY_trunc_div};
    Sizes sizes = draw_sizes(d, d->at);
    int64_t form = dice_below(&d->dice, 100);
    if (form < 22) {
        d->at = draw_unary_in_domain(d, alone[dice_below(&d->dice, 4)], d->at);
    } else if (form < 25) {
        ValueId more = draw_binary(d, BINARY_add, draw_positive(d, d->at), draw_number(d, 1));
        d->at = draw_unary(d, UNARY_acosh, more, 0, 0);
    } else if (form < 35) {
        Attr attr[] = {{.key = AT_A, .f = 0.5}, {.key = AT_B, .f = 2}, {.key = AT_C, .f = -2}};
        d->at = draw_tensor(d, OP_UNARY, UNARY_nan_to_num, &d->at, 1, attr, 3);
    } else if (form < 65) {
        d->at = draw_binary_in_domain(d, two[dice_below(&d->dice, 10)], d->at,
                                      draw_input(d, sizes, d->dtype));
    } else if (form < 76) {
        rare_loss(d);
    } else if (form < 80) {
        rare_cross(d, sizes);
    } else if (form > 90 || !rare_rows(d, sizes)) {
        rare_test(d, sizes);
    }
}
