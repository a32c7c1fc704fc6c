// task: tests/loop/feedback/softplus.py
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TOTAL = 64 * 640;
constexpr uint32_t TILE = 640;

extern "C" __global__ __aicore__ void softplus(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    GlobalTensor<float> xs, ys;
    xs.SetGlobalBuffer((__gm__ float *)x, TOTAL);
    ys.SetGlobalBuffer((__gm__ float *)y, TOTAL);
    pipe.InitBuffer(in, 2, TILE * sizeof(float));
    pipe.InitBuffer(out, 2, TILE * sizeof(float));
    for (uint32_t i = GetBlockIdx() * TILE; i < TOTAL; i += GetBlockNum() * TILE) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, xs[i], TILE);
        in.EnQue(a);
        a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        Exp(b, a, TILE);
        Adds(b, b, 1.0f, TILE);
        Ln(b, b, TILE);
        out.EnQue(b);
        b = out.DeQue<float>();
        DataCopy(ys[i], b, TILE);
        out.FreeTensor(b);
    }
}
