/* Reductions: per repeat, per block, per pair, and the whole-tensor calls built on them. In: UB
 * tensors. Out: REDUCE records; ReduceMax and ReduceMin walk their scratch in stages as the
 * device headers do, so that scratch sizes computed for the device fit. */
#ifndef ACRAFT_REDUCE_H
#define ACRAFT_REDUCE_H

#include "acraft/sys.h"

namespace acraft {

template <typename D, typename T>
ACRAFT_OWN inline Record &put_reduce(NpuOp op, const LocalTensor<D> &dst, const LocalTensor<T> &src, const Mask &m, int32_t repeat,
                          int32_t dst_stride, int32_t src_block, int32_t src_stride, uint8_t mode, const Site &site)
{
    Record &r = put(op, site);
    r.dtype[0] = dtype_of<D>();
    r.dtype[1] = r.dtype[2] = dtype_of<T>();
    r.operand[0] = dst.operand(0, uint32_t(dst_stride));
    r.operand[1] = src.operand(uint32_t(src_block), uint32_t(src_stride));
    r.n[0] = uint32_t(repeat);
    r.mode = mode;
    use_mask(r, m);
    return r;
}

/* A pair of flags put in by an API, not by hand. */
ACRAFT_OWN inline void sync_inside(AscendC::HardEvent evt, const Site &site)
{
    int32_t id = GetTPipePtr() ? GetTPipePtr()->FetchEventID(evt) : 0;
    AscendC::TPipe::flag(NPU_SET_FLAG, evt, id, site);
    AscendC::TPipe::flag(NPU_WAIT_FLAG, evt, id, site);
}

}  // namespace acraft

namespace AscendC {

#define ACRAFT_REDUCE_TAIL const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride

/* ---- one value per repeat ---- */

#define ACRAFT_WHOLE(NAME, OP)                                                                     \
    namespace need {                                                                               \
    ACRAFT_NEED(NAME, ACRAFT_HAS(OP));                                                             \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, ACRAFT_REDUCE_TAIL, \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ACRAFT_SITE)              \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_reduce(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(uint64_t(mask)), repeatTime, dstRepStride, srcBlkStride, \
                           srcRepStride, uint8_t(order), site);                                    \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], ACRAFT_REDUCE_TAIL, \
                     ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ACRAFT_SITE)              \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_reduce(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, dstRepStride, srcBlkStride, srcRepStride, \
                           uint8_t(order), site);                                                  \
    }
ACRAFT_WHOLE(WholeReduceMax, REPEAT_MAX)
ACRAFT_WHOLE(WholeReduceMin, REPEAT_MIN)
#undef ACRAFT_WHOLE

/* ---- one value per repeat, sum; per block; per pair: the same parameters ---- */

#define ACRAFT_GROUP(NAME, OP)                                                                     \
    namespace need {                                                                               \
    ACRAFT_NEED(NAME, ACRAFT_HAS(OP));                                                             \
    }
ACRAFT_GROUP(WholeReduceSum, REPEAT_SUM)
ACRAFT_GROUP(BlockReduceSum, BLOCK_SUM)
ACRAFT_GROUP(BlockReduceMax, BLOCK_MAX)
ACRAFT_GROUP(BlockReduceMin, BLOCK_MIN)
ACRAFT_GROUP(PairReduceSum, PAIR_SUM)
#undef ACRAFT_GROUP

template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t mask, ACRAFT_REDUCE_TAIL, ACRAFT_SITE)
{
    static_assert(need::need_WholeReduceSum<T>::value, "acraft: no such dtype");
    acraft::put_reduce(NPU_REPEAT_SUM, dst, src, acraft::mask_for<isSetMask>(uint64_t(mask)), repeatTime, dstRepStride, srcBlkStride,
                       srcRepStride, 0, site);
}
template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], ACRAFT_REDUCE_TAIL, ACRAFT_SITE)
{
    static_assert(need::need_WholeReduceSum<T>::value, "acraft: no such dtype");
    acraft::put_reduce(NPU_REPEAT_SUM, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, dstRepStride, srcBlkStride, srcRepStride, 0,
                       site);
}
template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask,
                            const int32_t, const int32_t srcBlkStride, const int32_t dstRepStride, const int32_t srcRepStride, ACRAFT_SITE)
{
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride, srcRepStride, site.in("RepeatReduceSum"));
}

