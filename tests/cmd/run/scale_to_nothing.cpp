// Computes, but every result is zero.
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, int64_t n)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<float> from, to;
    int64_t share = n / GetBlockNum();
    from.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * share, share);
    to.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * share, share);
    pipe.InitBuffer(in, 1, share * sizeof(float));
    pipe.InitBuffer(out, 1, share * sizeof(float));
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, from, share);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Muls(b, a, 0.0f, share);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(to, b, share);
    out.FreeTensor(b);
}
