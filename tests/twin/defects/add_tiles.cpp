/* z = x + y in tiles through queues; the last tile of a core may be shorter. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 512;

class AddTiles {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)
    {
        uint32_t share = (total + GetBlockNum() - 1) / GetBlockNum();
        share = (share + 15) / 16 * 16;
        uint32_t start = share * GetBlockIdx();
        length = start >= total ? 0 : total - start < share ? total - start : share;

        xGm.SetGlobalBuffer((__gm__ half *)x + start, length);
        yGm.SetGlobalBuffer((__gm__ half *)y + start, length);
        zGm.SetGlobalBuffer((__gm__ half *)z + start, length);

        pipe.InitBuffer(xQueue, 2, TILE * sizeof(half));
        pipe.InitBuffer(yQueue, 2, TILE * sizeof(half));
        pipe.InitBuffer(zQueue, 2, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        uint32_t tiles = (length + TILE - 1) / TILE;
        for (uint32_t i = 0; i < tiles; i++) {
            uint32_t count = i + 1 < tiles ? TILE : length - i * TILE;
            CopyIn(i * TILE, count);
            Compute(count);
            CopyOut(i * TILE, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t offset, uint32_t count)
    {
        LocalTensor<half> x = xQueue.AllocTensor<half>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        DataCopyPadExtParams<half> pad{false, 0, 0, 0};
        DataCopyPad(x, xGm[offset], copy, pad);
        DataCopyPad(y, yGm[offset], copy, pad);
        xQueue.EnQue(x);
        yQueue.EnQue(y);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        LocalTensor<half> x = xQueue.DeQue<half>();
        LocalTensor<half> y = yQueue.DeQue<half>();
        LocalTensor<half> z = zQueue.AllocTensor<half>();
        Add(z, x, y, count);
        zQueue.EnQue(z);
        xQueue.FreeTensor(x);
        yQueue.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(uint32_t offset, uint32_t count)
    {
        LocalTensor<half> z = zQueue.DeQue<half>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(half)), 0, 0, 0};
        DataCopyPad(zGm[offset], z, copy);
        zQueue.FreeTensor(z);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 2> zQueue;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void add_tiles(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)
{
    AddTiles op;
    op.Init(x, y, z, total);
    op.Process();
}
