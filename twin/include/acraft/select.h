/* Comparing, choosing, gathering, sorting and rearranging inside UB. */
#ifndef ACRAFT_SELECT_H
#define ACRAFT_SELECT_H

#include "acraft/reduce.h"

namespace AscendC {

/* ---- Compare, Compares ---- */

namespace need {
ACRAFT_NEED(Compare, ACRAFT_HAS(COMPARE));
ACRAFT_NEED(Compares, ACRAFT_HAS(COMPARE_SCALAR));
ACRAFT_NEED(Select, ACRAFT_HAS(SELECT));
ACRAFT_NEED(Gather, ACRAFT_HAS(GATHER));
ACRAFT_NEED(Gatherb, ACRAFT_HAS(GATHER_BLOCK));
ACRAFT_NEED(GatherMask, ACRAFT_HAS(GATHER_MASK));
ACRAFT_NEED(Brcb, ACRAFT_HAS(BRCB));
ACRAFT_NEED(Transpose, ACRAFT_HAS(TRANSPOSE));
}  // namespace need

namespace compare {
template <typename T, typename U>
inline void tensors(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE mode, const acraft::Mask &m,
                    uint32_t repeat, const BinaryRepeatParams &p, const acraft::Site &site)
{
    static_assert(need::need_Compare<T>::value, "acraft: no such dtype");
    acraft::put_binary(NPU_COMPARE, dst, src0, src1, m, repeat, p, site).mode = uint8_t(mode);
}
template <typename T, typename U>
inline void scalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, T value, CMPMODE mode, const acraft::Mask &m, uint32_t repeat,
                   const UnaryRepeatParams &p, const acraft::Site &site)
{
    static_assert(need::need_Compares<T>::value, "acraft: no such dtype");
    Record &r = acraft::put_unary(NPU_COMPARE_SCALAR, dst, src, m, repeat, p, site);
    r.mode = uint8_t(mode);
    r.scalar = acraft::scalar_bits(value);
}
}  // namespace compare

template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask[],
                    uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    compare::tensors(dst, src0, src1, cmpMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U, bool isSetMask = true>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask,
                    uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    compare::tensors(dst, src0, src1, cmpMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U>
inline void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, uint32_t count,
                    ACRAFT_SITE)
{
    compare::tensors(dst, src0, src1, cmpMode, acraft::mask_count(count), 1, BinaryRepeatParams(), site);
}
/* Result in the compare register. */
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask[],
                    const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft::put_binary(NPU_COMPARE_REGISTER, LocalTensor<T>(), src0, src1, acraft::mask_for<isSetMask>(mask), 1, repeatParams, site).mode =
        uint8_t(cmpMode);
}
template <typename T, bool isSetMask = true>
inline void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, const uint64_t mask,
                    const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft::put_binary(NPU_COMPARE_REGISTER, LocalTensor<T>(), src0, src1, acraft::mask_for<isSetMask>(mask), 1, repeatParams, site).mode =
        uint8_t(cmpMode);
}
template <typename T> inline void GetCmpMask(const LocalTensor<T> &dst, ACRAFT_SITE)
{
    acraft::flush();
    LocalTensor<uint64_t> words = dst.template ReinterpretCast<uint64_t>();
    for (uint32_t i = 0; i < 2; i++) words.SetValue(i, acraft_core.view->compare[i], site.in("GetCmpMask"));
}
template <typename T> inline void SetCmpMask(const LocalTensor<T> &src, ACRAFT_SITE)
{
    acraft::Site s = site.in("SetCmpMask");
    LocalTensor<uint64_t> words = src.template ReinterpretCast<uint64_t>();
    uint64_t low = words.GetValue(0, s), high = words.GetValue(1, s);
    acraft::put_register(REC_REG_COMPARE, 0, s, low, high);
}

