/* Sizes of tiles by predicted cycles. In: a product, a chip. Out: the tiles of the fastest kernel.
 *
 * A block is a tile of L0C and all of its k. What a core spends on one, all engines side by side:
 *
 *     M       fractals of the block, a start per mmad
 *     MTE2    tiles of a and b into L1, at what the port or L2 gives
 *     MTE1    the same bytes from L1 into L0
 *     FIX     the block to GM; beside the next one's products where L0C holds two
 *     scalar  the calls of the queues that the tiles of L1, L0 and L0C pass through
 *
 * The slowest of them counts, for as many blocks as the busiest core has, and the first tile's way in.
 * The whole chip cannot read faster than GM gives what every core reads for the first time. */
#include "gen/plan/cube/product.h"

#include <math.h>

typedef struct Costs {
    const NpuChip *chip;
    int64_t size;                 /* bytes of an element */
    double per_fractal, mte2, l0; /* cycles; bytes per cycle */
} Costs;

static double constant(enum NpuConstant c) { return npu_constants[c].value; }
static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }
static double larger(double a, double b) { return a > b ? a : b; }

double product_rate(const NpuChip *chip, DType dtype, bool hf32)
{
    return chip->cube_rate / (dtype != DT_F32 ? 1.0 : hf32 ? 2.0 : 4.0);
}

static Costs costs_for(const Product *p, const NpuChip *chip)
{
    Costs c = {.chip = chip, .size = (int64_t)dtype_bytes(p->dtype)};
    /* A fractal is 16 x 16 x (32 bytes). */
    double rate = product_rate(chip, p->dtype, p->hf32);
    c.per_fractal = 16.0 * 16.0 * (32.0 / (double)c.size) / rate;
    c.l0 = constant(NPU_C_L0_USED);
    return c;
}

/* Tiles of L0 and L1 that hold a block of this size, doubled. False: there are none. */
static bool fit_tiles(const Product *p, const Costs *c, Blocks *b)
{
    int64_t wide = b->m > b->n ? b->m : b->n, unit = 16;
    int64_t l0 = c->chip->l0a / 2 / (wide * c->size) / unit * unit;
    b->k0 = l0 > 256 ? 256 : l0;
    int64_t all = round_up(p->k, unit);
    b->k0 = b->k0 > all ? all : b->k0;
    if (b->k0 < unit || b->m * b->n * 4 > c->chip->l0c)
        return false;
    int64_t l1 = c->chip->l1 / 2 / ((b->m + b->n) * c->size) / b->k0 * b->k0;
    int64_t most = b->k0 * 4 > 512 ? b->k0 * 4 : 512 / b->k0 * b->k0;
    b->k1 = l1 > most ? most : l1;
    all = round_up(p->k, b->k0);
    b->k1 = b->k1 > all ? all : b->k1;
    if (b->k1 < b->k0)
        return false;
    if (b->slices == 1) /* in equal steps */
        b->k1 = round_up(parts(p->k, parts(p->k, b->k1)), b->k0);
    b->c_depth = b->m * b->n * 8 <= c->chip->l0c ? 2 : 1;
    return true;
}

/* Rows of a tile that is not transposed lie k apart: short runs cost their start, and each is laid out anew. */
static double copy_cycles(const Costs *c, int64_t runs, int64_t run)
{
    double bytes = (double)(run * c->size);
    return (double)runs * ((bytes + constant(NPU_C_BURST)) / c->mte2 + constant(NPU_C_ND2NZ_ROW));
}

double product_scalar(int64_t steps, int64_t loads)
{
    enum { CALLS = 4, TILES = 2, ISSUES = 8 }; /* a tile is allocated, handed on, taken and freed */
    double call = constant(NPU_C_QUEUE_CALL) * CALLS, issue = constant(NPU_C_ISSUE) * ISSUES;
    return (double)(steps + loads) * (TILES * call + issue) + call;
}

static double block_cycles(const Product *p, const Costs *c, const Blocks *b, int64_t k)
{
    int64_t m = b->m < p->m ? b->m : p->m, n = b->n < p->n ? b->n : p->n;
    int64_t steps = parts(k, b->k0), loads = parts(k, b->k1);
    int64_t c0 = 32 / c->size, deep = k < b->k1 ? k : b->k1;
    double fractals = (double)(parts(m, 16) * parts(n, 16) * parts(k, c0));
    double mac = fractals * c->per_fractal + (double)steps * constant(NPU_C_MAD_START);
    double mte2 = (double)loads * (copy_cycles(c, p->a.turned ? deep : m, p->a.turned ? m : deep) +
                                   copy_cycles(c, p->b.turned ? n : deep, p->b.turned ? deep : n));
    double mte1 = (double)(k * c->size) *
                  ((double)round_up(m, 16) / c->chip->l1_l0a_rate +
                   (double)round_up(n, 16) / c->chip->l1_l0b_rate) /
                  c->l0;
    bool widened = b->slices > 1 || p->end != PRODUCT_STORED;
    double fix = (double)(m * n * (widened ? 4 : (int64_t)dtype_bytes(p->out))) /
                 constant(NPU_C_FIX_GM);
    double inside = larger(larger(mac, mte2), larger(mte1, product_scalar(steps, loads)));
    return b->c_depth > 1 ? larger(inside, fix) : inside + fix;
}

/* The partial products of slices go out, in again and out. */
static double slice_cycles(const Product *p, const Costs *c, const Blocks *b)
{
    if (b->slices == 1)
        return 0;
    double bytes = (double)(p->batch * p->m * p->n) * 4;
    double rate = (double)c->chip->aic * c->chip->l2_read_rate;
    return constant(NPU_C_SYNC_ALL) + constant(NPU_C_PROLOGUE) +
           bytes * (double)(b->slices + 1) / rate * 2;
}

