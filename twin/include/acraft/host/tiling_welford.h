/* Scratch and tilings of normalisations in two steps, A rows of R elements: mean and variance by
 * Welford's way, Normalize, and the LayerNorm that answers with both. Figures of the toolkit's host
 * library for Atlas A2 (impl/adv_api/tiling/normalization: layernorm, normalize, welfordfinalize). */
#ifndef ACRAFT_HOST_TILING_WELFORD_H
#define ACRAFT_HOST_TILING_WELFORD_H

#include "acraft/host/tiling_norm.h"

namespace AscendC {

inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSizeT, const uint32_t, const bool isReuseSource, const bool,
                                          uint32_t &most, uint32_t &least)
{
    least = (typeSizeT == 2 ? 3 : isReuseSource ? 1 : 2) * tmp_size::REPEAT;
    most = (tmp_size::dim(s, 0) * tmp_size::dim(s, 1) + 63) / 64 * least;
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t, const bool, uint32_t &most, uint32_t &least)
{
    uint32_t n = tmp_size::dim(s, 0);
    least = 4 * tmp_size::REPEAT;
    most = n <= 64 ? least : (2 * 64 + 2 * n) * 4;
}

namespace norm_tiling {
struct Ar {
    uint32_t a, r, row; /* row: r in whole blocks */
    Ar(const ge::Shape &s, uint32_t typeSize) : a(dim(s, 0)), r(dim(s, 1)), row(typeSize ? up(r, 32 / typeSize) : r) {}
};
}  // namespace norm_tiling
inline void GetNormalizeMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSizeU, const uint32_t typeSizeT, const bool, const bool,
                                      const bool, uint32_t &most, uint32_t &least)
{
    norm_tiling::Ar x(s, typeSizeT);
    uint32_t row = tmp_size::up(x.row * 4, 32);
    most = 2 * row + 2 * tmp_size::up(tmp_size::up(x.a, 8) * x.row * 4, 32);
    least = std::max(tmp_size::up(x.a * 4, 32), (typeSizeU == 4 ? 2 : 4) * row);
}
inline void GetLayerNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, const bool isComputeRstd,
                                      const bool isOnlyOutput, uint32_t &most, uint32_t &least)
{
    norm_tiling::Ar x(s, typeSize);
    uint32_t stats = tmp_size::up(x.a * 4, 32), second_most = 0, second_least = 0;
    GetNormalizeMaxMinTmpSize(s, typeSize, typeSize, isReuseSource, isComputeRstd, isOnlyOutput, second_most, second_least);
    most = std::max(2 * tmp_size::up(x.a * x.row * 4, 32), second_most) + stats;
    least = std::max(2 * tmp_size::up(x.row * 4, 32), second_least) + stats;
}
inline void GetLayerNormNDTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool, const bool,
                                     const TilingOut<tiling::LayerNormSeparateTiling> &t)
{
    norm_tiling::Ar x(s, typeSize);
    uint32_t all = x.a * x.row, stats = tmp_size::up(x.a, norm_tiling::FLOATS), total = room / 4;
    if (!all || total <= stats) return;
    uint32_t one = std::min((total - stats) / 2 / x.row * x.row, all);
    if (!one) return;
    uint32_t tail = all % one;
    t->aLength = x.a;
    t->rLength = x.r;
    t->inputXSize = all;
    t->meanVarSize = x.a;
    t->numberOfTmpBuf = 2;
    t->varianceTmpTensorPos = 0;
    t->varianceTmpTensorSize = t->firstTmpStartPos = stats;
    t->tmpBufSize = total;
    t->oneTmpSize = t->inputRoundSize = t->arCurLength = one;
    t->secondTmpStartPos = stats + one;
    t->loopRound = all / one;
    t->inputTailSize = tail;
    t->inputTailPos = all - tail;
    t->meanVarRoundSize = t->aCurLength = one / x.row;
    t->meanVarTailSize = tail / x.row;
    t->meanVarTailPos = x.a - tail / x.row;
    t->rValueBack = 1.0f / float(x.r);
}

}  // namespace AscendC

#endif
