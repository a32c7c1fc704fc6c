/* matmul_tiling: host tiling of the Matmul object. In: operand types and shapes. Out: a TCubeTiling
 * that splits M and N over cores and chooses base blocks that fit L0 and L1; our own choice, not
 * the vendor's search. */
#ifndef ACRAFT_HOST_MATMUL_TILING_H
#define ACRAFT_HOST_MATMUL_TILING_H

#include "acraft/host/op_def.h"

namespace matmul_tiling {

enum class TPosition : int32_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM = VECCALC, SPM, SHM = SPM, TSCM, MAX };
enum class CubeFormat : int32_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class DataType : int32_t {
    DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT8 = 2, DT_INT32 = 3, DT_UINT8 = 4, DT_INT16 = 6, DT_UINT16 = 7, DT_UINT32 = 8,
    DT_INT64 = 9, DT_UINT64 = 10, DT_DOUBLE = 11, DT_BOOL = 12, DT_BF16 = 27, DT_UNDEFINED = 28, DT_INT4 = 29, DT_BFLOAT16 = 33,
    DT_HIFLOAT8 = 34, DT_FLOAT8_E4M3FN = 35, DT_FLOAT8_E5M2 = 36, DT_FLOAT4_E2M1 = 37, DT_FLOAT8_E8M0 = 38, DT_FLOAT4_E1M2 = 39, DT_MAX = 40
};
enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };

struct MatmulConfigParams {
    int32_t mmConfigType;
    bool enableL1CacheUB;
    ScheduleType scheduleType;
    MatrixTraverse traverse;
    bool enVecND2NZ;
    MatmulConfigParams(int32_t type = 1, bool cache = false, ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                       MatrixTraverse order = MatrixTraverse::NOSET, bool byVector = false)
        : mmConfigType(type), enableL1CacheUB(cache), scheduleType(schedule), traverse(order), enVecND2NZ(byVector)
    {
    }
};

struct PlatformInfo {
    platform_ascendc::SocVersion socVersion;
    uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0;
};

struct SysTilingTempBufSize {
    int32_t ubSize = 0, l1Size = 0, l0cSize = 0;
};

class MatmulApiTilingBase {
public:
    MatmulApiTilingBase() : MatmulApiTilingBase(platform_ascendc::PlatformAscendC()) {}
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &p)
    {
        p.GetCoreMemSize(platform_ascendc::CoreMemType::L1, l1_);
        p.GetCoreMemSize(platform_ascendc::CoreMemType::L0_A, l0a_);
        p.GetCoreMemSize(platform_ascendc::CoreMemType::L0_C, l0c_);
        cores_ = int32_t(p.GetCoreNumAic());
    }
    explicit MatmulApiTilingBase(const PlatformInfo &p) : l1_(p.l1Size), l0a_(p.l0ASize), l0c_(p.l0CSize) {}
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition, CubeFormat, DataType type, bool trans = false)
    {
        type_ = type;
        transA_ = trans;
        return 0;
    }
    int32_t SetBType(TPosition, CubeFormat, DataType, bool trans = false)
    {
        transB_ = trans;
        return 0;
    }
    int32_t SetCType(TPosition, CubeFormat, DataType) { return 0; }
    int32_t SetBiasType(TPosition, CubeFormat, DataType) { return 0; }
    int32_t SetShape(int32_t m, int32_t n, int32_t k)
    {
        m_ = m;
        n_ = n;
        k_ = k;
        return 0;
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
    {
        orgM_ = m;
        orgN_ = n;
        orgKa_ = ka;
        orgKb_ = kb;
        return 0;
    }
    int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        if (m > 0) singleM_ = m;
        if (n > 0) singleN_ = n;
        if (k > 0) singleK_ = k;
        return 0;
    }
    int32_t SetSingleRange(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1) { return 0; }
    int32_t SetAlignSplit(int32_t, int32_t, int32_t) { return 0; }
    int32_t SetFixSplit(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        fixM_ = m;
        fixN_ = n;
        fixK_ = k;
        return 0;
    }
    int32_t SetBias(bool on = false)
    {
        bias_ = on;
        return 0;
    }
    int32_t EnableBias(bool on = false) { return SetBias(on); }
    int32_t SetDim(int32_t n)
    {
        cores_ = n;
        return 0;
    }
    int32_t SetBufferSpace(int32_t l1 = -1, int32_t l0c = -1, int32_t = -1, int32_t = -1)
    {
        if (l1 > 0) l1_ = uint64_t(l1);
        if (l0c > 0) l0c_ = uint64_t(l0c);
        return 0;
    }
    int32_t SetTraverse(MatrixTraverse t)
    {
        order_ = t;
        return 0;
    }
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSparse(bool = false) { return 0; }
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return set(layoutA_, b, s, n, g, d); }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return set(layoutB_, b, s, n, g, d); }
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return set(layoutC_, b, s, n, g, d); }
    int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k)
    {
        set(layoutA_, batchA, m, 1, 1, k);
        set(layoutB_, batchB, n, 1, 1, k);
        return set(layoutC_, std::max(batchA, batchB), m, 1, 1, n);
    }
    int32_t SetBatchNum(int32_t batch)
    {
        batch_ = batch;
        return 0;
    }
    void EnableMultiCoreSplitK(bool on) { splitK_ = on; }
    void SetSplitK(bool on) { splitK_ = on; }
    bool EnableL1BankConflictOptimise() { return false; }
    int32_t SetDequantType(DequantType) { return 0; }
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
    int32_t SetSplitRange(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1) { return 0; }
    void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT, MatrixTraverse order = MatrixTraverse::NOSET,
                               bool = false)
    {
        if (order != MatrixTraverse::NOSET) order_ = order;
    }
    void SetMatmulConfigParams(const MatmulConfigParams &p) { SetMatmulConfigParams(p.mmConfigType, p.enableL1CacheUB, p.scheduleType, p.traverse); }
    int32_t GetBaseM() const { return baseM_; }
    int32_t GetBaseN() const { return baseN_; }
    int32_t GetBaseK() const { return baseK_; }
    int32_t GetCoreNum(int32_t &dim, int32_t &m, int32_t &n)
    {
        dim = used_;
        m = dimM_;
        n = dimN_;
        return 0;
    }
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k)
    {
        m = singleM_;
        n = singleN_;
        k = singleK_;
        return 0;
    }

    int64_t GetTiling(optiling::TCubeTiling &t)
    {
        SetShape(m_ > 0 ? m_ : orgM_, n_ > 0 ? n_ : orgN_, k_ > 0 ? k_ : orgKa_);
        if (orgM_ <= 0) SetOrgShape(m_, n_, k_);
        if (m_ <= 0 || n_ <= 0 || k_ <= 0) return -1;
        choose();
        write(t);
        return 0;
    }
    int64_t GetTiling(AscendC::tiling::TCubeTiling &t)
    {
        optiling::TCubeTiling fields;
        int64_t got = GetTiling(fields);
        fields.SaveToBuffer(&t, sizeof t);
        return got;
    }

