/* Scales, gradients of LayerNorm, padding, transposes, dropping and the online softmaxes of the high-level
 * API, against plain loops in double precision. */
#include "tests/twin/many.h"

/* v as a half holds it. */
static double halved(double v)
{
    uint16_t bits;
    dtype_store(many_dtype("half"), &bits, 0, v);
    return dtype_load(many_dtype("half"), &bits, 0);
}
static double brief(double v)
{
    uint16_t bits;
    dtype_store(many_dtype("bfloat16_t"), &bits, 0, v);
    return dtype_load(many_dtype("bfloat16_t"), &bits, 0);
}
static double whole(double v) { return v; }
typedef double Rounding(double v);

/* --- scales.cpp: x[96], w[512], f[256]: offsets, then scales --- */

static double want_dequant(const double *const in[], uint32_t i, uint32_t pitch, Rounding *scale)
{
    const double *x = in[0], *f = in[2];
    bool number = i >= 320;
    uint32_t at = number ? i - 320 : i;
    if (i >= 128 && i < 224)
        return x[i - 128] * scale(f[(i - 128) % 48]);
    if (i >= 224 && i < 320)
        return i - 224 < 48 ? x[i - 224] * scale(f[i - 224]) : 0;
    uint32_t row = at / pitch, column = at % pitch;
    if (row >= 4 || column >= 20)
        return 0;
    return x[row * 24 + column] * (number ? 0.375 : scale(f[column]));
}
static double want_dequant_float(const double *const in[], uint32_t i)
{
    return want_dequant(in, i % 448, 24, i < 448 ? whole : brief);
}
static double want_dequant_half(const double *const in[], uint32_t i)
{
    return i < 320 ? want_dequant(in, i, 32, whole) : 0;
}
static double want_dequant_brief(const double *const in[], uint32_t i)
{
    return want_dequant(in, i % 448, 32, i < 448 ? whole : brief);
}

static double anti_quant(const double *const in[], uint32_t i, Rounding *rounded)
{
    const double *f = in[2];
    uint32_t part = i / 512 % 6, at = i % 512;
    double x = in[1][at], offset = 3, scale = 0.375;
    if (part < 4) {
        uint32_t p = part < 2 ? at / 256 * 64 + at % 64 : at / (i < 3072 ? 32 : 64);
        offset = rounded(f[p]);
        scale = rounded(f[128 + p]);
    }
    return part % 2            ? x * scale
           : rounded == halved ? halved(x + offset) * scale
                               : (x + offset) * scale;
}
static double want_anti_half(const double *const in[], uint32_t i)
{
    return halved(anti_quant(in, i, halved));
}
static double want_anti_brief(const double *const in[], uint32_t i)
{
    return anti_quant(in, i, brief);
}
static double want_quant(const double *const in[], uint32_t i)
{
    const double *f = in[2];
    uint32_t part = i / 256 % 3, column = i % 64;
    double x = in[1][i % 256], scale = part == 2 ? 1.25 : halved(f[128 + column]);
    double offset = part == 0 ? halved(f[column]) : part == 1 ? -5 : 3;
    return fmax(-128, fmin(127, nearbyint(halved(halved(x * scale) + offset))));
}

T_TEST(api_scales)
{
    many_run(&(Many){.file = "scales.cpp",
                     .operand = {{"int32_t", 96, .low = -1000, .high = 1000},
                                 {"int8_t", 512, .low = -8, .high = 8},
                                 {"float", 256, .low = -4, .high = 4},
                                 {"float", 896, .want = want_dequant_float, .tolerance = 1e-6},
                                 {"half", 448, .want = want_dequant_half, .tolerance = 6e-4},
                                 {"bfloat16_t", 896, .want = want_dequant_brief, .tolerance = 5e-3},
                                 {"half", 6144, .want = want_anti_half},
                                 {"bfloat16_t", 6144, .want = want_anti_brief, .tolerance = 5e-3},
                                 {"int8_t", 1536, .want = want_quant}}});
}

