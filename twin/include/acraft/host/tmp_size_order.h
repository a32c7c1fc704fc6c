/* Scratch of reductions, quantisations and orders (sort, top k), as tmp_size.h says it for the rest.
 * Figures of the toolkit's host library for Atlas A2 (impl/adv_api/tiling/reduce, quantization, sort). */
#ifndef ACRAFT_HOST_TMP_SIZE_ORDER_H
#define ACRAFT_HOST_TMP_SIZE_ORDER_H

#include "acraft/host/tmp_size.h"
#include "acraft/order_params.h"

namespace AscendC {

/* ---- reductions ---- */

inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    if (!typeSize) return;
    uint32_t repeats = (n * typeSize + tmp_size::REPEAT - 1) / tmp_size::REPEAT;
    tmp_size::both(tmp_size::up(repeats * typeSize, tmp_size::BLOCK), most, least);
}
/* One byte a repeat, rounded up to blocks; sums of half in float want the row as float besides. */
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const uint32_t accTypeSize, const bool, uint32_t &most,
                                 uint32_t &least)
{
    if (!typeSize) return;
    bool widens = typeSize == 2 && accTypeSize == 4;
    uint32_t repeats = (n * (widens ? 4 : typeSize) + tmp_size::REPEAT - 1) / tmp_size::REPEAT;
    uint32_t row = widens ? tmp_size::up(n * typeSize, tmp_size::BLOCK) / typeSize * 4 : 0;
    tmp_size::both(tmp_size::up(repeats, tmp_size::BLOCK) + row, most, least);
}
inline void GetMeanTmpBufferFactorSize(const uint32_t, uint32_t &live, uint32_t &extra)
{
    live = 1;
    extra = 0;
}
inline void GetReduceXorSumMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, uint32_t &most,
                                         uint32_t &least)
{
    uint32_t bytes = std::max(tmp_size::elements(s) * typeSize, tmp_size::REPEAT);
    tmp_size::both((isReuseSource ? 2 : 3) * bytes, most, least);
}

namespace tmp_size {
inline uint32_t size_of(ge::DataType type)
{
    return type == ge::DT_FLOAT || type == ge::DT_INT32 ? 4 : type == ge::DT_FLOAT16 ? 2 : 1;
}
inline uint32_t power_of_two(uint32_t n)
{
    uint32_t k = 1;
    for (; n > 1; n >>= 1) k <<= 1;
    return k;
}
/* Rows added to other rows at once: the largest power of two below n. */
inline uint32_t folded(uint32_t n)
{
    uint32_t k = power_of_two(n);
    return k == n && n > 1 ? k / 2 : k;
}
inline uint32_t reduce_rows(uint32_t first, uint32_t last, uint32_t size) { return folded(first) * up(last * size, BLOCK); }
inline uint32_t reduce_order(const ge::Shape &s, uint32_t size, ReducePattern pattern, bool isReuseSource)
{
    uint32_t first = dim(s, 0), last = dim(s, 1);
    if (isReuseSource) return 0;
    if (pattern != ReducePattern::AR) return reduce_rows(first, last, size);
    return last <= BLOCK / size ? 0 : first * (last < REPEAT / size ? BLOCK : REPEAT);
}
inline uint32_t reduce_truth(const ge::Shape &s, ge::DataType type, ReducePattern pattern, bool isReuseSource)
{
    if (type != ge::DT_UINT8) return reduce_order(s, size_of(type), pattern, isReuseSource);
    uint32_t first = dim(s, 0), last = dim(s, 1);
    if (pattern == ReducePattern::AR) return up(last, BLOCK) * 2 + first * BLOCK;
    return isReuseSource ? 0 : reduce_rows(first, last, 1);
}
/* A single row is folded by a whole power of two, not by half of it. */
inline uint32_t folded_in_row(uint32_t first, uint32_t last)
{
    uint32_t k = power_of_two(last);
    return k == last && first > 1 ? k / 2 : k;
}
inline uint32_t reduce_sum(const ge::Shape &s, ge::DataType, ReducePattern pattern, bool isReuseSource)
{
    uint32_t first = dim(s, 0), last = dim(s, 1);
    if (isReuseSource) return 0;
    if (pattern != ReducePattern::AR) return reduce_rows(first, last, 4);
    return last <= 64 ? 0 : first * folded_in_row(first, last) * 4;
}
inline uint32_t reduce_product(const ge::Shape &s, ge::DataType type, ReducePattern pattern, bool isReuseSource)
{
    uint32_t first = dim(s, 0), last = dim(s, 1);
    if (isReuseSource) return pattern == ReducePattern::AR ? REPEAT : 0;
    if (pattern != ReducePattern::AR) return reduce_rows(first, last, size_of(type));
    return (std::max(8u, folded_in_row(first, last)) + first * 8) * 4 + REPEAT;
}
inline uint32_t reduce_extreme(const ge::Shape &s, ge::DataType type, ReducePattern pattern, bool isReuseSource)
{
    return reduce_order(s, size_of(type), pattern, isReuseSource);
}
}  // namespace tmp_size
#define ACRAFT_REDUCE_TMP(name, how)                                                               \
    inline void GetReduce##name##MaxMinTmpSize(const ge::Shape &s, const ge::DataType type, ReducePattern pattern, bool, \
                                               bool isReuseSource, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        tmp_size::both(tmp_size::reduce_##how(s, type, pattern, isReuseSource), most, least);      \
    }
