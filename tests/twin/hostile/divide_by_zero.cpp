// A trap of the processor, which the scalar unit does not have: a warning.
// want: hazard
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    volatile int zero = 0, seven = 7;
    zero = seven / zero;
}
