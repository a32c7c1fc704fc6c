/* The Matmul object. On a cube core it computes; on a vector core of a mixed kernel it asks the
 * cube core of its block through a mailbox (acraft/matmul_mail.h), as the vendor's does.
 *
 * The cube core's REGIST_MATMUL_OBJ serves until every vector core has left the block that holds its
 * own, then returns from the kernel. */
#ifndef ACRAFT_MATMUL_H
#define ACRAFT_MATMUL_H

#include "acraft/matmul_mail.h"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto &, typename...> class POLICY = Impl::Detail::MatmulPolicy>
class Matmul {
public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using CallBack = MM_CB;
    using SrcAT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    using SrcT = SrcAT;

    void Init(const TCubeTiling *tiling, TPipe * = nullptr)
    {
        if (tiling) tiling_ = *tiling;
        take_constants(MM_CFG);
        SetOrgShape(tiling_.M, tiling_.N, tiling_.Ka, tiling_.Kb);
        SetSingleShape(tiling_.singleCoreM, tiling_.singleCoreN, tiling_.singleCoreK);
        bias_ = 0;
    }
    void SetSubBlockIdx(uint8_t) {}
    uint8_t GetSubBlockIdx() { return uint8_t(acraft_core.sub_block_idx); }
    template <class T> void SetWorkspace(GlobalTensor<T> &gm) { SetWorkspace(gm.GetPhyAddr(), 0); }
    template <class T> void SetWorkspace(__gm__ const T *address, int) { workspace_ = reinterpret_cast<uintptr_t>(address); }
    void SetLocalWorkspace(const LocalTensor<uint8_t> &) {}
    void SetOrgShape(int m, int n, int k) { SetOrgShape(m, n, k, k); }
    void SetOrgShape(int m, int n, int ka, int kb, int kc = 0)
    {
        orgM_ = m;
        orgN_ = n;
        orgKa_ = ka;
        orgKb_ = kb;
        orgKc_ = kc;
    }
    void SetSingleShape(int m, int n, int k)
    {
        m_ = m;
        n_ = n;
        k_ = k;
    }
    void SetTail(int m = -1, int n = -1, int k = -1)
    {
        if (m != -1) m_ = m;
        if (n != -1) n_ = n;
        if (k != -1) k_ = k;
    }
    void SetHF32(bool on = false, int32_t = 0, ACRAFT_SITE) { SetHF32Mode(on, site); }
    void SetUserDefInfo(const uint64_t tilingPtr) { user_ = tilingPtr; }
    template <class T> void SetSelfDefineData(T dataPtr)
    {
        if constexpr (std::is_pointer<T>::value) data_ = reinterpret_cast<uintptr_t>(dataPtr);
        else data_ = uint64_t(dataPtr);
    }
    template <typename T> void SetSparseIndex(const T &) { static_assert(acraft::never<T>, "acraft-unsupported: Matmul with a sparse operand"); }
    template <typename T> void SetAntiQuantScalar(const T, const T) { static_assert(acraft::never<T>, "acraft-unsupported: Matmul::SetAntiQuantScalar"); }
    template <typename T> void SetAntiQuantVector(const LocalTensor<T> &, const LocalTensor<T> &)
    {
        static_assert(acraft::never<T>, "acraft-unsupported: Matmul::SetAntiQuantVector");
    }

    void SetTensorA(const GlobalTensor<SrcAT> &gm, bool isTransposeA = false)
    {
        a_ = reinterpret_cast<uintptr_t>(gm.GetPhyAddr());
        transA_ = isTransposeA;
        next_ = -1;
    }
    void SetTensorB(const GlobalTensor<SrcBT> &gm, bool isTransposeB = false)
    {
        b_ = reinterpret_cast<uintptr_t>(gm.GetPhyAddr());
        transB_ = isTransposeB;
        next_ = -1;
    }
    /* A tensor in L1 is used where it stands; one in UB goes to GM scratch first, where the cube core reads it. */
    void SetTensorA(const LocalTensor<SrcAT> &local, bool isTransposeA = false, ACRAFT_SITE)
    {
        if constexpr (How::a_l1) a_ = in_l1(local, site);
        else SetTensorA(spill(local, mailbox::SCRATCH_A, mailbox::SCRATCH_B, uint32_t(m_) * uint32_t(k_), site));
        transA_ = isTransposeA;
        spilled_a_ = true;
        next_ = -1;
    }
    void SetTensorB(const LocalTensor<SrcBT> &local, bool isTransposeB = false, ACRAFT_SITE)
    {
        if constexpr (How::b_l1) b_ = in_l1(local, site);
        else SetTensorB(spill(local, mailbox::SCRATCH_B, mailbox::SCRATCH_BIAS, uint32_t(n_) * uint32_t(k_), site));
        transB_ = isTransposeB;
        spilled_b_ = true;
        next_ = -1;
    }
    void SetTensorA(SrcAT, ACRAFT_SITE) { acraft::unsupported("Matmul with a scalar as operand", site); }
    void SetTensorB(SrcBT, ACRAFT_SITE) { acraft::unsupported("Matmul with a scalar as operand", site); }
    void SetBias(const GlobalTensor<BiasT> &gm) { bias_ = reinterpret_cast<uintptr_t>(gm.GetPhyAddr()); }
    void SetBias(const LocalTensor<BiasT> &local, ACRAFT_SITE)
    {
        SetBias(spill(local, mailbox::SCRATCH_BIAS, mailbox::SCRATCH_C, uint32_t(n_), site));
    }
    void DisableBias() { bias_ = 0; }
    void ClearBias() { bias_ = 0; }
    void SetQuantScalar(const uint64_t scalar)
    {
        quant_ = scalar;
        quantVector_ = false;
    }
    void SetQuantVector(const GlobalTensor<uint64_t> &gm)
    {
        quant_ = reinterpret_cast<uintptr_t>(gm.GetPhyAddr());
        quantVector_ = true;
    }