#define ACRAFT_COMPARES(NAME)                                                                      \
    template <typename T, typename U, bool isSetMask = true>                                       \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, const uint64_t mask[], \
                     uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)       \
    {                                                                                              \
        compare::scalar(dst, src0, src1Scalar, cmpMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site.in(#NAME)); \
    }                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                       \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, const uint64_t mask, \
                     uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)       \
    {                                                                                              \
        compare::scalar(dst, src0, src1Scalar, cmpMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site.in(#NAME)); \
    }                                                                                              \
    template <typename T, typename U>                                                              \
    inline void NAME(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const T src1Scalar, CMPMODE cmpMode, uint32_t count, ACRAFT_SITE) \
    {                                                                                              \
        compare::scalar(dst, src0, src1Scalar, cmpMode, acraft::mask_count(count), 1, UnaryRepeatParams(), site.in(#NAME)); \
    }
ACRAFT_COMPARES(Compares)
ACRAFT_COMPARES(CompareScalar)
#undef ACRAFT_COMPARES

/* ---- Select ---- */

namespace select {
template <typename T, typename U>
inline Record &put(const LocalTensor<T> &dst, const LocalTensor<U> *bits, const LocalTensor<T> &src0, const LocalTensor<T> *src1,
                   SELMODE mode, const acraft::Mask &m, uint32_t repeat, const BinaryRepeatParams &p, const acraft::Site &site)
{
    static_assert(need::need_Select<T>::value, "acraft: no such dtype");
    Record &r = acraft::put_binary(NPU_SELECT, dst, src0, src1 ? *src1 : src0, m, repeat, p, site);
    r.mode = uint8_t(mode);
    if (!src1) r.operand[2] = RecordOperand{};
    if (bits) r.operand[3] = bits->operand();
    return r;
}
}  // namespace select

template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE selMode, uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    select::put(dst, &selMask, src0, &src1, selMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE selMode, uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    select::put(dst, &selMask, src0, &src1, selMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
                   SELMODE selMode, uint32_t count, ACRAFT_SITE)
{
    select::put(dst, &selMask, src0, &src1, selMode, acraft::mask_count(count), 1, BinaryRepeatParams(), site);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode,
                   uint64_t mask[], uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    select::put<T, U>(dst, &selMask, src0, nullptr, selMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site).scalar =
        acraft::scalar_bits(src1);
}
template <typename T, typename U, bool isSetMask = true>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode,
                   uint64_t mask, uint8_t repeatTime, const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    select::put<T, U>(dst, &selMask, src0, nullptr, selMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site).scalar =
        acraft::scalar_bits(src1);
}
template <typename T, typename U>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0, T src1, SELMODE selMode,
                   uint32_t count, ACRAFT_SITE)
{
    select::put<T, U>(dst, &selMask, src0, nullptr, selMode, acraft::mask_count(count), 1, BinaryRepeatParams(), site).scalar =
        acraft::scalar_bits(src1);
}
/* With the compare register as it stands. */
template <typename T, SELMODE selMode>
inline void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint8_t repeatTime,
                   const BinaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    select::put<T, uint8_t>(dst, nullptr, src0, &src1, selMode, acraft::mask_register, repeatTime, repeatParams, site);
}

/* ---- gathering ---- */

namespace gather {
template <typename T>
inline void put(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset, uint32_t base, const acraft::Mask &m,
                uint32_t repeat, uint32_t stride, const acraft::Site &site)
{
    static_assert(need::need_Gather<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_GATHER, site);
    r.dtype[0] = r.dtype[1] = acraft::dtype_of<T>();
    r.dtype[2] = NPU_DT_U32;
    r.operand[0] = dst.operand(1, stride);
    r.operand[1] = src.operand();
    r.operand[2] = offset.operand(1, 8);
    r.scalar = base;
    r.n[0] = repeat;
    acraft::use_mask(r, m);
}
}  // namespace gather
template <typename T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset,
                   const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride, ACRAFT_SITE)
{
    gather::put(dst, src, srcOffset, srcBaseOffset, acraft::mask_for<true>(mask), repeatTime, dstRepStride, site);
}
template <typename T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset,
                   const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride, ACRAFT_SITE)
{
    gather::put(dst, src, srcOffset, srcBaseOffset, acraft::mask_for<true>(mask), repeatTime, dstRepStride, site);
}
template <typename T>
inline void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &srcOffset, const uint32_t srcBaseOffset,
                   const uint32_t count, ACRAFT_SITE)
{
    gather::put(dst, src, srcOffset, srcBaseOffset, acraft::mask_count(count), 1, 8, site);
}
template <typename T>
inline void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &offset, const uint8_t repeatTime,
                    const GatherRepeatParams &p, ACRAFT_SITE)
{
    static_assert(need::need_Gatherb<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_GATHER_BLOCK, site);
    r.dtype[0] = r.dtype[1] = acraft::dtype_of<T>();
    r.dtype[2] = NPU_DT_U32;
    r.operand[0] = dst.operand(p.dstBlkStride, p.dstRepStride);
    r.operand[1] = src.operand();
    r.operand[2] = offset.operand(1, 1);
    r.n[0] = repeatTime;
}

