// Loads a library at run time.
// want: not-compiled dlopen
// open: forbidden|crashed|not-compiled
#include "kernel_operator.h"
extern "C" void *dlopen(const char *, int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    dlopen("libm.so.6", 2);
}
