// Reaches the runtime by a weak reference.
// want: not-compiled no AscendC header
// open: crashed
#include "kernel_operator.h"
static void leave(int) __attribute__((weakref("acraft_exit")));
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    leave(2);
}
