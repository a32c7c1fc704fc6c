/* Words of GM touched by several cores: stores past the cache,
 * atomic copies (add, max, min, by the older and newer names), filling, and cleaning the cache so that
 * others see it. z holds 8 counters, 8 sums, 8 maxima, 8 minima, 8 sums by the store's own atomic, 24
 * filled values. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelWords {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR n)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + 8 * GetBlockIdx(), 8);
        zGm.SetGlobalBuffer((__gm__ float *)z, 64);
        words = (__gm__ int32_t *)n;
        pipe.InitBuffer(buf, 256);
    }
    __aicore__ inline void Process()
    {
        if (GetBlockIdx() == 0) {
            Clear();
        }
        SyncAll();
        LocalTensor<float> x = buf.Get<float>();
        DataCopy(x, xGm, 8);
        TEventID id = pipe.FetchEventID(HardEvent::MTE2_MTE3);
        SetFlag<HardEvent::MTE2_MTE3>(id);
        WaitFlag<HardEvent::MTE2_MTE3>(id);
        SetAtomicAdd<float>();
        DataCopy(zGm[8], x, 8);
        SetAtomicMax<float>();
        DataCopy(zGm[16], x, 8);
        SetAtomicMin<half>();
        SetAtomicType<float>();
        DataCopy(zGm[24], x, 8);
        DisableDmaAtomic();
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_F32, AtomicOp::ATOMIC_SUM>();
        DataCopy(zGm[32], x, 8);
        SetAtomicNone();
        Count();
    }

private:
    __aicore__ inline void Clear()
    {
        Fill<float>(zGm, 16, 0.0f);
        Fill<float>(zGm[16], 8, -1e30f);
        Fill<float>(zGm[24], 8, 1e30f);
        Fill<float>(zGm[32], 8, 100.0f);
        InitOutput<float>(zGm[40], 16, 2.5f);
        GlobalTensor<float> rest = zGm[56];
        InitGlobalMemory<float>(rest, 8, 2.5f);
        for (int32_t i = 0; i < 8; i++) {
            WriteGmByPassDCache<int32_t>(words + i, 0);
        }
        GlobalTensor<int32_t> line;
        line.SetGlobalBuffer(words, 8);
        DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(line);
        GlobalTensor<uint64_t> ahead;
        ahead.SetGlobalBuffer((__gm__ uint64_t *)words, 4);
        DataCachePreload(ahead, 0);
        dcci(words, 0);
    }
    /* Each core its own words, past the cache. */
    __aicore__ inline void Count()
    {
        int32_t me = GetBlockIdx();
        WriteGmByPassDCache<int32_t>(words + me, 10 * me + 1);
        WriteGmByPassDCache<int32_t>(words + 4 + me, ReadGmByPassDCache<int32_t>(words + me) + 1);
    }

    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    GlobalTensor<float> xGm, zGm;
    __gm__ int32_t *words;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z, GM_ADDR n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    KernelWords op;
    op.Init(x, z, n);
    op.Process();
}
