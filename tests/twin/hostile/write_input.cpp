// Writes an input through a plain pointer.
// want: hazard write to an input
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    *(volatile int *)x = 42;
}
