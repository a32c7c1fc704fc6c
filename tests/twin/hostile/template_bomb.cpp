// Instantiates templates without bound.
// want: not-compiled|timeout|memory
#include "kernel_operator.h"
template <int N> struct Bomb {
    Bomb<N * 2> left;
    Bomb<N * 2 + 1> right;
};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    Bomb<1> bomb;
}
