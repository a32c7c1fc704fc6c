/* Blocks of a kernel. In: a kernel with its axes. Out: which axes a block has and how much of them, what the grid
 * walks. A block has about TILE elements; its last two dimensions are multiples of a tile of the machine, or whole. */
#include "gen/pallas/pallas_int.h"

#include <stdlib.h>

enum {
    TILE = 64 << 10,         /* elements of a block */
    WINDOW_TILE = 256 << 10, /* the same where neighbours read the same elements */
    LANES_MOST = 4096        /* of a point's last axis */
};

/* ---- order ---- */

/* The access that says how the kernel's elements lie in memory. */
static const Affine *main_access(const Nest *nest, const Kernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    const Affine *best = &nest->stores.at[k->store[0]].index;
    int64_t most = 0;
    if ((k->kept & k->row) == k->row)
        return best;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        int64_t n = v->axes & k->row ? kernel_count(nest, v->axes & (k->kept | k->row)) : 0;
        if (reached[i] && v->op == NEST_LOAD && n > most) {
            most = n;
            best = &v->index;
        }
    }
    return best;
}

/* Larger steps first; axes that the access does not have come before all others. */
static uint32_t order_axes(const Nest *nest, const Kernel *k, uint32_t *order)
{
    const Affine *access = main_access(nest, k);
    uint32_t n = 0;
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        if (!((k->kept | k->row) >> i & 1))
            continue;
        int64_t by = llabs(affine_by(access, i));
        uint32_t at = n++;
        while (at > 0 && by && llabs(affine_by(access, order[at - 1])) < by &&
               affine_by(access, order[at - 1])) {
            order[at] = order[at - 1];
            at--;
        }
        for (; !by && at > 0 && affine_by(access, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return n;
}

/* ---- sizes of blocks ---- */

typedef struct Sizes {
    const Nest *nest;
    PallasKernel *k;
    uint32_t n, order[NEST_MAX_AXES];
    int64_t unit[2]; /* of the last axis, of the one before */
    int64_t most;    /* elements of a block */
} Sizes;

static bool is_row(const Sizes *s, uint32_t axis) { return s->k->loops.row >> axis & 1; }

static int64_t unit_of(const Sizes *s, uint32_t place)
{
    return place + 1 == s->n ? s->unit[0] : place + 2 == s->n ? s->unit[1] : 1;
}

/* The elements of a block, with its last two dimensions rounded up to whole tiles. */
static int64_t elements(const Sizes *s)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t unit = unit_of(s, i);
        n *= (s->k->block[s->order[i]] + unit - 1) / unit * unit;
    }
    return n;
}

/* At most `want` elements of the axis: whole, or whole units, of equal blocks where there are such. */
static int64_t block_of(const Sizes *s, uint32_t place, int64_t want)
{
    int64_t size = s->nest->axes.at[s->order[place]].size, unit = unit_of(s, place);
    if (want >= size || unit >= size)
        return size;
    int64_t units = want / unit > 0 ? want / unit : 1;
    for (int64_t u = units; u > units / 2; u--)
        if (size % (u * unit) == 0)
            return u * unit;
    return units * unit;
}

/* Narrow types have more rows in a tile. */
static void find_units(Sizes *s)
{
    bool *used = arena_array(s->nest->arena, bool, s->nest->tensors.len);
    int64_t least = 4;
    kernel_tensors(s->nest, &s->k->loops, used, used);
    for (uint32_t i = 0; i < s->nest->tensors.len; i++) {
        int64_t bytes = (int64_t)dtype_bytes(s->nest->tensors.at[i].dtype);
        least = used[i] && bytes < least ? bytes : least;
    }
    s->unit[0] = PALLAS_LANES;
    s->unit[1] = PALLAS_SUBLANES * 4 / least;
}

static void choose_blocks(Sizes *s)
{
    PallasKernel *k = s->k;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t axis = s->order[i];
        k->block[axis] = is_row(s, axis) ? s->nest->axes.at[axis].size
                         : i + 2 < s->n  ? 1
                                         : block_of(s, i, unit_of(s, i) * (i + 1 == s->n ? 4 : 1));
    }
    for (uint32_t i = 0; i < s->n && elements(s) > s->most; i++)
        if (is_row(s, s->order[i])) {
            int64_t rest = elements(s) / k->block[s->order[i]];
            k->block[s->order[i]] = block_of(s, i, s->most / rest > 0 ? s->most / rest : 1);
        }
    for (uint32_t i = s->n; i-- > 0;) {
        uint32_t axis = s->order[i];
        int64_t want = k->block[axis] * (s->most / elements(s));
        if (is_row(s, axis) || want <= k->block[axis])
            continue;
        if (i + 1 == s->n && want > LANES_MOST)
            want = LANES_MOST;
        int64_t block = block_of(s, i, want);
        k->block[axis] = block > k->block[axis] ? block : k->block[axis];
        if (k->block[axis] < s->nest->axes.at[axis].size && i + 2 < s->n)
            break; /* blocks are boxes of neighbours */
    }
}

static bool has_windows(const Nest *nest, const Kernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len), any = false;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        any = any || (reached[i] && nest->values.at[i].op == NEST_REDUCE &&
                      !(nest->values.at[i].over & (k->kept | k->row)));
    return any;
}

/* ---- the grid ---- */

int64_t pallas_blocks(const Nest *nest, const PallasKernel *k, uint32_t axis)
{
    return (nest->axes.at[axis].size + k->block[axis] - 1) / k->block[axis];
}

uint32_t pallas_place(const PallasKernel *k, uint32_t axis)
{
    uint32_t i = 0;
    while (i < k->rank && k->tile[i] != axis)
        i++;
    return i;
}

static uint32_t levels_of(const Nest *nest, const Kernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    uint32_t *memo = arena_array(nest->arena, uint32_t, nest->values.len), most = 0;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(k, &nest->values.at[i])) {
            uint32_t level = kernel_level(nest, k, i, memo);
            most = level > most ? level : most;
        }
    return most;
}

void pallas_roles(const Nest *nest, PallasKernel *k, int64_t most)
{
    Sizes s = {.nest = nest, .k = k};
    s.n = order_axes(nest, &k->loops, s.order);
    s.most = most ? most : has_windows(nest, &k->loops) ? WINDOW_TILE : TILE;
    find_units(&s);
    choose_blocks(&s);
    for (uint32_t i = 0; i < s.n; i++) {
        uint32_t axis = s.order[i];
        bool row = is_row(&s, axis), walked = k->block[axis] < nest->axes.at[axis].size;
        if (row || k->block[axis] > 1 || i + 2 >= s.n) {
            k->tile[k->rank++] = axis;
            k->tiled |= UINT64_C(1) << axis;
        }
        if (walked && row)
            k->walked[k->n_walked++] = axis;
        else if (walked)
            k->grid[k->n_grid++] = axis;
    }
    while (k->rank < 2) {
        for (uint32_t i = k->rank++; i > 0; i--)
            k->tile[i] = k->tile[i - 1];
        k->tile[0] = 0;
    }
    k->levels = k->loops.shape == KERNEL_ROWS ? levels_of(nest, &k->loops) : 0;
    k->passes = k->n_walked && k->loops.shape == KERNEL_ROWS
                    ? k->levels + (k->loops.kept & k->loops.row ? 1 : 0)
                    : 1;
}
