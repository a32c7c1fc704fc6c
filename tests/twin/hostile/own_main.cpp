// Brings its own main.
// want: not-compiled duplicate symbol: main
#include "kernel_operator.h"
int main() { return 0; }
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y) {}
