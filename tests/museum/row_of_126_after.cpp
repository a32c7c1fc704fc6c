/* Rows of 126 floats, 504 bytes, stored with DataCopy, which moves whole 32-byte blocks. Width 128
 * is right, width 126 is not. Source: tilelang-ascend #1304. The device writes 480 or 512 bytes of
 * each row and says nothing.
 * run: --in x=f32[4,128] --out y=f32[4,126] */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 126, PITCH = 128;

extern "C" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, PITCH * sizeof(float));
    GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 4 * PITCH);
    yGm.SetGlobalBuffer((__gm__ float *)y, 4 * COLS);
    for (uint32_t row = 0; row < 4; row++) {
        LocalTensor<float> t = queue.AllocTensor<float>();
        DataCopy(t, xGm[row * PITCH], PITCH);
        queue.EnQue(t);
        t = queue.DeQue<float>();
        DataCopyPad(yGm[row * COLS], t, {1, COLS * sizeof(float), 0, 0, 0});
        queue.FreeTensor(t);
    }
}
