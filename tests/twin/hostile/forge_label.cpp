// Reaches the ring by an assembler label.
// want: not-compiled inline assembly
// open: crashed|hazard|forged
#include "kernel_operator.h"
extern char ring[] __asm__("acraft_core");
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    *(unsigned long *)ring = 0;
}
