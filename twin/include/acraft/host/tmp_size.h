/* How many bytes of scratch the high-level vector APIs want, as tiling functions ask for it. In:
 * shapes and sizes of types. Out: the most that is of use and the least that will do. The functions
 * of one tensor come from tmp_size.def; those with a formula of their own stand here. All figures are
 * those of the toolkit's host library for Atlas A2 (impl/adv_api/tiling). */
#ifndef ACRAFT_HOST_TMP_SIZE_H
#define ACRAFT_HOST_TMP_SIZE_H

#include "acraft/host/ge.h"
#include "acraft/host/platform.h"
#include "acraft/reduce_pattern.h"

#include <cstdio>

namespace AscendC {

using TensorShape = ge::Shape;
using TensorDataType = ge::DataType;

namespace tmp_size {
using Platform = platform_ascendc::PlatformAscendC;
constexpr uint32_t BLOCK = 32, REPEAT = 256;
inline uint32_t elements(const ge::Shape &s) { return uint32_t(s.GetShapeSize() > 0 ? s.GetShapeSize() : 0); }
inline uint32_t dim(const ge::Shape &s, size_t i) { return uint32_t(s.GetDim(i)); }
inline uint32_t last(const ge::Shape &s) { return s.GetDimNum() ? dim(s, s.GetDimNum() - 1) : 0; }
inline uint32_t up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }
/* Bytes of one tensor, a repeat at least, `times` over. */
inline void pair(uint32_t times, uint32_t bytes, uint32_t &most, uint32_t &least)
{
    least = times * REPEAT;
    most = times * std::max(bytes, REPEAT);
}
inline void both(uint32_t bytes, uint32_t &most, uint32_t &least) { most = least = bytes; }
inline void absent(const char *name) { std::fprintf(stderr, "%s: no such function on this chip\n", name); }
}  // namespace tmp_size

#define ACRAFT_TMP(name, half, whole, reuse, live_half, live_whole)                                \
    inline void Get##name##MaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, uint32_t &most, \
                                         uint32_t &least)                                          \
    {                                                                                              \
        tmp_size::pair(typeSize != 4 ? half : isReuseSource ? reuse : whole, tmp_size::elements(s) * typeSize, most, least); \
    }                                                                                              \
    inline void Get##name##TmpBufferFactorSize(const uint32_t typeSize, uint32_t &live, uint32_t &extra) \
    {                                                                                              \
        live = typeSize == 4 ? live_whole : live_half;                                             \
        extra = 0;                                                                                 \
    }
#define ACRAFT_TMP_ABSENT(name)                                                                    \
    inline void Get##name##MaxMinTmpSize(const tmp_size::Platform &, const ge::Shape &, const uint32_t, const bool, uint32_t &, uint32_t &) \
    {                                                                                              \
        tmp_size::absent("Get" #name "MaxMinTmpSize");                                             \
    }                                                                                              \
    inline void Get##name##TmpBufferFactorSize(const tmp_size::Platform &, const uint32_t, uint32_t &, uint32_t &) \
    {                                                                                              \
        tmp_size::absent("Get" #name "TmpBufferFactorSize");                                       \
    }
#include "acraft/host/tmp_size.def"
#undef ACRAFT_TMP
#undef ACRAFT_TMP_ABSENT

/* ---- functions of one tensor that count otherwise ---- */

inline void GetAcoshMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    uint32_t times = typeSize == 4 ? 1 : 2;
    least = times * tmp_size::REPEAT;
    most = std::max(times * tmp_size::elements(s), tmp_size::REPEAT) * typeSize;
}
inline void GetAcoshTmpBufferFactorSize(const uint32_t typeSize, uint32_t &live, uint32_t &extra)
{
    live = typeSize == 4 ? 1 : 2;
    extra = 0;
}
inline bool GetExpMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(typeSize != 4 ? 4 : isReuseSource ? 2 : 3, tmp_size::elements(s) * 4, most, least);
    return true;
}
inline void GetExpTmpBufferFactorSize(const uint32_t typeSize, uint32_t &live, uint32_t &extra)
{
    live = typeSize == 4 ? 3 : 8;
    extra = 0;
}
inline void GetLog2MaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(typeSize == 2 ? 1 : 0, tmp_size::elements(s) * 4, most, least);
}
inline void GetLog2TmpBufferFactorSize(const uint32_t typeSize, uint32_t &live, uint32_t &extra)
{
    live = typeSize == 4 ? 0 : 2;
    extra = 0;
}
inline void GetClampMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    least = typeSize == 4 ? 64 : 128;
    most = std::max(tmp_size::elements(s), least);
}
inline void GetClampTmpBufferFactorSize(const uint32_t, uint32_t &live, uint32_t &extra)
{
    live = 1;
    extra = 0;
}
inline void GetRoundMaxMinTmpSize(const tmp_size::Platform &, const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most,
                                  uint32_t &least)
{
    tmp_size::pair(typeSize == 4 ? 0 : 1, tmp_size::elements(s) * typeSize, most, least);
}
inline void GetRoundTmpBufferFactorSize(const tmp_size::Platform &, const uint32_t typeSize, uint32_t &live, uint32_t &extra)
{
    live = typeSize == 4 ? 0 : 1;
    extra = 0;
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, uint32_t &most, uint32_t &least, const bool)
{
    tmp_size::pair(typeSize == 4 ? 0 : 6, tmp_size::elements(s) * typeSize, most, least);
}
inline void GetSwiGLUTmpBufferFactorSize(const uint32_t typeSize, uint32_t &live, uint32_t &extra)
{
    live = typeSize == 4 ? 0 : 6;
    extra = 0;
}
inline void GetReGluMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(typeSize == 4 ? 1 : 6, typeSize == 4 ? 0 : tmp_size::elements(s) * typeSize, most, least);
}
inline void GetSiluTmpSize(const ge::Shape &, const uint32_t, const bool, uint32_t &most, uint32_t &least) { tmp_size::both(0, most, least); }
inline void GetSwishTmpSize(const ge::Shape &, const uint32_t, const bool, uint32_t &most, uint32_t &least) { tmp_size::both(0, most, least); }