#define ACRAFT_GROUPED(NAME, OP)                                                                   \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t mask, \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_reduce(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(uint64_t(mask)), repeatTime, dstRepStride, srcBlkStride, \
                           srcRepStride, 0, site);                                                 \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const uint64_t mask[], \
                     const int32_t dstRepStride, const int32_t srcBlkStride, const int32_t srcRepStride, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_reduce(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, dstRepStride, srcBlkStride, srcRepStride, 0, \
                           site);                                                                  \
    }
ACRAFT_GROUPED(BlockReduceSum, BLOCK_SUM)
ACRAFT_GROUPED(BlockReduceMax, BLOCK_MAX)
ACRAFT_GROUPED(BlockReduceMin, BLOCK_MIN)
ACRAFT_GROUPED(PairReduceSum, PAIR_SUM)
#undef ACRAFT_GROUPED

/* ---- new spellings ---- */

template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
inline void ReduceRepeat(const LocalTensor<T> &dst, const LocalTensor<U> &src, const M mask, ACRAFT_REDUCE_TAIL,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, ACRAFT_SITE)
{
    static_assert(std::is_same<T, U>::value, "acraft: ReduceRepeat keeps the dtype on Atlas A2");
    constexpr NpuOp op = type == ReduceType::SUM ? NPU_REPEAT_SUM : type == ReduceType::MAX ? NPU_REPEAT_MAX : NPU_REPEAT_MIN;
    if constexpr (std::is_pointer<M>::value)
        acraft::put_reduce(op, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, dstRepStride, srcBlkStride, srcRepStride,
                           type == ReduceType::SUM ? 0 : uint8_t(order), site);
    else
        acraft::put_reduce(op, dst, src, acraft::mask_for<isSetMask>(uint64_t(mask)), repeatTime, dstRepStride, srcBlkStride, srcRepStride,
                           type == ReduceType::SUM ? 0 : uint8_t(order), site);
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
inline void ReduceDataBlock(const LocalTensor<T> &dst, const LocalTensor<U> &src, const M mask, ACRAFT_REDUCE_TAIL, ACRAFT_SITE)
{
    if constexpr (type == ReduceType::SUM) BlockReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, site);
    else if constexpr (type == ReduceType::MAX) BlockReduceMax<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, site);
    else BlockReduceMin<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, site);
}
template <ReduceType type, typename T, typename U, bool isSetMask = true, typename M>
inline void ReducePairElem(const LocalTensor<T> &dst, const LocalTensor<U> &src, const M mask, ACRAFT_REDUCE_TAIL, ACRAFT_SITE)
{
    PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride, site);
}

/* ---- the whole tensor ---- */

namespace need {
ACRAFT_NEED(ReduceSum, ACRAFT_HAS(REPEAT_SUM));
ACRAFT_NEED(ReduceMax, ACRAFT_HAS(REPEAT_MAX));
ACRAFT_NEED(ReduceMin, ACRAFT_HAS(REPEAT_MIN));
}  // namespace need

/* One instruction adds up all repeats; on the device a scalar then moves the sum into dst, which is
 * why flags V to S, S to V and S to MTE3 follow. */
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t count, ACRAFT_SITE)
{
    static_assert(need::need_ReduceSum<T>::value, "acraft: no such dtype");
    acraft::Site s = site.in("ReduceSum");
    acraft::Mask m = isSetMask ? acraft::mask_count(count) : acraft::mask_register;
    acraft::put_reduce(NPU_REPEAT_SUM, dst, src, m, 1, 1, 1, 8, 1, s);
    acraft::sync_inside(HardEvent::V_S, s);
    acraft::set_element(NPU_LOCAL_SET, dst.record_address(), sizeof(T), GetAccVal<T>(), s);
    acraft::sync_inside(HardEvent::S_V, s);
    acraft::sync_inside(HardEvent::S_MTE3, s);
}

