/* Elements moved and left out: Pad and UnPad of rows, the transposes that a ConfusionTransposeTiling describes, DropOut,
 * BilinearInterpolation.
 * In: tensors in UB, the vendor's tilings and parameter structs. Out: records of copies, gathers and selections. */
#ifndef ACRAFT_REARRANGE_H
#define ACRAFT_REARRANGE_H

#include "acraft/quant.h"

namespace AscendC {

/* ---- Pad and UnPad: [height, width], rows filled up to whole blocks and back ---- */

struct PadParams {
    PadParams() {}
    PadParams(const uint16_t left, const uint16_t right, const int32_t value) : leftPad(left), rightPad(right), padValue(value) {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};
struct UnPadParams {
    UnPadParams() {}
    UnPadParams(const uint16_t left, const uint16_t right) : leftPad(left), rightPad(right) {}
    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

namespace pad {

template <typename T> constexpr bool has_dtype() { return SupportType<T, int16_t, uint16_t, half, int32_t, uint32_t, float>(); }

/* Columns [from, to) of all rows, within one block: a masked fill with a row's distance between repeats. */
template <typename T>
inline void fill(const LocalTensor<T> &dst, T value, uint32_t from, uint32_t to, uint32_t rows, uint32_t pitch, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<T>();
    if (from >= to) return;
    uint32_t start = from / block * block;
    acraft::Mask lanes = {((1ull << (to - start)) - 1) & ~((1ull << (from - start)) - 1), 0, false};
    for (uint32_t r = 0; r < rows; r++) acraft_dup::put(dst[r * pitch + start], value, lanes, 1, 1, 8, s);
    acraft::mask_register = acraft::full_mask;
}

/* Byte offsets of a row that starts `left` elements later, for Gather; what lies before it reads element 0. */
template <typename T> inline LocalTensor<uint32_t> offsets(const LocalTensor<uint8_t> &room, uint32_t left, uint32_t n, const acraft::Site &s)
{
    LocalTensor<int32_t> at = room.ReinterpretCast<int32_t>();
    ArithProgression(at, -int32_t(left * sizeof(T)), int32_t(sizeof(T)), int32_t(n), s);
    Maxs(at, at, 0, int32_t(n), s);
    return at.template ReinterpretCast<uint32_t>();
}

}  // namespace pad

template <typename T>
inline void Pad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const PadParams &params, const LocalTensor<uint8_t> &tmp,
                const PadTiling &tiling, ACRAFT_SITE)
{
    static_assert(pad::has_dtype<T>(), "acraft: Pad does not exist for this dtype on Atlas A2");
    acraft::Site s = site.in("Pad");
    constexpr uint32_t block = acraft::per_block<T>();
    uint32_t rows = tiling.srcHeight, width = tiling.srcWidth, pitch = AlignUp(width, block);
    T value = T(params.padValue);
    if (width % block == 0) {
        DataCopy(dst, src, rows * width, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        pad::fill(dst, value, tiling.srcOriWidth, tiling.srcOriWidth + params.rightPad, rows, pitch, s);
        return;
    }
    uint32_t n = params.leftPad + width;
    LocalTensor<uint32_t> offsets = pad::offsets<T>(quant::room_of(tmp, AlignUp(n, 64u) * 4), params.leftPad, n, s);
    for (uint32_t r = 0; r < rows; r++) Gather(dst[r * pitch], src, offsets, uint32_t(r * width * sizeof(T)), n, s);
    acraft::put_barrier(NPU_PIPE_V, s);
    pad::fill(dst, value, 0, params.leftPad, rows, pitch, s);
    pad::fill(dst, value, n, n + params.rightPad, rows, pitch, s);
}
template <typename T>
inline void Pad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const PadParams &params, const PadTiling &tiling, ACRAFT_SITE)
{
    Pad(dst, src, params, acraft::math::stack(), tiling, site);
}

template <typename T>
inline void UnPad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const UnPadParams &params, const LocalTensor<uint8_t> &, const UnPadTiling &tiling,
                  ACRAFT_SITE)
{
    static_assert(pad::has_dtype<T>(), "acraft: UnPad does not exist for this dtype on Atlas A2");
    constexpr uint32_t block = acraft::per_block<T>();
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    uint64_t kept = 0;
    GatherMask(dst.template ReinterpretCast<Bits>(), src.template ReinterpretCast<Bits>(), 7, true, tiling.srcWidth - params.rightPad,
               GatherMaskParams(1, uint16_t(tiling.srcHeight), uint16_t(tiling.srcWidth / block), 0), kept, site.in("UnPad"));
}
template <typename T>
inline void UnPad(const LocalTensor<T> &dst, const LocalTensor<T> &src, const UnPadParams &params, const UnPadTiling &tiling, ACRAFT_SITE)
{
    UnPad(dst, src, params, LocalTensor<uint8_t>(), tiling, site);
}

/* ---- transposes by a ConfusionTransposeTiling ---- */

namespace confusion {

/* Element (b, n, s, h) of N matrices of S rows and D columns each. Fractals are 16 x 16, extents whole ones. */
struct Extents {
    uint32_t b, n, s, d; /* s: whole fractals, d: as given */
    static constexpr uint32_t up(uint32_t v) { return (v + 15) / 16 * 16; }
    uint32_t wide() const { return up(d); }
    uint32_t all() const { return up(n * d); }
};
using Place = uint32_t (*)(const Extents &, uint32_t b, uint32_t n, uint32_t s, uint32_t h);

/* [B, N, D/16, S/16, 16, 16] */
inline uint32_t nz_each(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h)
{
    return (b * e.n + n) * e.s * e.wide() + h / 16 * e.s * 16 + s * 16 + h % 16;
}
/* [B, N D/16, S/16, 16, 16]: the matrices side by side */
inline uint32_t nz_all(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h)
{
    uint32_t column = n * e.d + h;
    return b * e.s * e.all() + column / 16 * e.s * 16 + s * 16 + column % 16;
}
/* [B, N, S, D] */
inline uint32_t nd_each(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h) { return ((b * e.n + n) * e.s + s) * e.wide() + h; }
/* [B, S, N D] */
inline uint32_t nd_all(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h) { return (b * e.s + s) * e.all() + n * e.d + h; }
/* [B, S, N, D] */
inline uint32_t nd_0213(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h) { return ((b * e.s + s) * e.n + n) * e.wide() + h; }
/* [B, S, D/16, N/16, 16, 16] */
inline uint32_t nz_0213(const Extents &e, uint32_t b, uint32_t n, uint32_t s, uint32_t h)
{
    uint32_t high = Extents::up(e.n);
    return (b * e.s + s) * e.wide() * high + h / 16 * high * 16 + n * 16 + h % 16;
}

/* Sixteen columns of all rows at a time where a matrix has whole fractals; single elements otherwise. */
template <typename T>
inline void move(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Extents &e, Place to, Place from, const acraft::Site &s)
{
    constexpr uint32_t blocks = 16 * sizeof(T) / 32, block = acraft::per_block<T>();
    bool whole = e.d % 16 == 0;
    if (!whole) acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t b = 0; b < e.b; b++)
        for (uint32_t n = 0; n < e.n; n++)
            for (uint32_t h = 0; h < e.d; h += whole ? 16 : 1) {
                if (whole) {
                    uint32_t d = to(e, b, n, 0, h), f = from(e, b, n, 0, h);
                    uint32_t step = (to(e, b, n, 1, h) - d) / block, stride = (from(e, b, n, 1, h) - f) / block;
                    DataCopy(dst[d], src[f], DataCopyParams(uint16_t(e.s), uint16_t(blocks), uint16_t(stride - blocks), uint16_t(step - blocks)), s);
                    continue;
                }
                for (uint32_t r = 0; r < e.s; r++) dst.SetValue(to(e, b, n, r, h), src.GetValue(from(e, b, n, r, h), s), s);
            }
    if (!whole) acraft::sync_inside(HardEvent::S_V, s);
}

/* [height, width] -> [width, height] by sixteen rows at a time; both whole numbers of 16. */
template <typename T>
inline void turn(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t height, uint32_t width, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<T>();
    uint8_t repeats = uint8_t(width / block);
    TransDataTo5HDParams p(false, false, repeats, repeats > 1 ? uint16_t(height) : uint16_t(0), repeats > 1 ? uint16_t(1) : uint16_t(0));
    for (uint32_t row = 0; row < height; row += 16) {
        LocalTensor<T> to[16], from[16];
        for (uint32_t i = 0; i < 16; i++) {
            from[i] = src[(row + i) * width];
            to[i] = sizeof(T) == 2 ? dst[i * height + row] : dst[i / 2 * height + row + i % 2 * 8];
        }
        TransDataTo5HD<T>(to, from, p, s);
    }
}

}  // namespace confusion