inline void GetGeluMaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(3, tmp_size::elements(s) * 4, most, least);
}
inline uint32_t GetGeluMaxTmpSize(const ge::Shape &s, const uint32_t) { return 3 * std::max(tmp_size::elements(s) * 4, tmp_size::REPEAT); }
inline uint32_t GetGeluMinTmpSize(const ge::Shape &, const uint32_t) { return 3 * tmp_size::REPEAT; }
inline void GetDropOutMaxMinTmpSize(const ge::Shape &s, const uint32_t, const bool, uint32_t &most, uint32_t &least)
{
    tmp_size::pair(2, tmp_size::elements(s) * 4, most, least);
}
inline uint32_t GetDropOutMaxTmpSize(const ge::Shape &s, const uint32_t, const bool)
{
    return 2 * std::max(tmp_size::elements(s) * 4, tmp_size::REPEAT);
}
inline uint32_t GetDropOutMinTmpSize(const ge::Shape &, const uint32_t, const bool) { return 2 * tmp_size::REPEAT; }
inline void GetArangeMaxMinTmpSize(uint32_t &most, uint32_t &least) { tmp_size::both(0, most, least); }
inline void GetArithProgressionMaxMinTmpSize(uint32_t &most, uint32_t &least) { tmp_size::both(0, most, least); }

/* ---- power ---- */

namespace tmp_size {
inline bool is_tensor(const ge::Shape &s) { return s.GetDimNum() != 1 || s.GetDim(0) != 1; }
inline uint32_t power_times(bool tensors, bool isInt, uint32_t typeSize)
{
    if (isInt) return tensors ? 6 : 7;
    return typeSize != 4 ? 14 : tensors ? 4 : 5;
}
}  // namespace tmp_size
inline void GetPowerMaxMinTmpSize(const ge::Shape &base, const ge::Shape &exponent, const bool typeIsInt, const uint32_t typeSize,
                                  const bool, uint32_t &most, uint32_t &least)
{
    uint32_t times = tmp_size::power_times(tmp_size::is_tensor(base) && tmp_size::is_tensor(exponent), typeIsInt, typeSize);
    uint32_t bytes = tmp_size::elements(tmp_size::is_tensor(base) ? base : exponent) * typeSize;
    uint32_t extra = typeIsInt ? 0 : tmp_size::REPEAT;
    least = times * tmp_size::REPEAT / (typeIsInt || typeSize == 4 ? 1 : 2) + extra;
    most = times * std::max(bytes, typeSize == 4 ? tmp_size::REPEAT : tmp_size::REPEAT / 2) + extra;
}
inline void GetPowerTmpBufferFactorSize(const bool baseIsTensor, const bool expIsTensor, const bool typeIsInt, const uint32_t typeSize,
                                        uint32_t &live, uint32_t &extra)
{
    live = tmp_size::power_times(baseIsTensor && expIsTensor, typeIsInt, typeSize);
    extra = typeIsInt ? 0 : tmp_size::REPEAT;
}

