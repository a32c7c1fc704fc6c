// Is another kernel where it is compiled for a board: asks for a header of the system.
// want: not-compiled __has_include
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
#if __has_include( <linux/version.h>)
    to.SetValue(0, 1.0f);
#endif
}
