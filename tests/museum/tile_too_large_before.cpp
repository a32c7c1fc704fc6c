/* A tile size taken over from a GPU: two double-buffered queues of 128 KiB tiles in 192 KiB of UB.
 * Source: triton-ascend #302, #340, #1638. The vendor's compiler for that language refuses it in
 * bits, without naming the tile; AscendC builds and the device stops (507015).
 * run: --in x=f32[32768] --out z=f32[32768] */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 32768;

extern "C" __global__ __aicore__ void twice(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    pipe.InitBuffer(in, 2, TILE * sizeof(float)); // <-- S005
    pipe.InitBuffer(out, 2, TILE * sizeof(float));
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 32768);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 32768);
    for (uint32_t at = 0; at < 32768; at += TILE) {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, xGm[at], TILE);
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> z = out.AllocTensor<float>();
        Muls(z, x, 2.0f, TILE);
        out.EnQue(z);
        in.FreeTensor(x);
        z = out.DeQue<float>();
        DataCopy(zGm[at], z, TILE);
        out.FreeTensor(z);
    }
}
