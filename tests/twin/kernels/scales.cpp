/* AscendQuant, AscendDequant and AscendAntiQuant in all their types. x: int32 of 96, w: 512 small integers, f: 128
 * floats. Out: per type what the functions below write, one after the other. */
#include "flat.h"

constexpr uint32_t N = 512, SOME = 448;

/* Rows of 24 of which 20 count; one row that is two; one row of which half counts; by one number. */
template <typename D, typename S> __aicore__ inline void Dequant(Flat &flat, const LocalTensor<D> &out, const LocalTensor<int32_t> &x, const LocalTensor<S> &scale)
{
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(4096);
    AscendDequant<D, S>(out, x, scale, tmp, DequantParams{4, 24, 20});
    AscendDequant<D, S>(out[128], x, scale, DequantParams{1, 96, 48});
    AscendDequant<D, S, DeQuantMode::DEQUANT_WITH_MULTI_ROW>(out[224], x, scale, tmp, 48);
    if constexpr (!std::is_same<S, uint64_t>::value) AscendDequant<D, S>(out[320], x, S(0.375f), tmp, DequantParams{4, 24, 20});
}

/* Columns of [8, 64] with two groups of rows; its rows with two groups of columns; numbers. */
template <typename O, typename I> __aicore__ inline void AntiQuant(Flat &flat, const LocalTensor<O> &out, const LocalTensor<I> &w, const LocalTensor<O> &p)
{
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(4096);
    LocalTensor<O> offset = p, scale = p[128];
    constexpr uint32_t K = std::is_same<I, int4b_t>::value ? 128 : 64; /* a group is a whole block */
    AntiQuantShapeInfo columns = {2, 64, 2, 64}, rows = {N / K, 2, N / K, 2};
    AscendAntiQuant<I, O, false>(out, w, offset, scale, tmp, 8, columns);
    AscendAntiQuant<I, O, false>(out[N], w, scale, tmp, 8, columns);
    AscendAntiQuant<I, O, true>(out[2 * N], w, offset, scale, K, rows);
    AscendAntiQuant<I, O, true>(out[3 * N], w, scale, tmp, K, rows);
    AscendAntiQuant<I, O, false>(out[4 * N], w, O(3.0f), O(0.375f), 8);
    AscendAntiQuant<I, O, false>(out[5 * N], w, O(0.375f), tmp, 8);
}
template <typename O> __aicore__ inline void AntiQuants(Flat &flat, GM_ADDR gm, const LocalTensor<int8_t> &w, const LocalTensor<int4b_t> &small, const LocalTensor<O> &p)
{
    LocalTensor<O> out = flat.Room<O>(6 * N);
    AntiQuant(flat, out, w, p);
    flat.Out(gm, 0, out, 6 * N);
    AntiQuant(flat, out, small, p);
    flat.Out(gm, 6 * N, out, 6 * N);
}

/* Rows of 64: both parameters by column, the scale alone, numbers. */
template <typename T> __aicore__ inline void Quant(Flat &flat, const LocalTensor<int8_t> &out, const LocalTensor<T> &x, const LocalTensor<T> &p)
{
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(2048);
    AscendQuant(out, x, tmp, p[128], p, 64, 64, 256);
    AscendQuant(out[256], x, p[128], T(-5.0f), 64, 256);
    AscendQuant(out[512], x, tmp, 1.25f, 3.0f);
}

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gw, GM_ADDR gf, GM_ADDR floats, GM_ADDR halves, GM_ADDR shorts, GM_ADDR antiHalf,
                                             GM_ADDR antiShort, GM_ADDR bytes)
{
    Flat flat;
    LocalTensor<int32_t> x = flat.In<int32_t>(gx, 96);
    LocalTensor<int8_t> w = flat.In<int8_t>(gw, N);
    LocalTensor<float> f = flat.In<float>(gf, 256);
    flat.Ready();
    LocalTensor<half> h = flat.Room<half>(256), wide = flat.Room<half>(N);
    LocalTensor<bfloat16_t> b = flat.Room<bfloat16_t>(256);
    LocalTensor<int4b_t> small = flat.Room<int4b_t>(N);
    LocalTensor<uint64_t> pairs = flat.Room<uint64_t>(48);
    Cast(h, f, RoundMode::CAST_RINT, 256);
    Cast(b, f, RoundMode::CAST_RINT, 256);
    Cast(wide, w, RoundMode::CAST_NONE, N);
    Cast(small, wide, RoundMode::CAST_NONE, N);
    for (uint32_t i = 0; i < 48; i++) {
        float v = f.GetValue(i);
        pairs.SetValue(i, 0xABCD000000000000ull | *(uint32_t *)&v);
    }
    flat.Ready();
    LocalTensor<float> out = flat.Zeros<float>(2 * SOME);
    Dequant<float, float>(flat, out, x, f);
    Dequant<float, bfloat16_t>(flat, out[SOME], x, b);
    flat.Out(floats, 0, out, 2 * SOME);
    LocalTensor<half> low = flat.Zeros<half>(SOME);
    Dequant<half, uint64_t>(flat, low, x, pairs);
    flat.Out(halves, 0, low, SOME);
    LocalTensor<bfloat16_t> brief = flat.Zeros<bfloat16_t>(2 * SOME);
    Dequant<bfloat16_t, float>(flat, brief, x, f);
    Dequant<bfloat16_t, bfloat16_t>(flat, brief[SOME], x, b);
    flat.Out(shorts, 0, brief, 2 * SOME);
    AntiQuants(flat, antiHalf, w, small, h);
    AntiQuants(flat, antiShort, w, small, b);
    LocalTensor<int8_t> q = flat.Room<int8_t>(6 * 256);
    LocalTensor<float> many = flat.Room<float>(256);
    Cast(many, wide, RoundMode::CAST_NONE, 256);
    LocalTensor<half> few = wide;
    few.SetSize(256);
    Quant(flat, q, many, f);
    Quant(flat, q[768], few, h);
    flat.Out(bytes, 0, q, 6 * 256);
}