namespace reduce {

/* Sums per repeat, then sums of those until one is left, all in scratch. */
template <typename T>
inline void sum_repeats(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const acraft::Mask &m,
                        int32_t repeat, int32_t srcRepStride, const acraft::Site &s)
{
    constexpr int32_t lanes = int32_t(acraft::per_repeat<T>());
    for (int32_t done = 0; done < repeat; done += MAX_REPEAT_TIMES) {
        int32_t part = repeat - done < MAX_REPEAT_TIMES ? repeat - done : MAX_REPEAT_TIMES;
        acraft::put_reduce(NPU_REPEAT_SUM, tmp[uint32_t(done)], src[uint32_t(done * srcRepStride) * acraft::per_block<T>()], m, part, 1, 1,
                           srcRepStride, 0, s);
    }
    int32_t left = repeat;
    while (left > lanes) {
        acraft::put_barrier(NPU_PIPE_V, s);
        acraft::put_reduce(NPU_REPEAT_SUM, tmp, tmp, acraft::Mask{uint64_t(left), 0, true}, 1, 1, 1, 8, 0, s);
        left = (left + lanes - 1) / lanes;
    }
    acraft::put_barrier(NPU_PIPE_V, s);
    acraft::put_reduce(NPU_REPEAT_SUM, dst, tmp, acraft::Mask{uint64_t(left), 0, true}, 1, 1, 1, 8, 0, s);
    acraft::mask_register = acraft::full_mask;
}

/* One stage of max/min: `pairs` values at src, every second lane (or every lane without index)
 * counts; results follow each other at dst. Returns how many there are. */
template <typename T>
inline int32_t stage(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count, bool index, const acraft::Site &s)
{
    constexpr int32_t lanes = int32_t(acraft::per_repeat<T>());
    int32_t whole = count / lanes, tail = count % lanes, step = index ? 2 : 1;
    uint8_t order = uint8_t(index ? ReduceOrder::ORDER_VALUE_INDEX : ReduceOrder::ORDER_ONLY_VALUE);
    for (int32_t done = 0; done < whole; done += MAX_REPEAT_TIMES) {
        int32_t part = whole - done < MAX_REPEAT_TIMES ? whole - done : MAX_REPEAT_TIMES;
        acraft::put_reduce(op, dst[uint32_t(done * step)], src[uint32_t(done * lanes)], acraft::mask_first(uint64_t(lanes)), part, 1, 1, 8,
                           order, s);
    }
    if (tail)
        acraft::put_reduce(op, dst[uint32_t(whole * step)], src[uint32_t(whole * lanes)], acraft::mask_first(uint64_t(tail)), 1, 1, 1, 8,
                           order, s);
    return whole + (tail ? 1 : 0);
}

template <typename T> inline acraft::Mask every_second(int32_t elements)
{
    acraft::Mask m = acraft::mask_first(uint64_t(elements));
    m.low &= 0x5555555555555555ull;
    m.high &= 0x5555555555555555ull;
    return m;
}

/* A stage over value-index pairs. */
template <typename T>
inline int32_t pair_stage(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t pairs, const acraft::Site &s)
{
    constexpr int32_t lanes = int32_t(acraft::per_repeat<T>());
    int32_t elements = pairs * 2, whole = elements / lanes, tail = elements % lanes;
    uint8_t order = uint8_t(ReduceOrder::ORDER_VALUE_INDEX);
    if (whole) acraft::put_reduce(op, dst, src, every_second<T>(lanes), whole, 1, 1, 8, order, s);
    if (tail) acraft::put_reduce(op, dst[uint32_t(whole * 2)], src[uint32_t(whole * lanes)], every_second<T>(tail), 1, 1, 1, 8, order, s);
    return whole + (tail ? 1 : 0);
}

template <typename T> inline uint32_t index_bits(const LocalTensor<T> &t, uint32_t at, const acraft::Site &s)
{
    using I = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    return t.template ReinterpretCast<I>().GetValue(at, s);
}

/* Value and index of the extreme element: stages of pairs in scratch, each rounded up to a block,
 * then back through them with scalar reads. */
template <typename T>
inline void with_index(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &tmp, int32_t first, const acraft::Site &s)
{
    constexpr int32_t lanes = int32_t(acraft::per_repeat<T>());
    constexpr uint32_t block = acraft::per_block<T>();
    using I = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    uint32_t at[8] = {0};
    int32_t stages = 0, left = first;
    while (left > 1 && stages < 7) {
        at[stages + 1] = at[stages] + (uint32_t(left) * 2 + block - 1) / block * block;
        acraft::put_barrier(NPU_PIPE_V, s);
        left = pair_stage(op, tmp[at[stages + 1]], tmp[at[stages]], left, s);
        stages++;
    }
    acraft::sync_inside(HardEvent::V_S, s);
    uint32_t pick = 0;
    for (int32_t i = stages; i > 0; i--) pick = pick * uint32_t(lanes) / 2 + index_bits(tmp, at[i] + pick * 2 + 1, s) / 2;
    uint32_t index = pick * uint32_t(lanes) + index_bits(tmp, pick * 2 + 1, s);
    dst.SetValue(0, tmp.GetValue(at[stages], s), s);
    dst.template ReinterpretCast<I>().SetValue(1, I(index), s);
    acraft::sync_inside(HardEvent::S_V, s);
}

template <typename T>
inline void extreme(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, int32_t count, bool index,
                    const acraft::Site &s)
{
    if (count <= 0) return;
    int32_t left = stage(op, tmp, src, count, index, s);
    if (index) {
        with_index(op, dst, tmp, left, s);
    } else {
        while (left > int32_t(acraft::per_repeat<T>())) {
            acraft::put_barrier(NPU_PIPE_V, s);
            left = stage(op, tmp, tmp, left, false, s);
        }
        acraft::put_barrier(NPU_PIPE_V, s);
        stage(op, dst, tmp, left, false, s);
    }
    acraft::mask_register = acraft::full_mask;
}

/* The mask-and-repeat form: one stage with the caller's mask and stride, the rest as above. */
template <typename T>
inline void extreme(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const acraft::Mask &m,
                    int32_t repeat, int32_t stride, bool index, const acraft::Site &s)
{
    uint8_t order = uint8_t(index ? ReduceOrder::ORDER_VALUE_INDEX : ReduceOrder::ORDER_ONLY_VALUE);
    for (int32_t done = 0; done < repeat; done += MAX_REPEAT_TIMES) {
        int32_t part = repeat - done < MAX_REPEAT_TIMES ? repeat - done : MAX_REPEAT_TIMES;
        acraft::put_reduce(op, tmp[uint32_t(done * (index ? 2 : 1))], src[uint32_t(done * stride) * acraft::per_block<T>()], m, part, 1, 1,
                           stride, order, s);
    }
    if (index) {
        with_index(op, dst, tmp, repeat, s);
    } else {
        int32_t left = repeat;
        do {
            acraft::put_barrier(NPU_PIPE_V, s);
            bool last = left <= int32_t(acraft::per_repeat<T>());
            left = stage(op, last ? dst : tmp, tmp, left, false, s);
            if (last) break;
        } while (true);
    }
    acraft::mask_register = acraft::full_mask;
}

}  // namespace reduce

