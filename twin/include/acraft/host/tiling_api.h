/* tiling/tiling_api.h: host-side sizes and tilings of the high-level kernel APIs. In: shapes and
 * types. Out: bytes of scratch an API of ours or the vendor's may need, and the tiling structs of
 * acraft/tiling_structs.def as classes. */
#ifndef ACRAFT_HOST_TILING_API_H
#define ACRAFT_HOST_TILING_API_H

#include "acraft/host/op_def.h"
#include "acraft/reduce_pattern.h"
#include "acraft/tiling_structs.h"

namespace optiling {

#define F(type, name) TILING_DATA_FIELD_DEF(type, name)
#define ACRAFT_STRUCT(name, fields)                                                                \
    BEGIN_TILING_DATA_DEF(name)                                                                    \
    fields END_TILING_DATA_DEF;
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F

}  // namespace optiling

namespace AscendC {

namespace tmp_size {
inline uint32_t elements(const ge::Shape &s) { return uint32_t(s.GetShapeSize() > 0 ? s.GetShapeSize() : 0); }
/* `live` buffers of the input's size at most, of 256 bytes each at least. */
inline void pair(uint32_t live, uint32_t count, uint32_t typeSize, uint32_t &most, uint32_t &least)
{
    uint32_t wide = typeSize == 2 ? 2 : 1;
    uint32_t whole = count * typeSize;
    least = live * 256 * wide;
    most = live * wide * (whole < 256 ? 256 : whole);
}
}  // namespace tmp_size

/* Functions of one tensor: (shape, type size, may the source be reused, most, least). */
#define ACRAFT_TMP(NAME, LIVE)                                                                     \
    inline void Get##NAME##MaxMinTmpSize(const ge::Shape &shape, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        tmp_size::pair(LIVE, tmp_size::elements(shape), typeSize, most, least);                    \
    }                                                                                              \
    inline void Get##NAME##TmpBufferFactorSize(const uint32_t typeSize, uint32_t &maxLiveNodeCount, uint32_t &extraBuf) \
    {                                                                                              \
        maxLiveNodeCount = typeSize == 2 ? (LIVE)*2 : (LIVE);                                      \
        extraBuf = 0;                                                                              \
    }
ACRAFT_TMP(Sigmoid, 1)
ACRAFT_TMP(Tanh, 2)
ACRAFT_TMP(Sin, 4)
ACRAFT_TMP(Cos, 4)
ACRAFT_TMP(Tan, 5)
ACRAFT_TMP(Asin, 3)
ACRAFT_TMP(Acos, 3)
ACRAFT_TMP(Atan, 5)
ACRAFT_TMP(Sinh, 2)
ACRAFT_TMP(Cosh, 3)
ACRAFT_TMP(Asinh, 3)
ACRAFT_TMP(Acosh, 2)
ACRAFT_TMP(Atanh, 2)
ACRAFT_TMP(Erf, 3)
ACRAFT_TMP(Erfc, 5)
ACRAFT_TMP(Sign, 3)
ACRAFT_TMP(Log, 1)
ACRAFT_TMP(Log2, 1)
ACRAFT_TMP(Log10, 1)
ACRAFT_TMP(Floor, 1)
ACRAFT_TMP(Ceil, 1)
ACRAFT_TMP(Round, 1)
ACRAFT_TMP(Trunc, 1)
ACRAFT_TMP(Frac, 1)
ACRAFT_TMP(Lgamma, 8)
ACRAFT_TMP(Digamma, 8)
ACRAFT_TMP(Gelu, 3)
ACRAFT_TMP(Silu, 2)
ACRAFT_TMP(Swish, 2)
ACRAFT_TMP(Xor, 2)
ACRAFT_TMP(Exp, 3)
ACRAFT_TMP(Power, 6)
ACRAFT_TMP(Clamp, 2)
#undef ACRAFT_TMP

