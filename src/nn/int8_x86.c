/* The int8 product with AVX-512 and with AVX2 and FMA: sixteen lanes, each element multiplied by its
 * group's scale, then a fused multiply-add. On other processors there is only the plain version,
 * whose loops over sixteen lanes compilers turn into NEON. */
#include "nn/int8_int.h"

#include "base/attr.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET_512 ATTR_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#define TARGET_256 ATTR_TARGET("avx2,fma")

TARGET_512 static inline __m512 load16(const int8_t *q, __m512 scale)
{
    __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)q));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(wide), scale);
}

TARGET_512 static inline float sum16(__m512 v)
{
    float lanes[NN_LANES];
    _mm512_storeu_ps(lanes, v);
    return nn_lane_sum(lanes);
}

TARGET_512 static void four_outputs_512(const NnInt8 *m, uint32_t o, const float *x, float *y)
{
    size_t cols = m->cols, groups = cols / m->group;
    const int8_t *q = m->q + o * cols;
    const float *scale = m->scale + o * groups;
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    for (size_t g = 0, i = 0; g < groups; g++) {
        __m512 sa = _mm512_set1_ps(scale[g]), sb = _mm512_set1_ps(scale[g + groups]);
        __m512 sc = _mm512_set1_ps(scale[g + 2 * groups]);
        __m512 sd = _mm512_set1_ps(scale[g + 3 * groups]);
        for (size_t end = i + m->group; i < end; i += NN_LANES) {
            __m512 v = _mm512_loadu_ps(x + i);
            a = _mm512_fmadd_ps(load16(q + i, sa), v, a);
            b = _mm512_fmadd_ps(load16(q + cols + i, sb), v, b);
            c = _mm512_fmadd_ps(load16(q + 2 * cols + i, sc), v, c);
            d = _mm512_fmadd_ps(load16(q + 3 * cols + i, sd), v, d);
        }
    }
    y[0] = sum16(a);
    y[1] = sum16(b);
    y[2] = sum16(c);
    y[3] = sum16(d);
}

TARGET_512 static void four_rows_512(const NnInt8 *m, uint32_t o, const float *x, float *y,
                                     size_t stride)
{
    size_t cols = m->cols, groups = cols / m->group;
    const int8_t *q = m->q + o * cols;
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    for (size_t g = 0, i = 0; g < groups; g++) {
        __m512 s = _mm512_set1_ps(m->scale[o * groups + g]);
        for (size_t end = i + m->group; i < end; i += NN_LANES) {
            __m512 w = load16(q + i, s);
            a = _mm512_fmadd_ps(w, _mm512_loadu_ps(x + i), a);
            b = _mm512_fmadd_ps(w, _mm512_loadu_ps(x + cols + i), b);
            c = _mm512_fmadd_ps(w, _mm512_loadu_ps(x + 2 * cols + i), c);
            d = _mm512_fmadd_ps(w, _mm512_loadu_ps(x + 3 * cols + i), d);
        }
    }
    y[0] = sum16(a);
    y[stride] = sum16(b);
    y[2 * stride] = sum16(c);
    y[3 * stride] = sum16(d);
}

/* Sixteen lanes as two registers. */
typedef struct Pair {
    __m256 low, high;
} Pair;

TARGET_256 static inline Pair load_pair(const int8_t *q, __m256 scale)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)q);
    __m256i low = _mm256_cvtepi8_epi32(bytes);
    __m256i high = _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8));
    return (Pair){_mm256_mul_ps(_mm256_cvtepi32_ps(low), scale),
                  _mm256_mul_ps(_mm256_cvtepi32_ps(high), scale)};
}

TARGET_256 static inline Pair fma_pair(Pair w, const float *x, Pair sum)
{
    return (Pair){_mm256_fmadd_ps(w.low, _mm256_loadu_ps(x), sum.low),
                  _mm256_fmadd_ps(w.high, _mm256_loadu_ps(x + 8), sum.high)};
}

TARGET_256 static inline float sum_pair(Pair v)
{
    float lanes[NN_LANES];
    _mm256_storeu_ps(lanes, v.low);
    _mm256_storeu_ps(lanes + 8, v.high);
    return nn_lane_sum(lanes);
}

TARGET_256 static void four_outputs_256(const NnInt8 *m, uint32_t o, const float *x, float *y)
{
    size_t cols = m->cols, groups = cols / m->group;
    const int8_t *q = m->q + o * cols;
    const float *scale = m->scale + o * groups;
    Pair sum[4];
    for (int k = 0; k < 4; k++)
        sum[k] = (Pair){_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (size_t g = 0, i = 0; g < groups; g++)
        for (size_t end = i + m->group; i < end; i += NN_LANES)
            for (size_t k = 0; k < 4; k++)
                sum[k] = fma_pair(
                    load_pair(q + k * cols + i, _mm256_set1_ps(scale[k * groups + g])), x + i,
                    sum[k]);
    for (int k = 0; k < 4; k++)
        y[k] = sum_pair(sum[k]);
}

TARGET_256 static void four_rows_256(const NnInt8 *m, uint32_t o, const float *x, float *y,
                                     size_t stride)
{
    size_t cols = m->cols, groups = cols / m->group;
    const int8_t *q = m->q + o * cols;
    Pair sum[4];
    for (int k = 0; k < 4; k++)
        sum[k] = (Pair){_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (size_t g = 0, i = 0; g < groups; g++) {
        __m256 s = _mm256_set1_ps(m->scale[o * groups + g]);
        for (size_t end = i + m->group; i < end; i += NN_LANES) {
            Pair w = load_pair(q + i, s);
            for (size_t k = 0; k < 4; k++)
                sum[k] = fma_pair(w, x + k * cols + i, sum[k]);
        }
    }
    for (size_t k = 0; k < 4; k++)
        y[k * stride] = sum_pair(sum[k]);
}

static const NnInt8Version avx512 = {"avx512", four_outputs_512, four_rows_512};
static const NnInt8Version avx2 = {"avx2", four_outputs_256, four_rows_256};

const NnInt8Version *nn_int8_fast(int version)
{
    if (version == 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return &avx512;
    if (version < 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
    return NULL;
}

#else

const NnInt8Version *nn_int8_fast(int version)
{
    (void)version;
    return NULL;
}

#endif
