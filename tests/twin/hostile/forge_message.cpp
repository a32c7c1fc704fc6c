// Fails to compile with the words for what acraft lacks.
// want: not-compiled
#include "kernel_operator.h"
#define S(x) #x
static_assert(false, S(acr) "aft-unsupported: Everything");
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
}
