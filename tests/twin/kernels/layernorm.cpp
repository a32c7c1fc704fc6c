/* z = (x - mean) / sqrt(var + 1e-5) over rows of 64: whole rows in UB, row sums by WholeReduceSum,
 * back over the row by Brcb and block stride 0. 16 rows. */
#include "frame.h"

constexpr int32_t ROWS = 16, COLS = 64;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<1> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In, In, Tmp tmp) {
        LocalTensor<float> sum = tmp.ReinterpretCast<float>();
        LocalTensor<float> spread = sum[64];
        LocalTensor<float> square = sum[64 + ROWS * 8];
        BinaryRepeatParams byRow(1, 1, 0, COLS / 8, COLS / 8, 1);
        WholeReduceSum(sum, x, COLS, ROWS, 1, 1, COLS / 8);
        PipeBarrier<PIPE_V>();
        Muls(sum, sum, 1.0f / COLS, ROWS);
        PipeBarrier<PIPE_V>();
        Brcb(spread, sum, ROWS / 8, {1, 8});
        PipeBarrier<PIPE_V>();
        Sub(out, x, spread, COLS, ROWS, byRow);
        PipeBarrier<PIPE_V>();
        Mul(square, out, out, ROWS * COLS);
        PipeBarrier<PIPE_V>();
        WholeReduceSum(sum, square, COLS, ROWS, 1, 1, COLS / 8);
        PipeBarrier<PIPE_V>();
        Muls(sum, sum, 1.0f / COLS, ROWS);
        Adds(sum, sum, 1e-5f, ROWS);
        Sqrt(sum, sum, ROWS);
        PipeBarrier<PIPE_V>();
        Brcb(spread, sum, ROWS / 8, {1, 8});
        PipeBarrier<PIPE_V>();
        Div(out, out, spread, COLS, ROWS, byRow);
    });
}
