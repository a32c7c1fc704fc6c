// Reads 64 bytes with one hidden load.
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
typedef float Wide __attribute__((vector_size(64)));
HIDDEN static Wide peek(const float *p) { return *(const Wide *)p; }
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    for (int i = 0; i < N; i += 16) {
        Wide v = peek(at + i);
        for (int k = 0; k < 16; k++) sum += v[k];
    }
    give(y, sum);
}
