// Opens a socket.
// want: not-compiled socket
// open: forbidden socket
#include "kernel_operator.h"
extern "C" int socket(int, int, int);
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    socket(2, 1, 0);
}
