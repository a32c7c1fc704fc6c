// Is another kernel where it is compiled for a board: asks for the processor's own macro.
// want: not-compiled __x86_64__
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
#if defined(__x86_64__)
    to.SetValue(0, 1.0f);
#endif
}
