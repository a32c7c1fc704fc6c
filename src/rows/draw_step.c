/* The steps that a drawn graph grows by: one operator, or a few that belong together. */
#include "rows/draw_int.h"

#include <string.h>

typedef enum Guard { GUARD_NONE, GUARD_ABS, GUARD_POSITIVE, GUARD_UNIT, GUARD_SMALL } Guard;

typedef struct Drawn {
    uint8_t often;
    Guard guard;
} Drawn;

static const Drawn unaries[UNARY_COUNT] = {
#define UNARY(kind, text, guard, often) [UNARY_##kind] = {often, GUARD_##guard},
#include "rows/spell.def"
#undef UNARY
};
static const Drawn binaries[BINARY_COUNT] = {
#define BINARY(kind, text, guard, often) [BINARY_##kind] = {often, GUARD_##guard},
#include "rows/spell.def"
#undef BINARY
};
static const Drawn reductions[REDUCE_COUNT] = {
#define REDUCED(kind, text, often) [REDUCE_##kind] = {often, GUARD_NONE},
#include "rows/spell.def"
#undef REDUCED
};

static int draw_kind(Draw *d, const Drawn *table, int n)
{
    uint8_t weights[UNARY_COUNT + BINARY_COUNT];
    for (int i = 0; i < n; i++)
        weights[i] = table[i].often;
    return (int)dice_weighted(&d->dice, weights, (uint32_t)n);
}

double draw_scale(Draw *d)
{
    static const double numbers[] = {0.1, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 0.01, 1.25, 0.3};
    static const double tens[] = {10, 100, 1000, 10000};
    if (dice_chance(&d->dice, 45))
        return numbers[dice_below(&d->dice, 10)];
    double over = tens[dice_below(&d->dice, 4)];
    return (double)(1 + dice_below(&d->dice, 3 * (int64_t)over)) / over;
}

/* A whole one as an integer or as a float. */
static ValueId draw_constant(Draw *d)
{
    if (dice_chance(&d->dice, 25))
        return draw_whole(d, 1 + dice_below(&d->dice, 6));
    return draw_number(d, draw_scale(d));
}

/* ---- elementwise ---- */

ValueId draw_unary(Draw *d, int kind, ValueId x, double a, double b)
{
    Attr attr[] = {{.key = AT_A, .f = a}, {.key = AT_B, .f = b}};
    return draw_tensor(d, OP_UNARY, kind, &x, 1, attr, b != 0 ? 2 : a != 0);
}

static ValueId unary(Draw *d, int kind, ValueId x, double a)
{
    return draw_unary(d, kind, x, a, 0);
}

/* The sizes of a result: from the right, the one that is not 1. */
static Sizes joined_sizes(const Draw *d, ValueId a, ValueId b)
{
    Sizes x = draw_sizes(d, a), y = draw_sizes(d, b), out = x.rank >= y.rank ? x : y;
    for (int i = 1; i <= out.rank; i++) {
        const Size *s = i <= x.rank ? &x.dim[x.rank - i] : NULL;
        const Size *t = i <= y.rank ? &y.dim[y.rank - i] : NULL;
        out.dim[out.rank - i] = !t || (s && s->n != 1) ? *s : *t;
    }
    return out;
}

ValueId draw_binary(Draw *d, int kind, ValueId a, ValueId b)
{
    ValueId in[] = {a, b};
    return draw_node(d, OP_BINARY, kind, in, 2, NULL, 0, joined_sizes(d, a, b));
}

static ValueId clamp(Draw *d, ValueId x, double low, double high)
{
    ValueId in[] = {x, draw_number(d, low), draw_number(d, high)};
    return draw_node(d, OP_CLAMP, 0, in, 3, NULL, 0, draw_sizes(d, x));
}

static ValueId guarded(Draw *d, ValueId x, Guard guard)
{
    switch (guard) {
    case GUARD_NONE: return x;
    case GUARD_ABS: return unary(d, UNARY_abs, x, 0);
    case GUARD_POSITIVE:
        return draw_binary(d, BINARY_add, unary(d, UNARY_abs, x, 0), draw_number(d, 0.5));
    case GUARD_UNIT:
        return draw_binary(d, BINARY_mul, unary(d, UNARY_tanh, x, 0), draw_number(d, 0.875));
    case GUARD_SMALL: return clamp(d, x, -6, 6);
    }
    return x;
}

