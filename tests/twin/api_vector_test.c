/* Vector calls seldom seen: conversions at the end of arithmetic, extremes with indices and registers,
 * the compare register, sorting by single instructions, the softmax family's other members, layouts. */
#include "tests/twin/many.h"

static double f16(double v) { return (double)half_to_float(half_from_double(v)); }
static double clamp(double v, double low, double high)
{
    return isnan(v) ? 0 : fmin(high, fmax(low, v));
}

/* --- quantise.cpp: rows of 128 bytes, rows of 128 halves --- */

static double want_bytes(const double *const in[], uint32_t at)
{
    uint32_t i = at % 128;
    double x = in[0][i], y = in[1][i], n = in[2][i], m = in[3][i];
    switch (at / 128) {
    case 0: return clamp(rint(f16(x * y)), -128, 127);
    case 1: return (double)(int8_t)(uint8_t)clamp(rint(f16(x * y)), 0, 255);
    case 2: return clamp(rint(fmax(0, f16(x + y))), -128, 127);
    case 3: return clamp(rint(fmax(0, f16(x - y))), -128, 127);
    case 4: return clamp(fmax(0, n + m), -128, 127);
    case 5: return clamp(rint(n * 0.5 + 3), -128, 127);
    case 6: return (double)(int8_t)(uint8_t)clamp(rint(n * 0.25 + 100), 0, 255);
    default: break;
    }
    /* one block of 16 in the upper half of each block */
    uint32_t byte = at - 7 * 128, block = byte / 32, place = byte % 32;
    if (place < 16)
        return 0;
    place -= 16;
    return clamp(rint(in[2][block * 16 + place] * 0.125 * (place + 1) + place - 8), -128, 127);
}
static double want_halves(const double *const in[], uint32_t at)
{
    uint32_t i = at % 128;
    double x = in[0][i], y = in[1][i], w = in[4][i];
    switch (at / 128) {
    case 0:
    case 4: return f16(w * 0.5);
    case 1: return f16(fmax(0, 2 * w * 0.5));
    case 2: return fmax(0, f16(f16(x * x) + y));
    default: return fmax(0, f16(f16(y * x) + x));
    }
}

T_TEST(api_conversions_in_arithmetic)
{
    many_run(&(Many){.file = "quantise.cpp",
                     .operand = {{"half", 128, .low = -20, .high = 20},
                                 {"half", 128, .low = -20, .high = 20},
                                 {"int16_t", 128, .low = -600, .high = 600},
                                 {"int16_t", 128, .low = -600, .high = 600},
                                 {"int32_t", 128, .low = -2000, .high = 2000},
                                 {"int8_t", 9 * 128, .want = want_bytes},
                                 {"half", 5 * 128, .want = want_halves, .tolerance = 1e-3}}});
}

/* --- extremes.cpp: 1024 elements in repeats of `lanes` --- */

