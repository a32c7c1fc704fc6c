/* y = 2 x over a length that fills no block: big and small cores, a last tile of its own length,
 * padded copies for what is not a whole block. */
#include "frame.h"

constexpr uint32_t TILE = 96;

class KernelTail {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z)
    {
        uint32_t cores = GetBlockNum(), share = LEN / cores, rest = LEN % cores, me = GetBlockIdx();
        length = share + (me < rest ? 1 : 0);
        uint32_t start = share * me + (me < rest ? me : rest);
        xGm.SetGlobalBuffer((__gm__ TYPE *)x + start, length);
        zGm.SetGlobalBuffer((__gm__ TYPE *)z + start, length);
        pipe.InitBuffer(inQueue, 2, TILE * sizeof(TYPE));
        pipe.InitBuffer(outQueue, 2, TILE * sizeof(TYPE));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t at = 0; at < length; at += TILE) {
            uint32_t n = length - at < TILE ? length - at : TILE;
            CopyIn(at, n);
            Compute(n);
            CopyOut(at, n);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t at, uint32_t n)
    {
        LocalTensor<TYPE> x = inQueue.AllocTensor<TYPE>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(TYPE)), 0, 0, 0};
        DataCopyPadExtParams<TYPE> pad{false, 0, 0, 0};
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }
    __aicore__ inline void Compute(uint32_t n)
    {
        LocalTensor<TYPE> x = inQueue.DeQue<TYPE>();
        LocalTensor<TYPE> z = outQueue.AllocTensor<TYPE>();
        Muls(z, x, static_cast<TYPE>(2), n);
        outQueue.EnQue(z);
        inQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t at, uint32_t n)
    {
        LocalTensor<TYPE> z = outQueue.DeQue<TYPE>();
        DataCopyParams copy{1, static_cast<uint16_t>(n * sizeof(TYPE)), 0, 0};
        DataCopyPad(zGm[at], z, copy);
        outQueue.FreeTensor(z);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<TYPE> xGm, zGm;
    uint32_t length;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    KernelTail op;
    op.Init(gx, gz);
    op.Process();
}
