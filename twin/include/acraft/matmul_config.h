/* What a Matmul object is told at compile time: where its operands lie and in which format, the
 * switches of MatmulConfig, constant tilings, the functions that replace its copies, the policy. Names
 * and defaults are the vendor's; of the switches only those change a result that the object names. */
#ifndef ACRAFT_MATMUL_CONFIG_H
#define ACRAFT_MATMUL_CONFIG_H

#include "acraft/cube.h"
#include "kernel_tiling/kernel_tiling.h"

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class IterateOrder { ORDER_M, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT, OUTER_PRODUCT, N_BUFFER_33 };
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };
enum IterateMode : uint8_t { ITERATE_MODE_NORMAL = 1, ITERATE_MODE_ALL = 2, ITERATE_MODE_BATCH = 4, ITERATE_MODE_N_BATCH = 8,
                             ITERATE_MODE_DEFAULT = 255 };

struct MatmulConfig {
    bool doNorm = true;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0, basicN = 0, basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0;
    uint32_t stepM = 0, stepN = 0;
    uint32_t baseMN = 0, singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true, enableGetTensorC = true, enableSetOrgShape = true, enableSetBias = true, enableSetTail = true;
    bool enableQuantVector = true, enableSetDefineData = true;
    uint8_t iterateMode = ITERATE_MODE_DEFAULT;
    bool enableReuse = true, enableUBReuse = false, enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false, isBiasBatch = true, enableStaticPadZeros = false;
    bool isPartialOutput = false, enableMixDualMaster = false, isA2B2Shared = false, isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false, isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;
    BatchOutMode bmmOutMode = SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false, enableRelu = false;
};

/* Arguments of GetMMConfig, in any order. */
struct MatmulShapeParams {
    uint32_t singleCoreM, singleCoreN, singleCoreK, basicM, basicN, basicK;
};
struct MatmulQuantParams {
    bool isPerTensor, hasAntiQuantOffset;
};
struct MatmulBatchParams {
    bool isNBatch;
    BatchMode batchMode;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = SINGLE_BATCH;
};
struct MatmulFuncParams {
    bool intrinsicsCheck, enVecND2NZ, enableDoubleCache, enableL1CacheUB;
    uint32_t doMTE2Preload;
    IterateOrder iterateOrder;
    ScheduleType scheduleType;
    bool enableReuse = true;
    bool enableUBReuse;
    bool isPartialOutput = false, isA2B2Shared = false, isEnableChannelSplit = false, enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false, enableRelu = false;
};
struct MatmulBiasParams {
    bool enableSetBias = true;
};

constexpr MatmulConfig GetNormalConfig(const bool check = false, const bool nBatch = false, const bool byVector = false,
                                       const BatchMode batch = BatchMode::BATCH_LESS_THAN_L1, const bool reuse = true,
                                       const IterateOrder order = IterateOrder::UNDEF,
                                       const ScheduleType schedule = ScheduleType::INNER_PRODUCT, const bool unitFlag = true,
                                       const bool dualMaster = false, const BatchOutMode out = SINGLE_BATCH)
{
    MatmulConfig c;
    c.intrinsicsCheck = check;
    c.isNBatch = nBatch;
    c.enVecND2NZ = byVector;
    c.batchMode = batch;
    c.enableReuse = reuse;
    c.iterateOrder = order;
    c.scheduleType = schedule;
    c.enUnitFlag = unitFlag;
    c.enableMixDualMaster = dualMaster;
    c.bmmOutMode = out;
    return c;
}
constexpr MatmulConfig GetMDLConfig(const bool check = false, const bool nBatch = false, const uint32_t preload = 0, const bool byVector = false,
                                    const bool perTensor = false, const bool offset = false, const bool unitFlag = false,
                                    const bool reuse = true, const bool reuseUB = true, const bool cacheUB = false,
                                    const bool dualMaster = false, const bool reorder = false, const bool banks = false)
{
    MatmulConfig c;
    c.doNorm = false;
    c.doMultiDataLoad = true;
    c.intrinsicsCheck = check;
    c.isNBatch = nBatch;
    c.doMTE2Preload = preload;
    c.enVecND2NZ = byVector;
    c.isPerTensor = perTensor;
    c.hasAntiQuantOffset = offset;
    c.enUnitFlag = unitFlag;
    c.enableReuse = reuse;
    c.enableUBReuse = reuseUB;
    c.enableL1CacheUB = cacheUB;
    c.enableMixDualMaster = dualMaster;
    c.enableKdimReorderLoad = reorder;
    c.enableL1BankConflictOptimise = banks;
    return c;
}
constexpr MatmulConfig GetSpecialMDLConfig(const bool check = false, const bool nBatch = false, const uint32_t preload = 0,
                                           const bool byVector = false, const bool perTensor = false, const bool offset = false)
{
    MatmulConfig c = GetMDLConfig(check, nBatch, preload, byVector, perTensor, offset);
    c.doMultiDataLoad = false;
    c.doSpecialMDL = true;
    return c;
}
constexpr MatmulConfig GetBasicConfig(const uint32_t m, const uint32_t n, const uint32_t k, const bool check = false, const bool nBatch = false,
                                      const BatchMode batch = BatchMode::BATCH_LESS_THAN_L1)
{
    MatmulConfig c = GetNormalConfig(check, nBatch, false, batch);
    c.doNorm = false;
    c.doBasicBlock = true;
    c.basicM = m;
    c.basicN = n;
    c.basicK = k;
    return c;
}
constexpr MatmulConfig GetIBShareNormConfig(const bool check = false, const bool nBatch = false, const bool byVector = false,
                                            const BatchMode batch = BatchMode::BATCH_LESS_THAN_L1, const bool doubleCache = false,
                                            const bool unitFlag = true)
{
    MatmulConfig c = GetNormalConfig(check, nBatch, byVector, batch);
    c.doNorm = false;
    c.doIBShareNorm = true;
    c.enableDoubleCache = doubleCache;
    c.enUnitFlag = unitFlag;
    return c;
}
constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