/* --- norm_grads.cpp: 16 rows, 40 columns of 48 --- */

enum { GRAD_ROWS = 16, GRAD_PITCH = 48, GRAD_COLS = 40, GRAD_ALL = GRAD_ROWS * GRAD_PITCH };

static double normalised(const double *const in[], uint32_t row, uint32_t column)
{
    return (in[1][row * GRAD_PITCH + column] - in[3][row]) / sqrt(in[4][row] + 1e-3);
}
/* The gradient by the textbook's form for any mean and variance: d/dx of sum(dy gamma (x - m) / root). */
static double grad_of_x(const double *const in[], uint32_t row, uint32_t column)
{
    double root = sqrt(in[4][row] + 1e-3), sum = 0, with = 0, off = 0;
    for (uint32_t k = 0; k < GRAD_COLS; k++) {
        double g = in[0][row * GRAD_PITCH + k] * in[2][k],
               c = in[1][row * GRAD_PITCH + k] - in[3][row];
        sum += g;
        with += g * c;
        off += c;
    }
    double by_variance = -0.5 * with / pow(root, 3);
    double by_mean = -sum / root - 2 * by_variance * off / GRAD_COLS;
    double g = in[0][row * GRAD_PITCH + column] * in[2][column];
    double c = in[1][row * GRAD_PITCH + column] - in[3][row];
    return g / root + by_variance * 2 * c / GRAD_COLS + by_mean / GRAD_COLS;
}
static double want_grads(const double *const in[], uint32_t i)
{
    i %= 2 * GRAD_ALL + 2 * GRAD_PITCH;
    uint32_t row = i % GRAD_ALL / GRAD_PITCH, column = i % GRAD_PITCH;
    if (column >= GRAD_COLS)
        return 0;
    if (i < 2 * GRAD_ALL)
        return i < GRAD_ALL ? grad_of_x(in, row, column) : normalised(in, row, column);
    double sum = 0;
    for (uint32_t r = 0; r < GRAD_ROWS; r++)
        sum += in[0][r * GRAD_PITCH + column] *
               (i < 2 * GRAD_ALL + GRAD_PITCH ? normalised(in, r, column) : 1);
    return sum;
}
static void run_grads(const char *type, const char *define, double tolerance)
{
    many_run(&(Many){.file = "norm_grads.cpp",
                     .defines = {define},
                     .operand = {{type, GRAD_ALL, .low = -1, .high = 1},
                                 {type, GRAD_ALL, .low = -2, .high = 2},
                                 {type, GRAD_PITCH, .low = 0.5, .high = 1.5},
                                 {type, GRAD_ROWS, .low = -0.5, .high = 0.5},
                                 {type, GRAD_ROWS, .low = 0.5, .high = 2},
                                 {type, 2 * (2 * GRAD_ALL + 2 * GRAD_PITCH), .want = want_grads,
                                  .tolerance = tolerance}}});
}
T_TEST(api_norm_gradients)
{
    run_grads("float", "TYPE=float", 1e-5);
    run_grads("half", "TYPE=half", 4e-3);
}

/* --- pads.cpp: element i of the source is i --- */

enum { PAD_PART = 4096, PAD_TYPE = 512 + 11 * PAD_PART };

static double counting(uint32_t i) { return i; }

