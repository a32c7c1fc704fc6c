/* Flags, barriers, cross-core signals, cache control, atomics and mask registers: calls that
 * become one record each and move no data. */
#ifndef ACRAFT_SYNC_H
#define ACRAFT_SYNC_H

#include "acraft/pipe.h"

namespace AscendC {

template <HardEvent event> inline void SetFlag(int32_t eventID, ACRAFT_SITE)
{
    acraft::put_flag(NPU_SET_FLAG, acraft::event_pipes[size_t(event)], eventID, 0, site);
}
template <HardEvent event> inline void WaitFlag(int32_t eventID, ACRAFT_SITE)
{
    acraft::put_flag(NPU_WAIT_FLAG, acraft::event_pipes[size_t(event)], eventID, 0, site);
}
template <pipe_t pipe> inline void PipeBarrier(ACRAFT_SITE) { acraft::put_barrier(acraft::pipe_of(pipe), site); }
template <MemDsbT arg> inline void DataSyncBarrier(ACRAFT_SITE) { acraft::put_barrier(NPU_PIPE_ALL, site); }

template <pipe_t from, pipe_t to> class TQueSync {
public:
    void SetFlag(TEventID id, ACRAFT_SITE) { put(NPU_SET_FLAG, id, site); }
    void WaitFlag(TEventID id, ACRAFT_SITE) { put(NPU_WAIT_FLAG, id, site); }

private:
    void put(NpuOp op, TEventID id, const acraft::Site &site)
    {
        acraft::put_flag(op, {acraft::pipe_of(from), acraft::pipe_of(to)}, id, 0, site);
    }
};

/* ---- between cores ---- */

/* The flags that SyncAll uses; kernels that synchronise by hand name them, too. */
constexpr uint16_t SYNC_AIC_FLAG = 11, SYNC_AIV_FLAG = 12, SYNC_AIC_AIV_FLAG = 13, SYNC_AIV_ONLY_ALL = 14;

template <uint8_t modeId, pipe_t pipe> inline void CrossCoreSetFlag(uint16_t flagId, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CROSS_SET, acraft::pipe_of(pipe), site);
    r.mode = modeId;
    r.n[0] = flagId;
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S> inline void CrossCoreWaitFlag(uint16_t flagId, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CROSS_WAIT, acraft::pipe_of(pipe), site);
    r.mode = modeId;
    r.n[0] = flagId;
}

/* Older names of the same between a cube core and its vector cores. */
template <pipe_t pipe> inline void NotifyEvent(uint16_t flagId, ACRAFT_SITE) { CrossCoreSetFlag<2, pipe>(flagId, site); }
inline void WaitEvent(uint16_t flagId, ACRAFT_SITE) { CrossCoreWaitFlag(flagId, site); }

template <bool isAIVOnly = true> inline void SyncAll(ACRAFT_SITE)
{
    acraft::put_barrier(NPU_PIPE_ALL, site);
    Record &r = acraft::put(NPU_SYNC_ALL, site);
    r.mode = isAIVOnly ? 0 : 1;
}
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace,
                    const int32_t usedCores = 0, ACRAFT_SITE)
{
    acraft::put_barrier(NPU_PIPE_ALL, site);
    Record &r = acraft::put(NPU_SYNC_ALL, site);
    r.operand[0] = gmWorkspace.operand();
    r.operand[1] = ubWorkspace.operand();
    r.n[0] = usedCores ? uint32_t(usedCores) : acraft_core.block_num;
}

/* Scalar access to GM words, as the polling forms below need it. */
namespace gm {
inline int32_t poll(const GlobalTensor<int32_t> &t, uint64_t i, const acraft::Site &site) { return t.GetValue(i, site); }
inline void post(const GlobalTensor<int32_t> &t, uint64_t i, int32_t v, const acraft::Site &site)
{
    GlobalTensor<int32_t> w = t[i];
    Record &r = acraft::put(NPU_GLOBAL_SET, site);
    r.flags |= REC_UNCACHED;
    r.dtype[0] = NPU_DT_I32;
    r.operand[0] = acraft::operand(w.record_address(), w.reach(), 0, 0);
    r.scalar = acraft::scalar_bits(v);
}
}  // namespace gm

