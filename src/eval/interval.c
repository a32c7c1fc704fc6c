/* The stated error of a prediction; see interval.h. */
#include "eval/interval.h"
#include <string.h>

NpuTimeClass eval_time_class(const Verdict *verdict)
{
    bool vector = false, cube = false;
    for (uint32_t i = 0; i < verdict->pipes.len; i++) {
        const VerdictPipe *pipe = &verdict->pipes.at[i];
        vector |= pipe->cycles > 0 && !strcmp(pipe->name, "aiv_vec");
        cube |= pipe->cycles > 0 && !strcmp(pipe->name, "aic_mac");
    }
    return !cube ? NPU_TIME_VECTOR : vector ? NPU_TIME_MIXED : NPU_TIME_CUBE;
}

NpuInterval eval_interval(const Verdict *verdict)
{
    if (!(verdict->predicted_us > 0))
        return (NpuInterval){0};
    return npu_interval(eval_time_class(verdict), verdict->predicted_us);
}

void eval_put_predicted(const Verdict *verdict, Buf *out)
{
    NpuInterval interval = eval_interval(verdict);
    buf_printf(out, "%.1f us, %.1f to %.1f", verdict->predicted_us, interval.low, interval.high);
}
