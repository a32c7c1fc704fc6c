/* Cores in order, two ways. First each core waits for its turn (WaitPreBlock, NotifyNextBlock) and
 * appends itself to a number that depends on the order: v = 3 v + i. Then a chain of IBSet and IBWait
 * hands a sum from core to core. z: the number, the sum. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelTurns {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR sync)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x, 8);
        zGm.SetGlobalBuffer((__gm__ float *)z, 16);
        turnGm.SetGlobalBuffer((__gm__ int32_t *)sync, 64);
        flagGm.SetGlobalBuffer((__gm__ int32_t *)sync + 64, 64);
        pipe.InitBuffer(turnBuf, 256);
        pipe.InitBuffer(buf, 64);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<int32_t> turn = turnBuf.Get<int32_t>();
        InitDetermineComputeWorkspace(turnGm, turn);
        WaitPreBlock(turnGm, turn);
        Append(zGm, 3.0f);
        NotifyNextBlock(turnGm, turn);
        int32_t me = GetBlockIdx(), last = GetBlockNum() - 1;
        if (me > 0) {
            IBWait(flagGm, turn, me - 1, 0);
        }
        Append(zGm[8], 1.0f);
        if (me < last) {
            IBSet(flagGm, turn, me, 0);
        }
    }

private:
    /* gm[0] = factor gm[0] + x[me], through UB as a kernel would. */
    __aicore__ inline void Append(GlobalTensor<float> gm, float factor)
    {
        LocalTensor<float> v = buf.Get<float>();
        DataCopy(v, gm, 8);
        Sync<HardEvent::MTE2_V>();
        Muls(v, v, factor, 8);
        PipeBarrier<PIPE_V>();
        Adds(v, v, xGm.GetValue(GetBlockIdx()), 1);
        Sync<HardEvent::V_MTE3>();
        DataCopy(gm, v, 8);
        Sync<HardEvent::MTE3_MTE2>();
    }
    template <HardEvent event> __aicore__ inline void Sync()
    {
        TEventID id = pipe.FetchEventID<event>();
        SetFlag<event>(id);
        WaitFlag<event>(id);
    }

    TPipe pipe;
    TBuf<> turnBuf, buf;
    GlobalTensor<float> xGm, zGm;
    GlobalTensor<int32_t> turnGm, flagGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z, GM_ADDR sync)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    KernelTurns op;
    op.Init(x, z, sync);
    op.Process();
}
