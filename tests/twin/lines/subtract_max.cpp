/* y = x - max(x) over the whole tensor: each core's maximum goes to the workspace, all cores synchronise, every core
 * reads all of them. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr int PER_CORE = 768;
constexpr int LINE = 8; // floats of a core in the workspace

class SubtractMax {
public:
    __aicore__ inline SubtractMax() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR best)
    {
        int me = GetBlockIdx();
        gx.SetGlobalBuffer((__gm__ float *)x + me * PER_CORE, PER_CORE);
        gy.SetGlobalBuffer((__gm__ float *)y + me * PER_CORE, PER_CORE);
        gb.SetGlobalBuffer((__gm__ float *)best, GetBlockNum() * LINE);
        pipe.InitBuffer(qx, 1, PER_CORE * sizeof(float));
        pipe.InitBuffer(qy, 1, PER_CORE * sizeof(float));
        pipe.InitBuffer(qb, 1, LINE * sizeof(float));
        pipe.InitBuffer(all, 64 * LINE * sizeof(float));
        pipe.InitBuffer(work, PER_CORE * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        Own();
        SyncAll();
        float largest = Largest();
        LocalTensor<float> x = Fetch();
        LocalTensor<float> y = qy.AllocTensor<float>();
        Adds(y, x, -largest, PER_CORE);
        qx.FreeTensor(x);
        qy.EnQue(y);
        y = qy.DeQue<float>();
        DataCopy(gy, y, PER_CORE);
        qy.FreeTensor(y);
    }

private:
    __aicore__ inline LocalTensor<float> Fetch()
    {
        LocalTensor<float> x = qx.AllocTensor<float>();
        DataCopy(x, gx, PER_CORE);
        qx.EnQue(x);
        return qx.DeQue<float>();
    }
    __aicore__ inline void Own()
    {
        LocalTensor<float> x = Fetch();
        LocalTensor<float> best = qb.AllocTensor<float>();
        LocalTensor<float> room = work.Get<float>();
        Duplicate(best, 0.0f, LINE);
        PipeBarrier<PIPE_V>();
        ReduceMax<float>(best, x, room, PER_CORE, false);
        qx.FreeTensor(x);
        qb.EnQue(best);
        best = qb.DeQue<float>();
        DataCopy(gb[GetBlockIdx() * LINE], best, LINE);
        qb.FreeTensor(best);
    }
    __aicore__ inline float Largest()
    {
        LocalTensor<float> lines = all.Get<float>();
        DataCopy(lines, gb, GetBlockNum() * LINE);
        event_t arrived = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_S));
        SetFlag<HardEvent::MTE2_S>(arrived);
        WaitFlag<HardEvent::MTE2_S>(arrived);
        float largest = lines.GetValue(0);
        for (int i = 1; i < GetBlockNum(); i++) {
            float other = lines.GetValue(i * LINE);
            largest = other > largest ? other : largest;
        }
        return largest;
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 1> qx;
    TQue<QuePosition::VECOUT, 1> qy, qb;
    TBuf<TPosition::VECCALC> all, work;
    GlobalTensor<float> gx, gy, gb;
};

extern "C" __global__ __aicore__ void subtract_max(GM_ADDR x, GM_ADDR y, GM_ADDR best)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    SubtractMax op;
    op.Init(x, y, best);
    op.Process();
}
