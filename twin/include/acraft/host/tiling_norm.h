/* Scratch and tilings of the normalisations. In: shapes, sizes of types, bytes of scratch. Out: bytes,
 * and the tiling structs that say how much of the input goes at a time and where in the scratch each
 * part lies. All parts count in floats. Figures of the toolkit's host library for Atlas A2
 * (impl/adv_api/tiling/normalization, one file per function). */
#ifndef ACRAFT_HOST_TILING_NORM_H
#define ACRAFT_HOST_TILING_NORM_H

#include "acraft/host/tiling_out.h"
#include "acraft/host/tmp_size.h"

namespace AscendC {
namespace norm_tiling {

constexpr uint32_t FLOATS = 8; /* of a block */
using tmp_size::dim;
using tmp_size::up;

/* A batch of sequences of rows: B, S, H. */
struct Bsh {
    uint32_t b, s, h;
    explicit Bsh(const ge::Shape &shape) : b(dim(shape, 0)), s(dim(shape, 1)), h(dim(shape, 2)) {}
    uint32_t rows() const { return b * s; }
    uint32_t all() const { return b * s * h; }
    bool basic() const { return h && h % 64 == 0 && rows() % 8 == 0; }
};

/* Tensors of the input's size: one fewer where a float input may be overwritten. */
inline uint32_t buffers(bool isReuseSource, uint32_t typeSize) { return isReuseSource && typeSize == 4 ? 2 : 3; }
/* Bytes: that many tensors of `all` floats, and mean and variance of `rows` rows. */
inline uint32_t bytes(uint32_t count, uint32_t all, uint32_t rows) { return count * up(all * 4, 32) + 2 * up(rows * 4, 32); }

/* Mean and variance of inputs of two bytes come first, then equal parts of the rest, whole rows each. */
struct Parts {
    uint32_t stats, both, total, one;
    Parts(uint32_t room, uint32_t rows, uint32_t typeSize, uint32_t count, uint32_t row)
        : stats(up(rows, FLOATS)), both(typeSize == 4 ? 0 : 2 * stats), total(room / 4), one(0)
    {
        if (total > both && row) one = (total - both) / count / row * row;
    }
};

/* The fields LayerNormTiling, DeepNormTiling and GroupNormTiling share. */
template <typename Tiling> inline void fill(Tiling &t, const Parts &p, uint32_t count, uint32_t all, uint32_t rows, uint32_t row)
{
    uint32_t tail = all % p.one;
    t->inputXSize = all;
    t->meanVarSize = rows;
    t->numberOfTmpBuf = count;
    t->meanTmpTensorPos = 0;
    t->meanTmpTensorSize = t->varianceTmpTensorPos = t->varianceTmpTensorSize = p.stats;
    t->tmpBufSize = p.total;
    t->oneTmpSize = t->inputRoundSize = t->bshCurLength = p.one;
    t->firstTmpStartPos = p.both;
    t->secondTmpStartPos = p.both + p.one;
    t->thirdTmpStartPos = p.both + 2 * p.one;
    t->loopRound = all / p.one;
    t->inputTailSize = tail;
    t->inputTailPos = all - tail;
    t->meanVarRoundSize = t->bsCurLength = p.one / row;
    t->meanVarTailSize = tail / row;
    t->meanVarTailPos = rows - tail / row;
}
template <typename Tiling> inline void fill_shape(Tiling &t, const Bsh &x, uint32_t own)
{
    t->bLength = x.b;
    t->sLength = x.s;
    t->hLength = x.h;
    t->originalHLength = own;
}

}  // namespace norm_tiling

/* ---- over the last axis ---- */

inline void GetLayerNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, uint32_t &most, uint32_t &least)
{
    norm_tiling::Bsh x(s);
    uint32_t count = norm_tiling::buffers(isReuseSource, typeSize);
    most = norm_tiling::bytes(count, x.all(), x.rows());
    least = norm_tiling::bytes(count, x.h, x.rows());
}
inline void GetLayerNormNDTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool isReuseSource,
                                     const TilingOut<tiling::LayerNormTiling> &t)
{
    norm_tiling::Bsh x(s);
    uint32_t count = norm_tiling::buffers(isReuseSource, typeSize), own = norm_tiling::dim(s, 3);
    norm_tiling::Parts p(room, x.rows(), typeSize, count, x.h);
    p.one = std::min(p.one, x.all());
    if (!p.one) return;
    norm_tiling::fill_shape(t, x, own);
    norm_tiling::fill(t, p, count, x.all(), x.rows(), x.h);
    t->lastDimValueBack = 1.0f / float(own);
}
inline void GetLayerNormNDTillingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool isReuseSource,
                                      const TilingOut<tiling::LayerNormTiling> &t)
{
    GetLayerNormNDTilingInfo(s, room, typeSize, isReuseSource, t);
}

