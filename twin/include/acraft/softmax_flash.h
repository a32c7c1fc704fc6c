/* The older and the newer relative of SoftmaxFlashV2, row by row in float: SoftmaxFlash, which divides by the running
 * sum at once, and SoftmaxFlashV3, which shifts every part of a row towards the mean of the whole row. */
#ifndef ACRAFT_SOFTMAX_FLASH_H
#define ACRAFT_SOFTMAX_FLASH_H

#include "acraft/softmax.h"

namespace AscendC {

struct SoftMaxParams {
    uint32_t srcM{0};
    uint32_t srcK{0};
    uint32_t oriSrcM{0};
    uint32_t oriSrcK{0};
    uint32_t loopCnt{1};
    uint32_t splitMeanCnt{8};
    float alpha{0.9375};
};

namespace softmax {

/* A block of one value, twice over: half's blocks take sixteen. */
inline void twice(const F &block, const acraft::Site &s) { Adds(block[8], block, 0.0f, 8, s); }

template <typename T, typename U>
inline void flash(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                  const LocalTensor<T> &expMax, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax, const LocalTensor<uint8_t> &tmp,
                  const Shape &shape, const acraft::Site &s)
{
    constexpr uint32_t block = acraft::per_block<U>();
    Scratch w(tmp, shape.k);
    F kept = w.other[16];
    for (uint32_t r = 0; r < shape.m; r++) {
        load_row(w.x, src[r * shape.pitch], shape.k, s);
        row_reduce(NPU_REPEAT_MAX, w.value, w.x, w.y, shape.k, s);
        spread_value(w.spread, w.value, s);
        load_block(w.other, inMax[r * block], s);
        Max(w.spread, w.spread, w.other, 8, s);
        twice(w.spread, s);
        Sub(w.other, w.other, w.spread, 8, s);
        Exp(w.other, w.other, 8, s);
        with_block(NPU_SUB, w.x, w.x, w.spread, shape.k, s);
        store_block(max[r * block], w.spread, s);
        Exp(w.x, w.x, int32_t(shape.k), s);
        row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, shape.k, s);
        spread_value(w.spread, w.value, s);
        load_block(kept, inSum[r * block], s);
        Mul(w.other, w.other, kept, 8, s);
        Add(w.spread, w.spread, w.other, 8, s);
        twice(w.spread, s);
        store_block(sum[r * block], w.spread, s);
        Div(w.other, w.other, w.spread, 8, s);
        twice(w.other, s);
        store_block(expMax[r * acraft::per_block<T>()], w.other, s);
        with_block(NPU_DIV, w.x, w.x, w.spread, shape.k, s);
        store_row(dst[r * shape.pitch], w.x, shape.k, s);
    }
}

}  // namespace softmax

