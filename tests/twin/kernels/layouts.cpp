/* Moving elements: transposes of 16 x 16 by the three ways to name rows (and of bytes, which fill half of
 * a block), images between [N,C,H,W] and [N,H,W,C], slices out of a matrix, padding with a set value,
 * broadcasting along both axes. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelLayouts {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR b, GM_ADDR z, GM_ADDR c, GM_ADDR p, GM_ADDR q,
                                GM_ADDR v)
    {
        xGm.SetGlobalBuffer((__gm__ half *)x, 256);
        bGm.SetGlobalBuffer((__gm__ int8_t *)b, 512);
        zGm.SetGlobalBuffer((__gm__ half *)z, 4 * 256);
        cGm.SetGlobalBuffer((__gm__ int8_t *)c, 512);
        pGm.SetGlobalBuffer((__gm__ half *)p, 96);
        qGm.SetGlobalBuffer((__gm__ half *)q, 192);
        vGm.SetGlobalBuffer((__gm__ int8_t *)v, 128);
        pipe.InitBuffer(buf, 32 * 1024);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<half> x = buf.GetWithOffset<half>(256, 0), z = buf.GetWithOffset<half>(1024, 1024);
        LocalTensor<int8_t> b = buf.GetWithOffset<int8_t>(512, 4096), c = buf.GetWithOffset<int8_t>(512, 5120);
        DataCopy(x, xGm, 256);
        DataCopy(b, bGm, 512);
        Sync<HardEvent::MTE2_V>();
        Transposes(z, x);
        Bytes(c, b);
        Broadcasts(z[512], x);
        Sync<HardEvent::V_MTE3>();
        DataCopy(zGm, z, 1024);
        DataCopy(cGm, c, 512);
        Images(x, b);
        Slices(buf.GetWithOffset<half>(256, 8192));
    }

private:
    __aicore__ inline void Transposes(const LocalTensor<half> &z, const LocalTensor<half> &x)
    {
        LocalTensor<half> to[16], from[16];
        __ubuf__ half *toRow[16], *fromRow[16];
        LocalTensor<uint64_t> names = buf.GetWithOffset<uint64_t>(32, 6144);
        TransDataTo5HDParams once(false, false, 1, 0, 0);
        for (int32_t i = 0; i < 16; i++) {
            to[i] = z[16 * i];
            from[i] = x[16 * i];
            toRow[i] = (__ubuf__ half *)z[256 + 16 * i].GetPhyAddr();
            fromRow[i] = (__ubuf__ half *)z[16 * i].GetPhyAddr();
        }
        TransDataTo5HD<half>(to, from, once);
        PipeBarrier<PIPE_V>();
        TransDataTo5HDImpl(toRow, fromRow, once);
        PipeBarrier<PIPE_V>();
        /* again with the rows named in UB, from the transposed one to the first */
        for (int32_t i = 0; i < 16; i++) {
            names.SetValue(i, (uint64_t)z[16 * i].GetPhyAddr());
            names.SetValue(16 + i, (uint64_t)x[16 * i].GetPhyAddr());
        }
        Sync<HardEvent::S_V>();
        TransDataTo5HD<half>(names, names[16], once);
        PipeBarrier<PIPE_V>();
    }
    /* Bytes: rows of 32, of which half a row goes at a time. */
    __aicore__ inline void Bytes(const LocalTensor<int8_t> &c, const LocalTensor<int8_t> &b)
    {
        for (int32_t high = 0; high < 2; high++) {
            LocalTensor<int8_t> to[16], from[16];
            for (int32_t i = 0; i < 16; i++) {
                to[i] = c[32 * i];
                from[i] = b[32 * i];
            }
            TransDataTo5HD<int8_t>(to, from, TransDataTo5HDParams(high, high, 1, 0, 0));
            PipeBarrier<PIPE_V>();
        }
    }
    /* Two images of 3 x 2 x 8 there and back, one of 4 x 4 x 8 bytes. */
    __aicore__ inline void Images(const LocalTensor<half> &x, const LocalTensor<int8_t> &b)
    {
        LocalTensor<half> t = buf.GetWithOffset<half>(192, 20480);
        LocalTensor<int8_t> u = buf.GetWithOffset<int8_t>(128, 21504);
        LocalTensor<uint8_t> room = buf.GetWithOffset<uint8_t>(3584, 24576);
        TransposeParamsExt images(2, 3, 2, 8, TransposeType::TRANSPOSE_NCHW2NHWC);
        Transpose(t, x, room, images);
        images.transposeType = TransposeType::TRANSPOSE_NHWC2NCHW;
        Transpose(t[96], t, room, images);
        Transpose(u, b, room, TransposeParamsExt(1, 4, 4, 8, TransposeType::TRANSPOSE_NCHW2NHWC));
        PipeBarrier<PIPE_ALL>();
        DataCopy(qGm, t, 192);
        DataCopy(vGm, u, 128);
    }
    __aicore__ inline void Broadcasts(const LocalTensor<half> &z, const LocalTensor<half> &x)
    {
        const uint32_t wide[] = {16, 16}, column[] = {16, 1}, row[] = {1, 16};
        LocalTensor<uint8_t> room = buf.GetWithOffset<uint8_t>(4096, 16384);
        Broadcast<half, 2, 1>(z, x, wide, column, room);
        Broadcast<int16_t, 2, 0>(z[256].ReinterpretCast<int16_t>(), x.ReinterpretCast<int16_t>(), wide, row);
    }
    /* Columns 16 to 31 of rows 2 to 5 of the matrix 8 x 32 that x is; then 10 elements padded by a value
     * that stands in the register. */
    __aicore__ inline void Slices(const LocalTensor<half> &t)
    {
        SliceInfo from[] = {{16, 31, 0, 1, 32}, {2, 5, 0, 1, 8}};
        SliceInfo dense[] = {{0, 15, 0, 1, 16}, {0, 3, 0, 1, 4}};
        Duplicate(t, half(0.0f), 256);
        Sync<HardEvent::V_MTE2>();
        DataCopy(t, xGm, dense, from, 2);
        SetPadValue(half(-3.0f));
        DataCopyPad(t[64], xGm, DataCopyExtParams(1, 10 * sizeof(half), 0, 0, 0), DataCopyPadExtParams<half>(false, 2, 4, half(0.0f)));
        Sync<HardEvent::MTE2_MTE3>();
        DataCopy(pGm, t, 64);
        DataCopyPad(pGm[64], t[64], DataCopyExtParams(1, 16 * sizeof(half), 0, 0, 0));
        SliceInfo last[] = {{80, 95, 0, 1, 96}};
        SliceInfo first[] = {{0, 15, 0, 1, 16}};
        DataCopy(pGm, t, last, first, 1);
    }
    template <HardEvent event> __aicore__ inline void Sync()
    {
        TEventID id = pipe.FetchEventID(event);
        SetFlag<event>(id);
        WaitFlag<event>(id);
    }

    TPipe pipe;
    TBuf<> buf;
    GlobalTensor<half> xGm, zGm, pGm, qGm;
    GlobalTensor<int8_t> bGm, cGm, vGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR b, GM_ADDR z, GM_ADDR c, GM_ADDR p,
                                             GM_ADDR q, GM_ADDR v)
{
    KernelLayouts op;
    op.Init(x, b, z, c, p, q, v);
    op.Process();
}
