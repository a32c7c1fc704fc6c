/* What Craft programs mean: examples run on small shapes by the reference interpreter, against
 * the same thing written in C. This ties the front end's reading of the language (masks, scratch
 * buffers, carried scalars, core split) to its meaning. */
#include "tests/craft/help.h"

#include "base/rng.h"
#include "ir/run.h"
#include "tests/t.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 8 };

typedef struct Bench {
    Arena arena;
    IrRun run;
    IrOperand operands[MAX_OPERANDS];
    IrData items[MAX_OPERANDS];
} Bench;

static void open_bench(Bench *b, const char *path)
{
    *b = (Bench){0};
    Str text = help_read(&b->arena, path);
    Diag diag = diag_make(&b->arena, path, text);
    CraftFile *file = craft_read(&b->arena, path, text, &diag);
    REQUIRE(file && diag_ok(&diag));
    IrProgram *p = craft_program(&b->arena, file, 0, &diag);
    REQUIRE(p && ir_verify(p, &diag));
    REQUIRE(p->operand_count <= MAX_OPERANDS);
    b->run.p = p;
    b->run.chip = npu_chip_find(STR("910B2"));
    b->run.operands = b->operands;
    for (uint32_t i = 0; i < p->operand_count; i++)
        b->operands[i] = (IrOperand){1, &b->items[i]};
}

static int64_t count(const IrData *d)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < d->rank; i++)
        n *= d->dims[i];
    return n;
}

/* Sets the shape of operand i and gives it memory of `width` bytes an element. */
static void *shape(Bench *b, uint32_t i, size_t width, uint32_t rank, const int64_t *dims)
{
    IrData *d = &b->items[i];
    d->rank = rank;
    for (uint32_t k = 0; k < rank; k++)
        d->dims[k] = dims[k];
    d->data = arena_alloc(&b->arena, (size_t)count(d) * width + 16);
    return d->data;
}

static float *random_floats(Bench *b, uint32_t i, uint32_t rank, const int64_t *dims)
{
    float *f = shape(b, i, sizeof(float), rank, dims);
    for (int64_t k = 0; k < count(&b->items[i]); k++)
        f[k] = (float)rng_normal(3, i, (uint64_t)k);
    return f;
}

static bool runs(Bench *b)
{
    bool ok = ir_run(&b->arena, &b->run);
    const char *why = b->run.text ? b->run.text : b->run.faults.len ? b->run.faults.at[0].text : "";
    return CHECK_MSG(ok, "the run failed: %s", why);
}

static void near_all(const float *got, const double *want, int64_t n, double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!CHECK_MSG(fabs((double)got[i] - want[i]) <= tolerance * (1 + fabs(want[i])),
                       "element %lld is %g, not %g", (long long)i, (double)got[i], want[i]))
            return;
}

#define DIMS(...) \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }

static void softmax_of(const float *x, double *y, int64_t n)
{
    double m = -INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++)
        m = x[i] > m ? x[i] : m;
    for (int64_t i = 0; i < n; i++)
        s += exp(x[i] - m);
    for (int64_t i = 0; i < n; i++)
        y[i] = exp(x[i] - m) / s;
}

static void check_softmax(const char *path, int64_t rows, int64_t cols)
{
    Bench b;
    open_bench(&b, path);
    float *x = random_floats(&b, 0, DIMS(rows, cols));
    double *want = arena_array(&b.arena, double, (size_t)(rows * cols));
    for (int64_t r = 0; r < rows; r++)
        softmax_of(x + r * cols, want + r * cols, cols);
    if (runs(&b))
        near_all(b.items[1].data, want, rows * cols, 1e-5);
    arena_drop(&b.arena);
}

T_TEST(values_softmax)
{
    check_softmax("examples/softmax.craft", 53, 37);
    check_softmax("examples/softmax.craft", 2, 9001);
    check_softmax("examples/softmax_online.craft", 3, 9001);
    check_softmax("examples/softmax_short.craft", 101, 13);
}

T_TEST(values_rmsnorm_both_keys)
{
    static const int64_t cols[] = {100, 5003};
    for (int k = 0; k < 2; k++) {
        Bench b;
        open_bench(&b, "examples/rmsnorm.craft");
        float *x = random_floats(&b, 0, DIMS(3, cols[k]));
        float *g = random_floats(&b, 1, DIMS(cols[k]));
        double *want = arena_array(&b.arena, double, (size_t)(3 * cols[k]));
        for (int64_t r = 0; r < 3; r++) {
            double s = 0;
            for (int64_t c = 0; c < cols[k]; c++)
                s += (double)x[r * cols[k] + c] * x[r * cols[k] + c];
            for (int64_t c = 0; c < cols[k]; c++)
                want[r * cols[k] + c] = x[r * cols[k] + c] * g[c] /
                                        sqrt(s / (double)cols[k] + 1e-6);
        }
        if (runs(&b))
            near_all(b.items[2].data, want, 3 * cols[k], 1e-5);
        arena_drop(&b.arena);
    }
}

