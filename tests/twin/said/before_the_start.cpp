#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void shift(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> q;
    pipe.InitBuffer(q, 1, 256 * sizeof(float));
    GlobalTensor<float> gx, gy;
    int64_t from = GetBlockIdx() * 256 - 64;
    gx.SetGlobalBuffer((__gm__ float *)x + from, 256);
    gy.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * 256, 256);
    LocalTensor<float> t = q.AllocTensor<float>();
    DataCopy(t, gx, 256);
    q.EnQue(t);
    t = q.DeQue<float>();
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(gy, t, 256);
    q.FreeTensor(t);
}