namespace gather {
template <typename T>
inline Record &masked(const LocalTensor<T> &dst, const LocalTensor<T> &src, bool counted, uint32_t mask, const GatherMaskParams &p,
                      const acraft::Site &site)
{
    static_assert(need::need_GatherMask<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_GATHER_MASK, site);
    r.dtype[0] = r.dtype[1] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand(1, 8);
    r.operand[1] = src.operand(p.src0BlockStride, p.src0RepeatStride);
    r.n[0] = p.repeatTimes;
    acraft::use_mask(r, counted ? acraft::Mask{mask, 0, true} : acraft::full_mask);
    return r;
}
inline uint64_t kept()
{
    acraft::flush();
    return acraft_core.view->kept;
}
}  // namespace gather
template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<U> &src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams &p, uint64_t &rsvdCnt, ACRAFT_SITE)
{
    Record &r = gather::masked(dst, src0, reduceMode, mask, p, site);
    r.dtype[2] = acraft::dtype_of<U>();
    r.operand[2] = src1Pattern.operand(1, p.src1RepeatStride);
    rsvdCnt = gather::kept();
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
inline void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const uint8_t src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams &p, uint64_t &rsvdCnt, ACRAFT_SITE)
{
    gather::masked(dst, src0, reduceMode, mask, p, site).mode = src1Pattern;
    rsvdCnt = gather::kept();
}
inline int64_t GetGatherMaskRemainCount() { return int64_t(gather::kept()); }

/* ---- broadcasting and indices ---- */

