/* The matrix unit: loading fractals into L0, Mmad, Fixpipe, and the registers they use. One call is
 * one record, plus register records where the instruction reads one. Calls are nothing on AIV. */
#ifndef ACRAFT_CUBE_H
#define ACRAFT_CUBE_H

#include "acraft/softmax.h"

namespace AscendC {

namespace cube {
template <typename T> inline Record &put(NpuOp op, const RecordOperand &dst, const RecordOperand &src, const acraft::Site &site)
{
    Record &r = acraft::put(op, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst;
    r.operand[1] = src;
    return r;
}
template <typename T>
inline void load2d(NpuOp op, const RecordOperand &dst, const RecordOperand &src, const LoadData2DParams &p, const acraft::Site &site)
{
    Record &r = put<T>(op, dst, src, site);
    r.n[0] = p.startIndex;
    r.n[1] = p.repeatTimes;
    r.n[2] = p.srcStride;
    r.n[3] = p.dstGap;
    r.mode = uint8_t((p.ifTranspose ? 1 : 0) | (p.addrMode ? 2 : 0));
}
}  // namespace cube

/* ---- loads ---- */

template <typename T> inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    cube::load2d<T>(NPU_LOAD2D, dst.operand(), src.operand(), p, site);
}
template <typename T> inline void LoadData(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const LoadData2DParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    cube::load2d<T>(NPU_LOAD2D_GM, dst.operand(), src.operand(), p, site);
}
template <typename T>
inline void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2dTransposeParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::put<T>(NPU_LOAD_TRANSPOSE, dst.operand(), src.operand(), site);
    r.n[0] = p.startIndex;
    r.n[1] = p.repeatTimes;
    r.n[2] = p.srcStride;
    r.n[3] = p.dstGap;
    r.n[4] = p.dstFracGap;
    r.mode = p.addrMode ? 2 : 0;
}

inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t pad[4], const FmatrixMode &mode, ACRAFT_SITE)
{
    acraft::put_register(mode == FmatrixMode::FMATRIX_LEFT ? REC_REG_FMATRIX_A : REC_REG_FMATRIX_B,
                         pad[0] | uint64_t(pad[1]) << 8 | uint64_t(pad[2]) << 16 | uint64_t(pad[3]) << 24, site, l1H | uint64_t(l1W) << 16);
}
/* What the vendor's LoadData calls before each load, and some libraries directly. */
inline void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t pad[4], ACRAFT_SITE)
{
    SetFmatrix(l1H, l1W, pad, FmatrixMode::FMATRIX_LEFT, site);
}
template <typename T> inline void SetLoadDataPaddingValue(const T value, ACRAFT_SITE)
{
    acraft::put_register(REC_REG_LOAD3D_PAD, acraft::scalar_bits(value), site);
}
/* Sources that wrap around, and loads repeated along an axis, are not modelled; what they start with is. */
inline void SetLoadDataBoundary(uint32_t boundary, ACRAFT_SITE)
{
    if (boundary) acraft::unsupported("SetLoadDataBoundary", site);
}
struct LoadDataRepeatParam {
    LoadDataRepeatParam() {}
    LoadDataRepeatParam(const uint16_t stride, const uint8_t times, const uint8_t mode) : repeatStride(stride), repeatTime(times), repeatMode(mode) {}
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1, repeatMode = 0;
};
inline void SetLoadDataRepeat(const LoadDataRepeatParam &repeat, ACRAFT_SITE)
{
    if (repeat.repeatTime != 1) acraft::unsupported("SetLoadDataRepeat", site);
}

template <typename T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<U> &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    if (config.isSetFMatrix) SetFmatrix(p.l1H, p.l1W, p.padList, p.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT, site);
    if (config.isSetPadding) SetLoadDataPaddingValue<U>(p.padValue, site);
    Record &r = cube::put<T>(NPU_LOAD3D, dst.operand(), src.operand(), site);
    r.n[0] = p.kExtension;
    r.n[1] = p.mExtension;
    r.n[2] = p.kStartPt;
    r.n[3] = p.mStartPt;
    r.n[4] = p.channelSize;
    r.n[5] = (p.filterW + (p.filterSizeW ? 256u : 0u)) | (p.filterH + (p.filterSizeH ? 256u : 0u)) << 16;
    r.mask[0] = p.strideW | uint64_t(p.strideH) << 8 | uint64_t(p.dilationFilterW) << 16 | uint64_t(p.dilationFilterH) << 24;
    r.mode = uint8_t((p.enTranspose ? 1 : 0) | (p.fMatrixCtrl ? 2 : 0));
}
/* The packed form: extension and start fields of 16 bits each, filter fields of 8. */
template <typename T> inline void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2Pro &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::put<T>(NPU_LOAD3D, dst.operand(), src.operand(), site);
    for (int i = 0; i < 4; i++) r.n[i] = uint32_t(p.extConfig >> (16 * i)) & 0xffffu;
    r.n[4] = p.channelSize;
    uint64_t f = p.filterConfig;
    r.n[5] = uint32_t((f >> 16 & 0xff) + (p.filterSizeW ? 256 : 0)) | uint32_t((f >> 24 & 0xff) + (p.filterSizeH ? 256 : 0)) << 16;
    r.mask[0] = (f & 0xff) | (f >> 8 & 0xff) << 8 | (f >> 32 & 0xff) << 16 | (f >> 40 & 0xff) << 24;
    r.mode = uint8_t((p.enTranspose ? 1 : 0) | (p.fMatrixCtrl ? 2 : 0));
}