protected:
    bool multi_ = false;

private:
    struct Layout {
        int32_t b = 0, s = 0, n = 0, g = 0, d = 0;
    };
    static int32_t set(Layout &l, int32_t b, int32_t s, int32_t n, int32_t g, int32_t d)
    {
        l = {b, s, n, g, d};
        return 0;
    }
    static int32_t up(int32_t v, int32_t unit) { return (v + unit - 1) / unit * unit; }
    int32_t element() const { return type_ == DataType::DT_FLOAT ? 4 : type_ == DataType::DT_INT8 || type_ == DataType::DT_INT4 ? 1 : 2; }

    void choose()
    {
        int32_t c0 = 32 / element();
        baseM_ = fixM_ > 0 ? fixM_ : std::min(128, up(m_, 16));
        baseN_ = fixN_ > 0 ? fixN_ : std::min(256, up(n_, 16));
        while (uint64_t(baseM_) * uint64_t(baseN_) * 4 > l0c_ && baseN_ > 16) baseN_ -= 16;
        int32_t most = int32_t(l0a_) / 2 / element() / std::max(baseM_, baseN_) / c0 * c0;
        baseK_ = fixK_ > 0 ? fixK_ : std::max(c0, std::min(up(k_, c0), most));
        split();
    }
    /* A core's share of `whole` when `cores` of them take part: whole fractals, all of it at most. */
    static int32_t share(int32_t whole, int32_t cores, int32_t unit) { return std::min(up((whole + cores - 1) / cores, unit), whole); }

    struct Split {
        int32_t m = 1, n = 1;
        int64_t work = INT64_MAX, reads = INT64_MAX;
    };
    /* Splits over cores, of all or only of those whose shares are alike: the one that leaves the busiest core the
     * least. Of equal ones, with blocks of the caller's size the one with more parts of N, else the one that reads the
     * least and has more parts of M: as the vendor's examples say of theirs. */
    Split best(bool alike) const
    {
        Split found;
        bool given = fixM_ > 0 && fixN_ > 0;
        for (int32_t m = 1; m <= std::max(1, cores_); m++) {
            int32_t sm = share(m_, m, given ? baseM_ : 16), sn = share(n_, std::max(1, cores_) / m, given ? baseN_ : 16);
            Split s = {(m_ + sm - 1) / sm, (n_ + sn - 1) / sn, int64_t(sm) * sn, int64_t(sm) + sn};
            if (alike && (m_ % sm || n_ % sn)) continue;
            if (s.work < found.work || (s.work == found.work && !given && s.reads <= found.reads)) found = s;
        }
        return found;
    }
    /* Equal shares may cost a quarter more work: kernels may leave the tails out. */
    void split()
    {
        if (multi_) {
            Split all = best(false), even = best(true);
            const Split &s = even.work != INT64_MAX && even.work * 4 <= all.work * 5 ? even : all;
            dimM_ = s.m;
            dimN_ = s.n;
        }
        bool given = fixM_ > 0 && fixN_ > 0;
        if (singleM_ <= 0) singleM_ = share(m_, dimM_, !multi_ ? 1 : given ? baseM_ : 16);
        if (singleN_ <= 0) singleN_ = share(n_, dimN_, !multi_ ? 1 : given ? baseN_ : 16);
        if (singleK_ <= 0) singleK_ = splitK_ && multi_ ? share(k_, std::max(1, cores_ / (dimM_ * dimN_)), baseK_) : k_;
        dimM_ = multi_ ? (m_ + singleM_ - 1) / singleM_ : 1;
        dimN_ = multi_ ? (n_ + singleN_ - 1) / singleN_ : 1;
        used_ = dimM_ * dimN_ * (multi_ ? (k_ + singleK_ - 1) / singleK_ : 1);
        if (fixM_ <= 0) baseM_ = std::min(baseM_, up(singleM_, 16));
        if (fixN_ <= 0) baseN_ = std::min(baseN_, up(singleN_, 16));
    }
    void write(optiling::TCubeTiling &t)
    {
        int32_t step = std::max(1, std::min((singleK_ + baseK_ - 1) / baseK_, int32_t(l1_ / 4 / uint64_t(std::max(baseM_, baseN_) * baseK_ * element()))));
        t.set_usedCoreNum(used_);
        t.set_M(orgM_);
        t.set_N(orgN_);
        t.set_Ka(orgKa_);
        t.set_Kb(orgKb_);
        t.set_singleCoreM(singleM_);
        t.set_singleCoreN(singleN_);
        t.set_singleCoreK(singleK_);
        t.set_baseM(baseM_);
        t.set_baseN(baseN_);
        t.set_baseK(baseK_);
        t.set_depthA1(step * 2);
        t.set_depthB1(step * 2);
        t.set_stepM(1);
        t.set_stepN(1);
        t.set_stepKa(step);
        t.set_stepKb(step);
        t.set_isBias(bias_);
        t.set_iterateOrder(order_ == MatrixTraverse::FIRSTN ? 1 : 0);
        t.set_dbL0A(2);
        t.set_dbL0B(2);
        t.set_dbL0C(1);
        t.set_batchM(1);
        t.set_batchN(1);
        t.set_singleBatchM(1);
        t.set_singleBatchN(1);
        write_batch(t);
    }
    void write_batch(optiling::TCubeTiling &t)
    {
        t.set_BatchNum(batch_);
        t.set_ALayoutInfoB(layoutA_.b);
        t.set_ALayoutInfoS(layoutA_.s);
        t.set_ALayoutInfoN(layoutA_.n);
        t.set_ALayoutInfoG(layoutA_.g);
        t.set_ALayoutInfoD(layoutA_.d);
        t.set_BLayoutInfoB(layoutB_.b);
        t.set_BLayoutInfoS(layoutB_.s);
        t.set_BLayoutInfoN(layoutB_.n);
        t.set_BLayoutInfoG(layoutB_.g);
        t.set_BLayoutInfoD(layoutB_.d);
        t.set_CLayoutInfoB(layoutC_.b);
        t.set_CLayoutInfoS1(layoutC_.s);
        t.set_CLayoutInfoN(layoutC_.n);
        t.set_CLayoutInfoG(layoutC_.g);
        t.set_CLayoutInfoS2(layoutC_.d);
    }

    uint64_t l1_ = 512 * 1024, l0a_ = 64 * 1024, l0c_ = 128 * 1024;
    DataType type_ = DataType::DT_FLOAT16;
    MatrixTraverse order_ = MatrixTraverse::NOSET;
    bool transA_ = false, transB_ = false, bias_ = false, splitK_ = false;
    Layout layoutA_, layoutB_, layoutC_;
    int32_t batch_ = 0;
    int32_t m_ = -1, n_ = -1, k_ = -1, orgM_ = -1, orgN_ = -1, orgKa_ = -1, orgKb_ = -1;
    int32_t singleM_ = -1, singleN_ = -1, singleK_ = -1, fixM_ = -1, fixN_ = -1, fixK_ = -1;
    int32_t baseM_ = 0, baseN_ = 0, baseK_ = 0, cores_ = 1, used_ = 1, dimM_ = 1, dimN_ = 1;
};

class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    MultiCoreMatmulTiling() { multi_ = true; }
    explicit MultiCoreMatmulTiling(const platform_ascendc::PlatformAscendC &p) : MatmulApiTilingBase(p) { multi_ = true; }
    explicit MultiCoreMatmulTiling(const PlatformInfo &p) : MatmulApiTilingBase(p) { multi_ = true; }
};
class BatchMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
    int32_t GetCoreNum(int32_t &dim, int32_t &m, int32_t &n, int32_t &batchM, int32_t &batchN)
    {
        batchM = batchN = 1;
        return MatmulApiTilingBase::GetCoreNum(dim, m, n);
    }
};

inline int32_t MatmulGetTmpBufSize(optiling::TCubeTiling &, SysTilingTempBufSize &size)
{
    size = {};
    return 0;
}

}  // namespace matmul_tiling

#endif
