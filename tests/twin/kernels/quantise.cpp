/* Conversions at the end of arithmetic, and dequantising. x, y: half; n, m: int16; w: int32. Out: bytes
 * of five products and sums, of three dequantised int16 (the last one in upper halves of blocks), and halves of five forms. 128 each. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t COUNT = 128;

class KernelQuantise {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR n, GM_ADDR m, GM_ADDR w, GM_ADDR bytes, GM_ADDR halves)
    {
        Open(xGm, xBuf, x);
        Open(yGm, yBuf, y);
        Open(nGm, nBuf, n);
        Open(mGm, mBuf, m);
        Open(wGm, wBuf, w);
        bytesGm.SetGlobalBuffer((__gm__ int8_t *)bytes, 9 * COUNT);
        halvesGm.SetGlobalBuffer((__gm__ half *)halves, 5 * COUNT);
        pipe.InitBuffer(bytesBuf, 9 * COUNT);
        pipe.InitBuffer(halvesBuf, 5 * COUNT * sizeof(half));
        pipe.InitBuffer(scaleBuf, 16 * sizeof(uint64_t));
    }
    __aicore__ inline void Process()
    {
        LocalTensor<half> x = Load<half>(xGm, xBuf), y = Load<half>(yGm, yBuf);
        LocalTensor<int16_t> n = Load<int16_t>(nGm, nBuf), m = Load<int16_t>(mGm, mBuf);
        LocalTensor<int32_t> w = Load<int32_t>(wGm, wBuf);
        LocalTensor<int8_t> bytes = bytesBuf.Get<int8_t>();
        LocalTensor<half> halves = halvesBuf.Get<half>();
        Sync<HardEvent::MTE2_V>();

        MulCast(bytes, x, y, uint32_t(COUNT));
        MulCast(bytes[COUNT].ReinterpretCast<uint8_t>(), x, y, 128, 1, BinaryRepeatParams(1, 1, 1, 4, 8, 8));
        AddReluCast(bytes[2 * COUNT], x, y, uint32_t(COUNT));
        SubReluCast(bytes[3 * COUNT], x, y, uint32_t(COUNT));
        AddReluCast(bytes[4 * COUNT], n, m, uint32_t(COUNT));

        SetDeqScale(0.5f, 3, true);
        Dense<int8_t, false>(bytes[5 * COUNT], n);
        SetDeqScale(0.25f, 100, false);
        Dense<uint8_t, false>(bytes[6 * COUNT].ReinterpretCast<uint8_t>(), n);
        float scale[VDEQ_TENSOR_SIZE];
        int16_t offset[VDEQ_TENSOR_SIZE];
        bool sign[VDEQ_TENSOR_SIZE];
        for (int32_t i = 0; i < VDEQ_TENSOR_SIZE; i++) {
            scale[i] = 0.125f * (i + 1);
            offset[i] = i - 8;
            sign[i] = true;
        }
        SetDeqScale(scaleBuf.Get<uint64_t>(), VdeqInfo(scale, offset, sign));
        Sync<HardEvent::S_V>();
        Duplicate(bytes[7 * COUNT].ReinterpretCast<int16_t>(), int16_t(0), COUNT);
        PipeBarrier<PIPE_V>();
        CastDequant<int8_t, int16_t>(bytes[7 * COUNT], n, uint32_t(COUNT));

        SetDeqScale(half(0.5f));
        Cast(halves, w, RoundMode::CAST_NONE, COUNT);
        AddDeqRelu(halves[COUNT], w, w, COUNT);
        CastDequant(halves[4 * COUNT], w, uint32_t(COUNT));
        DataCopy(halves[2 * COUNT], x, COUNT);
        DataCopy(halves[3 * COUNT], x, COUNT);
        PipeBarrier<PIPE_V>();
        MulAddRelu(halves[2 * COUNT], x, y, COUNT);
        FusedMulAddRelu(halves[3 * COUNT], y, x, 128, 1, BinaryRepeatParams());

        Sync<HardEvent::V_MTE3>();
        DataCopy(bytesGm, bytes, 9 * COUNT);
        DataCopy(halvesGm, halves, 5 * COUNT);
    }

private:
    /* Each block of 16 results fills half of a block: even blocks the lower, odd ones the upper half. */
    template <typename T, bool byColumn> __aicore__ inline void Dense(const LocalTensor<T> &to, const LocalTensor<int16_t> &from)
    {
        uint64_t half[2] = {~0ull, 0};
        CastDeq<T, int16_t, true, byColumn, false>(to, from, 64, 1, UnaryRepeatParams(1, 2, 8, 8));
        CastDequant<T, int16_t, true, byColumn, true>(to, from[16], half, 1, UnaryRepeatParams(1, 2, 8, 8));
        PipeBarrier<PIPE_V>();
    }
    template <typename T> __aicore__ inline void Open(GlobalTensor<T> &gm, TBuf<> &buf, GM_ADDR at)
    {
        gm.SetGlobalBuffer((__gm__ T *)at, COUNT);
        pipe.InitBuffer(buf, COUNT * sizeof(T));
    }
    template <typename T> __aicore__ inline LocalTensor<T> Load(const GlobalTensor<T> &gm, TBuf<> &buf)
    {
        LocalTensor<T> t = buf.Get<T>();
        DataCopy(t, gm, COUNT);
        return t;
    }
    template <HardEvent event> __aicore__ inline void Sync()
    {
        TEventID id = pipe.FetchEventID(event);
        SetFlag<event>(id);
        WaitFlag<event>(id);
    }

    TPipe pipe;
    TBuf<> xBuf, yBuf, nBuf, mBuf, wBuf, bytesBuf, halvesBuf, scaleBuf;
    GlobalTensor<half> xGm, yGm, halvesGm;
    GlobalTensor<int16_t> nGm, mGm;
    GlobalTensor<int32_t> wGm;
    GlobalTensor<int8_t> bytesGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR n, GM_ADDR m, GM_ADDR w, GM_ADDR bytes, GM_ADDR halves)
{
    KernelQuantise op;
    op.Init(x, y, n, m, w, bytes, halves);
    op.Process();
}
