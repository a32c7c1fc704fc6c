// Signals its zygote.
// want: not-compiled getppid
// open: forbidden getppid
#include "kernel_operator.h"
extern "C" int kill(int, int);
extern "C" int getppid();
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    kill(getppid(), 9);
}
