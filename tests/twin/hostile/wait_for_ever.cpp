// Waits for a flag that nobody sets.
// want: hang
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::CrossCoreWaitFlag(3);
}
