/* Normalisations over batches, groups and in parts, running sums, reductions along an axis, against plain
 * loops in double precision. */
#include "tests/twin/many.h"

enum { ROWS = 16, COLS = 64, ALL = ROWS * COLS };

typedef struct Moments {
    double mean, variance;
} Moments;

/* The moments of n elements of x from `at` on, `step` apart. */
static Moments moments(const double *x, uint32_t at, uint32_t n, uint32_t step)
{
    Moments m = {0, 0};
    for (uint32_t i = 0; i < n; i++)
        m.mean += x[at + i * step] / n;
    for (uint32_t i = 0; i < n; i++)
        m.variance += pow(x[at + i * step] - m.mean, 2) / n;
    return m;
}

/* The moments of a column over its first four rows; the last row counts only for columns below
 * `width`. */
static Moments seen(const double *x, uint32_t width)
{
    Moments m = {0, 0};
    uint32_t n = 3 * COLS + width;
    for (uint32_t i = 0; i < n; i++)
        m.mean += x[i] / n;
    for (uint32_t i = 0; i < n; i++)
        m.variance += pow(x[i] - m.mean, 2) / n;
    return m;
}

static double deep_value(const double *const in[], uint32_t i) { return 0.5 * in[0][i] + in[1][i]; }
static Moments deep_moments(const double *const in[], uint32_t row)
{
    double x[COLS];
    for (uint32_t k = 0; k < COLS; k++)
        x[k] = deep_value(in, row * COLS + k);
    return moments(x, 0, COLS, 1);
}

static double want_statistic(const double *const in[], uint32_t i)
{
    const double *x = in[0];
    switch (i / 64) {
    case 0: return moments(x, i % 64, ROWS, COLS).mean;
    case 1: return moments(x, i % 64, ROWS, COLS).variance;
    case 2: return i % 64 < 8 ? moments(x, i % 64 * 128, 128, 1).mean : 0;
    case 3: return i % 64 < 8 ? moments(x, i % 64 * 128, 128, 1).variance : 0;
    case 4: return i % 64 < ROWS ? deep_moments(in, i % 64).mean : 0;
    case 5: return i % 64 < ROWS ? deep_moments(in, i % 64).variance : 0;
    case 6: {
        Moments all = seen(x, COLS), cut = seen(x, 40);
        const double want[] = {all.mean,     all.variance, cut.mean,
                               cut.variance, cut.mean,     cut.variance};
        return i % 64 < 6 ? want[i % 64] : 0;
    }
    default: return i % 64 < ROWS ? 1 / sqrt(1 + i % 64 + 1e-3) : 0;
    }
}
static double want_norms(const double *const in[], uint32_t i)
{
    uint32_t at = i % ALL, row = at / COLS, column = at % COLS;
    double x = in[0][at];
    Moments m;
    switch (i / ALL) {
    case 0: m = moments(in[0], column, ROWS, COLS); break;
    case 1: m = moments(in[0], row / 2 * 128, 128, 1); break;
    case 2:
        m = deep_moments(in, row);
        x = deep_value(in, at);
        break;
    case 3: m = (Moments){0.25 * row, 1.0 + row}; break;
    default: return want_statistic(in, i - 4 * ALL);
    }
    uint32_t channel = i / ALL == 0 ? row : i / ALL == 1 ? row % 8 : column;
    return (x - m.mean) / sqrt(m.variance + 1e-3) * in[1][channel] + in[2][channel];
}

T_TEST(api_normalisations)
{
    many_run(&(Many){.file = "norms.cpp",
                     .defines = {"TYPE=float", "OUT_LEN=4608"},
                     .operand = {{.type = "float", .n = ALL},
                                 {.type = "float", .n = ALL},
                                 {.type = "float", .n = ALL},
                                 {"float", 4608, .want = want_norms, .tolerance = 1e-5}}});
    many_run(&(Many){.file = "norms.cpp",
                     .defines = {"TYPE=half", "OUT_LEN=4608"},
                     .operand = {{"half", ALL, .low = -1, .high = 1},
                                 {"half", ALL, .low = -1, .high = 1},
                                 {"half", ALL, .low = -1, .high = 1},
                                 {"half", 4608, .want = want_norms, .tolerance = 3e-3}}});
}

/* --- folds.cpp: 20 x 48 --- */

enum { HIGH = 20, WIDE = 48, BOTH = HIGH * WIDE };

/* Elements [at, at + n step) of x put together; what: + > < m * */
static double folded(const double *x, uint32_t at, uint32_t n, uint32_t step, char what)
{
    double v = x[at];
    for (uint32_t i = 1; i < n; i++) {
        double next = x[at + i * step];
        v = what == '>'   ? fmax(v, next)
            : what == '<' ? fmin(v, next)
            : what == '*' ? v * next
                          : v + next;
    }
    return what == 'm' ? v / n : v;
}
static double want_folds(const double *const in[], uint32_t i)
{
    const double *x = in[0], *y = in[1];
    uint32_t row = i % BOTH / WIDE, column = i % BOTH % WIDE;
    if (i < BOTH)
        return folded(x, column, row + 1, WIDE, '+');
    if (i < 2 * BOTH)
        return folded(x, row * WIDE, column + 1, 1, '+');
    if (i < 3 * BOTH)
        return fmod(x[i - 2 * BOTH], y[i - 2 * BOTH]);
    i -= 3 * BOTH;
    if (i < 96)
        return i < WIDE ? folded(x, i, HIGH, WIDE, '+')
                        : folded(x, (HIGH - 1) * WIDE, i - WIDE + 1, 1, '+');
    i -= 96;
    static const char what[] = "+><m*><";
    if (i < 7 * WIDE)
        return folded(i / WIDE < 4 ? x : y, i % WIDE, HIGH, WIDE, what[i / WIDE]);
    i -= 7 * WIDE;
    if (i < 7 * 24 && i % 24 < HIGH)
        return folded(i / 24 < 4 ? x : y, i % 24 * WIDE, WIDE, 1, what[i / 24]);
    return 0;
}
/* Sums that half holds exactly. */
static double eighths(uint32_t i) { return ((int)(i * 7 % 23) - 11) / 8.0; }
static double quarters(uint32_t i) { return (i % 5 + 3) / 4.0; }

T_TEST(api_running_sums_and_reductions_along_an_axis)
{
    many_run(&(Many){.file = "folds.cpp",
                     .defines = {"TYPE=float", "LEN=960", "OUT_LEN=3480", "FLOATS=1"},
                     .operand = {{.type = "float", .n = BOTH},
                                 {"float", BOTH, .low = 0.8, .high = 1.25},
                                 {.type = "float", .n = 8},
                                 {"float", 3480, .want = want_folds, .tolerance = 1e-5}}});
    many_run(&(Many){.file = "folds.cpp",
                     .defines = {"TYPE=half", "LEN=960", "OUT_LEN=2976", "FLOATS=0"},
                     .operand = {{"half", BOTH, .given = eighths},
                                 {"half", BOTH, .given = quarters},
                                 {.type = "half", .n = 8},
                                 {"half", 2976, .want = want_folds}}});
}
