/* Packed, blocked matrix product (contract in the header).
 *
 * In: two operands after packers. Out: C. One task is one MC x NC block of one C of the batch,
 * run through the whole of K by one thread:
 *
 *     pack A block [MC, KC] and B block [NC, KC] into panels
 *     micro kernel: MR x NR products over KC in registers
 *     add to the block's double accumulators; after the last KC add the bias, round, store
 */
#include "graph/eval_gemm.h"
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MC = 96, NC = 384, MR_MOST = 12, NR_MOST = 32 };

typedef void Micro(int64_t kc, const void *a, const void *b, void *tile);

/* What one instruction set offers for one element type. */
typedef struct MicroRow {
    Micro *run;
    int64_t mr, nr;
} MicroRow;

#define MICRO_PLAIN(name, T, MR, NR)                                          \
    static void name(int64_t kc, const void *pa, const void *pb, void *ptile) \
    {                                                                         \
        const T *a = pa, *b = pb;                                             \
        T *tile = ptile;                                                      \
        memset(tile, 0, sizeof(T) * (MR) * (NR));                             \
        for (int64_t k = 0; k < kc; k++, a += (MR), b += (NR))                \
            for (int i = 0; i < (MR); i++)                                    \
                for (int j = 0; j < (NR); j++)                                \
                    tile[i * (NR) + j] += a[i] * b[j];                        \
    }
MICRO_PLAIN(micro_f32_plain, float, 4, 8)
MICRO_PLAIN(micro_f64_plain, double, 4, 8)

#if defined(__x86_64__)
#define MICRO_X86(name, target, T, V, lanes, MR, zero, set1, load, store, fma)                    \
    static ATTR_TARGET(target) void name(int64_t kc, const void *pa, const void *pb, void *ptile) \
    {                                                                                             \
        const T *a = pa, *b = pb;                                                                 \
        T *tile = ptile;                                                                          \
        V acc[MR][2];                                                                             \
        _Pragma("GCC unroll 16") for (int i = 0; i < (MR); i++) acc[i][0] = acc[i][1] = zero();   \
        for (int64_t k = 0; k < kc; k++, a += (MR), b += 2 * (lanes)) {                           \
            V b0 = load(b), b1 = load(b + (lanes));                                               \
            _Pragma("GCC unroll 16") for (int i = 0; i < (MR); i++)                               \
            {                                                                                     \
                V ai = set1(a[i]);                                                                \
                acc[i][0] = fma(ai, b0, acc[i][0]);                                               \
                acc[i][1] = fma(ai, b1, acc[i][1]);                                               \
            }                                                                                     \
        }                                                                                         \
        _Pragma("GCC unroll 16") for (int i = 0; i < (MR); i++)                                   \
        {                                                                                         \
            store(tile + i * 2 * (lanes), acc[i][0]);                                             \
            store(tile + i * 2 * (lanes) + (lanes), acc[i][1]);                                   \
        }                                                                                         \
    }
MICRO_X86(micro_f32_avx512, "avx512f", float, __m512, 16, 12, _mm512_setzero_ps, _mm512_set1_ps,
          _mm512_loadu_ps, _mm512_storeu_ps, _mm512_fmadd_ps)
MICRO_X86(micro_f64_avx512, "avx512f", double, __m512d, 8, 12, _mm512_setzero_pd, _mm512_set1_pd,
          _mm512_loadu_pd, _mm512_storeu_pd, _mm512_fmadd_pd)
MICRO_X86(micro_f32_avx2, "avx2,fma", float, __m256, 8, 6, _mm256_setzero_ps, _mm256_set1_ps,
          _mm256_loadu_ps, _mm256_storeu_ps, _mm256_fmadd_ps)
MICRO_X86(micro_f64_avx2, "avx2,fma", double, __m256d, 4, 6, _mm256_setzero_pd, _mm256_set1_pd,
          _mm256_loadu_pd, _mm256_storeu_pd, _mm256_fmadd_pd)
#endif

static MicroRow micro_choose(DType dtype)
{
    bool wide = dtype == DT_F64;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return wide ? (MicroRow){micro_f64_avx512, 12, 16} : (MicroRow){micro_f32_avx512, 12, 32};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return wide ? (MicroRow){micro_f64_avx2, 6, 8} : (MicroRow){micro_f32_avx2, 6, 16};
#endif
    return (MicroRow){wide ? micro_f64_plain : micro_f32_plain, 4, 8};
}

#define GEMM_PACK(name, T)                                                             \
    void name(const void *operand, int64_t row0, int64_t rows, int64_t k0, int64_t kc, \
              int64_t lanes, void *panels)                                             \
    {                                                                                  \
        const GemmMatrix *m = operand;                                                 \
        const T *at = m->at;                                                           \
        T *out = panels;                                                               \
        for (int64_t p = 0; p < rows; p += lanes, out += kc * lanes) {                 \
            int64_t live = rows - p < lanes ? rows - p : lanes;                        \
            if (live < lanes)                                                          \
                memset(out, 0, sizeof(T) * (size_t)(kc * lanes));                      \
            if (m->row_stride == 1) {                                                  \
                for (int64_t k = 0; k < kc; k++)                                       \
                    memcpy(out + k * lanes, at + row0 + p + (k0 + k) * m->k_stride,    \
                           sizeof(T) * (size_t)live);                                  \
                continue;                                                              \
            }                                                                          \
            for (int64_t r = 0; r < live; r++) {                                       \
                const T *row = at + (row0 + p + r) * m->row_stride + k0 * m->k_stride; \
                for (int64_t k = 0; k < kc; k++)                                       \
                    out[k * lanes + r] = row[k * m->k_stride];                         \
            }                                                                          \
        }                                                                              \
    }
