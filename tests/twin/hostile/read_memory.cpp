// Reads another process's memory.
// want: not-compiled syscall
// open: forbidden process_vm_readv
#include "kernel_operator.h"
extern "C" long syscall(long, ...);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    syscall(310, 1, 0, 0, 0, 0, 0);
}
