// Includes a file of the machine to see it in the messages.
// want: not-compiled /etc/passwd
#include "kernel_operator.h"
#include "/etc/passwd"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
