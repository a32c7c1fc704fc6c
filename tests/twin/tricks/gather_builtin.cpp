// Reads by a gather of the host processor.
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
typedef float V __attribute__((vector_size(32)));
typedef int I __attribute__((vector_size(32)));
HIDDEN __attribute__((target("avx2"))) static float all(const float *p)
{
    float s = 0;
    V ones = {-1, -1, -1, -1, -1, -1, -1, -1};
    I at = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int i = 0; i < N; i += 8) {
        V v = __builtin_ia32_gathersiv8sf(V{}, p + i, at, ones, 4);
        for (int k = 0; k < 8; k++) s += v[k];
    }
    return s;
}
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    const float *at = (const float *)x;
    float sum = 0;
    sum = all(at);
    give(y, sum);
}
