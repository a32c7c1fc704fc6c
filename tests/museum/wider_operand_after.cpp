/* The second operand is narrower than the tile it is copied with: rows of 96 read with the width of
 * 128. Source: tilelang-ascend #1654. The device reads past the tensor without a word, or stops with
 * 507035 (DDR address out of range), as in bitsandbytes PR #1695.
 * run: --in x=f32[96] --out z=f32[96] */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t WIDTH = 96;

extern "C" __global__ __aicore__ void copy_row(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 64 * 128);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx);
    zGm.SetGlobalBuffer((__gm__ float *)gz);
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, xGm[0], WIDTH);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(zGm, t, 96);
    queue.FreeTensor(t);
}
