// Goes on for ever after a fault ended its core.
// want: not-compiled no AscendC header
// open: forged
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    Record r = {};
    r.op = NPU_OP_COUNT;
    *acraft_core.cursor = r;
    unsigned long ring = ((unsigned long)acraft_core.cursor & ~4095ul) - 4096;
    ((volatile unsigned *)ring)[0] = 1;
    ((volatile unsigned *)ring)[1] = 1;
    volatile int i = 0;
    for (;;)
        i = i + 1;
}
