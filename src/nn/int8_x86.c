/* The int8 product with AVX-512 (VNNI) and with AVX2. The instructions multiply unsigned by signed
 * bytes, so the sign of an input moves to the weight. On other processors there is the plain version,
 * whose loops over lanes compilers turn into NEON. */
#include "nn/int8_int.h"

#include "base/attr.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET_512 ATTR_TARGET("avx2,avx512f,avx512bw,avx512vnni")
#define TARGET_256 ATTR_TARGET("avx2")

/* sum += lanes of one group of one output. `ahead` bytes on lie the weights of the next four outputs:
 * asking for them now keeps more of memory busy than the processor does by itself. */
TARGET_512 static inline __m512 add_group(__m512 sum, const int8_t *q, size_t ahead, __m512i size,
                                          __mmask64 minus, float scale)
{
    _mm_prefetch((const char *)((uintptr_t)q + ahead), _MM_HINT_T0);
    __m512i w = _mm512_loadu_si512(q);
    w = _mm512_mask_sub_epi8(w, minus, _mm512_setzero_si512(), w);
    __m512i dot = _mm512_dpbusd_epi32(_mm512_setzero_si512(), size, w);
    return _mm512_add_ps(sum, _mm512_mul_ps(_mm512_cvtepi32_ps(dot), _mm512_set1_ps(scale)));
}

/* The lanes added in halves, in the order of nn_lane_sum. */
TARGET_256 static inline float sum8(__m256 v)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

TARGET_512 static inline float sum16(__m512 v)
{
    __m512 other = _mm512_shuffle_f32x4(v, v, 0x4E);
    return sum8(_mm512_castps512_ps256(_mm512_add_ps(v, other)));
}

TARGET_512 static void four_512(const NnInt8 *m, uint32_t o, NnInt8Row x, float *y)
{
    size_t cols = m->cols, groups = cols / NN_GROUP;
    const int8_t *q = m->q + o * cols;
    const float *scale = m->scale + o * groups;
    __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
    for (size_t g = 0; g < groups; g++, q += NN_GROUP) {
        __m512i v = _mm512_loadu_si512(x.q + g * NN_GROUP), size = _mm512_abs_epi8(v);
        __mmask64 minus = _mm512_movepi8_mask(v);
        float s = x.scale[g];
        a = add_group(a, q, 4 * cols, size, minus, scale[g] * s);
        b = add_group(b, q + cols, 4 * cols, size, minus, scale[g + groups] * s);
        c = add_group(c, q + 2 * cols, 4 * cols, size, minus, scale[g + 2 * groups] * s);
        d = add_group(d, q + 3 * cols, 4 * cols, size, minus, scale[g + 3 * groups] * s);
    }
    y[0] = sum16(a);
    y[1] = sum16(b);
    y[2] = sum16(c);
    y[3] = sum16(d);
}

/* sum += eight lanes of half a group of one output. Two products of at most 127 x 127 fit 16 bits. */
TARGET_256 static inline __m256 add_half(__m256 sum, const int8_t *q, __m256i v, __m256i size,
                                         __m256 scale)
{
    __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)q);
    __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(w, v));
    __m256i dot = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    return _mm256_add_ps(sum, _mm256_mul_ps(_mm256_cvtepi32_ps(dot), scale));
}

TARGET_256 static void four_256(const NnInt8 *m, uint32_t o, NnInt8Row x, float *y)
{
    size_t cols = m->cols, groups = cols / NN_GROUP;
    for (size_t k = 0; k < 4; k++) {
        const int8_t *q = m->q + (o + k) * cols, *in = x.q;
        const float *scale = m->scale + (o + k) * groups;
        __m256 low = _mm256_setzero_ps(), high = low;
        for (size_t g = 0; g < groups; g++, q += NN_GROUP, in += NN_GROUP) {
            __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)in);
            __m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(in + 32));
            __m256 s = _mm256_set1_ps(scale[g] * x.scale[g]);
            low = add_half(low, q, first, _mm256_abs_epi8(first), s);
            high = add_half(high, q + 32, second, _mm256_abs_epi8(second), s);
        }
        y[k] = sum8(_mm256_add_ps(low, high));
    }
}

static const NnInt8Version avx512 = {"avx512", four_512};
static const NnInt8Version avx2 = {"avx2", four_256};

const NnInt8Version *nn_int8_fast(int version)
{
    if (version == 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vnni"))
        return &avx512;
    if (version < 2 && __builtin_cpu_supports("avx2"))
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