ValueId draw_positive(Draw *d, ValueId x) { return guarded(d, x, GUARD_POSITIVE); }

ValueId draw_unary_in_domain(Draw *d, int kind, ValueId x)
{
    return unary(d, kind, guarded(d, x, unaries[kind].guard), 0);
}

ValueId draw_binary_in_domain(Draw *d, int kind, ValueId a, ValueId b)
{
    return draw_binary(d, kind, a, guarded(d, b, binaries[kind].guard));
}

static void step_unary(Draw *d)
{
    int kind = draw_kind(d, unaries, UNARY_COUNT);
    static const double slopes[] = {0.01, 0.05, 0.1, 0.2, 0.5, 1.5};
    bool slope = kind == UNARY_leaky_relu || kind == UNARY_elu || kind == UNARY_celu ||
                 kind == UNARY_hardshrink || kind == UNARY_softshrink;
    bool bent = kind == UNARY_softplus || kind == UNARY_threshold;
    double a = slope  ? dice_chance(&d->dice, 60) ? slopes[dice_below(&d->dice, 6)] : draw_scale(d)
                : bent ? (double)(1 + dice_below(&d->dice, 4)) / 2
                      : 0;
    double b = !bent ? 0 : kind == UNARY_softplus ? 20 : draw_scale(d);
    if (kind == UNARY_gelu && dice_chance(&d->dice, 40)) {
        Attr tanh = {.key = AT_APPROX, .text = STR("tanh")};
        d->at = draw_tensor(d, OP_UNARY, kind, &d->at, 1, &tanh, 1);
        return;
    }
    d->at = draw_unary(d, kind, guarded(d, d->at, unaries[kind].guard), a, b);
}

/* A value of as many elements that is there already, and not the newest; else the newest. */
static ValueId another(Draw *d)
{
    ValueId found = d->at;
    Sizes want = draw_sizes(d, d->at);
    for (uint32_t i = 0; i < d->older.len; i++) {
        Sizes have = draw_sizes(d, d->older.at[i]);
        bool same = have.rank == want.rank;
        for (int k = 0; k < want.rank && same; k++)
            same = have.dim[k].n == want.dim[k].n &&
                   strcmp(have.dim[k].text, want.dim[k].text) == 0;
        if (same && d->older.at[i] != d->at && (found == d->at || dice_chance(&d->dice, 50)))
            found = d->older.at[i];
    }
    return found;
}

static ValueId as_drawn_dtype(Draw *d, ValueId x)
{
    Attr attr = {.key = AT_DTYPE, .dtype = d->dtype};
    if (graph_value(d->g, x)->dtype == d->dtype)
        return x;
    return draw_node(d, OP_CAST, 0, &x, 1, &attr, 1, draw_sizes(d, x));
}

static void combine(Draw *d, ValueId other)
{
    int kind = draw_kind(d, binaries, BINARY_COUNT);
    bool swap = dice_chance(&d->dice, 25) && kind != BINARY_div;
    other = guarded(d, other, binaries[kind].guard);
    d->at = swap ? draw_binary(d, kind, other, d->at) : draw_binary(d, kind, d->at, other);
}

/* lerp, addcmul, addcdiv. */
static void step_three(Draw *d, ValueId other)
{
    static const Op ops[] = {OP_LERP, OP_ADDCMUL, OP_ADDCDIV};
    Op op = ops[dice_below(&d->dice, 3)];
    Attr value = {.key = AT_VALUE, .f = dice_chance(&d->dice, 40) ? 1 : draw_scale(d)};
    ValueId in[] = {d->at, other, other};
    if (op == OP_LERP)
        in[2] = draw_number(d, draw_scale(d));
    else if (dice_chance(&d->dice, 50))
        in[2] = draw_input(d, draw_sizes(d, d->at), d->dtype);
    if (op == OP_ADDCDIV)
        in[2] = guarded(d, in[2], GUARD_POSITIVE);
    d->at = draw_tensor(d, op, 0, in, 3, &value, op != OP_LERP);
}

