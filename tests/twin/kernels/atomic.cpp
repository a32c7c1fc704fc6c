/* Every core adds its part of x into the same eight sums: zeroed by core 0, a barrier of all cores,
 * then atomic copies. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue;
    TBuf<TPosition::VECCALC> sumBuf;
    pipe.InitBuffer(queue, 1, LEN * sizeof(TYPE));
    pipe.InitBuffer(sumBuf, 256);
    GlobalTensor<TYPE> xGm, zGm;
    int64_t part = LEN / GetBlockNum();
    xGm.SetGlobalBuffer((__gm__ TYPE *)gx + part * GetBlockIdx(), part);
    zGm.SetGlobalBuffer((__gm__ TYPE *)gz, 8);
    if (GetBlockIdx() == 0) {
        InitOutput<TYPE>(zGm, 8, 0);
    }
    SyncAll();
    LocalTensor<TYPE> x = queue.AllocTensor<TYPE>();
    DataCopy(x, xGm, part);
    queue.EnQue(x);
    x = queue.DeQue<TYPE>();
    LocalTensor<TYPE> sum = sumBuf.Get<TYPE>();
    Duplicate(sum, static_cast<TYPE>(0), 8);
    PipeBarrier<PIPE_V>();
    for (int64_t i = 0; i < part; i += 8) {
        Add(sum, sum, x[i], 8);
        PipeBarrier<PIPE_V>();
    }
    queue.FreeTensor(x);
    TEventID id = GetTPipePtr()->FetchEventID(HardEvent::V_MTE3);
    SetFlag<HardEvent::V_MTE3>(id);
    WaitFlag<HardEvent::V_MTE3>(id);
    SetAtomicAdd<TYPE>();
    DataCopy(zGm, sum, 8);
    SetAtomicNone();
}
