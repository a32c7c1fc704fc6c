// Moves the shared counter of published records far ahead.
// want: not-compiled no AscendC header
// open: forged counter
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    unsigned long ring = ((unsigned long)acraft_core.cursor & ~4095ul) - 4096;
    *(volatile unsigned *)ring = 0x40000000;
    ((volatile unsigned *)ring)[1] = 99;
    for (;;)
        ;
}
