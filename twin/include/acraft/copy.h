/* DataCopy, DataCopyPad, Copy: bursts between memories, all forms of Atlas A2. In: tensors and the
 * parameter structs. Out: one copy record each; gaps and lengths in bytes, as sim/record.h says. */
#ifndef ACRAFT_COPY_H
#define ACRAFT_COPY_H

#include "acraft/vec.h"

namespace acraft {

using AscendC::GlobalTensor;
using AscendC::TPosition;

struct Burst {
    uint32_t count, bytes, src_gap, dst_gap;
};

inline Burst burst_of(const AscendC::DataCopyParams &p)
{
    return {p.blockCount, p.blockLen * 32u, p.srcGap * 32u, p.dstGap * 32u};
}
/* Between on-chip memories: lengths and target gaps count in units of the target. The fixpipe buffer
 * has its gaps from start to start. */
inline Burst burst_of(const AscendC::DataCopyParams &p, uint32_t to)
{
    uint32_t unit = to == NPU_BT ? 64u : to == NPU_FB ? 128u : 32u, bytes = p.blockLen * unit;
    if (to != NPU_FB) return {p.blockCount, bytes, p.srcGap * 32u, p.dstGap * unit};
    auto gap = [bytes](uint32_t step) { return step > bytes ? step - bytes : 0u; };
    return {p.blockCount, bytes, gap(p.srcGap * 32u), gap(p.dstGap * unit)};
}
template <typename T> inline Burst burst_of(uint32_t count) { return {1, uint32_t(bytes_for<T>(count)), 0, 0}; }

template <typename T>
ACRAFT_OWN inline Record &put_copy(NpuOp op, const RecordOperand &dst, const RecordOperand &src, const Burst &b, uint8_t flags, const Site &site)
{
    Record &r = put(op, site);
    r.flags = flags;
    r.dtype[0] = r.dtype[1] = r.dtype[2] = dtype_of<T>();
    r.operand[0] = dst;
    r.operand[1] = src;
    r.n[0] = b.count;
    r.n[1] = b.bytes;
    r.n[2] = b.src_gap;
    r.n[3] = b.dst_gap;
    return r;
}

/* Which copy instruction joins two memories; NPU_NONE: there is no such path on A2. */
inline NpuOp copy_op(uint32_t from, uint32_t to)
{
    if (from == NPU_GM) return to == NPU_UB ? NPU_COPY_GM_UB : to == NPU_L1 ? NPU_COPY_GM_L1 : NPU_NONE;
    if (from == NPU_UB) return to == NPU_GM ? NPU_COPY_UB_GM : to == NPU_UB ? NPU_COPY_UB_UB : NPU_NONE;
    if (from == NPU_L1)
        return to == NPU_GM ? NPU_COPY_L1_GM : to == NPU_BT ? NPU_COPY_L1_BT : to == NPU_FB ? NPU_COPY_L1_FB : NPU_NONE;
    return NPU_NONE;
}

template <typename D, typename S>
ACRAFT_OUTLINE inline void copy(const D &dst, const S &src, const Burst &b, uint8_t flags, const Site &site)
{
    using T = typename D::PrimType;
    uint32_t from = rec_space(src.record_address()), to = rec_space(dst.record_address());
    if (not_my_memory(from) || not_my_memory(to)) return;
    NpuOp op = copy_op(from, to);
    if (op == NPU_NONE) unsupported("DataCopy between these positions", site);
    put_copy<T>(op, dst.operand(), src.operand(), b, flags, site);
}

}  // namespace acraft

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &repeatParams, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of(repeatParams), src.copy_flags(), site);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of(repeatParams), dst.copy_flags(), site);
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &repeatParams, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of(repeatParams, rec_space(dst.record_address())), 0, site);
}
/* L1 to the bias table or fixpipe buffer may change the element type. */
template <typename T, typename U, std::enable_if_t<!std::is_same<T, U>::value, bool> = true>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyParams &repeatParams, ACRAFT_SITE)
{
    uint32_t to = rec_space(dst.record_address());
    if (acraft::not_my_memory(to)) return;
    NpuOp op = acraft::copy_op(rec_space(src.record_address()), to);
    if (op == NPU_NONE) acraft::unsupported("DataCopy between these positions", site);
    acraft::put_copy<T>(op, dst.operand(), src.operand(), acraft::burst_of(repeatParams, to), 0, site).dtype[1] = acraft::dtype_of<U>();
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const uint32_t count, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of<T>(count), src.copy_flags(), site);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of<T>(count), dst.copy_flags(), site);
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count, ACRAFT_SITE)
{
    acraft::copy(dst, src, acraft::burst_of<T>(count), 0, site);
}