inline void GetPowerMaxMinTmpSize(const ge::Shape &a, const ge::Shape &b, const bool, const uint32_t typeSize, const bool,
                                  uint32_t &most, uint32_t &least)
{
    uint32_t n = std::max(tmp_size::elements(a), tmp_size::elements(b));
    tmp_size::pair(6, n, typeSize, most, least);
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape &s, const uint32_t t, uint32_t &most, uint32_t &least, const bool)
{
    tmp_size::pair(3, tmp_size::elements(s), t, most, least);
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const uint32_t accTypeSize, const bool, uint32_t &most,
                                 uint32_t &least)
{
    uint32_t repeats = (n * typeSize + 255) / 256;
    least = most = (repeats * accTypeSize + 31) / 32 * 32 + 256 + (typeSize != accTypeSize ? n * accTypeSize : 0);
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    least = most = ((n * typeSize + 255) / 256 * typeSize + 31) / 32 * 32 + 32;
}
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &, const ge::Shape &dst, uint32_t typeSize,
                                      const bool, uint32_t &most, uint32_t &least)
{
    least = 256 * 16;
    most = tmp_size::elements(dst) * typeSize + least;
}
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, int32_t inner, int32_t outter, bool, bool, int, bool,
                                 const uint32_t typeSize, uint32_t &most, uint32_t &least)
{
    most = least = uint32_t(inner) * uint32_t(outter > 0 ? 1 : 0) * (typeSize + 12) * 2 + 1024;
    return true;
}
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &, uint32_t n, uint32_t) { return n * 8 * 2; }
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &, uint32_t, uint32_t) { return 0; }
inline void GetSelectWithBytesMaskMaxMinTmpSize(const ge::Shape &, const ge::Shape &, uint32_t typeSize, const ge::Shape &mask, uint32_t,
                                                const bool, uint32_t &most, uint32_t &least)
{
    least = 1024;
    most = tmp_size::elements(mask) * typeSize * 2 + least;
}

/* ---- softmax ---- */

inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape &shape, const uint32_t typeSize, const bool)
{
    uint32_t k = shape.GetDimNum() ? uint32_t(shape.GetDim(shape.GetDimNum() - 1)) : 0;
    return (typeSize == 2 ? k * 4 : 0) + 3 * 256 + k * 4;
}
inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape &shape, const uint32_t typeSize, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, typeSize, reuse) * 8;
}
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape &shape, const uint32_t typeSize, const bool, const bool reuse)
{
    return GetSoftMaxMinTmpSize(shape, typeSize, reuse) * 2;
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape &s, const uint32_t t, const bool f, const bool r) { return GetSoftMaxGradMinTmpSize(s, t, f, r) * 8; }
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape &s, const uint32_t t, const bool, const bool r) { return GetSoftMaxMinTmpSize(s, t, r); }
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape &s, const uint32_t t, const bool, const bool r) { return GetSoftMaxMaxTmpSize(s, t, r); }
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape &s, const uint32_t t, const uint32_t, const bool, const bool = false) { return GetSoftMaxMinTmpSize(s, t, false); }
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape &s, const uint32_t t, const uint32_t, const bool, const bool = false) { return GetSoftMaxMaxTmpSize(s, t, false); }

namespace softmax {
template <typename Tiling> inline void fill(const ge::Shape &shape, uint32_t typeSize, uint32_t workBytes, Tiling &t)
{
    uint32_t k = shape.GetDimNum() ? uint32_t(shape.GetDim(shape.GetDimNum() - 1)) : 1;
    uint32_t m = k ? uint32_t(shape.GetShapeSize()) / k : 0;
    uint32_t block = 32 / (typeSize ? typeSize : 4), row = (k ? k : 1) * 4 * 2 + 64;
    uint32_t rows = workBytes / row;
    rows = rows < 1 ? 1 : rows > m ? m : rows;
    t.set_srcM(m);
    t.set_srcK(k);
    t.set_srcSize(m * k);
    t.set_outMaxM(m);
    t.set_outMaxK(block);
    t.set_outMaxSize(m * block);
    t.set_splitM(rows);
    t.set_splitK(k);
    t.set_splitSize(rows * k);
    t.set_reduceM(rows);
    t.set_reduceK(block);
    t.set_reduceSize(rows * block);
    t.set_rangeM(rows ? m / rows : 0);
    t.set_tailM(rows ? m % rows : 0);
    t.set_tailSplitSize((rows ? m % rows : 0) * k);
    t.set_tailReduceSize((rows ? m % rows : 0) * block);
}
}  // namespace softmax
inline void SoftMaxTilingFunc(const ge::Shape &s, const uint32_t type, const uint32_t room, optiling::SoftMaxTiling &t) { softmax::fill(s, type, room, t); }
inline void SoftMaxGradTilingFunc(const ge::Shape &s, const uint32_t type, const uint32_t room, optiling::SoftMaxTiling &t, const bool = false) { softmax::fill(s, type, room, t); }
inline void SoftMaxFlashTilingFunc(const ge::Shape &s, const uint32_t type, const uint32_t room, optiling::SoftMaxTiling &t, const bool = false) { softmax::fill(s, type, room, t); }
inline void SoftMaxFlashV2TilingFunc(const ge::Shape &s, const uint32_t type, const uint32_t, const uint32_t room, optiling::SoftMaxTiling &t,
                                     const bool, const bool = false)
{
    softmax::fill(s, type, room, t);
}
inline void LogSoftMaxTilingFunc(const ge::Shape &s, const uint32_t type, const uint32_t room, optiling::LogSoftMaxTiling &t) { softmax::fill(s, type, room, t); }

