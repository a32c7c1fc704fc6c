/* Normalisations beyond rows: over batches, groups, and in parts (Welford), over basic calls in float; half goes
 * through float. In: tensors, scratch, the vendor's tilings or parameter structs. Out: records under the API's
 * name. Statistics of single values leave through the scalar unit. */
#ifndef ACRAFT_NORM_MORE_H
#define ACRAFT_NORM_MORE_H

#include "acraft/reduce_pattern.h"
#include "acraft/norm.h"

namespace AscendC {

namespace norm {

/* value[0] as a number, once the vector unit has it; the vector unit goes on after. */
inline float taken(const F &value, const acraft::Site &s)
{
    acraft::sync_inside(HardEvent::V_S, s);
    float v = value.GetValue(0, s);
    acraft::sync_inside(HardEvent::S_V, s);
    return v;
}
template <typename T> inline float number_at(const LocalTensor<T> &t, uint32_t i, const acraft::Site &s) { return float(t.GetValue(i, s)); }

/* Room of `count` floats for each of `live` buffers, the given one if it is large enough. */
inline F room_for(const LocalTensor<uint8_t> &given, uint32_t count, uint32_t live)
{
    uint32_t need = count * live * 4;
    return (given.GetSize() >= need ? given : acraft::math::stack()).ReinterpretCast<float>();
}
constexpr uint32_t whole(uint32_t count) { return (count + 63) / 64 * 64; }

}  // namespace norm

/* ---- DeepNorm: LayerNorm of alpha x + gx. What is called rstd receives the variance, on the device too: its
 * document says otherwise, its implementation and its example do not. ---- */

template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T> &dst, const LocalTensor<T> &mean, const LocalTensor<T> &rstd, const LocalTensor<T> &src,
                     const LocalTensor<T> &gx, const LocalTensor<T> &beta, const LocalTensor<T> &gamma, const LocalTensor<uint8_t> &tmp,
                     const T alpha, const T epsilon, DeepNormTiling &tiling, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: DeepNorm exists only for half and float on Atlas A2");
    acraft::Site s = site.in("DeepNorm");
    uint32_t h = tiling.originalHLength, pitch = tiling.hLength;
    softmax::Scratch w(tmp, h);
    for (uint32_t r = 0; r < tiling.bLength * tiling.sLength; r++) {
        softmax::load_row(w.x, src[r * pitch], h, s);
        Muls(w.x, w.x, float(alpha), int32_t(h), s);
        softmax::load_row(w.y, gx[r * pitch], h, s);
        Add(w.x, w.x, w.y, int32_t(h), s);
        norm::centre(w, h, s);
        norm::put_value(mean, r, w.value, s);
        norm::mean_square(w, h, s);
        norm::put_value(rstd, r, w.value, s);
        norm::divide_by_root(w, float(epsilon), h, s);
        norm::affine(w, &gamma, &beta, h, s);
        softmax::store_row(dst[r * pitch], w.x, h, s);
    }
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
inline void DeepNorm(const LocalTensor<T> &dst, const LocalTensor<T> &mean, const LocalTensor<T> &rstd, const LocalTensor<T> &src,
                     const LocalTensor<T> &gx, const LocalTensor<T> &beta, const LocalTensor<T> &gamma, const T alpha, const T epsilon,
                     DeepNormTiling &tiling, ACRAFT_SITE)
{
    DeepNorm<T, isReuseSrc, isBasicBlock>(dst, mean, rstd, src, gx, beta, gamma, acraft::math::stack(), alpha, epsilon, tiling, site);
}

/* ---- BatchNorm: [B, S H], statistics over B for each of S H; one gamma and beta for each of B ---- */

template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
inline void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &mean, const LocalTensor<T> &variance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &tmp, const T epsilon,
                      BatchNormTiling &tiling, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: BatchNorm exists only for half and float on Atlas A2");
    acraft::Site s = site.in("BatchNorm");
    uint32_t b = tiling.originalBLength, n = tiling.meanVarSize, row = norm::whole(n);
    norm::F room = norm::room_for(tmp, row, 3), m = room, v = room[row], t = room[2 * row];
    float part = 1.0f / float(b ? b : 1);
    Duplicate(m, 0.0f, int32_t(n), s);
    Duplicate(v, 0.0f, int32_t(n), s);
    for (uint32_t i = 0; i < b; i++) {
        softmax::load_row(t, x[i * n], n, s);
        Muls(t, t, part, int32_t(n), s);
        Add(m, m, t, int32_t(n), s);
    }
    for (uint32_t i = 0; i < b; i++) {
        softmax::load_row(t, x[i * n], n, s);
        Sub(t, t, m, int32_t(n), s);
        Mul(t, t, t, int32_t(n), s);
        Muls(t, t, part, int32_t(n), s);
        Add(v, v, t, int32_t(n), s);
    }
    softmax::store_row(mean, m, n, s);
    softmax::store_row(variance, v, n, s);
    Adds(v, v, float(epsilon), int32_t(n), s);
    Sqrt(v, v, int32_t(n), s);
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t i = 0; i < b; i++) {
        softmax::load_row(t, x[i * n], n, s);
        Sub(t, t, m, int32_t(n), s);
        Div(t, t, v, int32_t(n), s);
        Muls(t, t, norm::number_at(gamma, i, s), int32_t(n), s);
        Adds(t, t, norm::number_at(beta, i, s), int32_t(n), s);
        softmax::store_row(output[i * n], t, n, s);
    }
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
inline void BatchNorm(const LocalTensor<T> &output, const LocalTensor<T> &mean, const LocalTensor<T> &variance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon, BatchNormTiling &tiling, ACRAFT_SITE)
{
    BatchNorm<T, isReuseSource, isBasicBlock>(output, mean, variance, x, gamma, beta, acraft::math::stack(), epsilon, tiling, site);
}

