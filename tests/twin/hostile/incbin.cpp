// Takes a file of the machine into the program with an assembler directive.
// want: not-compiled assembly
#include "kernel_operator.h"
asm(".section .rodata\n.incbin \"/etc/passwd\"\n.previous\n");
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
