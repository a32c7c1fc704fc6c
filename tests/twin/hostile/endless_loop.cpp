// Never returns and sends nothing.
// want: timeout
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    volatile int i = 0;
    for (;;)
        i = i + 1;
}