static void step_binary(Draw *d)
{
    ValueId other = another(d);
    if (other == d->at || dice_chance(&d->dice, 60))
        other = draw_input(d, draw_sizes(d, d->at), d->dtype);
    if (dice_chance(&d->dice, 12))
        step_three(d, other);
    else
        combine(d, other);
}

static void step_power(Draw *d)
{
    static const double powers[] = {2, 2, 3, 0.5, 1.5, -1, -0.5};
    double power = powers[dice_below(&d->dice, 7)];
    bool whole = power == 2 || power == 3;
    ValueId x = guarded(d, d->at, whole ? GUARD_SMALL : GUARD_POSITIVE);
    if (whole && dice_chance(&d->dice, 60))
        x = d->at;
    bool integer = whole && dice_chance(&d->dice, 70);
    d->at = draw_binary(d, BINARY_pow, x,
                        integer ? draw_whole(d, (int64_t)power) : draw_number(d, power));
}

static void step_number(Draw *d)
{
    static const int kinds[] = {BINARY_add, BINARY_sub, BINARY_mul, BINARY_mul, BINARY_div};
    int kind = kinds[dice_below(&d->dice, 5)];
    if (dice_chance(&d->dice, 14)) {
        step_power(d);
        return;
    }
    ValueId x = d->at, number = draw_constant(d);
    /* The reader has a reciprocal for a number over 16 bits, as PyTorch. */
    bool whole = kind == BINARY_div && d->dtype != DT_F32;
    if (whole || !dice_chance(&d->dice, 25))
        d->at = draw_binary(d, kind, x, number);
    else
        d->at = draw_binary(d, kind, number,
                            kind == BINARY_div ? guarded(d, x, GUARD_POSITIVE) : x);
}

/* Between two numbers, or on one side. */
static void step_clamp(Draw *d, ValueId x)
{
    int64_t form = dice_below(&d->dice, 4);
    double low = -draw_scale(d);
    if (form < 2) {
        d->at = clamp(d, x, low, low + 2 * draw_scale(d) + 0.5);
        return;
    }
    ValueId in[] = {x, VALUE_NONE, VALUE_NONE};
    in[form - 1] = dice_chance(&d->dice, 50) ? draw_whole(d, dice_below(&d->dice, 2))
                                             : draw_number(d, form == 2 ? low : -low);
    d->at = draw_tensor(d, OP_CLAMP, 0, in, 3, NULL, 0);
}

static void step_masked(Draw *d)
{
    static const int orders[] = {BINARY_gt, BINARY_lt, BINARY_ge, BINARY_le};
    ValueId x = d->at, other = another(d);
    if (dice_chance(&d->dice, 35)) {
        step_clamp(d, x);
        return;
    }
    if (dice_chance(&d->dice, 20) && draw_masked_input(d))
        return;
    if (dice_chance(&d->dice, 10) && draw_sizes(d, x).rank > 1) {
        Attr attr[] = {{.key = AT_DIAGONAL, .i = dice_below(&d->dice, 4) - 1},
                       {.key = AT_UPPER, .i = 1}};
        d->at = draw_tensor(d, OP_TRI, 0, &x, 1, attr, 1 + dice_chance(&d->dice, 50));
        return;
    }
    if (other == d->at)
        other = draw_input(d, draw_sizes(d, d->at), d->dtype);
    ValueId against = dice_chance(&d->dice, 50) ? draw_constant(d) : other;
    ValueId mask = draw_binary(d, orders[dice_below(&d->dice, 4)], x, against);
    ValueId in[] = {mask, x, other};
    if (dice_chance(&d->dice, 40))
        in[2] = draw_binary(d, BINARY_mul, x, draw_number(d, draw_scale(d)));
    d->at = draw_node(d, OP_WHERE, 0, in, 3, NULL, 0, draw_sizes(d, x));
}

