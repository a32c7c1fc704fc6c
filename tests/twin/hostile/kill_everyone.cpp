// Signals every process it can reach.
// want: not-compiled kill
// open: forbidden kill
#include "kernel_operator.h"
extern "C" int kill(int, int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    kill(-1, 9);
}
