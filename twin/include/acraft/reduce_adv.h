/* High-level reductions and broadcasts over rows: Sum, Mean, BroadCast, SelectWithBytesMask. */
#ifndef ACRAFT_REDUCE_ADV_H
#define ACRAFT_REDUCE_ADV_H

#include "acraft/symbols.h"

namespace AscendC {

struct SumParams {
    uint32_t outter = 1;
    uint32_t inner = 0; /* row pitch, a whole number of blocks */
    uint32_t n = 0;     /* elements of a row that count */
};
struct MeanParams {
    uint32_t outter = 1;
    uint32_t inner = 0;
    uint32_t n = 0;
};

namespace rows {

/* One sum per row: repeats of the row summed into scratch, those summed into dst[row]. */
template <typename T>
inline void sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, uint32_t rows, uint32_t pitch, uint32_t n,
                const acraft::Site &s)
{
    constexpr uint32_t lanes = acraft::per_repeat<T>();
    for (uint32_t r = 0; r < rows; r++) {
        LocalTensor<T> from = src[r * pitch];
        uint32_t left = n;
        while (left > lanes) {
            acraft::put_reduce(NPU_REPEAT_SUM, tmp, from, acraft::Mask{left, 0, true}, 1, 1, 1, 8, 0, s);
            acraft::put_barrier(NPU_PIPE_V, s);
            left = (left + lanes - 1) / lanes;
            from = tmp;
        }
        acraft::put_reduce(NPU_REPEAT_SUM, dst[r], from, acraft::Mask{left, 0, true}, 1, 1, 1, 8, 0, s);
        acraft::put_barrier(NPU_PIPE_V, s);
    }
    acraft::mask_register = acraft::full_mask;
}

}  // namespace rows

template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const SumParams &p, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: Sum exists only for half and float on Atlas A2");
    rows::sum(dst, src, tmp.template ReinterpretCast<T>(), p.outter, p.inner, p.n, site.in("Sum"));
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &p, ACRAFT_SITE)
{
    Sum<T, reduceDim, isReuseSource, isBasicBlock>(dst, src, acraft::math::stack(), p, site);
}

template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const MeanParams &p, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: Mean exists only for half and float on Atlas A2");
    acraft::Site s = site.in("Mean");
    float part = 1.0f / float(p.n ? p.n : 1);
    if constexpr (std::is_same<T, half>::value && std::is_same<accType, float>::value) {
        LocalTensor<float> wide = tmp.ReinterpretCast<float>();
        uint32_t room = (p.n + 63) / 64 * 64;
        for (uint32_t r = 0; r < p.outter; r++) {
            Cast(wide, src[r * p.inner], RoundMode::CAST_NONE, p.n, s);
            rows::sum(wide, wide, wide[room], 1, 0, p.n, s);
            Muls(wide, wide, part, 1, s);
            Cast(wide.template ReinterpretCast<half>(), wide, RoundMode::CAST_NONE, 1u, s);
            acraft::sync_inside(HardEvent::V_S, s);
            dst.SetValue(r, wide.template ReinterpretCast<half>().GetValue(0, s), s);
            acraft::sync_inside(HardEvent::S_V, s);
        }
    } else {
        rows::sum(dst, src, tmp.template ReinterpretCast<T>(), p.outter, p.inner, p.n, s);
        Muls(dst, dst, T(part), int32_t(p.outter), s);
    }
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false, int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T> &dst, const LocalTensor<T> &src, const MeanParams &p, ACRAFT_SITE)
{
    Mean<T, accType, isReuseSource, isBasicBlock, reduceDim>(dst, src, acraft::math::stack(), p, site);
}

/* ---- BroadCast ---- */

namespace broadcast {

/* [n] -> [m, n], rows one after the other; the rows of dst need not start at blocks when n is a
 * whole number of them, otherwise elements are moved by the scalar unit. */
template <typename T>
inline void rows(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t m, uint32_t n, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<T>();
    if (n % block == 0) {
        for (uint32_t r = m; r-- > 0;)
            if (r > 0 || dst.record_address() != src.record_address()) DataCopy(dst[r * n], src, n, s);
        return;
    }
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t r = m; r-- > 0;)
        for (uint32_t i = n; i-- > 0;) dst.SetValue(r * n + i, src.GetValue(i, s), s);
    acraft::sync_inside(HardEvent::S_V, s);
}