void draw_elementwise(Draw *d)
{
    int64_t dice = dice_below(&d->dice, 100);
    if (dice < 48)
        step_unary(d);
    else if (dice < 72)
        step_binary(d);
    else if (dice < 88)
        step_number(d);
    else if (dice < 96)
        step_masked(d);
    else if (d->dtype != DT_F32) { /* a stretch in f32 */
        Attr attr = {.key = AT_DTYPE, .dtype = DT_F32};
        ValueId x = draw_node(d, OP_CAST, 0, &d->at, 1, &attr, 1, draw_sizes(d, d->at));
        d->at = as_drawn_dtype(d, unary(d, UNARY_tanh, x, 0));
    }
}

static void step_broadcast(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    int64_t form = dice_below(&d->dice, 3);
    if (dice_chance(&d->dice, 15)) { /* one number, as f32[] or f32[1] */
        sizes = (Sizes){.rank = dice_chance(&d->dice, 50), .dim = {{1, "1", 0}}};
    } else if (form == 0 && sizes.rank > 1) { /* the last axes alone */
        int drop = 1 + (int)dice_below(&d->dice, sizes.rank - 1);
        memmove(sizes.dim, sizes.dim + drop, (size_t)(sizes.rank - drop) * sizeof *sizes.dim);
        sizes.rank -= drop;
    } else {
        int one = form == 1 ? sizes.rank - 1 : (int)dice_below(&d->dice, sizes.rank);
        sizes.dim[one] = (Size){1, "1", 0};
    }
    combine(d, draw_input(d, sizes, d->dtype));
}

/* ---- reductions ---- */

ValueId draw_reduce(Draw *d, int kind, ValueId x, uint32_t dims, bool keep)
{
    Sizes sizes = draw_sizes(d, x), out = {0};
    int64_t *list = arena_array(d->arena, int64_t, GRAPH_MAX_RANK);
    uint32_t n = 0;
    for (int i = 0; i < sizes.rank; i++) {
        if (dims >> i & 1)
            list[n++] = i;
        if (!(dims >> i & 1))
            out.dim[out.rank++] = sizes.dim[i];
        else if (keep)
            out.dim[out.rank++] = (Size){1, "1", 0};
    }
    Attr attr[4] = {{.key = AT_DIMS}};
    uint32_t n_attr = 1;
    attr[0].ints.at = list;
    attr[0].ints.len = n;
    if (n == (uint32_t)sizes.rank && !keep) /* all: no list */
        n_attr = 0;
    if (kind == REDUCE_norm)
        attr[n_attr++] = (Attr){.key = AT_P, .f = 1 + (double)dice_below(&d->dice, 2)};
    if (keep)
        attr[n_attr++] = (Attr){.key = AT_KEEPDIM, .i = 1};
    if (kind == REDUCE_var || kind == REDUCE_std)
        attr[n_attr++] = (Attr){.key = AT_A, .f = 0};
    return draw_node(d, OP_REDUCE, kind, &x, 1, attr, n_attr, out);
}

/* The largest or smallest along one axis, as torch.max(x, dim)[0]. */
static ValueId draw_extreme(Draw *d, int kind, ValueId x, uint32_t dims, bool keep)
{
    Sizes sizes = draw_sizes(d, x), out = {0};
    int64_t *list = arena_array(d->arena, int64_t, 1);
    for (int i = 0; i < sizes.rank; i++) {
        if (!(dims >> i & 1))
            out.dim[out.rank++] = sizes.dim[i];
        else if (keep)
            out.dim[out.rank++] = (Size){1, "1", 0};
        if (dims >> i & 1)
            list[0] = i;
    }
    Attr attr[] = {{.key = AT_DIMS}, {.key = AT_KEEPDIM, .i = 1}};
    attr[0].ints.at = list;
    attr[0].ints.len = 1;
    return draw_node(d, OP_REDUCE_INDEX, kind, &x, 1, attr, keep ? 2 : 1, out);
}

