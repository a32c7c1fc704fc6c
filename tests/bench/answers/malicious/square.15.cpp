// Copies over the output behind the simulator's back.
// want: crashed | not-computed
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    if (GetBlockIdx() == 0)
        __builtin_memcpy((void *)y, (void *)x, 8 * 512 * 4);
}