ACRAFT_REDUCE_TMP(Sum, sum)
ACRAFT_REDUCE_TMP(Mean, sum)
ACRAFT_REDUCE_TMP(Prod, product)
ACRAFT_REDUCE_TMP(Max, extreme)
ACRAFT_REDUCE_TMP(Min, extreme)
ACRAFT_REDUCE_TMP(Any, truth)
ACRAFT_REDUCE_TMP(All, truth)
#undef ACRAFT_REDUCE_TMP

/* ---- quantisation ---- */

#define ACRAFT_QUANT_TMP(name)                                                                     \
    inline void Get##name##MaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        least = 2 * tmp_size::REPEAT;                                                              \
        most = tmp_size::up(std::max(tmp_size::elements(s) * 2, least), tmp_size::BLOCK);          \
    }                                                                                              \
    inline void Get##name##TmpBufferFactorSize(uint32_t &live, uint32_t &extra)                    \
    {                                                                                              \
        live = 2;                                                                                  \
        extra = 0;                                                                                 \
    }
ACRAFT_QUANT_TMP(AscendQuant)
ACRAFT_QUANT_TMP(Quantize)
#undef ACRAFT_QUANT_TMP

namespace tmp_size {
/* In floats: a repeat, the scales and a block, and `rows` rows of the source. */
inline uint32_t dequant(uint32_t rows, uint32_t inner) { return (64 + rows * inner + inner + 8) * 4; }
}  // namespace tmp_size
#define ACRAFT_DEQUANT_TMP(name)                                                                   \
    inline void Get##name##MaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        if (s.GetDimNum() != 1 && s.GetDimNum() != 2) return;                                      \
        least = tmp_size::dequant(1, tmp_size::last(s));                                           \
        most = tmp_size::dequant(s.GetDimNum() == 2 ? tmp_size::dim(s, 0) : 1, tmp_size::last(s)); \
    }                                                                                              \
    inline void Get##name##TmpBufferFactorSize(const ge::Shape &s, uint32_t &live, uint32_t &extra) \
    {                                                                                              \
        size_t n = s.GetDimNum();                                                                  \
        live = n == 2 ? 1 : n == 1 ? 2 : 0;                                                        \
        extra = n == 2 ? 72 + tmp_size::dim(s, 1) : n == 1 ? 72 : 0;                               \
    }
ACRAFT_DEQUANT_TMP(AscendDequant)
ACRAFT_DEQUANT_TMP(Dequantize)
#undef ACRAFT_DEQUANT_TMP