/* Where in fractals of 16 x 16 element (row, column) of a matrix of `rows` (whole fractals) stands. */
static uint32_t in_fractals(uint32_t rows, uint32_t row, uint32_t column)
{
    return column / 16 * rows * 16 + row * 16 + column % 16;
}
/* 012 forms: one batch, two heads of d columns, 16 rows. */
static uint32_t heads_from(uint32_t what, uint32_t d, uint32_t at, bool *filled)
{
    uint32_t wide = (d + 15) / 16 * 16, head = 0, row = 0, column = 0;
    if (what == 0 || what == 1) { /* a result with heads apart */
        head = at / (16 * wide);
        uint32_t inner = at % (16 * wide);
        row = what == 0 ? inner / 16 % 16 : inner / wide;
        column = what == 0 ? inner / 256 * 16 + inner % 16 : inner % wide;
        *filled = head < 2 && column < d;
        return in_fractals(16, row, head * d + column);
    }
    uint32_t all = (2 * d + 15) / 16 * 16;
    row = what == 2 ? at / all : at / 16 % 16;
    column = what == 2 ? at % all : at / 256 * 16 + at % 16;
    *filled = at < 16 * all && column < 2 * d;
    return column / d * 16 * wide + in_fractals(16, row, column % d);
}
static double want_turned(uint32_t turn, uint32_t at)
{
    bool filled = true;
    uint32_t from = 0;
    if (turn == 0) { /* 32 x 16 */
        filled = at < 512;
        from = at % 32 * 16 + at / 32;
    } else if (turn == 1) { /* [2, 2, 16, 32]: b, row, matrix, column */
        filled = at < 2048;
        from = (at / 1024 * 2 + at / 32 % 2) * 512 + in_fractals(16, at / 64 % 16, at % 32);
    } else if (turn == 2) { /* [1, 4, 16, 16] -> 16 matrices of 4 rows in fractals */
        filled = at / 16 % 16 < 4;
        from = at / 16 % 16 * 256 + in_fractals(16, at / 256, at % 16);
    } else {
        from = heads_from((turn - 3) % 4, turn < 7 ? 16 : 24, at, &filled);
    }
    return filled ? from : 0;
}
static double want_pads(uint32_t i, double pad)
{
    i %= PAD_TYPE;
    if (i >= 512)
        return want_turned((i - 512) / PAD_PART, (i - 512) % PAD_PART);
    uint32_t row = i % 96 / 16, column = i % 16;
    if (i < 96)
        return column < 2 || column >= 13 ? pad : row * 11 + column - 2;
    if (i < 192)
        return column >= 13 ? pad : row * 16 + column;
    return i < 192 + 66 ? (i - 192) / 11 * 16 + (i - 192) % 11 : 0;
}
static double want_words(const double *const in[], uint32_t i)
{
    (void)in;
    return want_pads(i, i / PAD_TYPE == 2 ? 0x4700 : 7);
}
static double want_longs(const double *const in[], uint32_t i)
{
    (void)in;
    return want_pads(i, i / PAD_TYPE == 2 ? 0x40E00000 : 7);
}
T_TEST(api_pads)
{
    many_run(&(Many){.file = "pads.cpp",
                     .blocks = 6,
                     .operand = {{"uint16_t", PAD_PART, .given = counting},
                                 {"uint32_t", PAD_PART, .given = counting},
                                 {"uint16_t", 3 * PAD_TYPE, .want = want_words, .zeroed = 1},
                                 {"uint32_t", 3 * PAD_TYPE, .want = want_longs, .zeroed = 1}}});
}

/* --- drops.cpp: 4 x 64, bytes, bytes 96 apart, bits, bits 32 bytes apart --- */

static double zero_or_one(uint32_t i) { return i * 7 % 3 == 1; }
static double some_bits(uint32_t i) { return i * 37 % 251; }

