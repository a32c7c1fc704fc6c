/* What a core knows without computing: bit counts, its own numbers, registers, tensors' and queues' own
 * accounts. Each answer is one element of z, in the order of the test's table; calls that do nothing here
 * (preloading, marks for a profiler) stand between. */
#include "kernel_operator.h"

using namespace AscendC;

class KernelKnows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z)
    {
        InitSocState();
        SetSysWorkSpacePtr(x);
        SetSysWorkspace(x);
        SetSysWorkspaceForce(x);
        xGm.SetGlobalBuffer((__gm__ float *)x, 64);
        zGm.SetGlobalBuffer((__gm__ float *)z, 96);
        pipe.InitBuffer(queue, 2, 64 * sizeof(float));
        pipe.InitBuffer(outQueue, 1, 96 * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        out = outQueue.AllocTensor<float>();
        Duplicate(out, 0.0f, 96);
        WaitPreTaskEnd();
        ICachePreLoad(2);
        MetricsProfStart();
        PrintTimeStamp(7);
        Bits();
        Core();
        Control();
        Tensors();
        Queues();
        Utilities();
        MetricsProfStop();
        SetNextTaskStart();
        outQueue.EnQue(out);
        out = outQueue.DeQue<float>();
        DataCopy(zGm, out, 96);
        outQueue.FreeTensor(out);
    }

private:
    __aicore__ inline void Say(int64_t value) { out.SetValue(next++, float(value)); }
    __aicore__ inline void Bits()
    {
        Say(GetBitCount<1>(0xF0F0));
        Say(GetBitCount<0>(0xF0F0));
        Say(CountLeadingZero(0));
        Say(CountLeadingZero(0x8000000000000000ull));
        Say(CountBitsCntSameAsSignBit(-1));
        Say(CountBitsCntSameAsSignBit(1));
        Say(GetSFFValue<1>(0x60));
        Say(GetSFFValue<0>(0xFF));
        Say(GetSFFValue<1>(0));
        Say(sff0(7));
        Say(sff1(8));
        Say(clz(1));
        Say(bcnt0(0));
        Say(bcnt1(255));
        Say(sbitset0(15, 1));
        Say(sbitset1(0, 5));
        Say(ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(-2.5f));
        Say(ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(-2.5f));
        Say(ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(-2.5f));
        Say(ScalarCast<float, int32_t, RoundMode::CAST_RINT>(1e30f));
    }
    __aicore__ inline void Core()
    {
        uint32_t version = 0;
        GetArchVersion(version);
        Say(version);
        Say(GetDataBlockSizeInBytes());
        Say(GetSubBlockNum());
        Say(GetSubBlockIdx());
        Say(GetTaskRatio());
        Say(GetTaskRation());
        Say(GetBlockNum() - get_block_num());
        Say(GetBlockIdx() - get_block_idx());
        Say(get_subblockdim() - get_subblockid());
        Say(get_coreid());
        Say(GetICachePreloadStatus());
        Say(GetProgramCounter() >= 0);
        int64_t before = GetSystemCycle();
        PipeBarrier<PIPE_ALL>();
        Say(GetSystemCycle() >= before);
        Say(get_sys_cnt() >= before);
        Say(GetPhyType(TPosition::CO1) == Hardware::L0C);
        Say(AlignUp(65, 32));
        Say(CeilDivision(65, 32));
        Say(DivCeil(64, 32));
        Say(min(3, 2.5f) == 2.5f);
        Say(max(3, 2.5f));
        Say(IsSameType<half, half>::value);
        Say(SupportType<half, float, half>());
        Say(SupportBytes<half, 1, 4>());
    }
    __aicore__ inline void Control()
    {
        SetCtrlSpr<60, 61>(3);
        Say(GetCtrlSpr<59, 62>());
        ResetCtrlSpr<60, 60>();
        Say(GetCtrlSpr<60, 61>());
        int64_t all = get_ctrl();
        set_ctrl(all | 4);
        Say(GetCtrlSpr<2, 2>());
        set_ctrl(all);
        Say(GetCtrlSpr<2, 2>());
        SetSaturationFlag<SaturationMode::FLOAT>(true);
        Say(GetSaturationFlag<SaturationMode::FLOAT>());
        SetSaturationFlag<SaturationMode::FLOAT>(false);
        uint16_t type = 9, op = 9;
        SetStoreAtomicConfig<AtomicDtype::ATOMIC_F16, AtomicOp::ATOMIC_SUM>();
        GetStoreAtomicConfig(type, op);
        Say(type);
        SetAtomicNone();
        GetStoreAtomicConfig(type, op);
        Say(type + op);
        DataSyncBarrier<MemDsbT::ALL>();
        dsb(DSB_ALL);
        CheckLocalMemoryIA(CheckLocalMemoryIAParam());
    }
    __aicore__ inline void Tensors()
    {
        LocalTensor<float> t = queue.AllocTensor<float>();
        Say(t.GetSize());
        Say(t.GetLength());
        Say(t.GetPosition() == int32_t(TPosition::VECIN));
        Say(t[16].GetPhyAddr() - t.GetPhyAddr());
        Say(t.GetPhyAddr(8) - t.GetPhyAddr());
        LocalTensor<half> h = t.ReinterpretCast<half>();
        Say(h.GetSize());
        h.SetSize(10);
        Say(h.GetLength());
        h.SetBufferLen(64);
        Say(h.GetSize());
        h.SetUserTag(9);
        Say(h.GetUserTag());
        const uint32_t dims[] = {4, 16};
        t.SetShapeInfo(ShapeInfo(2, dims));
        Say(GetShapeSize(t.GetShapeInfo()));
        LocalTensor<float> part;
        part.SetAddrWithOffset(t, 24);
        Say(part.GetPhyAddr() - t.GetPhyAddr());
        xGm.SetShapeInfo(ShapeInfo(2, dims));
        Say(xGm.GetShapeInfo().shape[1]);
        Say(xGm.GetSize());
        Say(xGm[60].GetSize());
        Say(xGm.GetPhyAddr(4) - xGm.GetPhyAddr());
        xGm.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
        DataCopy(t, xGm, 64);
        queue.EnQue(t);
        t = queue.DeQue<float>();
        Say(t.GetValue(63));
        queue.FreeTensor(t);
    }
    __aicore__ inline void Queues()
    {
        Say(queue.HasIdleBuffer());
        Say(queue.VacantInQue());
        LocalTensor<float> a = queue.AllocTensor<float>(), b = queue.AllocTensor<float>();
        Say(queue.HasIdleBuffer());
        Say(queue.GetState(a) == TBufState::OCCUPIED);
        DataCopy(a, xGm, 64);
        queue.EnQue(a);
        Say(queue.HasTensorInQue());
        Say(queue.GetTensorCountInQue());
        DataCopy(b, xGm, 64);
        queue.EnQue(b);
        Say(queue.VacantInQue());
        TBufHandle handle = queue.DeQue();
        Say(queue.GetBufferAddr(handle).dataLen);
        queue.FreeBuffer(handle);
        queue.DeQue(b);
        queue.FreeTensor(b);
        queue.FreeAllEvent();
        Say(queue.GetTensorCountInQue());
    }

    __aicore__ inline void Utilities()
    {
        Say(AscendCUtils::GetC0Size());
        Say(AscendCUtils::GetC0Count(sizeof(half)));
        Say(AscendCUtils::GetDefaultBlockNum());
        Say(AscendCUtils::GetBitSize(4));
        LocalTensor<float> t = queue.AllocTensor<float>(), same;
        same.SetAddr(queue.GetBufferAddr(t.GetBufferHandle()));
        Say(same.GetPhyAddr() == t.GetPhyAddr());
        AscendCUtils::SetMask<float>(8);
        Duplicate<float, false>(t, 5.0f, MASK_PLACEHOLDER, 1, 1, 8);
        AscendCUtils::ResetMask();
        Say(same.GetValue(7));
        queue.FreeTensor(t);
        Say(GetBufferPos(TPosition::GM, TPosition::VECIN) == Hardware::UB);
        Say(GetBufferLogicPos(TPosition::VECIN, true) == TPosition::GM);
        Say(GetQueEvt(Hardware::GM, Hardware::UB, true) == HardEvent::MTE2_V);
        Say(GetTQueConfig(3).nz2nd);
        Say(IsBasicBlockInSoftMax(SoftMaxTiling()));
        LocalMemAllocator<Hardware::UB> places;
        places.Alloc<half>(20);
        Say(places.GetCurAddr());
        static_assert(std::is_same<decltype(abs(int64_t(-3))), int64_t>::value, "abs of an integer is an integer");
        Say(abs(int64_t(-3)));
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, 2> queue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<float> xGm, zGm;
    LocalTensor<float> out;
    uint32_t next = 0;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z)
{
    KernelKnows op;
    op.Init(x, z);
    op.Process();
}
