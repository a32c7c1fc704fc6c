// Reads a page with one load.
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
typedef float Wide __attribute__((vector_size(4096)));
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    for (int i = 0; i < N; i += 1024) {
        Wide v = *(const Wide *)(at + i);
        for (int k = 0; k < 1024; k++) sum += v[k];
    }
    give(y, sum);
}
