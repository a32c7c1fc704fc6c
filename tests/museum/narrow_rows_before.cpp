/* Rows of 4 floats: a padded copy puts each row at a new 32-byte block, and the compute call takes
 * them as if they stood close. The second half of what it reads was never meant to be there, and
 * what belongs there is never computed. Source: tilelang-ascend #996, PR #1453, PR #1777. The device
 * gives silently wrong rows.
 * run: --in x=f32[8,4] --out z=f32[8,4] */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t ROWS = 8, COLS = 4;

extern "C" __global__ __aicore__ void narrow(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, ROWS * 32);
    pipe.InitBuffer(out, 1, ROWS * 32);
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, ROWS * COLS);
    zGm.SetGlobalBuffer((__gm__ float *)gz, ROWS * COLS);
    LocalTensor<float> x = in.AllocTensor<float>();
    DataCopyExtParams copy{ROWS, COLS * sizeof(float), 0, 0, 0};
    DataCopyPad(x, xGm, copy, {true, 0, 4, 0.0f});
    in.EnQue(x);
    x = in.DeQue<float>();
    LocalTensor<float> z = out.AllocTensor<float>();
    Muls(z, x, 2.0f, ROWS * COLS); // <-- S017
    out.EnQue(z);
    in.FreeTensor(x);
    z = out.DeQue<float>();
    DataCopyPad(zGm, z, copy);
    out.FreeTensor(z);
}
