/* What a predicted time stands for: the range in which 8 of 10 measured times lay (interval.def). */
#include "npu/npu.h"

static const struct {
    NpuTimeClass class;
    double from, low, high;
    uint32_t rows;
} rows[] = {
#define INTERVAL(class, from, low, high, rows) {NPU_TIME_##class, from, low, high, rows},
#include "npu/interval.def"
#undef INTERVAL
};

NpuInterval npu_interval(NpuTimeClass class, double us)
{
    NpuInterval found = {us, us, 0};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].class == class && us >= rows[i].from)
            found = (NpuInterval){us * rows[i].low, us * rows[i].high, rows[i].rows};
    return found;
}

double npu_longest(double us)
{
    double longest = us;
    for (NpuTimeClass class = NPU_TIME_VECTOR; class <= NPU_TIME_MIXED; class ++) {
        double high = npu_interval(class, us).high;
        longest = high > longest ? high : longest;
    }
    return longest;
}

bool npu_is_faster(NpuTimeClass class, double us, double than)
{
    return us < npu_interval(class, than).low;
}
