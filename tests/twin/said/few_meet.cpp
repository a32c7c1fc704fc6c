#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void some_meet(GM_ADDR x)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GlobalTensor<int32_t> g;
    g.SetGlobalBuffer((__gm__ int32_t *)x, 64);
    if (GetBlockIdx() < 1) {
        SyncAll();
    }
}
