// Touches what the runtime knows of its core.
// want: hazard|not-compiled|crashed|forged
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    acraft_core.tiling_bytes = 1ull << 40;
    acraft::flush();
}
