/* Two vector cores exchange halves through GM, and nothing makes the reader wait for the other
 * core's store. Source: pypto #1981 (split kernels, 33 of 40 runs wrong). The device
 * gives wrong rows in a share of the runs that follows the load.
 * run: --in x=f32[128] --out w=f32[128] --out z=f32[128] --blocks 2 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void exchange(GM_ADDR x, GM_ADDR w, GM_ADDR z)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 256);
    GlobalTensor<float> xGm, wGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 128);
    wGm.SetGlobalBuffer((__gm__ float *)w, 128);
    zGm.SetGlobalBuffer((__gm__ float *)z, 128);
    int me = GetBlockIdx(), other = 1 - me;
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, xGm[me * 64], 64);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(wGm[me * 64], t, 64); // <-- S054
    queue.FreeTensor(t);
    t = queue.AllocTensor<float>();
    DataCopy(t, wGm[other * 64], 64);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    DataCopy(zGm[me * 64], t, 64);
    queue.FreeTensor(t);
}
