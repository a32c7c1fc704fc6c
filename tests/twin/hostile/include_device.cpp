// Includes a device that never ends.
// want: not-compiled /dev/zero
#include "kernel_operator.h"
#include "/dev/zero"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
