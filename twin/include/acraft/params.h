/* Parameter structs of the kernel API: field names, order and defaults as the vendor documents
 * them, since kernels set fields by name and use the positional constructors. No behaviour. */
#ifndef ACRAFT_PARAMS_H
#define ACRAFT_PARAMS_H

#include "acraft/half.h"

namespace AscendC {

struct DataCopyParams {
    DataCopyParams() {}
    DataCopyParams(const uint16_t count, const uint16_t len, const uint16_t srcGapIn,
                   const uint16_t dstGapIn)
        : blockCount(count), blockLen(len), srcGap(srcGapIn), dstGap(dstGapIn)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint16_t blockLen = 0;
    union {
        uint16_t srcGap = 0;
        uint16_t srcStride;
    };
    union {
        uint16_t dstGap = 0;
        uint16_t dstStride;
    };
};

struct DataCopyExtParams {
    DataCopyExtParams() {}
    DataCopyExtParams(const uint16_t count, const uint32_t len, const uint32_t srcStrideIn,
                      const uint32_t dstStrideIn, const uint32_t rsvIn)
        : blockCount(count), blockLen(len), srcStride(srcStrideIn), dstStride(dstStrideIn),
          rsv(rsvIn)
    {
    }
    uint16_t blockCount = DEFAULT_DATA_COPY_NBURST;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;
};

struct DataCopyPadParams {
    DataCopyPadParams() {}
    DataCopyPadParams(const bool pad, const uint8_t left, const uint8_t right, const uint64_t value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};

template <typename T> struct DataCopyPadExtParams {
    DataCopyPadExtParams() {}
    DataCopyPadExtParams(const bool pad, const uint8_t left, const uint8_t right, T value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value)
    {
    }
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = 0;
};

struct DataCopyEnhancedParams {
    DataCopyEnhancedParams() {}
    DataCopyEnhancedParams(const BlockMode blockModeIn, const DeqScale deqScaleIn,
                           const uint64_t deqValueIn, const uint8_t sidStoreModeIn,
                           const bool isReluIn, const pad_t padModeIn, const uint64_t padValueIn)
        : blockMode(blockModeIn), deqScale(deqScaleIn), deqValue(deqValueIn),
          sidStoreMode(sidStoreModeIn), isRelu(isReluIn), padMode(padModeIn), padValue(padValueIn)
    {
    }
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
    pad_t padMode = pad_t::PAD_NONE;
    uint64_t padValue = 0;
    uint64_t deqTensorAddr = 0;
};

struct DataCopyCO12DstParams {
    DataCopyCO12DstParams() {}
    DataCopyCO12DstParams(const uint16_t nSizeIn, const uint16_t mSizeIn,
                          const uint32_t dstStrideIn, const uint16_t srcStrideIn,
                          const QuantMode_t quantPreIn, const uint8_t reluPreIn,
                          const bool channelSplitIn, const bool nz2ndEnIn)
        : nSize(nSizeIn), mSize(mSizeIn), dstStride(dstStrideIn), srcStride(srcStrideIn),
          quantPre(quantPreIn), reluPre(reluPreIn), channelSplit(channelSplitIn),
          nz2ndEn(nz2ndEnIn)
    {
    }
    uint8_t sid = 0;
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint32_t dstStride = 0;
    uint16_t srcStride = 0;
    uint8_t unitFlag = 0;
    uint8_t clipReluPre = 0;
    uint8_t eltWiseOp = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint8_t reluPre = 0;
    bool channelSplit = false;
    bool nz2ndEn = false;
};

struct Nd2NzParams {
    Nd2NzParams() {}
    Nd2NzParams(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                const uint16_t srcNdMatrixStrideIn, const uint16_t srcDValueIn,
                const uint16_t dstNzC0StrideIn, const uint16_t dstNzNStrideIn,
                const uint16_t dstNzMatrixStrideIn)
        : ndNum(ndNumIn), nValue(nValueIn), dValue(dValueIn),
          srcNdMatrixStride(srcNdMatrixStrideIn), srcDValue(srcDValueIn),
          dstNzC0Stride(dstNzC0StrideIn), dstNzNStride(dstNzNStrideIn),
          dstNzMatrixStride(dstNzMatrixStrideIn)
    {
    }
    uint16_t ndNum = 0;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 0;
    uint16_t srcDValue = 0;
    uint16_t dstNzC0Stride = 0;
    uint16_t dstNzNStride = 0;
    uint16_t dstNzMatrixStride = 0;
};

struct Nz2NdParamsFull {
    Nz2NdParamsFull() {}
    Nz2NdParamsFull(const uint16_t ndNumIn, const uint16_t nValueIn, const uint16_t dValueIn,
                    const uint16_t srcNdMatrixStrideIn, const uint16_t srcNStrideIn,
                    const uint16_t dstDStrideIn, const uint16_t dstNdMatrixStrideIn)
        : ndNum(ndNumIn), nValue(nValueIn), dValue(dValueIn),
          srcNdMatrixStride(srcNdMatrixStrideIn), srcNStride(srcNStrideIn),
          dstDStride(dstDStrideIn), dstNdMatrixStride(dstNdMatrixStrideIn)
    {
    }
    uint16_t ndNum = 1;
    uint16_t nValue = 0;
    uint16_t dValue = 0;
    uint16_t srcNdMatrixStride = 1;
    uint16_t srcNStride = 0;
    uint16_t dstDStride = 0;
    uint16_t dstNdMatrixStride = 1;
};

struct SliceInfo {
    SliceInfo() {}
    SliceInfo(const uint32_t start, const uint32_t end, const uint32_t strideIn,
              const uint32_t burstLenIn, const uint32_t shapeValueIn = 0)
        : startIndex(start), endIndex(end), stride(strideIn), burstLen(burstLenIn),
          shapeValue(shapeValueIn)
    {
    }
    uint32_t startIndex = 0;
    uint32_t endIndex = ONE_BLK_SIZE - 1;
    uint32_t stride = 0;
    uint32_t burstLen = ONE_BLK_SIZE;
    uint32_t shapeValue = 0;
};

struct CopyRepeatParams {
    CopyRepeatParams() {}
    CopyRepeatParams(const uint16_t dstStrideIn, const uint16_t srcStrideIn,
                     uint16_t dstRepeatSizeIn, uint16_t srcRepeatSizeIn)
        : dstStride(dstStrideIn), srcStride(srcStrideIn), dstRepeatSize(dstRepeatSizeIn),
          srcRepeatSize(srcRepeatSizeIn)
    {
    }
    uint16_t dstStride = 0;
    uint16_t srcStride = 0;
    uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
    uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

struct UnaryRepeatParams {
    UnaryRepeatParams() {}
    UnaryRepeatParams(const uint16_t dstBlk, const uint16_t srcBlk, const uint8_t dstRep,
                      const uint8_t srcRep, const bool halfBlockIn = false)
        : dstBlkStride(dstBlk), srcBlkStride(srcBlk), dstRepStride(dstRep), srcRepStride(srcRep),
          halfBlock(halfBlockIn)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
    bool halfBlock = false;
};

struct BinaryRepeatParams {
    BinaryRepeatParams() {}
    BinaryRepeatParams(const uint8_t dstBlk, const uint8_t src0Blk, const uint8_t src1Blk,
                       const uint8_t dstRep, const uint8_t src0Rep, const uint8_t src1Rep)
        : dstBlkStride(dstBlk), src0BlkStride(src0Blk), src1BlkStride(src1Blk),
          dstRepStride(dstRep), src0RepStride(src0Rep), src1RepStride(src1Rep)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
    uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
    bool repeatStrideMode = false;
    bool strideSizeMode = false;
};

struct BrcbRepeatParams {
    BrcbRepeatParams() {}
    BrcbRepeatParams(const uint16_t dstBlk, const uint16_t dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct GatherRepeatParams {
    GatherRepeatParams() {}
    GatherRepeatParams(const uint8_t dstBlk, const uint8_t dstRep)
        : dstRepStride(dstRep), dstBlkStride(dstBlk)
    {
    }
    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
    uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
};

struct GatherMaskParams {
    GatherMaskParams() {}
    GatherMaskParams(const uint8_t src0Blk, const uint16_t repeats, const uint16_t src0Rep,
                     const uint8_t src1Rep)
        : src0BlockStride(src0Blk), repeatTimes(repeats), src0RepeatStride(src0Rep),
          src1RepeatStride(src1Rep)
    {
    }
    uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
    uint16_t repeatTimes = 0;
    uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
    uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

struct MrgSort4Info {
    MrgSort4Info() {}
    MrgSort4Info(const uint16_t lengths[MRG_SORT_ELEMENT_LEN], const bool suspend,
                 const uint16_t valid, const uint16_t repeats)
        : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(uint8_t(repeats))
    {
        for (int i = 0; i < MRG_SORT_ELEMENT_LEN; i++) elementLengths[i] = lengths[i];
    }
    uint16_t elementLengths[MRG_SORT_ELEMENT_LEN] = {0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

struct TransDataTo5HDParams {
    constexpr TransDataTo5HDParams() = default;
    constexpr TransDataTo5HDParams(const bool dstHigh, const bool srcHigh, const uint8_t repeats,
                                   const uint16_t dstRep, const uint16_t srcRep)
        : dstHighHalf(dstHigh), srcHighHalf(srcHigh), repeatTimes(repeats), dstRepStride(dstRep),
          srcRepStride(srcRep)
    {
    }
    bool dstHighHalf = false;
    bool srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0;
    uint16_t srcRepStride = 0;
};

struct TransposeParamsExt {
    constexpr TransposeParamsExt() = default;
    constexpr TransposeParamsExt(const uint16_t n, const uint16_t c, const uint16_t h,
                                 const uint16_t w, const TransposeType type)
        : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type)
    {
    }
    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

struct VdeqInfo {
    VdeqInfo() {}
    VdeqInfo(const float scale[VDEQ_TENSOR_SIZE], const int16_t offset[VDEQ_TENSOR_SIZE],
             const bool sign[VDEQ_TENSOR_SIZE])
    {
        for (int i = 0; i < VDEQ_TENSOR_SIZE; i++) {
            vdeqScale[i] = scale[i];
            vdeqOffset[i] = offset[i];
            vdeqSignMode[i] = sign[i];
        }
    }
    float vdeqScale[VDEQ_TENSOR_SIZE] = {0};
    int16_t vdeqOffset[VDEQ_TENSOR_SIZE] = {0};
    bool vdeqSignMode[VDEQ_TENSOR_SIZE] = {0};
};

struct CheckLocalMemoryIAParam {
    uint8_t enableBit = 0;
    uint32_t startAddr = 0;
    uint32_t endAddr = 0;
    bool isScalarRead = false, isScalarWrite = false, isVectorRead = false, isVectorWrite = false;
    bool isMteRead = false, isMteWrite = false, isEnable = false;
};

/* ---- cube ---- */

struct LoadData2DParams {
    LoadData2DParams() {}
    LoadData2DParams(const uint16_t start, const uint8_t repeats, const uint16_t srcStrideIn,
                     const uint8_t sidIn, const uint16_t dstGapIn, const bool transpose,
                     const uint8_t addrModeIn)
        : startIndex(start), dstGap(dstGapIn), srcStride(srcStrideIn), ifTranspose(transpose),
          repeatTimes(repeats), sid(sidIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint16_t dstGap = 0;
    uint16_t srcStride = 0;
    bool ifTranspose = false;
    uint8_t repeatTimes = 0;
    uint8_t sid = 0;
    uint8_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

struct LoadData2DParamsV2 {
    LoadData2DParamsV2() {}
    LoadData2DParamsV2(const uint32_t mStart, const uint32_t kStart, const uint16_t mStepIn,
                       const uint16_t kStepIn, const int32_t srcStrideIn,
                       const uint16_t dstStrideIn, const bool transpose, const uint8_t sidIn)
        : mStartPosition(mStart), kStartPosition(kStart), mStep(mStepIn), kStep(kStepIn),
          srcStride(srcStrideIn), dstStride(dstStrideIn), ifTranspose(transpose), sid(sidIn)
    {
    }
    uint32_t mStartPosition = 0;
    uint32_t kStartPosition = 0;
    uint16_t mStep = 0;
    uint16_t kStep = 0;
    int32_t srcStride = 0;
    uint16_t dstStride = 0;
    bool ifTranspose = false;
    uint8_t sid = 0;
};

struct LoadData2dTransposeParams {
    LoadData2dTransposeParams() {}
    LoadData2dTransposeParams(const uint16_t start, const uint8_t repeats,
                              const uint16_t srcStrideIn, const uint16_t dstGapIn,
                              const uint16_t dstFracGapIn, const uint8_t addrModeIn = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(srcStrideIn), dstGap(dstGapIn),
          dstFracGap(dstFracGapIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint8_t addrMode = 0;
};

struct LoadData2dTransposeParamsV2 {
    LoadData2dTransposeParamsV2() {}
    LoadData2dTransposeParamsV2(const uint16_t start, const uint8_t repeats,
                                const uint16_t srcStrideIn, const uint16_t dstGapIn,
                                const uint16_t dstFracGapIn, const uint16_t srcFracGapIn,
                                const uint8_t addrModeIn = 0)
        : startIndex(start), repeatTimes(repeats), srcStride(srcStrideIn), dstGap(dstGapIn),
          dstFracGap(dstFracGapIn), srcFracGap(srcFracGapIn), addrMode(addrModeIn)
    {
    }
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint16_t dstGap = 0;
    uint16_t dstFracGap = 0;
    uint16_t srcFracGap = 0;
    uint8_t addrMode = 0;
};

template <typename T> struct LoadData3DParamsV2 {
    LoadData3DParamsV2() {}
    LoadData3DParamsV2(const uint8_t pad[PAD_SIZE], const uint16_t h, const uint16_t w,
                       const uint16_t channels, const uint16_t kExt, const uint16_t mExt,
                       const uint16_t kStart, const uint16_t mStart, const uint8_t strideWIn,
                       const uint8_t strideHIn, const uint8_t filterWIn, const uint8_t filterHIn,
                       const uint8_t dilationW, const uint8_t dilationH, const bool transpose,
                       const bool smallK, const T padValueIn, const bool bigW = false,
                       const bool bigH = false, const bool right = false)
        : l1H(h), l1W(w), channelSize(channels), kExtension(kExt), mExtension(mExt),
          kStartPt(kStart), mStartPt(mStart), strideW(strideWIn), strideH(strideHIn),
          filterW(filterWIn), filterH(filterHIn), dilationFilterW(dilationW),
          dilationFilterH(dilationH), enTranspose(transpose), enSmallK(smallK),
          padValue(padValueIn), filterSizeW(bigW), filterSizeH(bigH), fMatrixCtrl(right)
    {
        for (int i = 0; i < PAD_SIZE; i++) padList[i] = pad[i];
    }
    uint8_t padList[PAD_SIZE] = {0};
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0;
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false;
    bool enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

struct LoadData3DParamsV2Pro {
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;
    uint64_t filterConfig = 0x10101010101ull;
};

struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

struct MmadParams {
    MmadParams() {}
    MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool bias,
               const int32_t offset, const bool sparse, const bool winogradA, const bool winogradB)
        : m(mIn), n(nIn), k(kIn), isBias(bias), fmOffset(offset), enSsparse(sparse),
          enWinogradA(winogradA), enWinogradB(winogradB)
    {
    }
    MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t unit,
               const bool source, const bool init)
        : m(mIn), n(nIn), k(kIn), unitFlag(unit), cmatrixSource(source), cmatrixInitVal(init)
    {
    }
    uint16_t m = 0;
    uint16_t n = 0;
    uint16_t k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false;
    bool enWinogradA = false;
    bool enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false;
    bool cmatrixSource = false;
    bool cmatrixInitVal = true;
};

template <typename T> struct InitConstValueParams {
    InitConstValueParams() {}
    InitConstValueParams(const uint16_t repeats, const uint16_t blocks, const uint16_t gap,
                         const T value)
        : repeatTimes(repeats), blockNum(blocks), dstGap(gap), initValue(value)
    {
    }
    InitConstValueParams(const uint16_t repeats, const T value)
        : repeatTimes(repeats), initValue(value)
    {
    }
    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0;
    uint16_t dstGap = 0;
    T initValue = 0;
};

struct FixpipeConfig {
    CO2Layout format;
    constexpr FixpipeConfig(CO2Layout format_) : format(format_) {}
    constexpr FixpipeConfig(CO2Layout format_, bool) : format(format_) {}
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
    FixpipeParamsV220() {}
    FixpipeParamsV220(const uint16_t n, const uint16_t m, const uint16_t src, const uint32_t dst,
                      const bool relu)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), reluEn(relu)
    {
    }
    FixpipeParamsV220(const uint16_t n, const uint16_t m, const uint16_t src, const uint32_t dst,
                      const bool relu, const QuantMode_t quant, const int64_t scalar,
                      const uint16_t nd, const uint16_t srcNd, const uint16_t dstNd,
                      const uint8_t unit, const bool split = false)
        : nSize(n), mSize(m), srcStride(src), dstStride(dst), quantPre(quant),
          deqScalar(uint64_t(scalar)), ndNum(nd), srcNdStride(srcNd), dstNdStride(dstNd),
          reluEn(relu), unitFlag(unit), isChannelSplit(split)
    {
    }
    uint16_t nSize = 0;
    uint16_t mSize = 0;
    uint16_t srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = QuantMode_t::NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1;
    uint16_t srcNdStride = 0;
    uint16_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};
using FixpipeParamsM300 = FixpipeParamsV220;
using FixpipeParamsM310 = FixpipeParamsV220;

}  // namespace AscendC

#endif