T_TEST(values_masked_cumsum)
{
    enum { ROWS = 5, COLS = 4500 };
    Bench b;
    open_bench(&b, "examples/cumsum_masked.craft");
    float *x = random_floats(&b, 0, DIMS(ROWS, COLS));
    uint8_t *keep = shape(&b, 1, 1, DIMS(ROWS, COLS));
    double *want = arena_array(&b.arena, double, ROWS *COLS);
    for (int64_t i = 0; i < ROWS * COLS; i++) {
        keep[i] = rng_u64(9, 9, (uint64_t)i) % 3 != 0;
        want[i] = (i % COLS ? want[i - 1] : 0) + (keep[i] ? x[i] : 0);
    }
    if (runs(&b))
        near_all(b.items[2].data, want, ROWS * COLS, 1e-3);
    arena_drop(&b.arena);
}

static double pool_at(const float *x, int64_t h, int64_t w, int64_t top, int64_t left)
{
    double best = -INFINITY;
    for (int64_t r = top; r < top + 3; r++)
        for (int64_t c = left; c < left + 3; c++)
            if (r >= 0 && r < h && c >= 0 && c < w && x[r * w + c] > best)
                best = x[r * w + c];
    return best;
}

T_TEST(values_maxpool_with_borders)
{
    enum { PLANES = 4, H = 11, W = 14, OH = 6, OW = 7 };
    Bench b;
    open_bench(&b, "examples/maxpool2d_pad.craft");
    float *x = random_floats(&b, 0, DIMS(PLANES, H, W));
    double want[PLANES * OH * OW];
    for (int64_t i = 0; i < PLANES * OH * OW; i++) {
        int64_t p = i / (OH * OW), r = i / OW % OH, c = i % OW;
        want[i] = pool_at(x + p * H * W, H, W, 2 * r - 1, 2 * c - 1);
    }
    if (runs(&b)) {
        CHECK_EQ_INT(b.items[1].dims[1], OH);
        CHECK_EQ_INT(b.items[1].dims[2], OW);
        near_all(b.items[1].data, want, PLANES * OH * OW, 0);
    }
    arena_drop(&b.arena);
}

T_TEST(values_masked_select_compacts_in_order)
{
    enum { N = 10007 };
    Bench b;
    open_bench(&b, "examples/masked_select.craft");
    float *x = random_floats(&b, 0, DIMS(N));
    uint8_t *keep = shape(&b, 1, 1, DIMS(N));
    double *want = arena_array(&b.arena, double, N);
    int64_t n = 0;
    for (int64_t i = 0; i < N; i++) {
        keep[i] = rng_u64(5, 5, (uint64_t)i) % 4 == 0;
        if (keep[i])
            want[n++] = x[i];
    }
    if (runs(&b)) {
        CHECK_EQ_INT(*(const int64_t *)b.items[3].data, n);
        near_all(b.items[2].data, want, n, 0);
    }
    arena_drop(&b.arena);
}

T_TEST(values_transpose_argmax_sort)
{
    enum { ROWS = 70, COLS = 33 };
    Bench t, m, s;
    open_bench(&t, "examples/transpose2d.craft");
    open_bench(&m, "examples/argmax.craft");
    open_bench(&s, "examples/sort_rows.craft");
    const float *x = random_floats(&t, 0, DIMS(ROWS, COLS));
    random_floats(&m, 0, DIMS(ROWS, COLS));
    random_floats(&s, 0, DIMS(ROWS, COLS));
    if (runs(&t) && runs(&m) && runs(&s)) {
        const float *y = t.items[1].data, *v = s.items[1].data;
        const int32_t *place = m.items[1].data, *order = s.items[2].data;
        for (int64_t r = 0; r < ROWS; r++)
            for (int64_t c = 0; c < COLS; c++) {
                CHECK(y[c * ROWS + r] == x[r * COLS + c]);
                CHECK(x[r * COLS + place[r]] >= x[r * COLS + c]);
                CHECK(v[r * COLS + c] == x[r * COLS + order[r * COLS + c]]);
                CHECK(c == 0 || v[r * COLS + c - 1] >= v[r * COLS + c]);
            }
    }
    arena_drop(&t.arena);
    arena_drop(&m.arena);
    arena_drop(&s.arena);
}