    template <bool sync = true> void IterateAll(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool = false, bool = false, bool = false, ACRAFT_SITE)
    {
        if (not_my_share()) return;
        start(job(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), enAtomic), -1, false, site.in("Matmul::IterateAll"));
        if (sync) WaitIterateAll(site);
    }
    template <bool sync = true> void IterateAll(const LocalTensor<DstT> &local, uint8_t enAtomic = 0, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Matmul::IterateAll");
        uint32_t pitch = row(uint32_t(n_)), count = uint32_t(m_) * pitch;
        acraft::MatmulJob j = job(result_scratch(count, s), enAtomic);
        j.ldc = pitch;
        start(j, -1, false, s);
        WaitIterateAll(s);
        bring(local, count, s);
    }
    void WaitIterateAll(ACRAFT_SITE)
    {
        if (g_coreType == AIV) mailbox::wait(ticket_, site.in("Matmul::WaitIterateAll"));
    }
    void WaitIterateBatch(ACRAFT_SITE) { WaitIterateAll(site); }
    void WaitGetTensorC(ACRAFT_SITE) { WaitIterateAll(site); }

    /* Blocks one by one, along M first or N first as the tiling says. On a cube core Iterate computes into L0C and GetTensorC
     * stores. Without sync one call stands for all: each GetTensorC then takes the next block. */
    template <bool sync = true> bool Iterate(bool = false, ACRAFT_SITE)
    {
        ahead_ = !sync;
        if (!sync && next_ < 0) return true;
        next_++;
        bool more = next_ < steps();
        if (!more) next_ = -1;
        if constexpr (computes_first && sync)
            if (g_coreType == AIC && !config_.isPartialOutput) compute_next(site.in("Matmul::Iterate"));
        return more;
    }
    /* The block stays in the user's own L0C. */
    template <bool sync = true, typename T> bool Iterate(bool enPartialSum, const LocalTensor<T> &co1, ACRAFT_SITE)
    {
        static_assert(C_TYPE::pos == TPosition::CO1, "acraft: Iterate into a tensor of CO1 wants C at TPosition::CO1");
        if (g_coreType == AIV || !Iterate<true>()) return false;
        acraft::Site s = site.in("Matmul::Iterate");
        acraft::MatmulJob j = job(0, 0);
        acraft::matmul::fit<SrcAT>(j);
        j.steps.unit_flag = 0;
        acraft::matmul::Stages stages = acraft::matmul::open_stages<SrcAT, SrcBT, How>(j);
        uint32_t m0 = uint32_t(number() / blocks_n()) * j.base_m, n0 = uint32_t(number() % blocks_n()) * j.base_n;
        if (acraft::matmul::wanted<How>(m0 / j.base_m, n0 / j.base_n))
            acraft::matmul::product<SrcAT, SrcBT, BiasT, How>(stages, j, m0, n0, co1, enPartialSum, s);
        stages.close(s);
        acraft::matmul::hand_over(HardEvent::M_FIX, s);
        return true;
    }
    template <bool sync = true> void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, ACRAFT_SITE)
    {
        if (ahead_) next_++;
        acraft::Site s = site.in("Matmul::GetTensorC");
        acraft::MatmulJob j = job(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), enAtomic);
        if (enSequentialWrite && !How::c_nz) j.ldc = width();
        store_or_start(j, enSequentialWrite, s);
        WaitIterateAll(s);
    }
    template <bool sync = true> void GetTensorC(const LocalTensor<DstT> &local, uint8_t enAtomic = 0, bool = false, ACRAFT_SITE)
    {
        if (ahead_) next_++;
        acraft::Site s = site.in("Matmul::GetTensorC");
        uint32_t pitch = How::c_nz ? up16(height()) : row(width()), count = How::c_nz ? pitch * up16(width()) : height() * pitch;
        acraft::MatmulJob j = job(result_scratch(count, s), enAtomic);
        if (!How::c_nz) j.ldc = pitch;
        start(j, number(), true, s);
        WaitIterateAll(s);
        bring(local, count, s);
    }
    template <bool sync = true> void GetTensorC(const GlobalTensor<DstT> &gm, const LocalTensor<DstT> &local, uint8_t enAtomic = 0,
                                                bool enSequentialWrite = false, ACRAFT_SITE)
    {
        GetTensorC<sync>(gm, enAtomic, enSequentialWrite, site);
        if (ahead_) next_--;
        GetTensorC<sync>(local, 0, true, site);
    }
    void AsyncGetTensorC(const LocalTensor<DstT> &local, ACRAFT_SITE) { GetTensorC<false>(local, 0, true, site); }
    /* Without sync: the next block in the workspace, where the object keeps it. */
    template <bool sync = true> GlobalTensor<DstT> GetTensorC(uint8_t enAtomic = 0, bool = false, ACRAFT_SITE)
    {
        static_assert(!sync, "acraft: GetTensorC gives back a GlobalTensor only without sync");
        GlobalTensor<DstT> gm;
        gm.SetGlobalBuffer(reinterpret_cast<DstT *>(static_cast<uintptr_t>(workspace_)) + uint64_t(next_ + 1) * base_m() * base_n());
        GetTensorC<sync>(gm, enAtomic, true, site);
        return gm;
    }
    template <bool isTurnOnDebug = true> MatrixOffset GetOffsetC() { return {}; }
    void End(ACRAFT_SITE)
    {
        next_ = -1;
        stop_blocks(site.in("Matmul::End"));
    }

    /* Several products by one call: A, B and C lie in batches as their layouts say. */
    void SetBatchNum(int32_t batchA, int32_t batchB)
    {
        batchA_ = uint32_t(batchA);
        batchB_ = uint32_t(batchB);
    }
