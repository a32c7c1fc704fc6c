// Hides the name of the ring at the end of a line.
// want: not-compiled no AscendC header
// open: forged|hazard
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    acra\
ft_core.cursor++;
}
