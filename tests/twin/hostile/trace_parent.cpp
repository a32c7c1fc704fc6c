// Attaches to its zygote as a debugger.
// want: not-compiled ptrace
// open: forbidden ptrace
#include "kernel_operator.h"
extern "C" long ptrace(int, ...);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    ptrace(16, 1, 0, 0);
}
