/* SoftmaxFlash over 16 rows of 64, first and second step, SoftmaxFlashV2 with the maximum of a step alone, and
 * SoftmaxFlashV3 over 8 rows of 640 in two steps. TYPE: float or half; V3 only where it is half. */
#include "flat.h"

constexpr uint32_t ROWS = 16, COLS = 64, ALL = ROWS * COLS, BLOCK = 32 / sizeof(TYPE), STATS = ROWS * BLOCK;
constexpr uint32_t LONG = 640, EIGHT = 8;

__aicore__ inline void Three(Flat &flat, GM_ADDR gm, const LocalTensor<half> &a, const LocalTensor<half> &b)
{
    LocalTensor<half> out = flat.Room<half>(EIGHT * LONG), factor = flat.Room<half>(EIGHT * 16);
    LocalTensor<float> mean = flat.Room<float>(64), sum = flat.Room<float>(64), max = flat.Room<float>(64);
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(16384);
    LocalTensor<half> stats = flat.Room<half>(EIGHT * 64);
    SoftMaxTiling tiling = {};
    SoftMaxParams params = {EIGHT, LONG, EIGHT, LONG, 1, 8, 0.9375f};
    SoftmaxFlashV3<half, float, false>(out, mean, sum, max, a, factor, mean, sum, max, tmp, tiling, params);
    flat.Out(gm, 0, out, EIGHT * LONG);
    params.loopCnt = 2;
    SoftmaxFlashV3<half, float, true>(out, mean, sum, max, b, factor, mean, sum, max, tiling, params);
    flat.Out(gm, EIGHT * LONG, out, EIGHT * LONG);
    Cast(stats, mean, RoundMode::CAST_RINT, 64);
    Cast(stats[64], sum, RoundMode::CAST_RINT, 64);
    Cast(stats[128], max, RoundMode::CAST_RINT, 64);
    DataCopy(stats[192], factor, EIGHT * 16);
    flat.Out(gm, 2 * EIGHT * LONG, stats, 192 + EIGHT * 16);
}

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gz, GM_ADDR gw)
{
    Flat flat;
    LocalTensor<TYPE> x = flat.In<TYPE>(gx, EIGHT * LONG), y = flat.In<TYPE>(gy, EIGHT * LONG);
    LocalTensor<TYPE> out = flat.Room<TYPE>(ALL), sum = flat.Room<TYPE>(STATS), max = flat.Room<TYPE>(STATS);
    LocalTensor<TYPE> factor = flat.Room<TYPE>(STATS), alone = flat.Room<TYPE>(STATS);
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(4096);
    flat.Ready();
    SoftMaxShapeInfo shape{ROWS, COLS, ROWS, COLS};
    SoftMaxTiling tiling = SoftMaxFlashV2TilingFunc(shape, sizeof(TYPE), sizeof(TYPE), 8192, true, false);
    SoftmaxFlash(out, sum, max, x, factor, sum, max, tmp, tiling, false, shape);
    flat.Out(gz, 0, out, ALL);
    SoftmaxFlash(out, sum, max, y, factor, sum, max, tiling, true, shape);
    flat.Out(gz, ALL, out, ALL);
    flat.Out(gz, 2 * ALL, sum, STATS);
    flat.Out(gz, 2 * ALL + STATS, max, STATS);
    flat.Out(gz, 2 * ALL + 2 * STATS, factor, STATS);
    SoftmaxFlashV2<TYPE, true>(out, alone, sum, max, x, factor, sum, max, tmp, tiling, shape);
    flat.Out(gz, 2 * ALL + 3 * STATS, alone, STATS);
    if constexpr (sizeof(TYPE) == 2) Three(flat, gw, x.ReinterpretCast<half>(), y.ReinterpretCast<half>());
}
