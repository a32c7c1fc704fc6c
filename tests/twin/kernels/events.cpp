/* z = exp(x) without queues: TBuf memory and flags set by hand, two tiles in flight. */
#include "frame.h"

constexpr int32_t TILE = 256;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> inBuf, outBuf;
    pipe.InitBuffer(inBuf, 2 * TILE * sizeof(TYPE));
    pipe.InitBuffer(outBuf, 2 * TILE * sizeof(TYPE));
    LocalTensor<TYPE> in = inBuf.Get<TYPE>();
    LocalTensor<TYPE> out = outBuf.Get<TYPE>();
    GlobalTensor<TYPE> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ TYPE *)gx);
    zGm.SetGlobalBuffer((__gm__ TYPE *)gz);
    for (int32_t id = 0; id < 2; id++) {
        SetFlag<HardEvent::V_MTE2>(id);
        SetFlag<HardEvent::MTE3_V>(id);
    }
    for (int32_t i = 0; i < LEN / TILE; i++) {
        int32_t id = i % 2;
        LocalTensor<TYPE> x = in[id * TILE];
        LocalTensor<TYPE> z = out[id * TILE];
        WaitFlag<HardEvent::V_MTE2>(id);
        DataCopy(x, xGm[i * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE3_V>(id);
        Exp(z, x, TILE);
        SetFlag<HardEvent::V_MTE2>(id);
        SetFlag<HardEvent::V_MTE3>(id);
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(zGm[i * TILE], z, TILE);
        SetFlag<HardEvent::MTE3_V>(id);
    }
    for (int32_t id = 0; id < 2; id++) {
        WaitFlag<HardEvent::V_MTE2>(id);
        WaitFlag<HardEvent::MTE3_V>(id);
    }
}