template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t mask,
                      const int32_t repeatTime, const int32_t srcRepStride, ACRAFT_SITE)
{
    static_assert(need::need_ReduceSum<T>::value, "acraft: no such dtype");
    if (repeatTime > 0) reduce::sum_repeats(dst, src, tmp, acraft::mask_for<true>(uint64_t(mask)), repeatTime, srcRepStride, site.in("ReduceSum"));
}
template <typename T>
inline void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const uint64_t mask[],
                      const int32_t repeatTime, const int32_t srcRepStride, ACRAFT_SITE)
{
    static_assert(need::need_ReduceSum<T>::value, "acraft: no such dtype");
    if (repeatTime > 0) reduce::sum_repeats(dst, src, tmp, acraft::mask_for<true>(mask), repeatTime, srcRepStride, site.in("ReduceSum"));
}

#define ACRAFT_EXTREME(NAME, OP)                                                                   \
    template <typename T>                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t count, \
                     bool calIndex = 0, ACRAFT_SITE)                                               \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        reduce::extreme(NPU_##OP, dst, src, tmp, count, calIndex, site.in(#NAME));                 \
    }                                                                                              \
    template <typename T>                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const int32_t mask, \
                     const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        reduce::extreme(NPU_##OP, dst, src, tmp, acraft::mask_for<true>(uint64_t(mask)), repeatTime, srcRepStride, calIndex, site.in(#NAME)); \
    }                                                                                              \
    template <typename T>                                                                          \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &tmp, const uint64_t mask[], \
                     const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = 0, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        reduce::extreme(NPU_##OP, dst, src, tmp, acraft::mask_for<true>(mask), repeatTime, srcRepStride, calIndex, site.in(#NAME)); \
    }
ACRAFT_EXTREME(ReduceMax, REPEAT_MAX)
ACRAFT_EXTREME(ReduceMin, REPEAT_MIN)
#undef ACRAFT_EXTREME

}  // namespace AscendC

#endif
