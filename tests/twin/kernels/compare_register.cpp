/* Comparing into the compare register and choosing by it: a repeat of 64 at a time. out = x < y ? x : y
 * in the first half by the register as Compare left it, the second half after the register went to UB and
 * back with its bits turned over. Then bits made by Compares choose against a scalar. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<2> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In, Tmp tmp) {
        BinaryRepeatParams dense;
        LocalTensor<uint64_t> words = tmp.ReinterpretCast<uint64_t>();
        LocalTensor<uint16_t> shorts = tmp.ReinterpretCast<uint16_t>();
        for (int32_t i = 0; i < LEN / 2; i += 64) {
            uint64_t all[2] = {~0ull, 0ull};
            Compare(x[i], y[i], CMPMODE::LT, all, dense);
            Select<float, SELMODE::VSEL_CMPMASK_SPR>(out[i], x[i], y[i], 1, dense);
        }
        for (int32_t i = LEN / 2; i < 3 * LEN / 4; i += 64) {
            Compare(x[i], y[i], CMPMODE::GE, 64, dense);
            PipeBarrier<PIPE_V>();
            GetCmpMask(words);
            TEventID id = GetTPipePtr()->FetchEventID(HardEvent::S_V);
            SetFlag<HardEvent::S_V>(id);
            WaitFlag<HardEvent::S_V>(id);
            Not(shorts, shorts, 8);
            id = GetTPipePtr()->FetchEventID(HardEvent::V_S);
            SetFlag<HardEvent::V_S>(id);
            WaitFlag<HardEvent::V_S>(id);
            SetCmpMask(words);
            Select<float, SELMODE::VSEL_CMPMASK_SPR>(out[i], x[i], y[i], 1, dense);
        }
        int32_t i = 3 * LEN / 4;
        Compares(tmp, x[i], 0.25f, CMPMODE::LE, LEN / 4);
        PipeBarrier<PIPE_V>();
        Select(out[i], tmp, x[i], 0.25f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64, LEN / 256, dense);
    });
}
