/* Normalisations over rows, gated activations and TopK of the high-level API, in
 * float over basic calls. Row statistics leave through the scalar unit, one value per row. */
#ifndef ACRAFT_NORM_H
#define ACRAFT_NORM_H

#include "acraft/cube.h"

#include <limits>

namespace AscendC {

namespace norm {

using acraft::math::F;

template <typename T> inline void put_value(const LocalTensor<T> &to, uint32_t r, const F &value, const acraft::Site &s)
{
    acraft::sync_inside(HardEvent::V_S, s);
    to.SetValue(r, T(value.GetValue(0, s)), s);
    acraft::sync_inside(HardEvent::S_V, s);
}

/* x of a row into w.x, its mean subtracted; the mean stays in w.value. */
inline void centre(const softmax::Scratch &w, uint32_t h, const acraft::Site &s)
{
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, h, s);
    Muls(w.value, w.value, 1.0f / float(h), 1, s);
    softmax::spread_value(w.spread, w.value, s);
    softmax::with_block(NPU_SUB, w.x, w.x, w.spread, h, s);
}

/* Mean of squares of w.x in w.value. */
inline void mean_square(const softmax::Scratch &w, uint32_t h, const acraft::Site &s)
{
    Mul(w.y, w.x, w.x, int32_t(h), s);
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.y, w.y, h, s);
    Muls(w.value, w.value, 1.0f / float(h), 1, s);
}

/* w.x /= sqrt(w.value + epsilon); the root stays spread. */
inline void divide_by_root(const softmax::Scratch &w, float epsilon, uint32_t h, const acraft::Site &s)
{
    Adds(w.other, w.value, epsilon, 1, s);
    Sqrt(w.other, w.other, 1, s);
    softmax::spread_value(w.spread, w.other, s);
    softmax::with_block(NPU_DIV, w.x, w.x, w.spread, h, s);
}

template <typename U> inline void affine(const softmax::Scratch &w, const LocalTensor<U> *gamma, const LocalTensor<U> *beta, uint32_t h, const acraft::Site &s)
{
    if (gamma) {
        softmax::load_row(w.y, *gamma, h, s);
        Mul(w.x, w.x, w.y, int32_t(h), s);
    }
    if (beta) {
        softmax::load_row(w.y, *beta, h, s);
        Add(w.x, w.x, w.y, int32_t(h), s);
    }
}

/* spread: the variance or, `reciprocal`, one over the deviation; statistics, gamma and beta that are null are left out. */
template <typename T, typename U, typename S>
inline void layer(const LocalTensor<T> &out, const LocalTensor<S> *mean, const LocalTensor<S> *spread, bool reciprocal, const LocalTensor<T> &x,
                  const LocalTensor<U> *gamma, const LocalTensor<U> *beta, const LocalTensor<uint8_t> &tmp, float epsilon, uint32_t rows,
                  uint32_t pitch, uint32_t h, const acraft::Site &s)
{
    static_assert(SupportType<T, half, float>(), "acraft: LayerNorm exists only for half and float on Atlas A2");
    softmax::Scratch w(tmp, h);
    for (uint32_t r = 0; r < rows; r++) {
        softmax::load_row(w.x, x[r * pitch], h, s);
        centre(w, h, s);
        if (mean) put_value(*mean, r, w.value, s);
        mean_square(w, h, s);
        if (spread && !reciprocal) put_value(*spread, r, w.value, s);
        divide_by_root(w, epsilon, h, s);
        if (spread && reciprocal) {
            Duplicate(w.value, 1.0f, 8, s);
            Div(w.value, w.value, w.other, 1, s);
            put_value(*spread, r, w.value, s);
        }
        affine(w, gamma, beta, h, s);
        softmax::store_row(out[r * pitch], w.x, h, s);
    }
}

}  // namespace norm

template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &tmp, const T epsilon,
                      LayerNormTiling &tiling, ACRAFT_SITE)
{
    norm::layer(output, &outputMean, &outputVariance, false, x, &gamma, &beta, tmp, float(epsilon), tiling.bLength * tiling.sLength, tiling.hLength,
                tiling.originalHLength, site.in("LayerNorm"));
}
template <typename T, bool isReuseSource = false>
inline void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean, const LocalTensor<T> &outputVariance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon, LayerNormTiling &tiling, ACRAFT_SITE)
{
    LayerNorm<T, isReuseSource>(output, outputMean, outputVariance, x, gamma, beta, acraft::math::stack(), epsilon, tiling, site);
}

