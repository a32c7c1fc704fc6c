/* Least values and what stays in registers: per repeat, per block, of the whole, with the index, under
 * bit masks; sums and extremes read back from the special registers. TYPE is half or float; out holds
 * one answer per element in the order of the test's table. */
#include "frame.h"

constexpr int32_t LANES = 256 / sizeof(TYPE);
constexpr int32_t REPEATS = LEN / LANES;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<1> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In, In, Tmp tmp) {
        using Index = std::conditional_t<sizeof(TYPE) == 2, uint16_t, uint32_t>;
        LocalTensor<TYPE> t = tmp.ReinterpretCast<TYPE>(), work = t[256], found = t[128];
        LocalTensor<Index> at = found.ReinterpretCast<Index>();
        uint32_t next = 0;
        Duplicate(out, TYPE(0), OUT_LEN);
        auto say = [&](auto value) { out.SetValue(next++, TYPE(float(value))); };
        uint64_t odd[2] = {0xAAAAAAAAAAAAAAAAull, 0xAAAAAAAAAAAAAAAAull};
        uint64_t some[2] = {0xF0ull, 0ull};

        WholeReduceMin(t, x, LANES, REPEATS, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
        for (int32_t r = 0; r < REPEATS; r++) say(t.GetValue(r));
        WholeReduceMin(t, x, odd, REPEATS, 1, 1, 8);
        for (int32_t r = 0; r < REPEATS; r++) say(t.GetValue(2 * r));
        for (int32_t r = 0; r < REPEATS; r++) say(t.ReinterpretCast<Index>().GetValue(2 * r + 1));
        WholeReduceMax(t, x, some, REPEATS, 1, 1, 8, ReduceOrder::ORDER_INDEX_VALUE);
        for (int32_t r = 0; r < REPEATS; r++) say(t.ReinterpretCast<Index>().GetValue(2 * r));
        TYPE value, index;
        GetReduceMaxMinCount<TYPE>(value, index);
        say(value);
        GetReduceRepeatMaxMinSpr<TYPE>(value, index);
        say(value);
        GetReduceRepeatMaxMinSpr<TYPE>(value);
        say(value);

        BlockReduceMin(t, x, 1, LANES, 1, 1, 8);
        for (int32_t b = 0; b < 8; b++) say(t.GetValue(b));
        BlockReduceSum(t, x, 1, some, 1, 1, 8);
        say(t.GetValue(0));
        PairReduceSum(t, x, 1, odd, 1, 1, 8);
        say(t.GetValue(0));

        ReduceMin(found, x, work, LEN, true);
        say(found.GetValue(0));
        say(at.GetValue(1));
        ReduceMin(found, x, work, odd, REPEATS, 8, true);
        say(found.GetValue(0));
        say(at.GetValue(1));
        ReduceMax(found, x, work, LANES / 2, REPEATS, 8, false);
        say(found.GetValue(0));
        ReduceSum(found, x, work, some, REPEATS, 8);
        say(found.GetValue(0));
        ReduceSum(found, x, work, LANES);
        say(GetReduceRepeatSumSpr<TYPE>());
        say(GetAccVal<TYPE>());
        int64_t bits = GetAccVal();
        say(bits == get_acc_val());
        WholeReduceMax(t, x, LANES, 1, 1, 1, 8);
        GetReduceMaxMinCount<TYPE>(value);
        say(value);
        say(get_max_min_cnt() != 0);
        TEventID id = GetTPipePtr()->FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(id);
        WaitFlag<HardEvent::S_MTE3>(id);
    });
}
