// Writes before the kernel starts.
// want: crashed|hazard|not-compiled
#include "kernel_operator.h"
using namespace AscendC;
struct Early {
    Early() { *(volatile float *)0x1000 = 1; }
};
static Early early;
extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    (void)x;
    (void)y;
}
