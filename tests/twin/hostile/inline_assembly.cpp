// A system call in assembly, past every import check.
// want: not-compiled assembly
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(57) : "rcx", "r11", "memory");
}
