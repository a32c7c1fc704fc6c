// Writes the simulator's UB through the read-only mapping.
// want: not-compiled no AscendC header
// open: crashed touched memory
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    *const_cast<volatile unsigned char *>(acraft_core.memory[NPU_UB]) = 42;
}
