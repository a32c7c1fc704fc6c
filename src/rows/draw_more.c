/* Names and large sizes of drawn tasks, and steps of several operators: scans, norms of channels, steps of
 * optimisers, places, single values. */
#include "rows/draw_int.h"

#include <string.h>

/* ---- names ---- */

static const char *const names[] = {
    "x",        "x",        "x",       "x",          "y",           "y",         "z",
    "w",        "u",        "v",       "s",          "t",           "x1",        "x2",
    "x3",       "input",    "inputs",  "target",     "targets",     "weight",    "bias",
    "gamma",    "beta",     "scale",   "shift",      "mask",        "grad",      "grad_output",
    "param",    "m",        "var",     "mean",       "rstd",        "std",       "step",
    "alpha",    "query",    "key",     "value",      "logits",      "labels",    "predictions",
    "pred",     "truth",    "hidden",  "residual",   "gate",        "up",        "down",
    "left",     "right",    "first",   "second",     "data",        "source",    "image",
    "images",   "features", "state",   "prev",       "signal",      "noise",     "anchor",
    "positive", "negative", "exp_avg", "exp_avg_sq", "momentum",    "velocity",  "square_avg",
    "start",    "end",      "tensor1", "tensor2",    "self_in",     "other",     "offset",
    "factor",   "coeff",    "upper",   "lower",      "norm_weight", "norm_bias", "embed",
    "tokens",   "context",  "memory",  "cond",       "delta",       "theta",     "phi",
    "base",     "extra",    "sample",  "points",     "field",       "queue",     "cache",
    "h_prev",   "x_in",     "x_t",     "dy",         "dx",          "dout",      "running_var",
};

static bool is_taken(const Draw *d, const char *name)
{
    for (uint32_t i = 0; i < d->g->inputs.len; i++)
        if (!strcmp(graph_value(d->g, d->g->inputs.at[i])->name, name))
            return true;
    return false;
}

/* A word that nobody has written. */
static const char *new_word(Draw *d)
{
    char word[8] = {0};
    int64_t n = 2 + dice_below(&d->dice, 5);
    for (int64_t i = 0; i < n; i++)
        word[i] = (char)('a' + dice_below(&d->dice, 26));
    return str_format(d->arena, "%s%lld", word, (long long)dice_below(&d->dice, 10));
}

const char *draw_name(Draw *d)
{
    const char *name;
    do {
        name = names[dice_below(&d->dice, sizeof names / sizeof *names)];
        int64_t form = dice_below(&d->dice, 100);
        if (form < 12)
            name = new_word(d);
        else if (form < 24)
            name = str_format(d->arena, "%s_%lld", name, (long long)dice_below(&d->dice, 10));
    } while (is_taken(d, name));
    return name;
}

/* ---- sizes ---- */

enum { LARGE_FIRST = 16, LARGE_BITS = 16 }; /* 2^16 to 2^31 elements */

/* Axes as files for real work have them. */
static int64_t large_size(Dice *dice, int64_t most)
{
    static const int64_t round[] = {24,   32,   48,   56,    64,    96,    112,   128,
                                    160,  192,  224,  256,   384,   512,   640,   768,
                                    1000, 1024, 1280, 1536,  2048,  2560,  3072,  4096,
                                    5120, 6144, 8192, 11008, 12288, 16384, 32768, 65536};
    int64_t n;
    do {
        int64_t form = dice_below(dice, 100);
        n = form < 70   ? round[dice_below(dice, 32)]
            : form < 85 ? 8 * (1 + dice_below(dice, 1024))
                        : 1 + dice_below(dice, 5000);
    } while (n > most);
    return n;
}

