/* What a core knows about itself, scalar helpers, workspace, tiling data and the macros that name
 * tiling keys and task types. */
#ifndef ACRAFT_SYS_H
#define ACRAFT_SYS_H

#include "acraft/copy.h"

namespace AscendC {

inline int64_t GetBlockNum() { return acraft_core.block_num; }
inline int64_t GetBlockIdx() { return acraft_core.block_idx; }
inline int64_t GetSubBlockIdx() { return acraft_core.sub_block_idx; }
/* The number of sub-blocks for this kind of core: there is one AIC to two AIVs. */
inline int64_t GetSubBlockNum() { return g_coreType == AIC ? 1 : acraft_core.sub_block_num; }
inline int64_t GetTaskRatio() { return acraft_core.task_ratio; }
inline int64_t GetTaskRation() { return acraft_core.task_ratio; }
inline constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
inline void GetArchVersion(uint32_t &coreVersion) { coreVersion = 0x220; }
inline int64_t GetProgramCounter() { return 0; }
/* The cycle counter runs with the records appended: it never goes back, and tells no time. It starts
 * anywhere: how long a device has been running says nothing about a launch. */
inline int64_t GetSystemCycle()
{
    acraft::flush();
    return int64_t(acraft_core.cycles + (acraft_core.view ? acraft_core.view->done : 0));
}
inline void Trap(ACRAFT_SITE)
{
    acraft::put(NPU_TRAP, site);
    acraft::flush();
    acraft_exit(1);
}

/* ---- results in registers ---- */

template <typename T> inline T bits_as(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T> inline T GetAccVal()
{
    acraft::flush();
    return bits_as<T>(acraft_core.view->accumulated);
}
/* The older spelling gives the register's bits. */
inline int64_t GetAccVal()
{
    acraft::flush();
    return int64_t(acraft_core.view->accumulated);
}
template <typename T> inline T GetReduceRepeatSumSpr() { return GetAccVal<T>(); }
template <typename T> inline void GetReduceMaxMinCount(T &maxMinValue, T &maxMinIndex)
{
    acraft::flush();
    maxMinValue = bits_as<T>(acraft_core.view->max_min_count);
    maxMinIndex = bits_as<T>(acraft_core.view->max_min_count >> 32);
}
template <typename T> inline void GetReduceMaxMinCount(T &maxMinValue)
{
    acraft::flush();
    maxMinValue = bits_as<T>(acraft_core.view->max_min_count);
}
template <typename T> inline void GetReduceRepeatMaxMinSpr(T &v, T &i) { GetReduceMaxMinCount(v, i); }
template <typename T> inline void GetReduceRepeatMaxMinSpr(T &v) { GetReduceMaxMinCount(v); }

/* ---- control register: saturation is the one bit with an effect ---- */

inline ACRAFT_KEPT bool acraft_saturates = false;
template <SaturationMode mode> inline void SetSaturationFlag(bool enable, ACRAFT_SITE)
{
    acraft_saturates = enable;
    acraft::put_register(REC_REG_SATURATE, enable, site);
}
template <SaturationMode mode> inline bool GetSaturationFlag() { return acraft_saturates; }
template <int8_t startBit, int8_t endBit> inline int64_t GetCtrlSpr()
{
    acraft::flush();
    uint64_t all = acraft_core.view->control >> startBit;
    constexpr int bits = endBit - startBit + 1;
    return int64_t(bits >= 64 ? all : all & ((1ull << bits) - 1));
}
template <int8_t startBit, int8_t endBit> inline void SetCtrlSpr(int64_t value, ACRAFT_SITE)
{
    constexpr int bits = endBit - startBit + 1;
    constexpr uint64_t field = (bits >= 64 ? ~0ull : (1ull << bits) - 1) << startBit;
    acraft::flush();
    acraft::put_register(REC_REG_CONTROL, (acraft_core.view->control & ~field) | ((uint64_t(value) << startBit) & field), site);
}
template <int8_t startBit, int8_t endBit> inline void ResetCtrlSpr(ACRAFT_SITE) { SetCtrlSpr<startBit, endBit>(0, site); }

/* ---- scalar helpers ---- */

template <int countValue> inline int64_t GetBitCount(uint64_t value)
{
    return __builtin_popcountll(countValue ? value : ~value);
}
template <int countValue> inline int64_t ScalarGetCountOfValue(uint64_t value) { return GetBitCount<countValue>(value); }
inline int64_t CountLeadingZero(uint64_t value) { return value ? __builtin_clzll(value) : 64; }
inline int64_t ScalarCountLeadingZero(uint64_t value) { return CountLeadingZero(value); }
/* Bits equal to the sign bit right after it; -1 when all are. */
inline int64_t CountBitsCntSameAsSignBit(int64_t value)
{
    uint64_t x = uint64_t(value < 0 ? ~value : value);
    return x ? __builtin_clzll(x) - 1 : -1;
}
template <int countValue> inline int64_t GetSFFValue(uint64_t value)
{
    uint64_t x = countValue ? value : ~value;
    return x ? __builtin_ctzll(x) : -1;
}
template <int countValue> inline int64_t ScalarGetSFFValue(uint64_t value) { return GetSFFValue<countValue>(value); }

namespace acraft_round {
/* value rounded to an integer in the given mode, without the C library. */
inline double whole(double v, RoundMode mode)
{
    if (v >= 4503599627370496.0 || v <= -4503599627370496.0 || v != v) return v;
    double down = double(int64_t(v));
    if (down > v) down -= 1;
    double rest = v - down;
    switch (mode) {
    case RoundMode::CAST_FLOOR: return down;
    case RoundMode::CAST_CEIL: return rest > 0 ? down + 1 : down;
    case RoundMode::CAST_TRUNC: return v < 0 && rest > 0 ? down + 1 : down;
    case RoundMode::CAST_ROUND: return v >= 0 ? (rest >= 0.5 ? down + 1 : down) : (rest > 0.5 ? down + 1 : down);
    default: {
        if (rest != 0.5) return rest > 0.5 ? down + 1 : down;
        int64_t even = int64_t(down);
        return even & 1 ? down + 1 : down;
    }
    }
}
}  // namespace acraft_round

/* ScalarCast<from, to, mode>. */
template <typename T, typename U, RoundMode roundMode> inline U ScalarCast(T valueIn)
{
    if constexpr (std::is_integral<U>::value) {
        double v = acraft_round::whole(double(float(valueIn)), roundMode);
        constexpr double top = double(std::is_signed<U>::value ? uint64_t(~uint64_t(0)) >> (65 - sizeof(U) * 8) : ~uint64_t(0) >> (64 - sizeof(U) * 8));
        constexpr double bottom = std::is_signed<U>::value ? -top - 1 : 0;
        if (v != v) return U(0);
        return v >= top ? U(uint64_t(~uint64_t(0)) >> (64 - sizeof(U) * 8 + (std::is_signed<U>::value ? 1 : 0))) : v <= bottom ? U(bottom) : U(v);
    } else {
        return U(valueIn);
    }
}
template <typename T, typename U, RoundMode roundMode> inline U Cast(T valueIn)
{
    return ScalarCast<T, U, roundMode>(valueIn);
}
inline bfloat16_t Cast(const float &value) { return bfloat16_t(value); }
inline float Cast(const bfloat16_t &value) { return value; }

template <typename T> inline void WriteGmByPassDCache(__gm__ T *addr, T value, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_GLOBAL_SET, site);
    r.dtype[0] = acraft::dtype_of<T>();
    r.flags |= REC_UNCACHED;
    r.operand[0] = acraft::operand(acraft::address_of_pointer(addr), 0, 0, 0);
    r.scalar = acraft::scalar_bits(value);
}
template <typename T> inline T ReadGmByPassDCache(__gm__ T *addr, ACRAFT_SITE)
{
    return acraft::get_element<T>(NPU_GLOBAL_GET, acraft::address_of_pointer(addr), 0, site);
}

/* ---- workspace ---- */

inline __gm__ uint8_t *GetUserWorkspace(__gm__ uint8_t *workspace) { return workspace ? workspace + acraft_core.system_workspace_bytes : nullptr; }
inline void SetSysWorkspace(__gm__ uint8_t *) {}
inline void SetSysWorkspaceForce(__gm__ uint8_t *) {}

/* Fill `size` elements of GM from every core that calls it; a value through UB scratch above what
 * TPipe has handed out, in copies of at most 4095 x 64 KB as the device headers do. */
template <typename T> inline void InitOutput(GlobalTensor<T> gm, uint32_t size, T value = 0, ACRAFT_SITE)
{
    acraft::Site s = site.in("InitOutput");
    if (g_coreType == AIC || size == 0) return;
    LocalTensor<T> scratch;
    PopStackBuffer<T, TPosition::LCM>(scratch);
    uint32_t room = scratch.GetSize() / 32u * 32u;
    uint32_t step = room < size ? room : size;
    if (step == 0) return;
    if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
        Duplicate<T>(scratch, value, int32_t(step), s);
    } else {
        constexpr uint32_t words = sizeof(T) == 8 ? 2 : 1;
        uint64_t bits = acraft::scalar_bits(value);
        if (sizeof(T) == 1) bits |= bits << 8;
        LocalTensor<int16_t> w16 = scratch.template ReinterpretCast<int16_t>();
        LocalTensor<int32_t> w32 = scratch.template ReinterpretCast<int32_t>();
        if (sizeof(T) == 1) Duplicate<int16_t>(w16, int16_t(bits), int32_t((step + 1) / 2), s);
        else if (bits == 0) Duplicate<int32_t>(w32, 0, int32_t(step * words), s);
        else
            for (uint32_t i = 0; i < step; i++) scratch.SetValue(i, value, s);
    }
    TEventID id = GetTPipePtr()->FetchEventID(HardEvent::V_MTE3);
    SetFlag<HardEvent::V_MTE3>(id, s);
    WaitFlag<HardEvent::V_MTE3>(id, s);
    for (uint32_t done = 0; done < size; done += step) {
        uint32_t part = size - done < step ? size - done : step;
        DataCopyPad(gm[done], scratch, DataCopyExtParams(1, uint32_t(part * sizeof(T)), 0, 0, 0), s);
    }
    id = GetTPipePtr()->FetchEventID(HardEvent::MTE3_V);
    SetFlag<HardEvent::MTE3_V>(id, s);
    WaitFlag<HardEvent::MTE3_V>(id, s);
}
template <typename T> inline void Fill(GlobalTensor<T> gm, uint64_t size, T value, ACRAFT_SITE)
{
    InitOutput<T>(gm, uint32_t(size), value, site.in("Fill"));
}
template <typename T> inline void InitGlobalMemory(GlobalTensor<T> &gm, const uint64_t size, const T value, ACRAFT_SITE)
{
    InitOutput<T>(gm, uint32_t(size), value, site.in("InitGlobalMemory"));
}

