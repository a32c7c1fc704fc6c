/* Running sums down and across a matrix of 20 x 48 (with the last row), remainders, and reductions along both
 * axes by their pattern. TYPE is float or half for the first three; reductions are of floats. out: two running
 * sums and remainders of 960 each, two last rows, then reductions: 7 of 48, 7 of 20 (24 apart). */
#include "frame.h"

constexpr uint32_t ROWS = 20, COLS = 48, ALL = ROWS * COLS;
constexpr CumSumConfig DOWN = {false, false, true}, ACROSS = {true, false, true};

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<2> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In, Tmp tmp) {
        Duplicate(out, TYPE(0.0f), OUT_LEN);
        PipeBarrier<PIPE_V>();
        CumSumInfo info{ROWS, COLS};
        LocalTensor<TYPE> down = out, across = out[ALL], last = out[3 * ALL], other = out[3 * ALL + 48];
        CumSum<TYPE, DOWN>(down, last, x, tmp, info);
        CumSum<TYPE, ACROSS>(across, other, x, info);
        Fmod(out[2 * ALL], x, y, tmp, ALL);
#if FLOATS
        const uint32_t shape[] = {ROWS, COLS};
        LocalTensor<float> to = out[3 * ALL + 96];
        ReduceSum<float, Pattern::Reduce::RA>(to, x, tmp, shape, true);
        ReduceMax<float, Pattern::Reduce::RA>(to[48], x, tmp, shape, true);
        ReduceMin<float, Pattern::Reduce::RA>(to[96], x, shape, true);
        ReduceMean<float, Pattern::Reduce::RA>(to[144], x, tmp, shape, true);
        ReduceProd<float, Pattern::Reduce::RA>(to[192], y, tmp, shape, true);
        ReduceAny<float, Pattern::Reduce::RA>(to[240], y, tmp, shape, true);
        ReduceAll<float, Pattern::Reduce::RA>(to[288], y, tmp, shape, true);
        to = to[336];
        ReduceSum<float, Pattern::Reduce::AR>(to, x, tmp, shape, true);
        ReduceMax<float, Pattern::Reduce::AR>(to[24], x, tmp, shape, true);
        ReduceMin<float, Pattern::Reduce::AR>(to[48], x, tmp, shape, true);
        ReduceMean<float, Pattern::Reduce::AR>(to[72], x, shape, true);
        ReduceProd<float, Pattern::Reduce::AR>(to[96], y, tmp, shape, true);
        ReduceAny<float, Pattern::Reduce::AR>(to[120], y, tmp, shape, true);
        ReduceAll<float, Pattern::Reduce::AR>(to[144], y, tmp, shape, true);
        TEventID id = GetTPipePtr()->FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(id);
        WaitFlag<HardEvent::S_MTE3>(id);
#endif
    });
}