template <typename T>
inline void ConfusionTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &, TransposeType type,
                               const ConfusionTransposeTiling &t, ACRAFT_SITE)
{
    static_assert(SupportType<T, int16_t, uint16_t, half, int32_t, uint32_t, float>(), "acraft: ConfusionTranspose does not exist for this dtype on Atlas A2");
    acraft::Site s = site.in("ConfusionTranspose");
    confusion::Extents cut = {t.param1, t.param2, t.param4, t.param3};       /* B, A1, A2, A3 */
    confusion::Extents heads = {t.param1, t.param2, t.param6 * 16, t.param3}; /* B, N, S, H/N */
    confusion::Extents first = {t.param1, t.param2, t.param7 * 16, t.param3}; /* the extents in the layout that keeps them elsewhere */
    switch (type) {
    case TransposeType::TRANSPOSE_NZ2ND_0213: return confusion::move(dst, src, cut, confusion::nd_0213, confusion::nz_each, s);
    case TransposeType::TRANSPOSE_NZ2NZ_0213: return confusion::move(dst, src, cut, confusion::nz_0213, confusion::nz_each, s);
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N: return confusion::move(dst, src, first, confusion::nz_each, confusion::nz_all, s);
    case TransposeType::TRANSPOSE_NZ2ND_012_WITH_N: return confusion::move(dst, src, heads, confusion::nd_each, confusion::nz_all, s);
    case TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N: return confusion::move(dst, src, heads, confusion::nd_all, confusion::nz_each, s);
    case TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N: return confusion::move(dst, src, heads, confusion::nz_all, confusion::nz_each, s);
    case TransposeType::TRANSPOSE_ND2ND_ONLY: return confusion::turn(dst, src, t.param1, t.param2, s);
    default: acraft::unsupported("ConfusionTranspose of this type", s);
    }
}
template <typename T>
inline void ConfusionTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, TransposeType type, const ConfusionTransposeTiling &tiling, ACRAFT_SITE)
{
    ConfusionTranspose(dst, src, LocalTensor<uint8_t>(), type, tiling, site);
}
template <typename T>
inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, TransposeType type,
                      const ConfusionTransposeTiling &tiling, ACRAFT_SITE)
{
    ConfusionTranspose(dst, src, tmp, type, tiling, site.in("Transpose"));
}
template <typename T>
inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, TransposeType type, const ConfusionTransposeTiling &tiling, ACRAFT_SITE)
{
    ConfusionTranspose(dst, src, LocalTensor<uint8_t>(), type, tiling, site.in("Transpose"));
}

