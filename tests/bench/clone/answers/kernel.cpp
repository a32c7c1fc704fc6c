#include "kernel_operator.h"
using namespace AscendC;

typedef struct {
    uint32_t each;
} TilingDataDef;

extern "C" __global__ __aicore__ void halve(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)
{
    TilingDataDef tiling_data = {.each = 64};
    uint32_t n = tiling_data.each;
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * n, n);
    out.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * n, n);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> from;
    TQue<QuePosition::VECOUT, 1> to;
    pipe.InitBuffer(from, 1, n * sizeof(float));
    pipe.InitBuffer(to, 1, n * sizeof(float));
    LocalTensor<float> a = from.AllocTensor<float>();
    DataCopy(a, in, n);
    from.EnQue(a);
    a = from.DeQue<float>();
    LocalTensor<float> b = to.AllocTensor<float>();
    Muls(b, a, 0.5f, n);
    to.EnQue(b);
    from.FreeTensor(a);
    b = to.DeQue<float>();
    DataCopy(out, b, n);
    to.FreeTensor(b);
}