#ifndef ASCENDC_CUBE_ONLY
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateBatch(const GlobalTensor<DstT> &gm, uint32_t batchA, uint32_t batchB, bool, const uint32_t matrixStrideA = 0,
                      const uint32_t matrixStrideB = 0, const uint32_t = 0, const bool = false, const uint8_t enAtomic = 0, ACRAFT_SITE)
    {
        batch(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), batchA, batchB, matrixStrideA, matrixStrideB, enAtomic, 0, site.in("Matmul::IterateBatch"));
        if (sync) WaitIterateAll(site);
    }
#else
    /* On a cube core alone: the numbers of batches come from SetBatchNum. */
    void IterateBatch(const GlobalTensor<DstT> &gm, bool, uint8_t enAtomic, bool, const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                      const uint32_t = 0, ACRAFT_SITE)
    {
        batch(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), batchA_, batchB_, matrixStrideA, matrixStrideB, enAtomic, 0, site.in("Matmul::IterateBatch"));
    }
#endif
    /* IterateBatch for the next batches, batchLoop times; results in the workspace. */
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool, const uint32_t matrixStrideA = 0,
                       const uint32_t matrixStrideB = 0, const uint32_t = 0, ACRAFT_SITE)
    {
        for (uint32_t i = 0; i < batchLoop; i++) batch(workspace_, batchA, batchB, matrixStrideA, matrixStrideB, 0, i, site.in("Matmul::IterateNBatch"));
        taken_ = 0;
        if (sync) WaitIterateAll(site);
    }
    template <bool sync = true> GlobalTensor<DstT> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool = false, ACRAFT_SITE)
    {
        uint32_t count = batchA > batchB ? batchA : batchB;
        Layout c = layout_c();
        GlobalTensor<DstT> gm;
        WaitIterateAll(site);
        gm.SetGlobalBuffer(reinterpret_cast<DstT *>(static_cast<uintptr_t>(workspace_)) + c.at(taken_++ * count));
        return gm;
    }
    template <bool sync = true> GlobalTensor<DstT> GetBatchC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false, ACRAFT_SITE)
    {
        return GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite, site);
    }
    template <bool sync = true> void GetBatchTensorC(const LocalTensor<DstT> &local, uint32_t batchA, uint32_t batchB, bool = false, ACRAFT_SITE)
    {
        static_assert(acraft::never<DstT> || C_TYPE::layout == LayoutMode::BNGS1S2 || C_TYPE::layout == LayoutMode::NORMAL,
                      "acraft-unsupported: GetBatchTensorC to UB of a layout with gaps");
        GlobalTensor<DstT> from = GetBatchTensorC<sync>(batchA, batchB, false, site);
        DataCopy(local, from, up_block((batchA > batchB ? batchA : batchB) * uint32_t(m_) * uint32_t(n_)), site);
        acraft::sync_inside(HardEvent::MTE2_V, site);
    }
    template <bool sync = true> void GetBatchC(const LocalTensor<DstT> &local, uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false, ACRAFT_SITE)
    {
        GetBatchTensorC<sync>(local, batchA, batchB, enSequentialWrite, site);
    }

    /* On the cube core: a job that came through the mailbox. */
    void serve(const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s)
    {
        acraft::matmul::run<SrcAT, SrcBT, DstT, BiasT, How>(j, only, compact, s);
    }
    void register_as(uint64_t object) { object_ = object; }

