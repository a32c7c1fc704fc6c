// z = 2 x + y with two buffers for each tensor: copies and computation overlap.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t LENGTH = 2097152, TILE = 8192;

extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> xQueue, yQueue;
    TQue<TPosition::VECOUT, 2> zQueue;
    pipe.InitBuffer(xQueue, 2, TILE * sizeof(float));
    pipe.InitBuffer(yQueue, 2, TILE * sizeof(float));
    pipe.InitBuffer(zQueue, 2, TILE * sizeof(float));
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, LENGTH);
    yGm.SetGlobalBuffer((__gm__ float *)y, LENGTH);
    zGm.SetGlobalBuffer((__gm__ float *)z, LENGTH);
    for (uint32_t at = GetBlockIdx() * TILE; at < LENGTH; at += GetBlockNum() * TILE) {
        LocalTensor<float> xTile = xQueue.AllocTensor<float>();
        LocalTensor<float> yTile = yQueue.AllocTensor<float>();
        DataCopy(xTile, xGm[at], TILE);
        DataCopy(yTile, yGm[at], TILE);
        xQueue.EnQue(xTile);
        yQueue.EnQue(yTile);
        xTile = xQueue.DeQue<float>();
        yTile = yQueue.DeQue<float>();
        LocalTensor<float> zTile = zQueue.AllocTensor<float>();
        Muls(zTile, xTile, 2.0f, TILE);
        Add(zTile, zTile, yTile, TILE);
        xQueue.FreeTensor(xTile);
        yQueue.FreeTensor(yTile);
        zQueue.EnQue(zTile);
        zTile = zQueue.DeQue<float>();
        DataCopy(zGm[at], zTile, TILE);
        zQueue.FreeTensor(zTile);
    }
}