template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U>
inline void SoftmaxFlash(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                         const LocalTensor<T> &expMax, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax, const LocalTensor<uint8_t> &tmp,
                         const SoftMaxTiling &tiling, bool isUpdate = false, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: softmax exists only for half and float on Atlas A2");
    acraft::Site s = site.in("SoftmaxFlash");
    softmax::Shape shape = softmax::shape_of(src, tiling, info);
    if (isUpdate) softmax::flash(dst, sum, max, src, expMax, inSum, inMax, tmp, shape, s);
    else softmax::plain(dst, &sum, &max, src, tmp, shape, s);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename U>
inline void SoftmaxFlash(const LocalTensor<T> &dst, const LocalTensor<U> &sum, const LocalTensor<U> &max, const LocalTensor<T> &src,
                         const LocalTensor<T> &expMax, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax, const SoftMaxTiling &tiling,
                         bool isUpdate = false, const SoftMaxShapeInfo &info = {}, ACRAFT_SITE)
{
    SoftmaxFlash<T, isReuseSource, isBasicBlock>(dst, sum, max, src, expMax, inSum, inMax, acraft::math::stack(), tiling, isUpdate, info, site);
}

/* ---- SoftmaxFlashV3 ---- */

namespace softmax {

/* What a row of V3 works with: eight values each, one for a part of the row, or the same one. */
struct Shifted {
    F parts, mean, shift, max, past, work; /* work: 64 */
    explicit Shifted(const F &at) : parts(at), mean(at[16]), shift(at[32]), max(at[48]), past(at[64]), work(at[128]) {}
    static constexpr uint32_t floats = 256;
};

/* Sums of the eight parts of a row, as the vendor forms them: columns [64 c, 64 c + 64) belong to part c; of each
 * further 64 columns eight in turn go to every part. */
inline void sums_of_parts(const Shifted &v, const F &x, uint32_t k, const acraft::Site &s)
{
    acraft::put_barrier(NPU_PIPE_V, s);
    BlockReduceSum(v.work, x, 8, 64, 1, 1, 8, s);
    acraft::put_barrier(NPU_PIPE_V, s);
    for (uint32_t at = 512; at < k; at += 64) Add(v.work, v.work, x[at], 64, s);
    acraft::put_barrier(NPU_PIPE_V, s);
    BlockReduceSum(v.parts, v.work, 1, 64, 1, 1, 8, s);
    acraft::put_barrier(NPU_PIPE_V, s);
}

/* The mean of the row in v.mean; part c of x moved by (mean - mean of part c) alpha / (1 - alpha). */
inline void shift_parts(const Shifted &v, const Scratch &w, const SoftMaxParams &p, const acraft::Site &s)
{
    uint32_t base = p.srcK / p.splitMeanCnt;
    sums_of_parts(v, w.x, p.srcK, s);
    Muls(v.parts, v.parts, 1.0f / float(base), 8, s);
    row_reduce(NPU_REPEAT_SUM, w.value, v.parts, v.work, 8, s);
    spread_value(w.spread, w.value, s);
    Muls(v.mean, w.spread, 1.0f / 8.0f, 8, s);
    Sub(v.parts, v.mean, v.parts, 8, s);
    Muls(v.parts, v.parts, p.alpha / (1.0f - p.alpha), 8, s);
    acraft::put_barrier(NPU_PIPE_V, s);
    Brcb(v.work, v.parts, 1, BrcbRepeatParams(1, 8), s);
    acraft::put_barrier(NPU_PIPE_V, s);
    for (uint32_t c = 0; c < p.splitMeanCnt; c++) with_block(NPU_SUB, w.x[c * base], w.x[c * base], v.work[c * 8], base, s);
}

}  // namespace softmax

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T> &dst, const LocalTensor<U> &mean, const LocalTensor<U> &expSum, const LocalTensor<U> &max,
                           const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<U> &inMean, const LocalTensor<U> &inExpSum,
                           const LocalTensor<U> &inMax, const LocalTensor<uint8_t> &tmp, const SoftMaxTiling &, const SoftMaxParams &params,
                           ACRAFT_SITE)
{
    static_assert(std::is_same<T, half>::value && std::is_same<U, float>::value, "acraft: SoftmaxFlashV3 exists only for half with float on Atlas A2");
    static_assert(!isDataFormatNZ, "acraft: SoftmaxFlashV3 takes no NZ format");
    acraft::Site s = site.in("SoftmaxFlashV3");
    uint32_t k = params.srcK, row = (k + 63) / 64 * 64;
    uint32_t need = (row * 2 + 256 + softmax::Shifted::floats) * 4;
    LocalTensor<uint8_t> room = tmp.GetSize() >= need ? tmp : acraft::math::stack();
    softmax::Scratch w(room[softmax::Shifted::floats * 4], k);
    softmax::Shifted v(room.ReinterpretCast<float>());
    float ratio = params.alpha / (1.0f - params.alpha), count = float(params.loopCnt);
    for (uint32_t r = 0; r < params.srcM; r++) {
        softmax::load_row(w.x, src[r * k], k, s);
        softmax::shift_parts(v, w, params, s);
        softmax::row_reduce(NPU_REPEAT_MAX, w.value, w.x, w.y, k, s);
        softmax::spread_value(w.spread, w.value, s);
        Duplicate(v.shift, 0.0f, 8, s);
        Adds(v.max, w.spread, 0.0f, 8, s);
        Adds(w.other, v.mean, 0.0f, 8, s);
        if (isUpdate) {
            Muls(w.other, inMean[r * 8], count - 1.0f, 8, s);
            Add(w.other, w.other, v.mean, 8, s);
            Muls(w.other, w.other, 1.0f / count, 8, s);
            Sub(v.shift, v.mean, w.other, 8, s);
            Muls(v.shift, v.shift, ratio, 8, s);
            Sub(v.past, inMean[r * 8], w.other, 8, s);
            Muls(v.past, v.past, ratio, 8, s);
            Add(v.past, v.past, inMax[r * 8], 8, s);
            Add(v.max, v.max, v.shift, 8, s);
            Max(v.max, v.max, v.past, 8, s);
            Sub(v.past, v.past, v.max, 8, s);
            Exp(v.past, v.past, 8, s);
            softmax::twice(v.past, s);
            softmax::store_block(expMax[r * 16], v.past, s);
        }
        Adds(mean[r * 8], w.other, 0.0f, 8, s);
        Adds(max[r * 8], v.max, 0.0f, 8, s);
        Sub(v.max, v.max, v.shift, 8, s);
        softmax::with_block(NPU_SUB, w.x, w.x, v.max, k, s);
        Exp(w.x, w.x, int32_t(k), s);
        softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, k, s);
        softmax::spread_value(w.spread, w.value, s);
        if (isUpdate) {
            Mul(v.past, v.past, inExpSum[r * 8], 8, s);
            Add(w.spread, w.spread, v.past, 8, s);
        }
        Adds(expSum[r * 8], w.spread, 0.0f, 8, s);
        softmax::store_row(dst[r * k], w.x, k, s);
    }
}
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig &config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T> &dst, const LocalTensor<U> &mean, const LocalTensor<U> &expSum, const LocalTensor<U> &max,
                           const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<U> &inMean, const LocalTensor<U> &inExpSum,
                           const LocalTensor<U> &inMax, const SoftMaxTiling &tiling, const SoftMaxParams &params, ACRAFT_SITE)
{
    SoftmaxFlashV3<T, U, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(dst, mean, expSum, max, src, expMax, inMean, inExpSum, inMax,
                                                                                        acraft::math::stack(), tiling, params, site);
}

}  // namespace AscendC

#endif
