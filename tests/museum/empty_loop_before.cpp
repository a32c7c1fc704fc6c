/* A wait that stands inside a loop is taken to hold after it, and the loop runs zero times: Muls
 * reads while the load is still on its way. Source: PTOAS #533, fixed by PR #540. The device gives
 * old values now and then.
 * run: --in x=f32[64] --out z=f32[64] --attr rounds=0 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void rounds_of(GM_ADDR x, GM_ADDR z, int32_t rounds)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 256);
    LocalTensor<float> t = room.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    DataCopy(t, xGm, 64);
    SetFlag<HardEvent::MTE2_V>(0);
    for (int i = 0; i < rounds; i++) {
        if (i == 0)
            WaitFlag<HardEvent::MTE2_V>(0);
        Adds(t, t, 1.0f, 64);
    }
    Muls(t, t, 2.0f, 64); // <-- S050
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(zGm, t, 64);
}