static double want_drops(const double *const in[], uint32_t i)
{
    uint32_t at = i % 256, row = at / 64, column = at % 64;
    double keeps = 0;
    switch (i / 256) {
    case 0: keeps = in[1][at]; break;
    case 1: keeps = in[2][row * 96 + column]; break;
    case 2: keeps = (int)in[3][at / 8] >> at % 8 & 1; break;
    default: keeps = (int)in[4][row * 32 + column / 8] >> column % 8 & 1; break;
    }
    return keeps * in[0][at] / 0.8;
}
/* Which of n elements stands at place `rank` when the largest (or smallest) comes first. */
static uint32_t ranked(const double *x, uint32_t n, uint32_t rank, bool largest)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < n; k++)
            before += largest ? x[k] > x[i] || (x[k] == x[i] && k < i)
                              : x[k] < x[i] || (x[k] == x[i] && k < i);
        if (before == rank)
            return i;
    }
    return 0;
}
/* Element i of the 5 smallest of eight rows, close together, then of the 3 largest of four rows, a block apart. */
static int top_at(const double *x, uint32_t i, uint32_t block, uint32_t *row)
{
    *row = i < 64 ? i / 5 : (i - 64) / block;
    uint32_t rank = i < 64 ? i % 5 : (i - 64) % block;
    if (i < 64)
        return *row < 8 ? (int)ranked(x + *row * 32, 30, rank, false) : -1;
    return *row < 4 && rank < 3 ? (int)ranked(x + *row * 64, 64, rank, true) : -1;
}
static double want_top(const double *const in[], uint32_t i, uint32_t block)
{
    uint32_t row;
    int at = top_at(in[0], i, block, &row);
    return at < 0 ? 0 : in[0][row * (i < 64 ? 32 : 64) + (uint32_t)at];
}
/* Indices leave as whole blocks: behind the third stand the next ones of the order. */
static double want_top_index(const double *const in[], uint32_t i)
{
    uint32_t row = (i - 64) / 8, rank = (i - 64) % 8;
    if (i < 64) {
        int at = top_at(in[0], i, 8, &row);
        return at < 0 ? 0 : 100.0 + row * 32 + at;
    }
    if (row >= 4)
        return 0;
    return row == 2 && rank < 3 ? 64 : 100.0 + ranked(in[0] + row * 64, 64, rank, true);
}
/* Blocks of 16 from back to front, two iterations across added up. */
static double blended(const double *x, uint32_t v, uint32_t lane, bool each)
{
    double sum = 0;
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t turn = v * 2 + h, block = turn * 8 + lane / 16;
        sum = halved(sum + halved(x[(31 - block) % 16 * 16 + lane % 16] * x[each ? block : turn]));
    }
    return sum;
}
static double want_blends(const double *x, uint32_t i)
{
    if (i < 256)
        return blended(x, i / 128, i % 128, false);
    uint32_t at = (i - 256) % 384, v = (i - 256) / 384, lane = at / 32 * 16 + at % 16;
    bool there = v < 2 && at < 256 && at % 32 < 16 && !(lane >= 8 && lane < 16);
    return there ? blended(x, v, lane, true) : 0;
}
static double want_drops_float(const double *const in[], uint32_t i)
{
    return i < 1024 ? want_drops(in, i) : want_top(in, i - 1024, 8);
}
static double want_drops_half(const double *const in[], uint32_t i)
{
    if (i >= 1152)
        return want_blends(in[0], i - 1152);
    return i < 1024 ? want_drops(in, i) : want_top(in, i - 1024, 16);
}
static void run_drops(const char *type, const char *define, uint32_t n, ManyWant *want,
                      double tolerance)
{
    many_run(&(Many){.file = "drops.cpp",
                     .defines = {define},
                     .operand = {{.type = type, .n = 256},
                                 {"uint8_t", 256, .given = zero_or_one},
                                 {"uint8_t", 384, .given = zero_or_one},
                                 {"uint8_t", 32, .given = some_bits},
                                 {"uint8_t", 128, .given = some_bits},
                                 {type, n, .want = want, .tolerance = tolerance},
                                 {"int32_t", 128, .want = want_top_index}}});
}
T_TEST(api_drop_out)
{
    run_drops("float", "TYPE=float", 1152, want_drops_float, 1e-6);
    run_drops("half", "TYPE=half", 2176, want_drops_half, 2e-3);
}
/* --- flashes.cpp: 16 rows of 64; 8 rows of 640 --- */

enum { FLASH_ALL = 1024, LONG = 640, LONG_ALL = 8 * LONG };

