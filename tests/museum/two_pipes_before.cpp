/* Two TPipe objects on one core: the second starts handing out UB and event ids from the beginning
 * while those of the first are in use. Source: asc-devkit, TPipe page, hang trap 6.
 * The device hangs or mixes up the buffers, without a message.
 * run: --in x=f32[64] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR z)
{
    TPipe outer;
    TQue<QuePosition::VECIN, 1> in;
    outer.InitBuffer(in, 1, 256);
    TPipe own; // <-- S022
    TQue<QuePosition::VECOUT, 1> out;
    own.InitBuffer(out, 1, 256);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, xGm, 64);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Muls(b, a, 2.0f, 64);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(zGm, b, 64);
    out.FreeTensor(b);
}
