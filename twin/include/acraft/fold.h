/* Running sums, remainders, and reductions of matrices along one axis (the forms with a pattern), over basic
 * calls. In: tensors, scratch, shapes. Out: records under the API's name. */
#ifndef ACRAFT_FOLD_H
#define ACRAFT_FOLD_H

#include "acraft/norm_more.h"

namespace AscendC {

/* ---- CumSum over rows or columns of [outter, inner] ---- */

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true, CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};

namespace cumsum {

using norm::F;

template <typename T> inline void down(const LocalTensor<T> &dst, const LocalTensor<T> &src, const F &room, uint32_t rows, uint32_t n, const acraft::Site &s)
{
    F sum = room, next = room[norm::whole(n)];
    for (uint32_t r = 0; r < rows; r++) {
        softmax::load_row(r ? next : sum, src[r * n], n, s);
        if (r) Add(sum, sum, next, int32_t(n), s);
        softmax::store_row(dst[r * n], sum, n, s);
    }
}

/* 16 rows of 8 floats at `from`, `pitch` apart, to 8 rows of 16 at `to`. */
inline void turn(const F &to, uint32_t to_pitch, const F &from, uint32_t from_pitch, const acraft::Site &s)
{
    LocalTensor<float> d[16], f[16];
    for (uint32_t i = 0; i < 16; i++) {
        d[i] = to[i / 2 * to_pitch + i % 2 * 8];
        f[i] = from[i * from_pitch];
    }
    TransDataTo5HD<float>(d, f, TransDataTo5HDParams(false, false, 1, 0, 0), s);
}

/* Sixteen rows at a time: columns become rows, each is added to the next, and back. */
template <typename T> inline void across(const LocalTensor<T> &dst, const LocalTensor<T> &src, const F &room, uint32_t rows, uint32_t n, const acraft::Site &s)
{
    uint32_t wide = (n + 15) / 16 * 16;
    F x = room, t = room[16 * wide];
    for (uint32_t at = 0; at < rows; at += 16) {
        uint32_t some = rows - at < 16 ? rows - at : 16;
        Duplicate(x, 0.0f, int32_t(16 * wide), s);
        acraft::put_barrier(NPU_PIPE_V, s);
        for (uint32_t r = 0; r < some; r++) softmax::load_row(x[r * wide], src[(at + r) * n], n, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        for (uint32_t c = 0; c < wide; c += 8) turn(t[c * 16], 16, x[c], wide, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        for (uint32_t c = 1; c < n; c++) {
            Add(t[c * 16], t[c * 16], t[c * 16 - 16], 16, s);
            acraft::put_barrier(NPU_PIPE_V, s);
        }
        for (uint32_t c = 0; c < wide; c += 16)
            for (uint32_t r = 0; r < 16; r += 8) turn(x[r * wide + c], wide, t[c * 16 + r], 16, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        for (uint32_t r = 0; r < some; r++) softmax::store_row(dst[(at + r) * n], x[r * wide], n, s);
        acraft::put_barrier(NPU_PIPE_V, s);
    }
}

}  // namespace cumsum

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T> &dst, LocalTensor<T> &lastRow, const LocalTensor<T> &src, LocalTensor<uint8_t> &tmp, const CumSumInfo &info,
                   ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: CumSum exists only for half and float on Atlas A2");
    static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE, "acraft: this CumSum algorithm does not exist on Atlas A2");
    acraft::Site s = site.in("CumSum");
    uint32_t n = info.inner;
    if (config.isLastAxis) cumsum::across(dst, src, norm::room_for(tmp, (n + 15) / 16 * 16, 32), info.outter, n, s);
    else cumsum::down(dst, src, norm::room_for(tmp, norm::whole(n), 2), info.outter, n, s);
    acraft::put_barrier(NPU_PIPE_V, s);
    if (config.outputLastRow) DataCopy(lastRow, dst[(info.outter - 1) * n], n, s);
}
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
inline void CumSum(LocalTensor<T> &dst, LocalTensor<T> &lastRow, const LocalTensor<T> &src, const CumSumInfo &info, ACRAFT_SITE)
{
    LocalTensor<uint8_t> tmp = acraft::math::stack();
    CumSum<T, config>(dst, lastRow, src, tmp, info, site);
}

/* ---- Fmod: a - b trunc(a / b) ---- */

template <typename T, bool isReuseSource = false>
inline void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, const uint32_t count, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: Fmod exists only for half and float on Atlas A2");
    acraft::Site s = site.in("Fmod");
    uint32_t chunk = tmp.GetSize() / 12 / 64 * 64;
    norm::F room = norm::room_for(tmp, chunk ? chunk : 64, 3);
    if (chunk == 0) chunk = 64;
    norm::F x = room, y = room[chunk], q = room[2 * chunk];
    for (uint32_t at = 0; at < count; at += chunk) {
        uint32_t n = count - at < chunk ? count - at : chunk;
        softmax::load_row(x, a[at], n, s);
        softmax::load_row(y, b[at], n, s);
        Div(q, x, y, int32_t(n), s);
        Cast(q, q, RoundMode::CAST_TRUNC, n, s);
        Mul(q, q, y, int32_t(n), s);
        Sub(x, x, q, int32_t(n), s);
        softmax::store_row(dst[at], x, n, s);
    }
}
template <typename T, bool isReuseSource = false>
inline void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const uint32_t count, ACRAFT_SITE)
{
    Fmod<T, isReuseSource>(dst, a, b, acraft::math::stack(), count, site);
}
template <typename T, bool isReuseSource = false>
inline void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<uint8_t> &tmp, ACRAFT_SITE)
{
    Fmod<T, isReuseSource>(dst, a, b, tmp, a.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &a, const LocalTensor<T> &b, ACRAFT_SITE)
{
    Fmod<T, isReuseSource>(dst, a, b, acraft::math::stack(), a.GetSize(), site);
}

/* ---- reductions of [first, last] along one axis; R is the axis that goes ---- */

namespace Pattern {
namespace Reduce {
struct RA {};
struct AR {};
}  // namespace Reduce
}  // namespace Pattern

namespace fold {

using norm::F;

/* row = row op other, over n floats. */
inline void combine(NpuOp op, const F &row, const F &other, uint32_t n, const acraft::Site &s)
{
    acraft::put_binary(op, row, row, other, acraft::mask_count(n), 1, BinaryRepeatParams(), s);
    acraft::put_barrier(NPU_PIPE_V, s);
}
/* The whole of `row` folded into its first element: halves are put onto each other; what has no partner stays. */
inline void inwards(NpuOp op, const F &row, const F &other, uint32_t n, const acraft::Site &s)
{
    for (uint32_t left = n; left > 8;) {
        uint32_t keep = (left + 15) / 16 * 8; /* whole blocks, at least half */
        combine(op, row, row[keep], left - keep, s);
        left = keep;
    }
    uint32_t left = n < 8 ? n : 8;
    acraft::sync_inside(HardEvent::V_S, s);
    for (uint32_t i = 1; i < left; i++) other.SetValue(i * 8, row.GetValue(i, s), s);
    acraft::sync_inside(HardEvent::S_V, s);
    for (uint32_t i = 1; i < left; i++) combine(op, row, other[i * 8], 1, s);
}

template <typename T, typename pattern>
inline void along(NpuOp op, float scale, const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t shape[],
                  bool padded, const acraft::Site &s)
{
    static_assert(std::is_same<T, float>::value, "acraft: this reduction exists only for float on Atlas A2");
    static_assert(std::is_same<pattern, Pattern::Reduce::AR>::value || std::is_same<pattern, Pattern::Reduce::RA>::value,
                  "acraft: reductions have the patterns AR and RA on Atlas A2");
    uint32_t rows = shape[0], n = shape[1], pitch = padded ? (n + 7) / 8 * 8 : n, row = norm::whole(n);
    F room = norm::room_for(tmp, row + 64, 2), x = room, y = room[row + 64];
    if (std::is_same<pattern, Pattern::Reduce::RA>::value) {
        softmax::load_row(x, src, n, s);
        for (uint32_t r = 1; r < rows; r++) combine(op, x, src[r * pitch], n, s);
        Muls(dst, x, scale, int32_t(n), s);
        return;
    }
    for (uint32_t r = 0; r < rows; r++) {
        softmax::load_row(x, src[r * pitch], n, s);
        acraft::put_barrier(NPU_PIPE_V, s);
        inwards(op, x, y, n, s);
        acraft::sync_inside(HardEvent::V_S, s);
        dst.SetValue(r, x.GetValue(0, s) * scale, s);
        acraft::sync_inside(HardEvent::S_V, s);
    }
}
template <typename pattern> inline float part(const uint32_t shape[])
{
    return 1.0f / float(std::is_same<pattern, Pattern::Reduce::AR>::value ? shape[1] : shape[0]);
}

}  // namespace fold

#define ACRAFT_FOLD(NAME, OP, SCALE)                                                               \
    template <typename T, typename pattern, bool isReuseSource = false>                            \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &tmp, const uint32_t srcShape[], \
                     bool srcInnerPad, ACRAFT_SITE)                                                \
    {                                                                                              \
        fold::along<T, pattern>(NPU_##OP, SCALE, dst, src, tmp, srcShape, srcInnerPad, site.in(#NAME)); \
    }                                                                                              \
    template <typename T, typename pattern, bool isReuseSource = false>                            \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t srcShape[], bool srcInnerPad, ACRAFT_SITE) \
    {                                                                                              \
        fold::along<T, pattern>(NPU_##OP, SCALE, dst, src, acraft::math::stack(), srcShape, srcInnerPad, site.in(#NAME)); \
    }
ACRAFT_FOLD(ReduceSum, ADD, 1.0f)
ACRAFT_FOLD(ReduceMax, MAX, 1.0f)
ACRAFT_FOLD(ReduceMin, MIN, 1.0f)
ACRAFT_FOLD(ReduceAny, MAX, 1.0f)
ACRAFT_FOLD(ReduceAll, MIN, 1.0f)
ACRAFT_FOLD(ReduceProd, MUL, 1.0f)
ACRAFT_FOLD(ReduceMean, ADD, fold::part<pattern>(srcShape))
#undef ACRAFT_FOLD

}  // namespace AscendC

#endif