struct LayerNormPara {
    uint32_t aLength = 0, rLength = 0, rLengthWithPadding = 0;
};
struct LayerNormConfig {
    bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false, isOutputRstd = true;
};
constexpr LayerNormConfig LNCFG_NORM = {};
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd,
                      const LocalTensor<T> &x, const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
                      const LocalTensor<uint8_t> &tmp, const LayerNormPara &para, const LayerNormSeparateTiling &, ACRAFT_SITE)
{
    static_assert(config.isOutputRstd, "acraft: LayerNorm of rows gives no variance on Atlas A2");
    norm::layer(output, config.isOnlyOutput ? nullptr : &outputMean, config.isOnlyOutput ? nullptr : &outputRstd, true, x,
                config.isNoGamma ? nullptr : &gamma, config.isNoBeta ? nullptr : &beta, tmp, epsilon, para.aLength, para.rLengthWithPadding,
                para.rLength, site.in("LayerNorm"));
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig &config = LNCFG_NORM>
inline void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean, const LocalTensor<float> &outputRstd,
                      const LocalTensor<T> &x, const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon, const LayerNormPara &para,
                      const LayerNormSeparateTiling &tiling, ACRAFT_SITE)
{
    LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, x, gamma, beta, epsilon, acraft::math::stack(), para, tiling, site);
}

template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &gamma, const LocalTensor<uint8_t> &tmp,
                    const T epsilon, const RmsNormTiling &tiling, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: RmsNorm exists only for half and float on Atlas A2");
    acraft::Site s = site.in("RmsNorm");
    uint32_t h = tiling.originalHLength;
    softmax::Scratch w(tmp, h);
    for (uint32_t r = 0; r < tiling.bLength * tiling.sLength; r++) {
        softmax::load_row(w.x, src[r * tiling.hLength], h, s);
        norm::mean_square(w, h, s);
        norm::divide_by_root(w, float(epsilon), h, s);
        norm::affine<T>(w, &gamma, nullptr, h, s);
        softmax::store_row(dst[r * tiling.hLength], w.x, h, s);
    }
}
template <typename T, bool isBasicBlock = false>
inline void RmsNorm(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &gamma, const T epsilon, const RmsNormTiling &tiling,
                    ACRAFT_SITE)
{
    RmsNorm<T, isBasicBlock>(dst, src, gamma, acraft::math::stack(), epsilon, tiling, site);
}

/* ---- gated activations: a times an activation of b ---- */

namespace gated {
template <typename T, int live, typename Op>
inline void run(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, uint32_t count,
                const Op &op, const acraft::Site &s)
{
    constexpr int need = live + 3;
    uint32_t chunk = tmp.GetSize() / uint32_t(need * 4);
    chunk = chunk >= 64 ? chunk / 64 * 64 : chunk / 8 * 8;
    if (chunk == 0) chunk = 8;
    acraft::math::F t[live + 3];
    for (int i = 0; i < need; i++) t[i] = acraft::math::buffer(tmp, chunk, i);
    for (uint32_t at = 0; at < count; at += chunk) {
        uint32_t n = count - at < chunk ? count - at : chunk;
        softmax::load_row(t[live], b[at], n, s);
        op(t[live + 1], t[live], t, int(n), s);
        softmax::load_row(t[live + 2], a[at], n, s);
        Mul(t[live + 1], t[live + 1], t[live + 2], int32_t(n), s);
        softmax::store_row(dst[at], t[live + 1], n, s);
    }
}
inline void relu(const acraft::math::F &y, const acraft::math::F &x, const acraft::math::F *, int n, const acraft::Site &s) { Relu(y, x, n, s); }
}  // namespace gated

