/* MTE2 loads, MTE3 stores the same bytes on, V reads them: the synchronisation pass compared the
 * vector read with the latest access only, which is a read, and dropped the wait for the load.
 * Source: tilelang-ascend PR #1777 (third cause). The device gives wrong bf16 values now and then.
 * run: --in x=f32[64] --out y=f32[64] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void both(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(room, 256);
    pipe.InitBuffer(out, 1, 256);
    LocalTensor<float> t = room.Get<float>();
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64);
    yGm.SetGlobalBuffer((__gm__ float *)y, 64);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    DataCopy(t, xGm, 64); // <-- S050
    SetFlag<HardEvent::MTE2_MTE3>(0);
    WaitFlag<HardEvent::MTE2_MTE3>(0);
    DataCopy(yGm, t, 64);
    LocalTensor<float> result = out.AllocTensor<float>();
    Exp(result, t, 64);
    out.EnQue(result);
    result = out.DeQue<float>();
    DataCopy(zGm, result, 64);
    out.FreeTensor(result);
}