/* The extreme of every `step`th element from `first` in [at, at + n), and where it stands. */
static double extreme(const double *x, uint32_t at, uint32_t n, uint32_t first, uint32_t step,
                      bool most, uint32_t *where)
{
    uint32_t best = at + first;
    for (uint32_t i = at + first; i < at + n; i += step)
        if (most ? x[i] > x[best] : x[i] < x[best])
            best = i;
    if (where)
        *where = best - at;
    return x[best];
}
static double total(const double *x, uint32_t at, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = at; i < at + n; i++)
        sum += x[i];
    return sum;
}
static double want_extremes(const double *const in[], uint32_t i, uint32_t lanes)
{
    const double *x = in[0];
    uint32_t repeats = 1024 / lanes, block = lanes / 8, r = i % repeats, at = 0;
    if (i < repeats)
        return extreme(x, r * lanes, lanes, 0, 1, false, NULL);
    if (i < 3 * repeats) {
        double v = extreme(x, r * lanes, lanes, 1, 2, false, &at);
        return i < 2 * repeats ? v : at;
    }
    if (i < 4 * repeats) {
        (void)extreme(x, r * lanes, 8, 4, 1, true, &at);
        return at;
    }
    i -= 4 * repeats;
    if (i < 3) { /* the register holds the greatest of all repeats */
        double most = x[4];
        for (uint32_t k = 0; k < 1024; k++)
            most = k % lanes >= 4 && k % lanes < 8 ? fmax(most, x[k]) : most;
        return most;
    }
    if (i < 11)
        return extreme(x, (i - 3) * block, block, 0, 1, false, NULL);
    double four = 0;
    for (uint32_t k = 0; k < repeats; k++)
        four += total(x, k * lanes + 4, 4);
    switch (i - 11) {
    case 0: return total(x, 4, 4);
    case 1: return x[1];
    case 2: return extreme(x, 0, 1024, 0, 1, false, NULL);
    case 3: (void)extreme(x, 0, 1024, 0, 1, false, &at); return at;
    case 4: return extreme(x, 0, 1024, 1, 2, false, NULL);
    case 5: (void)extreme(x, 0, 1024, 1, 2, false, &at); return at;
    case 6: {
        double most = x[0];
        for (uint32_t k = 0; k < 1024; k++)
            most = k % lanes < lanes / 2 ? fmax(most, x[k]) : most;
        return most;
    }
    case 7: return four;
    case 8:
    case 9: return total(x, 0, lanes);
    case 11: return extreme(x, 0, lanes, 0, 1, true, NULL);
    default: return i - 11 == 10 || i - 11 == 12 ? 1 : 0;
    }
}
static double want_extremes_float(const double *const in[], uint32_t i)
{
    return want_extremes(in, i, 64);
}
static double want_extremes_half(const double *const in[], uint32_t i)
{
    return want_extremes(in, i, 128);
}

T_TEST(api_extremes_and_registers)
{
    many_run(&(Many){.file = "extremes.cpp",
                     .defines = {"TYPE=float", "LEN=1024", "OUT_LEN=96"},
                     .operand = {{.type = "float", .n = 1024},
                                 {.type = "float", .n = 8},
                                 {.type = "float", .n = 8},
                                 {"float", 96, .want = want_extremes_float, .tolerance = 1e-5}}});
    many_run(&(Many){.file = "extremes.cpp",
                     .defines = {"TYPE=half", "LEN=1024", "OUT_LEN=96"},
                     .operand = {{.type = "half", .n = 1024},
                                 {.type = "half", .n = 8},
                                 {.type = "half", .n = 8},
                                 {"half", 96, .want = want_extremes_half, .tolerance = 5e-3}}});
}

/* --- compare_register.cpp --- */

static double want_lesser(const double *const in[], uint32_t i)
{
    return i < 768 ? fmin(in[0][i], in[1][i]) : in[0][i] <= 0.25 ? in[0][i] : 0.25;
}

T_TEST(api_the_compare_register)
{
    many_run(&(Many){.file = "compare_register.cpp",
                     .defines = {"TYPE=float"},
                     .operand = {{.type = "float", .n = 1024},
                                 {.type = "float", .n = 1024},
                                 {.type = "float", .n = 8},
                                 {"float", 1024, .want = want_lesser}}});
}

/* --- sorting.cpp --- */