template <typename T>
inline void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint8_t repeatTime, const BrcbRepeatParams &p, ACRAFT_SITE)
{
    static_assert(need::need_Brcb<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_BRCB, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand(p.dstBlkStride, p.dstRepStride);
    r.operand[1] = src.operand(0, 0);
    r.n[0] = repeatTime;
}

namespace index {
/* first, first + step, ...: one block by scalars, then doubled by Adds. */
template <typename T>
inline void progress(const LocalTensor<T> &dst, T first, T step, int64_t count, const acraft::Site &s)
{
    constexpr int64_t block = acraft::per_block<T>();
    float at = float(first);
    for (int64_t i = 0; i < block && i < count; i++) {
        if constexpr (std::is_integral<T>::value) dst.SetValue(uint32_t(i), T(first + T(i) * step), s);
        else dst.SetValue(uint32_t(i), T(at + float(i) * float(step)), s);
    }
    acraft::sync_inside(HardEvent::S_V, s);
    for (int64_t done = block; done < count; done *= 2) {
        int64_t part = count - done < done ? count - done : done;
        T by = std::is_integral<T>::value ? T(int64_t(step) * done) : T(float(step) * float(done));
        Adds(dst[uint32_t(done)], dst, by, int32_t(part), s);
        acraft::put_barrier(NPU_PIPE_V, s);
    }
}
}  // namespace index
template <typename T> inline void CreateVecIndex(LocalTensor<T> dst, const T &firstValue, uint32_t count, ACRAFT_SITE)
{
    static_assert(SupportType<T, int16_t, int32_t, half, float>(), "acraft: CreateVecIndex does not exist for this dtype on Atlas A2");
    index::progress<T>(dst, firstValue, T(1), count, site.in("CreateVecIndex"));
}
template <typename T, typename M>
inline void CreateVecIndex(LocalTensor<T> &dst, const T &firstValue, M, uint8_t repeatTime, uint16_t, uint8_t dstRepStride, ACRAFT_SITE)
{
    static_assert(SupportType<T, int16_t, int32_t, half, float>(), "acraft: CreateVecIndex does not exist for this dtype on Atlas A2");
    index::progress<T>(dst, firstValue, T(1), int64_t(repeatTime) * dstRepStride * acraft::per_block<T>(), site.in("CreateVecIndex"));
}
template <typename T>
inline void ArithProgression(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count, ACRAFT_SITE)
{
    static_assert(SupportType<T, int16_t, int32_t, half, float>(), "acraft: ArithProgression does not exist for this dtype on Atlas A2");
    index::progress<T>(dst, firstValue, diffValue, count, site.in("ArithProgression"));
}
template <typename T>
inline void Arange(const LocalTensor<T> &dst, const T firstValue, const T diffValue, const int32_t count, ACRAFT_SITE)
{
    ArithProgression(dst, firstValue, diffValue, count, site.in("Arange"));
}

/* ---- transposes ---- */

template <typename T> inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, ACRAFT_SITE)
{
    static_assert(need::need_Transpose<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_TRANSPOSE, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand(1, 8);
    r.operand[1] = src.operand(1, 8);
    r.n[0] = 1;
}

/* Between [N,C,H,W] and [N,H,W,C]: gathered by offsets that are written into the shared buffer, bytes
 * one by one. The device goes by blocks of 16 x 16, so the predicted time is only near. */
namespace transpose {
template <typename T>
inline void gathered(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint32_t> &at, uint32_t inner,
                     uint32_t outer, uint32_t base, const acraft::Site &s)
{
    uint32_t all = inner * outer, room = at.GetSize() / 64 * 64;
    for (uint32_t from = 0; from < all && room; from += room) {
        uint32_t n = all - from < room ? all - from : room;
        for (uint32_t i = 0; i < n; i++)
            at.SetValue(i, uint32_t(((from + i) % inner * outer + (from + i) / inner) * sizeof(T)), s);
        acraft::put_barrier(NPU_PIPE_ALL, s);
        Gather(dst[base + from], src, at, uint32_t(base * sizeof(T)), n, s);
        acraft::put_barrier(NPU_PIPE_ALL, s);
    }
}
template <typename T>
inline void one_by_one(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t inner, uint32_t outer, uint32_t base,
                       const acraft::Site &s)
{
    acraft::put_barrier(NPU_PIPE_ALL, s);
    for (uint32_t i = 0; i < inner * outer; i++)
        dst.SetValue(base + i, src.GetValue(base + i % inner * outer + i / inner, s), s);
    acraft::put_barrier(NPU_PIPE_ALL, s);
}
}  // namespace transpose
template <typename T>
inline void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &sharedTmpBuffer,
                      const TransposeParamsExt &p, ACRAFT_SITE)
{
    acraft::Site s = site.in("Transpose");
    if (p.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        if constexpr (sizeof(T) == 2) Transpose(dst, src, s);
        return;
    }
    bool last = p.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
    if (!last && p.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW) return;
    uint32_t image = uint32_t(p.hSize) * p.wSize, inner = last ? p.cSize : image, outer = last ? image : p.cSize;
    for (uint32_t n = 0; n < p.nSize; n++) {
        if constexpr (sizeof(T) == 1) transpose::one_by_one(dst, src, inner, outer, n * inner * outer, s);
        else
            transpose::gathered(dst, src, sharedTmpBuffer.template ReinterpretCast<uint32_t>(), inner, outer, n * inner * outer, s);
    }
}

