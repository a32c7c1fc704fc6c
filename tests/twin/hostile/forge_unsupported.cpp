// Says that acraft lacks something.
// want: not-compiled no AscendC header
// open: forged
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    acraft::unsupported("Foo", {});
}
