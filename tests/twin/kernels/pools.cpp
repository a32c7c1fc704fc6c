/* Buffers other than by a queue of one's own: pools that share a piece of UB one after the other, a pipe
 * that is reset for a second phase, tensors at fixed places, the rest of UB as scratch.
 * z = 2 x + 1 in the first half, by one pool and another; 3 x in the second, after Reset. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelPools {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x, 1024);
        zGm.SetGlobalBuffer((__gm__ float *)z, 1024);
        pipe.InitBufPool(one, 16384);
        pipe.InitBufPool(two, 16384, one);
    }
    __aicore__ inline void Process()
    {
        one.InitBuffer(in, 1, 256 * sizeof(float));
        one.InitBuffer(out, 1, 256 * sizeof(float));
        one.InitBuffer(work, 256 * sizeof(float));
        Double(0, work);
        one.Reset();
        two.InitBuffer(in, 2, 256 * sizeof(float));
        two.InitBuffer(out, 2, 256 * sizeof(float));
        two.InitBufPool(inner, 4096);
        inner.InitBuffer(late, 256 * sizeof(float));
        Double(256, late);
        two.Reset();
        pipe.Reset();
        Triple();
        pipe.Destroy();
    }

private:
    __aicore__ inline void Double(int32_t at, TBuf<> &scratch)
    {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, xGm[at], 256);
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> z = out.AllocTensor<float>(), t = scratch.Get<float>(), rest;
        PopStackBuffer<float, TPosition::LCM>(rest);
        Muls(rest, x, 2.0f, 256);
        PipeBarrier<PIPE_V>();
        Adds(t, rest, 1.0f, 256);
        PipeBarrier<PIPE_V>();
        Adds(z, t, 0.0f, 256);
        out.EnQue(z);
        in.FreeTensor(x);
        z = out.DeQue<float>();
        DataCopy(zGm[at], z, 256);
        out.FreeTensor(z);
    }
    __aicore__ inline void Triple()
    {
        TBuf<TPosition::VECCALC> all;
        pipe.InitBuffer(all, 4096);
        LocalTensor<float> x = all.AllocTensor<float>(), z = pipe.GetAbsAddr<TPosition::VECCALC, float>(2048, 512);
        TEventID id = pipe.AllocEventID<HardEvent::MTE2_V>();
        DataCopy(x, xGm[512], 512);
        all.EnQue(x);
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
        x = all.DeQue<float>();
        Muls(z, x, all.GetBufLen() == 4096 ? 3.0f : 0.0f, 512);
        id = pipe.FetchEventID<HardEvent::V_MTE3>();
        SetFlag<HardEvent::V_MTE3>(id);
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(zGm[512], z, 512);
        all.FreeTensor(x);
    }

    TPipe pipe;
    TBufPool<TPosition::VECCALC, 4> one, two, inner;
    TQue<QuePosition::VECIN, 2> in;
    TQue<QuePosition::VECOUT, 2> out;
    TBuf<> work, late;
    GlobalTensor<float> xGm, zGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z)
{
    KernelPools op;
    op.Init(x, z);
    op.Process();
}
