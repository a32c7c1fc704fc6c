/* More blocks than the chip has cores, and a barrier of all of them: the blocks that run stand at
 * SyncAll, those that would free them are never started. The fix launches one block per core and
 * lets each take several parts. Source: asc-devkit, SyncAll page, hang trap 3. The
 * device shows nothing and times out (507014).
 * run: --inout w=i32[1024] --blocks 64 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void phases(GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, 32);
    GlobalTensor<int32_t> slots;
    slots.SetGlobalBuffer((__gm__ int32_t *)w);
    for (int phase = 0; phase < 2; phase++) {
        for (int part = GetBlockIdx(); part < 64; part += GetBlockNum()) {
            LocalTensor<int32_t> t = out.AllocTensor<int32_t>();
            Duplicate(t, phase, 8);
            out.EnQue(t);
            t = out.DeQue<int32_t>();
            DataCopy(slots[(part + phase) % 64 * 8], t, 8);
            out.FreeTensor(t);
        }
        SyncAll(); // <-- S036
    }
}
