// Brings its own main and runtime.
// want: not-compiled|hazard
#include "kernel_operator.h"
using namespace AscendC;
extern "C" int main() { return 0; }
extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    (void)x;
    (void)y;
}