private:
    static constexpr MatmulConfig config_ = ToMatmulConfig(MM_CFG);
    struct How {
        static constexpr bool a_nz = A_TYPE::format == CubeFormat::NZ, b_nz = B_TYPE::format == CubeFormat::NZ;
        static constexpr bool a_l1 = GetPhyType(A_TYPE::pos) == Hardware::L1, b_l1 = GetPhyType(B_TYPE::pos) == Hardware::L1;
        static constexpr bool c_nz = C_TYPE::format == CubeFormat::NZ;
        static constexpr bool split = config_.isEnableChannelSplit && c_nz && sizeof(typename C_TYPE::T) == 4;
        static constexpr int triangle = POLICY<MM_CFG>::triangle;
        using CallBack = MM_CB;
    };
    /* Where batch i begins, and the length of a row. */
    struct Layout {
        uint64_t step, pitch;
        uint64_t at(uint32_t i) const { return i * step; }
    };

    void take_constants(const MatmulConfig &) {}
    void take_constants(const MatmulApiStaticTiling &t)
    {
        if (t.M > 0) tiling_.M = t.M, tiling_.N = t.N, tiling_.Ka = t.Ka, tiling_.Kb = t.Kb;
        if (t.singleCoreM > 0) tiling_.singleCoreM = t.singleCoreM, tiling_.singleCoreN = t.singleCoreN, tiling_.singleCoreK = t.singleCoreK;
        if (t.baseM > 0) tiling_.baseM = t.baseM, tiling_.baseN = t.baseN, tiling_.baseK = t.baseK;
        if (t.iterateOrder >= 0) tiling_.iterateOrder = t.iterateOrder;
        if (t.depthA1 > 0) tiling_.depthA1 = t.depthA1, tiling_.depthB1 = t.depthB1;
        if (t.stepM > 0) tiling_.stepM = t.stepM, tiling_.stepN = t.stepN, tiling_.stepKa = t.stepKa, tiling_.stepKb = t.stepKb;
        if (t.dbL0C > 0) tiling_.dbL0C = t.dbL0C;
    }
    static uint32_t up16(uint32_t n) { return acraft::matmul::up(n, 16); }
    static uint32_t up_block(uint32_t n) { return acraft::matmul::up(n, acraft::per_block<DstT>()); }
    static uint32_t row(uint32_t n) { return up_block(n); }
    uint32_t base_m() const { return uint32_t(tiling_.baseM > 0 ? tiling_.baseM : 128); }
    uint32_t base_n() const { return uint32_t(tiling_.baseN > 0 ? tiling_.baseN : 128); }
    uint32_t base_k() const { return uint32_t(tiling_.baseK > 0 ? tiling_.baseK : k_); }
    uint32_t blocks_m() const { return (uint32_t(m_) + base_m() - 1) / base_m(); }
    uint32_t blocks_n() const { return (uint32_t(n_) + base_n() - 1) / base_n(); }
    /* Parts of K that come out one by one. */
    uint32_t parts() const { return config_.isPartialOutput ? (uint32_t(k_) + base_k() - 1) / base_k() : 1; }
    int64_t steps() const { return int64_t(blocks_m()) * blocks_n() * parts(); }
    bool along_n() const
    {
        return config_.iterateOrder == IterateOrder::UNDEF ? tiling_.iterateOrder == 1 : config_.iterateOrder == IterateOrder::ORDER_N;
    }
    /* How many blocks a copy brings into L1, and how many buffers there are. */
    static uint8_t in_range(int64_t n, int64_t most) { return uint8_t(n < 1 ? 1 : n > most ? most : n); }
    acraft::MatmulSteps steps_of_tiling() const
    {
        const TCubeTiling &t = tiling_;
        acraft::MatmulSteps s;
        s.unit_flag = config_.enUnitFlag;
        s.c = in_range(t.dbL0C, 2);
        if (t.depthA1 < 1 || t.depthB1 < 1) return s;
        if (config_.doMultiDataLoad || config_.doSpecialMDL) {
            s.m = in_range(t.stepM, 128);
            s.n = in_range(t.stepN, 128);
            s.ka = in_range(t.stepKa, 255);
            s.kb = in_range(t.stepKb, 255);
        }
        s.a1 = in_range(t.depthA1 / (s.m * s.ka), 4);
        s.b1 = in_range(t.depthB1 / (s.n * s.kb), 4);
        return s;
    }
    /* The current block's number in rows of blocks. */
    int64_t number() const
    {
        int64_t i = next_ / parts();
        return along_n() ? i : i % blocks_m() * blocks_n() + i / blocks_m();
    }
    uint32_t height() const
    {
        uint32_t m0 = uint32_t(number() / blocks_n()) * base_m();
        return uint32_t(m_) - m0 < base_m() ? uint32_t(m_) - m0 : base_m();
    }
    uint32_t width() const
    {
        uint32_t n0 = uint32_t(number() % blocks_n()) * base_n();
        return uint32_t(n_) - n0 < base_n() ? uint32_t(n_) - n0 : base_n();
    }
    /* Both vector cores of a block share one product: the first asks for it. */
    static bool not_my_share() { return A_TYPE::ibShare && B_TYPE::ibShare && g_coreType == AIV && acraft_core.sub_block_idx != 0; }

    static uint32_t nz_rows(bool spilled, int own, int org) { return up16(uint32_t(spilled ? own : org)); }
    uint32_t pitch_a() const
    {
        if (How::a_nz) return nz_rows(spilled_a_, transA_ ? k_ : m_, transA_ ? orgKa_ : orgM_);
        return uint32_t(spilled_a_ ? (transA_ ? m_ : k_) : transA_ ? orgM_ : orgKa_);
    }
    uint32_t pitch_b() const
    {
        if (How::b_nz) return nz_rows(spilled_b_, transB_ ? n_ : k_, transB_ ? orgN_ : orgKb_);
        return uint32_t(spilled_b_ ? (transB_ ? k_ : n_) : transB_ ? orgKb_ : orgN_);
    }
    uint32_t pitch_c() const
    {
        if (How::c_nz) return up16(uint32_t(orgM_));
        uint32_t n = uint32_t(orgKc_ ? orgKc_ : orgN_);
        return C_TYPE::format == CubeFormat::ND_ALIGN ? up_block(n) : n;
    }
    acraft::MatmulJob job(uint64_t c, uint8_t atomic) const
    {
        acraft::MatmulJob j = {};
        j.a = a_;
        j.b = b_;
        j.c = c;
        j.bias = bias_;
        j.quant = quant_;
        j.m = uint32_t(m_);
        j.n = uint32_t(n_);
        j.k = uint32_t(k_);
        j.lda = pitch_a();
        j.ldb = pitch_b();
        j.ldc = pitch_c();
        j.base_m = base_m();
        j.base_n = base_n();
        j.base_k = uint32_t(tiling_.baseK > 0 ? tiling_.baseK : 0);
        j.user = user_;
        j.data = data_;
        j.steps = steps_of_tiling();
        j.flags = (along_n() ? acraft::MATMUL_ALONG_N : 0) | (transA_ ? acraft::MATMUL_TRANS_A : 0) | (transB_ ? acraft::MATMUL_TRANS_B : 0) | (bias_ ? acraft::MATMUL_BIAS : 0) |
                  (atomic == 1   ? acraft::MATMUL_ATOMIC
                   : atomic == 2 ? acraft::MATMUL_ATOMIC_MAX
                   : atomic == 3 ? acraft::MATMUL_ATOMIC_MIN
                                 : 0) |
                  (quantVector_ ? acraft::MATMUL_QUANT_VECTOR : 0);
        return j;
    }
    /* ---- blocks one by one on a cube core: the buffers stay open from the first block to the last ---- */

    static constexpr bool computes_first = C_TYPE::pos != TPosition::CO1 && !How::a_l1 && !How::b_l1 && How::triangle == 0 && !How::CallBack::out;
    using L0C = std::conditional_t<std::is_integral<SrcAT>::value || acraft::bits_of<SrcAT>() == 4, int32_t, float>;

    int64_t number_of(int64_t i) const { return along_n() ? i : i % blocks_m() * blocks_n() + i / blocks_m(); }
    void stop_blocks(const acraft::Site &s)
    {
        if (running_) stages_.close(s);
        running_ = made_ = false;
    }
    /* The product of block next_ into L0C; -1: there is none, or it is the first of others. */
    void compute_next(const acraft::Site &s)
    {
        if (next_ <= 0) stop_blocks(s);
        if (next_ < 0) return;
        if (!running_) {
            running_ = true;
            blocks_ = job(0, 0);
            acraft::matmul::fit<SrcAT>(blocks_);
            stages_ = acraft::matmul::open_stages<SrcAT, SrcBT, How>(blocks_);
        }
        int64_t here = number_of(next_), then = number_of(next_ + 1);
        stages_.goes_on = next_ + 1 < steps();
        stages_.next_m = uint32_t(then / blocks_n()) * blocks_.base_m;
        stages_.next_n = uint32_t(then % blocks_n()) * blocks_.base_n;
        slot_ = stages_.c.take(s);
        stages_.c.wait_full(slot_, s);
        LocalTensor<L0C> c = acraft::matmul::at<L0C>(TPosition::CO1, slot_ * stages_.c_bytes, stages_.c_bytes);
        acraft::matmul::product<SrcAT, SrcBT, BiasT, How>(stages_, blocks_, uint32_t(here / blocks_n()) * blocks_.base_m,
                                                          uint32_t(here % blocks_n()) * blocks_.base_n, c, false, s);
        if (!blocks_.steps.unit_flag) stages_.c.fill(slot_, s);
        made_ = true;
    }
    /* The block that Iterate left in L0C goes out, once; otherwise it is computed here. */
    void store_or_start(acraft::MatmulJob j, bool compact, const acraft::Site &s)
    {
        if constexpr (computes_first)
            if (made_) {
                uint32_t m0 = uint32_t(number() / blocks_n()) * base_m(), n0 = uint32_t(number() % blocks_n()) * base_n();
                constexpr uint32_t c0 = How::split ? 8 : sizeof(DstT) == 1 ? 32 : 16;
                uint32_t pitch = How::c_nz && compact ? up16(height()) : j.ldc;
                uint64_t offset = How::c_nz ? uint64_t(n0) * pitch + uint64_t(m0) * c0 : uint64_t(m0) * pitch + n0;
                j.steps = blocks_.steps;
                stages_.c.wait_full(slot_, s);
                LocalTensor<L0C> c = acraft::matmul::at<L0C>(TPosition::CO1, slot_ * stages_.c_bytes, stages_.c_bytes);
                acraft::matmul::store<DstT, How>(j, c, j.c + (compact ? 0 : offset * sizeof(DstT)), height(), width(), pitch, s);
                if (!blocks_.steps.unit_flag) stages_.c.give_back(slot_, s);
                made_ = false;
                if (next_ + 1 >= steps()) stop_blocks(s);
                return;
            }
        if (g_coreType == AIC) stop_blocks(s);
        start(j, number(), compact, s);
    }
    /* One part of K only. */
    void cut(acraft::MatmulJob &j, uint32_t part, const acraft::Site &s) const
    {
        if (How::a_nz || How::b_nz) acraft::unsupported("Matmul with partial output of operands in NZ format", s);
        uint32_t k0 = part * base_k();
        j.a += (transA_ ? uint64_t(k0) * j.lda : k0) * sizeof(SrcAT);
        j.b += (transB_ ? k0 : uint64_t(k0) * j.ldb) * sizeof(SrcBT);
        j.k = j.k - k0 < base_k() ? j.k - k0 : base_k();
        if (part) j.flags &= ~uint32_t(acraft::MATMUL_BIAS);
    }
    void start(acraft::MatmulJob j, int64_t only, bool compact, const acraft::Site &s)
    {
        static_assert(A_TYPE::format != CubeFormat::ZN && A_TYPE::format != CubeFormat::SCALAR && A_TYPE::format != CubeFormat::COLUMN_MAJOR &&
                          B_TYPE::format != CubeFormat::ZN && B_TYPE::format != CubeFormat::SCALAR && B_TYPE::format != CubeFormat::COLUMN_MAJOR,
                      "acraft-unsupported: Matmul with operands in this format");
        static_assert(!A_TYPE::sparse && !B_TYPE::sparse, "acraft-unsupported: Matmul with a sparse operand");
        static_assert(acraft::bits_of<SrcAT>() == acraft::bits_of<SrcBT>(), "acraft-unsupported: Matmul with operands of two sizes");
        if (config_.isPartialOutput && only >= 0) cut(j, uint32_t(next_ % parts()), s);
        if (g_coreType == AIV) ticket_ = mailbox::post(mailbox::RUN, object_, j, only, compact, s);
        else serve(j, only, compact, s);
    }
    template <typename T> uint64_t in_l1(const LocalTensor<T> &local, const acraft::Site &s) const
    {
#ifndef ASCENDC_CUBE_ONLY
        static_assert(acraft::never<T>, "acraft-unsupported: Matmul asked by a vector core for an operand in L1");
#endif
        uint64_t at = local.record_address() & ((1ull << 56) - 1);
        if (at + local.GetSize() * sizeof(T) > 240 * 1024 && !(How::a_l1 && How::b_l1)) acraft::unsupported("Matmul with an operand above 240 KB in L1", s);
        return at;
    }
    template <typename T> GlobalTensor<T> spill(const LocalTensor<T> &local, uint32_t from, uint32_t to, uint32_t count, const acraft::Site &s)
    {
        GlobalTensor<T> t;
        t.SetGlobalBuffer(reinterpret_cast<T *>(static_cast<uintptr_t>(mailbox::scratch(from, to, count * sizeof(T), s))));
        acraft::put_barrier(NPU_PIPE_ALL, s);
        if (mailbox::acraft_finished < mailbox::acraft_posted) mailbox::wait(mailbox::acraft_posted, s); /* all jobs use the same scratch */
        DataCopyPad(t, local, DataCopyExtParams(1, uint32_t(count * sizeof(T)), 0, 0, 0), s);
        return t;
    }
    static uint64_t result_scratch(uint32_t count, const acraft::Site &s)
    {
        return mailbox::scratch(mailbox::SCRATCH_C, mailbox::SCRATCH_END, uint64_t(count) * sizeof(DstT), s);
    }
    void bring(const LocalTensor<DstT> &local, uint32_t count, const acraft::Site &s)
    {
        GlobalTensor<DstT> t;
        t.SetGlobalBuffer(reinterpret_cast<DstT *>(static_cast<uintptr_t>(result_scratch(count, s))));
        DataCopy(local, t, up_block(count), s);
        acraft::sync_inside(HardEvent::MTE2_V, s);
    }

    /* ---- batches ---- */

    static Layout layout_of(LayoutMode mode, int64_t b, int64_t n, int64_t g, int64_t d, uint64_t whole, uint64_t pitch)
    {
        if (mode == LayoutMode::BSNGD) return {uint64_t(d), uint64_t(n * g * d)};
        if (mode == LayoutMode::SBNGD) return {uint64_t(d), uint64_t(b * n * g * d)};
        return {whole, pitch};
    }
    Layout layout_a() const
    {
        const TCubeTiling &t = tiling_;
        return layout_of(A_TYPE::layout, t.ALayoutInfoB, t.ALayoutInfoN, t.ALayoutInfoG, t.ALayoutInfoD, uint64_t(m_) * k_, transA_ ? m_ : k_);
    }
    Layout layout_b() const
    {
        const TCubeTiling &t = tiling_;
        return layout_of(B_TYPE::layout, t.BLayoutInfoB, t.BLayoutInfoN, t.BLayoutInfoG, t.BLayoutInfoD, uint64_t(n_) * k_, transB_ ? k_ : n_);
    }
    Layout layout_c() const
    {
        const TCubeTiling &t = tiling_;
        return layout_of(C_TYPE::layout, t.CLayoutInfoB, t.CLayoutInfoN, t.CLayoutInfoG, t.CLayoutInfoS2, uint64_t(m_) * n_, n_);
    }
    /* Is an axis of C shorter than the same one of A and B, so that products are added? */
    bool reduces() const
    {
        const TCubeTiling &t = tiling_;
        auto one = [](int c, int a, int b) { return c == 1 && (a > 1 || b > 1); };
        return one(t.CLayoutInfoG, t.ALayoutInfoG, t.BLayoutInfoG) || one(t.CLayoutInfoN, t.ALayoutInfoN, t.BLayoutInfoN) ||
               one(t.CLayoutInfoB, t.ALayoutInfoB, t.BLayoutInfoB);
    }
    /* Batches `turn` * max(batchA, batchB) and on; the operand with fewer is used again. */
    void batch(uint64_t c, uint32_t batchA, uint32_t batchB, uint32_t strideA, uint32_t strideB, uint8_t atomic, uint32_t turn, const acraft::Site &s)
    {
        static_assert(A_TYPE::format == CubeFormat::ND && B_TYPE::format == CubeFormat::ND && !How::c_nz,
                      "acraft-unsupported: Matmul in batches of operands in NZ format");
        if (reduces()) acraft::unsupported("Matmul in batches that are added", s);
        uint32_t count = batchA > batchB ? batchA : batchB;
        Layout la = layout_a(), lb = layout_b(), lc = layout_c();
        if (strideA) la.step = strideA;
        if (strideB) lb.step = strideB;
        for (uint32_t i = 0; i < count; i++) {
            acraft::MatmulJob j = job(c + lc.at(turn * count + i) * sizeof(DstT), atomic);
            j.a += la.at(turn * batchA + i / (count / batchA)) * sizeof(SrcAT);
            j.b += lb.at(turn * batchB + i / (count / batchB)) * sizeof(SrcBT);
            if (bias_ && config_.isBiasBatch) j.bias += uint64_t(turn * count + i) * uint32_t(n_) * sizeof(BiasT);
            j.lda = uint32_t(la.pitch);
            j.ldb = uint32_t(lb.pitch);
            j.ldc = uint32_t(lc.pitch);
            start(j, -1, false, s);
        }
    }

    TCubeTiling tiling_ = {};
    uint64_t a_ = 0, b_ = 0, bias_ = 0, quant_ = 0, object_ = 0, workspace_ = 0, user_ = 0, data_ = 0;
    uint64_t ticket_ = 0; /* of its last job */
    int orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, orgKc_ = 0, m_ = 0, n_ = 0, k_ = 0;
    uint32_t batchA_ = 1, batchB_ = 1, taken_ = 0;
    bool transA_ = A_TYPE::isTrans, transB_ = B_TYPE::isTrans, spilled_a_ = false, spilled_b_ = false, quantVector_ = false;
    bool ahead_ = false; /* Iterate was called without sync */
    int64_t next_ = -1;
    acraft::matmul::Stages stages_; /* of the blocks that Iterate computes */
    acraft::MatmulJob blocks_ = {};
    bool running_ = false, made_ = false; /* the buffers are open; a block stands in L0C */
    uint32_t slot_ = 0;                   /* and where */
};
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto &, typename...> class POLICY = Impl::Detail::MatmulPolicy>
using MatmulImpl = Matmul<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, POLICY>;