#define ACRAFT_GATED(NAME, OP)                                                                     \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        gated::run<T, 1>(dst, a, b, tmp, calCount, OP, site.in(#NAME));                            \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, uint32_t calCount, ACRAFT_SITE) \
    {                                                                                              \
        gated::run<T, 1>(dst, a, b, acraft::math::stack(), calCount, OP, site.in(#NAME));          \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, ACRAFT_SITE) \
    {                                                                                              \
        gated::run<T, 1>(dst, a, b, acraft::math::stack(), a.GetSize(), OP, site.in(#NAME));       \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE) \
    {                                                                                              \
        gated::run<T, 1>(dst, a, b, tmp, a.GetSize(), OP, site.in(#NAME));                         \
    }
ACRAFT_GATED(GeGLU, &acraft::math::Gelu::run)
ACRAFT_GATED(ReGlu, &gated::relu)
#undef ACRAFT_GATED
template <typename T, bool isReuseSource = false>
inline void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const float &beta, const LocalTensor<uint8_t> &tmp,
                   const uint32_t calCount, ACRAFT_SITE)
{
    gated::run<T, 1>(dst, a, b, tmp, calCount, acraft::math::SwishBy{beta}, site.in("SwiGLU"));
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const float &beta, const LocalTensor<uint8_t> &tmp,
                   ACRAFT_SITE)
{
    SwiGLU<T, isReuseSource>(dst, a, b, beta, tmp, a.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const float &beta, const uint32_t calCount, ACRAFT_SITE)
{
    SwiGLU<T, isReuseSource>(dst, a, b, beta, acraft::math::stack(), calCount, site);
}
template <typename T, bool isReuseSource = false>
inline void SwiGLU(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const float &beta, ACRAFT_SITE)
{
    SwiGLU<T, isReuseSource>(dst, a, b, beta, acraft::math::stack(), a.GetSize(), site);
}

/* ---- TopK over rows of `inner` elements, a whole number of 32 ---- */

struct TopKInfo {
    int32_t outter = 1;
    int32_t inner = 0;
    int32_t n = 0;
};
namespace topk {

/* Scratch of a row: its values, pairs twice, indices, what was picked of both; then rows as they stand before they
 * are put close together. */
template <typename T> struct Scratch {
    LocalTensor<T> row, sorted, other, values, held;
    LocalTensor<int32_t> index, heldIndex;
    LocalTensor<uint32_t> picked;
    Scratch(const LocalTensor<uint8_t> &given, uint32_t inner, uint32_t heldBytes)
    {
        uint32_t pairs = GetSortLen<T>(inner), held_at = uint32_t((inner + 2 * pairs + inner) * sizeof(T)) + inner * 8;
        LocalTensor<uint8_t> room = given.GetSize() >= held_at + 2 * heldBytes ? given : acraft::math::stack();
        row = room.template ReinterpretCast<T>();
        sorted = row[inner];
        other = sorted[pairs];
        index = other[pairs].template ReinterpretCast<int32_t>();
        values = index[inner].template ReinterpretCast<T>();
        picked = values[inner].template ReinterpretCast<uint32_t>();
        held = room[held_at].template ReinterpretCast<T>();
        heldIndex = room[held_at + heldBytes].template ReinterpretCast<int32_t>();
    }
};

/* Rows of k that stand `pitch` apart, close together. */
template <typename T> inline void close(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t rows, uint32_t k, uint32_t pitch, const acraft::Site &s)
{
    uint64_t kept = 0;
    GatherMask(dst, src, 7, true, k, GatherMaskParams(1, uint16_t(rows), uint16_t(pitch / acraft::per_block<T>()), 0), kept, s);
}

}  // namespace topk

/* Normal: one row of indices serves all, results stand whole blocks apart. Small: indices for every row, rows of 32,
 * results close together. */
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
inline void TopK(const LocalTensor<T> &dstValue, const LocalTensor<int32_t> &dstIndex, const LocalTensor<T> &src, const LocalTensor<int32_t> &srcIndex,
                 const LocalTensor<bool> &finish, const LocalTensor<uint8_t> &tmp, const int32_t k, const TopkTiling &, const TopKInfo &info,
                 const bool isLargest = true, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: TopK exists only for half and float on Atlas A2");
    acraft::Site s = site.in("TopK");
    constexpr bool small = topkMode == TopKMode::TOPK_NSMALL;
    uint32_t inner = uint32_t(info.inner), rows = uint32_t(info.outter);
    uint32_t pitch_v = AlignUp(uint32_t(k), acraft::per_block<T>()), pitch_i = AlignUp(uint32_t(k), 8);
    topk::Scratch<T> w(tmp, inner, small ? rows * pitch_v * 4 : 0);
    LocalTensor<T> values = small ? w.held : dstValue;
    LocalTensor<int32_t> indices = small ? w.heldIndex : dstIndex;
    T lowest = T(-std::numeric_limits<float>::infinity());
    for (uint32_t r = 0; r < rows; r++) {
        Muls(w.row, src[r * inner], T(isLargest ? 1 : -1), int32_t(inner), s);
        if (info.n < info.inner) {
            acraft::sync_inside(HardEvent::V_S, s);
            for (int32_t i = info.n; i < info.inner; i++) w.row.SetValue(uint32_t(i), lowest, s);
            acraft::sync_inside(HardEvent::S_V, s);
        }
        if (isInitIndex) DataCopy(w.index, srcIndex[small ? r * inner : 0], inner, s);
        else ArithProgression(w.index, 0, 1, info.inner, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        Sort<T, true>(w.sorted, w.row, w.index.template ReinterpretCast<uint32_t>(), w.other, int32_t(inner / 32), s);
        acraft::put_barrier(NPU_PIPE_V, s);
        Extract(w.values, w.picked, w.sorted, int32_t(inner / 32), s);
        acraft::put_barrier(NPU_PIPE_V, s);
        Muls(values[r * pitch_v], w.values, T(isLargest ? 1 : -1), k, s);
        DataCopy(indices[r * pitch_i], w.picked.template ReinterpretCast<int32_t>(), pitch_i, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        if constexpr (isHasfinish) {
            acraft::sync_inside(HardEvent::V_S, s);
            if (finish.GetValue(r, s)) Duplicate(indices[r * pitch_i], info.n, k, s);
        }
    }
    if constexpr (small) {
        topk::close(dstValue, values, rows, uint32_t(k), pitch_v, s);
        topk::close(dstIndex.template ReinterpretCast<uint32_t>(), indices.template ReinterpretCast<uint32_t>(), rows, uint32_t(k), pitch_i, s);
    }
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false, enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
inline void TopK(const LocalTensor<T> &dstValue, const LocalTensor<int32_t> &dstIndex, const LocalTensor<T> &src, const LocalTensor<int32_t> &srcIndex,
                 const LocalTensor<bool> &finish, const int32_t k, const TopkTiling &tiling, const TopKInfo &info, const bool isLargest = true,
                 ACRAFT_SITE)
{
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValue, dstIndex, src, srcIndex, finish, acraft::math::stack(), k, tiling, info,
                                                            isLargest, site);
}

}  // namespace AscendC

#endif
