/* y[0] = sum of x: every core writes its part into the workspace, all meet, core 0 adds them up. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t PART = 1024, SLOT = 8;

class SumCores {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR partial)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * PART, PART);
        yGm.SetGlobalBuffer((__gm__ float *)y, SLOT);
        partialGm.SetGlobalBuffer((__gm__ float *)partial, GetBlockNum() * SLOT);
        pipe.InitBuffer(inQueue, 1, PART * sizeof(float));
        pipe.InitBuffer(outQueue, 1, SLOT * sizeof(float));
        pipe.InitBuffer(workBuf, PART * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        OwnPart();
        SyncAll();
        if (GetBlockIdx() == 0) {
            AllParts();
        }
    }

private:
    __aicore__ inline void OwnPart()
    {
        LocalTensor<float> x = inQueue.AllocTensor<float>();
        DataCopy(x, xGm, PART);
        inQueue.EnQue(x);
        x = inQueue.DeQue<float>();
        LocalTensor<float> sum = outQueue.AllocTensor<float>();
        Duplicate(sum, 0.0f, SLOT);
        ReduceSum<float>(sum, x, workBuf.Get<float>(), PART);
        inQueue.FreeTensor(x);
        outQueue.EnQue(sum);
        sum = outQueue.DeQue<float>();
        DataCopy(partialGm[GetBlockIdx() * SLOT], sum, SLOT);
        outQueue.FreeTensor(sum);
    }
    __aicore__ inline void AllParts()
    {
        uint32_t count = GetBlockNum() * SLOT;
        LocalTensor<float> parts = inQueue.AllocTensor<float>();
        DataCopy(parts, partialGm, count);
        inQueue.EnQue(parts);
        parts = inQueue.DeQue<float>();
        LocalTensor<float> sum = outQueue.AllocTensor<float>();
        Duplicate(sum, 0.0f, SLOT);
        ReduceSum<float>(sum, parts, workBuf.Get<float>(), count);
        inQueue.FreeTensor(parts);
        outQueue.EnQue(sum);
        sum = outQueue.DeQue<float>();
        DataCopy(yGm, sum, SLOT);
        outQueue.FreeTensor(sum);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> workBuf;
    GlobalTensor<float> xGm, yGm, partialGm;
};

extern "C" __global__ __aicore__ void sum_cores(GM_ADDR x, GM_ADDR y, GM_ADDR partial)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SumCores op;
    op.Init(x, y, partial);
    op.Process();
}