/* The index of the element that is k-th from the top of [at, at + n); equals in order of place. */
static uint32_t ranked(const double *x, uint32_t at, uint32_t n, uint32_t k)
{
    for (uint32_t i = at; i < at + n; i++) {
        uint32_t better = 0;
        for (uint32_t j = at; j < at + n; j++)
            better += x[j] > x[i] || (x[j] == x[i] && j < i);
        if (better == k)
            return i;
    }
    return 0;
}
/* Merging the sorted runs [0, 32) and [32, 64) until one is used up: what each gave. */
static void merge_until_empty(const double *x, uint32_t *a, uint32_t *b)
{
    for (*a = *b = 0; *a < 32 && *b < 32;) {
        bool first = x[ranked(x, 0, 32, *a)] >= x[ranked(x, 32, 32, *b)];
        *(first ? a : b) += 1;
    }
}
static double want_sorted(const double *const in[], uint32_t i)
{
    uint32_t a, b;
    merge_until_empty(in[0], &a, &b);
    if (i < 128)
        return in[0][ranked(in[0], 0, 128, i)];
    return i - 128 < a + b ? in[0][ranked(in[0], 0, 64, i - 128)] : 0;
}
static double want_places(const double *const in[], uint32_t i)
{
    uint32_t a, b;
    merge_until_empty(in[0], &a, &b);
    const double counts[] = {a, b, a + b, a + b, 128, 256, 0, 0};
    return i < 128 ? ranked(in[0], 0, 128, i) : counts[i - 128];
}
static double want_proposals(const double *const in[], uint32_t i)
{
    return in[1][ranked(in[1], 0, 64, i)];
}

T_TEST(api_sorting_by_instructions)
{
    many_run(&(Many){.file = "sorting.cpp",
                     .operand = {{.type = "float", .n = 128},
                                 {.type = "half", .n = 64},
                                 {"float", 192, .want = want_sorted, .zeroed = 1},
                                 {"int32_t", 136, .want = want_places},
                                 {"half", 64, .want = want_proposals}}});
}

/* --- softmaxes.cpp: 16 rows of 64 --- */

static double row_most(const double *x, uint32_t r)
{
    double most = x[r * 64];
    for (uint32_t k = 0; k < 64; k++)
        most = fmax(most, x[r * 64 + k]);
    return most;
}
static double row_exps(const double *x, uint32_t r, double most)
{
    double sum = 0;
    for (uint32_t k = 0; k < 64; k++)
        sum += exp(x[r * 64 + k] - most);
    return sum;
}
static double want_softmaxes(const double *const in[], uint32_t i, uint32_t block)
{
    const double *x = in[0], *y = in[1];
    if (i < 1024) {
        uint32_t r = i / 64;
        return exp(x[i] - row_most(x, r)) / row_exps(x, r, row_most(x, r));
    }
    i -= 1024;
    if (i < 16 * 3 * block) {
        uint32_t r = i / (3 * block);
        double first = row_most(x, r), most = fmax(first, row_most(y, r));
        double stats[] = {row_exps(x, r, most) + row_exps(y, r, most), most, exp(first - most)};
        return stats[i / block % 3];
    }
    i -= 16 * 3 * block;
    if (i < 1024)
        return exp(y[i] - fmax(row_most(x, i / 64), row_most(y, i / 64)));
    i -= 1024;
    if (i < 16 * block) {
        double dot = 0;
        for (uint32_t k = 0; k < 64; k++)
            dot += x[i / block * 64 + k] * y[i / block * 64 + k];
        return dot;
    }
    i -= 16 * block;
    return i < 1024 ? (i / 64 == 3 ? 0 : x[i]) : 1;
}
static double want_softmaxes_float(const double *const in[], uint32_t i)
{
    return want_softmaxes(in, i, 8);
}
static double want_softmaxes_half(const double *const in[], uint32_t i)
{
    return want_softmaxes(in, i, 16);
}

T_TEST(api_the_softmax_family)
{
    many_run(
        &(Many){.file = "softmaxes.cpp",
                .defines = {"TYPE=float", "OUT_LEN=3592"},
                .operand = {{.type = "float", .n = 1024},
                            {.type = "float", .n = 1024},
                            {.type = "float", .n = 8},
                            {"float", 3592, .want = want_softmaxes_float, .tolerance = 2e-6}}});
    many_run(&(Many){.file = "softmaxes.cpp",
                     .defines = {"TYPE=half", "OUT_LEN=4112"},
                     .operand = {{"half", 1024, .low = -1, .high = 1},
                                 {"half", 1024, .low = -1, .high = 1},
                                 {.type = "half", .n = 8},
                                 {"half", 4112, .want = want_softmaxes_half, .tolerance = 4e-3}}});
}

/* --- layouts.cpp --- */

