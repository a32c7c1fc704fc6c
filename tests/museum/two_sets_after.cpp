/* Two SetFlag on one event, then a full barrier. A loop announces every half tile with the same
 * flag and only afterwards waits as often; the full barrier between drains no flag that is set
 * twice. Source: asc-devkit, SetFlag/WaitFlag page, hang trap 1. The device shows
 * nothing and times out (507014).
 * run: --in x=f32[128] --out z=f32[128] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void halves(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 512);
    LocalTensor<float> t = room.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 128);
    zGm.SetGlobalBuffer((__gm__ float *)z, 128);
    for (int half = 0; half < 2; half++) {
        DataCopy(t[half * 64], xGm[half * 64], 64);
        SetFlag<HardEvent::MTE2_V>(half);
    }
    WaitFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(1);
    Muls(t, t, 2.0f, 128);
    PipeBarrier<PIPE_ALL>();
    DataCopy(zGm, t, 128);
}
