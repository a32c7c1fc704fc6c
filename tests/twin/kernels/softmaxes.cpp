/* The softmax family over 16 rows of 64: statistics kept and used again, two steps of the online form, the
 * front part of the gradient, rows without any valid score. TYPE is float or half. */
#include "frame.h"

constexpr uint32_t ROWS = 16, COLS = 64, BLOCK = 32 / sizeof(TYPE);

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<2> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In, Tmp tmp) {
        SoftMaxShapeInfo shape{ROWS, COLS, ROWS, COLS};
        SoftMaxTiling tiling = SoftMaxFlashV2TilingFuncImpl(ROWS, COLS, sizeof(TYPE), sizeof(TYPE), 8192, true, false);
        LocalTensor<TYPE> sum = tmp[16384].ReinterpretCast<TYPE>(), max = tmp[17408].ReinterpretCast<TYPE>();
        LocalTensor<TYPE> factor = tmp[18432].ReinterpretCast<TYPE>(), step = tmp[20480].ReinterpretCast<TYPE>();
        SoftMax<TYPE>(step, sum, max, x, tmp, tiling, shape);
        SimpleSoftMax<TYPE>(out, sum, max, x, tmp, tiling, shape);
        /* online: x, then y; exp(y - m) in step, the sum over both in sum, exp(m_x - m) in factor */
        SoftmaxFlashV2<TYPE, false>(step, sum, max, x, factor, sum, max, tmp, tiling, shape);
        SoftmaxFlashV2<TYPE, true>(step, sum, max, y, factor, sum, max, tmp, tiling, shape);
        for (uint32_t r = 0; r < ROWS; r++) {
            DataCopy(out[LEN + r * 3 * BLOCK], sum[r * BLOCK], BLOCK);
            DataCopy(out[LEN + (r * 3 + 1) * BLOCK], max[r * BLOCK], BLOCK);
            DataCopy(out[LEN + (r * 3 + 2) * BLOCK], factor[r * BLOCK], BLOCK);
        }
        uint32_t at = LEN + ROWS * 3 * BLOCK;
        DataCopy(out[at], step, LEN);
        PipeBarrier<PIPE_V>();
        SoftmaxGradFront<TYPE>(out[at + LEN], x, y, tmp, tiling, shape);
        at += LEN + ROWS * BLOCK;
        /* a row whose maximum is the mark of "nothing here" becomes zeros */
        DataCopy(out[at], x, LEN);
        Duplicate(max, TYPE(1.0f), ROWS * BLOCK);
        PipeBarrier<PIPE_V>();
        Duplicate(max[3 * BLOCK], TYPE(-1.0f), BLOCK);
        PipeBarrier<PIPE_V>();
        uint32_t mark = sizeof(TYPE) == 2 ? 0xBC00 : 0xBF800000;
        bool any = AdjustSoftMaxRes<TYPE, TYPE>(out[at], max, mark, TYPE(0.0f), shape);
        bool none = AdjustSoftMaxRes<TYPE, TYPE>(out[at], max, 0x1234, TYPE(0.0f), shape);
        Duplicate(out[at + LEN], TYPE(any && !none ? 1.0f : 0.0f), BLOCK);
    });
}
