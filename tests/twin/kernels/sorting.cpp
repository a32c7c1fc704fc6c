/* The sorting instructions one by one: 128 floats with their indices in four runs of 32, merged; a merge
 * that stops when a run is used up; halves as proposals merged by the older instruction; what a mask keeps.
 * f: 128 sorted values, 64 of the stopped merge. n: 128 indices, then counts. h: 64 sorted halves. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelSorting {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR f, GM_ADDR n, GM_ADDR h)
    {
        xGm.SetGlobalBuffer((__gm__ float *)x, 128);
        yGm.SetGlobalBuffer((__gm__ half *)y, 64);
        fGm.SetGlobalBuffer((__gm__ float *)f, 192);
        nGm.SetGlobalBuffer((__gm__ int32_t *)n, 136);
        hGm.SetGlobalBuffer((__gm__ half *)h, 64);
        pipe.InitBuffer(xQueue, 1, 128 * sizeof(float));
        pipe.InitBuffer(yQueue, 1, 64 * sizeof(half));
        pipe.InitBuffer(fQueue, 1, 192 * sizeof(float));
        pipe.InitBuffer(nQueue, 1, 136 * sizeof(int32_t));
        pipe.InitBuffer(hQueue, 1, 64 * sizeof(half));
        pipe.InitBuffer(work, 16384);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        LocalTensor<half> y = yQueue.AllocTensor<half>();
        DataCopy(x, xGm, 128);
        DataCopy(y, yGm, 64);
        xQueue.EnQue(x);
        yQueue.EnQue(y);
        Merge();
        Proposals();
    }

private:
    __aicore__ inline void Merge()
    {
        LocalTensor<float> x = xQueue.DeQue<float>(), f = fQueue.AllocTensor<float>();
        LocalTensor<int32_t> n = nQueue.AllocTensor<int32_t>(), at = work.Get<int32_t>(128);
        LocalTensor<float> runs = work.GetWithOffset<float>(256, 1024), sorted = work.GetWithOffset<float>(512, 4096), joined;
        CreateVecIndex(at, 0, 128);
        PipeBarrier<PIPE_V>();
        Concat(joined, x, sorted, 8);
        Sort32(runs, joined, at.ReinterpretCast<uint32_t>(), 4);
        PipeBarrier<PIPE_V>();
        uint32_t run = GetSortOffset<float>(32);
        MrgSortSrcList<float> list(runs, runs[run], runs[2 * run], runs[3 * run]);
        const uint16_t lengths[] = {32, 32, 32, 32};
        MrgSort(sorted, list, MrgSort4Info(lengths, false, 15, 1));
        PipeBarrier<PIPE_V>();
        Extract(f, n.ReinterpretCast<uint32_t>(), sorted, 4);
        uint64_t kept = GetGatherMaskRemainCount();
        n.SetValue(132, int32_t(kept));
        n.SetValue(133, int32_t(GetSortLen<float>(128)));
        n.SetValue(134, int32_t(GetGatherMaskRemainCount()) - int32_t(get_rsvd_cnt()));
        /* two runs, stopping when either is used up */
        const uint16_t two[] = {32, 32, 0, 0};
        MrgSort(sorted, list, MrgSort4Info(two, true, 3, 1));
        uint16_t a = 0, b = 0, c = 0, d = 0;
        GetMrgSortResult(a, b, c, d);
        n.SetValue(128, a);
        n.SetValue(129, b);
        PipeBarrier<PIPE_V>();
        GatherMask(f[128], sorted, uint8_t(1), true, 2u * (a + b), {1, 1, 8, 0}, kept);
        n.SetValue(130, int32_t(kept));
        /* the same by the newer call, which gives the counts back */
        uint32_t counts[4] = {};
        MrgSort<float, true>(sorted, list, two, counts, 3, 1);
        n.SetValue(131, int32_t(counts[0] + counts[1]));
        n.SetValue(135, 0);
        fQueue.EnQue(f);
        TEventID id = pipe.FetchEventID(HardEvent::S_MTE3);
        SetFlag<HardEvent::S_MTE3>(id);
        WaitFlag<HardEvent::S_MTE3>(id);
        nQueue.EnQue(n);
        f = fQueue.DeQue<float>();
        n = nQueue.DeQue<int32_t>();
        DataCopyPad(fGm, f, DataCopyExtParams(1, (128 + kept) * sizeof(float), 0, 0, 0));
        DataCopy(nGm, n, 136);
        fQueue.FreeTensor(f);
        nQueue.FreeTensor(n);
        xQueue.FreeTensor(x);
    }
    /* Region proposals: eight halves each, the score in place 4. */
    __aicore__ inline void Proposals()
    {
        LocalTensor<half> y = yQueue.DeQue<half>(), h = hQueue.AllocTensor<half>();
        LocalTensor<half> p = work.GetWithOffset<half>(512, 8192), q = work.GetWithOffset<half>(512, 10240);
        Duplicate(p, half(0.0f), 512);
        PipeBarrier<PIPE_V>();
        ProposalConcat(p, y, 4, 4);
        PipeBarrier<PIPE_V>();
        RpSort16(p, p, 4);
        PipeBarrier<PIPE_V>();
        MrgSortSrcList<half> list(p, p[128], p[256], p[384]);
        const uint16_t lengths[] = {16, 16, 16, 16};
        MrgSort4(q, list, MrgSort4Info(lengths, false, 15, 1));
        PipeBarrier<PIPE_V>();
        ProposalExtract(h, q, 4, 4);
        hQueue.EnQue(h);
        h = hQueue.DeQue<half>();
        DataCopy(hGm, h, 64);
        hQueue.FreeTensor(h);
        yQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 1> xQueue, yQueue;
    TQue<QuePosition::VECOUT, 1> fQueue, nQueue, hQueue;
    TBuf<> work;
    GlobalTensor<float> xGm, fGm;
    GlobalTensor<half> yGm, hGm;
    GlobalTensor<int32_t> nGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR f, GM_ADDR n, GM_ADDR h)
{
    KernelSorting op;
    op.Init(x, y, f, n, h);
    op.Process();
}
