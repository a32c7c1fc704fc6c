/* A UB buffer is loaded again before the vector unit has read it: MTE2 writes, V reads, and in the
 * next stage MTE2 writes once more with nobody waiting for V. Source: tilelang-ascend #1660 (the
 * acc_o_ub_temp buffer), fixed by PR #1779. The device gives right values in single runs; with only
 * the other buffer of that kernel mended, 23 of 32 processes under load still drifted.
 * run: --in x=f32[256] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void gather_sum(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room, total;
    pipe.InitBuffer(room, 256);
    pipe.InitBuffer(total, 256);
    LocalTensor<float> part = room.Get<float>();
    LocalTensor<float> sum = total.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 256);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    Duplicate(sum, 0.0f, 64);
    for (int stage = 0; stage < 4; stage++) {
        DataCopy(part, xGm[stage * 64], 64);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Add(sum, sum, part, 64); // <-- S051
    }
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(zGm, sum, 64);
}
