/* relu of 16 x 768 floats: one core, the copy in and the vector unit are not ordered. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TOTAL = 16 * 768, TILE = 768;

extern "C" __global__ __aicore__ void relu(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, TILE * sizeof(float));
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, TOTAL);
    yGm.SetGlobalBuffer((__gm__ float *)y, TOTAL);
    LocalTensor<float> t = buf.Get<float>();
    for (uint32_t at = 0; at < TOTAL; at += TILE) {
        DataCopy(t, xGm[at], TILE);
        Relu(t, t, TILE);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(yGm[at], t, TILE);
        PipeBarrier<PIPE_ALL>();
    }
}
