// Reads openly for a long time, then takes what came ahead again and again.
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
HIDDEN static float peek(const float *p) { return *(const volatile float *)p; }
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    for (int i = 0; i < 512; i++)
        sum += at[i];
    for (int i = 512; i < N; i++)
        sum += peek(at + i);
    give(y, sum);
}
