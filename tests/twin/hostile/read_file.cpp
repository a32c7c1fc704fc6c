// Reads a file of the machine.
// want: not-compiled open
// open: forbidden openat
#include "kernel_operator.h"
extern "C" int open(const char *, int, ...);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    open("/etc/passwd", 0);
}