void draw_large(Draw *d, Sizes *sizes)
{
    int64_t left = INT64_C(1) << (LARGE_FIRST + dice_below(&d->dice, LARGE_BITS));
    for (int i = 0; i < sizes->rank; i++) {
        bool last = i == sizes->rank - 1;
        int64_t most = left;
        for (int k = i + 1; k < sizes->rank; k++)
            most = most / 32 > 32 ? most / 32 : 32;
        int64_t n = large_size(&d->dice, most > 32 ? most : 32);
        if (last && dice_chance(&d->dice, 40) && left > 4096) /* all that is left */
            n = dice_chance(&d->dice, 60) ? left : left / 128 * 96 + dice_below(&d->dice, 64) * 16;
        sizes->dim[i] = draw_knob(d, n);
        left = left / n > 32 ? left / n : 32;
    }
}

/* ---- scans, places, single values ---- */

void draw_scan(Draw *d)
{
    int rank = draw_sizes(d, d->at).rank;
    int dim = dice_chance(&d->dice, 70) ? rank - 1 : (int)dice_below(&d->dice, rank);
    Attr attr = {.key = AT_DIM, .i = dim};
    int kind = dice_chance(&d->dice, 75) ? SCAN_sum : SCAN_prod;
    ValueId x = d->at;
    if (kind == SCAN_prod) /* stays finite */
        x = draw_binary(
            d, BINARY_add,
            draw_binary(d, BINARY_mul, draw_unary(d, UNARY_tanh, x, 0, 0), draw_number(d, 0.125)),
            draw_whole(d, 1));
    d->at = draw_tensor(d, OP_SCAN, kind, &x, 1, &attr, 1);
}

void draw_place(Draw *d)
{
    int rank = draw_sizes(d, d->at).rank;
    uint32_t dim = 1u << (dice_chance(&d->dice, 60) ? rank - 1 : dice_below(&d->dice, rank));
    if (rank < 2) {
        d->failed = true;
        return;
    }
    int kind = dice_chance(&d->dice, 50) ? REDUCE_argmax : REDUCE_argmin;
    if (dice_chance(&d->dice, 12)) {
        d->at = draw_reduce(d, kind, d->at, (1u << rank) - 1, false);
        d->ended = true;
        return;
    }
    d->at = draw_reduce(d, kind, d->at, dim, dice_chance(&d->dice, 30));
    d->ended = true;
}

/* The difference of two tensors as a loss has it, element by element. */
static ValueId draw_loss(Draw *d, ValueId x, ValueId y)
{
    ValueId by = draw_binary(d, BINARY_sub, x, y);
    switch (dice_below(&d->dice, 6)) {
    case 0: return draw_unary(d, UNARY_abs, by, 0, 0);
    case 1: return draw_unary(d, UNARY_square, by, 0, 0);
    case 2: return draw_binary(d, BINARY_pow, by, draw_whole(d, 2));
    case 3: return draw_binary(d, BINARY_mul, by, by);
    case 4:
        return draw_unary(d, UNARY_relu,
                          draw_binary(d, BINARY_add, by, draw_number(d, draw_scale(d))), 0, 0);
    default: return draw_unary(d, UNARY_softplus, by, 1, 20);
    }
}

/* Losses that have an operator of their own: KL divergence, triplet margin, cross entropy. */
static bool draw_named_loss(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    Attr reduction = {.key = AT_REDUCTION,
                      .text = dice_chance(&d->dice, 70) ? STR("mean") : STR("sum")};
    int64_t form = dice_below(&d->dice, 3);
    if (sizes.rank != 2)
        return false;
    if (form == 0) {
        ValueId y = draw_input(d, sizes, d->dtype);
        Attr soft[] = {{.key = AT_DIM, .i = 1}, {.key = AT_LOG, .i = 1}};
        ValueId p = draw_tensor(d, OP_SOFTMAX, 0, &y, 1, soft, 1);
        ValueId in[] = {draw_tensor(d, OP_SOFTMAX, 0, &d->at, 1, soft, 2), p, VALUE_NONE};
        if (dice_chance(&d->dice, 40)) /* not of probabilities, but positive */
            in[0] = draw_unary(d, UNARY_log, draw_positive(d, d->at), 0, 0),
            in[1] = draw_positive(d, y);
        reduction.text = dice_chance(&d->dice, 50) ? STR("batchmean") : reduction.text;
        d->at = draw_node(d, OP_LOSS, LOSS_kl_div, in, 3, &reduction, 1, (Sizes){0});
    } else if (form == 1) {
        ValueId in[] = {d->at, draw_input(d, sizes, d->dtype), draw_input(d, sizes, d->dtype)};
        Attr attr[] = {{.key = AT_EPS, .f = 1e-6},
                       {.key = AT_P, .f = 2},
                       reduction,
                       {.key = AT_MARGIN, .f = (double)(1 + dice_below(&d->dice, 4)) / 2}};
        d->at = draw_node(d, OP_TRIPLET_LOSS, 0, in, 3, attr, 4, (Sizes){0});
    } else {
        Sizes rows = {.rank = 1, .dim = {sizes.dim[0]}};
        ValueId in[] = {d->at, draw_index_input(d, rows, sizes.dim[1]), VALUE_NONE};
        Attr attr[] = {reduction, {.key = AT_IGNORE, .i = -100}};
        d->at = draw_node(d, OP_CROSS_ENTROPY, 0, in, 3, attr, 2, (Sizes){0});
    }
    return true;
}

