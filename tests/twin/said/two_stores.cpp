#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void all_to_one(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
    pipe.InitBuffer(q, 1, 256 * sizeof(half));
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half *)x, 1024);
    gy.SetGlobalBuffer((__gm__ half *)y, 256);
    LocalTensor<half> t = q.AllocTensor<half>();
    DataCopy(t, gx[GetBlockIdx() * 256], 256);
    q.EnQue(t);
    t = q.DeQue<half>();
    DataCopy(gy, t, 256);
    q.FreeTensor(t);
}
