/* y = 2 x + 1 in two halves of a TBuf with events written by hand: while one half is computed on,
 * the other is loaded. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t TILE = 256, TILES = 8;

extern "C" __global__ __aicore__ void scale_events(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> inBuf, outBuf;
    pipe.InitBuffer(inBuf, 2 * TILE * sizeof(float));
    pipe.InitBuffer(outBuf, 2 * TILE * sizeof(float));

    GlobalTensor<float> xGm, yGm;
    uint32_t start = GetBlockIdx() * TILES * TILE;
    xGm.SetGlobalBuffer((__gm__ float *)x + start, TILES * TILE);
    yGm.SetGlobalBuffer((__gm__ float *)y + start, TILES * TILE);

    LocalTensor<float> in = inBuf.Get<float>();
    LocalTensor<float> out = outBuf.Get<float>();

    // both halves are free at the start
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::V_MTE2>(EVENT_ID1);
    SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_V>(EVENT_ID1);

    for (uint32_t i = 0; i < TILES; i++) {
        event_t id = i % 2 ? EVENT_ID1 : EVENT_ID0;
        uint32_t part = i % 2 * TILE;

        // load
        WaitFlag<HardEvent::V_MTE2>(id);
        DataCopy(in[part], xGm[i * TILE], TILE);
        SetFlag<HardEvent::MTE2_V>(id);

        // compute
        WaitFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE3_V>(id);
        Muls(out[part], in[part], 2.0f, TILE);
        SetFlag<HardEvent::V_MTE2>(id);
        PipeBarrier<PIPE_V>();
        Adds(out[part], out[part], 1.0f, TILE);
        SetFlag<HardEvent::V_MTE3>(id);

        // store
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(yGm[i * TILE], out[part], TILE);
        SetFlag<HardEvent::MTE3_V>(id);
    }

    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID1);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_V>(EVENT_ID1);
}
