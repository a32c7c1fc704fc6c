/* A copy through one buffer that is both input and output, and a rows-of-a-matrix copy with gaps:
 * z = the first 64 columns of a 16 x 128 matrix. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 16 * 64 * sizeof(TYPE));
    GlobalTensor<TYPE> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ TYPE *)gx, LEN);
    zGm.SetGlobalBuffer((__gm__ TYPE *)gz, OUT_LEN);
    LocalTensor<TYPE> t = queue.AllocTensor<TYPE>();
    constexpr uint16_t row = 64 * sizeof(TYPE) / 32;
    DataCopy(t, xGm, DataCopyParams(16, row, row, 0));
    queue.EnQue<TYPE>(t);
    t = queue.DeQue<TYPE>();
    DataCopy(zGm, t, DataCopyParams(16, row, 0, 0));
    queue.FreeTensor(t);
}