/* m rows of n from m blocks, by Copy with block stride 0. In Counter mode one Copy does it on the device; here
 * that is a record a row, so that tall tiles go column by column instead. */
template <typename T>
inline void fill_rows(const LocalTensor<T> &dst, const LocalTensor<T> &spread, uint32_t m, uint32_t n, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<T>(), lanes = acraft::per_repeat<T>();
    CopyRepeatParams steps(1, 0, uint16_t(n / block), 1);
    if (m <= (n + lanes - 1) / lanes) return acraft_copy::put(dst, spread, acraft::Mask{n, 0, true}, m, steps, s);
    for (uint32_t c = 0; c < n; c += lanes)
        acraft_copy::put(dst[c], spread, acraft::mask_first(n - c < lanes ? n - c : lanes), m, steps, s);
}

/* [m, 1] -> [m, n]: each element fills a row. Eight at a time by Brcb into scratch, then copied with
 * repeat stride 0 where rows are whole blocks; otherwise Duplicate of the scalar. */
template <typename T>
inline void columns(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, uint32_t m, uint32_t n,
                    const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<T>();
    LocalTensor<T> spread = tmp.template ReinterpretCast<T>();
    uint32_t room = spread.GetSize() / (8 * block) * 8;
    if (n % block == 0 && n / block <= 4095 && room >= 8) {
        if (room > 248 * 8) room = 248 * 8;
        for (uint32_t at = 0; at < m; at += room) {
            uint32_t part = m - at < room ? m - at : room;
            Brcb(spread, src[at], uint8_t((part + 7) / 8), BrcbRepeatParams(1, 8), s);
            acraft::put_barrier(NPU_PIPE_V, s);
            for (uint32_t r = 0; r < part; r += 255) {
                uint32_t some = part - r < 255 ? part - r : 255;
                fill_rows(dst[(at + r) * n], spread[r * block], some, n, s);
            }
            acraft::put_barrier(NPU_PIPE_V, s);
        }
        acraft::mask_register = acraft::full_mask;
        return;
    }
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t r = m; r-- > 0;) {
        T value = src.GetValue(r, s);
        for (uint32_t c = 0; c < n; c++) dst.SetValue(r * n + c, value, s);
    }
    acraft::sync_inside(HardEvent::S_V, s);
}

}  // namespace broadcast

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                      LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    static_assert(dim == 1 || dim == 2, "acraft: BroadCast exists for one or two dimensions");
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4, "acraft: BroadCast does not exist for this dtype on Atlas A2");
    acraft::Site s = site.in("BroadCast");
    if constexpr (sizeof(T) > 1 && !SupportType<T, half, float>()) { /* bits of the same width */
        using Bits = std::conditional_t<sizeof(T) == 2, half, float>;
        return BroadCast<Bits, dim, axis, isReuseSource>(dst.template ReinterpretCast<Bits>(), src.template ReinterpretCast<Bits>(), dstShape,
                                                         srcShape, tmp, s);
    }
    uint32_t total = 1;
    for (int i = 0; i < dim; i++) total *= dstShape[i];
    bool same = true;
    for (int i = 0; i < dim; i++) same = same && dstShape[i] == srcShape[i];
    if constexpr (sizeof(T) == 1) {
        acraft::sync_inside(HardEvent::V_S, s);
        for (uint32_t i = total; i-- > 0;) {
            uint32_t n = dstShape[dim - 1], r = i / n, c = i % n;
            uint32_t from = same ? i : dim == 1 ? 0 : axis == 0 ? c : r;
            dst.SetValue(i, src.GetValue(from, s), s);
        }
        acraft::sync_inside(HardEvent::S_V, s);
    } else if (same) {
        DataCopy(dst, src, (total + acraft::per_block<T>() - 1) / acraft::per_block<T>() * acraft::per_block<T>(), s);
    } else if constexpr (dim == 1) {
        acraft::sync_inside(HardEvent::V_S, s);
        Duplicate(dst, src.GetValue(0, s), int32_t(total), s);
    } else if constexpr (axis == 0) {
        broadcast::rows(dst, src, dstShape[0], dstShape[1], s);
    } else {
        broadcast::columns(dst, src, tmp, dstShape[0], dstShape[1], s);
    }
    acraft::put_barrier(NPU_PIPE_V, s);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim], const uint32_t srcShape[dim], ACRAFT_SITE)
{
    LocalTensor<uint8_t> tmp = acraft::math::stack();
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, tmp, site);
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                      LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, tmp, site.in("Broadcast"));
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim], const uint32_t srcShape[dim], ACRAFT_SITE)
{
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape, site.in("Broadcast"));
}