/* ---- GroupNorm: [N, C, HW], C in g groups of d; rows of HW stand hwAlignSize apart ---- */

namespace norm {
/* The sum over a group's rows of (x - shift), squared where requested. */
template <typename T>
inline float group_sum(const LocalTensor<T> &x, const softmax::Scratch &w, uint32_t rows, uint32_t pitch, uint32_t n, float shift, bool square,
                       const acraft::Site &s)
{
    float sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        softmax::load_row(w.x, x[r * pitch], n, s);
        Adds(w.x, w.x, -shift, int32_t(n), s);
        if (square) Mul(w.x, w.x, w.x, int32_t(n), s);
        softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, n, s);
        sum += taken(w.value, s);
    }
    return sum;
}
}  // namespace norm

template <typename T, bool isReuseSource = false>
inline void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &mean, const LocalTensor<T> &variance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const LocalTensor<uint8_t> &tmp, const T epsilon,
                      GroupNormTiling &tiling, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: GroupNorm exists only for half and float on Atlas A2");
    acraft::Site s = site.in("GroupNorm");
    uint32_t n = tiling.hw, pitch = tiling.hwAlignSize, d = tiling.d;
    softmax::Scratch w(tmp, n);
    float part = 1.0f / float(n * d ? n * d : 1);
    for (uint32_t g = 0; g < tiling.n * tiling.g; g++) {
        LocalTensor<T> from = x[g * d * pitch], to = output[g * d * pitch];
        float m = norm::group_sum(from, w, d, pitch, n, 0.0f, false, s) * part;
        float v = norm::group_sum(from, w, d, pitch, n, m, true, s) * part;
        mean.SetValue(g, T(m), s);
        variance.SetValue(g, T(v), s);
        float root = __builtin_sqrtf(v + float(epsilon));
        for (uint32_t r = 0; r < d; r++) {
            uint32_t channel = g % tiling.g * d + r;
            softmax::load_row(w.x, from[r * pitch], n, s);
            Adds(w.x, w.x, -m, int32_t(n), s);
            Muls(w.x, w.x, 1.0f / root, int32_t(n), s);
            Muls(w.x, w.x, norm::number_at(gamma, channel, s), int32_t(n), s);
            Adds(w.x, w.x, norm::number_at(beta, channel, s), int32_t(n), s);
            softmax::store_row(to[r * pitch], w.x, n, s);
        }
    }
}
template <typename T, bool isReuseSource = false>
inline void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &mean, const LocalTensor<T> &variance, const LocalTensor<T> &x,
                      const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon, GroupNormTiling &tiling, ACRAFT_SITE)
{
    GroupNorm<T, isReuseSource>(output, mean, variance, x, gamma, beta, acraft::math::stack(), epsilon, tiling, site);
}

