// Instantiates a million templates within the depth limit.
// want: not-compiled|timeout|memory
#include "kernel_operator.h"
template <unsigned D, unsigned long N> struct Tree {
    static constexpr unsigned long value = Tree<D - 1, N * 2>::value + Tree<D - 1, N * 2 + 1>::value;
};
template <unsigned long N> struct Tree<0, N> {
    static constexpr unsigned long value = N;
};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    static_assert(Tree<40, 1>::value != 0, "");
}