/* ---- normalisations ---- */

namespace norm {
template <typename Tiling> inline void fill(const ge::Shape &s, Tiling &t)
{
    size_t n = s.GetDimNum();
    uint32_t h = n ? uint32_t(s.GetDim(n - 1)) : 1;
    t.set_bLength(n > 2 ? uint32_t(s.GetDim(0)) : 1);
    t.set_sLength(n > 1 ? uint32_t(s.GetDim(n - 2)) : 1);
    t.set_hLength(h);
    t.set_originalHLength(h);
}
inline void room(const ge::Shape &s, uint32_t typeSize, uint32_t live, uint32_t &most, uint32_t &least)
{
    uint32_t h = s.GetDimNum() ? uint32_t(s.GetDim(s.GetDimNum() - 1)) : 1;
    least = live * h * 4 + 512 + (typeSize == 2 ? h * 4 : 0);
    most = live * tmp_size::elements(s) * 4 + least;
}
}  // namespace norm
inline void GetLayerNormMaxMinTmpSize(const ge::Shape &s, const uint32_t t, const bool, uint32_t &most, uint32_t &least) { norm::room(s, t, 3, most, least); }
inline void GetLayerNormNDTillingInfo(const ge::Shape &s, const uint32_t stack, const uint32_t, const bool, optiling::LayerNormTiling &t)
{
    norm::fill(s, t);
    t.set_inputXSize(tmp_size::elements(s));
    t.set_tmpBufSize(stack / 4);
    t.set_lastDimValueBack(1.0f / float(t.get_hLength() ? t.get_hLength() : 1));
}
inline void GetLayerNormNDTilingInfo(const ge::Shape &s, const uint32_t stack, const uint32_t type, const bool reuse, optiling::LayerNormTiling &t)
{
    GetLayerNormNDTillingInfo(s, stack, type, reuse, t);
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape &s, const uint32_t t, uint32_t &most, uint32_t &least, const bool = false)
{
    norm::room(s, t, 2, most, least);
    return true;
}
inline bool GetRmsNormTilingInfo(const ge::Shape &s, const ge::Shape &, const uint32_t, const uint32_t, optiling::RmsNormTiling &t, const bool = false)
{
    norm::fill(s, t);
    t.set_reciprocalOfHLength(1.0f / float(t.get_hLength() ? t.get_hLength() : 1));
    return true;
}

/* ---- normalisations over batches, groups, and in parts ---- */

