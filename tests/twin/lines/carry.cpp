/* Sums that run on from core to core: each core adds what all before it left in the workspace. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t LEN = 512;
constexpr int32_t SLOT = 16;

class Carry {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR ws, TPipe &pipe)
    {
        core = GetBlockIdx();
        cores = GetBlockNum();
        xGm.SetGlobalBuffer((__gm__ int32_t *)x + core * LEN, LEN);
        yGm.SetGlobalBuffer((__gm__ int32_t *)y + core * LEN, LEN);
        wsGm.SetGlobalBuffer((__gm__ int32_t *)ws, cores * SLOT);
        pipe.InitBuffer(inQ, 1, LEN * sizeof(int32_t));
        pipe.InitBuffer(outQ, 1, LEN * sizeof(int32_t));
        pipe.InitBuffer(slotQ, 1, SLOT * sizeof(int32_t));
        pipe.InitBuffer(slots, 64 * SLOT * sizeof(int32_t));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<int32_t> x = inQ.AllocTensor<int32_t>();
        DataCopy(x, xGm, LEN);
        inQ.EnQue(x);
        x = inQ.DeQue<int32_t>();
        int32_t total = 0;
        LocalTensor<int32_t> y = outQ.AllocTensor<int32_t>();
        for (int32_t i = 0; i < LEN; i++) {
            total += x.GetValue(i);
            y.SetValue(i, total);
        }
        inQ.FreeTensor(x);
        Publish(total);
        SyncAll();
        int32_t before = Before();
        Adds(y, y, before, LEN);
        outQ.EnQue(y);
        y = outQ.DeQue<int32_t>();
        DataCopy(yGm, y, LEN);
        outQ.FreeTensor(y);
    }

private:
    __aicore__ inline void Publish(int32_t total)
    {
        LocalTensor<int32_t> mine = slotQ.AllocTensor<int32_t>();
        Duplicate(mine, total, SLOT);
        slotQ.EnQue(mine);
        mine = slotQ.DeQue<int32_t>();
        DataCopy(wsGm[core * SLOT], mine, SLOT);
        slotQ.FreeTensor(mine);
    }
    __aicore__ inline int32_t Before()
    {
        int32_t sum = 0;
        LocalTensor<int32_t> all = slots.Get<int32_t>();
        DataCopy(all, wsGm, cores * SLOT);
        SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
        for (int32_t i = 0; i < core; i++) {
            sum += all.GetValue(i * SLOT);
        }
        return sum;
    }

    TQue<TPosition::VECIN, 1> inQ;
    TQue<TPosition::VECOUT, 1> outQ, slotQ;
    TBuf<TPosition::VECCALC> slots;
    GlobalTensor<int32_t> xGm, yGm, wsGm;
    int32_t core, cores;
};

extern "C" __global__ __aicore__ void carry(GM_ADDR x, GM_ADDR y, GM_ADDR ws)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    TPipe pipe;
    Carry op;
    op.Init(x, y, ws, pipe);
    op.Process();
}
