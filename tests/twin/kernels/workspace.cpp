/* Two phases over the cores: partial sums to the workspace, SyncAll, then core 0 adds them up. The
 * partials go through eight-element slots of y, which stands in for a workspace. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz, GM_ADDR workspace)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> queue;
    TBuf<> workBuf;
    pipe.InitBuffer(queue, 1, LEN * sizeof(float));
    pipe.InitBuffer(workBuf, 2048);
    int64_t part = LEN / GetBlockNum();
    GlobalTensor<float> xGm, slots, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx + part * GetBlockIdx(), part);
    slots.SetGlobalBuffer((__gm__ float *)GetUserWorkspace(workspace));
    zGm.SetGlobalBuffer((__gm__ float *)gz, 1);

    LocalTensor<float> x = queue.AllocTensor<float>();
    DataCopy(x, xGm, part);
    queue.EnQue(x);
    x = queue.DeQue<float>();
    LocalTensor<float> sum = workBuf.Get<float>();
    ReduceSum(sum, x, sum[64], part);
    TEventID id = pipe.FetchEventID(HardEvent::V_MTE3);
    SetFlag<HardEvent::V_MTE3>(id);
    WaitFlag<HardEvent::V_MTE3>(id);
    DataCopyPad(slots[8 * GetBlockIdx()], sum, DataCopyExtParams(1, sizeof(float), 0, 0, 0));
    queue.FreeTensor(x);
    SyncAll();
    if (GetBlockIdx() != 0) {
        return;
    }
    float total = 0;
    for (int64_t i = 0; i < GetBlockNum(); i++) {
        total += slots.GetValue(8 * i);
    }
    sum.SetValue(0, total);
    id = pipe.FetchEventID(HardEvent::S_MTE3);
    SetFlag<HardEvent::S_MTE3>(id);
    WaitFlag<HardEvent::S_MTE3>(id);
    DataCopyPad(zGm, sum, DataCopyExtParams(1, sizeof(float), 0, 0, 0));
}