/* One word per (block, event): the setter raises it, the waiter polls and lowers it. */
template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx, int32_t eventID,
                  ACRAFT_SITE)
{
    acraft::Site s = site.in("IBSet");
    uint64_t at = uint64_t(acraft_core.block_num) * 8 * uint64_t(eventID) + uint64_t(blockIdx) * 8;
    acraft::put_barrier(NPU_PIPE_ALL, s);
    while (gm::poll(gmWorkspace, at, s) != 0) {}
    gm::post(gmWorkspace, at, 1, s);
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &, int32_t blockIdx,
                   int32_t eventID, ACRAFT_SITE)
{
    acraft::Site s = site.in("IBWait");
    uint64_t at = uint64_t(acraft_core.block_num) * 8 * uint64_t(eventID) + uint64_t(blockIdx) * 8;
    while (gm::poll(gmWorkspace, at, s) == 0) {}
    gm::post(gmWorkspace, at, 0, s);
    acraft::put_barrier(NPU_PIPE_ALL, s);
}

/* Cores take turns in order of their number. */
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &, ACRAFT_SITE)
{
    acraft::Site s = site.in("InitDetermineComputeWorkspace");
    acraft::put_barrier(NPU_PIPE_ALL, s);
    if (acraft_core.block_idx == 0)
        for (uint32_t i = 0; i < acraft_core.block_num; i++) gm::post(gmWorkspace, i * 8ull, i == 0, s);
    SyncAll<true>(s);
}
inline void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &, ACRAFT_SITE)
{
    acraft::Site s = site.in("WaitPreBlock");
    acraft::put_barrier(NPU_PIPE_ALL, s);
    while (gm::poll(gmWorkspace, acraft_core.block_idx * 8ull, s) == 0) {}
    acraft::put_barrier(NPU_PIPE_ALL, s);
}
inline void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &, ACRAFT_SITE)
{
    acraft::Site s = site.in("NotifyNextBlock");
    acraft::put_barrier(NPU_PIPE_ALL, s);
    gm::post(gmWorkspace, acraft_core.block_idx * 8ull, 0, s);
    gm::post(gmWorkspace, (acraft_core.block_idx + 1) % acraft_core.block_num * 8ull, 1, s);
    acraft::put_barrier(NPU_PIPE_ALL, s);
}

/* Some cores wait until all of another group have arrived. Each of those that wait has 512 bytes, a
 * word for each that arrives, which counts its rounds. */
enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };
template <PipeMode pipeMode = PipeMode::MTE3_MODE> class GroupBarrier {
public:
    GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn)
        : arriveSize_(arriveSizeIn), waitSize_(waitSizeIn)
    {
        static_assert(pipeMode == PipeMode::MTE3_MODE, "acraft: GroupBarrier takes MTE3_MODE alone");
        words_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(groupWorkspace), uint64_t(waitSizeIn) * WORDS);
    }
    void Arrive(uint32_t arriveIndex, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Arrive");
        acraft::put_barrier(NPU_PIPE_ALL, s);
        arrived_++;
        for (uint32_t i = 0; i < waitSize_; i++) gm::post(words_, uint64_t(i) * WORDS + arriveIndex, arrived_, s);
    }
    void Wait(uint32_t waitIndex, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Wait");
        waited_++;
        for (uint32_t i = 0; i < arriveSize_; i++)
            while (gm::poll(words_, uint64_t(waitIndex) * WORDS + i, s) < waited_) {}
        acraft::put_barrier(NPU_PIPE_ALL, s);
    }
    uint64_t GetWorkspaceLen() { return uint64_t(waitSize_) * WORDS * sizeof(int32_t); }

private:
    static constexpr uint64_t WORDS = 128;
    GlobalTensor<int32_t> words_;
    uint32_t arriveSize_, waitSize_;
    int32_t arrived_ = 0, waited_ = 0;
};

