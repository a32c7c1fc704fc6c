/* The softmax family, row by row in float: SoftMax, SimpleSoftMax, LogSoftMax, SoftmaxFlashV2,
 * SoftmaxGrad. Row statistics travel as the vendor defines them: one 32-byte block per row, the
 * value repeated. */
#ifndef ACRAFT_SOFTMAX_H
#define ACRAFT_SOFTMAX_H

#include "acraft/reduce_adv.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

enum class SoftmaxMode { SOFTMAX_NORMAL, SOFTMAX_OUTPUT_WITHOUT_BRC };
struct SoftmaxConfig {
    constexpr SoftmaxConfig(bool check, uint32_t m = 0, uint32_t k = 0, SoftmaxMode how = SoftmaxMode::SOFTMAX_NORMAL)
        : isCheckTiling(check), oriSrcM(m), oriSrcK(k), mode(how)
    {
    }
    bool isCheckTiling;
    uint32_t oriSrcM, oriSrcK;
    SoftmaxMode mode;
};
constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

struct SoftMaxShapeInfo {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
};

namespace softmax {

using acraft::math::F;

struct Shape {
    uint32_t m, pitch, k; /* rows, row length in memory, elements that count */
};

/* The shape given, the source tensor's own, or the tiling's, in this order. */
template <typename T, typename Tiling>
inline Shape shape_of(const LocalTensor<T> &src, const Tiling &tiling, const SoftMaxShapeInfo &info)
{
    if (info.srcM != 0 && info.srcK != 0) return {info.srcM, info.srcK, info.oriSrcK ? info.oriSrcK : info.srcK};
    const ShapeInfo &own = src.shapeInfo_.get();
    if (own.shapeDim >= 1 && own.shape[own.shapeDim - 1] != 0) {
        uint32_t k = own.shape[own.shapeDim - 1], m = uint32_t(GetShapeSize(own)) / k;
        uint32_t ori = own.originalShapeDim ? own.originalShape[own.originalShapeDim - 1] : k;
        return {m, k, ori ? ori : k};
    }
    return {tiling.srcM, tiling.srcK, tiling.srcK};
}

/* Scratch of one row: x (k floats), y (k floats), then blocks for single values; `spread` takes nine. */
struct Scratch {
    F x, y, value, spread, other;
    Scratch(const LocalTensor<uint8_t> &given, uint32_t k)
    {
        uint32_t row = (k + 63) / 64 * 64, need = (row * 2 + 64 * 4) * 4;
        LocalTensor<uint8_t> room = given.GetSize() >= need ? given : acraft::math::stack();
        F all = room.ReinterpretCast<float>();
        x = all;
        y = all[row];
        value = all[row * 2];
        spread = all[row * 2 + 64];
        other = all[row * 2 + 192];
    }
};

/* One value of a row statistic, wide, into `to`'s first block; and back (a block of half takes two
 * blocks of float). */
template <typename T> inline void load_block(const F &to, const LocalTensor<T> &from, const acraft::Site &s)
{
    if constexpr (std::is_same<T, half>::value) Cast(to, from, RoundMode::CAST_NONE, 8u, s);
    else Adds(to, from, 0.0f, 8, s);
}
template <typename T> inline void store_block(const LocalTensor<T> &to, const F &from, const acraft::Site &s)
{
    if constexpr (std::is_same<T, half>::value) Cast(to, from, RoundMode::CAST_NONE, 16u, s);
    else Adds(to, from, 0.0f, 8, s);
}

/* value[0] -> eight blocks of it at spread (the first block is what callers use, two for half). */
inline void spread_value(const F &spread, const F &value, const acraft::Site &s)
{
    acraft::put_barrier(NPU_PIPE_V, s);
    Brcb(spread, value, 1, BrcbRepeatParams(0, 8), s);
    Brcb(spread[8], value, 1, BrcbRepeatParams(0, 8), s);
    acraft::put_barrier(NPU_PIPE_V, s);
}

inline void row_reduce(NpuOp op, const F &value, const F &row, const F &tmp, uint32_t k, const acraft::Site &s)
{
    F from = row;
    uint32_t left = k;
    uint8_t mode = uint8_t(op == NPU_REPEAT_SUM ? 0 : uint8_t(ReduceOrder::ORDER_ONLY_VALUE));
    acraft::put_barrier(NPU_PIPE_V, s);
    while (left > 64) {
        acraft::put_reduce(op, tmp, from, acraft::Mask{left, 0, true}, 1, 1, 1, 8, mode, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        left = (left + 63) / 64;
        from = tmp;
    }
    acraft::put_reduce(op, value, from, acraft::Mask{left, 0, true}, 1, 1, 1, 8, mode, s);
    acraft::mask_register = acraft::full_mask;
}

/* y = a op block, the block read again for every block of a. */
inline void with_block(NpuOp op, const F &y, const F &a, const F &block, uint32_t k, const acraft::Site &s)
{
    acraft::put_binary(op, y, a, block, acraft::mask_count(k), 1, BinaryRepeatParams(1, 1, 0, 8, 8, 0), s);
}

template <typename T> inline void load_row(const F &x, const LocalTensor<T> &src, uint32_t k, const acraft::Site &s)
{
    if constexpr (std::is_same<T, half>::value) Cast(x, src, RoundMode::CAST_NONE, k, s);
    else Adds(x, src, 0.0f, int32_t(k), s);
}
template <typename T> inline void store_row(const LocalTensor<T> &dst, const F &y, uint32_t k, const acraft::Site &s)
{
    if constexpr (std::is_same<T, half>::value) Cast(dst, y, RoundMode::CAST_NONE, k, s);
    else Adds(dst, y, 0.0f, int32_t(k), s);
}

/* exp(x - max) of a row already in w.x, left in w.x; max spread in w.spread. */
inline void exp_row(const Scratch &w, uint32_t k, const acraft::Site &s)
{
    row_reduce(NPU_REPEAT_MAX, w.value, w.x, w.y, k, s);
    spread_value(w.spread, w.value, s);
    with_block(NPU_SUB, w.x, w.x, w.spread, k, s);
    Exp(w.x, w.x, int32_t(k), s);
}

template <typename T, typename U>
inline void plain(const LocalTensor<T> &dst, const LocalTensor<U> *sum, const LocalTensor<U> *max, const LocalTensor<T> &src,
                  const LocalTensor<uint8_t> &tmp, const Shape &shape, const acraft::Site &s)
{
    static_assert(SupportType<T, half, float>(), "acraft: softmax exists only for half and float on Atlas A2");
    constexpr uint32_t block = acraft::per_block<U>();
    Scratch w(tmp, shape.k);
    for (uint32_t r = 0; r < shape.m; r++) {
        load_row(w.x, src[r * shape.pitch], shape.k, s);
        exp_row(w, shape.k, s);
        if (max) store_block((*max)[r * block], w.spread, s);
        row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, shape.k, s);
        spread_value(w.spread, w.value, s);
        if (sum) store_block((*sum)[r * block], w.spread, s);
        with_block(NPU_DIV, w.x, w.x, w.spread, shape.k, s);
        store_row(dst[r * shape.pitch], w.x, shape.k, s);
    }
}

}  // namespace softmax

