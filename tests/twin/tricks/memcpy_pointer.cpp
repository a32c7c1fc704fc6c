// Calls memcpy through a pointer the compiler cannot see through.
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
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    static float b[N];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(b, at, sizeof b);
    for (int i = 0; i < N; i++)
        sum += b[i];
    give(y, sum);
}
