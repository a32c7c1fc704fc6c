// A record with an operation that does not exist.
// want: not-compiled no AscendC header
// open: forged
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    Record r = {};
    r.op = NPU_OP_COUNT + 5;
    *acraft_core.cursor++ = r;
}
