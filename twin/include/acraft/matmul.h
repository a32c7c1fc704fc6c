/* The Matmul object. On a cube core it computes; on a vector core of a mixed kernel it asks the
 * cube core of its block through a mailbox in the system workspace, as the vendor's does:
 *
 *     vector core                       cube core (inside REGIST_MATMUL_OBJ)
 *     write the job, raise `posted`  -> poll `posted`, do the jobs in order
 *     poll `finished`                <- raise `finished`
 *
 * A mailbox holds a few jobs, so that a kernel may start one product while another is under way.
 *
 * The cube core's REGIST_MATMUL_OBJ serves until every vector core has left the block that holds its
 * own, then returns from the kernel. */
#ifndef ACRAFT_MATMUL_H
#define ACRAFT_MATMUL_H

#include "acraft/matmul_core.h"

namespace AscendC {

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class IterateOrder { ORDER_M, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT, OUTER_PRODUCT, N_BUFFER_33 };
enum IterateMode : uint8_t { ITERATE_MODE_NORMAL = 1, ITERATE_MODE_ALL = 2, ITERATE_MODE_BATCH = 4, ITERATE_MODE_N_BATCH = 8,
                             ITERATE_MODE_DEFAULT = 255 };

/* Only names: none of these switches changes a result. */
struct MatmulConfig {
    bool doNorm = true;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false;
    uint32_t basicM = 0, basicN = 0, basicK = 0;
    bool intrinsicsCheck = false;
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0, singleCoreN = 0, singleCoreK = 0;
    uint32_t stepM = 0, stepN = 0;
    uint32_t baseMN = 0, singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true, enableGetTensorC = true, enableSetOrgShape = true, enableSetBias = true, enableSetTail = true;
    bool enableQuantVector = true, enableSetDefineData = true;
    uint8_t iterateMode = ITERATE_MODE_DEFAULT;
    bool enableReuse = true, enableUBReuse = false, enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false, isBiasBatch = true, enableStaticPadZeros = false;
};
constexpr MatmulConfig CFG_NORM = {};
constexpr MatmulConfig CFG_MDL = {false, false, true};
constexpr MatmulConfig CFG_IBSHARE_NORM = {};
constexpr MatmulConfig MM_CFG_BB = {false, true};
constexpr MatmulConfig GetNormalConfig(const bool check = false, const bool = false, const bool = false, const BatchMode = BatchMode::NONE,
                                       const bool = true, const IterateOrder = IterateOrder::UNDEF,
                                       const ScheduleType = ScheduleType::INNER_PRODUCT, const bool = true, const bool = false)
{
    MatmulConfig c;
    c.intrinsicsCheck = check;
    return c;
}
constexpr MatmulConfig GetMDLConfig(const bool check = false, const bool = false, const uint32_t = 0, const bool = false, const bool = false,
                                    const bool = false, const bool = true)
{
    MatmulConfig c;
    c.doMultiDataLoad = true;
    c.intrinsicsCheck = check;
    return c;
}
constexpr MatmulConfig GetIBShareNormConfig(const bool = false, const bool = false, const bool = false, const BatchMode = BatchMode::NONE, const bool = false)
{
    return MatmulConfig();
}
constexpr MatmulConfig GetBasicConfig(const uint32_t m, const uint32_t n, const uint32_t k, const bool = false, const bool = false, const BatchMode = BatchMode::NONE)
{
    MatmulConfig c;
    c.basicM = m;
    c.basicN = n;
    c.basicK = k;
    return c;
}

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE,
          bool IBSHARE = false, TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    static constexpr TPosition pos = POSITION;
    static constexpr CubeFormat format = FORMAT;
    using T = TYPE;
    static constexpr bool isTrans = ISTRANS;
    static constexpr LayoutMode layout = LAYOUT;
    static constexpr bool ibShare = IBSHARE;
    static constexpr TPosition srcPos = SRCPOS;
};

struct MatrixOffset {
    int32_t offset = 0, row = 0, col = 0, height = 0, width = 0;
};

