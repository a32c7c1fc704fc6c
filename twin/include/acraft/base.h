/* What AscendC text takes for granted before any class: qualifiers, pipe and event names, enums,
 * sizes. In: nothing but -DACRAFT_CORE_AIC for the cube half of a mixed kernel (the vector half is
 * the default). Out: names spelled as on the device, with the values of NPU arch 2201. */
#ifndef ACRAFT_BASE_H
#define ACRAFT_BASE_H

#include "acraft/order_params.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

/* Kernels call these headers thousands of times: what is not a few instructions stays out of line,
 * or compiling a large kernel takes minutes. */
#define ACRAFT_OUTLINE __attribute__((noinline))
/* The same for what touches only memory of these headers, never what a kernel's pointer may lead to:
 * its loads and stores need not be checked (twin/rt/core_rt.c). */
#ifdef __clang__
#define ACRAFT_OWN __attribute__((noinline, no_sanitize_address))
#else
#define ACRAFT_OWN __attribute__((noinline, no_sanitize_thread))
#endif

/* Arch 2201 compiles a mixed kernel twice; ASCEND_IS_AIV and g_coreType are constants in each. */
#define __NPU_ARCH__ 2201
#define __CCE_AICORE__ 220
#define __DAV_C220__ 1
#ifdef ACRAFT_CORE_AIC
#define __DAV_C220_CUBE__ 1
#define SPLIT_CORE_CUBE 1
#define __DAV_CUBE__ 1
#else
#define __DAV_C220_VEC__ 1
#define SPLIT_CORE_VEC 1
#define __DAV_VEC__ 1
#endif

#define __aicore__
#define __host_aicore__
#ifdef ACRAFT_SCAN /* only preprocessed, to find the entries that macros make (src/twin/entry.c) */
#define __global__ acraft_scan_global
#else
#define __global__ __attribute__((used, visibility("default")))
#endif
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __inout_pipe__(...)
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __sync_alias__
#define __sync_noalias__
#define __check_sync_alias__
#define __BLOCK_LOCAL__
#define __WORKGROUP_LOCAL__
/* The device compiler's own attribute is written [aicore] after __forceinline__; the macro turns it
 * into a C++ attribute, which is legal only where a declaration begins: hence the empty word. */
#define __forceinline__
#define aicore [acraft::device] /* ignored, wherever a text puts it: before a function or before its type */
#define __schedmode__(...)
#define __kfc_workspace__
#ifndef ACRAFT_SCAN
#define __cube__
#define __vector__
#define __mix__(...)
#endif
#define ASCENDC_HOST
#define ASCENDC_AICORE
#define ASCENDC_HOST_AICORE

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif
#ifndef ASSERT
#define ASSERT(...)
#endif
#define ASCENDC_ASSERT(cond, behavior)
#define DEBUG_CODE(T)
#define KERNEL_LOG(...)
#define ascendc_assert(...)

enum KernelMetaType_ : uint32_t {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE,
    KERNEL_TYPE_MAX
};

enum acraft_core_type { AIC = 1, AIV = 2, MIX = 3 };
#ifdef ACRAFT_CORE_AIC
constexpr acraft_core_type g_coreType = AIC;
#else
constexpr acraft_core_type g_coreType = AIV;
#endif
#define ASCEND_IS_AIV constexpr(g_coreType == AIV)
#define ASCEND_IS_AIC constexpr(g_coreType == AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AIC)
#define ASCEND_IS_AICORE constexpr(false)

/* Numbered as in the device headers; emit.h maps them to the pipes of records. */
enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4,
              PIPE_MTE5, PIPE_V2, PIPE_FIX = 10 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6,
               EVENT_ID7 };
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
enum pad_t { PAD_NONE, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5, PAD_MODE6, PAD_MODE7,
             PAD_MODE8 };
enum bm_t { BM_DISABLE, BM_ENABLE };
enum bcast_t { BM_ALL };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum crmode_t { CRMODE_NONE, CRMODE_F32toF16_NONE, CRMODE_F16_MUL, CRMODE_S32toF16_DEQSCALE_SPR,
                CRMODE_DEQ8, CRMODE_VDEQ8, CRMODE_DEQ16, CRMODE_VDEQ16 };
