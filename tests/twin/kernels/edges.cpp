/* Values at the edges through the calls kernels use: x holds NaN, infinities, zeros of both signs, the
 * greatest and least, subnormal; y the same turned round. Rows of 64 per call, and calls of no elements, which
 * must leave what is there. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<2> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In, Tmp tmp) {
        LocalTensor<half> h = tmp[4096].ReinterpretCast<half>();
        LocalTensor<int32_t> n = tmp[8192].ReinterpretCast<int32_t>();
        Max(out, x, y, 64);
        Min(out[64], x, y, 64);
        Relu(out[128], x, 64);
        Add(out[192], x, y, 64);
        Mul(out[256], x, y, 64);
        Div(out[320], x, y, 64);
        Exp(out[384], x, 64);
        Ln(out[448], x, 64);
        Sqrt(out[512], x, 64);
        Reciprocal(out[576], x, 64);
        Cast(h, x, RoundMode::CAST_RINT, 64);
        PipeBarrier<PIPE_V>();
        Cast(out[640], h, RoundMode::CAST_NONE, 64);
        Cast(n, x, RoundMode::CAST_TRUNC, 64);
        PipeBarrier<PIPE_V>();
        Cast(out[704], n, RoundMode::CAST_RINT, 64);
        Compare(tmp, x, y, CMPMODE::GE, 64);
        PipeBarrier<PIPE_V>();
        Select(out[768], tmp, x, 5.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
        Abs(out[832], x, 64);
        Maxs(out[896], x, 0.5f, 64);
        Mins(out[960], x, 0.5f, 64);
        PipeBarrier<PIPE_V>();
        /* nothing of this may be seen */
        Adds(out, out, 1.0f, 0);
        Duplicate(out[64], 9.0f, 0);
        Exp(out[128], x, 64, 0, UnaryRepeatParams());
        Add(out[192], x, y, uint64_t(0), 1, BinaryRepeatParams());
        ReduceMax(out[256], x, tmp.ReinterpretCast<float>(), 0);
        Cast(out[320], n, RoundMode::CAST_RINT, 0);
        DataCopy(out[384], x, DataCopyParams(0, 8, 0, 0));
    });
}
