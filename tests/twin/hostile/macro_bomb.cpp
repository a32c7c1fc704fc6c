// Expands to more text than fits anywhere.
// want: not-compiled|timeout|memory
#include "kernel_operator.h"
#define A(x) x x x x x x x x x x x x x x x x
#define B(x) A(A(A(A(A(A(A(A(x))))))))
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    int n = 0;
    B(n += 1;)
}