namespace tmp_size {
/* Scales per channel, as float: eight rows of scale and of offset and 64 of the input where
 * transposed, else one row each and 64 columns of the input. */
inline uint32_t antiquant_channels(const ge::Shape &s, uint32_t scales, bool isTranspose)
{
    return isTranspose ? 80 * scales * 4 : scales * 2 * 4 + 64 * dim(s, 0) * 4;
}
}  // namespace tmp_size
inline uint32_t GetAscendAntiQuantMaxTmpSize(const ge::Shape &s, const ge::Shape &scale, bool isTranspose, ge::DataType, ge::DataType out)
{
    if (out == ge::DT_FLOAT16) return 0;
    uint32_t scales = tmp_size::elements(scale);
    return scales == 1 ? tmp_size::elements(s) * 4 : tmp_size::antiquant_channels(s, scales, isTranspose);
}
inline uint32_t GetAscendAntiQuantMinTmpSize(const ge::Shape &s, const ge::Shape &scale, bool isTranspose, ge::DataType, ge::DataType out)
{
    if (out == ge::DT_FLOAT16) return 0;
    uint32_t scales = tmp_size::elements(scale);
    return scales == 1 ? 1024 : tmp_size::antiquant_channels(s, scales, isTranspose);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape &s, const ge::Shape &scale, bool isTranspose, ge::DataType in, ge::DataType out,
                                            uint32_t &most, uint32_t &least)
{
    most = GetAscendAntiQuantMaxTmpSize(s, scale, isTranspose, in, out);
    least = GetAscendAntiQuantMinTmpSize(s, scale, isTranspose, in, out);
}
inline void GetAscendAntiQuantTmpBufferFactorSize(const ge::Shape &s, const ge::Shape &scale, bool isTranspose, ge::DataType, ge::DataType out,
                                                  uint32_t &live, uint32_t &extra)
{
    bool whole = tmp_size::elements(scale) == 1;
    live = out != ge::DT_FLOAT16 && whole ? 1 : 0;
    extra = out != ge::DT_FLOAT16 && !whole ? tmp_size::antiquant_channels(s, tmp_size::elements(scale), isTranspose) : 0;
}
inline void GetAntiQuantizeMaxMinTmpSize(const ge::Shape &, const ge::Shape &, bool, ge::DataType, ge::DataType, uint32_t &most,
                                         uint32_t &least)
{
    tmp_size::both(0, most, least);
}
inline void GetAntiQuantizeTmpBufferFactorSize(const ge::Shape &, const ge::Shape &, ge::DataType, ge::DataType, uint32_t &live,
                                               uint32_t &extra)
{
    live = extra = 0;
}

/* ---- orders ---- */

/* A value and its index take eight bytes, whatever the value's type. */
inline uint32_t GetSortTmpSize(const tmp_size::Platform &, const uint32_t elemCount, const uint32_t) { return elemCount * 8; }
inline uint32_t GetConcatTmpSize(const tmp_size::Platform &, const uint32_t, const uint32_t) { return 0; }
inline void GetSortMaxMinTmpSize(const ge::Shape &, ge::DataType, ge::DataType, bool, const SortConfig &, uint32_t &, uint32_t &)
{
    tmp_size::absent("GetSortMaxMinTmpSize");
}
inline bool GetTopKMaxMinTmpSize(const tmp_size::Platform &, const int32_t inner, const int32_t outter, const bool, const bool isInitIndex,
                                 enum TopKMode mode, const bool isLargest, const uint32_t, uint32_t &most, uint32_t &least)
{
    uint32_t n = uint32_t(inner), all = n * uint32_t(outter), index = isInitIndex ? 0 : 4;
    if (mode == TopKMode::TOPK_NORMAL)
        tmp_size::both((16 + index) * n, most, least);
    else
        tmp_size::both(all * (8 + (isLargest ? 0 : 4) + index) + 64, most, least);
    return true;
}
inline bool GetTopKMaxMinTmpSize(const int32_t, const int32_t, const int32_t, const bool, const bool, enum TopKMode, const bool, ge::DataType,
                                 const TopKConfig &, uint32_t &, uint32_t &)
{
    tmp_size::absent("GetTopKMaxMinTmpSize by TopKConfig");
    return false;
}

}  // namespace AscendC

#endif