template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                    const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    static_assert(!isDataFormatNZ, "acraft-unsupported: SoftMax in NZ format");
    softmax::plain(dst, &sum, &max, src, tmp, softmax::shape_of(src, tiling, info), site.in("SoftMax"));
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                    const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, sum, max, src, acraft::math::stack(), tiling, info, site);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling,
                    const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    softmax::plain<T, T>(dst, nullptr, nullptr, src, tmp, softmax::shape_of(src, tiling, info), site.in("SoftMax"));
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {},
                    ACRAFT_SITE)
{
    SoftMax<T, isReuseSource, isBasicBlock, config>(dst, src, acraft::math::stack(), tiling, info, site);
}

/* exp(src - max) / sum with statistics from outside. */
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SimpleSoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax, const LocalTensor<T> &src,
                          const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    acraft::Site s = site.in("SimpleSoftMax");
    constexpr uint32_t block = acraft::per_block<U>();
    softmax::Shape shape = softmax::shape_of(src, tiling, info);
    softmax::Scratch w(tmp, shape.k);
    for (uint32_t r = 0; r < shape.m; r++) {
        softmax::load_row(w.x, src[r * shape.pitch], shape.k, s);
        softmax::load_block(w.spread, inMax[r * block], s);
        softmax::with_block(NPU_SUB, w.x, w.x, w.spread, shape.k, s);
        Exp(w.x, w.x, int32_t(shape.k), s);
        softmax::load_block(w.spread, inSum[r * block], s);
        softmax::with_block(NPU_DIV, w.x, w.x, w.spread, shape.k, s);
        softmax::store_row(dst[r * shape.pitch], w.x, shape.k, s);
    }
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SimpleSoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax, const LocalTensor<T> &src,
                          const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, inSum, inMax, src, acraft::math::stack(), tiling, info, site);
}