/* ---- Normalize: rows with mean and variance known ---- */

struct NormalizePara {
    uint32_t aLength, rLength, rLengthWithPadding;
};
struct NormalizeConfig {
    ReducePattern reducePattern = ReducePattern::AR;
    int32_t aLength = -1;
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
};
constexpr NormalizeConfig NLCFG_NORM = {};

template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &rstd, const LocalTensor<float> &mean,
                      const LocalTensor<float> &variance, const LocalTensor<T> &x, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                      const LocalTensor<uint8_t> &tmp, const float epsilon, const NormalizePara &para, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>() && SupportType<U, half, float>(), "acraft: Normalize does not exist for these dtypes on Atlas A2");
    acraft::Site s = site.in("Normalize");
    uint32_t n = para.rLength, pitch = para.rLengthWithPadding;
    softmax::Scratch w(tmp, n);
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t r = 0; r < para.aLength; r++) {
        float root = __builtin_sqrtf(variance.GetValue(r, s) + epsilon), m = mean.GetValue(r, s);
        if (!config.isOnlyOutput) rstd.SetValue(r, 1.0f / root, s);
        softmax::load_row(w.x, x[r * pitch], n, s);
        Adds(w.x, w.x, -m, int32_t(n), s);
        Muls(w.x, w.x, 1.0f / root, int32_t(n), s);
        norm::affine(w, config.isNoGamma ? nullptr : &gamma, config.isNoBeta ? nullptr : &beta, n, s);
        softmax::store_row(output[r * pitch], w.x, n, s);
    }
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig &config = NLCFG_NORM>
inline void Normalize(const LocalTensor<T> &output, const LocalTensor<float> &rstd, const LocalTensor<float> &mean,
                      const LocalTensor<float> &variance, const LocalTensor<T> &x, const LocalTensor<U> &gamma, const LocalTensor<U> &beta,
                      const float epsilon, const NormalizePara &para, ACRAFT_SITE)
{
    Normalize<U, T, isReuseSource, config>(output, rstd, mean, variance, x, gamma, beta, acraft::math::stack(), epsilon, para, site);
}

/* ---- Welford: mean and sum of squared differences, block after block ---- */

struct WelfordUpdateParam {
    uint32_t rnLength, abLength, abComputeLength;
    float nRec; /* one over the number of blocks so far */
};
struct WelfordUpdateConfig {
    bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U> &outMean, const LocalTensor<U> &outVariance, const LocalTensor<U> &inMean,
                          const LocalTensor<U> &inVariance, const LocalTensor<T> &x, const LocalTensor<uint8_t> &tmp, const WelfordUpdateParam &para,
                          ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>() && std::is_same<U, float>::value, "acraft: WelfordUpdate does not exist for these dtypes on Atlas A2");
    acraft::Site s = site.in("WelfordUpdate");
    uint32_t n = para.abComputeLength, row = norm::whole(para.abLength);
    norm::F room = norm::room_for(tmp, row, 3), v = room, off = room[row], m = room[2 * row];
    softmax::load_row(v, x, n, s);
    Sub(off, v, inMean, int32_t(n), s);
    Muls(m, off, para.nRec, int32_t(n), s);
    Add(m, m, inMean, int32_t(n), s);
    Sub(v, v, m, int32_t(n), s);
    Mul(off, off, v, int32_t(n), s);
    Add(outVariance, inVariance, off, int32_t(n), s);
    Adds(outMean, m, 0.0f, int32_t(n), s);
    if (config.isInplace || n >= para.abLength) return;
    uint32_t rest = n / 8 * 8; /* from here on what was not computed is handed through */
    for (uint32_t i = n; i < para.abLength && i < rest + 8; i++) {
        acraft::sync_inside(HardEvent::V_S, s);
        outMean.SetValue(i, inMean.GetValue(i, s), s);
        outVariance.SetValue(i, inVariance.GetValue(i, s), s);
        acraft::sync_inside(HardEvent::S_V, s);
    }
    uint32_t from = n % 8 ? rest + 8 : n;
    if (from >= para.abLength) return;
    Adds(outMean[from], inMean[from], 0.0f, int32_t(para.abLength - from), s);
    Adds(outVariance[from], inVariance[from], 0.0f, int32_t(para.abLength - from), s);
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
inline void WelfordUpdate(const LocalTensor<U> &outMean, const LocalTensor<U> &outVariance, const LocalTensor<U> &inMean,
                          const LocalTensor<U> &inVariance, const LocalTensor<T> &x, const WelfordUpdateParam &para, ACRAFT_SITE)
{
    WelfordUpdate<T, U, isReuseSource, config>(outMean, outVariance, inMean, inVariance, x, acraft::math::stack(), para, site);
}

