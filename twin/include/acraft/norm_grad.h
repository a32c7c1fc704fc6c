/* Gradients of LayerNorm over rows, in float: LayerNormGrad (with regard to x, and the normalised x that gamma's
 * gradient needs), LayerNormGradBeta (sums over all rows). In: tensors of [B, S, H] and [B, S], tilings. */
#ifndef ACRAFT_NORM_GRAD_H
#define ACRAFT_NORM_GRAD_H

#include "acraft/norm_more.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

namespace norm {

inline float row_sum(const F &row, const softmax::Scratch &w, uint32_t n, const acraft::Site &s)
{
    softmax::row_reduce(NPU_REPEAT_SUM, w.value, row, w.y, n, s);
    return taken(w.value, s);
}

/* With g = dy gamma, c = x - mean, r = 1 / sqrt(variance + epsilon):
 *   pd_var = -0.5 r^3 sum(g c),   pd_mean = -r sum(g) - 2 pd_var sum(c) / H,
 *   pd_x = g r + 2 pd_var c / H + pd_mean / H,   for_gamma = c r. */
template <typename T>
inline void grad_row(const LocalTensor<T> &pd_x, const LocalTensor<T> &for_gamma, const LocalTensor<T> &dy, const LocalTensor<T> &x,
                     const LocalTensor<T> &gamma, float mean, float root, uint32_t h, const softmax::Scratch &w, const F &g, const F &c,
                     const acraft::Site &s)
{
    float r = 1.0f / root, part = 1.0f / float(h);
    int32_t n = int32_t(h);
    softmax::load_row(g, dy, h, s);
    softmax::load_row(w.y, gamma, h, s);
    Mul(g, g, w.y, n, s);
    softmax::load_row(c, x, h, s);
    Adds(c, c, -mean, n, s);
    Mul(w.x, g, c, n, s);
    float pd_var = -0.5f * row_sum(w.x, w, h, s) * r * r * r;
    float pd_mean = -r * row_sum(g, w, h, s) - 2.0f * pd_var * part * row_sum(c, w, h, s);
    Muls(w.x, c, r, n, s);
    softmax::store_row(for_gamma, w.x, h, s);
    Muls(g, g, r, n, s);
    Muls(c, c, 2.0f * pd_var * part, n, s);
    Add(g, g, c, n, s);
    Adds(g, g, pd_mean * part, n, s);
    softmax::store_row(pd_x, g, h, s);
}

}  // namespace norm

template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T> &pdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &dy, const LocalTensor<T> &x,
                          const LocalTensor<T> &variance, const LocalTensor<T> &mean, const LocalTensor<T> &gamma, const LocalTensor<uint8_t> &tmp,
                          T epsilon, const LayerNormGradTiling &tiling, const LayerNormGradShapeInfo & = {}, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: LayerNormGrad exists only for half and float on Atlas A2");
    acraft::Site s = site.in("LayerNormGrad");
    uint32_t h = tiling.originalHLength, pitch = tiling.hLength, row = norm::whole(h), held = row * 2 * 4;
    LocalTensor<uint8_t> room = tmp.GetSize() >= held + (row * 2 + 256) * 4 ? tmp : acraft::math::stack();
    norm::F g = room.ReinterpretCast<float>(), c = g[row];
    softmax::Scratch w(room[held], h);
    for (uint32_t r = 0; h && r < tiling.bLength * tiling.sLength; r++) {
        acraft::sync_inside(HardEvent::V_S, s);
        float m = norm::number_at(mean, r, s), root = __builtin_sqrtf(norm::number_at(variance, r, s) + float(epsilon));
        acraft::sync_inside(HardEvent::S_V, s);
        norm::grad_row(pdX[r * pitch], resForGamma[r * pitch], dy[r * pitch], x[r * pitch], gamma, m, root, h, w, g, c, s);
    }
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGrad(const LocalTensor<T> &pdX, const LocalTensor<T> &resForGamma, const LocalTensor<T> &dy, const LocalTensor<T> &x,
                          const LocalTensor<T> &variance, const LocalTensor<T> &mean, const LocalTensor<T> &gamma, T epsilon,
                          const LayerNormGradTiling &tiling, const LayerNormGradShapeInfo &info = {}, ACRAFT_SITE)
{
    LayerNormGrad<T, isReuseSource>(pdX, resForGamma, dy, x, variance, mean, gamma, acraft::math::stack(), epsilon, tiling, info, site);
}

template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T> &pdGamma, const LocalTensor<T> &pdBeta, const LocalTensor<T> &resForGamma,
                              const LocalTensor<T> &dy, const LocalTensor<uint8_t> &tmp, const LayerNormGradBetaTiling &tiling, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: LayerNormGradBeta exists only for half and float on Atlas A2");
    acraft::Site s = site.in("LayerNormGradBeta");
    uint32_t h = tiling.originalHLength, pitch = tiling.hLength, row = norm::whole(h);
    int32_t n = int32_t(h);
    norm::F room = norm::room_for(tmp, row, 4), gamma = room, beta = room[row], d = room[2 * row], x = room[3 * row];
    Duplicate(gamma, 0.0f, n, s);
    Duplicate(beta, 0.0f, n, s);
    for (uint32_t r = 0; r < tiling.bLength * tiling.sLength; r++) {
        softmax::load_row(d, dy[r * pitch], h, s);
        softmax::load_row(x, resForGamma[r * pitch], h, s);
        Add(beta, beta, d, n, s);
        Mul(x, x, d, n, s);
        Add(gamma, gamma, x, n, s);
    }
    softmax::store_row(pdGamma, gamma, h, s);
    softmax::store_row(pdBeta, beta, h, s);
}
template <typename T, bool isReuseSource = false>
inline void LayerNormGradBeta(const LocalTensor<T> &pdGamma, const LocalTensor<T> &pdBeta, const LocalTensor<T> &resForGamma,
                              const LocalTensor<T> &dy, const LayerNormGradBetaTiling &tiling, ACRAFT_SITE)
{
    LayerNormGradBeta<T, isReuseSource>(pdGamma, pdBeta, resForGamma, dy, acraft::math::stack(), tiling, site);
}

}  // namespace AscendC

#endif