/* ---- caches ---- */

template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_OUT>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CACHE_CLEAN, site);
    r.operand[0] = dst.operand();
    r.mode = entireType == CacheLine::ENTIRE_DATA_CACHE;
}
template <typename T, CacheLine entireType, DcciDst dcciDst>
inline void DataCacheCleanAndInvalid(const LocalTensor<T> &dst, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CACHE_CLEAN, site);
    r.operand[0] = dst.operand();
    r.mode = entireType == CacheLine::ENTIRE_DATA_CACHE;
}
template <typename T> inline void DataCachePreload(const GlobalTensor<uint64_t> &src, const T cacheOffset, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CACHE_PRELOAD, site);
    r.operand[0] = src.operand();
    r.n[0] = uint32_t(cacheOffset);
}
inline void ICachePreLoad(const int64_t) {}
inline int64_t GetICachePreloadStatus() { return 0; }

/* ---- atomic copies to GM ---- */

/* What is done and for which type are set apart; without a type copies are plain. */
namespace acraft_atomic {
struct Setting {
    RecAtomic kind = REC_ATOMIC_ADD;
    uint8_t dtype = 0;
    bool on = false;
};
inline ACRAFT_KEPT Setting setting;
inline void put(const acraft::Site &site)
{
    uint64_t kind = setting.on ? setting.kind : REC_ATOMIC_NONE;
    acraft::put_register(REC_REG_ATOMIC, kind | uint64_t(setting.dtype) << 8, site);
}
inline void set_kind(RecAtomic kind, const acraft::Site &site)
{
    setting.kind = kind;
    if (setting.on) put(site);
}
inline void set_dtype(uint8_t dtype, const acraft::Site &site)
{
    setting.dtype = dtype;
    setting.on = true;
    put(site);
}
inline void set_none(const acraft::Site &site)
{
    setting.on = false;
    put(site);
}
template <typename T> inline void set(RecAtomic kind, const acraft::Site &site)
{
    setting.kind = kind;
    set_dtype(acraft::dtype_of<T>(), site);
}
template <typename T> constexpr bool ok()
{
    return SupportType<T, float, half, bfloat16_t, int16_t, int32_t, int8_t>();
}
}  // namespace acraft_atomic
namespace need {
ACRAFT_NEED(SetAtomicAdd, (acraft_atomic::ok<T>()));
ACRAFT_NEED(SetAtomicMax, (acraft_atomic::ok<T>()));
ACRAFT_NEED(SetAtomicMin, (acraft_atomic::ok<T>()));
ACRAFT_NEED(SetAtomicType, (acraft_atomic::ok<T>()));
}  // namespace need

template <typename T> inline void SetAtomicAdd(ACRAFT_SITE)
{
    static_assert(need::need_SetAtomicAdd<T>::value, "");
    acraft_atomic::set<T>(REC_ATOMIC_ADD, site);
}
template <typename T> inline void SetAtomicMax(ACRAFT_SITE)
{
    static_assert(need::need_SetAtomicMax<T>::value, "");
    acraft_atomic::set<T>(REC_ATOMIC_MAX, site);
}
template <typename T> inline void SetAtomicMin(ACRAFT_SITE)
{
    static_assert(need::need_SetAtomicMin<T>::value, "");
    acraft_atomic::set<T>(REC_ATOMIC_MIN, site);
}
template <typename T> inline void SetAtomicType(ACRAFT_SITE)
{
    static_assert(need::need_SetAtomicType<T>::value, "");
    acraft_atomic::set_dtype(acraft::dtype_of<T>(), site);
}
inline void SetAtomicNone(ACRAFT_SITE) { acraft_atomic::set_none(site); }
inline void DisableDmaAtomic(ACRAFT_SITE) { acraft_atomic::set_none(site); }

