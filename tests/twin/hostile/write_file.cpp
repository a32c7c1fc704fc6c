// Leaves a file behind.
// want: not-compiled creat
// open: forbidden
#include "kernel_operator.h"
extern "C" int creat(const char *, unsigned);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    creat("/tmp/acraft-was-here", 0666);
}
