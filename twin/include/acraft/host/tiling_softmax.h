/* Scratch and tilings of the softmax family. In: a shape whose last axis is reduced, sizes of types,
 * bytes of scratch. Out: how many rows go at a time (SoftMaxTiling). Every member of the family counts
 * the floats that one row wants; all else follows. Figures of the toolkit's host library for Atlas A2
 * (impl/adv_api/tiling/activation/softmax_tiling.cpp, logsoftmax_tiling.cpp). */
#ifndef ACRAFT_HOST_TILING_SOFTMAX_H
#define ACRAFT_HOST_TILING_SOFTMAX_H

#include "acraft/host/tiling_out.h"
#include "acraft/host/tmp_size.h"

namespace AscendC {
namespace softmax_tiling {

constexpr uint32_t ROWS = 8;    /* of a basic block */
constexpr uint32_t REPEAT = 64; /* floats */
constexpr uint32_t MOST = 64 * 256;

struct Rows {
    uint32_t m, k, block; /* rows, their length, elements of one block of the type of max and sum */
    Rows(const ge::Shape &s, uint32_t typeSize) : m(0), k(tmp_size::last(s)), block(typeSize ? 32 / typeSize : 0)
    {
        m = k ? tmp_size::elements(s) / k : 0;
    }
    bool empty() const { return !k || !block; }
    bool basic() const { return k % REPEAT == 0 && m % ROWS == 0; }
};

/* Floats that one row wants. */
inline uint32_t plain_row(const Rows &r) { return r.block + r.k + REPEAT; }
inline uint32_t flash_row(const Rows &r, bool isUpdate) { return isUpdate ? r.block * 4 + r.k * 2 : plain_row(r); }
inline uint32_t grad_row(const Rows &r, uint32_t typeSize, bool isFront)
{
    if (typeSize == 2) return r.block * 2 + r.k * 3 + REPEAT;
    return r.block * (isFront ? 1 : 2) + r.k + REPEAT;
}
inline uint32_t flash2_row(const Rows &r, uint32_t typeSize) { return typeSize == 2 ? r.block * 2 + r.k + REPEAT : r.block + REPEAT; }
inline uint32_t flash2_basic_row(const Rows &r, uint32_t typeSize)
{
    return r.block + (typeSize == 2 ? r.k : 0) + REPEAT * (r.k == 1024 ? 2 : 1);
}
inline uint32_t flash3_row(const Rows &r) { return r.block * 5 + r.k * 2 + REPEAT; }

/* Basic blocks: rows by eight that divide all rows, and not too many elements at once. */
inline uint32_t to_basic(uint32_t rows, const Rows &r)
{
    if (rows <= ROWS || !r.basic()) return rows;
    rows = rows / ROWS * ROWS;
    while (r.m % rows) rows -= ROWS;
    while (rows * r.k >= MOST) rows /= 2;
    return rows;
}
inline uint32_t to_eights(uint32_t rows, const Rows &r, uint32_t unit = ROWS)
{
    rows = std::min(rows, r.m);
    return rows < r.m && rows > unit ? rows / unit * unit : rows;
}

template <typename Tiling> inline void fill(const Rows &r, uint32_t rows, Tiling &t)
{
    uint32_t tail = rows ? r.m % rows : 0;
    t->srcM = t->outMaxM = r.m;
    t->srcK = t->splitK = r.k;
    t->srcSize = r.m * r.k;
    t->outMaxK = t->reduceK = r.block;
    t->outMaxSize = r.m * r.block;
    t->splitM = t->reduceM = rows;
    t->splitSize = rows * r.k;
    t->reduceSize = rows * r.block;
    if (rows) t->rangeM = r.m / rows;
    t->tailM = tail;
    t->tailSplitSize = tail * r.k;
    t->tailReduceSize = tail * r.block;
}
/* `row` floats a row, `bytes` of scratch. */
template <typename Tiling> inline void split(const Rows &r, uint32_t row, uint32_t bytes, Tiling &t)
{
    fill(r, to_basic(to_eights(bytes / 4 / row, r), r), t);
}

}  // namespace softmax_tiling

using SoftMaxOut = TilingOut<tiling::SoftMaxTiling>;
using LogSoftMaxOut = TilingOut<tiling::LogSoftMaxTiling>;

/* A name's three functions: MORE are its parameters after the type's size, ROW the floats per row. */
#define ACRAFT_SOFTMAX_TMP(NAME, ROW, ...)                                                         \
    inline uint32_t Get##NAME##MaxTmpSize(const ge::Shape &s, const uint32_t typeSize, __VA_ARGS__) \
    {                                                                                              \
        softmax_tiling::Rows r(s, typeSize);                                                       \
        return r.empty() ? 0 : r.m * softmax_tiling::ROW * 4;                                      \
    }                                                                                              \
    inline uint32_t Get##NAME##MinTmpSize(const ge::Shape &s, const uint32_t typeSize, __VA_ARGS__) \
    {                                                                                              \
        softmax_tiling::Rows r(s, typeSize);                                                       \
        return r.empty() ? 0 : softmax_tiling::ROW * 4;                                            \
    }
ACRAFT_SOFTMAX_TMP(SoftMax, plain_row(r), const bool)
ACRAFT_SOFTMAX_TMP(LogSoftMax, plain_row(r), const bool)
ACRAFT_SOFTMAX_TMP(SoftMaxFlash, flash_row(r, isUpdate), const bool isUpdate, const bool)
ACRAFT_SOFTMAX_TMP(SoftMaxGrad, grad_row(r, typeSize, isFront), const bool isFront, const bool)
#undef ACRAFT_SOFTMAX_TMP

inline void SoftMaxTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t bytes, const SoftMaxOut &t)
{
    softmax_tiling::Rows r(s, typeSize);
    if (!r.empty()) softmax_tiling::split(r, softmax_tiling::plain_row(r), bytes, t);
}
inline void LogSoftMaxTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t bytes, const LogSoftMaxOut &t)
{
    softmax_tiling::Rows r(s, typeSize);
    if (!r.empty()) softmax_tiling::split(r, softmax_tiling::plain_row(r), bytes, t);
}
inline void SoftMaxFlashTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t bytes, const SoftMaxOut &t,
                                   const bool isUpdate = false)
{
    softmax_tiling::Rows r(s, typeSize);
    if (!r.empty()) softmax_tiling::split(r, softmax_tiling::flash_row(r, isUpdate), bytes, t);
}
inline void SoftMaxGradTilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t bytes, const SoftMaxOut &t,
                                  const bool isFront = false)
{
    softmax_tiling::Rows r(s, typeSize);
    if (!r.empty()) softmax_tiling::split(r, softmax_tiling::grad_row(r, typeSize, isFront), bytes, t);
}

