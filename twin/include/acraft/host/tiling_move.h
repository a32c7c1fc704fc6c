/* Scratch and tilings of what moves elements: padding, transposes, changes of format, the k largest.
 * Figures of the toolkit's host library for Atlas A2 (impl/adv_api/tiling: pad/pad_tiling_impl.cpp,
 * transpose/confusion_transpose_tiling_impl.cpp, transpose/transdata_tiling.cpp,
 * sort/topk_tiling_impl.cpp). */
#ifndef ACRAFT_HOST_TILING_MOVE_H
#define ACRAFT_HOST_TILING_MOVE_H

#include "acraft/host/tiling_out.h"
#include "acraft/host/tmp_size_order.h"

namespace AscendC {

/* ---- pads of rows ---- */

namespace pad_tiling {
constexpr uint32_t LINES = 16;         /* of a transpose */
constexpr uint32_t PIECE = LINES * 32; /* its bytes */
/* Two halves of the scratch, in pieces. */
template <typename Tiling> inline uint32_t split(uint32_t room, uint32_t typeSize, Tiling &t)
{
    uint32_t pieces = room / typeSize / (PIECE / typeSize) / 2;
    t->tmpBuffer1BlockNum = pieces;
    t->tmpBuffer1RowNum = t->widthTiling = LINES * pieces;
    t->tmpBuffer2Offset = pieces * (PIECE / typeSize);
    return LINES * pieces;
}
}  // namespace pad_tiling
inline void GetPadMaxMinTmpSize(const ge::Shape &s, const uint32_t, uint32_t &most, uint32_t &least)
{
    least = 2 * pad_tiling::PIECE;
    most = (tmp_size::dim(s, 0) * tmp_size::dim(s, 1) + pad_tiling::LINES - 1) / pad_tiling::LINES * least;
}
inline void PadTilingFunc(const ge::Shape &s, const ge::Shape &origin, const uint32_t room, const uint32_t typeSize,
                          const TilingOut<tiling::PadTiling> &t)
{
    uint32_t height = tmp_size::dim(s, 0), width = tmp_size::dim(s, 1);
    if (!typeSize || s.GetDimNum() < 2 || origin.GetDimNum() < 2) return;
    t->srcHeight = height;
    t->srcWidth = width;
    t->srcOriWidth = tmp_size::dim(origin, 1);
    t->widthWithoutLastBlock = width - 32 / typeSize;
    t->blocksPerRow = width * typeSize / 32;
    t->heightTiling = 255;
    t->heightFractal = height / 255;
    t->heightFractalTail = height % 255;
    t->mainLoopOffset = 255 * width;
    t->tailBlockOffset = height / 255 * 255 * width + t->widthWithoutLastBlock;
    uint32_t lines = room ? pad_tiling::split(room, typeSize, t) : 0;
    if (!lines) return;
    t->widthFractal = width / lines;
    t->widthFractalTail = width % lines;
    t->widthFractalTailAlingned = ((width % lines - 1) / (32 / typeSize) + 1) * (32 / typeSize);
    uint32_t tail = height * width % lines;
    t->brcbTiling = lines;
    t->brcbFractal = height * width / lines;
    t->brcbFractalTail = tail;
    t->maxRepeatTimes = 254;
    t->brcbTilingRepeatTimes = lines / 8 / 254;
    t->brcbTilingRepeatTimesTail = lines / 8 % 254;
    t->brcbFractalTailRepeatTimes = tail / 8 / 254;
    t->brcbFractalTailRepeatTimesTail = tail / 8 % 254;
}
inline void GetUnPadMaxMinTmpSize(const tmp_size::Platform &, const ge::Shape &, const uint32_t, uint32_t &most, uint32_t &least)
{
    tmp_size::both(0, most, least);
}
inline void UnPadTilingFunc(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const TilingOut<tiling::UnPadTiling> &t)
{
    t->srcHeight = tmp_size::dim(s, 0);
    t->srcWidth = tmp_size::dim(s, 1);
    uint32_t lines = room && typeSize ? pad_tiling::split(room, typeSize, t) : 0;
    if (!lines) return;
    t->widthFractal = (t->srcWidth + lines - 1) / lines;
    t->widthFractalTail = t->srcWidth % lines ? t->srcWidth % lines : lines;
}

/* ---- transposes ---- */

namespace transpose_tiling {
using Out = TilingOut<tiling::ConfusionTransposeTiling>;
constexpr uint32_t CUBE = 16, FRACTAL = CUBE * CUBE;
inline uint32_t cubes(uint32_t n) { return (n + CUBE - 1) / CUBE; }
/* The figures of one kind, in the order of the struct's fields. */
inline void fill(const Out &t, std::initializer_list<uint32_t> values)
{
    uint32_t *at = &t->param0;
    for (uint32_t v : values) *at++ = v;
}

/* B, N, S, H/N, from fractals: what the kinds that join or part heads have in common. */
struct Heads {
    uint32_t b, n, own, block, h, blocks, rows, own_blocks;
    Heads(const ge::Shape &s, uint32_t typeSize)
        : b(tmp_size::dim(s, 0)), n(tmp_size::dim(s, 1)), own(tmp_size::dim(s, 3)), block(32 / typeSize), h(n * own), blocks(cubes(h)),
          rows(cubes(tmp_size::dim(s, 2))), own_blocks(cubes(own))
    {
    }
};
inline void swap_middle(const ge::Shape &s, uint32_t room, uint32_t typeSize, const Out &t)
{
    uint32_t b = tmp_size::dim(s, 0), a1 = tmp_size::dim(s, 1), a2 = cubes(tmp_size::dim(s, 2)) * CUBE, width = cubes(tmp_size::dim(s, 3));
    uint32_t a3 = width * CUBE, part = room / typeSize / FRACTAL * FRACTAL, high = part / CUBE, all = a2 * CUBE;
    if (!part) return;
    fill(t, {32 / typeSize, b, a1, a3, a2, width, part, high, all, all / part, all % part, a2 * a3, a1 * a2 * a3, a1 * a3, a1 * CUBE,
             high * (all / part) * a1 * a3});
}
inline void part_heads_nz(const ge::Shape &s, uint32_t typeSize, const Out &t)
{
    Heads x(s, typeSize);
    uint32_t h = x.blocks * CUBE, rows = x.rows * CUBE, own = x.own_blocks * CUBE;
    fill(t, {x.block, x.b, x.n, x.own, CUBE / x.block, x.h, x.blocks, x.rows, h, rows, x.own_blocks, own, own - x.own, rows * CUBE,
             x.n * x.own_blocks, x.n * own * rows, h * rows});
}
inline void part_heads_nd(const ge::Shape &s, uint32_t typeSize, const Out &t)
{
    Heads x(s, typeSize);
    uint32_t own = x.own_blocks * CUBE, rows = x.rows * CUBE;
    fill(t, {x.block, x.b, x.n, x.own, x.h, x.blocks, x.rows, x.own_blocks, own, own - x.own, x.rows * FRACTAL, x.n * x.own_blocks,
             rows * own, own * CUBE, own * x.block, x.n * own * rows, x.blocks * x.rows * FRACTAL, CUBE / x.block});
}
inline void join_heads(const ge::Shape &s, uint32_t typeSize, const Out &t)
{
    Heads x(s, typeSize);
    uint32_t h = x.blocks * CUBE, rows = x.rows * CUBE;
    fill(t, {x.block, x.b, x.n, x.own, x.h, x.blocks, x.rows, x.own_blocks, h, x.rows * FRACTAL, h * CUBE, x.block * h,
             x.n * x.own_blocks * CUBE * rows, h * rows, CUBE / x.block});
}
inline void plane(const ge::Shape &s, uint32_t typeSize, const Out &t)
{
    uint32_t block = 32 / typeSize, height = tmp_size::dim(s, 0), width = tmp_size::dim(s, 1);
    fill(t, {block, height, width, height / CUBE, height * block * typeSize / 32, width / block});
}
inline void axes(const ge::Shape &s, bool planes, const Out &t)
{
    if (planes && s.GetDimNum() == 2)
        fill(t, {1, tmp_size::dim(s, 0), tmp_size::dim(s, 1)});
    else
        fill(t, {tmp_size::dim(s, 0), tmp_size::dim(s, 1), tmp_size::dim(s, 2)});
}
}  // namespace transpose_tiling

inline void GetTransposeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const uint32_t kind, uint32_t &most, uint32_t &least)
{
    switch (TransposeType(kind)) {
    case TransposeType::TRANSPOSE_NZ2ND_0213:
    case TransposeType::TRANSPOSE_NZ2NZ_0213:
        most = tmp_size::up(tmp_size::dim(s, 2), 16) * 16 * typeSize;
        least = 256 * typeSize;
        break;
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N:
    case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N:
    case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N:
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N: tmp_size::both(2 * 256 * typeSize, most, least); break;
    case TransposeType::TRANSPOSE_ND2ND_ONLY:
    case TransposeType::TRANSPOSE_ND2ND_021:
    case TransposeType::TRANSPOSE_ND2ND_102:
    case TransposeType::TRANSPOSE_ND2ND_210: tmp_size::both(0, most, least); break;
    default: break;
    }
}
inline void GetTransposeTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const uint32_t kind,
                                   const transpose_tiling::Out &t)
{
    if (!typeSize) return;
    switch (TransposeType(kind)) {
    case TransposeType::TRANSPOSE_NZ2ND_0213:
    case TransposeType::TRANSPOSE_NZ2NZ_0213: transpose_tiling::swap_middle(s, room, typeSize, t); break;
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N: transpose_tiling::part_heads_nz(s, typeSize, t); break;
    case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N: transpose_tiling::part_heads_nd(s, typeSize, t); break;
    case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N:
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N: transpose_tiling::join_heads(s, typeSize, t); break;
    case TransposeType::TRANSPOSE_ND2ND_ONLY: transpose_tiling::plane(s, typeSize, t); break;
    case TransposeType::TRANSPOSE_ND2ND_021: transpose_tiling::axes(s, true, t); break;
    case TransposeType::TRANSPOSE_ND2ND_102:
    case TransposeType::TRANSPOSE_ND2ND_210: transpose_tiling::axes(s, false, t); break;
    default: break;
    }
}
inline void GetConfusionTransposeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const uint32_t kind, uint32_t &most,
                                               uint32_t &least)
{
    GetTransposeMaxMinTmpSize(s, typeSize, kind, most, least);
}
inline void GetConfusionTransposeTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const uint32_t kind,
                                            const transpose_tiling::Out &t)
{
    GetTransposeTilingInfo(s, room, typeSize, kind, t);
}
inline void GetConfusionTransposeOnlyTilingInfo(const ge::Shape &s, const uint32_t, const uint32_t typeSize, const transpose_tiling::Out &t)
{
    if (typeSize) transpose_tiling::plane(s, typeSize, t);
}