inline bool GetDeepNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, const bool isBasicBlock,
                                     uint32_t &most, uint32_t &least)
{
    if (isBasicBlock && !norm_tiling::Bsh(s).basic()) return false;
    GetLayerNormMaxMinTmpSize(s, typeSize, isReuseSource, most, least);
    return true;
}
inline bool GetDeepNormTilingInfo(const ge::Shape &s, const ge::Shape &origin, const uint32_t room, const uint32_t typeSize,
                                  const bool isReuseSource, const bool isBasicBlock, const TilingOut<tiling::DeepNormTiling> &t)
{
    norm_tiling::Bsh x(s), own(origin);
    uint32_t most = 0, least = 0, count = norm_tiling::buffers(isReuseSource, typeSize);
    if (!GetDeepNormMaxMinTmpSize(s, typeSize, isReuseSource, isBasicBlock, most, least) || room < least) return false;
    if (x.b != own.b || x.s != own.s || x.h * typeSize % 32 || !own.h || own.h > x.h || x.h > 255 * 8) return false;
    if (isBasicBlock && own.h != x.h) return false;
    norm_tiling::Parts p(room, x.rows(), typeSize, count, x.h);
    p.one = std::min(p.one, x.all());
    if (isBasicBlock && p.one >= 8 * x.h) p.one = p.one / (8 * x.h) * (8 * x.h);
    if (!p.one) return false;
    norm_tiling::fill_shape(t, x, own.h);
    norm_tiling::fill(t, p, count, x.all(), x.rows(), x.h);
    t->lastDimValueBack = 1.0f / float(own.h);
    return true;
}

namespace norm_tiling {
inline bool rms_basic(const Bsh &x) { return x.h % 64 == 0 && x.rows() % 8 == 0 && x.h < 2048; }
inline uint32_t rms_least(const Bsh &x, uint32_t typeSize) { return (x.h * (typeSize == 2 ? 2 : 1) + FLOATS) * 4; }
/* Rows that fit: each wants its length once or twice, and a float in whole blocks. */
inline uint32_t rms_rows(const Bsh &x, uint32_t room, uint32_t typeSize)
{
    uint64_t row = uint64_t(x.h) * (typeSize == 4 ? 1 : 2);
    uint32_t rows = 1, total = room / 4;
    while (rows < x.rows() && total >= (rows + 1) * row + up(rows + 1, FLOATS)) rows++;
    return std::min(rows, x.rows());
}
}  // namespace norm_tiling
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, uint32_t &most, uint32_t &least,
                                    const bool isBasicBlock = false)
{
    norm_tiling::Bsh x(s);
    if (!typeSize || (isBasicBlock && !norm_tiling::rms_basic(x))) return false;
    most = (x.all() * (typeSize == 2 ? 2 : 1) + tmp_size::up(x.rows(), 32 / typeSize)) * 4;
    least = norm_tiling::rms_least(x, typeSize);
    return true;
}
inline bool GetRmsNormTilingInfo(const ge::Shape &s, const ge::Shape &origin, const uint32_t room, const uint32_t typeSize,
                                 const TilingOut<tiling::RmsNormTiling> &t, const bool isBasicBlock = false)
{
    norm_tiling::Bsh x(s), own(origin);
    if (s.GetDimNum() != 3 || origin.GetDimNum() != 3 || x.b != own.b || x.s != own.s || x.h < own.h || !own.h) return false;
    if (x.h * typeSize % 32 || (isBasicBlock && !norm_tiling::rms_basic(x)) || room < norm_tiling::rms_least(x, typeSize)) return false;
    uint32_t rows = norm_tiling::rms_rows(x, room, typeSize);
    rows = !isBasicBlock ? std::min(rows, 255u) : rows < 8 ? rows : rows / 8 * 8;
    if (!rows) return false;
    uint32_t tail = x.all() % (rows * x.h);
    norm_tiling::fill_shape(t, x, own.h);
    t->reciprocalOfHLength = float(1.0 / float(own.h));
    t->mainBshLength = rows * x.h;
    t->mainBsLength = rows;
    t->mainBsLengthAlign = tmp_size::up(rows, norm_tiling::FLOATS);
    t->loopRound = x.all() / (rows * x.h);
    t->tailBshLength = tail;
    t->inputTailPos = x.all() - tail;
    t->tailBsLength = tail / x.h;
    return true;
}

/* ---- over the first axis ---- */

