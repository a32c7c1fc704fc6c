// Leaves with the status of a runtime that could not start.
// want: not-compiled no AscendC header
// open: crashed
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    acraft_exit(96);
}
