// Takes memory until there is none.
// want: not-compiled malloc
// open: crashed|memory|timeout
#include "kernel_operator.h"
extern "C" void *malloc(unsigned long);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (;;) {
        volatile char *p = (volatile char *)malloc(1 << 24);
        for (int i = 0; i < 1 << 24; i += 4096)
            p[i] = 1;
    }
}
