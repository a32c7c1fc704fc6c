/* SyncAll of all core types in a kernel that has vector cores only. Without its template flag
 * SyncAll also waits for cube cores, and none was launched. Source: asc-devkit, SyncAll page;
 * hang trap 2 of seven. The device shows nothing and times out (507014).
 * run: --inout w=i32[256] --blocks 4 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void phases(GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 32);
    GlobalTensor<int32_t> slots;
    slots.SetGlobalBuffer((__gm__ int32_t *)w);
    for (int phase = 0; phase < 2; phase++) {
        LocalTensor<int32_t> t = out.AllocTensor<int32_t>();
        Duplicate(t, phase, 8);
        out.EnQue(t);
        t = out.DeQue<int32_t>();
        DataCopy(slots[(GetBlockIdx() + phase) % GetBlockNum() * 8], t, 8);
        out.FreeTensor(t);
        SyncAll<false>(); // <-- S036
    }
}
