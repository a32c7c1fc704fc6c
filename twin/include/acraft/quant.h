/* Quantising and back: AscendQuant (half arithmetic to int8), AscendDequant (int32 times scales), AscendAntiQuant
 * (small integers plus offset, times scale). In: tensors, scales as numbers or tensors, scratch. Out: records of the
 * basic calls under the API's name. Where the scratch is smaller than ours needs, the rest of UB is used. */
#ifndef ACRAFT_QUANT_H
#define ACRAFT_QUANT_H

#include "acraft/norm_more.h"

namespace AscendC {

struct AscendQuantConfig {
    constexpr AscendQuantConfig(const uint32_t calc, const uint32_t offset, const uint32_t scale, const uint32_t work)
        : calcCount(calc), offsetCount(offset), scaleCount(scale), workLocalSize(work)
    {
    }
    uint32_t calcCount = 0, offsetCount = 0, scaleCount = 0, workLocalSize = 0;
};
constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG = {0, 0, 0, 0};

enum class DeQuantMode : uint8_t { DEQUANT_WITH_SINGLE_ROW, DEQUANT_WITH_MULTI_ROW };
struct DequantParams {
    uint32_t m, n, calCount;
};
struct AntiQuantShapeInfo {
    uint32_t offsetHeight{0};
    uint32_t offsetWidth{0};
    uint32_t scaleHeight{0};
    uint32_t scaleWidth{0};
};

namespace quant {

using acraft::math::F;
using H = LocalTensor<half>;

inline LocalTensor<uint8_t> room_of(const LocalTensor<uint8_t> &given, uint32_t need)
{
    return given.GetSize() >= need ? given : acraft::math::stack();
}

/* A tensor as the type the arithmetic runs in; `spare` holds it where it has another. */
template <typename W, typename T>
inline LocalTensor<W> in_type(const LocalTensor<W> &spare, const LocalTensor<T> &from, uint32_t n, const acraft::Site &s)
{
    if constexpr (std::is_same<W, T>::value) return from;
    else {
        Cast(spare, from, RoundMode::CAST_NONE, n, s);
        return spare;
    }
}

/* A parameter of quantisation, a number or a tensor of one value per column. */
template <typename W, typename T> struct Column {
    LocalTensor<T> of;
    void times(const LocalTensor<W> &y, const LocalTensor<W> &x, const LocalTensor<W> &spare, uint32_t at, uint32_t n, const acraft::Site &s) const
    {
        Mul(y, x, in_type(spare, of[at], n, s), int32_t(n), s);
    }
    void times_rows(const LocalTensor<W> &x, uint64_t lanes, uint8_t rows, uint32_t at, const BinaryRepeatParams &steps, const acraft::Site &s) const
    {
        Mul(x, x, of[at], lanes, rows, steps, s);
    }
    void plus(const LocalTensor<W> &y, const LocalTensor<W> &x, const LocalTensor<W> &spare, uint32_t at, uint32_t n, const acraft::Site &s) const
    {
        Add(y, x, in_type(spare, of[at], n, s), int32_t(n), s);
    }
};
template <typename W> struct Number {
    W value;
    void times(const LocalTensor<W> &y, const LocalTensor<W> &x, const LocalTensor<W> &, uint32_t, uint32_t n, const acraft::Site &s) const
    {
        Muls(y, x, value, int32_t(n), s);
    }
    void times_rows(const LocalTensor<W> &x, uint64_t lanes, uint8_t rows, uint32_t, const BinaryRepeatParams &steps, const acraft::Site &s) const
    {
        Muls(x, x, value, lanes, rows, UnaryRepeatParams(1, 1, steps.dstRepStride, steps.src0RepStride), s);
    }
    void plus(const LocalTensor<W> &y, const LocalTensor<W> &x, const LocalTensor<W> &, uint32_t, uint32_t n, const acraft::Site &s) const
    {
        Adds(y, x, value, int32_t(n), s);
    }
};

/* round(x scale + offset) to int8 in half, rows of `width`. */
template <typename T, typename Scale, typename Offset>
inline void to_int8(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const Scale &scale,
                    const Offset &offset, uint32_t width, uint32_t count, const acraft::Site &s)
{
    static_assert(SupportType<T, half, float>(), "acraft: AscendQuant exists only for half and float on Atlas A2");
    LocalTensor<uint8_t> room = room_of(tmp, 256 * 2);
    uint32_t chunk = room.GetSize() / 4 / 128 * 128;
    H x = room.ReinterpretCast<half>(), spare = x[chunk];
    for (uint32_t row = 0; width && row < count; row += width)
        for (uint32_t at = 0; at < width && row + at < count; at += chunk) {
            uint32_t n = width - at < chunk ? width - at : chunk;
            if (n > count - row - at) n = count - row - at;
            scale.times(x, in_type(x, src[row + at], n, s), spare, at, n, s);
            offset.plus(x, x, spare, at, n, s);
            Cast(dst[row + at], x, RoundMode::CAST_RINT, n, s);
        }
}

/* Scales of a row in float: uint64 ones carry a float in their lower half. */
template <typename S> inline F scales(const F &spare, const LocalTensor<S> &from, uint32_t n, const acraft::Site &s)
{
    if constexpr (std::is_same<S, uint64_t>::value) {
        uint64_t kept = 0;
        GatherMask(spare.ReinterpretCast<uint32_t>(), from.template ReinterpretCast<uint32_t>(), 1, true, n * 2, GatherMaskParams(1, 1, 0, 0), kept, s);
        return spare;
    } else {
        return in_type(spare, from, n, s);
    }
}

template <DeQuantMode mode, typename D> inline DequantParams rows_of(DequantParams p)
{
    constexpr uint32_t block = acraft::per_block<D>();
    if (mode == DeQuantMode::DEQUANT_WITH_SINGLE_ROW && p.m == 1 && p.calCount && p.calCount % block == 0 && p.n % p.calCount == 0)
        return {p.n / p.calCount, p.calCount, p.calCount};
    return p;
}

/* As many rows at a time as the scratch holds: converted in one go, multiplied column by column of 64 with the row of
 * scales standing still, converted or moved to the result. Rows are whole blocks of both types without gaps. */
template <typename D, typename Scale>
inline void blocks_from_int32(const LocalTensor<D> &dst, const LocalTensor<int32_t> &src, const F &x, uint32_t rows, const DequantParams &p,
                              const Scale &scale, const acraft::Site &s)
{
    BinaryRepeatParams steps(1, 1, 1, uint8_t(p.n / 8), uint8_t(p.n / 8), 0);
    for (uint32_t r = 0; r < p.m; r += rows) {
        uint32_t k = p.m - r < rows ? p.m - r : rows;
        Cast(x, src[r * p.n], RoundMode::CAST_NONE, k * p.n, s);
        for (uint32_t c = 0; c < p.n; c += 64) {
            uint64_t lanes = p.n - c < 64 ? p.n - c : 64;
            scale.times_rows(x[c], lanes, uint8_t(k), c, steps, s);
        }
        if constexpr (std::is_same<D, float>::value) Adds(dst[r * p.n], x, 0.0f, int32_t(k * p.n), s);
        else Cast(dst[r * p.n], x, RoundMode::CAST_RINT, k * p.n, s);
    }
}

template <DeQuantMode mode, typename D, typename Scale>
inline void from_int32(const LocalTensor<D> &dst, const LocalTensor<int32_t> &src, const LocalTensor<uint8_t> &tmp, DequantParams p,
                       const Scale &scale_into, const acraft::Site &s)
{
    static_assert(SupportType<D, half, bfloat16_t, float>(), "acraft: AscendDequant does not exist for this dtype on Atlas A2");
    p = rows_of<mode, D>(p);
    uint32_t row = norm::whole(p.n), pitch = AlignUp(p.n, acraft::per_block<D>());
    F room = norm::room_for(tmp, row, 2), x = room[row];
    auto scale = scale_into(room, p.calCount);
    uint32_t rows = room.GetSize() / row - 1;
    if (rows > 255) rows = 255;
    if (p.m > 1 && rows > 1 && p.calCount == p.n && p.n == row && pitch == p.n && p.n <= 255 * 8)
        return blocks_from_int32(dst, src, x, rows, p, scale, s);
    for (uint32_t r = 0; r < p.m; r++) {
        Cast(x, src[r * p.n], RoundMode::CAST_NONE, p.calCount, s);
        if constexpr (std::is_same<D, float>::value) scale.times(dst[r * pitch], x, x, 0, p.calCount, s);
        else {
            scale.times(x, x, x, 0, p.calCount, s);
            Cast(dst[r * pitch], x, RoundMode::CAST_RINT, p.calCount, s);
        }
    }
}

/* count small integers as half, or through float to bfloat16; op works on them where they are wide. */
template <typename I, typename O, typename Op>
inline void widened(const LocalTensor<O> &dst, const LocalTensor<I> &src, uint32_t count, const LocalTensor<uint8_t> &tmp, const Op &op,
                    const acraft::Site &s)
{
    static_assert(SupportType<I, int8_t, int4b_t>() && SupportType<O, half, bfloat16_t>(),
                  "acraft: AscendAntiQuant does not exist for these dtypes on Atlas A2");
    if constexpr (std::is_same<O, half>::value) {
        Cast(dst, src, RoundMode::CAST_NONE, count, s);
        op(dst, dst, 0, count);
    } else {
        LocalTensor<uint8_t> room = room_of(tmp, 1280);
        uint32_t chunk = room.GetSize() / 10 / 128 * 128;
        F wide = room.ReinterpretCast<float>(), spare = wide[chunk];
        H narrow = spare[chunk].template ReinterpretCast<half>();
        for (uint32_t at = 0; at < count; at += chunk) {
            uint32_t n = count - at < chunk ? count - at : chunk;
            Cast(narrow, src[at], RoundMode::CAST_NONE, n, s);
            Cast(wide, narrow, RoundMode::CAST_NONE, n, s);
            op(wide, spare, at, n);
            Cast(dst[at], wide, RoundMode::CAST_RINT, n, s);
        }
    }
}
template <typename O> using Wide = std::conditional_t<std::is_same<O, half>::value, half, float>;

template <typename I, typename O>
inline void by_number(const LocalTensor<O> &dst, const LocalTensor<I> &src, const O *offset, O scale, uint32_t count,
                      const LocalTensor<uint8_t> &tmp, const acraft::Site &s)
{
    using W = Wide<O>;
    widened(dst, src, count, tmp, [&](const LocalTensor<W> &x, const LocalTensor<W> &, uint32_t, uint32_t n) {
        if (offset) Adds(x, x, W(float(*offset)), int32_t(n), s);
        Muls(x, x, W(float(scale)), int32_t(n), s);
    }, s);
}

/* The extent of a parameter along one axis: as given, or as its tensor has it; 1 where neither is known. */
template <typename T> inline uint32_t extent(uint32_t said, const LocalTensor<T> &t, uint32_t axis)
{
    if (said) return said;
    const ShapeInfo &own = t.shapeInfo_.get();
    return own.shapeDim > axis && own.shape[axis] ? own.shape[axis] : 1;
}

template <typename I, typename O, bool turned>
inline void by_channel(const LocalTensor<O> &dst, const LocalTensor<I> &src, const LocalTensor<O> *offset, const LocalTensor<O> &scale,
                       uint32_t k, const LocalTensor<uint8_t> &tmp, const AntiQuantShapeInfo &info, const acraft::Site &s)
{
    using W = Wide<O>;
    uint32_t n = k ? src.GetSize() / k : 0;
    uint32_t groups = turned ? extent(info.scaleWidth, scale, 1) : extent(info.scaleHeight, scale, 0), size = k / groups;
    if (!turned) {
        for (uint32_t i = 0; size && i < k; i++) {
            uint32_t from = i / size * n;
            widened(dst[i * n], src[i * n], n, tmp, [&](const LocalTensor<W> &x, const LocalTensor<W> &spare, uint32_t at, uint32_t m) {
                if (offset) Column<W, O>{(*offset)[from]}.plus(x, x, spare, at, m, s);
                Column<W, O>{scale[from]}.times(x, x, spare, at, m, s);
            }, s);
        }
        return;
    }
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t i = 0; i < n * groups; i++) {
        O add = offset ? offset->GetValue(i, s) : O(0.0f);
        by_number(dst[i * size], src[i * size], offset ? &add : nullptr, O(scale.GetValue(i, s)), size, tmp, s);
    }
}

}  // namespace quant

