// Machine code that reads GM itself.
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
/* movss (%rdi), %xmm0; ret */
__attribute__((section(".text.code"), aligned(16))) const unsigned char code[] = {0xf3, 0x0f, 0x10, 0x07, 0xc3};
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    sum = ((float (*)(const float *))code)(at);
    give(y, sum);
}
