// z = 2 x + y: the race of axpy_broken.cpp is gone, one tile at a time.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t LENGTH = 2097152, TILE = 2048;

extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> xRoom, yRoom;
    pipe.InitBuffer(xRoom, TILE * sizeof(float));
    pipe.InitBuffer(yRoom, TILE * sizeof(float));
    LocalTensor<float> xTile = xRoom.Get<float>(), yTile = yRoom.Get<float>();
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)x, LENGTH);
    yGm.SetGlobalBuffer((__gm__ float *)y, LENGTH);
    zGm.SetGlobalBuffer((__gm__ float *)z, LENGTH);
    for (uint32_t at = GetBlockIdx() * TILE; at < LENGTH; at += GetBlockNum() * TILE) {
        DataCopy(xTile, xGm[at], TILE);
        DataCopy(yTile, yGm[at], TILE);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Axpy(yTile, xTile, 2.0f, TILE);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(zGm[at], yTile, TILE);
        SetFlag<HardEvent::MTE3_MTE2>(0);
        WaitFlag<HardEvent::MTE3_MTE2>(0);
    }
}
