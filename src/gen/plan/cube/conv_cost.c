/* Sizes of a convolution's tiles by predicted cycles. In: a convolution, a chip. Out: the tiles of the fastest
 * kernel. Costs are counted as for products (product_cost.c): engines side by side, the slowest counts. */
#include "gen/plan/cube/conv.h"

#include "gen/plan/cube/product.h"

enum { UNIT = 16, MOST_STRIDE = 65535 };

static double constant(enum NpuConstant c) { return npu_constants[c].value; }
static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }
static double larger(double a, double b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t taps_of(const Taps *t) { return t->k[0] * t->k[1] * t->k[2]; }

/* Elements from a channel to the next. */
static int64_t plane_of(const Taps *t) { return t->phases * t->in[0] * t->in[1] * t->in[2]; }

/* Chooses tiles of L1 and L0 that fit twice (double buffering). False: none fit. */
static bool fit_tiles(const Taps *t, const NpuChip *chip, ConvBlocks *b)
{
    int64_t size = (int64_t)dtype_bytes(t->dtype), wide = b->m > b->n ? b->m : b->n;
    int64_t l0 = chip->l0a / 2 / (wide * size) / UNIT * UNIT;
    int64_t columns = b->shared ? b->shared : b->n;
    int64_t l1 = chip->l1 / 2 / ((b->m + columns) * size) / UNIT * UNIT;
    int64_t all = parts(t->channels * taps_of(t), UNIT) * UNIT;
    b->k0 = smaller(smaller(l0, 256), all);
    if (b->k0 < UNIT || l1 < b->k0 || b->m * b->n * 4 > chip->l0c)
        return false;
    b->taps = b->shared ? 0 : smaller(smaller(l1, 512) / t->channels, taps_of(t));
    if (b->taps < 2 && taps_of(t) > 1)
        b->taps = 0;
    int64_t deep = smaller(smaller(l1, 512), parts(t->channels, UNIT) * UNIT) / b->k0 * b->k0;
    b->k1 = b->taps ? b->taps * t->channels : deep;
    b->c_depth = b->m * b->n * 8 <= chip->l0c ? 2 : 1;
    return b->k1 > 0 && (b->taps || b->k1 >= b->k0);
}

static double copy_cycles(double rate, int64_t runs, int64_t run)
{
    return (double)runs *
           (((double)run + constant(NPU_C_BURST)) / rate + constant(NPU_C_ND2NZ_ROW));
}

static double block_cycles(const Taps *t, const NpuChip *chip, const ConvBlocks *b)
{
    /* A copy of its own for each channel whose distance no copy takes. */
    enum { COPY = 40 };
    int64_t size = (int64_t)dtype_bytes(t->dtype), c0 = 32 / size, k = t->channels * taps_of(t);
    int64_t m = smaller(b->m, t->outputs), lines = b->rows ? smaller(b->rows, t->out[1]) : 1;
    int64_t n = b->rows ? lines * t->in[2] : smaller(b->n, t->out[2]);
    int64_t loads = b->taps ? parts(taps_of(t), b->taps) : taps_of(t) * parts(t->channels, b->k1);
    int64_t deep = k / loads + (k % loads != 0), steps = loads * parts(deep, b->k0);
    double rate = product_rate(chip, t->dtype, t->hf32);
    double mte2_rate = (constant(NPU_C_GM_PORT_AIC) + chip->l2_read_rate) / 2;
    double fractals = (double)(parts(m, 16) * parts(n, 16) * parts(deep, c0) * loads);
    double mac = fractals * 256.0 * (double)c0 / rate + (double)steps * constant(NPU_C_MAD_START);
    int64_t rows = b->shared ? k / t->k[1] : k; /* of the right side */
    double mte2 = copy_cycles(mte2_rate, m * loads, deep * size) +
                  copy_cycles(mte2_rate, rows, (b->shared ? b->shared : n) * size) +
                  (plane_of(t) > MOST_STRIDE ? (double)rows * COPY : 0);
    double mte1 = (double)(k * size) *
                  ((double)parts(m, 16) * 16 / chip->l1_l0a_rate +
                   (double)parts(n, 16) * 16 / chip->l1_l0b_rate) /
                  constant(NPU_C_L0_USED);
    int64_t run = (b->rows ? t->out[2] : n) * size;
    double fix = (double)(m * lines) * ((double)run + constant(NPU_C_BURST)) /
                 constant(NPU_C_FIX_GM);
    double inside = larger(larger(mac, mte2), larger(mte1, product_scalar(steps, loads)));
    return b->c_depth > 1 ? larger(inside, fix) : inside + fix;
}

static double predict(const Taps *t, const NpuChip *chip, const ConvBlocks *b)
{
    int64_t places = b->rows ? parts(t->out[1], b->rows) : t->out[1] * parts(t->out[2], b->n);
    int64_t blocks = t->images * t->groups * t->out[0] * places * parts(t->outputs, b->m);
    return (double)parts(blocks, chip->aic) * block_cycles(t, chip, b) +
           constant(NPU_C_MTE2_LATENCY) +
           (double)smaller(blocks, chip->aic) * constant(NPU_C_CORE_US) * chip->mhz;
}

typedef struct List {
    ConvBlocks *at;
    uint32_t n, most;
} List;

/* Behind those that are faster; the last of `most` is dropped. */
static void try_blocks(const Taps *t, const NpuChip *chip, ConvBlocks b, List *list)
{
    if (!fit_tiles(t, chip, &b))
        return;
    b.cycles = predict(t, chip, &b);
    uint32_t at = list->n;
    for (; at && b.cycles < list->at[at - 1].cycles; at--)
        if (at < list->most)
            list->at[at] = list->at[at - 1];
    if (at < list->most)
        list->at[at] = b;
    list->n += list->n < list->most;
}

/* Columns of a tile of L1 from which `rows` rows of places are read for all rows of the window; 0: these lie elsewhere, or
 * there is one. */
static int64_t shared_columns(const Taps *t, int64_t rows)
{
    bool plain = t->k[0] == 1 && t->k[1] > 1 && t->phases == 1;
    return plain ? (rows + (t->k[1] - 1) * t->dilation[1]) * t->in[2] : 0;
}

uint32_t conv_list(const Taps *t, const NpuChip *chip, ConvBlocks *out, uint32_t most)
{
    static const int64_t sizes[] = {16, 32, 48, 64, 96, 128, 192, 256};
    static const int64_t columns[] = {16, 32, 64, 128, 192, 256, 384, 512};
    enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 512 };
    List list = {out, 0, most};
    bool whole = t->in[2] % UNIT == 0; /* rows begin where a part of L0C can be stored */
    for (size_t i = 0; i < SIZES && (i == 0 || sizes[i - 1] < t->outputs); i++) {
        for (int64_t rows = 1; whole && rows <= t->out[1] && rows * t->in[2] <= MOST; rows++) {
            ConvBlocks b = {.m = sizes[i], .rows = rows, .n = rows * t->in[2]};
            try_blocks(t, chip, b, &list);
            b.shared = shared_columns(t, rows);
            if (b.shared)
                try_blocks(t, chip, b, &list);
        }
        for (size_t k = 0; k < SIZES && (k == 0 || columns[k - 1] < t->out[2]); k++)
            try_blocks(t, chip, (ConvBlocks){.m = sizes[i], .n = columns[k]}, &list);
    }
    return list.n;
}