namespace acraft {
namespace matmul {
constexpr void take(MatmulConfig &c, const MatmulShapeParams &p)
{
    c.singleCoreM = p.singleCoreM;
    c.singleCoreN = p.singleCoreN;
    c.singleCoreK = p.singleCoreK;
    c.basicM = p.basicM;
    c.basicN = p.basicN;
    c.basicK = p.basicK;
}
constexpr void take(MatmulConfig &c, const MatmulQuantParams &p)
{
    c.isPerTensor = p.isPerTensor;
    c.hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void take(MatmulConfig &c, const MatmulBatchParams &p)
{
    c.isNBatch = p.isNBatch;
    c.batchMode = p.batchMode;
    c.isBiasBatch = p.isBiasBatch;
    c.bmmOutMode = p.bmmOutMode;
}
constexpr void take(MatmulConfig &c, const MatmulFuncParams &p)
{
    c.intrinsicsCheck = p.intrinsicsCheck;
    c.enVecND2NZ = p.enVecND2NZ;
    c.enableDoubleCache = p.enableDoubleCache;
    c.enableL1CacheUB = p.enableL1CacheUB;
    c.doMTE2Preload = p.doMTE2Preload;
    c.iterateOrder = p.iterateOrder;
    c.scheduleType = p.scheduleType;
    c.enableReuse = p.enableReuse;
    c.enableUBReuse = p.enableUBReuse;
    c.isPartialOutput = p.isPartialOutput;
    c.isA2B2Shared = p.isA2B2Shared;
    c.isEnableChannelSplit = p.isEnableChannelSplit;
    c.enableKdimReorderLoad = p.enableKdimReorderLoad;
    c.enableL1BankConflictOptimise = p.enableL1BankConflictOptimise;
    c.enableRelu = p.enableRelu;
}
constexpr void take(MatmulConfig &c, const MatmulBiasParams &p) { c.enableSetBias = p.enableSetBias; }
}  // namespace matmul
}  // namespace acraft

template <MatmulConfigMode mode, typename... Params> constexpr MatmulConfig GetMMConfig(Params &&...params)
{
    MatmulConfig c = mode == MatmulConfigMode::CONFIG_MDL          ? CFG_MDL
                     : mode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                     : mode == MatmulConfigMode::CONFIG_IBSHARE    ? CFG_IBSHARE_NORM
                                                                   : CFG_NORM;
    (acraft::matmul::take(c, params), ...);
    return c;
}

/* A tiling known at compile time; -1: not given. */
struct MatmulApiStaticTiling {
    int32_t usedCoreNum = -1, M = -1, N = -1, Ka = -1, Kb = -1, singleCoreM = -1, singleCoreN = -1, singleCoreK = -1;
    int32_t baseM = -1, baseN = -1, baseK = -1, depthA1 = -1, depthB1 = -1, stepM = -1, stepN = -1, isBias = -1, transLength = -1;
    int32_t iterateOrder = -1, shareMode = -1, shareL1Size = -1, shareL0CSize = -1, shareUbSize = -1, stepKa = -1, stepKb = -1;
    int32_t depthAL1CacheUB = -1, depthBL1CacheUB = -1, dbL0A = -1, dbL0B = -1, dbL0C = -1;
    int32_t ALayoutInfoB = -1, ALayoutInfoS = -1, ALayoutInfoN = -1, ALayoutInfoG = -1, ALayoutInfoD = -1;
    int32_t BLayoutInfoB = -1, BLayoutInfoS = -1, BLayoutInfoN = -1, BLayoutInfoG = -1, BLayoutInfoD = -1;
    int32_t CLayoutInfoB = -1, CLayoutInfoS1 = -1, CLayoutInfoN = -1, CLayoutInfoG = -1, CLayoutInfoS2 = -1, BatchNum = -1, mxTypePara = -1;
    MatmulConfig cfg = CFG_NORM;
};

constexpr MatmulConfig ToMatmulConfig(const MatmulConfig &c) { return c; }
constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling &t) { return t.cfg; }

