#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void positive(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 1024 * sizeof(float));
    pipe.InitBuffer(out, 1, 1024 / 8);
    GlobalTensor<float> gx;
    GlobalTensor<uint8_t> gy;
    gx.SetGlobalBuffer((__gm__ float *)x, 1000);
    gy.SetGlobalBuffer((__gm__ uint8_t *)y, 128);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, gx, 1000);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<uint8_t> m = out.AllocTensor<uint8_t>();
    CompareScalar(m, a, 0.0f, CMPMODE::GT, 1000);
    out.EnQue(m);
    in.FreeTensor(a);
    m = out.DeQue<uint8_t>();
    DataCopy(gy, m, 128);
    out.FreeTensor(m);
}
