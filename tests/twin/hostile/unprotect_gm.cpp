// Asks the kernel to make GM writable.
// want: not-compiled mprotect
// open: crashed touched memory
#include "kernel_operator.h"
extern "C" int mprotect(void *, unsigned long, int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    mprotect(y, 4096, 3);
    *(volatile int *)y = 42;
}
