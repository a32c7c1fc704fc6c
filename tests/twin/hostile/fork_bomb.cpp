// Forks without end.
// want: not-compiled fork
// open: forbidden
#include "kernel_operator.h"
extern "C" int fork();
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (;;)
        fork();
}
