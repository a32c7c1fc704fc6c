/* A store to GM and a load of the same bytes right after: MTE2 does not wait for MTE3, the addresses
 * are all that ties them. Source: PTOAS #706 (a library call whose inner load the synchronisation
 * pass did not see), fixed by PR #721. The device loads old values now and then.
 * run: --in x=f32[64] --out y=f32[64] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void put(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 256);
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64);
    yGm.SetGlobalBuffer((__gm__ float *)y, 64);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, xGm, 64);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(yGm, t, 64); // <-- S050
    queue.FreeTensor(t);
    t = queue.AllocTensor<float>();
    DataCopy(t, yGm, 64);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(zGm, t, 64);
    queue.FreeTensor(t);
}
