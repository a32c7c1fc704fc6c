/* LayerNormGrad and LayerNormGradBeta of 16 rows, 40 columns of 48 that count. Out: the gradient of x, the
 * normalised x, 768 each, the gradients of gamma and beta, 48 each; a second time without scratch. */
#include "flat.h"

constexpr uint32_t ROWS = 16, PITCH = 48, COUNT = 40, ALL = ROWS * PITCH;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gd, GM_ADDR gx, GM_ADDR gg, GM_ADDR gm, GM_ADDR gv, GM_ADDR gz)
{
    Flat flat;
    LocalTensor<TYPE> dy = flat.In<TYPE>(gd, ALL), x = flat.In<TYPE>(gx, ALL), gamma = flat.In<TYPE>(gg, PITCH);
    LocalTensor<TYPE> mean = flat.In<TYPE>(gm, ROWS), variance = flat.In<TYPE>(gv, ROWS);
    LocalTensor<TYPE> out = flat.Zeros<TYPE>(4 * ALL), ends = out[2 * ALL];
    LocalTensor<uint8_t> tmp = flat.Room<uint8_t>(16384);
    flat.Ready();
    LayerNormGradTiling tiling = {};
    tiling.bLength = 2;
    tiling.sLength = ROWS / 2;
    tiling.hLength = PITCH;
    tiling.originalHLength = COUNT;
    LayerNormGradBetaTiling beta = {};
    beta.bLength = 2;
    beta.sLength = ROWS / 2;
    beta.hLength = PITCH;
    beta.originalHLength = COUNT;
    LayerNormGrad(out, out[ALL], dy, x, variance, mean, gamma, tmp, TYPE(1e-3f), tiling);
    LayerNormGradBeta(ends, ends[PITCH], out[ALL], dy, tmp, beta);
    flat.Out(gz, 0, out, 2 * ALL + 2 * PITCH);
    LayerNormGrad(out, out[ALL], dy, x, variance, mean, gamma, TYPE(1e-3f), tiling);
    LayerNormGradBeta(ends, ends[PITCH], out[ALL], dy, beta);
    flat.Out(gz, 2 * ALL + 2 * PITCH, out, 2 * ALL + 2 * PITCH);
}
