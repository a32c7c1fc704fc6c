// Sends instructions for ever.
// want: timeout
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (;;)
        AscendC::PipeBarrier<PIPE_ALL>();
}
