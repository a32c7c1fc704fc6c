/* DropOut of 4 x 64: masks of bytes and of bits, each without and with room between rows (32 bytes a row more for
 * bytes, 24 for bits), the shapes telling which or the mode saying it. Then TopK of its rows: the 5 smallest of 32 (of
 * which 30 count) close together, the 3 largest of 64 with one row finished; indices count from 100. In half,
 * BilinearInterpolation of blocks back to front. */
#include "flat.h"

constexpr uint32_t ALL = 256;

__aicore__ inline void Top(Flat &flat, GM_ADDR gz, GM_ADDR gi, const LocalTensor<TYPE> &x)
{
    LocalTensor<TYPE> small = flat.Zeros<TYPE>(64), large = flat.Zeros<TYPE>(64);
    LocalTensor<int32_t> index = flat.Room<int32_t>(ALL), few = flat.Zeros<int32_t>(64), many = flat.Zeros<int32_t>(64);
    LocalTensor<uint8_t> finished = flat.Zeros<uint8_t>(32);
    Arange(index, 100, 1, ALL);
    flat.Ready();
    finished.SetValue(2, 1);
    flat.Ready();
    TopkTiling tiling = {};
    TopKInfo info;
    info.outter = 8;
    info.inner = 32;
    info.n = 30;
    LocalTensor<bool> none;
    TopK<TYPE, true, false, false, TopKMode::TOPK_NSMALL>(small, few, x, index, none, 5, tiling, info, false);
    info.outter = 4;
    info.inner = info.n = 64;
    TopK<TYPE, true, true>(large, many, x, index, finished.ReinterpretCast<bool>(), 3, tiling, info, true);
    flat.Out(gz, 4 * ALL, small, 64);
    flat.Out(gz, 4 * ALL + 64, large, 64);
    flat.Out(gi, 0, few, 64);
    flat.Out(gi, 64, many, 64);
}

/* Two iterations across, two down; weights are the first elements of x. */
__aicore__ inline void Blend(Flat &flat, GM_ADDR gz, const LocalTensor<half> &x)
{
    LocalTensor<half> out = flat.Zeros<half>(4 * ALL);
    LocalTensor<uint32_t> offset = flat.Room<uint32_t>(32);
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(16384);
    for (uint32_t i = 0; i < 32; i++) offset.SetValue(i, (31 - i) % 16 * 32);
    flat.Ready();
    uint64_t mask[2] = {0xFFFFFFFFFFFF00FFull, ~0ull};
    BilinearInterpolation(out, x, offset, x, 128, 2, false, 1, 128, 2, tmp);
    BilinearInterpolation(out[ALL], x, offset, x, mask, 2, true, 2, 384, 2, tmp);
    flat.Out(gz, 4 * ALL + 128, out, 4 * ALL);
}

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gb, GM_ADDR gl, GM_ADDR gm, GM_ADDR gn, GM_ADDR gz, GM_ADDR gi)
{
    Flat flat;
    LocalTensor<TYPE> x = flat.In<TYPE>(gx, ALL), out = flat.Room<TYPE>(4 * ALL);
    LocalTensor<uint8_t> bytes = flat.In<uint8_t>(gb, ALL), apart = flat.In<uint8_t>(gl, 4 * 96);
    LocalTensor<uint8_t> bits = flat.In<uint8_t>(gm, 32), spread = flat.In<uint8_t>(gn, 128), tmp = flat.Room<uint8_t>(4096);
    flat.Ready();
    DropOutShapeInfo info;
    info.firstAxis = 4;
    info.srcLastAxis = 64;
    info.maskLastAxis = 64;
    DropOut(out, x, bytes, tmp, 0.8f, info);
    info.maskLastAxis = 96;
    DropOut(out[ALL], x, apart, 0.8f, info);
    info.maskLastAxis = 8;
    DropOut<TYPE, false, 3>(out[2 * ALL], x, bits, tmp, 0.8f, info);
    info.maskLastAxis = 32;
    DropOut<TYPE, false, 4>(out[3 * ALL], x, spread, 0.8f, info);
    flat.Out(gz, 0, out, 4 * ALL);
    Top(flat, gz, gi, x);
    if constexpr (sizeof(TYPE) == 2) Blend(flat, gz, x.ReinterpretCast<half>());
}
