// Says it has ended before it did anything.
// want: not-compiled no AscendC header
// open: hazard
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    Record r = {};
    r.op = NPU_CORE_END;
    *acraft_core.cursor++ = r;
    acraft_ring_flush();
}
