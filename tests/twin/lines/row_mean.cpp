/* Mean of each row of f16, summed in f32 eight rows at a time. The last group of a core may be short. */
#include "kernel_operator.h"

using AscendC::DataCopyExtParams;
using AscendC::DataCopyPadExtParams;
using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::QuePosition;

static constexpr int32_t GROUP = 8;
static constexpr int32_t WIDTH = 160; // elements of a row

struct RowMean {
    AscendC::TPipe pipe;
    AscendC::TQue<QuePosition::VECIN, 1> rows;
    AscendC::TQue<QuePosition::VECOUT, 1> means;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide, scratch;
    GlobalTensor<half> x;
    GlobalTensor<float> m;
    int32_t begin, end;

    __aicore__ inline void Setup(GM_ADDR px, GM_ADDR pm, int32_t total)
    {
        int32_t groups = (total + GROUP - 1) / GROUP, cores = AscendC::GetBlockNum();
        int32_t each = (groups + cores - 1) / cores;
        begin = AscendC::GetBlockIdx() * each * GROUP;
        end = begin + each * GROUP;
        if (end > total)
            end = total;
        x.SetGlobalBuffer((__gm__ half *)px, total * WIDTH);
        m.SetGlobalBuffer((__gm__ float *)pm, total);
        pipe.InitBuffer(rows, 2, GROUP * WIDTH * sizeof(half));
        pipe.InitBuffer(means, 2, GROUP * sizeof(float));
        pipe.InitBuffer(wide, GROUP * WIDTH * sizeof(float));
        pipe.InitBuffer(scratch, WIDTH * sizeof(float));
    }

    __aicore__ inline void Load(int32_t at, int32_t n)
    {
        LocalTensor<half> t = rows.AllocTensor<half>();
        AscendC::DataCopy(t, x[at * WIDTH], n * WIDTH);
        rows.EnQue(t);
    }

    __aicore__ inline void Sum(int32_t n)
    {
        LocalTensor<half> t = rows.DeQue<half>();
        LocalTensor<float> f = wide.Get<float>();
        LocalTensor<float> s = scratch.Get<float>();
        AscendC::Cast(f, t, AscendC::RoundMode::CAST_NONE, n * WIDTH);
        rows.FreeTensor(t);
        LocalTensor<float> out = means.AllocTensor<float>();
        AscendC::Duplicate(out, 0.0f, GROUP);
        for (int32_t r = 0; r < n; r++) {
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::ReduceSum<float>(s, f[r * WIDTH], s, WIDTH);
            float sum = s.GetValue(0);
            out.SetValue(r, sum / WIDTH);
        }
        means.EnQue(out);
    }

    __aicore__ inline void Store(int32_t at, int32_t n)
    {
        LocalTensor<float> out = means.DeQue<float>();
        DataCopyExtParams params{1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0};
        AscendC::DataCopyPad(m[at], out, params);
        means.FreeTensor(out);
    }

    __aicore__ inline void Go()
    {
        for (int32_t at = begin; at < end; at += GROUP) {
            int32_t n = end - at;
            n = n < GROUP ? n : GROUP;
            Load(at, n);
            Sum(n);
            Store(at, n);
        }
    }
};

extern "C" __global__ __aicore__ void row_mean(GM_ADDR x, GM_ADDR m, int32_t total)
{
    RowMean op;
    op.Setup(x, m, total);
    op.Go();
}
