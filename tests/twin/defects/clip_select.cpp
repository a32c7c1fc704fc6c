/* y = x where x > 0, else slope * x, with a comparison and a selection. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 1024;

class ClipSelect {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t tiles)
    {
        tilesHere = tiles / GetBlockNum();
        uint32_t start = GetBlockIdx() * tilesHere * TILE;
        xGm.SetGlobalBuffer((__gm__ float *)x + start, tilesHere * TILE);
        yGm.SetGlobalBuffer((__gm__ float *)y + start, tilesHere * TILE);
        pipe.InitBuffer(inQueue, 2, TILE * sizeof(float));
        pipe.InitBuffer(outQueue, 2, TILE * sizeof(float));
        pipe.InitBuffer(maskBuf, TILE / 8);
        pipe.InitBuffer(smallBuf, TILE * sizeof(float));
    }
    __aicore__ inline void Process(float slope)
    {
        for (uint32_t i = 0; i < tilesHere; i++) {
            LocalTensor<float> x = inQueue.AllocTensor<float>();
            DataCopy(x, xGm[i * TILE], TILE);
            inQueue.EnQue(x);

            x = inQueue.DeQue<float>();
            LocalTensor<float> y = outQueue.AllocTensor<float>();
            LocalTensor<uint8_t> mask = maskBuf.Get<uint8_t>();
            LocalTensor<float> small = smallBuf.Get<float>();
            Muls(small, x, slope, TILE);
            CompareScalar(mask, x, 0.0f, CMPMODE::GT, TILE);
            Select(y, mask, x, small, SELMODE::VSEL_TENSOR_TENSOR_MODE, TILE);
            outQueue.EnQue(y);
            inQueue.FreeTensor(x);

            y = outQueue.DeQue<float>();
            DataCopy(yGm[i * TILE], y, TILE);
            outQueue.FreeTensor(y);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    TBuf<TPosition::VECCALC> maskBuf, smallBuf;
    GlobalTensor<float> xGm, yGm;
    uint32_t tilesHere;
};

extern "C" __global__ __aicore__ void clip_select(GM_ADDR x, GM_ADDR y, uint32_t tiles, float slope)
{
    ClipSelect op;
    op.Init(x, y, tiles);
    op.Process(slope);
}
