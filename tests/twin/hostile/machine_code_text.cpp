// The bytes of a raw fork placed in the code section.
// want: crashed|forbidden|not-compiled
#include "kernel_operator.h"
__attribute__((section(".text"), used)) static const unsigned char code[] = {0xb8, 0x39, 0, 0, 0,
                                                                             0x0f, 0x05, 0xc3};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    ((void (*)())code)();
}
