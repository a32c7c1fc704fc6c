/* Event id 9, where the chip has 0 to 7 (of which 6 and 7 belong to the system). Source:
 * tilelang-ascend #1660, the final store of the same kernel; PR #1779 takes id 3. The device orders
 * nothing, or something else; the values drift under load.
 * run: --in x=f32[64] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void last_store(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(room, 256);
    LocalTensor<float> result = room.Get<float>();
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    LocalTensor<float> t = in.AllocTensor<float>();
    DataCopy(t, xGm, 64);
    in.EnQue(t);
    t = in.DeQue<float>();
    Exp(result, t, 64);
    in.FreeTensor(t);
    SetFlag<HardEvent::V_MTE3>(3);
    WaitFlag<HardEvent::V_MTE3>(3);
    DataCopy(zGm, result, 64);
}
