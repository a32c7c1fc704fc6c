// Becomes a shell.
// want: not-compiled execl
// open: forbidden execve
#include "kernel_operator.h"
extern "C" int execl(const char *, ...);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    execl("/bin/sh", "sh", (char *)0);
}
