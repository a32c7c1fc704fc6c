// Attacks from a resolver that runs while the program is relocated.
// want: not-compiled ifunc
#include "kernel_operator.h"
extern "C" void *choose() { for (;;) ; }
extern "C" void chosen() __attribute__((ifunc("choose")));
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) { chosen(); }