namespace mailbox {

/* Objects and tilings alternate; a null tiling is set later by Init. */
inline void register_all(TPipe *, uint64_t) {}
template <typename Object, typename Tiling, typename... More> inline void register_all(TPipe *pipe, uint64_t number, Object &object, Tiling tiling, More &&...more)
{
    object.register_as(number);
    if constexpr (std::is_pointer<Tiling>::value) object.Init(tiling, pipe);
    register_all(pipe, number + 1, std::forward<More>(more)...);
}
inline void serve_one(uint64_t, uint64_t, const acraft::MatmulJob &, int64_t, bool, const acraft::Site &) {}
template <typename Object, typename Tiling, typename... More>
inline void serve_one(uint64_t wanted, uint64_t number, const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s, Object &object, Tiling, More &&...more)
{
    if (wanted == number) object.serve(j, only, compact, s);
    else serve_one(wanted, number + 1, j, only, compact, s, std::forward<More>(more)...);
}

/* The cube core's part: answer until both vector cores have stopped. */
template <typename... Objects> inline void serve(const acraft::Site &site, Objects &&...objects)
{
    acraft::Site s = site.in("REGIST_MATMUL_OBJ");
    uint64_t done[2] = {0, 0};
    bool open[2] = {true, ratio() > 1};
    for (uint32_t sub = 0; sub < ratio(); sub++) {
        GlobalTensor<uint64_t> box = slot(acraft_core.block_idx, sub);
        box.SetValue(POSTED, 0, s);
        box.SetValue(FINISHED, 0, s);
    }
    CrossCoreSetFlag<2, PIPE_S>(READY_FLAG, s);
    for (uint32_t sub = 0; open[0] || open[1]; sub = (sub + 1) % 2) {
        if (!open[sub]) continue;
        GlobalTensor<uint64_t> box = slot(acraft_core.block_idx, sub);
        if (box.GetValue(POSTED, s) == done[sub]) continue;
        uint32_t from = job_at(++done[sub]);
        uint64_t kind = box.GetValue(from + KIND, s);
        if ((kind & 0xFF) == STOP) {
            open[sub] = false;
        } else {
            acraft::Site at = place_in(kind, site.in("Matmul"));
            uint64_t only = box.GetValue(from + ONLY, s);
            serve_one(box.GetValue(from + OBJECT, s), 0, read_job(box, from, s), int64_t(only & ~(1ull << 63)) - 1, only >> 63, at, std::forward<Objects>(objects)...);
            acraft::put_barrier(NPU_PIPE_ALL, at);
        }
        box.SetValue(FINISHED, done[sub], s);
        DataCacheCleanAndInvalid<uint64_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(box, s);
    }
}

/* The vector core's part: what was registered is served until the block it stands in is left. */
struct Client {
    explicit Client(const acraft::Site &where) : site(where.in("REGIST_MATMUL_OBJ")) { CrossCoreWaitFlag<2, PIPE_S>(READY_FLAG, site); }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    ~Client() { post(STOP, 0, acraft::MatmulJob(), -1, false, site); }
    acraft::Site site;
};

}  // namespace mailbox

}  // namespace AscendC

namespace matmul = AscendC;

#ifdef ASCENDC_CUBE_ONLY
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                   \
    if ASCEND_IS_AIV return;                                                                       \
    (void)(workspace);                                                                             \
    AscendC::mailbox::register_all(tpipe, 0, __VA_ARGS__)
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                   \
    (void)(workspace);                                                                             \
    AscendC::mailbox::register_all(tpipe, 0, __VA_ARGS__);                                         \
    if ASCEND_IS_AIC {                                                                             \
        AscendC::mailbox::serve(acraft::Site(), __VA_ARGS__);                                      \
        return;                                                                                    \
    }                                                                                              \
    AscendC::mailbox::Client acraft_matmul_client{acraft::Site()}
#endif
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

#endif
