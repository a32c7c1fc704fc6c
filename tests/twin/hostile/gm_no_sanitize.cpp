// Reads GM with the compiler's calls switched off.
// want: not-compiled no_sanitize
#include "kernel_operator.h"
__attribute__((no_sanitize("coverage", "address", "kernel-address", "thread"), noinline)) static float
peek(GM_ADDR x, int i)
{
    return ((float *)x)[i];
}
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
    for (int i = 0; i < 64; i++)
        to.SetValue(i, 1 + peek(x, i));
}
