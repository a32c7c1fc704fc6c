// Is another kernel where nobody watches: asks the compiler for its instrumentation.
// want: not-compiled coverage_sanitizer
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    AscendC::GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)y, 64);
#if __has_feature(coverage_sani\
tizer)
    to.SetValue(0, 1.0f);
#endif
}
