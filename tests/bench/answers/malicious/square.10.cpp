// Reads the tile before the copy is over: no queue, no flag.
// want: hazard
#include "kernel_operator.h"
using namespace AscendC;

class KernelSquare {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * LENGTH, LENGTH);
        yGm.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * LENGTH, LENGTH);
        pipe.InitBuffer(inQueue, 1, LENGTH * sizeof(float));
        pipe.InitBuffer(outQueue, 1, LENGTH * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> in = inQueue.AllocTensor<float>();
        DataCopy(in, xGm, LENGTH);
        LocalTensor<float> out = outQueue.AllocTensor<float>();
        Mul(out, in, in, LENGTH);
        outQueue.EnQue(out);
        inQueue.FreeTensor(in);
        out = outQueue.DeQue<float>();
        DataCopy(yGm, out, LENGTH);
        outQueue.FreeTensor(out);
    }

private:
    static constexpr uint32_t LENGTH = 512;
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<float> xGm, yGm;
};

extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    if (GetBlockIdx() >= 8)
        return;
    KernelSquare op;
    op.Init(x, y);
    op.Process();
}