/* ---- selection by a byte per element ---- */

struct SelectWithBytesMaskShapeInfo {
    SelectWithBytesMaskShapeInfo() {}
    SelectWithBytesMaskShapeInfo(const uint32_t first, const uint32_t srcLast, const uint32_t maskLast)
        : firstAxis(first), srcLastAxis(srcLast), maskLastAxis(maskLast)
    {
    }
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;
};

namespace select {
/* Mask bytes to half to bits, row by row; where the byte is set the scalar is used. */
template <typename T, typename U>
inline void by_bytes(const LocalTensor<T> &dst, const LocalTensor<T> &src, T scalar, const LocalTensor<U> &mask, bool scalar_where_set,
                     const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &info, const acraft::Site &s)
{
    static_assert(sizeof(U) == 1, "acraft: SelectWithBytesMask takes one-byte masks on Atlas A2");
    uint32_t n = info.srcLastAxis, whole = (n + 127) / 128 * 128;
    /* The vendor's scratch may be smaller than ours: then the rest of UB. */
    LocalTensor<uint8_t> room = tmp.GetSize() >= whole * 2 + whole / 8 ? tmp : acraft::math::stack();
    LocalTensor<half> wide = room.ReinterpretCast<half>();
    LocalTensor<uint8_t> bits = wide[whole].template ReinterpretCast<uint8_t>();
    for (uint32_t r = 0; r < info.firstAxis; r++) {
        Cast(wide, mask[r * info.maskLastAxis].template ReinterpretCast<uint8_t>(), RoundMode::CAST_NONE, n, s);
        CompareScalar(bits, wide, half(0.0f), scalar_where_set ? CMPMODE::EQ : CMPMODE::NE, whole, s);
        Select(dst[r * n], bits, src[r * n], scalar, SELMODE::VSEL_TENSOR_SCALAR_MODE, n, s);
    }
}
}  // namespace select
template <typename T, typename U, bool isReuseMask = true>
inline void SelectWithBytesMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask,
                                const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &info, ACRAFT_SITE)
{
    select::by_bytes(dst, src0, src1, mask, true, tmp, info, site.in("SelectWithBytesMask"));
}
template <typename T, typename U, bool isReuseMask = true>
inline void SelectWithBytesMask(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask,
                                const LocalTensor<uint8_t> &tmp, const SelectWithBytesMaskShapeInfo &info, ACRAFT_SITE)
{
    select::by_bytes(dst, src1, src0, mask, false, tmp, info, site.in("SelectWithBytesMask"));
}
template <typename T, typename U, bool isReuseMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, T src1, const LocalTensor<U> &mask, const LocalTensor<uint8_t> &tmp,
                   const SelectWithBytesMaskShapeInfo &info, ACRAFT_SITE)
{
    SelectWithBytesMask<T, U, isReuseMask>(dst, src0, src1, mask, tmp, info, site);
}
template <typename T, typename U, bool isReuseMask = true>
inline void Select(const LocalTensor<T> &dst, T src0, const LocalTensor<T> &src1, const LocalTensor<U> &mask, const LocalTensor<uint8_t> &tmp,
                   const SelectWithBytesMaskShapeInfo &info, ACRAFT_SITE)
{
    SelectWithBytesMask<T, U, isReuseMask>(dst, src0, src1, mask, tmp, info, site);
}

}  // namespace AscendC

#endif