static double row_max(const double *x, uint32_t n)
{
    double m = x[0];
    for (uint32_t i = 1; i < n; i++)
        m = fmax(m, x[i]);
    return m;
}
static double row_exp(const double *x, uint32_t n, double max)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    return sum;
}
static double want_flash(const double *const in[], uint32_t i, uint32_t block)
{
    uint32_t at = i - 2 * FLASH_ALL,
             row = i < 2 * FLASH_ALL ? i % FLASH_ALL / 64 : at % (16 * block) / block;
    const double *x = in[0] + row * 64, *y = in[1] + row * 64;
    double first = row_max(x, 64), both = fmax(first, row_max(y, 64));
    double old = row_exp(x, 64, first) * exp(first - both), sum = old + row_exp(y, 64, both);
    if (i < FLASH_ALL)
        return exp(x[i % 64] - first) / row_exp(x, 64, first);
    if (i < 2 * FLASH_ALL)
        return exp(y[i % 64] - both) / sum;
    const double ends[] = {sum, both, old / sum, first};
    return ends[at / (16 * block)];
}
static double want_flash_float(const double *const in[], uint32_t i)
{
    return want_flash(in, i, 8);
}
static double want_flash_half(const double *const in[], uint32_t i)
{
    return want_flash(in, i, 16);
}

/* One row of the third form: x moved part by part, and what the step leaves. */
typedef struct Third {
    double x[LONG], mean, max, sum, factor, shift;
} Third;

static void third_move(Third *t, const double *x)
{
    double part[8] = {0}, ratio = 0.9375 / (1 - 0.9375);
    for (uint32_t i = 0; i < LONG; i++)
        part[i < 512 ? i / 64 : i % 64 / 8] += x[i] / (LONG / 8);
    t->mean = 0;
    for (int c = 0; c < 8; c++)
        t->mean += part[c] / 8;
    for (uint32_t i = 0; i < LONG; i++)
        t->x[i] = x[i] - (t->mean - part[i / (LONG / 8)]) * ratio;
}
static Third third_first(const double *x)
{
    Third t = {.factor = 0};
    third_move(&t, x);
    t.max = row_max(t.x, LONG);
    t.sum = row_exp(t.x, LONG, t.max);
    return t;
}
static Third third_next(const double *x, const Third *past)
{
    Third t = {.factor = 0};
    double ratio = 0.9375 / (1 - 0.9375);
    third_move(&t, x);
    double mean = (t.mean + past->mean) / 2, before = (past->mean - mean) * ratio;
    t.shift = (t.mean - mean) * ratio;
    t.max = fmax(row_max(t.x, LONG) + t.shift, past->max + before);
    t.factor = exp(past->max - t.max + before);
    t.sum = t.factor * past->sum + row_exp(t.x, LONG, t.max - t.shift);
    t.mean = mean;
    return t;
}
static double want_third(const double *const in[], uint32_t i)
{
    uint32_t at = i - 2 * LONG_ALL, block = at < 192 ? 8 : 16;
    uint32_t row = i < 2 * LONG_ALL ? i % LONG_ALL / LONG : (at < 192 ? at % 64 : at - 192) / block;
    Third one = third_first(in[0] + row * LONG);
    if (i < LONG_ALL)
        return exp(one.x[i % LONG] - one.max);
    Third two = third_next(in[1] + row * LONG, &one);
    if (i < 2 * LONG_ALL)
        return exp(two.x[i % LONG] - two.max + two.shift);
    const double ends[] = {two.mean, two.sum, two.max, two.factor};
    return ends[at < 192 ? at / 64 : 3];
}
T_TEST(api_flash_softmaxes)
{
    many_run(&(Many){
        .file = "flashes.cpp",
        .defines = {"TYPE=float"},
        .operand = {{.type = "float", .n = LONG_ALL},
                    {.type = "float", .n = LONG_ALL},
                    {"float", 2 * FLASH_ALL + 4 * 128, .want = want_flash_float, .tolerance = 1e-5},
                    {"half", 16, .given = counting}}});
    many_run(&(Many){
        .file = "flashes.cpp",
        .defines = {"TYPE=half"},
        .operand = {{.type = "half", .n = LONG_ALL},
                    {.type = "half", .n = LONG_ALL},
                    {"half", 2 * FLASH_ALL + 4 * 256, .want = want_flash_half, .tolerance = 2e-3},
                    {"half", 2 * LONG_ALL + 320, .want = want_third, .tolerance = 2e-3}}});
}

