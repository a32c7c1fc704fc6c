/* y = x * sigmoid(x) in bfloat16, computed in float; scratch is one TBuf cut by hand. */
#include "kernel_operator.h"
using namespace AscendC;

#define LENGTH 640

template <int BUFFERS> struct SiluTiles {
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t tilesPerCore)
    {
        tiles = tilesPerCore;
        uint64_t skip = static_cast<uint64_t>(GetBlockIdx()) * tiles * LENGTH;
        src.SetGlobalBuffer((__gm__ bfloat16_t *)x + skip, tiles * LENGTH);
        dst.SetGlobalBuffer((__gm__ bfloat16_t *)y + skip, tiles * LENGTH);
        pipe.InitBuffer(inQ, BUFFERS, LENGTH * sizeof(bfloat16_t));
        pipe.InitBuffer(outQ, BUFFERS, LENGTH * sizeof(bfloat16_t));
        pipe.InitBuffer(tmp, 2 * LENGTH * sizeof(float));
        LocalTensor<float> all = tmp.Get<float>();
        value = all[0];
        denom = all[LENGTH];
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; ++i) {
            In(i);
            Calc();
            Out(i);
        }
    }
    __aicore__ inline void In(uint32_t i)
    {
        auto t = inQ.template AllocTensor<bfloat16_t>();
        DataCopy(t, src[i * LENGTH], LENGTH);
        inQ.EnQue(t);
    }
    __aicore__ inline void Calc()
    {
        auto t = inQ.template DeQue<bfloat16_t>();
        auto o = outQ.template AllocTensor<bfloat16_t>();
        Cast(value, t, RoundMode::CAST_NONE, LENGTH);
        PipeBarrier<PIPE_V>();
        Muls(denom, value, -1.0f, LENGTH);
        PipeBarrier<PIPE_V>();
        Exp(denom, denom, LENGTH);
        PipeBarrier<PIPE_V>();
        Adds(denom, denom, 1.0f, LENGTH);
        PipeBarrier<PIPE_V>();
        Div(value, value, denom, LENGTH);
        PipeBarrier<PIPE_V>();
        Cast(o, value, RoundMode::CAST_RINT, LENGTH);
        outQ.EnQue(o);
        inQ.FreeTensor(t);
    }
    __aicore__ inline void Out(uint32_t i)
    {
        auto o = outQ.template DeQue<bfloat16_t>();
        DataCopy(dst[i * LENGTH], o, LENGTH);
        outQ.FreeTensor(o);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFERS> inQ;
    TQue<QuePosition::VECOUT, BUFFERS> outQ;
    TBuf<TPosition::VECCALC> tmp;
    LocalTensor<float> value, denom;
    GlobalTensor<bfloat16_t> src, dst;
    uint32_t tiles;
};

extern "C" __global__ __aicore__ void silu_bf16(GM_ADDR x, GM_ADDR y, uint32_t tiles)
{
    SiluTiles<2> op;
    op.Init(x, y, tiles);
    op.Process();
}
