// Asks for a loader of its own, so that the program does not start.
// want: not-compiled a section '.interp'
// open: not-compiled exec
#include "kernel_operator.h"
extern "C" __attribute__((section(".interp"), used)) const char loader[] = "/lib/none.so";
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
}