template <bool FORCE = false> inline void WaitPreTaskEnd() {}
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false> inline void SetNextTaskStart() {}
inline void InitSocState() {}
inline void CheckLocalMemoryIA(const CheckLocalMemoryIAParam &) {}

}  // namespace AscendC

inline __gm__ uint8_t *GetSysWorkSpacePtr() { return acraft_core.workspace; }
inline void SetSysWorkSpacePtr(__gm__ uint8_t *) {}

/* ---- tiling ---- */

namespace acraft {
template <typename S> inline void read_tiling(S *to, const void *from)
{
    std::memset(static_cast<void *>(to), 0, sizeof *to);
    const uint8_t *bytes = static_cast<const uint8_t *>(from);
    uint64_t room = sizeof *to;
    if (bytes >= acraft_core.tiling && bytes < acraft_core.tiling + acraft_core.tiling_bytes) {
        uint64_t left = acraft_core.tiling_bytes - uint64_t(bytes - acraft_core.tiling);
        if (left < room) room = left;
    }
    std::memcpy(static_cast<void *>(to), bytes, room);
}
}  // namespace acraft

/* The op's tiling struct is ACRAFT_TILING_STRUCT where the host side says one for this tiling key, else
 * acraft_tiling_default: what the kernel registers, or the default of the generated tiling header. That header
 * also makes TILING_KEY_IS a constant where the tool compiles for one key, as the vendor does. */
