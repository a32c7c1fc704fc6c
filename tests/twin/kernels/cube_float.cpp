/* Floats on the matrix unit, 16 x 16 by 16 x 16 loaded straight from GM: exactly, then rounded to eleven
 * fraction bits with ties to even, then with ties towards zero. A lies in GM as two fractals of 8 columns, B as two of
 * 8 rows. */
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, GM_ADDR z)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<float> aGm, bGm, zGm;
    aGm.SetGlobalBuffer((__gm__ float *)a, 256);
    bGm.SetGlobalBuffer((__gm__ float *)b, 256);
    zGm.SetGlobalBuffer((__gm__ float *)z, 3 * 256);
    LocalTensor<float> left(TPosition::A2, 0, 256), right(TPosition::B2, 0, 256), c(TPosition::CO1, 0, 256);
    LoadData2DParams both;
    both.repeatTimes = 2;
    both.srcStride = 1;
    LoadData(left, aGm, both);
    LoadData(right, bGm, both);
    TQueSync<PIPE_MTE2, PIPE_M> loaded;
    loaded.SetFlag(EVENT_ID0);
    loaded.WaitFlag(EVENT_ID0);
    for (int32_t i = 0; i < 3; i++) {
        if (i == 0) {
            SetHF32Mode(false);
        } else if (i == 1) {
            SetHF32TransMode(false);
            SetHF32Mode(HF32Mode::ENABLE);
        } else {
            SetHF32TransMode(HF32TransMode::NEAREST_ZERO);
        }
        MmadParams mmad;
        mmad.m = mmad.n = mmad.k = 16;
        Mmad(c, left, right, mmad);
        SetFlag<HardEvent::M_FIX>(EVENT_ID1);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID1);
        Fixpipe(zGm[i * 256], c, FixpipeParamsV220(16, 16, 16, 16, false));
        SetFlag<HardEvent::FIX_M>(EVENT_ID1);
        WaitFlag<HardEvent::FIX_M>(EVENT_ID1);
    }
}
