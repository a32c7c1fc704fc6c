/* Steps with integers and booleans: distances of rows, picked rows and elements, masks, comparisons as results,
 * and division by one value of all elements. */
#include "rows/draw_int.h"

/* Without axis `dim`. */
static Sizes without_axis(Sizes sizes, int dim)
{
    for (int i = dim; i + 1 < sizes.rank; i++)
        sizes.dim[i] = sizes.dim[i + 1];
    sizes.rank--;
    return sizes;
}

/* ---- rows that are compared ---- */

void draw_distance(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at), out;
    if (sizes.rank < 2) {
        d->failed = true;
        return;
    }
    ValueId in[] = {d->at, draw_input(d, sizes, d->dtype)};
    int dim = dice_chance(&d->dice, 75) ? sizes.rank - 1 : (int)dice_below(&d->dice, sizes.rank);
    if (dice_chance(&d->dice, 50)) {
        Attr attr[] = {{.key = AT_DIM, .i = dim},
                       {.key = AT_EPS, .f = dice_chance(&d->dice, 60) ? 1e-8 : 1e-6}};
        out = without_axis(sizes, dim);
        d->at = draw_node(d, OP_COSINE_SIMILARITY, 0, in, 2, attr, 2, out);
    } else {
        bool keep = dice_chance(&d->dice, 30);
        out = without_axis(sizes, sizes.rank - 1);
        if (keep)
            out.dim[out.rank++] = (Size){1, "1", 0};
        Attr attr[] = {{.key = AT_DIM, .i = -1},
                       {.key = AT_EPS, .f = 1e-6},
                       {.key = AT_P, .f = 1 + (double)dice_chance(&d->dice, 75)},
                       {.key = AT_KEEPDIM, .i = 1}};
        d->at = draw_node(d, OP_PAIRWISE_DISTANCE, 0, in, 2, attr, keep ? 4 : 3, out);
    }
    if (dice_chance(&d->dice, 40))
        d->at = draw_binary(d, BINARY_sub, draw_whole(d, 1), d->at);
}

/* ---- what integers name ---- */

void draw_pick(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at), few = {.rank = 1};
    int64_t form = dice_below(&d->dice, 3);
    int dim = sizes.rank == 1 || dice_chance(&d->dice, 60) ? 0
                                                           : (int)dice_below(&d->dice, sizes.rank);
    Attr attr = {.key = AT_DIM, .i = dim};
    few.dim[0] = draw_knob(d, 1 + dice_below(&d->dice, 256));
    if (form == 0 && sizes.rank == 2) { /* a table of rows */
        Sizes out = {.rank = 2, .dim = {few.dim[0], sizes.dim[1]}};
        ValueId in[] = {d->at, draw_index_input(d, few, sizes.dim[0])};
        d->at = draw_node(d, OP_EMBEDDING, 0, in, 2, NULL, 0, out);
    } else if (form == 1 && sizes.rank > 1) { /* a few of every row */
        Sizes index = sizes;
        dim = sizes.rank - 1;
        attr.i = dim;
        index.dim[dim] = dice_chance(&d->dice, 50) ? (Size){1, "1", 0}
                                                   : draw_knob(d, 1 + dice_below(&d->dice, 16));
        ValueId in[] = {d->at, draw_index_input(d, index, sizes.dim[dim])};
        d->at = draw_node(d, OP_GATHER, 0, in, 2, &attr, 1, index);
    } else {
        ValueId in[] = {d->at, draw_index_input(d, few, sizes.dim[dim])};
        sizes.dim[dim] = few.dim[0];
        d->at = draw_node(d, OP_INDEX_SELECT, 0, in, 2, &attr, 1, sizes);
    }
}

/* ---- booleans ---- */

bool draw_masked_input(Draw *d)
{
    Sizes sizes = draw_sizes(d, d->at);
    ValueId mask = draw_mask_input(d, sizes), x = d->at;
    if (dice_chance(&d->dice, 40)) {
        d->at = draw_binary(d, BINARY_mul, x, mask);
        return true;
    }
    ValueId other = dice_chance(&d->dice, 50) ? draw_number(d, draw_scale(d))
                                              : draw_input(d, sizes, d->dtype);
    ValueId in[] = {mask, x, other};
    d->at = draw_node(d, OP_WHERE, 0, in, 3, NULL, 0, sizes);
    return true;
}

/* A comparison, a test of every element, or the values in another element type. */
void draw_compare(Draw *d)
{
    static const int orders[] = {BINARY_gt, BINARY_lt, BINARY_ge, BINARY_le, BINARY_eq, BINARY_ne};
    static const int tests[] = {UNARY_isinf, UNARY_isfinite, UNARY_isnan};
    Sizes sizes = draw_sizes(d, d->at);
    int64_t form = dice_below(&d->dice, 100);
    d->ended = true;
    if (form < 30) {
        DType to = d->dtype == DT_F32 ? dice_chance(&d->dice, 50) ? DT_F16 : DT_BF16 : DT_F32;
        Attr attr = {.key = AT_DTYPE, .dtype = to};
        d->at = draw_node(d, OP_CAST, 0, &d->at, 1, &attr, 1, sizes);
    } else if (form < 45) {
        d->at = draw_unary(d, tests[dice_below(&d->dice, 3)], d->at, 0, 0);
    } else {
        ValueId other = dice_chance(&d->dice, 75) ? draw_input(d, sizes, d->dtype)
                                                  : draw_number(d, draw_scale(d));
        d->at = draw_binary(d, orders[dice_below(&d->dice, 6)], d->at, other);
    }
}

/* ---- one value of all elements ---- */

bool draw_whole_norm(Draw *d)
{
    static const int kinds[] = {REDUCE_norm, REDUCE_norm, REDUCE_mean, REDUCE_max, REDUCE_sum};
    int kind = kinds[dice_below(&d->dice, 5)];
    ValueId x = d->at;
    ValueId of = kind == REDUCE_norm ? x : draw_unary(d, UNARY_abs, x, 0, 0);
    ValueId all = draw_reduce(d, kind, of, (1u << draw_sizes(d, x).rank) - 1, false);
    if (dice_chance(&d->dice, 40))
        all = draw_binary(d, BINARY_add, all, draw_number(d, 1e-6));
    d->at = draw_binary(d, BINARY_div, x, all);
    return true;
}