namespace mailbox {

/* 128 words of 8 bytes per vector core: the posted and the finished count, each in a cache line of
 * its own, then the jobs in turn. */
enum { WORDS = 128, POSTED = 0, FINISHED = 8, JOBS = 4, FIRST_JOB = 16, JOB_WORDS = 16 };
enum { KIND = 0, OBJECT = 1, ONLY = 2, SIZES = 3 }; /* words of a job */
enum { RUN = 1, STOP = 2, READY_FLAG = 10, BOXES_BYTES = 128 << 10 };

inline uint32_t ratio() { return acraft_core.sub_block_num ? acraft_core.sub_block_num : 1; }

inline GlobalTensor<uint64_t> slot(uint32_t cube, uint32_t sub)
{
    GlobalTensor<uint64_t> t;
    t.SetGlobalBuffer(reinterpret_cast<uint64_t *>(acraft_core.workspace) + (uint64_t(cube) * 2 + sub) * WORDS);
    return t;
}
inline GlobalTensor<uint64_t> mine()
{
    return slot(acraft_core.block_idx / ratio(), acraft_core.sub_block_idx);
}
/* Where the n-th job (from 1) lies in a mailbox. */
inline uint32_t job_at(uint64_t n) { return FIRST_JOB + uint32_t((n - 1) % JOBS) * JOB_WORDS; }
/* Scratch in GM behind the mailboxes, 160 KB a vector core. */
inline uint64_t scratch()
{
    uint64_t index = uint64_t(acraft_core.block_idx / ratio()) * 2 + acraft_core.sub_block_idx;
    return reinterpret_cast<uintptr_t>(acraft_core.workspace) + BOXES_BYTES + index * (160ull << 10);
}

inline void write_job(GlobalTensor<uint64_t> &to, uint32_t at, const acraft::MatmulJob &j, const acraft::Site &s)
{
    const uint64_t words[] = {j.a, j.b, j.bias, j.c, j.quant, j.m | uint64_t(j.n) << 32, j.k | uint64_t(j.lda) << 32,
                              j.ldb | uint64_t(j.ldc) << 32, j.base_m | uint64_t(j.base_n) << 32, j.base_k | uint64_t(j.flags) << 32};
    for (uint32_t i = 0; i < 10; i++) to.SetValue(at + SIZES + i, words[i], s);
}
inline acraft::MatmulJob read_job(const GlobalTensor<uint64_t> &from, uint32_t at, const acraft::Site &s)
{
    uint64_t w[10];
    for (uint32_t i = 0; i < 10; i++) w[i] = from.GetValue(at + SIZES + i, s);
    acraft::MatmulJob j = {};
    j.a = w[0];
    j.b = w[1];
    j.bias = w[2];
    j.c = w[3];
    j.quant = w[4];
    j.m = uint32_t(w[5]);
    j.n = uint32_t(w[5] >> 32);
    j.k = uint32_t(w[6]);
    j.lda = uint32_t(w[6] >> 32);
    j.ldb = uint32_t(w[7]);
    j.ldc = uint32_t(w[7] >> 32);
    j.base_m = uint32_t(w[8]);
    j.base_n = uint32_t(w[8] >> 32);
    j.base_k = uint32_t(w[9]);
    j.flags = uint32_t(w[9] >> 32);
    return j;
}

/* Where the vector core's call stands goes with the kind of the job, so that the cube core can name
 * it: 8 bits of kind, 32 of line, 24 that tell the files apart. */
inline uint64_t file_mark(const char *file)
{
    uint32_t hash = 2166136261u;
    for (; *file; file++) hash = (hash ^ uint8_t(*file)) * 16777619u;
    return uint64_t(hash & 0xFFFFFF) << 40;
}
inline uint64_t with_place(uint64_t kind, const acraft::Site &s) { return kind | uint64_t(s.line) << 8 | file_mark(s.file); }
inline acraft::Site place_in(uint64_t word, const acraft::Site &s)
{
    acraft::Site at = s;
    if (word >> 40 << 40 == file_mark(s.file)) at.line = uint32_t(word >> 8);
    return at;
}

inline uint64_t posted = 0;

inline uint64_t finished = 0; /* as far as this core has seen */

inline void wait(uint64_t number, const acraft::Site &s)
{
    GlobalTensor<uint64_t> box = mine();
    do finished = box.GetValue(FINISHED, s);
    while (finished < number);
}
/* On a vector core: what went before must have arrived in GM. Returns the job's number. */
inline uint64_t post(uint64_t kind, uint64_t object, const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s)
{
    GlobalTensor<uint64_t> box = mine();
    acraft::put_barrier(NPU_PIPE_ALL, s);
    if (posted >= finished + JOBS) wait(posted + 1 - JOBS, s);
    uint32_t at = job_at(++posted);
    box.SetValue(at + KIND, with_place(kind, s), s);
    box.SetValue(at + OBJECT, object, s);
    box.SetValue(at + ONLY, uint64_t(only + 1) | uint64_t(compact) << 63, s);
    write_job(box, at, j, s);
    box.SetValue(POSTED, posted, s);
    DataCacheCleanAndInvalid<uint64_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(box, s);
    return posted;
}

}  // namespace mailbox

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, typename... Rest> class Matmul {
public:
    using SrcAT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    using SrcT = SrcAT;

    void Init(const TCubeTiling *tiling, TPipe * = nullptr)
    {
        tiling_ = *tiling;
        orgM_ = tiling->M;
        orgN_ = tiling->N;
        orgKa_ = tiling->Ka;
        orgKb_ = tiling->Kb;
        orgKc_ = 0;
        SetSingleShape(tiling->singleCoreM, tiling->singleCoreN, tiling->singleCoreK);
        bias_ = 0;
    }
    void SetSubBlockIdx(uint8_t) {}
    template <class T> void SetWorkspace(GlobalTensor<T> &) {}
    template <class T> void SetWorkspace(__gm__ const T *, int) {}
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
    /* A tensor in UB goes to GM scratch first; the cube core reads it there. */
    void SetTensorA(const LocalTensor<SrcAT> &local, bool isTransposeA = false, ACRAFT_SITE)
    {
        SetTensorA(spill(local, 0, uint32_t(m_) * uint32_t(k_), site), isTransposeA);
        spilled_a_ = true;
    }
    void SetTensorB(const LocalTensor<SrcBT> &local, bool isTransposeB = false, ACRAFT_SITE)
    {
        SetTensorB(spill(local, 48 << 10, uint32_t(n_) * uint32_t(k_), site), isTransposeB);
        spilled_b_ = true;
    }
    void SetBias(const GlobalTensor<BiasT> &gm) { bias_ = reinterpret_cast<uintptr_t>(gm.GetPhyAddr()); }
    void SetBias(const LocalTensor<BiasT> &local, ACRAFT_SITE) { SetBias(spill(local, 96 << 10, uint32_t(n_), site)); }
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
        start(job(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), enAtomic), -1, false, site.in("Matmul::IterateAll"));
        if (sync) WaitIterateAll(site);
    }
    template <bool sync = true> void IterateAll(const LocalTensor<DstT> &local, uint8_t enAtomic = 0, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Matmul::IterateAll");
        acraft::MatmulJob j = job(mailbox::scratch() + (112 << 10), enAtomic);
        j.ldc = row(uint32_t(n_));
        start(j, -1, false, s);
        WaitIterateAll(s);
        bring(local, uint32_t(m_) * j.ldc, s);
    }
    void WaitIterateAll(ACRAFT_SITE)
    {
        if (g_coreType == AIV) mailbox::wait(ticket_, site.in("Matmul::WaitIterateAll"));
    }
    void WaitIterateBatch(ACRAFT_SITE) { WaitIterateAll(site); }

    /* Blocks one by one, along M first or N first as the tiling says. */
    template <bool sync = true> bool Iterate(bool = false)
    {
        next_++;
        if (next_ < int64_t(blocks_m()) * blocks_n()) return true;
        next_ = -1;
        return false;
    }
    template <bool sync = true> void GetTensorC(const GlobalTensor<DstT> &gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Matmul::GetTensorC");
        acraft::MatmulJob j = job(reinterpret_cast<uintptr_t>(gm.GetPhyAddr()), enAtomic);
        if (enSequentialWrite) j.ldc = width();
        start(j, number(), enSequentialWrite, s);
        WaitIterateAll(s);
    }
    template <bool sync = true> void GetTensorC(const LocalTensor<DstT> &local, uint8_t enAtomic = 0, bool = false, ACRAFT_SITE)
    {
        acraft::Site s = site.in("Matmul::GetTensorC");
        acraft::MatmulJob j = job(mailbox::scratch() + (112 << 10), enAtomic);
        j.ldc = row(width());
        start(j, number(), true, s);
        WaitIterateAll(s);
        bring(local, height() * j.ldc, s);
    }
    MatrixOffset GetOffsetC() { return {}; }
    void End() {}

    /* On the cube core: a job that came through the mailbox. */
    void serve(const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s)
    {
        acraft::matmul::run<SrcAT, SrcBT, DstT, BiasT>(j, only, compact, s);
    }
    void register_as(uint64_t object) { object_ = object; }