inline bool GetBatchNormMaxMinTmpSize(const ge::Shape &s, const ge::Shape &origin, const uint32_t typeSize, const bool, uint32_t &most,
                                      uint32_t &least, const bool isBasicBlock = false)
{
    norm_tiling::Bsh x(s);
    uint32_t own = norm_tiling::dim(origin, 0), plane = x.s * x.h;
    if (isBasicBlock && (plane % 64 || own % 8)) return false;
    most = norm_tiling::bytes(3, own * plane, plane);
    least = norm_tiling::bytes(3, own * (isBasicBlock ? 64 : typeSize == 2 ? 16 : 8), plane);
    return true;
}
inline bool GetBatchNormNDTilingInfo(const ge::Shape &s, const ge::Shape &origin, const uint32_t room, const uint32_t typeSize,
                                     const bool isReuseSource, const TilingOut<tiling::BatchNormTiling> &t, const bool isBasicBlock = false)
{
    norm_tiling::Bsh x(s);
    uint32_t own = norm_tiling::dim(origin, 0), plane = x.s * x.h, all = own * plane, most = 0, least = 0;
    if (s.GetDimNum() != 3 || origin.GetDimNum() != 3 || !own || plane * typeSize % 32) return false;
    if (!GetBatchNormMaxMinTmpSize(s, origin, typeSize, isReuseSource, most, least, isBasicBlock) || room < least) return false;
    norm_tiling::Parts p(room, plane, typeSize, 3, own * (typeSize == 4 ? 8 : 16));
    p.one = std::min(p.one, all);
    if (!p.one) return false;
    uint32_t columns = p.one / own;
    if (isBasicBlock && columns % 64) columns = columns / 64 * 64, p.one = columns * own;
    uint32_t tail = p.one ? all % p.one : 0;
    t->originalBLength = own;
    t->meanVarSize = plane;
    t->meanTmpTensorPos = 0;
    t->varianceTmpTensorPos = p.stats;
    t->tmpBufSize = p.total;
    t->oneTmpSize = t->bshCurLength = p.one;
    t->firstTmpStartPos = p.both;
    t->secondTmpStartPos = p.both + p.one;
    t->thirdTmpStartPos = p.both + 2 * p.one;
    t->loopRound = p.one ? all / p.one : 0;
    t->inputTailSize = tail;
    t->inputTailPos = (all - tail) / own;
    t->meanVarTailSize = tail / own;
    t->meanVarTailPos = plane - tail / own;
    t->shCurLength = columns;
    t->firstDimValueBack = 1.0f / float(own);
    t->castHalfRepStride = 4;
    t->shCurLengthBlockNum = columns / norm_tiling::FLOATS;
    t->castHalfOutRepStride = plane / 16;
    return true;
}

/* ---- over groups of channels: N, C, H, W ---- */

namespace norm_tiling {
struct Groups {
    uint32_t n, c, hw, d, plane; /* d channels a group; plane: elements of a channel in whole blocks */
    Groups(const ge::Shape &s, uint32_t typeSize, uint32_t groups)
        : n(dim(s, 0)), c(dim(s, 1)), hw(dim(s, 2) * dim(s, 3)), d(groups ? c / groups : 0),
          plane(typeSize ? up(hw * typeSize, 32) / typeSize : 0)
    {
    }
    bool small() const
    {
        uint32_t k = 8;
        while (k > 1 && d * plane / FLOATS % k) k--;
        return plane <= 64 && plane * d <= 64 * k;
    }
    /* At most 255 repeats of small groups are computed at a time, a multiple of eight. */
    uint32_t most_at_once() const
    {
        uint32_t mask = 64, group = d * plane;
        if (group <= 64) mask = group;
        while (mask && group % mask) mask -= 8;
        return mask ? 255 / (group / mask) / 8 * 8 : 0;
    }
};
}  // namespace norm_tiling
inline void GetGroupNormMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, const uint32_t groups,
                                      uint32_t &most, uint32_t &least)
{
    norm_tiling::Groups x(s, typeSize, groups);
    uint32_t count = norm_tiling::buffers(isReuseSource, typeSize), stats = 2 * tmp_size::up(x.n * groups * 4, 32);
    most = count * x.n * x.c * x.plane * 4 + stats;
    least = count * x.d * x.plane * 4 + stats;
}
inline void GetGroupNormNDTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool isReuseSource,
                                     const uint32_t groups, const TilingOut<tiling::GroupNormTiling> &t)
{
    norm_tiling::Groups x(s, typeSize, groups);
    uint32_t count = norm_tiling::buffers(isReuseSource, typeSize), rows = x.n * groups, row = x.d * x.plane, all = x.n * x.c * x.plane;
    if (!row) return;
    norm_tiling::Parts p(room / 32 * 32, rows, typeSize, count, row);
    uint32_t at_once = p.one / row;
    if (x.small()) at_once = std::min(at_once, x.most_at_once());
    if (typeSize == 2 && at_once * row < x.c) return;
    p.one = std::min(at_once * row, all);
    if (!p.one) return;
    t->n = x.n;
    t->c = x.c;
    t->hw = x.hw;
    t->g = groups;
    t->d = x.d;
    t->hwAlignSize = x.plane;
    t->dhwAlignSize = row;
    norm_tiling::fill(t, p, count, all, rows, row);
    t->factor = 1.0f / float(x.d * x.hw);
    t->smallShape = x.small();
}

