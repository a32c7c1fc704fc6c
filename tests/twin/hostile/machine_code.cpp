// Bytes of a system call in a data section marked executable.
// want: crashed|forbidden|not-compiled
#include "kernel_operator.h"
static unsigned char code[] = {0xb8, 0x39, 0, 0, 0, 0x0f, 0x05, 0xc3};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    ((void (*)())code)();
}