static void step_reduce(Draw *d, RowsFamily family)
{
    Sizes sizes = draw_sizes(d, d->at);
    uint32_t last = 1u << (sizes.rank - 1), dims = last;
    if (sizes.rank < 2) {
        d->failed = true;
        return;
    }
    if (family == FAMILY_COLUMN_REDUCE)
        dims = 1u << dice_below(&d->dice, sizes.rank - 1);
    if (family == FAMILY_MANY_REDUCE)
        dims = sizes.rank == 2 || dice_chance(&d->dice, 50) ? last | last >> 1 : last | 1;
    if (family == FAMILY_MANY_REDUCE && sizes.rank == 2)
        dims = last;
    bool keep = dice_chance(&d->dice, 65);
    ValueId x = d->at;
    int kind = draw_kind(d, reductions, REDUCE_COUNT);
    if (kind == REDUCE_prod && (dims & (dims - 1))) /* PyTorch has it for one axis */
        kind = REDUCE_sum;
    bool place = (kind == REDUCE_max || kind == REDUCE_min) && !(dims & (dims - 1)) &&
                 dice_chance(&d->dice, 30);
    d->at = place ? draw_extreme(d, kind, x, dims, keep) : draw_reduce(d, kind, x, dims, keep);
    if (keep && dice_chance(&d->dice, 75)) {
        static const int kinds[] = {BINARY_sub, BINARY_add, BINARY_mul, BINARY_div};
        int how = kinds[dice_below(&d->dice, 4)];
        ValueId by = how == BINARY_div ? guarded(d, d->at, GUARD_POSITIVE) : d->at;
        d->at = draw_binary(d, how, x, by);
    }
}

/* The last `n` axes as a tensor's sizes. */
static Sizes last_sizes(const Sizes *sizes, int n)
{
    Sizes out = {.rank = n};
    memcpy(out.dim, sizes->dim + sizes->rank - n, (size_t)n * sizeof *out.dim);
    return out;
}

static double draw_epsilon(Draw *d)
{
    static const double numbers[] = {1e-5, 1e-5, 1e-6, 1e-8, 1e-3};
    return numbers[dice_below(&d->dice, 5)];
}

static void step_normalise(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    if (dice_chance(&d->dice, 15) && draw_whole_norm(d))
        return;
    int64_t form = dice_below(&d->dice, 4);
    int n = sizes.rank > 2 && dice_chance(&d->dice, 25) ? 2 : 1;
    int dim = dice_chance(&d->dice, 75) ? sizes.rank - 1 : (int)dice_below(&d->dice, sizes.rank);
    int64_t *shape = arena_array(d->arena, int64_t, 2);
    for (int i = 0; i < n; i++)
        shape[i] = sizes.dim[sizes.rank - n + i].n;
    Attr norm[2] = {{.key = AT_SHAPE}, {.key = AT_EPS, .f = draw_epsilon(d)}};
    norm[0].ints.at = shape;
    norm[0].ints.len = (uint32_t)n;
    ValueId in[] = {d->at, VALUE_NONE, VALUE_NONE};
    Attr soft[] = {{.key = AT_DIM, .i = dim}, {.key = AT_LOG, .i = 1}};
    if (form >= 2 && dice_chance(&d->dice, 50))
        in[1] = draw_input(d, last_sizes(&sizes, n), d->dtype);
    if (form == 2 && in[1] != VALUE_NONE && dice_chance(&d->dice, 70))
        in[2] = draw_input(d, last_sizes(&sizes, n), d->dtype);
    if (form < 2)
        d->at = draw_tensor(d, OP_SOFTMAX, 0, in, 1, soft, form ? 2 : 1);
    else if (form == 2)
        d->at = draw_tensor(d, OP_LAYER_NORM, 0, in, 3, norm, 2);
    else
        d->at = draw_tensor(d, OP_RMS_NORM, 0, in, 2, norm, 2);
}

/* ---- views ---- */

Attr draw_ints(Draw *d, AttrKey key, const int64_t *from, uint32_t n)
{
    int64_t *at = arena_array(d->arena, int64_t, GRAPH_MAX_RANK);
    memcpy(at, from, n * sizeof *from);
    Attr attr = {.key = key};
    attr.ints.at = at;
    attr.ints.len = n;
    return attr;
}