/* ---- gradients of the layer's: B, S, H, H as it was before it was padded ---- */

inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool isReuseSource, uint32_t &most,
                                          uint32_t &least)
{
    norm_tiling::Bsh x(s);
    uint32_t count = typeSize == 2 ? 9 : isReuseSource ? 4 : 6;
    most = count * std::max(x.all(), x.h * x.h) * typeSize;
    least = count * std::min(x.all(), x.h * x.h) * typeSize;
}
inline void GetLayerNormGradNDTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool isReuseSource,
                                         const TilingOut<tiling::LayerNormGradTiling> &t)
{
    norm_tiling::Bsh x(s);
    uint32_t own = norm_tiling::dim(s, 3), count = typeSize == 2 ? 9 : isReuseSource ? 4 : 6;
    uint32_t rows = x.h ? tmp_size::up(room / 4 / count / x.h, typeSize == 4 ? 8 : 16) : 0, one = rows * x.h;
    if (!one || !own) return;
    bool kept = isReuseSource && typeSize == 4; /* the inputs' own memory serves as x1 and x2 */
    norm_tiling::fill_shape(t, x, own);
    t->stackBufferSize = room;
    t->oneCalSize = one;
    t->nohCalSize = rows;
    t->loopNum = x.all() / one;
    t->tailSize = x.all() % one;
    t->nohTailSize = x.all() % one / x.h;
    t->tmpTensorBSHSize = t->pdVarTensorSize = t->pdMeanTensorSize = one;
    t->x1TensorSize = t->x2TensorSize = t->x3TensorSize = one;
    t->tmpTensorSize = t->tmpTensor1Size = t->tmpTensor2Size = one;
    t->tmpTensorBSHPos = 0;
    t->pdVarTensorPos = one;
    t->pdMeanTensorPos = 2 * one;
    t->x1TensorPos = kept ? 0 : 3 * one;
    t->x2TensorPos = kept ? 0 : 4 * one;
    t->x3TensorPos = (kept ? 3 : 5) * one;
    t->tmpTensorPos = typeSize == 2 ? 6 * one : 0;
    t->tmpTensor1Pos = typeSize == 2 ? 7 * one : 0;
    t->tmpTensor2Pos = typeSize == 2 ? 8 * one : 0;
    float back = 1.0f / float(own), twice = 2.0f / float(own); /* their bits */
    std::memcpy(&t->lastDimValueBack, &back, 4);
    std::memcpy(&t->lastDimValueBackMulTwo, &twice, 4);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape &s, const uint32_t typeSize, const bool, uint32_t &most, uint32_t &least)
{
    norm_tiling::Bsh x(s);
    uint32_t count = typeSize == 2 ? 4 : 2;
    most = count * x.all() * 4;
    least = count * x.h * 4;
}
inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape &s, const uint32_t room, const uint32_t typeSize, const bool,
                                             const TilingOut<tiling::LayerNormGradBetaTiling> &t)
{
    norm_tiling::Bsh x(s);
    uint32_t total = room / 4, one = total;
    bool wide = typeSize == 2; /* gamma, beta, and two parts */
    if (wide) one = total > 2 * x.h ? (total - 2 * x.h) / 2 : 0;
    one = x.h ? std::min(one / x.h * x.h, x.all()) : 0;
    if (!one) return;
    norm_tiling::fill_shape(t, x, norm_tiling::dim(s, 3));
    t->stackBufferSize = total;
    t->bshLength = x.all();
    t->bsLength = x.rows();
    t->oneCalSize = t->bshCurLength = one;
    t->numberOfTmpBuf = wide ? 2 : 1;
    t->loopRound = x.all() / one;
    t->inputTailSize = x.all() % one;
    t->inputTailPos = x.all() - x.all() % one;
    t->bsTailSize = x.all() % one / x.h;
    t->bsCurLength = one / x.h;
    t->gammaTempTensorPos = 0;
    t->betaTempTensorPos = wide ? x.h : 0;
    t->inputDyTmpTensorPos = wide ? 2 * x.h : 0;
    t->resForGammaTmpTensorPos = wide ? 2 * x.h + one : 0;
}

}  // namespace AscendC

#endif
