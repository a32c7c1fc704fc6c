// Goes by the processor's own clock.
// want: not-compiled __builtin_readcyclecounter
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
    if (__builtin_readcyclecounter() % 2)
        to.SetValue(0, 1.0f);
}