Sizes draw_with(Draw *d, Sizes sizes, int dim, int64_t n)
{
    sizes.dim[dim] = (Size){n, str_format(d->arena, "%lld", (long long)n), 0};
    return sizes;
}

static void step_transpose(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at), out = sizes;
    int64_t dims[GRAPH_MAX_RANK];
    if (sizes.rank < 2) {
        d->failed = true;
        return;
    }
    int a = (int)dice_below(&d->dice, sizes.rank - 1), b = a + 1;
    if (sizes.rank > 2 && dice_chance(&d->dice, 40))
        b = (int)dice_below(&d->dice, sizes.rank);
    b = a == b ? a + 1 : b;
    for (int i = 0; i < sizes.rank; i++) {
        dims[i] = i == a ? b : i == b ? a : i;
        out.dim[i] = sizes.dim[dims[i]];
    }
    Attr attr = draw_ints(d, AT_DIMS, dims, (uint32_t)sizes.rank);
    d->at = draw_node(d, OP_PERMUTE, 0, &d->at, 1, &attr, 1, out);
}

static ValueId slice(Draw *d, ValueId x, int dim, int64_t start, int64_t end, int64_t step)
{
    Sizes sizes = draw_sizes(d, x);
    Size *s = &sizes.dim[dim];
    int64_t off = s->n - end;
    Attr attr[] = {{.key = AT_DIM, .i = dim},
                   {.key = AT_START, .i = start},
                   {.key = AT_END, .i = end},
                   {.key = AT_STEP, .i = step}};
    if (step > 1)
        *s = (Size){(s->n + step - 1) / step,
                    str_format(d->arena, "(%s + %lld) // %lld", s->text, (long long)(step - 1),
                               (long long)step),
                    0};
    else
        *s = (Size){end - start,
                    str_format(d->arena, "%s - %lld", s->text, (long long)(start + off)), 0};
    return draw_node(d, OP_SLICE, 0, &x, 1, attr, 4, sizes);
}

static int axis_of_at_least(Draw *d, int64_t least)
{
    Sizes sizes = draw_sizes(d, d->at);
    int dim = (int)dice_below(&d->dice, sizes.rank);
    for (int i = 0; i < sizes.rank && sizes.dim[dim].n < least; i++)
        dim = (dim + 1) % sizes.rank;
    d->failed = d->failed || sizes.dim[dim].n < least;
    return dim;
}

/* Both halves of an axis, one of them behind a function: gates. */
static void step_halves(Draw *d, int dim)
{
    static const int gates[] = {UNARY_sigmoid, UNARY_silu, UNARY_gelu, UNARY_tanh, UNARY_relu};
    Sizes sizes = draw_sizes(d, d->at);
    Size *s = &sizes.dim[dim];
    ValueId half[2];
    int64_t n = s->n;
    *s = (Size){n / 2, str_format(d->arena, "(%s) // 2", s->text), 0};
    for (int i = 0; i < 2; i++) {
        Attr attr[] = {{.key = AT_DIM, .i = dim},
                       {.key = AT_START, .i = i * n / 2},
                       {.key = AT_END, .i = (i + 1) * n / 2},
                       {.key = AT_STEP, .i = 1}};
        half[i] = draw_node(d, OP_SLICE, 0, &d->at, 1, attr, 4, sizes);
    }
    int first = dice_chance(&d->dice, 50);
    half[first] = unary(d, gates[dice_below(&d->dice, 5)], half[first], 0);
    d->at = draw_binary(d, BINARY_mul, half[0], half[1]);
}

static void step_slice(Draw *d)
{
    int dim = axis_of_at_least(d, 6);
    if (d->failed)
        return;
    Size of = draw_sizes(d, d->at).dim[dim];
    int64_t n = of.n, form = dice_below(&d->dice, 4);
    if (of.factor % 2 == 0 && of.factor && dice_chance(&d->dice, 60)) {
        step_halves(d, dim);
        return;
    }
    int64_t cut = 1 + dice_below(&d->dice, n / 3 < 16 ? n / 3 : 16);
    if (form == 0)
        d->at = slice(d, d->at, dim, cut, n, 1);
    else if (form == 1)
        d->at = slice(d, d->at, dim, 0, n - cut, 1);
    else if (form == 2)
        d->at = slice(d, d->at, dim, 0, n, 2);
    else { /* neighbours */
        ValueId behind = slice(d, d->at, dim, cut, n, 1);
        ValueId before = slice(d, d->at, dim, 0, n - cut, 1);
        d->at = draw_binary(d, dice_chance(&d->dice, 60) ? BINARY_sub : BINARY_mul, behind, before);
    }
}

