#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void shift_rows(GM_ADDR x, GM_ADDR y, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 1024);
    pipe.InitBuffer(out, 1, 1024);
    GlobalTensor<float> gx, gy, gw;
    gx.SetGlobalBuffer((__gm__ float *)x, 1024);
    gy.SetGlobalBuffer((__gm__ float *)y, 1024);
    gw.SetGlobalBuffer((__gm__ float *)w, 1024);
    int me = GetBlockIdx(), other = (me + 1) % GetBlockNum();

    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx[me * 256], 256);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Muls(b, a, 2.0f, 256);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(gw[me * 256], b, 256);
    out.FreeTensor(b);

    a = in.AllocTensor<float>();
    DataCopy(a, gw[other * 256], 256);
    in.EnQue(a);
    a = in.DeQue<float>();
    b = out.AllocTensor<float>();
    Adds(b, a, 1.0f, 256);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(gy[me * 256], b, 256);
    out.FreeTensor(b);
}