/* --- volumes.cpp: [2, 20, 3, 35 pixels at 48]; gamma functions of 256; sums of a ^ b --- */

enum {
    VOLUME = 2 * 20 * 3 * 48,
    BLOCKS = 2 * 3 * 32 * 35,
    FRACTALS = 3 * 32 * 35 * 16,
    VOLUME_BLOCKS = BLOCKS + VOLUME,
    VOLUME_FRACTALS = FRACTALS + VOLUME
};

static double in_volume(uint32_t image, uint32_t channel, uint32_t depth, uint32_t pixel)
{
    bool there = image < 2 && channel < 20;
    return there ? ((image * 20 + channel) * 3 + depth) * 48 + pixel : 0;
}
/* Back in planes: pixels as they were, zeros behind them. */
static double back_in_planes(uint32_t at) { return at % 48 < 35 ? at : 0; }
static double want_blocks(const double *const in[], uint32_t i)
{
    (void)in;
    i %= VOLUME_BLOCKS;
    if (i >= BLOCKS)
        return back_in_planes(i - BLOCKS);
    uint32_t pixel = i / 16 % 35, group = i / 560 % 2, depth = i / 1120 % 3;
    return in_volume(i / 3360, group * 16 + i % 16, depth, pixel);
}
static double want_fractals(const double *const in[], uint32_t i)
{
    (void)in;
    i %= VOLUME_FRACTALS;
    if (i >= FRACTALS)
        return back_in_planes(i - FRACTALS);
    uint32_t image = i / 16 % 16, pixel = i / 256 % 35, group = i / 8960 % 2;
    return in_volume(image, group * 16 + i % 16, i / 17920, pixel);
}
static double digamma_of(double x)
{
    double sum = 0;
    if (x < 0)
        return digamma_of(1 - x) - M_PI / tan(M_PI * x);
    for (; x < 30; x++)
        sum -= 1 / x;
    return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * pow(x, 4));
}
/* From -6.4 to 12.7, never a whole number; then large ones. */
static double around(uint32_t i) { return i < 200 ? -6.45 + i * 0.1 : (i - 190) * 7.25; }

static double want_gammas(const double *const in[], uint32_t i)
{
    return i < 256 ? lgamma(in[1][i]) : digamma_of(in[1][i - 256]);
}
static double want_gammas_half(const double *const in[], uint32_t i)
{
    if (i >= 512)
        return i < 528 ? 65504 : INFINITY;
    double x = halved(in[1][i % 256]);
    return i < 256 ? lgamma(x) : digamma_of(x);
}
static double want_xor_sums(const double *const in[], uint32_t i)
{
    (void)in;
    int sum = 0;
    for (int k = 0; i == 0 && k < 200; k++)
        sum += (-100 + 3 * k) ^ (50 - 2 * k);
    return i == 16 ? 32767 : fmax(-32768, fmin(32767, sum));
}
T_TEST(api_volumes_and_gammas)
{
    many_run(&(Many){.file = "volumes.cpp",
                     .blocks = 5,
                     .operand = {{"uint16_t", VOLUME, .given = counting},
                                 {"float", 256, .given = around},
                                 {"uint16_t", 4 * VOLUME_BLOCKS, .want = want_blocks},
                                 {"uint16_t", 4 * VOLUME_FRACTALS, .want = want_fractals},
                                 {"float", 512, .want = want_gammas, .tolerance = 2e-5},
                                 {"half", 544, .want = want_gammas_half, .tolerance = 2e-3},
                                 {"int16_t", 32, .want = want_xor_sums}}});
}
