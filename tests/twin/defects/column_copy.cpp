/* The first 32 of 96 columns of a matrix of half, 16 rows a tile: bursts with gaps, whose lengths are
 * counted in blocks of 32 bytes on the way in and in bytes on the way out. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint16_t ROWS = 16, COLS = 96, TAKEN = 32;

class ColumnCopy {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows)
    {
        tiles = rows / ROWS / GetBlockNum();
        uint32_t row = GetBlockIdx() * tiles * ROWS;
        xGm.SetGlobalBuffer((__gm__ half *)x + row * COLS, tiles * ROWS * COLS);
        yGm.SetGlobalBuffer((__gm__ half *)y + row * TAKEN, tiles * ROWS * TAKEN);
        pipe.InitBuffer(inQueue, 2, ROWS * TAKEN * sizeof(half));
        pipe.InitBuffer(outQueue, 2, ROWS * TAKEN * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; i++) {
            LocalTensor<half> x = inQueue.AllocTensor<half>();
            DataCopyParams in;
            in.blockCount = ROWS;
            in.blockLen = TAKEN * sizeof(half) / 32;
            in.srcStride = (COLS - TAKEN) * sizeof(half) / 32;
            in.dstStride = 0;
            DataCopy(x, xGm[i * ROWS * COLS], in);
            inQueue.EnQue(x);

            x = inQueue.DeQue<half>();
            LocalTensor<half> y = outQueue.AllocTensor<half>();
            Muls(y, x, half(2), ROWS * TAKEN);
            inQueue.FreeTensor(x);
            outQueue.EnQue(y);

            y = outQueue.DeQue<half>();
            DataCopyExtParams out;
            out.blockCount = ROWS;
            out.blockLen = TAKEN * sizeof(half);
            out.srcStride = 0;
            out.dstStride = 0;
            DataCopyPad(yGm[i * ROWS * TAKEN], y, out);
            outQueue.FreeTensor(y);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<half> xGm, yGm;
    uint32_t tiles;
};

extern "C" __global__ __aicore__ void column_copy(GM_ADDR x, GM_ADDR y, uint32_t rows)
{
    ColumnCopy op;
    op.Init(x, y, rows);
    op.Process();
}