/* ---- AscendQuant ---- */

#define ACRAFT_QUANT(PARAMS, SCALE, OFFSET, WIDTH, COUNT)                                          \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG> \
    inline void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, PARAMS, ACRAFT_SITE) \
    {                                                                                              \
        quant::to_int8(dst, src, tmp, SCALE, OFFSET, WIDTH, COUNT, site.in("AscendQuant"));        \
    }                                                                                              \
    template <typename T, bool isReuseSource = false, const AscendQuantConfig &config = ASCEND_QUANT_DEFAULT_CFG> \
    inline void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src, PARAMS, ACRAFT_SITE) \
    {                                                                                              \
        quant::to_int8(dst, src, acraft::math::stack(), SCALE, OFFSET, WIDTH, COUNT, site.in("AscendQuant")); \
    }
#define ACRAFT_COMMA ,
#define ACRAFT_NUMBER(V) (quant::Number<half>{half(float(V))})
#define ACRAFT_COLUMN(V) (quant::Column<half ACRAFT_COMMA T>{V})
ACRAFT_QUANT(const float scale ACRAFT_COMMA const float offset ACRAFT_COMMA const uint32_t calCount, ACRAFT_NUMBER(scale), ACRAFT_NUMBER(offset),
             calCount, calCount)
ACRAFT_QUANT(const float scale ACRAFT_COMMA const float offset, ACRAFT_NUMBER(scale), ACRAFT_NUMBER(offset), src.GetSize(), src.GetSize())
ACRAFT_QUANT(const LocalTensor<T> &scale ACRAFT_COMMA const T offset ACRAFT_COMMA const uint32_t scaleCount ACRAFT_COMMA const uint32_t calCount,
             ACRAFT_COLUMN(scale), ACRAFT_NUMBER(offset), scaleCount, calCount)
