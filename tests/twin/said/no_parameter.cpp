#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void wild(GM_ADDR x, GM_ADDR y)
{
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float *)((uint64_t)x - 4096), 64);
    gy.SetGlobalBuffer((__gm__ float *)64, 64);
    TPipe pipe;
    TBuf<TPosition::VECCALC> b;
    pipe.InitBuffer(b, 256);
    LocalTensor<float> t = b.Get<float>();
    DataCopy(t, gx, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gy, t, 64);
}
