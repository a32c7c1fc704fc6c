// Pretends that the simulator has executed everything.
// want: not-compiled no AscendC header
// open: crashed touched memory
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const_cast<volatile RecordView *>(acraft_core.view)->done = 1000000;
}