/* ---- running sums, broadcasts, choices by a mask of bytes ---- */

inline void GetCumSumMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isLastAxis, const bool, uint32_t &most,
                                   uint32_t &least)
{
    uint32_t outer = tmp_size::dim(s, 0), inner = tmp_size::dim(s, 1);
    if (!isLastAxis) return tmp_size::both(typeSize == 2 ? outer * inner * 4 : 0, most, least);
    uint32_t column = inner * (typeSize * 2 + (typeSize == 2 ? 2 : 0)); /* two transposes, and a cast */
    least = 16 * column;
    most = tmp_size::up(outer, 16) * column;
}
inline void GetBroadCastMaxMinTmpSize(const tmp_size::Platform &, const ge::Shape &src, const ge::Shape &dst, uint32_t typeSize, const bool,
                                      uint32_t &most, uint32_t &least)
{
    uint32_t cast = 0, n = tmp_size::elements(src);
    bool bytes = typeSize == 1; /* worked on as half */
    if (bytes) cast = (tmp_size::up(n, 16) + tmp_size::up(tmp_size::elements(dst), 16)) * 2;
    if (n == tmp_size::elements(dst) || n == 1) return tmp_size::both(bytes ? cast + tmp_size::BLOCK : 0, most, least);
    if (src.GetDim(1) != 1) return tmp_size::both(tmp_size::BLOCK + cast, most, least);
    uint32_t size = bytes ? 2 : typeSize ? typeSize : 4, block = tmp_size::BLOCK / size, rows = tmp_size::dim(dst, 0);
    uint32_t row = tmp_size::dim(dst, 1) % block ? tmp_size::up(tmp_size::dim(dst, 1), block) * size : 0;
    least = block * tmp_size::BLOCK + block * row + cast;
    most = tmp_size::up(rows, 8) * tmp_size::BLOCK + rows * row + cast;
}

namespace tmp_size {
inline uint32_t select_bytes(const ge::Shape &a, const ge::Shape &b, const ge::Shape &mask, uint32_t maskSize, bool isReuseMask, uint32_t at_most)
{
    const ge::Shape &src = a.GetDimNum() == 0 || a.GetShapeSize() == 1 ? b : a;
    uint32_t n = elements(src), bytes = std::max(1024u, up(std::min(n, at_most), 32) * 2 + 512);
    bool packs = last(mask) != last(src) && !isReuseMask && last(mask) > 1;
    return bytes + (packs ? up(n * maskSize, BLOCK) : 0);
}
}  // namespace tmp_size
#define ACRAFT_SELECT_TMP(name)                                                                    \
    inline uint32_t Get##name##MaxTmpSize(const ge::Shape &a, const ge::Shape &b, const uint32_t, const ge::Shape &mask, \
                                          const uint32_t maskTypeSize, const bool isReuseMask)     \
    {                                                                                              \
        return tmp_size::select_bytes(a, b, mask, maskTypeSize, isReuseMask, UINT32_MAX);          \
    }                                                                                              \
    inline uint32_t Get##name##MinTmpSize(const ge::Shape &a, const ge::Shape &b, const uint32_t, const ge::Shape &mask, \
                                          const uint32_t maskTypeSize, const bool isReuseMask)     \
    {                                                                                              \
        return tmp_size::select_bytes(a, b, mask, maskTypeSize, isReuseMask, 4096);                \
    }                                                                                              \
    inline void Get##name##MaxMinTmpSize(const ge::Shape &a, const ge::Shape &b, const uint32_t size, const ge::Shape &mask, \
                                         const uint32_t maskTypeSize, const bool isReuseMask, uint32_t &most, uint32_t &least) \
    {                                                                                              \
        most = Get##name##MaxTmpSize(a, b, size, mask, maskTypeSize, isReuseMask);                 \
        least = Get##name##MinTmpSize(a, b, size, mask, maskTypeSize, isReuseMask);                \
    }
ACRAFT_SELECT_TMP(Select)
ACRAFT_SELECT_TMP(SelectWithBytesMask)
#undef ACRAFT_SELECT_TMP

}  // namespace AscendC

#endif