/* ---- DropOut: what a mask of bytes or bits keeps, divided by the probability of keeping it ---- */

struct DropOutShapeInfo {
    DropOutShapeInfo() {}
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

namespace dropout {

/* The modes as the vendor numbers them; 0 asks the shapes. */
enum Mode : uint32_t { Guess, BytesPadded, Bytes, Bits, BitsPadded };

inline uint32_t mode_of(uint32_t said, const DropOutShapeInfo &info)
{
    if (said != Guess) return said;
    if (info.srcLastAxis < info.maskLastAxis) return BytesPadded;
    if (info.srcLastAxis == info.maskLastAxis) return Bytes;
    return info.srcLastAxis == info.maskLastAxis * 8 ? Bits : BitsPadded;
}

/* Rows of the mask close together, where they stood maskLastAxis bytes apart. */
inline LocalTensor<uint8_t> packed(const LocalTensor<uint8_t> &room, const LocalTensor<uint8_t> &mask, uint32_t bytes, const DropOutShapeInfo &info,
                                   const acraft::Site &s)
{
    uint64_t kept = 0;
    GatherMask(room.ReinterpretCast<uint16_t>(), mask.ReinterpretCast<uint16_t>(), 7, true, bytes / 2,
               GatherMaskParams(1, uint16_t(info.firstAxis), uint16_t(info.maskLastAxis / 32), 0), kept, s);
    return room;
}

template <typename T>
inline void by_bytes(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask, T factor, uint32_t count,
                     const LocalTensor<uint8_t> &tmp, const acraft::Site &s)
{
    LocalTensor<uint8_t> room = quant::room_of(tmp, 6 * 128);
    uint32_t chunk = room.GetSize() / 6 / 128 * 128;
    LocalTensor<half> narrow = room.ReinterpretCast<half>();
    LocalTensor<T> spare = narrow[chunk].template ReinterpretCast<T>();
    for (uint32_t at = 0; at < count; at += chunk) {
        uint32_t n = count - at < chunk ? count - at : chunk;
        Cast(narrow, mask[at], RoundMode::CAST_NONE, n, s);
        Mul(dst[at], quant::in_type(spare, narrow, n, s), src[at], int32_t(n), s);
        Muls(dst[at], dst[at], factor, int32_t(n), s);
    }
}

}  // namespace dropout

template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask, const LocalTensor<uint8_t> &tmp,
                    const float keepProb, const DropOutShapeInfo &info, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: DropOut exists only for half and float on Atlas A2");
    acraft::Site s = site.in("DropOut");
    uint32_t count = info.firstAxis * info.srcLastAxis, mode = dropout::mode_of(dropOutMode, info);
    bool bits = mode == dropout::Bits || mode == dropout::BitsPadded, gaps = mode == dropout::BytesPadded || mode == dropout::BitsPadded;
    T factor = T(1.0f / keepProb);
    uint32_t bytes = bits ? info.srcLastAxis / 8 : info.srcLastAxis, held = AlignUp(info.firstAxis * bytes, 256u);
    LocalTensor<uint8_t> room = quant::room_of(tmp, held + 6 * 128), chosen = gaps ? dropout::packed(room, mask, bytes, info, s) : mask;
    if (!bits) return dropout::by_bytes(dst, src, chosen, factor, count, room[held], s);
    Select(dst, chosen, src, T(0.0f), SELMODE::VSEL_TENSOR_SCALAR_MODE, count, s);
    Muls(dst, dst, factor, int32_t(count), s);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask, const float keepProb,
                    const DropOutShapeInfo &info, ACRAFT_SITE)
{
    DropOut<T, isInitBitMode, dropOutMode>(dst, src, mask, acraft::math::stack(), keepProb, info, site);
}