T_TEST(values_welford_batchnorm)
{
    enum { N = 3, C = 5, S = 1000 };
    Bench b;
    open_bench(&b, "examples/batchnorm_welford.craft");
    float *x = random_floats(&b, 0, DIMS(N, C, S));
    float *g = random_floats(&b, 1, DIMS(C)), *h = random_floats(&b, 2, DIMS(C));
    double *want = arena_array(&b.arena, double, N *C *S);
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < N * S; i++)
            sum += x[i / S * C * S + c * S + i % S];
        double mean = sum / (N * S);
        for (int64_t i = 0; i < N * S; i++)
            square += pow(x[i / S * C * S + c * S + i % S] - mean, 2);
        for (int64_t i = 0; i < N * S; i++) {
            int64_t k = i / S * C * S + c * S + i % S;
            want[k] = (x[k] - mean) / sqrt(square / (N * S) + 1e-5) * g[c] + h[c];
        }
    }
    if (runs(&b))
        near_all(b.items[3].data, want, N * C * S, 1e-4);
    arena_drop(&b.arena);
}

T_TEST(values_where_takes_scalars_on_either_side)
{
    Bench b;
    open_bench(&b, "examples/huber_loss.craft");
    float *x = random_floats(&b, 0, DIMS(5000)), *y = random_floats(&b, 1, DIMS(5000));
    double *want = arena_array(&b.arena, double, 5000);
    for (int i = 0; i < 5000; i++) {
        double d = fabs((double)x[i] - y[i]);
        want[i] = d <= 1 ? d * d / 2 : d - 0.5;
    }
    if (runs(&b))
        near_all(b.items[2].data, want, 5000, 1e-5);
    arena_drop(&b.arena);
}

static double dot(const float *a, int64_t step_a, const float *b, int64_t step_b, int64_t n)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++)
        s += (double)a[i * step_a] * b[i * step_b];
    return s;
}

