/* Softmax of rows of 200 floats, one row after the other; rows are shared among the cores. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 200, PADDED = 256;

class SoftmaxRows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows)
    {
        rowsHere = rows / GetBlockNum();
        uint64_t start = (uint64_t)GetBlockIdx() * rowsHere * COLS;
        xGm.SetGlobalBuffer((__gm__ float *)x + start, rowsHere * COLS);
        yGm.SetGlobalBuffer((__gm__ float *)y + start, rowsHere * COLS);
        pipe.InitBuffer(inQueue, 2, PADDED * sizeof(float));
        pipe.InitBuffer(outQueue, 2, PADDED * sizeof(float));
        pipe.InitBuffer(workBuf, PADDED * sizeof(float));
        pipe.InitBuffer(resultBuf, 32);
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < rowsHere; row++) {
            CopyIn(row);
            Compute();
            CopyOut(row);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t row)
    {
        LocalTensor<float> x = inQueue.AllocTensor<float>();
        DataCopy(x, xGm[row * COLS], COLS);
        inQueue.EnQue(x);
    }
    __aicore__ inline void Compute()
    {
        LocalTensor<float> x = inQueue.DeQue<float>();
        LocalTensor<float> y = outQueue.AllocTensor<float>();
        LocalTensor<float> work = workBuf.Get<float>();
        LocalTensor<float> result = resultBuf.Get<float>();

        ReduceMax<float>(result, x, work, COLS, false);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        float largest = result.GetValue(0);
        SetFlag<HardEvent::S_V>(EVENT_ID0);
        WaitFlag<HardEvent::S_V>(EVENT_ID0);

        Adds(y, x, -largest, COLS);
        Exp(y, y, COLS);
        ReduceSum<float>(result, y, work, COLS);
        SetFlag<HardEvent::V_S>(EVENT_ID0);
        WaitFlag<HardEvent::V_S>(EVENT_ID0);
        float sum = result.GetValue(0);
        SetFlag<HardEvent::S_V>(EVENT_ID0);
        WaitFlag<HardEvent::S_V>(EVENT_ID0);

        Muls(y, y, 1.0f / sum, COLS);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t row)
    {
        LocalTensor<float> y = outQueue.DeQue<float>();
        DataCopy(yGm[row * COLS], y, COLS);
        outQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<TPosition::VECCALC> workBuf, resultBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t rowsHere;
};

extern "C" __global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, uint32_t rows)
{
    SoftmaxRows op;
    op.Init(x, y, rows);
    op.Process();
}