struct WelfordFinalizePara {
    uint32_t rnLength, abLength, headCount, headCountLength, tailCount, tailCountLength;
    float abRec, rRec;
};
namespace norm {
/* Mean and variance of all columns' statistics; counts[i] says how many values column i saw. */
inline void welford_end(const LocalTensor<float> &outMean, const LocalTensor<float> &outVariance, const LocalTensor<float> &mean,
                        const LocalTensor<float> &variance, const F &counts, const LocalTensor<uint8_t> &tmp, float mean_part,
                        const WelfordFinalizePara &para, const acraft::Site &s)
{
    uint32_t n = para.abLength;
    softmax::Scratch w(tmp, n);
    Mul(w.x, mean, counts, int32_t(n), s);
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, n, s);
    float m = taken(w.value, s) * mean_part;
    Adds(w.x, mean, -m, int32_t(n), s);
    Mul(w.x, w.x, w.x, int32_t(n), s);
    Mul(w.x, w.x, counts, int32_t(n), s);
    Add(w.x, w.x, variance, int32_t(n), s);
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, w.x, w.y, n, s);
    float v = taken(w.value, s) * para.rRec;
    outMean.SetValue(0, m, s);
    outVariance.SetValue(0, v, s);
}
}  // namespace norm
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float> &outMean, const LocalTensor<float> &outVariance, const LocalTensor<float> &mean,
                            const LocalTensor<float> &variance, const LocalTensor<uint8_t> &, WelfordFinalizePara &para, ACRAFT_SITE)
{
    acraft::Site s = site.in("WelfordFinalize");
    LocalTensor<uint8_t> room = acraft::math::stack();
    norm::F counts = room.ReinterpretCast<float>();
    uint32_t n = para.abLength;
    bool even = para.tailCount == 0 || para.tailCountLength == 0;
    Duplicate(counts, float(even ? para.rnLength : para.tailCount), int32_t(n), s);
    acraft::put_barrier(NPU_PIPE_V, s);
    if (!even) Duplicate(counts, float(para.headCount), int32_t(para.headCountLength), s);
    norm::welford_end(outMean, outVariance, mean, variance, counts, room[norm::whole(n) * 4], even ? para.abRec / float(para.rnLength) : para.rRec,
                      para, s);
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float> &outMean, const LocalTensor<float> &outVariance, const LocalTensor<float> &mean,
                            const LocalTensor<float> &variance, const LocalTensor<int32_t> &counts, const LocalTensor<uint8_t> &,
                            WelfordFinalizePara &para, ACRAFT_SITE)
{
    acraft::Site s = site.in("WelfordFinalize");
    LocalTensor<uint8_t> room = acraft::math::stack();
    norm::F wide = room.ReinterpretCast<float>();
    Cast(wide, counts, RoundMode::CAST_NONE, para.abLength, s);
    norm::welford_end(outMean, outVariance, mean, variance, wide, room[norm::whole(para.abLength) * 4], para.rRec, para, s);
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float> &outMean, const LocalTensor<float> &outVariance, const LocalTensor<float> &mean,
                            const LocalTensor<float> &variance, WelfordFinalizePara &para, ACRAFT_SITE)
{
    WelfordFinalize<isReuseSource>(outMean, outVariance, mean, variance, LocalTensor<uint8_t>(), para, site);
}
template <bool isReuseSource = false>
inline void WelfordFinalize(const LocalTensor<float> &outMean, const LocalTensor<float> &outVariance, const LocalTensor<float> &mean,
                            const LocalTensor<float> &variance, const LocalTensor<int32_t> &counts, WelfordFinalizePara &para, ACRAFT_SITE)
{
    WelfordFinalize<isReuseSource>(outMean, outVariance, mean, variance, counts, LocalTensor<uint8_t>(), para, site);
}

}  // namespace AscendC

#endif