ACRAFT_QUANT(const LocalTensor<T> &scale ACRAFT_COMMA const T offset, ACRAFT_COLUMN(scale), ACRAFT_NUMBER(offset), scale.GetSize(), src.GetSize())
ACRAFT_QUANT(const LocalTensor<T> &scale ACRAFT_COMMA const LocalTensor<T> &offset ACRAFT_COMMA const uint32_t scaleCount ACRAFT_COMMA const uint32_t
                 ACRAFT_COMMA const uint32_t calCount,
             ACRAFT_COLUMN(scale), ACRAFT_COLUMN(offset), scaleCount, calCount)
ACRAFT_QUANT(const LocalTensor<T> &scale ACRAFT_COMMA const LocalTensor<T> &offset, ACRAFT_COLUMN(scale), ACRAFT_COLUMN(offset), scale.GetSize(),
             src.GetSize())
#undef ACRAFT_QUANT
#undef ACRAFT_COMMA
#undef ACRAFT_NUMBER
#undef ACRAFT_COLUMN

/* ---- AscendDequant ---- */

template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale,
                          const LocalTensor<uint8_t> &tmp, DequantParams params, ACRAFT_SITE)
{
    static_assert((std::is_same<dstT, half>::value && std::is_same<scaleT, uint64_t>::value) ||
                      (SupportType<dstT, float, bfloat16_t>() && SupportType<scaleT, float, bfloat16_t>()),
                  "acraft: AscendDequant does not exist for these dtypes on Atlas A2");
    acraft::Site s = site.in("AscendDequant");
    quant::from_int32<mode>(dst, src, tmp, params, [&](const quant::F &spare, uint32_t n) {
        return quant::Column<float, float>{quant::scales(spare, deqScale, n, s)};
    }, s);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale, DequantParams params,
                          ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, acraft::math::stack(), params, site);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale,
                          const LocalTensor<uint8_t> &tmp, const uint32_t calCount, ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, tmp, DequantParams{1, src.GetSize(), calCount}, site);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale, const uint32_t calCount,
                          ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, acraft::math::stack(), calCount, site);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale,
                          const LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, tmp, deqScale.GetSize(), site);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const LocalTensor<scaleT> &deqScale, ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, acraft::math::stack(), deqScale.GetSize(), site);
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW,
          typename = std::enable_if_t<std::is_same<scaleT, float>::value || std::is_same<scaleT, bfloat16_t>::value>>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const scaleT deqScale, const LocalTensor<uint8_t> &tmp,
                          DequantParams params, ACRAFT_SITE)
{
    static_assert(SupportType<dstT, float, bfloat16_t>(), "acraft: AscendDequant by a number does not exist for this dtype on Atlas A2");
    quant::from_int32<mode>(dst, src, tmp, params, [&](const quant::F &, uint32_t) { return quant::Number<float>{float(deqScale)}; },
                            site.in("AscendDequant"));
}
template <typename dstT, typename scaleT, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW,
          typename = std::enable_if_t<std::is_same<scaleT, float>::value || std::is_same<scaleT, bfloat16_t>::value>>
