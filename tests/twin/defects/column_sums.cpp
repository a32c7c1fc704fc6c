/* Sums of columns: every core adds its rows to the output with atomics, after core 0 has cleared it. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 128, ROWS = 8;

class ColumnSums {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * ROWS * COLS, ROWS * COLS);
        yGm.SetGlobalBuffer((__gm__ float *)y, COLS);
        pipe.InitBuffer(inQueue, 2, COLS * sizeof(float));
        pipe.InitBuffer(outQueue, 1, COLS * sizeof(float));
        pipe.InitBuffer(sumBuf, COLS * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        if (GetBlockIdx() == 0) {
            Clear();
        }
        SyncAll();

        LocalTensor<float> sum = sumBuf.Get<float>();
        Duplicate(sum, 0.0f, COLS);
        for (uint32_t row = 0; row < ROWS; row++) {
            LocalTensor<float> x = inQueue.AllocTensor<float>();
            DataCopy(x, xGm[row * COLS], COLS);
            inQueue.EnQue(x);
            x = inQueue.DeQue<float>();
            Add(sum, sum, x, COLS);
            inQueue.FreeTensor(x);
        }
        LocalTensor<float> out = outQueue.AllocTensor<float>();
        Adds(out, sum, 0.0f, COLS);
        outQueue.EnQue(out);
        out = outQueue.DeQue<float>();
        SetAtomicAdd<float>();
        DataCopy(yGm, out, COLS);
        SetAtomicNone();
        outQueue.FreeTensor(out);
    }

private:
    __aicore__ inline void Clear()
    {
        LocalTensor<float> zero = outQueue.AllocTensor<float>();
        Duplicate(zero, 0.0f, COLS);
        outQueue.EnQue(zero);
        zero = outQueue.DeQue<float>();
        DataCopy(yGm, zero, COLS);
        outQueue.FreeTensor(zero);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<TPosition::VECCALC> sumBuf;
    GlobalTensor<float> xGm, yGm;
};

extern "C" __global__ __aicore__ void column_sums(GM_ADDR x, GM_ADDR y)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    ColumnSums op;
    op.Init(x, y);
    op.Process();
}
