// Puts data where no compiler does.
// want: not-compiled a section
#include "kernel_operator.h"
__attribute__((section(".got.plt"), used)) static long entry[4] = {1};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
}