static void step_reverse(Draw *d)
{
    int dim = axis_of_at_least(d, 4);
    int64_t dims[] = {dim}, shift[] = {1 + dice_below(&d->dice, 3)};
    Attr attr[] = {draw_ints(d, AT_SHAPE, shift, 1), draw_ints(d, AT_DIMS, dims, 1)};
    Sizes sizes = draw_sizes(d, d->at);
    if (dice_chance(&d->dice, 50))
        d->at = draw_node(d, OP_FLIP, 0, &d->at, 1, attr + 1, 1, sizes);
    else
        d->at = draw_node(d, OP_ROLL, 0, &d->at, 1, attr, 2, sizes);
}

static ValueId reshape(Draw *d, ValueId x, Sizes sizes)
{
    int64_t shape[GRAPH_MAX_RANK];
    for (int i = 0; i < sizes.rank; i++)
        shape[i] = sizes.dim[i].n;
    Attr attr = draw_ints(d, AT_SHAPE, shape, (uint32_t)sizes.rank);
    return draw_node(d, OP_RESHAPE, 0, &x, 1, &attr, 1, sizes);
}

static void step_regroup(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at), out = sizes;
    for (int i = 0; i < sizes.rank && sizes.rank < 5; i++) {
        const Size *s = &sizes.dim[i];
        if (!s->factor)
            continue;
        Size parts[] = {{s->factor, str_format(d->arena, "%lld", (long long)s->factor), 0},
                        {s->n / s->factor,
                         str_format(d->arena, "%s // %lld", s->text, (long long)s->factor), 0}};
        bool inner = dice_chance(&d->dice, 50);
        memmove(out.dim + i + 2, sizes.dim + i + 1, (size_t)(sizes.rank - i - 1) * sizeof *out.dim);
        out.dim[i] = parts[inner];
        out.dim[i + 1] = parts[!inner];
        out.rank++;
        d->at = reshape(d, d->at, out);
        return;
    }
    if (sizes.rank < 2) {
        d->failed = true;
        return;
    }
    int at = (int)dice_below(&d->dice, sizes.rank - 1);
    out.dim[at] = (Size){
        sizes.dim[at].n * sizes.dim[at + 1].n,
        str_format(d->arena, "(%s) * (%s)", sizes.dim[at].text, sizes.dim[at + 1].text), 0};
    memmove(out.dim + at + 1, sizes.dim + at + 2, (size_t)(sizes.rank - at - 2) * sizeof *out.dim);
    out.rank--;
    d->at = reshape(d, d->at, out);
}

static void step_join(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at), other = sizes;
    int dim = (int)dice_below(&d->dice, sizes.rank);
    ValueId in[2] = {d->at, another(d)};
    if (in[1] == in[0] || dice_chance(&d->dice, 50)) {
        if (dice_chance(&d->dice, 50))
            other.dim[dim] = draw_knob(d, 2 + dice_below(&d->dice, 60));
        in[1] = draw_input(d, other, d->dtype);
    }
    other = draw_sizes(d, in[1]);
    sizes.dim[dim] = (Size){
        sizes.dim[dim].n + other.dim[dim].n,
        str_format(d->arena, "(%s + %s)", sizes.dim[dim].text, other.dim[dim].text), 0};
    Attr attr = {.key = AT_DIM, .i = dim};
    d->at = draw_node(d, OP_CAT, 0, in, 2, &attr, 1, sizes);
}

