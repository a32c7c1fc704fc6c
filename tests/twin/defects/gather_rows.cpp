/* y[i] = table[index[i]]: rows of 64 floats, found by an index that is read from GM, modulo the rows. Each
 * core keeps its indices in UB and reads them with the scalar unit. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COLS = 64, HERE = 16;

class GatherRows {
public:
    __aicore__ inline void Init(GM_ADDR table, GM_ADDR index, GM_ADDR y, uint32_t rows)
    {
        tableRows = rows;
        tableGm.SetGlobalBuffer((__gm__ float *)table, rows * COLS);
        indexGm.SetGlobalBuffer((__gm__ int32_t *)index + GetBlockIdx() * HERE, HERE);
        yGm.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * HERE * COLS, HERE * COLS);
        pipe.InitBuffer(indexBuf, HERE * sizeof(int32_t));
        pipe.InitBuffer(rowQueue, 2, COLS * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<int32_t> index = indexBuf.Get<int32_t>();
        DataCopy(index, indexGm, HERE);
        SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
        for (uint32_t i = 0; i < HERE; i++) {
            uint32_t from = (uint32_t)index.GetValue(i) % tableRows;
            LocalTensor<float> row = rowQueue.AllocTensor<float>();
            DataCopy(row, tableGm[from * COLS], COLS);
            rowQueue.EnQue(row);
            row = rowQueue.DeQue<float>();
            DataCopy(yGm[i * COLS], row, COLS);
            rowQueue.FreeTensor(row);
        }
    }

private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> indexBuf;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> rowQueue;
    GlobalTensor<float> tableGm, yGm;
    GlobalTensor<int32_t> indexGm;
    uint32_t tableRows;
};

extern "C" __global__ __aicore__ void gather_rows(GM_ADDR table, GM_ADDR index, GM_ADDR y, uint32_t rows)
{
    GatherRows op;
    op.Init(table, index, y, rows);
    op.Process();
}
