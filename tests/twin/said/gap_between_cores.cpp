#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void shares(GM_ADDR x, GM_ADDR y, uint32_t n)
{
    uint32_t share = (n + GetBlockNum() - 1) / GetBlockNum();
    uint32_t from = GetBlockIdx() * share, size = n / GetBlockNum();
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
    pipe.InitBuffer(q, 1, 4096);
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half *)x, n);
    gy.SetGlobalBuffer((__gm__ half *)y, n);
    DataCopyExtParams row{1, size * 2, 0, 0, 0};
    LocalTensor<half> t = q.AllocTensor<half>();
    DataCopyPad(t, gx[from], row, {false, 0, 0, 0});
    q.EnQue(t);
    t = q.DeQue<half>();
    DataCopyPad(gy[from], t, row);
    q.FreeTensor(t);
}
