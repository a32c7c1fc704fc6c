/* WaitPreBlock without the NotifyNextBlock that belongs to it: each block waits its turn, and no
 * block ever hands the turn on. Source: asc-devkit, deterministic computing pages
 * (InitDetermineComputeWorkspace, WaitPreBlock, NotifyNextBlock), hang trap 5. The
 * device shows nothing and times out (507014).
 * run: --inout w=i32[1024] --blocks 3 */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void turns(GM_ADDR w)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 1024);
    LocalTensor<int32_t> words = room.Get<int32_t>();
    GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)w, 1024);
    InitDetermineComputeWorkspace(gm, words);
    WaitPreBlock(gm, words);
    NotifyNextBlock(gm, words);
}