template <AtomicDtype type, AtomicOp op> inline void SetStoreAtomicConfig(ACRAFT_SITE)
{
    constexpr NpuDType map[] = {NPU_DT_F32, NPU_DT_F32, NPU_DT_F16, NPU_DT_I16, NPU_DT_I32, NPU_DT_I8, NPU_DT_BF16};
    acraft_atomic::setting.kind = REC_ATOMIC_ADD;
    if (type == AtomicDtype::ATOMIC_NONE) acraft_atomic::set_none(site);
    else acraft_atomic::set_dtype(map[size_t(type)], site);
}

/* As SetStoreAtomicConfig numbers them; type 0: none. */
inline void GetStoreAtomicConfig(uint16_t &atomicType, uint16_t &atomicOp)
{
    constexpr NpuDType map[] = {NPU_DT_F32, NPU_DT_F32, NPU_DT_F16, NPU_DT_I16, NPU_DT_I32, NPU_DT_I8, NPU_DT_BF16};
    atomicType = atomicOp = 0;
    for (uint16_t i = 1; acraft_atomic::setting.on && i < sizeof map / sizeof *map; i++)
        if (map[i] == acraft_atomic::setting.dtype) atomicType = i;
}

/* ---- mask registers ---- */

namespace acraft_mask {
inline void set(uint64_t high, uint64_t low, bool counter, const acraft::Site &site)
{
    acraft::mask_register = {low, high, counter};
    acraft::put_register(REC_REG_MASK, counter, site, low, high);
}
}  // namespace acraft_mask

/* mode says how the bits are to be read; the register's own mode is SetMaskCount/SetMaskNorm's. */
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow, ACRAFT_SITE)
{
    acraft_mask::set(maskHigh, maskLow, acraft::mask_register.counter, site);
}
template <typename T, MaskMode mode = MaskMode::NORMAL> inline void SetVectorMask(int32_t len, ACRAFT_SITE)
{
    if (mode == MaskMode::COUNTER) {
        acraft_mask::set(0, uint64_t(len), acraft::mask_register.counter, site);
        return;
    }
    acraft::Mask m = acraft::mask_first(uint64_t(len));
    acraft_mask::set(m.high, m.low, acraft::mask_register.counter, site);
}
inline void ResetMask(ACRAFT_SITE) { acraft_mask::set(~0ull, ~0ull, acraft::mask_register.counter, site); }
inline void SetMaskCount(ACRAFT_SITE) { acraft_mask::set(acraft::mask_register.high, acraft::mask_register.low, true, site); }
inline void SetMaskNorm(ACRAFT_SITE) { acraft_mask::set(acraft::mask_register.high, acraft::mask_register.low, false, site); }

struct AscendCUtils {
    template <typename T> static void SetMask(int32_t len, ACRAFT_SITE)
    {
        acraft::Mask m = acraft::mask_first(uint64_t(len));
        acraft_mask::set(m.high, m.low, acraft::mask_register.counter, site);
    }
    template <typename T> static void SetMask(const uint64_t &high, const uint64_t &low, ACRAFT_SITE)
    {
        acraft_mask::set(high, low, acraft::mask_register.counter, site);
    }
    template <typename T> static void ResetMask(ACRAFT_SITE) { AscendC::ResetMask(site); }
    static void ResetMask(ACRAFT_SITE) { AscendC::ResetMask(site); }
    template <typename T = void> static void SetMaskCount(ACRAFT_SITE) { AscendC::SetMaskCount(site); }
    template <typename T = void> static void SetMaskNorm(ACRAFT_SITE) { AscendC::SetMaskNorm(site); }
    /* 1: infinities and NaN stay, as everywhere here; 0: results saturate. */
    static void SetOverflow(uint64_t keep, ACRAFT_SITE) { acraft::put_register(REC_REG_SATURATE, keep != 1, site); }
    static int32_t GetC0Size() { return ONE_BLK_SIZE; }
    static int32_t GetC0Count(const int32_t dtypeSize) { return dtypeSize ? ONE_BLK_SIZE / dtypeSize : 0; }
    static int32_t GetDefaultBlockNum() { return DEFAULT_BLK_NUM; }
    static int32_t GetBitSize(int32_t byteSize) { return byteSize * 8; }
};

}  // namespace AscendC

#endif
