/* IBSet and IBWait with different event ids: block 1 waits for a word nobody writes. Source:
 * asc-devkit, IBSet/IBWait page, hang trap 4. The device shows nothing and times out
 * (507014).
 * run: --inout w=i32[1024] --blocks 2 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void chain(GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 1024);
    LocalTensor<int32_t> words = room.Get<int32_t>();
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)w, 1024);
    if (GetBlockIdx() == 0)
        InitOutput<int32_t>(gm, 1024, 0);
    SyncAll();
    if (GetBlockIdx() == 0)
        IBSet(gm, words, 0, 0);
    else
        IBWait(gm, words, 0, 0);
}
