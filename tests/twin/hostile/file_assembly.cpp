// Assembly outside every function.
// want: not-compiled assembly
#include "kernel_operator.h"
asm(".globl evil\nevil: syscall\nret\n");
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
