/* A UB buffer is written again before the copy out of it has read it: V writes, MTE3 reads, and in
 * the next stage V writes once more with nobody waiting for MTE3. Source: tilelang-ascend #1660 (the
 * acc_s_half buffer of a sparse attention kernel), fixed by PR #1779. The device gives right values
 * in single runs; 23 of 32 processes under load drifted.
 * run: --in x=f32[256] --out z=f32[256] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void stages(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(room, 256);
    LocalTensor<float> half_done = room.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 256);
    zGm.SetGlobalBuffer((__gm__ float *)z, 256);
    for (int stage = 0; stage < 4; stage++) {
        LocalTensor<float> t = in.AllocTensor<float>();
        DataCopy(t, xGm[stage * 64], 64);
        in.EnQue(t);
        t = in.DeQue<float>();
        Exp(half_done, t, 64);
        in.FreeTensor(t);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(zGm[stage * 64], half_done, 64); // <-- S051
    }
}