static bool in_l2(const Product *p, const NpuChip *chip)
{
    double bytes = (double)(p->batch * (p->m + p->n) * p->k) * (double)dtype_bytes(p->dtype);
    return bytes < constant(NPU_C_L2_USED) * chip->l2_mib * 1048576.0;
}

/* Bytes per cycle of MTE2: what is read for the first time comes from GM, the rest from L2, where others read it, too. Of cores
 * that go through the same k side by side the first one reads all of it from GM, and the others wait for it in the end; slices
 * that are dealt out to all cores alike are read by one core each, which finds them in L2 the next time if that holds all. */
static double read_rate(const Product *p, const Costs *c, const Blocks *b, int64_t turns)
{
    double m = (double)p->m, n = (double)p->n;
    double read = m * (double)parts(p->n, b->n) + n * (double)parts(p->m, b->m);
    bool again = turns > 1 && (b->slices == 1 || b->kept);
    double first = again ? (m + n) / read : 1;
    return 1 / (first / constant(NPU_C_GM_PORT_AIC) +
                (1 - first) * constant(NPU_C_SAME_LINE_AIC) / c->chip->l2_read_rate);
}

static double predict(const Product *p, const Costs *costs, const Blocks *b)
{
    Costs own = *costs, *c = &own;
    int64_t k = parts(p->k, b->slices);
    int64_t blocks = p->batch * parts(p->m, b->m) * parts(p->n, b->n) * b->slices;
    int64_t turns = parts(blocks, c->chip->aic);
    own.mte2 = read_rate(p, costs, b, turns);
    int64_t first = k < b->k1 ? k : b->k1;
    double fill = constant(NPU_C_MTE2_LATENCY) + copy_cycles(c, b->m + b->n, first);
    double core = (double)turns * block_cycles(p, c, b, k) + fill + slice_cycles(p, c, b);
    double bytes = (double)c->size * (double)p->batch *
                   ((double)p->m * (double)p->k + (double)p->k * (double)p->n +
                    (double)p->m * (double)p->n);
    double gm = bytes / ((double)c->chip->aic * constant(NPU_C_GM_PORT_AIC));
    double busy = (double)(blocks < c->chip->aic ? blocks : c->chip->aic);
    /* Where memory is the limit, the tiles that leave the cores the most time. */
    enum { SHARE = 64 };
    return larger(core, gm) + core / SHARE + busy * constant(NPU_C_CORE_US) * c->chip->mhz;
}

static int64_t most_slices(const Product *p, const NpuChip *chip)
{
    enum { SHORT = 512 };
    int64_t most = p->k / SHORT;
    if (p->batch > 1 || most < 2 || p->end == PRODUCT_ROWS)
        return 1;
    return most > chip->aic ? chip->aic : most;
}

/* Two cores whose Fixpipe writes into the same 512 bytes of GM may lose one of the writes (seen on boards:
 * FlashRT, int8 products): tiles beside each other are whole such lines. */
static bool keeps_lines(const Product *p, const Blocks *b)
{
    enum { LINE = 512 };
    bool widened = b->slices > 1 || p->end != PRODUCT_STORED;
    int64_t size = widened ? 4 : (int64_t)dtype_bytes(p->out);
    return b->n >= p->n || b->n * size % LINE == 0;
}

/* The fastest for this size of tiles and so many slices of k. False: there is none. */
static bool best_slices(const Product *p, const Costs *c, Blocks b, int64_t from, int64_t to,
                        Blocks *best)
{
    *best = (Blocks){0};
    b.kept = in_l2(p, c->chip);
    for (b.slices = from; b.slices <= to; b.slices++) {
        if (!keeps_lines(p, &b) || !fit_tiles(p, c, &b))
            continue;
        b.cycles = predict(p, c, &b);
        if (!best->m || b.cycles < best->cycles)
            *best = b;
    }
    return best->m;
}

/* Behind those that are faster; the last of `most` is dropped. */
static uint32_t insert(Blocks *out, uint32_t n, uint32_t most, Blocks b)
{
    uint32_t at = n < most ? n : most;
    for (; at && b.cycles < out[at - 1].cycles; at--)
        if (at < most)
            out[at] = out[at - 1];
    if (at < most)
        out[at] = b;
    return n < most ? n + 1 : most;
}

uint32_t product_list(const Product *p, const NpuChip *chip, Blocks *out, uint32_t most)
{
    static const int64_t sizes[] = {16, 32, 48, 64, 80, 96, 128, 160, 192, 256, 512, 1024};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    Costs c = costs_for(p, chip);
    int64_t all = most_slices(p, chip);
    uint32_t n = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < SIZES; j++) {
            Blocks b = {.m = sizes[i], .n = sizes[j]}, best;
            bool past = (i && sizes[i - 1] >= p->m) || (j && sizes[j - 1] >= p->n);
            bool parted = p->end == PRODUCT_ROWS && sizes[j] < p->n;
            if (past || parted)
                continue;
            if (best_slices(p, &c, b, 1, 1, &best))
                n = insert(out, n, most, best);
            if (best_slices(p, &c, b, 2, all < chip->aic ? all : chip->aic - 1, &best))
                n = insert(out, n, most, best);
            if (all == chip->aic && best_slices(p, &c, b, all, all, &best))
                n = insert(out, n, most, best); /* one for each core */
        }
    return n;
}
