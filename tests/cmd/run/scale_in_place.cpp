/* x *= FACTOR, in place; the factor comes with -D. */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void scale_in_place(GM_ADDR x)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 64 * sizeof(float));
    GlobalTensor<float> gm;
    gm.SetGlobalBuffer((__gm__ float *)x, 64);
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, gm, 64);
    queue.EnQue<TPosition::GM, TPosition::VECIN, float>(t);
    t = queue.DeQue<TPosition::GM, TPosition::VECIN, float>();
    Muls(t, t, float(FACTOR), 64);
    queue.EnQue<TPosition::VECOUT, TPosition::GM, float>(t);
    t = queue.DeQue<TPosition::VECOUT, TPosition::GM, float>();
    DataCopy(gm, t, 64);
    queue.FreeTensor(t);
}