inline void AscendDequant(const LocalTensor<dstT> &dst, const LocalTensor<int32_t> &src, const scaleT deqScale, DequantParams params, ACRAFT_SITE)
{
    AscendDequant<dstT, scaleT, mode>(dst, src, deqScale, acraft::math::stack(), params, site);
}

/* ---- AscendAntiQuant ---- */

template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const LocalTensor<OutputDataType> &offset,
                            const LocalTensor<OutputDataType> &scale, const LocalTensor<uint8_t> &tmp, const uint32_t k,
                            const AntiQuantShapeInfo &info = {}, ACRAFT_SITE)
{
    quant::by_channel<InputDataType, OutputDataType, isTranspose>(dst, src, &offset, scale, k, tmp, info, site.in("AscendAntiQuant"));
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const LocalTensor<OutputDataType> &scale,
                            const LocalTensor<uint8_t> &tmp, const uint32_t k, const AntiQuantShapeInfo &info = {}, ACRAFT_SITE)
{
    quant::by_channel<InputDataType, OutputDataType, isTranspose>(dst, src, nullptr, scale, k, tmp, info, site.in("AscendAntiQuant"));
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const LocalTensor<OutputDataType> &offset,
                            const LocalTensor<OutputDataType> &scale, const uint32_t k, const AntiQuantShapeInfo &info = {}, ACRAFT_SITE)
{
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, acraft::math::stack(), k, info, site);
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType offset,
                            const OutputDataType scale, const LocalTensor<uint8_t> &tmp, const uint32_t, const AntiQuantShapeInfo & = {}, ACRAFT_SITE)
{
    quant::by_number(dst, src, &offset, scale, src.GetSize(), tmp, site.in("AscendAntiQuant"));
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType scale,
                            const LocalTensor<uint8_t> &tmp, const uint32_t, const AntiQuantShapeInfo & = {}, ACRAFT_SITE)
{
    quant::by_number<InputDataType, OutputDataType>(dst, src, nullptr, scale, src.GetSize(), tmp, site.in("AscendAntiQuant"));
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType> &dst, const LocalTensor<InputDataType> &src, const OutputDataType offset,
                            const OutputDataType scale, const uint32_t k, const AntiQuantShapeInfo &info = {}, ACRAFT_SITE)
{
    AscendAntiQuant<InputDataType, OutputDataType, isTranspose>(dst, src, offset, scale, acraft::math::stack(), k, info, site);
}

}  // namespace AscendC

#endif
