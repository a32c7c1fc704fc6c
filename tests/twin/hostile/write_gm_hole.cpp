// Writes between two tensors.
// want: hazard outside every tensor
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    *(volatile int *)(y - 8192) = 42;
}