/* The enhanced forms add nothing on these paths of A2 (their modes belong to L0C, which Fixpipe
 * serves here). */
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                     const DataCopyEnhancedParams &, ACRAFT_SITE)
{
    DataCopy(dst, src, p, site);
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
                     const DataCopyEnhancedParams &, ACRAFT_SITE)
{
    DataCopy(dst, src, p, site);
}
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p,
                     const DataCopyEnhancedParams &, ACRAFT_SITE)
{
    DataCopy(dst, src, p, site);
}

/* ND in GM to NZ in L1. */
template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &p, ACRAFT_SITE)
{
    if (acraft::not_my_memory(rec_space(dst.record_address()))) return;
    Record &r = acraft::put(NPU_ND2NZ_GM_L1, site);
    r.flags = src.copy_flags();
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand();
    r.operand[1] = src.operand();
    r.n[0] = p.ndNum;
    r.n[1] = p.nValue;
    r.n[2] = p.dValue;
    r.n[3] = p.srcNdMatrixStride;
    r.n[4] = p.srcDValue;
    r.n[5] = p.dstNzC0Stride;
    r.mask[0] = p.dstNzNStride | uint64_t(p.dstNzMatrixStride) << 32;
}

/* Slices: the innermost dimension in bursts, outer ones as a loop, as the device headers do it. */
namespace acraft_slice {
inline uint64_t walk(const SliceInfo info[], uint32_t dims, const uint32_t at[])
{
    uint64_t offset = 0, pitch = 1;
    for (uint32_t d = 0; d < dims; d++) {
        offset += pitch * (info[d].startIndex + at[d]);
        pitch *= info[d].shapeValue;
    }
    return offset;
}
}  // namespace acraft_slice

/* ---- padded copies ---- */

template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyExtParams &p,
                        const DataCopyPadExtParams<T> &pad, ACRAFT_SITE)
{
    if (g_coreType == AIC) return;
    Record &r = acraft::put_copy<T>(NPU_PAD_GM_UB, dst.operand(), src.operand(),
                                    {p.blockCount, p.blockLen, p.srcStride, p.dstStride * 32u}, src.copy_flags(), site);
    r.n[4] = pad.leftPadding | uint32_t(pad.rightPadding) << 16;
    r.mode = pad.isPad;
    r.scalar = acraft::scalar_bits(pad.paddingValue);
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const DataCopyParams &p,
                        const DataCopyPadParams &pad, ACRAFT_SITE)
{
    if (g_coreType == AIC) return;
    Record &r = acraft::put_copy<T>(NPU_PAD_GM_UB, dst.operand(), src.operand(),
                                    {p.blockCount, p.blockLen, p.srcGap, p.dstGap * 32u}, src.copy_flags(), site);
    r.n[4] = pad.leftPadding | uint32_t(pad.rightPadding) << 16;
    r.mode = pad.isPad;
    r.scalar = pad.paddingValue;
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyExtParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIC) return;
    acraft::put_copy<T>(NPU_PAD_UB_GM, dst.operand(), src.operand(),
                        {p.blockCount, p.blockLen, p.srcStride * 32u, p.dstStride}, dst.copy_flags(), site);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const DataCopyParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIC) return;
    acraft::put_copy<T>(NPU_PAD_UB_GM, dst.operand(), src.operand(),
                        {p.blockCount, p.blockLen, p.srcGap * 32u, p.dstGap}, dst.copy_flags(), site);
}
template <typename T, TPosition pos = TPosition::MAX> inline void SetPadValue(T paddingValue, ACRAFT_SITE)
{
    acraft::put_register(REC_REG_PAD_VALUE, acraft::scalar_bits(paddingValue), site);
}