#define TILING_KEY_IS(key) (uint64_t(key) == acraft_core.tiling_key)
#define GET_TILING_DATA(name, arg) GET_TILING_DATA_WITH_STRUCT(ACRAFT_TILING_STRUCT, name, arg)
#define GET_TILING_DATA_WITH_STRUCT(type, name, arg)                                               \
    type name;                                                                                     \
    acraft::read_tiling(&name, (const void *)(arg))
#define GET_TILING_DATA_MEMBER(type, member, name, arg)                                            \
    decltype(type::member) name;                                                                   \
    do {                                                                                           \
        type acraft_whole;                                                                         \
        acraft::read_tiling(&acraft_whole, (const void *)(arg));                                   \
        std::memcpy((void *)&name, (const void *)&acraft_whole.member, sizeof name);               \
    } while (0)
#define REGISTER_TILING_DEFAULT(...) using acraft_tiling_default = __VA_ARGS__;
#define REGISTER_TILING_FOR_TILINGKEY(expression, type)
/* The forms below declare a pointer of the given name, to a copy on the stack. */
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, pointer, arg)                                        \
    type acraft_struct_##pointer;                                                                  \
    acraft::read_tiling(&acraft_struct_##pointer, (const void *)(arg));                            \
    type *pointer = &acraft_struct_##pointer
#define COPY_TILING_WITH_STRUCT(type, src, pointer)                                                \
    type acraft_struct_##pointer;                                                                  \
    std::memcpy((void *)&acraft_struct_##pointer, (const void *)(src), sizeof(type));              \
    type *pointer = &acraft_struct_##pointer
#define COPY_TILING_WITH_ARRAY(type, count, src, pointer)                                          \
    type acraft_array_##pointer[count];                                                            \
    std::memcpy((void *)acraft_array_##pointer, (const void *)(src), sizeof acraft_array_##pointer); \
    type(*pointer)[count] = &acraft_array_##pointer
#define REGISTER_NONE_TILING
#define TILING_KEY_LIST(first, second) (TILING_KEY_IS(first) || TILING_KEY_IS(second))

#define ACRAFT_JOIN_(a, b) a##b
#define ACRAFT_JOIN(a, b) ACRAFT_JOIN_(a, b)
#define ACRAFT_TASK_TYPE(key, type)                                                                \
    static const AcraftTaskType ACRAFT_JOIN(acraft_task_, __COUNTER__)                             \
        __attribute__((used, section("acraft_task"))) = {(key), (type), 0}
#define KERNEL_TASK_TYPE_DEFAULT(type) ACRAFT_TASK_TYPE(~0ull, type)
#define KERNEL_TASK_TYPE(key, type) ACRAFT_TASK_TYPE(key, type)
#define ENABLE_DETERMINISTIC() 0

#endif