struct MatrixOffset {
    int32_t offset = 0, row = 0, col = 0, height = 0, width = 0;
};

namespace AscendC {

using ::BatchMode;
using ::BatchOutMode;
using ::CubeFormat;
using ::IterateOrder;
using ::LayoutMode;
using ::MatmulConfig;
using ::MatmulConfigMode;
using ::ScheduleType;

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE,
          bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    using T = TYPE;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
    static constexpr TPosition srcPos = SRCPOS;
    static constexpr bool sparse = false;
};
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct SparseMatmulType : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE> {
    static constexpr TPosition indexPosition = INDEX_POSITION;
    static constexpr bool sparse = true;
};

/* The shape from the config; steps so that both operands of a step fit half of L1. */
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig &c, int32_t l1Size = 512 * 1024)
{
    MatmulApiStaticTiling t;
    t.cfg = c;
    if (c.singleCoreM == 0 || c.basicM == 0) return t;
    t.M = t.singleCoreM = int32_t(c.singleCoreM);
    t.N = t.singleCoreN = int32_t(c.singleCoreN);
    t.Ka = t.Kb = t.singleCoreK = int32_t(c.singleCoreK);
    t.baseM = int32_t(c.basicM);
    t.baseN = int32_t(c.basicN);
    t.baseK = int32_t(c.basicK);
    t.isBias = c.enableSetBias;
    t.stepM = t.stepN = 1;
    int32_t wide = t.baseM > t.baseN ? t.baseM : t.baseN, one = wide * t.baseK * int32_t(sizeof(typename A_TYPE::T));
    int32_t most = (t.singleCoreK + t.baseK - 1) / t.baseK, fit = one > 0 ? l1Size / 4 / one : 1;
    t.stepKa = t.stepKb = fit < 1 ? 1 : fit < most ? fit : most;
    t.depthA1 = t.depthB1 = 2 * t.stepKa;
    t.iterateOrder = c.iterateOrder == IterateOrder::ORDER_N;
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 1;
    t.transLength = t.shareMode = t.shareL1Size = t.shareL0CSize = t.shareUbSize = 0;
    return t;
}

/* Whole parts, the last one included. */
inline uint32_t Ceil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
template <typename T, std::enable_if_t<std::is_integral<T>::value, bool> = true> inline T Ceil(T a, T b) { return T((a + b - 1) / b); }

/* The element type of L0C for operands of type T. */
template <typename T> struct GetMmDstType {
    using Type = std::conditional_t<(acraft::bits_of<T>() <= 8), int32_t, float>;
};

/* What a user's DataCopyOut gets. */
struct DataCopyOutParams {
    uint8_t quantMode = 0;
    uint16_t cBurstNum = 0, burstLen = 0, srcStride = 0;
    uint32_t dstStride = 0;
    uint16_t oriNSize = 0;
    bool enUnitFlag = false;
    uint64_t quantScalar = 0;
    int curM = 0, curN = 0;
    uint64_t cbufWorkspaceAddr = 0;
};
/* Functions of the user in place of the copies of one base block; nullptr: ours. */
template <void (*OutCopy)(const __gm__ void *, const LocalTensor<int8_t> &, const void *, const uint64_t, const uint64_t),
          void (*LeftCopy)(const LocalTensor<int8_t> &, const __gm__ void *, int, int, int, int, const uint64_t, const uint64_t),
          void (*RightCopy)(const LocalTensor<int8_t> &, const __gm__ void *, int, int, int, int, const uint64_t, const uint64_t)>
struct MatmulCallBackFunc {
    static constexpr auto DataCopyOutPtr = OutCopy;
    static constexpr auto CopyA1Ptr = LeftCopy;
    static constexpr auto CopyB1Ptr = RightCopy;
    static constexpr bool out = OutCopy != nullptr, in_a = LeftCopy != nullptr, in_b = RightCopy != nullptr;
};

namespace Impl {
constexpr int32_t QUEUE_DEPTH = 1;
namespace Detail {
/* triangle: 1 base blocks on and right of the diagonal, 2 on and left of it, 0 all. */
template <const auto &CONFIG, typename...> struct MatmulPolicy {
    static constexpr int triangle = 0;
};
template <const auto &CONFIG, typename...> struct NBuffer33MatmulPolicy {
    static constexpr int triangle = 0;
};
template <const auto &CONFIG, typename...> struct TrianUpperMatmulPolicy {
    static constexpr int triangle = 1;
};
template <const auto &CONFIG, typename...> struct TrianLowerMatmulPolicy {
    static constexpr int triangle = 2;
};
}  // namespace Detail
}  // namespace Impl

}  // namespace AscendC

#endif
