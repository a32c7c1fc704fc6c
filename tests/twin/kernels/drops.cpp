/* DropOut of 4 x 64: masks of bytes and of bits, each without and with room between rows (32 bytes a row more for
 * bytes, 24 for bits), the shapes telling which or the mode saying it. */
#include "flat.h"

constexpr uint32_t ALL = 256;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gb, GM_ADDR gl, GM_ADDR gm, GM_ADDR gn, GM_ADDR gz)
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
}
