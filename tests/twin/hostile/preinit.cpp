// Attacks before the runtime's own start.
// want: not-compiled preinit
#include "kernel_operator.h"
static void early() { for (;;) ; }
__attribute__((section(".preinit_array"), used)) static void (*const hook)() = early;
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
