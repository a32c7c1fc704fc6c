/* z = x + y over all cores: the queue idiom in its plainest form, two tiles in flight. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t TOTAL = 8 * 2048;
constexpr int32_t TILES = 8;
constexpr int32_t BUFFERS = 2;

class KernelAdd {
public:
    __aicore__ inline KernelAdd() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        block = TOTAL / GetBlockNum();
        tile = block / TILES / BUFFERS;
        xGm.SetGlobalBuffer((__gm__ half *)x + block * GetBlockIdx(), block);
        yGm.SetGlobalBuffer((__gm__ half *)y + block * GetBlockIdx(), block);
        zGm.SetGlobalBuffer((__gm__ half *)z + block * GetBlockIdx(), block);
        pipe.InitBuffer(inX, BUFFERS, tile * sizeof(half));
        pipe.InitBuffer(inY, BUFFERS, tile * sizeof(half));
        pipe.InitBuffer(outZ, BUFFERS, tile * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (int32_t i = 0; i < TILES * BUFFERS; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(int32_t i)
    {
        LocalTensor<half> x = inX.AllocTensor<half>();
        LocalTensor<half> y = inY.AllocTensor<half>();
        DataCopy(x, xGm[i * tile], tile);
        DataCopy(y, yGm[i * tile], tile);
        inX.EnQue(x);
        inY.EnQue(y);
    }
    __aicore__ inline void Compute()
    {
        LocalTensor<half> x = inX.DeQue<half>();
        LocalTensor<half> y = inY.DeQue<half>();
        LocalTensor<half> z = outZ.AllocTensor<half>();
        Add(z, x, y, tile);
        outZ.EnQue<half>(z);
        inX.FreeTensor(x);
        inY.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(int32_t i)
    {
        LocalTensor<half> z = outZ.DeQue<half>();
        DataCopy(zGm[i * tile], z, tile);
        outZ.FreeTensor(z);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFERS> inX, inY;
    TQue<QuePosition::VECOUT, BUFFERS> outZ;
    GlobalTensor<half> xGm, yGm, zGm;
    int32_t block, tile;
};

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    KernelAdd op;
    op.Init(x, y, z);
    op.Process();
}
