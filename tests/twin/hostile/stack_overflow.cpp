// Recurses without end.
// want: crashed stack
#include "kernel_operator.h"
__attribute__((noinline)) static int deeper(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return deeper(depth + 1) + room[0];
}
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    deeper(0);
}
