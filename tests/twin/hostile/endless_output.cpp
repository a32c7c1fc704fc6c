// Prints without end past the runtime.
// want: not-compiled write
// open: output
#include "kernel_operator.h"
extern "C" long write(int, const void *, unsigned long);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    static char text[65536];
    for (;;)
        write(1, text, sizeof text);
}
