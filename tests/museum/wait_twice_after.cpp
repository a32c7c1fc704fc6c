/* One SetFlag, two WaitFlag: the branch was analysed twice and its waits were put in twice. Source:
 * PTOAS #112 (a run that "times out after many minutes"), fixed by PR #126. The device shows nothing
 * and times out (507014).
 * run: --in x=f32[64] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void branch(GM_ADDR x, GM_ADDR z)
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
    if (GetBlockIdx() == 0) {
        WaitFlag<HardEvent::MTE2_V>(0);
        Muls(t, t, 2.0f, 64);
    }
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(zGm, t, 64);
}