enum byp_t { BYPASS_DISABLE, BYPASS_ENABLE };
enum mode_t_cce { inc, dec };
enum csize_t { CSIZE0, CSIZE1 };
enum class Order_t { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
constexpr Order_t VALUE_INDEX = Order_t::VALUE_INDEX;
constexpr Order_t INDEX_VALUE = Order_t::INDEX_VALUE;
constexpr Order_t ONLY_VALUE = Order_t::ONLY_VALUE;
constexpr Order_t ONLY_INDEX = Order_t::ONLY_INDEX;

/* Values as in the quantisation field of the fixpipe instruction. */
enum QuantMode_t {
    NoQuant = 0,
    F322F16 = 1,
    VQF322HIF8_PRE = 2,
    QF322HIF8_PRE = 3,
    VREQ8 = 8,
    REQ8 = 9,
    VDEQF16 = 10,
    DEQF16 = 11,
    QF322FP8_PRE = 12,
    VQF322FP8_PRE = 13,
    F322BF16 = 16,
    VQF162B8_PRE = 17,
    QF162B8_PRE = 18,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    DEQS16 = 25,
    VDEQS16 = 26
};

/* The device compiler has these as global functions over any arithmetic pair. The empty pack makes
 * them lose against any min or max of the kernel's own. */
template <typename A, typename B, typename... Nothing>
constexpr auto min(const A& a, const B& b, Nothing...) -> typename std::common_type<A, B>::type
{
    return b < a ? b : a;
}
template <typename A, typename B, typename... Nothing>
constexpr auto max(const A& a, const B& b, Nothing...) -> typename std::common_type<A, B>::type
{
    return a < b ? b : a;
}

using float32_t = float;

namespace AscendC {

using ::AIC;
using ::AIV;
using ::g_coreType;
using TEventID = int8_t;
using TBufHandle = uint8_t*;
using TTagType = int32_t;
using MutexID = uint8_t;

enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM,
    TSCM, C2PIPE2GM, C2PIPE2LOCAL, MAX
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class HardEvent : uint8_t {
    MTE2_MTE1, MTE1_MTE2, MTE1_M, M_MTE1, MTE2_V, V_MTE2, MTE3_V, V_MTE3, M_V, V_M, V_V,
    MTE3_MTE1, MTE1_MTE3, MTE1_V, MTE2_M, M_MTE2, V_MTE1, M_FIX, FIX_M, MTE3_MTE2, MTE2_MTE3, S_V,
    V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, MTE2_FIX, FIX_MTE2, FIX_S, M_S, FIX_MTE3, MTE1_FIX,
    FIX_MTE1, FIX_FIX, MAX
};
enum class MemoryT : uint8_t { L1, L0A, L0B, L0C, UB, BIAS };
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2,
                       CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class BlockMode : uint8_t { BLOCK_MODE_NORMAL, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR,
                                 BLOCK_MODE_SMALL_CHANNEL, BLOCK_MODE_DEPTHWISE };
enum class RoundMode : uint8_t { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND,
                                 CAST_TRUNC, CAST_ODD, UNKNOWN = 0xFF };
enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE,
                               VSEL_TENSOR_TENSOR_MODE };
enum class DeqScale : uint8_t { DEQ_NONE, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
enum class ReduceMode : uint8_t { REDUCE_MAX, REDUCE_MIN, REDUCE_SUM };
enum class ReduceType : uint8_t { IsReduceSum, IsReduceMax, IsReduceMin, SUM = IsReduceSum,
                                  MAX = IsReduceMax, MIN = IsReduceMin };
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE,
                                   ORDER_ONLY_INDEX };
enum class ReluMode { NO_RELU, NORMAL_RELU, SCALAR_RELU, VECTOR_RELU };
enum class ClipReluMode { NOCLIP_RELU, CLIP_RELU };
enum class CLAMPMODE { CLAMP_MAX, CLAMP_MIN };
enum class GatherMaskMode : uint8_t { VERSION_V1, VERSION_V2 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;
constexpr GatherMaskMode defaultGahterMaskMode = GatherMaskMode::VERSION_V2;
enum class FmatrixMode : uint8_t { FMATRIX_LEFT, FMATRIX_RIGHT };
enum class CO2Layout : uint8_t { NZ, ROW_MAJOR, COLUMN_MAJOR };
enum class HF32Mode { DISABLE, ENABLE };
enum class HF32TransMode { NEAREST_EVEN, NEAREST_ZERO };
enum class SaturationMode : uint8_t { FLOAT, INT };
enum class AtomicDtype { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8,
                         ATOMIC_BF16 };
enum class AtomicOp { ATOMIC_SUM };
enum class EngineType : int32_t { AIC = 1, AIV = 2 };
enum class TBufState : uint8_t { FREE, OCCUPIED, ENQUE, DEQUE };

constexpr int32_t ONE_BLK_SIZE = 32;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint16_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint16_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr uint64_t FULL_MASK = 0xffffffffffffffff;
constexpr int32_t FULL_MASK_LEN = 128;
constexpr int32_t HLAF_MASK_LEN = 64;
constexpr int32_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr int32_t K_MAX_SHAPE_DIM = 8;
constexpr int32_t K_MAX_DIM = 8;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr int32_t VDEQ_TENSOR_SIZE = 16;
constexpr int32_t MRG_SORT_ELEMENT_LEN = 4;
constexpr int32_t PAD_SIZE = 4;
constexpr int32_t BYTE_PER_FRACTAL = 512;
constexpr int32_t BYTE_PER_C0 = 32;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr int32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr int32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr int32_t TOTAL_L0B_SIZE = 64 * 1024;
constexpr int32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr int32_t BLOCK_CUBE = 16;
constexpr int32_t CUBE_MAX_SIZE = 256;
constexpr int32_t BRCB_BROADCAST_NUMBER = 8;
constexpr int32_t INVALID_TEVENTID = -1;
constexpr uint32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t TWO_NUM = 2;
constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr uint32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr uint32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr uint32_t B16_DATA_NUM_PER_REPEAT = 128;
constexpr uint32_t B32_DATA_NUM_PER_REPEAT = 64;
constexpr uint32_t B16_BYTE_SIZE = 2;
constexpr uint32_t B32_BYTE_SIZE = 4;

/* Which memory a position names on this arch. */
constexpr Hardware GetPhyType(TPosition pos)
{
    switch (pos) {
    case TPosition::GM: case TPosition::CO2: return Hardware::GM;
    case TPosition::A1: case TPosition::B1: case TPosition::C1: case TPosition::SHM:
    case TPosition::TSCM: return Hardware::L1;
    case TPosition::A2: return Hardware::L0A;
    case TPosition::B2: return Hardware::L0B;
    case TPosition::C2: return Hardware::BIAS;
    case TPosition::CO1: return Hardware::L0C;
    case TPosition::C2PIPE2GM: return Hardware::FIXBUF;
    default: return Hardware::UB;
    }
}

template <typename T, typename U> struct IsSameType { static constexpr bool value = false; };
template <typename T> struct IsSameType<T, T> { static constexpr bool value = true; };

template <bool condition, class A, class B> struct Conditional { using type = A; };
template <class A, class B> struct Conditional<false, A, B> { using type = B; };

template <typename T, typename... Any> constexpr bool SupportType()
{
    return (std::is_same<T, Any>::value || ...);
}
template <typename T, int... Any> constexpr bool SupportBytes()
{
    return ((sizeof(T) == Any) || ...);
}

constexpr uint32_t AlignUp(uint32_t size, uint32_t unit) { return (size + unit - 1) / unit * unit; }
constexpr uint32_t CeilDivision(uint32_t size, uint32_t unit) { return (size + unit - 1) / unit; }
constexpr uint32_t DivCeil(uint32_t size, uint32_t unit) { return (size + unit - 1) / unit; }

}  // namespace AscendC

#endif