/* ---- flash attention 2: two types, the input's and that of max and sum ---- */

inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape &s, const uint32_t typeSize, const uint32_t maxTypeSize, const bool,
                                            const bool isBasicBlock = false, const bool = false)
{
    softmax_tiling::Rows r(s, maxTypeSize);
    if (r.empty()) return 0;
    if (!isBasicBlock || !r.basic()) return r.m * softmax_tiling::flash2_row(r, typeSize) * 4;
    uint32_t rows = r.m;
    while (rows * r.k >= softmax_tiling::MOST) rows /= 2;
    return rows * softmax_tiling::flash2_basic_row(r, typeSize) * 4;
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape &s, const uint32_t typeSize, const uint32_t maxTypeSize, const bool,
                                            const bool isBasicBlock = false, const bool isFlashOutputBrc = false)
{
    softmax_tiling::Rows r(s, maxTypeSize);
    if (r.empty() || !typeSize) return 0;
    bool basic = isBasicBlock && r.k % softmax_tiling::REPEAT == 0;
    uint32_t row = basic ? softmax_tiling::flash2_basic_row(r, typeSize) : softmax_tiling::flash2_row(r, typeSize);
    uint32_t rows = isFlashOutputBrc ? std::min(32 / typeSize, r.m) : basic ? softmax_tiling::ROWS : 1;
    return row * rows * 4;
}
inline void SoftMaxFlashV2TilingFunc(const ge::Shape &s, const uint32_t typeSize, const uint32_t maxTypeSize, const uint32_t bytes,
                                     const SoftMaxOut &t, const bool, const bool isBasicBlock = false, const bool isFlashOutputBrc = false)
{
    softmax_tiling::Rows r(s, maxTypeSize);
    if (r.empty()) return;
    bool basic = isBasicBlock && r.basic();
    uint32_t rows = bytes / 4 / (basic ? softmax_tiling::flash2_basic_row(r, typeSize) : softmax_tiling::flash2_row(r, typeSize));
    if (basic) rows = softmax_tiling::to_basic(std::min(rows, r.m), r);
    softmax_tiling::fill(r, softmax_tiling::to_eights(rows, r, isFlashOutputBrc && typeSize == 2 ? 16 : softmax_tiling::ROWS), t);
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape &s, const uint32_t, const uint32_t maxTypeSize, uint32_t &most, uint32_t &least,
                                           const bool, const bool = false)
{
    softmax_tiling::Rows r(s, maxTypeSize);
    if (r.empty()) return;
    least = softmax_tiling::flash3_row(r) * 4;
    most = r.m * least;
}
inline void SoftMaxFlashV3TilingFunc(const ge::Shape &s, const uint32_t, const uint32_t maxTypeSize, const uint32_t bytes, const SoftMaxOut &t,
                                     const bool, const bool = false)
{
    softmax_tiling::Rows r(s, maxTypeSize);
    if (!r.empty()) softmax_tiling::fill(r, softmax_tiling::to_eights(bytes / 4 / softmax_tiling::flash3_row(r), r), t);
}

/* Whether a kernel may be told that the rows form basic blocks; of the plain struct kernels ask, too. */
inline bool IsBasicBlockInSoftMax(const optiling::SoftMaxTiling &t, const uint32_t typeSize = 2)
{
    uint32_t k = t.get_srcK();
    return typeSize && t.get_tailM() == 0 && k >= 256 / typeSize && k < 2048 && k % 64 == 0;
}
#ifndef ACRAFT_BASE_H
inline bool IsBasicBlockInSoftMax(const tiling::SoftMaxTiling &t, const uint32_t typeSize = 2)
{
    return typeSize && t.tailM == 0 && t.srcK >= 256 / typeSize && t.srcK < 2048 && t.srcK % 64 == 0;
}
#endif

}  // namespace AscendC

#endif
