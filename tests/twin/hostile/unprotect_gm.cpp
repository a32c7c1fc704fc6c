// Asks the kernel to make GM writable.
// want: not-compiled mprotect
// open: hazard write to an input
#include "kernel_operator.h"
extern "C" int mprotect(void *, unsigned long, int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    mprotect(x, 4096, 3);
    *(volatile int *)x = 42;
}
