/* A core that finds its input wrong and gives up. */
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gz)
{
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 8);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 8);
    if (xGm.GetValue(0) < 100.0f) {
        STOP;
    }
    zGm.SetValue(0, 1.0f);
}