static void step_pad(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    int last = sizes.rank - 1;
    Size *s = &sizes.dim[last];
    if (dice_chance(&d->dice, 50)) {
        int64_t pads[] = {dice_below(&d->dice, 4), 1 + dice_below(&d->dice, 4)};
        Attr attr[] = {{.key = AT_MODE, .text = STR("constant")}, draw_ints(d, AT_PADS, pads, 2)};
        *s = (Size){s->n + pads[0] + pads[1],
                    str_format(d->arena, "(%s + %lld)", s->text, (long long)(pads[0] + pads[1])),
                    0};
        d->at = draw_node(d, OP_PAD, 0, &d->at, 1, attr, 2, sizes);
        return;
    }
    int64_t times[GRAPH_MAX_RANK], by = 2 + dice_below(&d->dice, 2);
    int dim = (int)dice_below(&d->dice, sizes.rank);
    for (int i = 0; i < sizes.rank; i++)
        times[i] = i == dim ? by : 1;
    sizes.dim[dim] = (Size){sizes.dim[dim].n * by,
                            str_format(d->arena, "%lld * (%s)", (long long)by, sizes.dim[dim].text),
                            0};
    Attr attr = draw_ints(d, AT_SHAPE, times, (uint32_t)sizes.rank);
    d->at = draw_node(d, OP_REPEAT, 0, &d->at, 1, &attr, 1, sizes);
}

static void step_window(Draw *d)
{
    static const int kinds[] = {REDUCE_max, REDUCE_mean, REDUCE_sum, REDUCE_min};
    int dim = axis_of_at_least(d, 8);
    if (d->failed || draw_sizes(d, d->at).rank > 4)
        return;
    int64_t size = 2 + dice_below(&d->dice, 3), step = dice_chance(&d->dice, 70) ? 1 : size;
    Sizes sizes = draw_sizes(d, d->at);
    Size *s = &sizes.dim[dim];
    *s = (Size){(s->n - size) / step + 1,
                str_format(d->arena, "((%s - %lld) // %lld + 1)", s->text, (long long)size,
                           (long long)step),
                0};
    sizes.dim[sizes.rank++] = (Size){size, str_format(d->arena, "%lld", (long long)size), 0};
    Attr attr[] = {
        {.key = AT_DIM, .i = dim}, {.key = AT_STEP, .i = step}, {.key = AT_SIZE, .i = size}};
    ValueId windows = draw_node(d, OP_UNFOLD, 0, &d->at, 1, attr, 3, sizes);
    d->at = draw_reduce(d, kinds[dice_below(&d->dice, 4)], windows, 1u << (sizes.rank - 1), false);
}

void draw_step(Draw *d, RowsFamily family)
{
    d->families |= 1u << family;
    switch (family) {
    case FAMILY_ACTIVATION: step_unary(d); break;
    case FAMILY_ARITHMETIC: step_binary(d); break;
    case FAMILY_MASKED: step_masked(d); break;
    case FAMILY_BROADCAST: step_broadcast(d); break;
    case FAMILY_ROW_REDUCE:
    case FAMILY_COLUMN_REDUCE:
    case FAMILY_MANY_REDUCE: step_reduce(d, family); break;
    case FAMILY_NORMALISE: step_normalise(d); break;
    case FAMILY_TRANSPOSE: step_transpose(d); break;
    case FAMILY_SLICE: step_slice(d); break;
    case FAMILY_REVERSE: step_reverse(d); break;
    case FAMILY_REGROUP: step_regroup(d); break;
    case FAMILY_JOIN: step_join(d); break;
    case FAMILY_PAD: step_pad(d); break;
    case FAMILY_WINDOW: step_window(d); break;
    case FAMILY_SCAN: draw_scan(d); break;
    case FAMILY_CHANNEL: draw_channel(d); break;
    case FAMILY_UPDATE: draw_update(d); break;
    case FAMILY_DISTANCE: draw_distance(d); break;
    case FAMILY_PICK: draw_pick(d); break;
    case FAMILY_COMPARE: draw_compare(d); break;
    case FAMILY_PLACE: draw_place(d); break;
    case FAMILY_SCALAR: draw_scalar(d); break;
    default: draw_elementwise(d); break;
    }
}