static double want_moved(const double *const in[], uint32_t i)
{
    const double *x = in[0];
    uint32_t r = i % 256 / 16, c = i % 16;
    switch (i / 256) {
    case 0: return x[c * 16 + r]; /* transposed */
    case 1: return x[r * 16 + c]; /* and back */
    case 2: return x[r];          /* a column over rows */
    default: return x[c];         /* a row over rows */
    }
}
static double want_moved_bytes(const double *const in[], uint32_t i)
{
    /* rows of 32: each half is 16 x 16, transposed by itself */
    uint32_t r = i / 32, c = i % 16, high = i % 32 / 16;
    return in[1][c * 32 + high * 16 + r];
}
static double want_slices(const double *const in[], uint32_t i)
{
    const double *x = in[0];
    if (i < 64)
        return x[(2 + i / 16) * 32 + 16 + i % 16];
    if (i < 80) /* two in front, four behind */
        return i < 66 || i >= 76 ? -3 : x[i - 66];
    return x[2 * 32 + 16 + i - 80];
}

static double want_images(const double *const in[], uint32_t i)
{
    uint32_t k = i % 48;
    return i < 96 ? in[0][i / 48 * 48 + k % 3 * 16 + k / 3] : in[0][i - 96];
}
static double want_byte_image(const double *const in[], uint32_t i)
{
    return in[1][i % 4 * 32 + i / 4];
}

T_TEST(api_layouts)
{
    many_run(&(Many){.file = "layouts.cpp",
                     .operand = {{.type = "half", .n = 256},
                                 {"int8_t", 512, .low = -100, .high = 100},
                                 {"half", 1024, .want = want_moved},
                                 {"int8_t", 512, .want = want_moved_bytes},
                                 {"half", 96, .want = want_slices},
                                 {"half", 192, .want = want_images},
                                 {"int8_t", 128, .want = want_byte_image}}});
}

/* --- edges.cpp --- */

enum { EDGES = 16 };
static double edge(uint32_t i)
{
    static const double values[EDGES] = {NAN,     INFINITY, -INFINITY,    0.0,    -0.0,    1.0,
                                         -1.0,    0.5,      -2.5,         3.4e38, -3.4e38, 1e-40,
                                         65504.0, 70000.0,  2147483648.0, -3e9};
    return values[i % EDGES];
}
static double other_edge(uint32_t i) { return edge(i / EDGES * 5 + 3 + i % EDGES * 7); }

/* NaN wins, +0 is above -0. */
static double edge_max(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}
static double edge_min(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
static double want_edges(const double *const in[], uint32_t at)
{
    float x = (float)in[0][at % 64], y = (float)in[1][at % 64];
    switch (at / 64) {
    case 0: return edge_max((double)x, (double)y);
    case 1: return edge_min((double)x, (double)y);
    case 2: return isnan(x) ? NAN : x > 0 ? (double)x : 0;
    case 3: return (double)(x + y);
    case 4: return (double)(x * y);
    case 5: return (double)(x / y);
    case 6: return (double)(float)exp((double)x);
    case 7: return (double)(float)log((double)x);
    case 8: return (double)sqrtf(x);
    case 9: return (double)(1 / x);
    case 10: return f16((double)x);
    case 11:
        return isnan(x) ? 0 : (double)(float)trunc(clamp((double)x, -2147483648.0, 2147483647.0));
    case 12: return x >= y ? (double)x : 5;
    case 13: return (double)fabsf(x);
    case 14: return edge_max((double)x, 0.5);
    default: return edge_min((double)x, 0.5);
    }
}

T_TEST(api_values_at_the_edges)
{
    many_run(&(Many){.file = "edges.cpp",
                     .defines = {"TYPE=float", "LEN=64", "OUT_LEN=1024"},
                     .operand = {{"float", 64, .given = edge},
                                 {"float", 64, .given = other_edge},
                                 {.type = "float", .n = 8},
                                 {"float", 1024, .want = want_edges, .tolerance = 1e-6}}});
}
