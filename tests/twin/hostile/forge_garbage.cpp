// Fills the ring with bytes that no call makes.
// want: not-compiled no AscendC header
// open: forged
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    for (int i = 0; i < 1000; i++) {
        if (acraft_core.cursor == acraft_core.limit)
            acraft_ring_full();
        unsigned char *to = (unsigned char *)acraft_core.cursor++;
        for (unsigned j = 0; j < sizeof(Record); j++)
            to[j] = (unsigned char)(i * 7 + j * 13 + 0x55);
    }
}