inline bool GetDeepNormMaxMinTmpSize(const ge::Shape &s, const uint32_t t, const bool, const bool, uint32_t &most, uint32_t &least)
{
    norm::room(s, t, 3, most, least);
    return true;
}
inline bool GetDeepNormTilingInfo(const ge::Shape &s, const ge::Shape &origin, const uint32_t stack, const uint32_t, const bool, const bool,
                                  optiling::DeepNormTiling &t)
{
    norm::fill(s, t);
    size_t n = origin.GetDimNum();
    if (n) t.set_originalHLength(uint32_t(origin.GetDim(n - 1)));
    t.set_inputXSize(tmp_size::elements(s));
    t.set_meanVarSize(t.get_bLength() * t.get_sLength());
    t.set_tmpBufSize(stack / 4);
    t.set_lastDimValueBack(1.0f / float(t.get_originalHLength() ? t.get_originalHLength() : 1));
    return true;
}
inline bool GetBatchNormMaxMinTmpSize(const ge::Shape &s, const ge::Shape &, const uint32_t, const bool, uint32_t &most, uint32_t &least,
                                      const bool = false)
{
    uint32_t b = s.GetDimNum() ? uint32_t(s.GetDim(0)) : 1, n = b ? tmp_size::elements(s) / b : 0;
    least = 3 * ((n + 63) / 64 * 64) * 4;
    most = least + 3 * tmp_size::elements(s) * 4;
    return true;
}
inline bool GetBatchNormNDTilingInfo(const ge::Shape &s, const ge::Shape &origin, const uint32_t stack, const uint32_t, const bool,
                                     optiling::BatchNormTiling &t, const bool = false)
{
    uint32_t b = s.GetDimNum() ? uint32_t(s.GetDim(0)) : 1, n = b ? tmp_size::elements(s) / b : 0;
    uint32_t own = origin.GetDimNum() ? uint32_t(origin.GetDim(0)) : b;
    t.set_originalBLength(own);
    t.set_meanVarSize(n);
    t.set_shCurLength(n);
    t.set_tmpBufSize(stack / 4);
    t.set_firstDimValueBack(1.0f / float(own ? own : 1));
    return true;
}
inline void GetGroupNormMaxMinTmpSize(const ge::Shape &s, const uint32_t t, const bool, const uint32_t, uint32_t &most, uint32_t &least)
{
    norm::room(s, t, 3, most, least);
    uint32_t c = s.GetDimNum() > 1 ? uint32_t(s.GetDim(0) * s.GetDim(1)) : 1, hw = c ? tmp_size::elements(s) / c : 0;
    least = (2 * ((hw + 63) / 64 * 64) + 256) * 4;
    most = most > least ? most : least;
}
inline void GetGroupNormNDTilingInfo(const ge::Shape &s, const uint32_t stack, const uint32_t typeSize, const bool, const uint32_t groups,
                                     optiling::GroupNormTiling &t)
{
    uint32_t n = s.GetDimNum() > 0 ? uint32_t(s.GetDim(0)) : 1, c = s.GetDimNum() > 1 ? uint32_t(s.GetDim(1)) : 1;
    uint32_t hw = n * c ? tmp_size::elements(s) / (n * c) : 0, block = 32 / (typeSize ? typeSize : 4), d = groups ? c / groups : c;
    t.set_n(n);
    t.set_c(c);
    t.set_hw(hw);
    t.set_g(groups);
    t.set_d(d);
    t.set_hwAlignSize((hw + block - 1) / block * block);
    t.set_tmpBufSize(stack / 4);
    t.set_factor(1.0f / float(d * hw ? d * hw : 1));
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t, const uint32_t t, const bool, const bool, const bool, uint32_t &most,
                                      uint32_t &least)
{
    norm::room(s, t, 3, most, least);
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape &s, const uint32_t t, const uint32_t, const bool, const bool, uint32_t &most, uint32_t &least)
{
    norm::room(s, t, 3, most, least);
    least += 3 * 256;
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t t, const bool, uint32_t &most, uint32_t &least)
{
    norm::room(s, t, 4, most, least);
}

/* ---- running sums, reductions with a pattern ---- */

inline void GetCumSumMaxMinTmpSize(const ge::Shape &s, const uint32_t, const bool isLastAxis, const bool, uint32_t &most, uint32_t &least)
{
    uint32_t n = s.GetDimNum() ? uint32_t(s.GetDim(s.GetDimNum() - 1)) : 1;
    least = isLastAxis ? (n + 15) / 16 * 16 * 32 * 4 : 2 * ((n + 63) / 64 * 64) * 4;
    most = least;
}
inline void GetFmodMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(3, tmp_size::elements(s), typeSize, most, least);
}
#define ACRAFT_REDUCE_TMP(NAME)                                                                    \
    inline void Get##NAME##MaxMinTmpSize(const ge::Shape &s, const ge::DataType, ReducePattern, bool, bool, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        uint32_t n = s.GetDimNum() ? uint32_t(s.GetDim(s.GetDimNum() - 1)) : 1;                    \
        most = least = ((n + 63) / 64 * 64 + 64) * 2 * 4;                                          \
    }
ACRAFT_REDUCE_TMP(ReduceSum)
ACRAFT_REDUCE_TMP(ReduceMax)
ACRAFT_REDUCE_TMP(ReduceMin)
ACRAFT_REDUCE_TMP(ReduceAny)
ACRAFT_REDUCE_TMP(ReduceAll)
ACRAFT_REDUCE_TMP(ReduceProd)
ACRAFT_REDUCE_TMP(ReduceMean)
#undef ACRAFT_REDUCE_TMP

}  // namespace AscendC

#include "acraft/host/matmul_tiling.h"

/* Older operator code names these without the namespace; a file that holds kernels, too, has names of its own. */
#if !defined(ACRAFT_BASE_H) && !defined(ACRAFT_BIND_NPU_H)
using namespace AscendC;
#endif

#endif
