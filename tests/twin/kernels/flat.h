/* A test kernel without queues: one buffer of UB handed out piece by piece, inputs copied in, results copied out.
 * Ready() stands between what different pipes do. */
#ifndef TESTS_TWIN_FLAT_H
#define TESTS_TWIN_FLAT_H

#include "kernel_operator.h"

using namespace AscendC;

class Flat {
public:
    __aicore__ inline Flat(uint32_t bytes = 120 * 1024) { pipe.InitBuffer(buf, bytes); }
    template <typename T> __aicore__ inline LocalTensor<T> Room(uint32_t n)
    {
        LocalTensor<T> t = buf.GetWithOffset<T>(n, used);
        used += (n * sizeof(T) + 255) / 256 * 256;
        return t;
    }
    /* Elements filled with zero bits. */
    template <typename T> __aicore__ inline LocalTensor<T> Zeros(uint32_t n)
    {
        LocalTensor<T> t = Room<T>(n);
        Duplicate(t.template ReinterpretCast<int16_t>(), int16_t(0), int32_t(n * sizeof(T) / 2));
        PipeBarrier<PIPE_V>();
        return t;
    }
    template <typename T> __aicore__ inline LocalTensor<T> In(GM_ADDR gm, uint32_t n)
    {
        GlobalTensor<T> from;
        from.SetGlobalBuffer((__gm__ T *)gm, n);
        LocalTensor<T> t = Room<T>(n);
        DataCopyPad(t, from, DataCopyExtParams(1, n * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>(false, 0, 0, T(0)));
        return t;
    }
    template <typename T> __aicore__ inline void Out(GM_ADDR gm, uint32_t at, const LocalTensor<T> &t, uint32_t n)
    {
        GlobalTensor<T> to;
        to.SetGlobalBuffer((__gm__ T *)gm + at, n);
        Ready();
        DataCopyPad(to, t, DataCopyExtParams(1, n * sizeof(T), 0, 0, 0));
        Ready();
    }
    __aicore__ inline void Ready() { PipeBarrier<PIPE_ALL>(); }
    __aicore__ inline void Drop() { used = 0; }

private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> buf;
    uint32_t used = 0;
};

#endif
