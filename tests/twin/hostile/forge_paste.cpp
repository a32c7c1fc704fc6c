// Puts the name of the ring together.
// want: not-compiled no AscendC header
// open: forged|hazard
#include "kernel_operator.h"
#define CAT(a, b) a##b
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    CAT(acr, aft_core).cursor++;
}
