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
    TBuf<QuePosition::VECCALC> scratch;
    GlobalTensor<float> ys;
    ys.SetGlobalBuffer((__gm__ float *)y, TOTAL);
    pipe.InitBuffer(in, TILE * sizeof(float));
    pipe.InitBuffer(out, 2, TILE * sizeof(float));
    for (uint32_t i = GetBlockIdx() * TILE; i < TOTAL; i += GetBlockNum() * TILE) {
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, x, TILE);
        LocalTensor<DTYPE_OUT> b = out.AllocTensor<float>();
        Exponential(b, a, TILE);
        Add(a, a, 1.0f, TILE);
        Muls(a, a, 1.0, TILE);
        Sub(a, a, 1, TILE);
        ReduceMax(a, a, TILE);
        out.EnQue(a);
    }
}