template <typename T, typename U = T> inline void Fill(const LocalTensor<T> &dst, const InitConstValueParams<U> &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::put<T>(NPU_FILL, dst.operand(), RecordOperand{}, site);
    r.n[0] = p.repeatTimes;
    r.n[1] = p.blockNum;
    r.n[2] = p.dstGap;
    r.scalar = acraft::scalar_bits(p.initValue);
}
template <typename T, typename U = T> inline void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<U> &p, ACRAFT_SITE)
{
    Fill<T, U>(dst, p, site.in("InitConstValue"));
}

/* ---- the product ---- */

namespace cube {
template <typename T, typename U, typename S>
inline Record &mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const MmadParams &p, const acraft::Site &site)
{
    static_assert((std::is_same<T, float>::value && SupportType<U, half, bfloat16_t, float>() && std::is_same<U, S>::value) ||
                      (std::is_same<T, int32_t>::value && (acraft::bits_of<U>() <= 8) && std::is_same<U, S>::value),
                  "acraft: Mmad does not exist for these dtypes on Atlas A2");
    Record &r = put<T>(NPU_MMAD, dst.operand(), fm.operand(), site);
    r.dtype[1] = acraft::dtype_of<U>();
    r.dtype[2] = acraft::dtype_of<S>();
    r.operand[2] = filter.operand();
    r.n[0] = p.m;
    r.n[1] = p.n;
    r.n[2] = p.k;
    r.n[3] = p.unitFlag;
    r.mode = uint8_t((p.cmatrixInitVal && !p.isBias ? 1 : 0) | (p.kDirectionAlign ? 4 : 0));
    return r;
}
}  // namespace cube
template <typename T, typename U, typename S>
inline void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const MmadParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::mmad(dst, fm, filter, p, site);
    if (!p.cmatrixSource) return;
    r.mode |= 2;
    r.operand[3].address = rec_address(NPU_BT, 0);
}
template <typename T, typename U, typename S, typename V>
inline void Mmad(const LocalTensor<T> &dst, const LocalTensor<U> &fm, const LocalTensor<S> &filter, const LocalTensor<V> &bias,
                 const MmadParams &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::mmad(dst, fm, filter, p, site);
    r.mode |= 2;
    r.operand[3] = bias.operand();
}

/* Bit 0 rounds floats to HF32 before they are multiplied, bit 1 says how ties go. */
namespace cube {
inline ACRAFT_KEPT uint64_t acraft_hf32 = 0;
inline void set_hf32(uint64_t bit, bool on, const acraft::Site &site)
{
    acraft_hf32 = on ? acraft_hf32 | bit : acraft_hf32 & ~bit;
    acraft::put_register(REC_REG_HF32, acraft_hf32, site);
}
}  // namespace cube
inline void SetHF32Mode(bool on, ACRAFT_SITE) { cube::set_hf32(1, on, site); }
inline void SetHF32Mode(HF32Mode mode, ACRAFT_SITE) { cube::set_hf32(1, mode == HF32Mode::ENABLE, site); }
inline void SetHF32TransMode(bool toZero, ACRAFT_SITE) { cube::set_hf32(2, toZero, site); }
inline void SetHF32TransMode(HF32TransMode mode, ACRAFT_SITE) { cube::set_hf32(2, mode == HF32TransMode::NEAREST_ZERO, site); }
inline void SetMMLayoutTransform(bool) {}
inline void SetMMRowMajor() {}
inline void SetMMColumnMajor() {}

/* ---- results out of L0C ---- */

namespace cube {
inline RecQuant quant_of(QuantMode_t q, const acraft::Site &site)
{
    switch (q) {
    case NoQuant: return REC_QUANT_NONE;
    case F322F16: return REC_QUANT_F32_F16;
    case F322BF16: return REC_QUANT_F32_BF16;
    case DEQF16: return REC_QUANT_DEQ_F16;
    case VDEQF16: return REC_QUANT_VDEQ_F16;
    case QF322B8_PRE: return REC_QUANT_QF32_B8;
    case VQF322B8_PRE: return REC_QUANT_VQF32_B8;
    case REQ8: return REC_QUANT_REQ8;
    case VREQ8: return REC_QUANT_VREQ8;
    default: acraft::unsupported("Fixpipe quantisation mode", site);
    }
}
template <typename T, typename U>
inline Record &fixpipe(NpuOp op, const RecordOperand &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &p, bool rows, const acraft::Site &site)
{
    RecQuant quant = quant_of(p.quantPre, site);
    Record &r = put<T>(op, dst, src.operand(), site);
    r.dtype[1] = r.dtype[2] = acraft::dtype_of<U>();
    r.n[0] = p.nSize;
    r.n[1] = p.mSize;
    r.n[2] = p.srcStride;
    r.n[3] = p.dstStride;
    r.n[4] = p.ndNum | uint32_t(p.srcNdStride) << 16;
    r.n[5] = p.dstNdStride;
    r.mode = uint8_t((rows ? 1 : 0) | (p.reluEn ? 2 : 0) | (p.isChannelSplit ? 4 : 0));
    r.mask[0] = quant;
    r.scalar = p.deqScalar;
    return r;
}
/* The factors of a per-column quantisation go from L1 to the start of the fixpipe buffer. */
inline RecordOperand factors(const LocalTensor<uint64_t> &l1, uint32_t n, const acraft::Site &site)
{
    RecordOperand fb = acraft::operand(rec_address(NPU_FB, 0), 0, 0, 0);
    acraft::put_copy<uint64_t>(NPU_COPY_L1_FB, fb, l1.operand(), {1, (n * 8 + 127) / 128 * 128, 0, 0}, 0, site);
    acraft::put_barrier(NPU_PIPE_FIX, site);
    return fb;
}
}  // namespace cube