template <typename T>
inline void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const SliceInfo dstInfo[], const SliceInfo srcInfo[],
                     const uint32_t dimValue = 1, ACRAFT_SITE)
{
    uint32_t at[K_MAX_SHAPE_DIM] = {0};
    uint64_t pitch = srcInfo[0].burstLen;
    uint64_t span = srcInfo[0].endIndex - srcInfo[0].startIndex + 1;
    uint64_t unit = pitch * 32 / sizeof(T), bursts = (span + srcInfo[0].stride) / (unit + srcInfo[0].stride);
    for (uint64_t row = 0;; row++) {
        DataCopyExtParams p(uint16_t(bursts), uint32_t(unit * sizeof(T)), uint32_t(srcInfo[0].stride * sizeof(T)),
                            uint32_t(dstInfo[0].stride * sizeof(T) / 32), 0);
        DataCopyPad(dst[uint32_t(row * bursts * (unit + dstInfo[0].stride))], src[acraft_slice::walk(srcInfo, dimValue, at)], p,
                    DataCopyPadExtParams<T>(), site);
        uint32_t d = 1;
        for (; d < dimValue; d++) {
            at[d] += 1 + srcInfo[d].stride;
            if (srcInfo[d].startIndex + at[d] <= srcInfo[d].endIndex) break;
            at[d] = 0;
        }
        if (d >= dimValue) return;
    }
}
template <typename T>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, const SliceInfo dstInfo[], const SliceInfo srcInfo[],
                     const uint32_t dimValue = 1, ACRAFT_SITE)
{
    uint32_t at[K_MAX_SHAPE_DIM] = {0};
    uint64_t span = dstInfo[0].endIndex - dstInfo[0].startIndex + 1;
    uint64_t unit = uint64_t(dstInfo[0].burstLen) * 32 / sizeof(T);
    uint64_t bursts = (span + dstInfo[0].stride) / (unit + dstInfo[0].stride);
    for (uint64_t row = 0;; row++) {
        DataCopyExtParams p(uint16_t(bursts), uint32_t(unit * sizeof(T)), uint32_t(srcInfo[0].stride * sizeof(T) / 32),
                            uint32_t(dstInfo[0].stride * sizeof(T)), 0);
        DataCopyPad(dst[acraft_slice::walk(dstInfo, dimValue, at)], src[uint32_t(row * bursts * (unit + srcInfo[0].stride))], p,
                    site);
        uint32_t d = 1;
        for (; d < dimValue; d++) {
            at[d] += 1 + dstInfo[d].stride;
            if (dstInfo[d].startIndex + at[d] <= dstInfo[d].endIndex) break;
            at[d] = 0;
        }
        if (d >= dimValue) return;
    }
}

/* ---- masked copy inside UB ---- */

namespace need {
ACRAFT_NEED(Copy, ACRAFT_HAS(COPY));
}
namespace acraft_copy {
inline RecordOperand later(RecordOperand o, uint64_t bytes)
{
    o.address += bytes;
    if (o.bytes) o.bytes = bytes < o.bytes ? uint32_t(o.bytes - bytes) : 1;
    return o;
}

/* In Counter mode Copy is not like other calls: the mask counts the elements of one repeat, which takes as many blocks
 * as these need, and the repeats count. */
template <typename T>
inline void put(const LocalTensor<T> &dst, const LocalTensor<T> &src, const acraft::Mask &m, uint32_t repeat,
                const CopyRepeatParams &p, const acraft::Site &site)
{
    static_assert(need::need_Copy<T>::value, "acraft: no such dtype");
    for (uint32_t i = 0; i < (m.counter ? repeat : 1); i++) {
        Record &r = acraft::put(NPU_COPY, site);
        r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
        r.operand[0] = later(dst.operand(p.dstStride, m.counter ? 8u * p.dstStride : p.dstRepeatSize), 32ull * i * p.dstRepeatSize);
        r.operand[1] = later(src.operand(p.srcStride, m.counter ? 8u * p.srcStride : p.srcRepeatSize), 32ull * i * p.srcRepeatSize);
        r.n[0] = m.counter ? 1 : repeat;
        acraft::use_mask(r, m);
    }
}
}  // namespace acraft_copy
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask[], const uint8_t repeatTime,
                 const CopyRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_copy::put(dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint64_t mask, const uint8_t repeatTime,
                 const CopyRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_copy::put(dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}

}  // namespace AscendC

#endif