/* ---- BilinearInterpolation: blocks gathered, each weighted, hRepeat of them added up ---- */

namespace bilinear {

/* One iteration's weights: one number for its eight blocks, or one for each. */
template <typename M>
inline void run(const LocalTensor<half> &dst, const LocalTensor<half> &src0, const LocalTensor<uint32_t> &offset, const LocalTensor<half> &src1, M mask,
                uint32_t across, bool each, uint16_t dstBlkStride, uint32_t down_by, uint32_t down, const LocalTensor<uint8_t> &tmp,
                const acraft::Site &s)
{
    uint32_t all = across * down, weights = (each ? all * 8 : all), groups = (weights + 7) / 8;
    LocalTensor<half> room = quant::room_of(tmp, (all + groups) * 256).ReinterpretCast<half>(), wide = room[all * 128];
    for (uint32_t at = 0; at < all; at += 255) {
        uint8_t some = uint8_t(all - at < 255 ? all - at : 255);
        Gatherb(room[at * 128].template ReinterpretCast<uint16_t>(), src0.ReinterpretCast<uint16_t>(), offset[at * 8], some, GatherRepeatParams(1, 8), s);
    }
    for (uint32_t at = 0; at < groups; at += 248) {
        uint8_t some = uint8_t(groups - at < 248 ? groups - at : 248);
        Brcb(wide[at * 128], src1[at * 8], some, BrcbRepeatParams(1, 8), s);
    }
    acraft::put_barrier(NPU_PIPE_V, s);
    uint8_t step = each ? 1 : 0, out = uint8_t(dstBlkStride);
    for (uint32_t v = 0; v < down; v++) {
        LocalTensor<half> first = room[v * across * 128], to = dst[v * down_by];
        for (uint32_t h = 0; h < across; h++) {
            uint32_t at = v * across + h;
            bool last = h + 1 == across;
            LocalTensor<half> here = room[at * 128], weight = wide[each ? at * 128 : at * 16];
            if (across == 1) Mul(to, here, weight, mask, 1, BinaryRepeatParams(out, 1, step, 8, 8, 8), s);
            else Mul(here, here, weight, mask, 1, BinaryRepeatParams(1, 1, step, 8, 8, 8), s);
            acraft::put_barrier(NPU_PIPE_V, s);
            if (h > 0) Add(last ? to : first, first, here, mask, 1, BinaryRepeatParams(last ? out : uint8_t(1), 1, 1, 8, 8, 8), s);
            acraft::put_barrier(NPU_PIPE_V, s);
        }
    }
    acraft::mask_register = acraft::full_mask;
}

}  // namespace bilinear

template <typename T>
inline void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset,
                                  const LocalTensor<T> &src1, uint64_t mask[], uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride,
                                  uint16_t vROffset, uint8_t vRepeat, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    static_assert(std::is_same<T, half>::value, "acraft: BilinearInterpolation exists only for half on Atlas A2");
    bilinear::run(dst, src0, src0Offset, src1, mask, hRepeat, repeatMode, dstBlkStride, vROffset, vRepeat, tmp, site.in("BilinearInterpolation"));
}
template <typename T>
inline void BilinearInterpolation(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src0Offset,
                                  const LocalTensor<T> &src1, uint64_t mask, uint8_t hRepeat, bool repeatMode, uint16_t dstBlkStride, uint16_t vROffset,
                                  uint8_t vRepeat, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    static_assert(std::is_same<T, half>::value, "acraft: BilinearInterpolation exists only for half on Atlas A2");
    bilinear::run(dst, src0, src0Offset, src1, mask, hRepeat, repeatMode, dstBlkStride, vROffset, vRepeat, tmp, site.in("BilinearInterpolation"));
}

}  // namespace AscendC

#endif
