// Closes everything it was given.
// want: not-compiled close
// open: forbidden close
#include "kernel_operator.h"
extern "C" int close(int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (int i = 0; i < 100; i++)
        close(i);
}
