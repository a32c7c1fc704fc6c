// A static array larger than the memory it may have.
// want: crashed|memory
#include "kernel_operator.h"
static char big[1ul << 30];
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (unsigned long i = 0; i < sizeof big; i += 4096)
        *(volatile char *)(big + i) = 1;
}
