// Looks through /proc for descriptors.
// want: not-compiled readlink
// open: forbidden readlink
#include "kernel_operator.h"
extern "C" long readlink(const char *, char *, unsigned long);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    char path[100];
    readlink("/proc/self/fd/3", path, 100);
}
