/* TransData of [2, 20, 3, 5, 7] (planes of 35 pixels at 48) to NDC1HWC0 and FRACTAL_Z_3D and back, and, beside it,
 * Lgamma, Digamma in both their types, sums too large for half, and ReduceXorSum. */
#include "flat.h"

constexpr uint32_t CHANNELS = 20, DEPTH = 3, PIXELS = 35, PADDED = 48, VOLUME = 2 * CHANNELS * DEPTH * PADDED;
constexpr uint32_t BLOCKS = 2 * DEPTH * 32 * PIXELS, FRACTALS = DEPTH * 32 * PIXELS * 16, COUNT = 256;
constexpr TransDataConfig toBlocks = {DataFormat::NCDHW, DataFormat::NDC1HWC0}, fromBlocks = {DataFormat::NDC1HWC0, DataFormat::NCDHW};
constexpr TransDataConfig toFractals = {DataFormat::NCDHW, DataFormat::FRACTAL_Z_3D}, fromFractals = {DataFormat::FRACTAL_Z_3D, DataFormat::NCDHW};

template <typename T> __aicore__ inline void Volumes(GM_ADDR gx, GM_ADDR gb, GM_ADDR gf, uint32_t which)
{
    Flat flat(180 * 1024);
    LocalTensor<T> x = flat.In<T>(gx, VOLUME), out = flat.Room<T>(FRACTALS), back = flat.Zeros<T>(VOLUME);
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(4096);
    flat.Ready();
    auto planes = MakeLayout(MakeShape(2, CHANNELS, DEPTH, 5, 7), MakeStride());
    auto blocks = MakeLayout(MakeShape(2, DEPTH, 2, 5, 7, 16), MakeStride());
    auto fractals = MakeLayout(MakeShape(DEPTH, 2, 5, 7, 1, 16, 16), MakeStride());
    TransDataParams<decltype(planes), decltype(blocks)> a = {planes, blocks};
    TransDataParams<decltype(blocks), decltype(planes)> b = {blocks, planes};
    TransDataParams<decltype(planes), decltype(fractals)> c = {planes, fractals};
    TransDataParams<decltype(fractals), decltype(planes)> d = {fractals, planes};
    TransData<toBlocks>(out, x, tmp, a);
    PipeBarrier<PIPE_V>();
    TransData<fromBlocks>(back, out, b);
    uint32_t at = which * (BLOCKS + VOLUME);
    flat.Out(gb, at, out, BLOCKS);
    flat.Out(gb, at + BLOCKS, back, VOLUME);
    TransData<toFractals>(out, x, c);
    PipeBarrier<PIPE_V>();
    TransData<fromFractals>(back, out, tmp, d);
    at = which * (FRACTALS + VOLUME);
    flat.Out(gf, at, out, FRACTALS);
    flat.Out(gf, at + FRACTALS, back, VOLUME);
}

__aicore__ inline void Gammas(GM_ADDR gx, GM_ADDR floats, GM_ADDR halves, GM_ADDR sums)
{
    Flat flat;
    LocalTensor<float> x = flat.In<float>(gx, COUNT), out = flat.Room<float>(2 * COUNT);
    flat.Ready();
    LocalTensor<half> h = flat.Room<half>(COUNT), low = flat.Room<half>(2 * COUNT + 32);
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(8192);
    Lgamma(out, x, tmp, COUNT);
    Digamma(out[COUNT], x, COUNT);
    flat.Out(floats, 0, out, 2 * COUNT);
    Cast(h, x, RoundMode::CAST_RINT, COUNT);
    Lgamma(low, h, COUNT);
    Digamma(low[COUNT], h, tmp, COUNT);
    /* 60000 + 60000, held within the type and not */
    Duplicate(h, half(60000.0f), 16);
    AscendCUtils::SetOverflow(0);
    Add(low[2 * COUNT], h, h, 16);
    PipeBarrier<PIPE_ALL>();
    AscendCUtils::SetOverflow(1);
    Add(low[2 * COUNT + 16], h, h, 16);
    flat.Out(halves, 0, low, 2 * COUNT + 32);
    LocalTensor<int16_t> a = flat.Room<int16_t>(COUNT), b = flat.Room<int16_t>(COUNT), sum = flat.Zeros<int16_t>(32);
    Arange(a, int16_t(-100), int16_t(3), COUNT);
    Arange(b, int16_t(50), int16_t(-2), COUNT);
    PipeBarrier<PIPE_V>();
    ReduceXorSum(sum, a, b, tmp, 200);
    Arange(a, int16_t(1000), int16_t(1), COUNT);
    Duplicate(b, int16_t(0), COUNT);
    PipeBarrier<PIPE_V>();
    ReduceXorSum(sum[16], a, b, COUNT);
    flat.Out(sums, 0, sum, 32);
}

extern "C" __global__ __aicore__ void kernel(GM_ADDR v, GM_ADDR x, GM_ADDR blocks, GM_ADDR fractals, GM_ADDR floats, GM_ADDR halves, GM_ADDR sums)
{
    uint32_t core = GetBlockIdx();
    if (core == 0) Volumes<int16_t>(v, blocks, fractals, 0);
    if (core == 1) Volumes<uint16_t>(v, blocks, fractals, 1);
    if (core == 2) Volumes<half>(v, blocks, fractals, 2);
    if (core == 3) Volumes<bfloat16_t>(v, blocks, fractals, 3);
    if (core == 4) Gammas(x, floats, halves, sums);
}
