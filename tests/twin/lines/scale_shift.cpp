/* y[r] = x[r] * gamma + beta[r]: gamma is loaded once, beta is one number of a row, read by the scalar unit. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr int32_t D = 256;

class ScaleShift {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, int32_t rows,
                                TPipe *tpipe)
    {
        pipe = tpipe;
        int32_t per = rows / GetBlockNum();
        row0 = per * GetBlockIdx();
        count = per;
        xg.SetGlobalBuffer((__gm__ half *)x);
        yg.SetGlobalBuffer((__gm__ half *)y);
        gg.SetGlobalBuffer((__gm__ half *)gamma, D);
        bg.SetGlobalBuffer((__gm__ float *)beta, rows);
        pipe->InitBuffer(inX, 2, D * sizeof(half));
        pipe->InitBuffer(outY, 2, D * sizeof(half));
        pipe->InitBuffer(inG, 1, D * sizeof(half));
        pipe->InitBuffer(f32, D * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        LocalTensor<half> g = inG.AllocTensor<half>();
        DataCopy(g, gg, D);
        inG.EnQue(g);
        g = inG.DeQue<half>();
        for (int32_t i = 0; i < count; i++) {
            CopyIn(row0 + i);
            Compute(row0 + i, g);
            CopyOut(row0 + i);
        }
        inG.FreeTensor(g);
    }

private:
    __aicore__ inline void CopyIn(int32_t r)
    {
        LocalTensor<half> x = inX.AllocTensor<half>();
        DataCopy(x, xg[r * D], D);
        inX.EnQue<half>(x);
    }

    __aicore__ inline void Compute(int32_t r, const LocalTensor<half> &g)
    {
        LocalTensor<half> x = inX.DeQue<half>();
        LocalTensor<half> y = outY.AllocTensor<half>();
        LocalTensor<float> f = f32.Get<float>();
        Mul(x, x, g, D);
        Cast(f, x, RoundMode::CAST_NONE, D);
        float shift = bg.GetValue(r);
        Adds(f, f, shift, D);
        Cast(y, f, RoundMode::CAST_RINT, D);
        outY.EnQue<half>(y);
        inX.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(int32_t r)
    {
        LocalTensor<half> y = outY.DeQue<half>();
        DataCopy(yg[r * D], y, D);
        outY.FreeTensor(y);
    }

    TPipe *pipe;
    TQue<TPosition::VECIN, 2> inX;
    TQue<TPosition::VECIN, 1> inG;
    TQue<TPosition::VECOUT, 2> outY;
    TBuf<> f32;
    GlobalTensor<half> xg, yg, gg;
    GlobalTensor<float> bg;
    int32_t row0, count;
};

extern "C" __global__ __aicore__ void scale_shift(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                  int32_t rows)
{
    TPipe pipe;
    ScaleShift op;
    op.Init(x, gamma, beta, y, rows, &pipe);
    op.Process();
}
