// Prints without end through the API.
// want: timeout|output|hazard
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (int i = 0;; i++)
        AscendC::printf("line %d of an endless text that fills the memory of whoever keeps it\n", i);
}
