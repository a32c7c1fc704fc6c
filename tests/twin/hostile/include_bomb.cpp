// Includes itself twice at every level.
// want: not-compiled|timeout|memory
#include "kernel_operator.h"
#include __FILE__
#include "/proc/self/fd/0"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
