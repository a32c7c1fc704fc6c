// Attacks from a static constructor, before the entry.
// want: not-compiled kill
// open: forbidden kill
#include "kernel_operator.h"
extern "C" int kill(int, int);
struct Early {
    Early() { kill(-1, 9); }
} early;
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
