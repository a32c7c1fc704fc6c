/* A slice that starts 16 bytes into a buffer is given to a vector instruction, which wants 32.
 * Source: tilelang-ascend #1680; the same error on the board in llama.cpp #10108 and whisper.cpp
 * #2372. The device stops: aicore exception 507015, "illegal instruction, usually caused by unaligned
 * UB addresses".
 * run: --in x=f32[64] --out z=f32[32] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void slice(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(out, 1, 128);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 64);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 32);
    LocalTensor<float> x = in.AllocTensor<float>();
    DataCopy(x, xGm, 64);
    in.EnQue(x);
    x = in.DeQue<float>();
    LocalTensor<float> z = out.AllocTensor<float>();
    Add(z, x[8], x, 32);
    out.EnQue(z);
    in.FreeTensor(x);
    z = out.DeQue<float>();
    DataCopy(zGm, z, 32);
    out.FreeTensor(z);
}
