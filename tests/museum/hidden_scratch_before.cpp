/* All of UB is taken as one buffer, and a library call then asks for scratch of its own behind it.
 * Source: tilelang-ascend #1523 (196,352 bytes planned, Sum wants more than the 128 left). The device
 * stops: "the ub address out of bounds" (507015); small shapes run by luck.
 * run: --in x=f32[8192] --out z=f32[8] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void total(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> all;
    pipe.InitBuffer(all, 196352); // <-- S005
    LocalTensor<float> x = all.Get<float>(), z = x[8192];
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 8192);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 8);
    DataCopy(x, xGm, 8192);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Duplicate(z, 0.0f, 8);
    Sum(z, x, SumParams{1, 8192, 8192});
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(zGm, z, 8);
}
