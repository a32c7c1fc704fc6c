// Reads 128 bytes with one load.
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
typedef float Wide __attribute__((vector_size(128)));
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    for (int i = 0; i < N; i += 32) {
        Wide v = *(const Wide *)(at + i);
        for (int k = 0; k < 32; k++) sum += v[k];
    }
    give(y, sum);
}
