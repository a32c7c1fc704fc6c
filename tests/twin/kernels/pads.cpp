/* Pad, UnPad and the transposes of a ConfusionTransposeTiling on elements of 16 and 32 bits, in every type they
 * have. x, y: element i is i. Out: per type 6 x 16 padded left and right, 6 x 16 padded behind 13, 66 unpadded,
 * then the transposes. */
#include "flat.h"

constexpr uint32_t PADDED = 96, UNPADDED = 66, PART = 4096, PER_TYPE = 512 + 11 * PART;

template <typename T> class Pads {
public:
    __aicore__ inline Pads(GM_ADDR from, GM_ADDR to, uint32_t which) : gm(to), base(which * PER_TYPE)
    {
        x = flat.In<T>(from, PART);
        flat.Ready();
    }
    __aicore__ inline void Process()
    {
        LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(1024);
        LocalTensor<T> out = flat.Zeros<T>(PADDED);
        PadTiling pad = {};
        pad.srcHeight = 6;
        pad.srcWidth = pad.srcOriWidth = 11;
        PadParams both(2, 3, 7), right(0, 3, 7);
        Pad(out, x, both, tmp, pad);
        flat.Out(gm, base, out, PADDED);
        pad.srcWidth = 16;
        pad.srcOriWidth = 13;
        Pad(out, x, right, pad);
        flat.Out(gm, base + PADDED, out, PADDED);
        UnPadTiling unpad = {};
        unpad.srcHeight = 6;
        unpad.srcWidth = 16;
        UnPadParams five(0, 5);
        UnPad(out, x, five, tmp, unpad);
        flat.Out(gm, base + 2 * PADDED, out, UNPADDED);
        Turn(0, TransposeType::TRANSPOSE_ND2ND_ONLY, Shape(32, 16));
        Turn(1, TransposeType::TRANSPOSE_NZ2ND_0213, Shape(2, 2, 32, 16));
        Turn(2, TransposeType::TRANSPOSE_NZ2NZ_0213, Shape(1, 4, 16, 16));
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t d = k ? 24 : 16;
            Turn(3 + k * 4, TransposeType::TRANSPOSE_NZ2NZ_012_WITH_N, Heads(d, 7));
            Turn(4 + k * 4, TransposeType::TRANSPOSE_NZ2ND_012_WITH_N, Heads(d, 6));
            Turn(5 + k * 4, TransposeType::TRANSPOSE_NZ2ND_012_WITHOUT_N, Heads(d, 6));
            Turn(6 + k * 4, TransposeType::TRANSPOSE_NZ2NZ_012_WITHOUT_N, Heads(d, 6));
        }
    }

private:
    __aicore__ inline ConfusionTransposeTiling Shape(uint32_t p1, uint32_t p2, uint32_t p3 = 0, uint32_t p4 = 0)
    {
        ConfusionTransposeTiling t = {};
        t.param1 = p1;
        t.param2 = p2;
        t.param3 = p3;
        t.param4 = p4;
        return t;
    }
    /* one batch, two heads of d columns, 16 rows: one fractal high, told in the parameter the layout keeps it in */
    __aicore__ inline ConfusionTransposeTiling Heads(uint32_t d, uint32_t where)
    {
        ConfusionTransposeTiling t = Shape(1, 2, d);
        if (where == 6) t.param6 = 1;
        else t.param7 = 1;
        return t;
    }
    __aicore__ inline void Turn(uint32_t k, TransposeType type, ConfusionTransposeTiling tiling)
    {
        LocalTensor<T> out = flat.Zeros<T>(PART);
        if (k % 2) Transpose(out, x, type, tiling);
        else ConfusionTranspose(out, x, out.template ReinterpretCast<uint8_t>(), type, tiling);
        flat.Out(gm, base + 512 + k * PART, out, PART);
        flat.Drop();
        flat.Room<T>(PART);
    }
    Flat flat;
    GM_ADDR gm;
    uint32_t base;
    LocalTensor<T> x;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR words, GM_ADDR longs)
{
    uint32_t core = GetBlockIdx();
    if (core == 0) Pads<int16_t>(x, words, 0).Process();
    if (core == 1) Pads<uint16_t>(x, words, 1).Process();
    if (core == 2) Pads<half>(x, words, 2).Process();
    if (core == 3) Pads<int32_t>(y, longs, 0).Process();
    if (core == 4) Pads<uint32_t>(y, longs, 1).Process();
    if (core == 5) Pads<float>(y, longs, 2).Process();
}