namespace to_5hd {
inline void addresses(uint32_t first, const uint64_t list[], int count, const acraft::Site &site)
{
    for (int i = 0; i < count; i += 4) {
        Record &r = acraft::put(NPU_SET_REGISTER, site);
        r.mode = REC_REG_VA;
        for (int k = 0; k < 4; k++) r.operand[k].address = list[i + k];
        r.n[0] = first / 4 + uint32_t(i / 4);
    }
}
template <typename T> inline void run(const TransDataTo5HDParams &p, const acraft::Site &site)
{
    Record &r = acraft::put(NPU_TO_5HD, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0].repeat_stride = p.dstRepStride;
    r.operand[1].repeat_stride = p.srcRepStride;
    r.n[0] = p.repeatTimes;
    r.mode = uint8_t((p.dstHighHalf ? 1 : 0) | (p.srcHighHalf ? 2 : 0));
}
template <typename T> inline void from_numbers(const uint64_t dst[], const uint64_t src[], const TransDataTo5HDParams &p, const acraft::Site &site)
{
    uint64_t d[16], s[16];
    for (int i = 0; i < 16; i++) {
        d[i] = acraft::address_of_number(dst[i]);
        s[i] = acraft::address_of_number(src[i]);
    }
    addresses(0, d, 16, site);
    addresses(16, s, 16, site);
    run<T>(p, site);
}
}  // namespace to_5hd
template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE], const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams &p, ACRAFT_SITE)
{
    uint64_t d[16], s[16];
    for (int i = 0; i < 16; i++) {
        d[i] = dstList[i].record_address();
        s[i] = srcList[i].record_address();
    }
    to_5hd::addresses(0, d, 16, site);
    to_5hd::addresses(16, s, 16, site);
    to_5hd::run<T>(p, site);
}
template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE], uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE], const TransDataTo5HDParams &p,
                           ACRAFT_SITE)
{
    to_5hd::from_numbers<T>(dstList, srcList, p, site);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<uint64_t> &dst, const LocalTensor<uint64_t> &src, const TransDataTo5HDParams &p, ACRAFT_SITE)
{
    uint64_t d[16], s[16];
    for (uint32_t i = 0; i < 16; i++) {
        d[i] = dst.GetValue(i, site);
        s[i] = src.GetValue(i, site);
    }
    to_5hd::from_numbers<T>(d, s, p, site);
}
/* The device headers' inner function, which some kernels call with pointers. */
template <typename T> inline void TransDataTo5HDImpl(__ubuf__ T *dstList[16], __ubuf__ T *srcList[16], const TransDataTo5HDParams &p, ACRAFT_SITE)
{
    uint64_t d[16], s[16];
    for (int i = 0; i < 16; i++) {
        d[i] = reinterpret_cast<uintptr_t>(dstList[i]);
        s[i] = reinterpret_cast<uintptr_t>(srcList[i]);
    }
    to_5hd::from_numbers<T>(d, s, p, site);
}

/* ---- sorting ---- */

template <typename T> struct MrgSortSrcList {
    MrgSortSrcList() {}
    MrgSortSrcList(const LocalTensor<T> &a, const LocalTensor<T> &b, const LocalTensor<T> &c, const LocalTensor<T> &d)
        : src1(a), src2(b), src3(c), src4(d)
    {
    }
    LocalTensor<T> src1, src2, src3, src4;
};

