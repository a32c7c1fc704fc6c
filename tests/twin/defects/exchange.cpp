/* Each core stores its row, all meet, each core adds its neighbour's row to its own. Two rounds. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t ROW = 256;

class Exchange {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR shared, GM_ADDR y)
    {
        uint32_t all = GetBlockNum() * ROW;
        xGm.SetGlobalBuffer((__gm__ float *)x, all);
        sharedGm.SetGlobalBuffer((__gm__ float *)shared, all);
        yGm.SetGlobalBuffer((__gm__ float *)y, all);
        pipe.InitBuffer(ownQueue, 1, ROW * sizeof(float));
        pipe.InitBuffer(otherQueue, 1, ROW * sizeof(float));
        pipe.InitBuffer(outQueue, 1, ROW * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        uint32_t me = GetBlockIdx(), next = (me + 1) % GetBlockNum();
        Load(ownQueue, xGm[me * ROW]);
        Double();
        Store(sharedGm[me * ROW]);
        SyncAll();

        Load(ownQueue, xGm[me * ROW]);
        Load(otherQueue, sharedGm[next * ROW]);
        AddOther();
        Store(yGm[me * ROW]);
    }

private:
    __aicore__ inline void Load(TQue<QuePosition::VECIN, 1> &queue, GlobalTensor<float> from)
    {
        LocalTensor<float> x = queue.AllocTensor<float>();
        DataCopy(x, from, ROW);
        queue.EnQue(x);
    }
    __aicore__ inline void Store(GlobalTensor<float> to)
    {
        LocalTensor<float> y = outQueue.DeQue<float>();
        DataCopy(to, y, ROW);
        outQueue.FreeTensor(y);
    }
    __aicore__ inline void Double()
    {
        LocalTensor<float> x = ownQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        Add(y, x, x, ROW);
        outQueue.EnQue(y);
        ownQueue.FreeTensor(x);
    }
    __aicore__ inline void AddOther()
    {
        LocalTensor<float> x = ownQueue.DeQue<float>();
        LocalTensor<float> z = otherQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        Add(y, x, z, ROW);
        outQueue.EnQue(y);
        ownQueue.FreeTensor(x);
        otherQueue.FreeTensor(z);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 1> ownQueue, otherQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<float> xGm, sharedGm, yGm;
};

extern "C" __global__ __aicore__ void exchange(GM_ADDR x, GM_ADDR shared, GM_ADDR y)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Exchange op;
    op.Init(x, shared, y);
    op.Process();
}