/* The decimal logarithm of the quotient, as the vendor defines it. */
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename U>
inline void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                       const LocalTensor<uint8_t> &tmp, const LogSoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    acraft::Site s = site.in("LogSoftMax");
    constexpr uint32_t block = acraft::per_block<U>();
    softmax::Shape shape = softmax::shape_of(src, tiling, info);
    softmax::Scratch w(tmp, shape.k);
    for (uint32_t r = 0; r < shape.m; r++) {
        softmax::load_row(w.x, src[r * shape.pitch], shape.k, s);
        softmax::row_reduce(NPU_REPEAT_MAX, w.value, w.x, w.y, shape.k, s);
        softmax::spread_value(w.spread, w.value, s);
        softmax::store_block(max[r * block], w.spread, s);
        softmax::with_block(NPU_SUB, w.x, w.x, w.spread, shape.k, s);
        Exp(w.x, w.x, int32_t(shape.k), s);
        softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, shape.k, s);
        softmax::spread_value(w.spread, w.value, s);
        softmax::store_block(sum[r * block], w.spread, s);
        softmax::with_block(NPU_DIV, w.x, w.x, w.spread, shape.k, s);
        Ln(w.x, w.x, int32_t(shape.k), s);
        Muls(w.x, w.x, 0.434294481903251828f, int32_t(shape.k), s);
        softmax::store_row(dst[r * shape.pitch], w.x, shape.k, s);
    }
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false, typename U>
inline void LogSoftMax(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                       const LogSoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    LogSoftMax<T, isReuseSource, isDataFormatNZ>(dst, sum, max, src, acraft::math::stack(), tiling, info, site);
}

/* One step of the online softmax; with isUpdate the running maximum and sum come in and go out. reduced: the
 * maximum of each row alone, where it is wanted. */
namespace softmax {
template <bool isUpdate, typename T, typename U>
inline void flash_v2(const LocalTensor<T> &dst, const LocalTensor<U> *reduced, const LocalTensor<U> &expSum, const LocalTensor<U> &max,
                     const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<U> &inExpSum, const LocalTensor<U> &inMax,
                     const LocalTensor<uint8_t> &tmp, const Shape &shape, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<U>(), tblock = acraft::per_block<T>();
    softmax::Scratch w(tmp, shape.k);
    for (uint32_t r = 0; r < shape.m; r++) {
        softmax::load_row(w.x, src[r * shape.pitch], shape.k, s);
        softmax::row_reduce(NPU_REPEAT_MAX, w.value, w.x, w.y, shape.k, s);
        softmax::spread_value(w.spread, w.value, s);
        if (reduced) softmax::store_block((*reduced)[r * block], w.spread, s);
        if (isUpdate) {
            softmax::load_block(w.other, inMax[r * block], s);
            Max(w.spread, w.spread, w.other, 8, s);
            Adds(w.spread[8], w.spread, 0.0f, 8, s);
            Sub(w.other, w.other, w.spread, 8, s);
            Exp(w.other, w.other, 8, s);
            Adds(w.other[8], w.other, 0.0f, 8, s);
        }
        softmax::with_block(NPU_SUB, w.x, w.x, w.spread, shape.k, s);
        softmax::store_block(max[r * block], w.spread, s);
        Exp(w.x, w.x, int32_t(shape.k), s);
        softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, shape.k, s);
        softmax::spread_value(w.spread, w.value, s);
        if (isUpdate) {
            softmax::load_block(w.y, inExpSum[r * block], s);
            Mul(w.y, w.y, w.other, 8, s);
            Add(w.spread, w.spread, w.y, 8, s);
            Adds(w.spread[8], w.spread, 0.0f, 8, s);
            softmax::store_block(expMax[r * tblock], w.other, s);
        }
        softmax::store_block(expSum[r * block], w.spread, s);
        softmax::store_row(dst[r * shape.pitch], w.x, shape.k, s);
    }
}
}  // namespace softmax
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<U> &expSum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                           const LocalTensor<T> &expMax, const LocalTensor<U> &inExpSum, const LocalTensor<U> &inMax,
                           const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    static_assert(!isDataFormatNZ, "acraft-unsupported: SoftmaxFlashV2 in NZ format");
    softmax::flash_v2<isUpdate, T, U>(dst, nullptr, expSum, max, src, expMax, inExpSum, inMax, tmp, softmax::shape_of(src, tiling, info),
                                      site.in("SoftmaxFlashV2"));
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<T> &outReduceMax, const LocalTensor<T> &outExpSum,
                           const LocalTensor<T> &outMax, const LocalTensor<T> &src, const LocalTensor<T> &outExpMax, const LocalTensor<T> &inExpSum,
                           const LocalTensor<T> &inMax, const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling,
                           const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    static_assert(!isDataFormatNZ, "acraft-unsupported: SoftmaxFlashV2 in NZ format");
    softmax::flash_v2<isUpdate, T, T>(dst, &outReduceMax, outExpSum, outMax, src, outExpMax, inExpSum, inMax, tmp,
                                      softmax::shape_of(src, tiling, info), site.in("SoftmaxFlashV2"));
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<T> &outReduceMax, const LocalTensor<T> &outExpSum,
                           const LocalTensor<T> &outMax, const LocalTensor<T> &src, const LocalTensor<T> &outExpMax, const LocalTensor<T> &inExpSum,
                           const LocalTensor<T> &inMax, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, outReduceMax, outExpSum, outMax, src, outExpMax, inExpSum,
                                                                                     inMax, acraft::math::stack(), tiling, info, site);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG, typename U>