void draw_scalar(Draw *d)
{
    static const int kinds[] = {REDUCE_sum, REDUCE_mean, REDUCE_mean,
                                REDUCE_max, REDUCE_min,  REDUCE_norm};
    static const int losses[] = {LOSS_mse, LOSS_l1, LOSS_smooth_l1, LOSS_huber, LOSS_soft_margin};
    int rank = draw_sizes(d, d->at).rank;
    uint32_t all = (1u << rank) - 1;
    int64_t form = dice_below(&d->dice, 100);
    ValueId x = d->at;
    d->ended = true;
    if (dice_chance(&d->dice, 25) && draw_named_loss(d))
        return;
    if (form < 60) {
        ValueId y = draw_input(d, draw_sizes(d, x), d->dtype);
        if (form < 25) {
            int kind = losses[dice_below(&d->dice, 5)];
            ValueId in[] = {x, y, VALUE_NONE};
            Attr attr[] = {
                {.key = AT_REDUCTION, .text = dice_chance(&d->dice, 70) ? STR("mean") : STR("sum")},
                {.key = AT_A, .f = (double)(1 + dice_below(&d->dice, 4)) / 2}};
            bool bent = kind == LOSS_smooth_l1 || kind == LOSS_huber;
            d->at = draw_node(d, OP_LOSS, kind, in, 3, attr, bent ? 2 : 1, (Sizes){0});
            return;
        }
        x = draw_loss(d, x, y);
    }
    d->at = draw_reduce(d, kinds[dice_below(&d->dice, 6)], x, all, false);
    if (dice_chance(&d->dice, 25))
        d->at = draw_binary(d, BINARY_mul, d->at, draw_number(d, draw_scale(d)));
}

/* ---- norms of channels ---- */

void draw_channel(Draw *d)
{
    static const double eps[] = {1e-5, 1e-5, 1e-6, 1e-3};
    Sizes sizes = draw_sizes(d, d->at), channels = {.rank = 1, .dim = {sizes.dim[1]}};
    int64_t form = dice_below(&d->dice, 3);
    Attr attr[] = {{.key = AT_EPS, .f = eps[dice_below(&d->dice, 4)]},
                   {.key = AT_TRAINING, .i = 1}};
    ValueId in[5] = {d->at, VALUE_NONE, VALUE_NONE, VALUE_NONE, VALUE_NONE};
    uint32_t first = form == 0 ? 3 : 1;
    int64_t beside = 1; /* elements of a channel; PyTorch has no norm of one alone */
    for (int i = form ? 2 : 0; i < sizes.rank; i++)
        beside *= i == 1 ? 1 : sizes.dim[i].n;
    if (sizes.rank < 3 || beside < 2 || (form == 2 && !sizes.dim[1].factor)) {
        d->failed = true;
        return;
    }
    if (form == 2)
        attr[1] = (Attr){.key = AT_GROUPS, .i = sizes.dim[1].factor};
    if (dice_chance(&d->dice, 60)) {
        in[first] = draw_input(d, channels, d->dtype);
        in[first + 1] = draw_input(d, channels, d->dtype);
    }
    if (form == 0)
        d->at = draw_tensor(d, OP_BATCH_NORM, 0, in, 5, attr, 2);
    else
        d->at = draw_tensor(d, form == 1 ? OP_INSTANCE_NORM : OP_GROUP_NORM, 0, in, 3, attr,
                            form == 1 ? 1 : 2);
}