private:
    static uint32_t row(uint32_t n) { return acraft::matmul::up(n, acraft::per_block<DstT>()); }
    uint32_t base_m() const { return uint32_t(tiling_.baseM > 0 ? tiling_.baseM : 128); }
    uint32_t base_n() const { return uint32_t(tiling_.baseN > 0 ? tiling_.baseN : 128); }
    uint32_t blocks_m() const { return (uint32_t(m_) + base_m() - 1) / base_m(); }
    uint32_t blocks_n() const { return (uint32_t(n_) + base_n() - 1) / base_n(); }
    /* The current block's number in rows of blocks. */
    int64_t number() const
    {
        if (tiling_.iterateOrder == 1) return next_;
        return next_ % blocks_m() * blocks_n() + next_ / blocks_m();
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
        j.lda = uint32_t(spilled_a_ ? (transA_ ? m_ : k_) : transA_ ? orgM_ : orgKa_);
        j.ldb = uint32_t(spilled_b_ ? (transB_ ? k_ : n_) : transB_ ? orgKb_ : orgN_);
        j.ldc = uint32_t(orgKc_ ? orgKc_ : orgN_);
        j.base_m = base_m();
        j.base_n = base_n();
        j.base_k = uint32_t(tiling_.baseK > 0 ? tiling_.baseK : 0);
        j.flags = (transA_ ? acraft::MATMUL_TRANS_A : 0) | (transB_ ? acraft::MATMUL_TRANS_B : 0) | (bias_ ? acraft::MATMUL_BIAS : 0) |
                  (atomic ? acraft::MATMUL_ATOMIC : 0) | (C_TYPE::format == CubeFormat::NZ ? acraft::MATMUL_NZ : 0) |
                  (quantVector_ ? acraft::MATMUL_QUANT_VECTOR : 0);
        return j;
    }
    void start(const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s)
    {
        static_assert((A_TYPE::format == CubeFormat::ND || A_TYPE::format == CubeFormat::VECTOR) && B_TYPE::format == CubeFormat::ND,
                      "acraft-unsupported: Matmul with operands in NZ format");
        if (g_coreType == AIV) ticket_ = mailbox::post(mailbox::RUN, object_, j, only, compact, s);
        else serve(j, only, compact, s);
    }
    template <typename T> GlobalTensor<T> spill(const LocalTensor<T> &local, uint32_t offset, uint32_t count, const acraft::Site &s)
    {
        GlobalTensor<T> t;
        t.SetGlobalBuffer(reinterpret_cast<T *>(static_cast<uintptr_t>(mailbox::scratch() + offset)));
        acraft::put_barrier(NPU_PIPE_ALL, s);
        if (mailbox::finished < mailbox::posted) mailbox::wait(mailbox::posted, s); /* all jobs use the same scratch */
        DataCopyPad(t, local, DataCopyExtParams(1, uint32_t(count * sizeof(T)), 0, 0, 0), s);
        return t;
    }
    void bring(const LocalTensor<DstT> &local, uint32_t count, const acraft::Site &s)
    {
        GlobalTensor<DstT> t;
        t.SetGlobalBuffer(reinterpret_cast<DstT *>(static_cast<uintptr_t>(mailbox::scratch() + (112 << 10))));
        DataCopy(local, t, acraft::matmul::up(count, acraft::per_block<DstT>()), s);
        acraft::sync_inside(HardEvent::MTE2_V, s);
    }

    TCubeTiling tiling_ = {};
    uint64_t a_ = 0, b_ = 0, bias_ = 0, quant_ = 0, object_ = 0;
    uint64_t ticket_ = 0; /* of its last job */
    int orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, orgKc_ = 0, m_ = 0, n_ = 0, k_ = 0;
    bool transA_ = A_TYPE::isTrans, transB_ = B_TYPE::isTrans, spilled_a_ = false, spilled_b_ = false, quantVector_ = false;
    int64_t next_ = -1;
};
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, typename... Rest>
using MatmulImpl = Matmul<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, Rest...>;

namespace mailbox {

/* Objects and tilings alternate; a null tiling is set later by Init. */
inline void register_all(TPipe *, uint64_t) {}
template <typename Object, typename Tiling, typename... More> inline void register_all(TPipe *pipe, uint64_t number, Object &object, Tiling tiling, More &&...more)
{
    object.register_as(number);
    if constexpr (std::is_pointer<Tiling>::value) {
        if (tiling) object.Init(tiling, pipe);
    }
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
using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;
using AscendC::CubeFormat;
using AscendC::GetIBShareNormConfig;
using AscendC::GetMDLConfig;
using AscendC::GetNormalConfig;
using AscendC::LayoutMode;
using AscendC::MatmulConfig;

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