GEMM_PACK(gemm_pack_f32, float)
GEMM_PACK(gemm_pack_f64, double)

/* One thread's working memory. */
typedef struct Scratch {
    void *a, *b; /* packed blocks */
    double *sum; /* [MC, NC] */
} Scratch;

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Adds the products of one packed block pair into `sum`. */
static void block_multiply(const MicroRow *micro, DType dtype, const Scratch *s, int64_t rows,
                           int64_t cols, int64_t kc)
{
    _Alignas(64) double tile[MR_MOST * NR_MOST];
    size_t bytes = dtype_bytes(dtype);
    for (int64_t j = 0; j < cols; j += micro->nr)
        for (int64_t i = 0; i < rows; i += micro->mr) {
            micro->run(kc, (const char *)s->a + (size_t)(i * kc) * bytes,
                       (const char *)s->b + (size_t)(j * kc) * bytes, tile);
            int64_t live_i = rows - i < micro->mr ? rows - i : micro->mr;
            int64_t live_j = cols - j < micro->nr ? cols - j : micro->nr;
            for (int64_t r = 0; r < live_i; r++) {
                double *sum = s->sum + (i + r) * NC + j;
                const float *narrow = (const float *)(const void *)tile + r * micro->nr;
                const double *wide = tile + r * micro->nr;
                if (dtype == DT_F64)
                    for (int64_t c = 0; c < live_j; c++)
                        sum[c] += wide[c];
                else
                    for (int64_t c = 0; c < live_j; c++)
                        sum[c] += (double)narrow[c];
            }
        }
}

static double bias_at(DType dtype, const void *bias, int64_t i)
{
    if (!bias)
        return 0;
    return dtype == DT_F64 ? ((const double *)bias)[i] : (double)((const float *)bias)[i];
}

static void block_store(const Gemm *g, const GemmItem *item, const Scratch *s, int64_t i0,
                        int64_t rows, int64_t j0, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        double *sum = s->sum + i * NC;
        double row_bias = bias_at(g->dtype, item->row_bias, i0 + i);
        if (item->row_bias)
            for (int64_t j = 0; j < cols; j++)
                sum[j] += row_bias;
        if (item->col_bias)
            for (int64_t j = 0; j < cols; j++)
                sum[j] += bias_at(g->dtype, item->col_bias, j0 + j);
        int64_t at = (i0 + i) * g->c_row + j0;
        if (g->dtype == DT_F64)
            memcpy((double *)item->c + at, sum, sizeof(double) * (size_t)cols);
        else
            for (int64_t j = 0; j < cols; j++)
                ((float *)item->c)[at + j] = (float)sum[j];
    }
}

static void block_run(const Gemm *g, const MicroRow *micro, const Scratch *s, int64_t task)
{
    int64_t across = (g->n + NC - 1) / NC, down = (g->m + MC - 1) / MC;
    const GemmItem *item = &g->items[task / (across * down)];
    int64_t j0 = task % (across * down) / down * NC, i0 = task % down * MC;
    int64_t rows = g->m - i0 < MC ? g->m - i0 : MC, cols = g->n - j0 < NC ? g->n - j0 : NC;
    for (int64_t i = 0; i < rows; i++)
        memset(s->sum + i * NC, 0, sizeof(double) * (size_t)cols);
    for (int64_t k0 = 0; k0 < g->k; k0 += GEMM_KC) {
        int64_t kc = g->k - k0 < GEMM_KC ? g->k - k0 : GEMM_KC;
        g->pack_a(item->a, i0, rows, k0, kc, micro->mr, s->a);
        g->pack_b(item->b, j0, cols, k0, kc, micro->nr, s->b);
        block_multiply(micro, g->dtype, s, rows, cols, kc);
    }
    block_store(g, item, s, i0, rows, j0, cols);
}

void gemm_run(const Gemm *g)
{
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return;
    MicroRow micro = micro_choose(g->dtype);
    int64_t tasks = g->batch * ((g->n + NC - 1) / NC) * ((g->m + MC - 1) / MC);
    size_t run = (size_t)(g->k < GEMM_KC ? g->k : GEMM_KC) * dtype_bytes(g->dtype);
    int64_t rows = g->m < MC ? g->m : MC, cols = g->n < NC ? g->n : NC;
    double work = (double)g->batch * (double)g->m * (double)g->n * (double)g->k;
    ATTR_UNUSED bool threads = tasks > 1 && work > 1e5;
#pragma omp parallel if (threads)
    {
        Scratch s = {.a = heap_alloc((size_t)round_up(rows, micro.mr) * run),
                     .b = heap_alloc((size_t)round_up(cols, micro.nr) * run),
                     .sum = heap_alloc(sizeof(double) * NC * (size_t)rows)};
#pragma omp for schedule(dynamic)
        for (int64_t task = 0; task < tasks; task++)
            block_run(g, &micro, &s, task);
        heap_free(s.a);
        heap_free(s.b);
        heap_free(s.sum);
    }
}
