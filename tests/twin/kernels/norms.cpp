/* Normalisations over batches, groups and in parts, of 16 x 64: BatchNorm over the first axis, GroupNorm of
 * [2, 8, 64] in 4 groups, DeepNorm, Normalize with statistics from outside, Welford in four steps of a row
 * of 64. out: five results of 1024, then the statistics. */
#include "frame.h"

constexpr uint32_t ROWS = 16, COLS = 64;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<3> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In w, Tmp tmp) {
        LocalTensor<TYPE> stats = out[4 * LEN];
        LocalTensor<float> f = tmp[24576].ReinterpretCast<float>();
        Duplicate(out, TYPE(0.0f), OUT_LEN);
        PipeBarrier<PIPE_V>();
        /* gamma and beta are the first elements of y and w */
        BatchNormTiling batch = {};
        batch.originalBLength = ROWS;
        batch.meanVarSize = COLS;
        BatchNorm(out, stats, stats[64], x, y, w, tmp, TYPE(1e-3f), batch);
        GroupNormTiling group = {};
        group.n = 2;
        group.c = 8;
        group.g = 4;
        group.d = 2;
        group.hw = group.hwAlignSize = COLS;
        GroupNorm(out[LEN], stats[128], stats[192], x, y, w, tmp, TYPE(1e-3f), group);
        DeepNormTiling deep = {};
        deep.bLength = 1;
        deep.sLength = ROWS;
        deep.hLength = deep.originalHLength = COLS;
        DeepNorm(out[2 * LEN], stats[256], stats[320], x, y, w, y, tmp, TYPE(0.5f), TYPE(1e-3f), deep);
        /* means and variances that the scalar unit made up */
        LocalTensor<float> mean = f, variance = f[64], rstd = f[128];
        for (uint32_t r = 0; r < ROWS; r++) {
            mean.SetValue(r, 0.25f * r);
            variance.SetValue(r, 1.0f + r);
        }
        Normalize<TYPE, TYPE>(out[3 * LEN], rstd, mean, variance, x, y, w, tmp, 1e-3f, NormalizePara{ROWS, COLS, COLS});
        /* Welford: rows 0 to 3 seen one after the other, then one mean and one variance of all 4 x 64 */
        LocalTensor<float> m = f[256], v = f[320], end = f[384];
        Duplicate(m, 0.0f, COLS);
        Duplicate(v, 0.0f, COLS);
        PipeBarrier<PIPE_V>();
        for (uint32_t r = 0; r < 4; r++) {
            WelfordUpdate<TYPE, float>(m, v, m, v, x[r * COLS], tmp, WelfordUpdateParam{1, COLS, COLS, 1.0f / (r + 1)});
            PipeBarrier<PIPE_V>();
        }
        WelfordFinalizePara para = {4, COLS, 0, 0, 0, 0, 1.0f / COLS, 1.0f / (4 * COLS)};
        WelfordFinalize(end, end[8], m, v, tmp, para);
        /* the same with the last row seen in part: its first 40 columns counted four times, the others three */
        Duplicate(m, 0.0f, COLS);
        Duplicate(v, 0.0f, COLS);
        PipeBarrier<PIPE_V>();
        for (uint32_t r = 0; r < 4; r++) {
            WelfordUpdate<TYPE, float>(m, v, m, v, x[r * COLS], WelfordUpdateParam{1, COLS, r == 3 ? 40 : COLS, 1.0f / (r + 1)});
            PipeBarrier<PIPE_V>();
        }
        WelfordFinalizePara cut = {4, COLS, 4, 40, 3, 24, 1.0f / COLS, 1.0f / (4 * 40 + 3 * 24)};
        WelfordFinalize(end[16], end[24], m, v, cut);
        LocalTensor<int32_t> counts = f[448].ReinterpretCast<int32_t>();
        Duplicate(counts, 3, COLS);
        PipeBarrier<PIPE_V>();
        Duplicate(counts, 4, 40);
        WelfordFinalize(end[32], end[40], m, v, counts, cut);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < 6; i++) {
            stats.SetValue(384 + i, TYPE(end.GetValue(8 * i)));
        }
        for (uint32_t r = 0; r < ROWS; r++) {
            stats.SetValue(448 + r, TYPE(rstd.GetValue(r)));
        }
        TEventID id = GetTPipePtr()->FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(id);
        WaitFlag<HardEvent::S_MTE3>(id);
    });
}
