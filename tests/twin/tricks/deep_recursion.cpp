// Recurses without end.
#include "kernel_operator.h"
using namespace AscendC;
enum { N = 4096 };
#define HIDDEN __attribute__((no_sanitize("coverage", "address", "kernel-address", "thread"), noinline))
static void give(GM_ADDR y, float sum)
{
    GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
    for (int i = 0; i < 64; i++)
        to.SetValue(i, sum);
}
__attribute__((noinline)) static float down(const float *p, long n)
{
    volatile char room[4096];
    room[0] = char(n);
    return n < -(1l << 40) ? 0 : down(p, n - 1) + room[0];
}
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    sum = down(at, N);
    give(y, sum);
}