/* Random halves for operand i, and the same as floats. */
static float *random_halves(Bench *b, uint32_t i, uint32_t rank, const int64_t *dims)
{
    uint16_t *h = shape(b, i, 2, rank, dims);
    int64_t n = count(&b->items[i]);
    float *f = arena_array(&b->arena, float, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        f[k] = half_to_float(h[k] = half_from_float((float)rng_normal(1, i, (uint64_t)k)));
    return f;
}

static void near_halves(Bench *b, uint32_t i, const double *want, double tolerance)
{
    const uint16_t *h = b->items[i].data;
    int64_t n = count(&b->items[i]);
    float *got = arena_array(&b->arena, float, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        got[k] = half_to_float(h[k]);
    near_all(got, want, n, tolerance);
}

T_TEST(values_matmul_on_the_cube)
{
    enum { M = 130, K = 150, N = 129 };
    Bench b;
    open_bench(&b, "tests/craft/cube_matmul.craft");
    float *fa = random_halves(&b, 0, DIMS(M, K)), *fb = random_halves(&b, 1, DIMS(K, N));
    float *bias = random_floats(&b, 2, DIMS(N));
    double *want = arena_array(&b.arena, double, M *N);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = dot(fa + i / N * K, 1, fb + i % N, N, K) + bias[i % N];
    if (runs(&b))
        near_all(b.items[3].data, want, M * N, 1e-4);
    arena_drop(&b.arena);
}

/* Two vector cores beside each cube core; the last tile has an odd number of parts, the last part few rows. */
T_TEST(values_of_two_vector_cores)
{
    enum { M = 200, K = 40, N = 129 };
    Bench b;
    open_bench(&b, "tests/craft/cube_pair.craft");
    float *fa = random_halves(&b, 0, DIMS(M, K)), *fb = random_halves(&b, 1, DIMS(K, N));
    float *bias = random_floats(&b, 2, DIMS(N));
    double *want = arena_array(&b.arena, double, M *N);
    for (int64_t i = 0; i < M * N; i++) {
        double sum = dot(fa + i / N * K, 1, fb + i % N, N, K) + bias[i % N];
        want[i] = sum > 0 ? sum : 0;
    }
    if (runs(&b))
        near_all(b.items[3].data, want, M * N, 1e-4);
    arena_drop(&b.arena);
}

/* Steps of k that begin elsewhere in each tile; a vector kernel on all vector cores before it. */
T_TEST(values_of_staggered_steps)
{
    enum { M = 130, K = 300, N = 70 };
    Bench b;
    open_bench(&b, "tests/craft/cube_wide.craft");
    float *fa = random_halves(&b, 0, DIMS(M, K)), *fb = random_halves(&b, 1, DIMS(K, N));
    double *want = arena_array(&b.arena, double, M *N);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = fmax(2 * dot(fa + i / N * K, 1, fb + i % N, N, K), 0);
    if (runs(&b))
        near_all(b.items[2].data, want, M * N, 1e-4);
    arena_drop(&b.arena);
}

/* The first product rounds its factors, the one after it does not. */
T_TEST(values_hf32_beside_exact_products)
{
    enum { M = 20, K = 150, N = 17 };
    Bench b;
    open_bench(&b, "tests/craft/cube_hf32.craft");
    float *fa = random_floats(&b, 0, DIMS(M, K)), *fb = random_floats(&b, 1, DIMS(K, N));
    double *want = arena_array(&b.arena, double, (size_t)M *N), apart = 0;
    double *exact = arena_array(&b.arena, double, (size_t)M *N);
    for (int64_t i = 0; i < M * N; i++)
        exact[i] = dot(fa + i / N * K, 1, fb + i % N, N, K);
    if (!runs(&b))
        return;
    near_all(b.items[3].data, exact, M * N, 1e-6);
    for (int64_t i = 0; i < M * K; i++)
        fa[i] = hf32_round(fa[i], false);
    for (int64_t i = 0; i < K * N; i++)
        fb[i] = hf32_round(fb[i], false);
    for (int64_t i = 0; i < M * N; i++) {
        want[i] = dot(fa + i / N * K, 1, fb + i % N, N, K);
        apart = fmax(apart, fabs(want[i] - exact[i]));
    }
    near_all(b.items[2].data, want, M * N, 1e-6);
    CHECK(apart > 1e-4); /* the two can be told apart */
    arena_drop(&b.arena);
}

T_TEST(values_split_k)
{
    enum { M = 20, K = 1100, N = 140 };
    Bench b;
    open_bench(&b, "tests/craft/cube_splitk.craft");
    float *fa = random_halves(&b, 0, DIMS(M, K)), *fb = random_halves(&b, 1, DIMS(K, N));
    double *want = arena_array(&b.arena, double, (size_t)M *N);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = dot(fa + i / N * K, 1, fb + i % N, N, K);
    if (runs(&b))
        near_all(b.items[2].data, want, M * N, 1e-3);
    arena_drop(&b.arena);
}

T_TEST(values_convolution)
{
    enum { B = 2, H = 6, W = 70, CI = 5, CO = 7, OUT = B * (H - 2) * (W - 2) * CO };
    Bench b;
    open_bench(&b, "tests/craft/cube_conv.craft");
    float *x = random_halves(&b, 0, DIMS(B, H, W, CI));
    float *w = random_halves(&b, 1, DIMS(3, 3, CI, CO));
    double *want = arena_array(&b.arena, double, OUT);
    for (int64_t k = 0; k < OUT; k++) {
        int64_t o = k % CO, q = k / CO % (W - 2), r = k / CO / (W - 2) % (H - 2);
        int64_t n = k / CO / (W - 2) / (H - 2);
        for (int64_t i = 0; i < 9; i++)
            want[k] += dot(x + ((n * H + r + i / 3) * W + q + i % 3) * CI, 1, w + i * CI * CO + o,
                           CO, CI);
    }
    if (runs(&b))
        near_halves(&b, 2, want, 2e-3);
    arena_drop(&b.arena);
}

T_TEST(values_flash_attention)
{
    enum { HEADS = 2, Q = 40, K = 70, D = 32 };
    Bench b;
    open_bench(&b, "tests/craft/cube_flash.craft");
    float *q = random_halves(&b, 0, DIMS(HEADS, Q, D));
    float *kt = random_halves(&b, 1, DIMS(HEADS, D, K));
    float *v = random_halves(&b, 2, DIMS(HEADS, K, D));
    double *want = arena_array(&b.arena, double, (size_t)HEADS *Q *D);
    for (int64_t row = 0; row < HEADS * Q; row++) {
        int64_t h = row / Q;
        float score[K];
        double weight[K];
        for (int64_t k = 0; k < K; k++)
            score[k] = (float)dot(q + row * D, 1, kt + h * D * K + k, K, D) * 0.125f;
        softmax_of(score, weight, K);
        for (int64_t d = 0; d < D; d++)
            for (int64_t k = 0; k < K; k++)
                want[row * D + d] += weight[k] * v[(h * K + k) * D + d];
    }
    if (runs(&b))
        near_halves(&b, 3, want, 5e-3);
    arena_drop(&b.arena);
}
