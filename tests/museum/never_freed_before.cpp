/* A tensor taken from the queue and never given back: right for as many tiles as there are buffers,
 * then AllocTensor spins for ever. Source: asc-devkit, AllocTensor and FreeTensor pages; LLM4AscendC
 * counts the 507014 time-outs that follow. The device shows nothing and times out.
 * run: --in x=f32[256] --out z=f32[256] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void twice(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 256);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 256);
    for (uint32_t i = 0; i < 4; i++) {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, xGm[i * 64], 64);
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> z = out.AllocTensor<float>();
        Muls(z, x, 2.0f, 64); // <-- S024
        out.EnQue(z);
        z = out.DeQue<float>();
        DataCopy(zGm[i * 64], z, 64);
        out.FreeTensor(z);
    }
}
