// Computes for ever while compiling.
// want: not-compiled|timeout
#include "kernel_operator.h"
constexpr unsigned long spin()
{
    unsigned long n = 0;
    while (n + 1 != 0)
        n++;
    return n;
}
static_assert(spin() != 0, "");
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