inline void SoftmaxFlashV2(const LocalTensor<T> &dst, const LocalTensor<U> &expSum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                           const LocalTensor<T> &expMax, const LocalTensor<U> &inExpSum, const LocalTensor<U> &inMax,
                           const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, expSum, max, src, expMax, inExpSum, inMax,
                                                                                     acraft::math::stack(), tiling, info, site);
}
/* Kernels that re-tile on the device take the shape from here; the rest of the tiling is unused. */
inline SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(const uint32_t m, const uint32_t k, const uint32_t, const uint32_t, const uint32_t,
                                                  const bool, const bool)
{
    SoftMaxTiling t = {};
    t.srcM = m;
    t.srcK = k;
    t.srcSize = m * k;
    return t;
}
inline SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo &shape, const uint32_t size1, const uint32_t size2, const uint32_t space,
                                              const bool isUpdate = false, const bool isBasicBlock = false, const bool = false,
                                              const bool = false)
{
    return SoftMaxFlashV2TilingFuncImpl(shape.srcM, shape.srcK, size1, size2, space, isUpdate, isBasicBlock);
}
#ifndef ACRAFT_HOST_TILING_SOFTMAX_H /* which has it for both sides */
constexpr bool IsBasicBlockInSoftMax(const SoftMaxTiling &, const uint32_t = 0, const uint32_t = 0) { return false; }
#endif

/* (grad - sum(grad * src)) * src; isFront: only the sum, one block per row. */
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp,
                        const SoftMaxTiling &tiling, bool isFront = false, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    static_assert(!isDataFormatNZ, "acraft-unsupported: SoftmaxGrad in NZ format");
    acraft::Site s = site.in("SoftmaxGrad");
    softmax::Shape shape = softmax::shape_of(src, tiling, info);
    softmax::Scratch w(tmp, shape.k * 2);
    uint32_t row = (shape.k + 63) / 64 * 64;
    acraft::math::F g = w.x, y = w.x[row], t = w.y;
    for (uint32_t r = 0; r < shape.m; r++) {
        softmax::load_row(g, grad[r * shape.pitch], shape.k, s);
        softmax::load_row(y, src[r * shape.pitch], shape.k, s);
        Mul(t, g, y, int32_t(shape.k), s);
        softmax::row_reduce(NPU_REPEAT_SUM, w.value, t, t, shape.k, s);
        softmax::spread_value(w.spread, w.value, s);
        if (isFront) {
            softmax::store_block(dst[r * acraft::per_block<T>()], w.spread, s);
            continue;
        }
        softmax::with_block(NPU_SUB, g, g, w.spread, shape.k, s);
        Mul(g, g, y, int32_t(shape.k), s);
        softmax::store_row(dst[r * shape.pitch], g, shape.k, s);
    }
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src, const SoftMaxTiling &tiling,
                        bool isFront = false, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(dst, grad, src, acraft::math::stack(), tiling, isFront, info, site);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src,
                             const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &tiling, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxGrad<T, false, isDataFormatNZ>(dst, grad, src, tmp, tiling, true, info, site.in("SoftmaxGradFront"));
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src, const SoftMaxTiling &tiling,
                             const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxGrad<T, false, isDataFormatNZ>(dst, grad, src, acraft::math::stack(), tiling, true, info, site.in("SoftmaxGradFront"));
}

/* Rows whose maximum has the bits `from` are filled with `to`. */
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
inline bool AdjustSoftMaxRes(const LocalTensor<T1> &res, const LocalTensor<T2> &max, const uint32_t from, const T1 to,
                             const SoftMaxShapeInfo &info, ACRAFT_SITE)
{
    acraft::Site s = site.in("AdjustSoftMaxRes");
    bool any = false;
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t r = 0; r < info.srcM; r++) {
        if (uint32_t(acraft::scalar_bits(max.GetValue(r * acraft::per_block<T2>(), s))) != from) continue;
        Duplicate(res[r * info.srcK], to, int32_t(info.srcK), s);
        any = true;
    }
    return any;
}

}  // namespace AscendC

#endif