/* ---- changes of format: elements of two bytes, channels and batches by 16 ---- */

inline bool GetTransDataMaxMinTmpSize(const tmp_size::Platform &, const ge::Shape &src, const ge::Shape &dst, ge::DataType,
                                      const TransDataConfig &config, uint32_t &most, uint32_t &least)
{
    bool from = config.srcFormat == DataFormat::NCDHW;
    const ge::Shape &s = from ? src : dst; /* the side that counts in N, C, D, H, W */
    DataFormat other = from ? config.dstFormat : config.srcFormat;
    if ((!from && config.dstFormat != DataFormat::NCDHW) || s.GetDimNum() != 5) return false;
    uint32_t n = tmp_size::dim(s, 0), c = tmp_size::dim(s, 1), d = tmp_size::dim(s, 2), hw = tmp_size::dim(s, 3) * tmp_size::dim(s, 4);
    uint32_t plane = tmp_size::up(hw, 16), channels = tmp_size::up(c, 16), batches = tmp_size::up(n, 16);
    uint32_t whole = d * channels * plane * 2;
    if (other == DataFormat::NDC1HWC0)
        tmp_size::both(whole + (from ? d * plane * 2 : 512), most, least);
    else if (other != DataFormat::FRACTAL_Z_3D)
        return false;
    else if (from)
        tmp_size::both(std::max(c * d * plane * 2, d * hw * batches * 2) + batches * whole, most, least);
    else
        tmp_size::both(batches * whole * (n == batches && c == channels ? 1 : 2), most, least);
    return true;
}