template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
inline void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    cube::fixpipe<T>(NPU_FIXPIPE_GM, dst.operand(), src, p, config.format == CO2Layout::ROW_MAJOR, site);
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
inline void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const FixpipeParamsV220 &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    cube::fixpipe<T>(NPU_FIXPIPE_L1, dst.operand(), src, p, config.format == CO2Layout::ROW_MAJOR, site);
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
inline void Fixpipe(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<uint64_t> &cbufWorkspace,
                    const FixpipeParamsV220 &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    RecordOperand fb = cube::factors(cbufWorkspace, p.nSize, site);
    cube::fixpipe<T>(NPU_FIXPIPE_GM, dst.operand(), src, p, config.format == CO2Layout::ROW_MAJOR, site).operand[2] = fb;
}
template <typename T, typename U, const FixpipeConfig &config = CFG_ROW_MAJOR>
inline void Fixpipe(const LocalTensor<T> &dst, const LocalTensor<U> &src, const LocalTensor<uint64_t> &cbufWorkspace,
                    const FixpipeParamsV220 &p, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    RecordOperand fb = cube::factors(cbufWorkspace, p.nSize, site);
    cube::fixpipe<T>(NPU_FIXPIPE_L1, dst.operand(), src, p, config.format == CO2Layout::ROW_MAJOR, site).operand[2] = fb;
}

/* L0C out by DataCopy, with what registers hold: how many matrices, the factor of all columns, or where in
 * the fixpipe buffer the factors of columns stand. */
namespace cube {
struct Outlet {
    uint16_t matrices = 1, from_stride = 0, to_stride = 0;
    uint64_t factor = 0;
    RecordOperand factors = {};
};
inline ACRAFT_KEPT Outlet acraft_outlet;
inline FixpipeParamsV220 from_copy(const DataCopyCO12DstParams &c)
{
    FixpipeParamsV220 p(c.nSize, c.mSize, c.srcStride, c.dstStride, c.reluPre != 0);
    p.quantPre = c.quantPre;
    p.unitFlag = c.unitFlag;
    p.isChannelSplit = c.channelSplit;
    p.deqScalar = acraft_outlet.factor;
    if (c.nz2ndEn) {
        p.ndNum = acraft_outlet.matrices;
        p.srcNdStride = acraft_outlet.from_stride;
        p.dstNdStride = acraft_outlet.to_stride;
    }
    return p;
}
inline bool by_columns(QuantMode_t q) { return q == VDEQF16 || q == VQF322B8_PRE || q == VREQ8; }
}  // namespace cube
inline void SetFixpipeNz2ndFlag(uint16_t ndNum, uint16_t srcNdStride, uint16_t dstNdStride)
{
    cube::acraft_outlet.matrices = ndNum;
    cube::acraft_outlet.from_stride = srcNdStride;
    cube::acraft_outlet.to_stride = dstNdStride;
}
inline void SetFixpipePreQuantFlag(uint64_t config) { cube::acraft_outlet.factor = config; }
template <typename T, bool setRelu = false> inline void SetFixPipeConfig(const LocalTensor<T> &preData, bool isUnitFlag = false)
{
    static_assert(!setRelu, "acraft-unsupported: SetFixPipeConfig for relu by columns");
    (void)isUnitFlag;
    cube::acraft_outlet.factors = preData.operand();
}
template <typename T, typename U>
inline void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &c, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::fixpipe<T>(NPU_FIXPIPE_GM, dst.operand(), src, cube::from_copy(c), c.nz2ndEn, site);
    if (cube::by_columns(c.quantPre)) r.operand[2] = cube::acraft_outlet.factors;
}
template <typename T, typename U>
inline void DataCopy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const DataCopyCO12DstParams &c, ACRAFT_SITE)
{
    if (g_coreType == AIV) return;
    Record &r = cube::fixpipe<T>(NPU_FIXPIPE_L1, dst.operand(), src, cube::from_copy(c), c.nz2ndEn, site);
    if (cube::by_columns(c.quantPre)) r.operand[2] = cube::acraft_outlet.factors;
}

}  // namespace AscendC

#endif