/* ---- steps of optimisers ---- */

static const double decays[] = {0.9, 0.95, 0.99, 0.999, 0.8, 0.98};

static ValueId times(Draw *d, double number, ValueId x)
{
    ValueId n = draw_number(d, number);
    return dice_chance(&d->dice, 50) ? draw_binary(d, BINARY_mul, n, x)
                                     : draw_binary(d, BINARY_mul, x, n);
}

/* A running mean of x: decay * old + (1 - decay) * x, or without the second factor. */
static ValueId running(Draw *d, ValueId old, ValueId x)
{
    double decay = decays[dice_below(&d->dice, 6)];
    if (dice_chance(&d->dice, 15)) {
        ValueId in[] = {old, x, draw_number(d, 1 - decay)};
        return draw_tensor(d, OP_LERP, 0, in, 3, NULL, 0);
    }
    ValueId part = dice_chance(&d->dice, 75) ? times(d, 1 - decay, x) : x;
    return draw_binary(d, BINARY_add, times(d, decay, old), part);
}

static ValueId squared(Draw *d, ValueId x)
{
    int64_t form = dice_below(&d->dice, 3);
    return form == 0   ? draw_binary(d, BINARY_mul, x, x)
           : form == 1 ? draw_binary(d, BINARY_pow, x, draw_whole(d, 2))
                       : draw_unary(d, UNARY_square, x, 0, 0);
}

void draw_update(Draw *d)
{
    static const double rates[] = {0.1, 0.01, 0.001, 0.003, 0.0001, 0.02};
    static const double small[] = {1e-8, 1e-6, 1e-5, 1e-10};
    Sizes sizes = draw_sizes(d, d->at);
    ValueId grad = d->at, moved = grad, param = draw_input(d, sizes, d->dtype);
    ValueId mean = VALUE_NONE, spread = VALUE_NONE;
    if (dice_chance(&d->dice, 25)) /* decay of the weights */
        moved = grad = draw_binary(d, BINARY_add, grad,
                                   times(d, rates[dice_below(&d->dice, 6)], param));
    if (dice_chance(&d->dice, 70))
        moved = mean = running(d, draw_input(d, sizes, d->dtype), grad);
    if (dice_chance(&d->dice, 60)) {
        ValueId old = draw_unary(d, UNARY_abs, draw_input(d, sizes, d->dtype), 0, 0);
        spread = dice_chance(&d->dice, 75) ? running(d, old, squared(d, grad))
                                           : draw_binary(d, BINARY_add, old, squared(d, grad));
        ValueId from = spread;
        if (dice_chance(&d->dice, 40)) { /* of the first steps */
            from = draw_binary(d, BINARY_div, spread,
                               draw_number(d, 1 - decays[dice_below(&d->dice, 6)]));
            moved = draw_binary(d, BINARY_div, moved,
                                draw_number(d, 1 - decays[dice_below(&d->dice, 6)]));
        }
        ValueId root = draw_binary(d, BINARY_add, draw_unary(d, UNARY_sqrt, from, 0, 0),
                                   draw_number(d, small[dice_below(&d->dice, 4)]));
        moved = draw_binary(d, BINARY_div, moved, root);
    }
    d->at = draw_binary(d, BINARY_sub, param, times(d, rates[dice_below(&d->dice, 6)], moved));
    bool all = dice_chance(&d->dice, 50);
    if (all && mean != VALUE_NONE)
        vec_push(d->arena, &d->results, mean);
    if (all && spread != VALUE_NONE)
        vec_push(d->arena, &d->results, spread);
}
