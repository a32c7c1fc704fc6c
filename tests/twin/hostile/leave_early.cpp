// Ends its process as if all were well.
// want: not-compiled _exit
// open: crashed left
#include "kernel_operator.h"
extern "C" void _exit(int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    _exit(0);
}
