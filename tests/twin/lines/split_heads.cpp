/* y[h, r, :] = x[r, h, :]: one strided load of a head's columns of some rows, one plain store. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t HEADS = 6, DIM = 48, STEP = 12;

template <typename T> __aicore__ inline uint32_t bytes_of(uint32_t n) { return n * sizeof(T); }

class SplitHeads {
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    GlobalTensor<half> x, y;
    uint32_t rows;

    __aicore__ inline void Block(uint32_t head, uint32_t row, uint32_t n)
    {
        LocalTensor<half> t = in.AllocTensor<half>();
        DataCopyExtParams strided;
        strided.blockCount = n;
        strided.blockLen = bytes_of<half>(DIM);
        strided.srcStride = bytes_of<half>((HEADS - 1) * DIM);
        strided.dstStride = 0;
        DataCopyPadExtParams<half> noPad{false, 0, 0, 0};
        DataCopyPad(t, x[(row * HEADS + head) * DIM], strided, noPad);
        in.EnQue(t);

        t = in.DeQue<half>();
        LocalTensor<half> u = out.AllocTensor<half>();
        Adds(u, t, (half)0, n * DIM);
        out.EnQue(u);
        in.FreeTensor(t);

        u = out.DeQue<half>();
        DataCopy(y[(head * rows + row) * DIM], u, n * DIM);
        out.FreeTensor(u);
    }

public:
    __aicore__ inline void Init(GM_ADDR px, GM_ADDR py, uint32_t r)
    {
        rows = r;
        x.SetGlobalBuffer((__gm__ half *)px, rows * HEADS * DIM);
        y.SetGlobalBuffer((__gm__ half *)py, rows * HEADS * DIM);
        pipe.InitBuffer(in, 2, STEP * DIM * sizeof(half));
        pipe.InitBuffer(out, 2, STEP * DIM * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t head = GetBlockIdx(); head < HEADS; head += GetBlockNum()) {
            for (uint32_t row = 0; row < rows; row += STEP) {
                uint32_t left = rows - row;
                Block(head, row, left < STEP ? left : STEP);
            }
        }
    }
};

extern "C" __global__ __aicore__ void split_heads(GM_ADDR x, GM_ADDR y, uint32_t rows)
{
    SplitHeads op;
    op.Init(x, y, rows);
    op.Process();
}
