#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t TILE = 4096;
extern "C" __global__ __aicore__ void relu2(GM_ADDR x, GM_ADDR y, uint32_t total)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, SETS> in;
    TQue<QuePosition::VECOUT, SETS> out;
    pipe.InitBuffer(in, SETS, TILE * sizeof(half));
    pipe.InitBuffer(out, SETS, TILE * sizeof(half));
    uint32_t share = total / GetBlockNum(), first = GetBlockIdx() * share;
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half *)x + first, share);
    gy.SetGlobalBuffer((__gm__ half *)y + first, share);
    for (uint32_t at = 0; at < share; at += TILE) {
        LocalTensor<half> a = in.AllocTensor<half>();
        DataCopy(a, gx[at], TILE);
        in.EnQue(a);
        a = in.DeQue<half>();
        LocalTensor<half> b = out.AllocTensor<half>();
        for (int i = 0; i < 6; i++)
            Exp(b, a, TILE);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<half>();
        DataCopy(gy[at], b, TILE);
        out.FreeTensor(b);
    }
}