namespace sort {
template <typename T>
inline void simple(NpuOp op, const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeat, int32_t mode, const acraft::Site &site)
{
    static_assert(SupportType<T, half, float>(), "acraft: sorting exists only for half and float on Atlas A2");
    Record &r = acraft::put(op, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand();
    r.operand[1] = src.operand();
    r.n[0] = uint32_t(repeat);
    r.mode = uint8_t(mode);
}
template <typename T>
inline void merge(NpuOp op, const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const uint16_t lengths[4], bool stop, uint32_t valid,
                  uint32_t repeat, const acraft::Site &site)
{
    static_assert(SupportType<T, half, float>(), "acraft: sorting exists only for half and float on Atlas A2");
    Record &r = acraft::put(op, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand();
    r.operand[1] = src.src1.operand();
    r.operand[2] = src.src2.operand();
    r.operand[3] = src.src3.operand();
    r.n[0] = repeat;
    for (int i = 0; i < 4; i++) r.n[i + 1] = lengths[i];
    r.n[5] = uint32_t(rec_byte(src.src4.record_address()));
    r.mode = uint8_t((valid & 15u) | (stop ? 16u : 0u));
}
}  // namespace sort
template <typename T> inline void RpSort16(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, ACRAFT_SITE)
{
    sort::simple(NPU_RP_SORT16, dst, src, repeatTime, 0, site);
}
template <typename T>
inline void ProposalConcat(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t modeNumber, ACRAFT_SITE)
{
    sort::simple(NPU_PROPOSAL_CONCAT, dst, src, repeatTime, modeNumber, site);
}
template <typename T>
inline void ProposalExtract(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t repeatTime, const int32_t modeNumber, ACRAFT_SITE)
{
    sort::simple(NPU_PROPOSAL_EXTRACT, dst, src, repeatTime, modeNumber, site);
}
template <typename T> inline void MrgSort4(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &p, ACRAFT_SITE)
{
    sort::merge(NPU_MERGE_SORT4, dst, src, p.elementLengths, p.ifExhaustedSuspension, p.validBit, p.repeatTimes, site);
}
template <typename T> inline void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &p, ACRAFT_SITE)
{
    sort::merge(NPU_MERGE_SORT, dst, src, p.elementLengths, p.ifExhaustedSuspension, p.validBit, p.repeatTimes, site);
}
template <typename T>
inline void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src1, const int32_t repeatTime, ACRAFT_SITE)
{
    static_assert(SupportType<T, half, float>(), "acraft: Sort32 exists only for half and float on Atlas A2");
    Record &r = acraft::put(NPU_SORT32, site);
    r.dtype[0] = r.dtype[1] = acraft::dtype_of<T>();
    r.dtype[2] = NPU_DT_U32;
    r.operand[0] = dst.operand();
    r.operand[1] = src0.operand();
    r.operand[2] = src1.operand();
    r.n[0] = uint32_t(repeatTime);
}
inline void GetMrgSortResult(uint16_t &a, uint16_t &b, uint16_t &c, uint16_t &d)
{
    acraft::flush();
    const uint16_t *m = acraft_core.view->merged;
    a = m[0];
    b = m[1];
    c = m[2];
    d = m[3];
}
template <typename T, bool isExhaustedSuspension = false>
inline void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &list, const uint16_t counts[4], uint32_t sortedNum[4], uint16_t validBit,
                    const int32_t repeatTime, ACRAFT_SITE)
{
    sort::merge(NPU_MERGE_SORT, dst, list, counts, isExhaustedSuspension, validBit, uint32_t(repeatTime), site);
    acraft::flush();
    for (int i = 0; i < 4; i++) sortedNum[i] = acraft_core.view->merged[i];
}
/* Value and index of one element take 8 bytes on A2, whatever the value's type. */
template <typename T> inline uint32_t GetSortOffset(const uint32_t elemOffset) { return elemOffset * (8 / uint32_t(sizeof(T))); }
template <typename T> inline uint32_t GetSortLen(const uint32_t elemCount) { return elemCount * (8 / uint32_t(sizeof(T))); }
template <typename T> inline void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &, const int32_t, ACRAFT_SITE)
{
    (void)site;
    concat = src;
}
/* Values and indices out of sorted pairs, 16 elements a repeat times 2. */
template <typename T>
inline void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex, const LocalTensor<T> &sorted, const int32_t repeatTime,
                    ACRAFT_SITE)
{
    acraft::Site s = site.in("Extract");
    uint64_t kept = 0;
    GatherMaskParams p(1, uint16_t(repeatTime), 8, 0);
    GatherMask(dstValue, sorted, uint8_t(sizeof(T) == 4 ? 1 : 3), false, 0u, p, kept, s);
    LocalTensor<uint32_t> words = sorted.template ReinterpretCast<uint32_t>();
    GatherMask(dstIndex, words, uint8_t(2), false, 0u, p, kept, s);
}
/* Groups of 32 sorted, then merged four at a time between the two buffers. */
template <typename T, bool isFullSort>
inline void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat, const LocalTensor<uint32_t> &index, LocalTensor<T> &tmp,
                 const int32_t repeatTime, ACRAFT_SITE)
{
    acraft::Site s = site.in("Sort");
    Sort32(dst, concat, index, repeatTime, s);
    if (!isFullSort) return;
    LocalTensor<T> from = dst, to = tmp;
    uint32_t total = uint32_t(repeatTime) * 32;
    for (uint32_t run = 32; run < total; run *= 4) {
        for (uint32_t at = 0; at < total; at += run * 4) {
            uint16_t counts[4] = {0, 0, 0, 0};
            uint32_t valid = 0;
            LocalTensor<T> lists[4] = {from, from, from, from};
            for (uint32_t k = 0; k < 4 && at + k * run < total; k++) {
                uint32_t left = total - at - k * run;
                counts[k] = uint16_t(left < run ? left : run);
                lists[k] = from[GetSortOffset<T>(at + k * run)];
                valid |= 1u << k;
            }
            acraft::put_barrier(NPU_PIPE_V, s);
            if (valid == 1) {
                DataCopy(to[GetSortOffset<T>(at)], lists[0], GetSortLen<T>(counts[0]), s);
                continue;
            }
            MrgSortSrcList<T> list(lists[0], lists[1], lists[2], lists[3]);
            sort::merge(NPU_MERGE_SORT, to[GetSortOffset<T>(at)], list, counts, false, valid, 1, s);
        }
        LocalTensor<T> swap = from;
        from = to;
        to = swap;
    }
    acraft::put_barrier(NPU_PIPE_V, s);
    if (from.record_address() != dst.record_address()) DataCopy(dst, from, GetSortLen<T>(total), s);
}

}  // namespace AscendC

#endif
