/* Nine tensors allocated at once on one TPosition; the chip has eight event ids for it, and the
 * ninth AllocTensor waits for ever. Source: asc-devkit, AllocTensor page, hang trap 7
 * and pain 12. The device shows nothing and times out (507014); the vendor's CPU twin reports it.
 * run: --in x=f32[576] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

constexpr int PARTS = 9;

extern "C" __global__ __aicore__ void sum_parts(GM_ADDR x, GM_ADDR z)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in[PARTS];
    TQue<QuePosition::VECOUT, 1> out;
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, 64 * PARTS);
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    LocalTensor<float> part[PARTS];
    for (int i = 0; i < PARTS; i++) {
        pipe.InitBuffer(in[i], 1, 256);
        part[i] = in[i].AllocTensor<float>(); // <-- S030
        DataCopy(part[i], xGm[i * 64], 64);
        in[i].EnQue(part[i]);
    }
    pipe.InitBuffer(out, 1, 256);
    LocalTensor<float> sum = out.AllocTensor<float>();
    Duplicate(sum, 0.0f, 64);
    for (int i = 0; i < PARTS; i++) {
        part[i] = in[i].DeQue<float>();
        Add(sum, sum, part[i], 64);
        in[i].FreeTensor(part[i]);
    }
    out.EnQue(sum);
    sum = out.DeQue<float>();
    DataCopy(zGm, sum, 64);
    out.FreeTensor(sum);
}
