// Reads through bit fields of 64 bits.
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
    struct Two { uint64_t low : 32, high : 32; };
    for (int i = 0; i < N; i += 2) {
        Two two = *(const Two *)(at + i);
        uint32_t a = two.low, b = two.high;
        sum += __builtin_bit_cast(float, a) + __builtin_bit_cast(float, b);
    }
    give(y, sum);
}
