/* A group of cores waits for another, twice: the first two write a number each round, the others add
 * what they find, and hand their sums over through the same kind of barrier. x: one value a core;
 * z: a cache line of 16 values a core; bar: what the two barriers need. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t LINE = 16, WRITERS = 2, READERS = 2, ROUNDS = 2;

__aicore__ inline void Clean(const GlobalTensor<int32_t> &line)
{
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(line);
}

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z, GM_ADDR bar)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    GlobalTensor<int32_t> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ int32_t *)x, 8);
    zGm.SetGlobalBuffer((__gm__ int32_t *)z, LINE * (WRITERS + READERS));
    GroupBarrier<PipeMode::MTE3_MODE> written(bar, WRITERS, READERS);
    GroupBarrier<> taken(bar + written.GetWorkspaceLen(), READERS, WRITERS);
    uint32_t me = GetBlockIdx();
    int32_t sum = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (me < WRITERS) {
            zGm.SetValue(LINE * me, xGm.GetValue(me) * int32_t(round));
            Clean(zGm[LINE * me]);
            written.Arrive(me);
            taken.Wait(me);
        } else {
            written.Wait(me - WRITERS);
            for (uint32_t i = 0; i < WRITERS; i++) {
                Clean(zGm[LINE * i]);
                sum += zGm.GetValue(LINE * i);
            }
            taken.Arrive(me - WRITERS);
        }
    }
    if (me >= WRITERS)
        zGm.SetValue(LINE * me, sum);
}