/* ---- the k largest ---- */

namespace topk_tiling {
using Out = TilingOut<tiling::TopkTiling>;
/* `times` times `bits`, `step` bits apart. */
inline uint32_t pattern(uint32_t bits, uint32_t step, int32_t times)
{
    uint32_t mask = 0;
    for (int32_t i = 0; i < times; i++) mask |= bits << (step * uint32_t(i));
    return mask;
}
/* How many of the first k lie in `most` places after the first `from`. */
inline int32_t within(int32_t k, int32_t from, int32_t most) { return k - from < most ? k - from : most; }
inline void masks(int32_t k, uint32_t typeSize, const Out &t)
{
    if (k <= 32) t->vreduceIdxMask0 = pattern(2, 2, within(k < 1 ? 1 : k, 0, 16));
    if (k > 16 && k <= 32) t->vreduceIdxMask1 = pattern(2, 2, k - 16);
    if (typeSize == 4) {
        if (k <= 32) t->vreduceValMask0 = pattern(1, 2, within(k < 1 ? 1 : k, 0, 16));
        if (k > 16 && k <= 32) t->vreduceValMask1 = pattern(1, 2, k - 16);
        return;
    }
    uint16_t *half = &t->vreducehalfValMask0;
    for (int32_t i = 0; i < 8; i++) half[i] = uint16_t(i == 0 || k > 4 * i ? pattern(1, 4, within(k < 1 ? 1 : k, 4 * i, 4)) : 0);
}
inline void small(int32_t inner, int32_t outter, int32_t k, int32_t size, bool isInitIndex, bool isLargest, const Out &t)
{
    int32_t all = inner * outter, mask = all * (8 / size) + (isLargest ? 0 : all), index = mask + 64 / size;
    t->innerDataSize = all * (8 / size);
    t->maskOffset = outter * k;
    t->topkMrgSrc1MaskSizeOffset = mask;
    t->tmpLocalSize = isInitIndex ? index : index + all * 4 / size;
    if (!isInitIndex) t->topkNSmallSrcIndexOffset = index;
    masks(k, uint32_t(size), t);
}
inline void rows(int32_t inner, int32_t outter, int32_t k, int32_t size, bool isInitIndex, const Out &t)
{
    bool half = size == 2;
    int32_t pair = half ? 4 : 2; /* elements of a value with its index */
    t->tmpLocalSize = 2 * pair * inner + (isInitIndex ? 0 : half ? 2 * inner : inner);
    if (!isInitIndex) t->srcIndexOffset = 2 * pair * inner;
    t->innerDataSize = pair * inner;
    t->copyUbToUbBlockCount = uint32_t(inner * 8 / 32);
    t->sortRepeat = uint32_t(inner / 32);
    t->mrgSortRepeat = inner / 4;
    t->kAlignTwoBytes = (k + 15) / 16 * 16;
    t->maskOffset = outter * (half ? t->kAlignTwoBytes : t->kAlignFourBytes);
    t->maskVreducev2FourBytes = 2 * k;
    t->maskVreducev2TwoBytes = 4 * k;
    t->mrgSortSrc1offset = t->mrgSortTwoQueueSrc1Offset = pair;
    t->mrgSortSrc2offset = 2 * pair;
    t->mrgSortSrc3offset = 3 * pair;
    t->mrgFourQueueTailPara1 = inner * 2;
    t->mrgFourQueueTailPara2 = 4 / size;
}
}  // namespace topk_tiling
inline bool TopKTilingFunc(const tmp_size::Platform &, const int32_t inner, const int32_t outter, const int32_t k, const uint32_t dataTypeSize,
                           const bool isInitIndex, enum TopKMode mode, const bool isLargest, const topk_tiling::Out &t)
{
    if (dataTypeSize == 0) return false;
    t->allDataSize = inner * outter;
    t->kAlignFourBytes = (k + 7) / 8 * 8;
    if (mode == TopKMode::TOPK_NORMAL)
        topk_tiling::rows(inner, outter, k, int32_t(dataTypeSize), isInitIndex, t);
    else
        topk_tiling::small(inner, outter, k, int32_t(dataTypeSize), isInitIndex, isLargest, t);
    return true;
}

}  // namespace AscendC

#endif
