// Follows a null pointer.
// want: crashed touched memory
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    *(volatile int *)8 = 1;
}
