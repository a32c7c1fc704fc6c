/* A WaitFlag is moved out of the condition that its SetFlag stays in: the pass that skips the work
 * still waits, and nobody sets. Source: PTOAS #1149. The device shows nothing; the stream never
 * becomes ready.
 * run: --in x=f32[128] --out z=f32[128] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void parts(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(room, 256);
    pipe.InitBuffer(out, 2, 256);
    LocalTensor<float> t = room.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 128);
    zGm.SetGlobalBuffer((__gm__ float *)z, 128);
    int remaining = 2;
    for (int part = 0; part < 4; part++) {
        if (part == 0)
            SetFlag<HardEvent::V_MTE2>(0);
        WaitFlag<HardEvent::V_MTE2>(0); // <-- S032
        if (part < remaining) {
            DataCopy(t, xGm[part * 64], 64);
            SetFlag<HardEvent::MTE2_V>(0);
            WaitFlag<HardEvent::MTE2_V>(0);
            LocalTensor<float> y = out.AllocTensor<float>();
            Muls(y, t, 2.0f, 64);
            out.EnQue(y);
            y = out.DeQue<float>();
            DataCopy(zGm[part * 64], y, 64);
            out.FreeTensor(y);
            SetFlag<HardEvent::V_MTE2>(0);
        }
    }

}
