/* C = A B (+ bias) on one cube core, from GM to GM, over basic calls: the work behind the Matmul
 * object. In: a MatmulJob. Out: copy, load, product and fixpipe records. Blocks are done one after
 * the other with full flags between pipes; nothing overlaps. */
#ifndef ACRAFT_MATMUL_CORE_H
#define ACRAFT_MATMUL_CORE_H

#include "acraft/cube.h"

namespace acraft {

/* Sizes in elements; addresses are GM pointers as numbers. */
struct MatmulJob {
    uint64_t a, b, bias, c, quant;
    uint32_t m, n, k;         /* of the product */
    uint32_t lda, ldb, ldc;   /* row lengths in memory */
    uint32_t base_m, base_n, base_k;
    uint32_t flags;           /* MATMUL_* */
};
enum { MATMUL_TRANS_A = 1, MATMUL_TRANS_B = 2, MATMUL_BIAS = 4, MATMUL_ATOMIC = 8, MATMUL_NZ = 16, MATMUL_RELU = 32,
       MATMUL_QUANT_VECTOR = 64 };

namespace matmul {

using AscendC::LocalTensor;
using AscendC::TPosition;
using AscendC::HardEvent;

constexpr uint32_t up(uint32_t v, uint32_t unit) { return (v + unit - 1) / unit * unit; }

template <typename T> inline LocalTensor<T> at(TPosition pos, uint32_t byte, uint32_t bytes)
{
    LocalTensor<T> t(pos, byte, bytes * 8 / bits_of<T>());
    t.open_ = false;
    return t;
}
template <typename T> inline AscendC::GlobalTensor<T> gm(uint64_t pointer)
{
    AscendC::GlobalTensor<T> t;
    t.SetGlobalBuffer(reinterpret_cast<T *>(static_cast<uintptr_t>(pointer)));
    return t;
}

/* rows x columns of a row-major matrix into NZ with `tall` rows per column of blocks. */
template <typename T>
inline void to_nz(const LocalTensor<T> &l1, const AscendC::GlobalTensor<T> &from, uint32_t rows, uint32_t columns, uint32_t ld, uint32_t tall,
                  const Site &s)
{
    if (ld <= 65535) {
        AscendC::DataCopy(l1, from, AscendC::Nd2NzParams(1, uint16_t(rows), uint16_t(columns), 0, uint16_t(ld), uint16_t(tall), 1, 0), s);
        return;
    }
    for (uint32_t r = 0; r < rows; r++)
        AscendC::DataCopy(l1[r * per_block<T>()], from[uint64_t(r) * ld],
                          AscendC::Nd2NzParams(1, 1, uint16_t(columns), 0, 65535, uint16_t(tall), 1, 0), s);
}

/* Fractals along one axis, at most 255 a call. */
template <typename T>
inline void load_run(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t start, uint32_t count, uint32_t stride, bool transpose, const Site &s)
{
    constexpr uint32_t fractal = 512u * 8u / bits_of<T>();
    for (uint32_t i = 0; i < count; i += 255) {
        uint32_t part = count - i < 255 ? count - i : 255;
        AscendC::LoadData(to[i * fractal], from,
                          AscendC::LoadData2DParams(uint16_t(start + i * stride), uint8_t(part), uint16_t(stride), 0, 0, transpose, 0), s);
    }
}

/* A block in Zz: k-fractals of a row of 16 follow each other. */
template <typename T>
inline void load_a(const LocalTensor<T> &l0, const LocalTensor<T> &l1, uint32_t m, uint32_t k, bool trans, const Site &s)
{
    constexpr uint32_t c0 = per_block<T>(), fractal = 512u * 8u / bits_of<T>();
    uint32_t mb = up(m, 16) / 16, kb = up(k, c0) / c0;
    if (!trans) {
        for (uint32_t i = 0; i < mb; i++) load_run(l0[i * kb * fractal], l1, i, kb, mb, false, s);
    } else if constexpr (sizeof(T) == 2) {
        for (uint32_t i = 0; i < mb; i++) load_run(l0[i * kb * fractal], l1, i * kb, kb, 1, true, s);
    } else if constexpr (sizeof(T) == 4) {
        for (uint32_t slab = 0; slab < up(k, 16) / 16; slab++)
            AscendC::LoadDataWithTranspose(l0[slab * 2 * fractal], l1[slab * up(m, 16) * 16],
                                           AscendC::LoadData2dTransposeParams(0, uint8_t(mb), 1, uint16_t(kb - 1), 0), s);
    } else {
        for (uint32_t j = 0; j < kb; j++)
            AscendC::LoadDataWithTranspose(l0[j * fractal], l1,
                                           AscendC::LoadData2dTransposeParams(uint16_t(j), uint8_t(up(m, 32) / 32), uint16_t(kb),
                                                                              uint16_t(2 * kb - 1), uint16_t(kb - 1)), s);
    }
}

/* B block in Zn: n-fractals of a row of k follow each other. */
template <typename T>
inline void load_b(const LocalTensor<T> &l0, const LocalTensor<T> &l1, uint32_t k, uint32_t n, bool trans, const Site &s)
{
    constexpr uint32_t c0 = per_block<T>(), fractal = 512u * 8u / bits_of<T>();
    uint32_t nb = up(n, 16) / 16, kb = up(k, c0) / c0;
    if (trans) {
        load_run(l0, l1, 0, kb * nb, 1, false, s);
    } else if constexpr (sizeof(T) == 2) {
        for (uint32_t i = 0; i < kb; i++) load_run(l0[i * nb * fractal], l1, i, nb, kb, true, s);
    } else if constexpr (sizeof(T) == 4) {
        for (uint32_t slab = 0; slab < up(k, 16) / 16; slab++)
            AscendC::LoadDataWithTranspose(l0[slab * 2 * nb * fractal], l1[slab * up(n, 16) * 16],
                                           AscendC::LoadData2dTransposeParams(0, uint8_t(nb), 1, 0, uint16_t(nb - 1)), s);
    } else {
        uint32_t wide = up(n, 32) / 16;
        for (uint32_t j = 0; j < kb; j++)
            AscendC::LoadDataWithTranspose(l0[j * wide * fractal], l1,
                                           AscendC::LoadData2dTransposeParams(uint16_t(j), uint8_t(wide / 2), uint16_t(kb), 1, 0), s);
    }
}

/* How many rows a column of NZ blocks has in L1, by what the load wants. */
template <typename T> constexpr uint32_t tall_of(uint32_t rows, bool transposing)
{
    return transposing ? (sizeof(T) == 1 ? up(rows, 32) : up(rows, 16)) : up(rows, 16);
}

/* A matrix to be transposed on its way to L0 goes in as it lies; words go in slabs of 16 rows, so
 * that squares are contiguous. */
template <typename T>
inline void fetch(const LocalTensor<T> &l1, uint64_t pointer, uint32_t rows, uint32_t columns, uint32_t ld, bool transposing, const Site &s)
{
    if (transposing && sizeof(T) == 4) {
        for (uint32_t r = 0; r < rows; r += 16)
            to_nz(l1[r * up(columns, 16)], gm<T>(pointer + uint64_t(r) * ld * sizeof(T)), rows - r < 16 ? rows - r : 16, columns, ld, 16, s);
        return;
    }
    to_nz(l1, gm<T>(pointer), rows, columns, ld, tall_of<T>(rows, transposing), s);
}

/* Between two pipes both ways of one hand-over. */
inline void hand_over(HardEvent evt, const Site &s) { sync_inside(evt, s); }

template <const AscendC::FixpipeConfig &config> struct As {
    static constexpr const AscendC::FixpipeConfig &value = config;
};

/* The factors of the columns from n0 on stand in L1 when the block is stored. */
inline void fetch_factors(const MatmulJob &j, uint32_t n0, uint32_t n, const Site &s)
{
    LocalTensor<uint64_t> l1 = at<uint64_t>(TPosition::C1, 484 * 1024, 8192);
    AscendC::DataCopy(l1, gm<uint64_t>(j.quant + uint64_t(n0) * 8), up(n, 16), s);
    hand_over(HardEvent::MTE2_FIX, s);
}

template <typename C, typename L0C>
inline void store(const MatmulJob &j, const LocalTensor<L0C> &l0c, uint64_t to, uint32_t m, uint32_t n, const Site &s)
{
    AscendC::FixpipeParamsV220 p;
    p.nSize = uint16_t(n);
    p.mSize = uint16_t(m);
    p.srcStride = uint16_t(up(m, 16));
    p.reluEn = j.flags & MATMUL_RELU;
    p.quantPre = std::is_same<L0C, int32_t>::value ? (std::is_same<C, int32_t>::value ? NoQuant : sizeof(C) == 1 ? REQ8 : DEQF16)
                 : std::is_same<C, half>::value    ? F322F16
                 : std::is_same<C, bfloat16_t>::value ? F322BF16
                                                      : NoQuant;
    p.deqScalar = j.quant;
    if (j.flags & MATMUL_QUANT_VECTOR) p.quantPre = p.quantPre == REQ8 ? VREQ8 : VDEQF16;
    LocalTensor<uint64_t> factors = at<uint64_t>(TPosition::C1, 484 * 1024, 8192);
    auto out = [&](const auto &config_of) {
        constexpr const AscendC::FixpipeConfig &config = std::remove_reference_t<decltype(config_of)>::value;
        if (j.flags & MATMUL_QUANT_VECTOR) AscendC::Fixpipe<C, L0C, config>(gm<C>(to), l0c, factors, p, s);
        else AscendC::Fixpipe<C, L0C, config>(gm<C>(to), l0c, p, s);
    };
    if (j.flags & MATMUL_ATOMIC) AscendC::SetAtomicAdd<std::conditional_t<sizeof(C) == 8, float, C>>(s);
    if (j.flags & MATMUL_NZ) {
        p.dstStride = up(j.m, 16) * 16 * uint32_t(sizeof(C)) / 32;
        out(As<AscendC::CFG_NZ>());
    } else {
        p.dstStride = j.ldc;
        out(As<AscendC::CFG_ROW_MAJOR>());
    }
    if (j.flags & MATMUL_ATOMIC) AscendC::SetAtomicNone(s);
}

template <typename Bias> inline void fetch_bias(const MatmulJob &j, uint32_t n0, uint32_t n, const Site &s)
{
    LocalTensor<Bias> l1 = at<Bias>(TPosition::C1, 480 * 1024, 4096);
    LocalTensor<float> table = at<float>(TPosition::C2, 0, 1024);
    uint32_t units = up(n * uint32_t(sizeof(Bias)), 64) / 64;
    AscendC::DataCopy(l1, gm<Bias>(j.bias + uint64_t(n0) * sizeof(Bias)), AscendC::DataCopyParams(1, uint16_t(units * 2), 0, 0), s);
    hand_over(HardEvent::MTE2_MTE1, s);
    AscendC::DataCopy(table, l1, AscendC::DataCopyParams(1, uint16_t(units), 0, 0), s);
    hand_over(HardEvent::MTE1_M, s);
}

/* One base block of C at (m0, n0). */
template <typename A, typename B, typename C, typename Bias>
inline void block(const MatmulJob &j, uint32_t m0, uint32_t n0, uint64_t to, const Site &s)
{
    using L0C = std::conditional_t<sizeof(A) == 1, int32_t, float>;
    bool ta = j.flags & MATMUL_TRANS_A, tb = j.flags & MATMUL_TRANS_B;
    uint32_t m = j.m - m0 < j.base_m ? j.m - m0 : j.base_m, n = j.n - n0 < j.base_n ? j.n - n0 : j.base_n;
    LocalTensor<A> a1 = at<A>(TPosition::A1, 0, 240 * 1024), a2 = at<A>(TPosition::A2, 0, 64 * 1024);
    LocalTensor<B> b1 = at<B>(TPosition::B1, 240 * 1024, 240 * 1024), b2 = at<B>(TPosition::B2, 0, 64 * 1024);
    LocalTensor<L0C> c1 = at<L0C>(TPosition::CO1, 0, 128 * 1024);
    for (uint32_t k0 = 0; k0 < j.k; k0 += j.base_k) {
        uint32_t k = j.k - k0 < j.base_k ? j.k - k0 : j.base_k;
        uint64_t pa = j.a + (ta ? uint64_t(k0) * j.lda + m0 : uint64_t(m0) * j.lda + k0) * sizeof(A);
        uint64_t pb = j.b + (tb ? uint64_t(n0) * j.ldb + k0 : uint64_t(k0) * j.ldb + n0) * sizeof(B);
        fetch(a1, pa, ta ? k : m, ta ? m : k, j.lda, ta, s);
        fetch(b1, pb, tb ? n : k, tb ? k : n, j.ldb, !tb, s);
        if (k0 == 0 && (j.flags & MATMUL_BIAS)) fetch_bias<Bias>(j, n0, n, s);
        if (k0 == 0 && (j.flags & MATMUL_QUANT_VECTOR)) fetch_factors(j, n0, n, s);
        hand_over(HardEvent::MTE2_MTE1, s);
        load_a(a2, a1, m, k, ta, s);
        load_b(b2, b1, k, n, tb, s);
        hand_over(HardEvent::MTE1_M, s);
        hand_over(HardEvent::MTE1_MTE2, s);
        AscendC::MmadParams p;
        p.m = uint16_t(m == 1 ? 16 : m); /* one row alone would be read as a vector, not as fractals */
        p.n = uint16_t(n);
        p.k = uint16_t(k);
        p.cmatrixInitVal = k0 == 0;
        if (k0 == 0 && (j.flags & MATMUL_BIAS)) AscendC::Mmad(c1, a2, b2, at<L0C>(TPosition::C2, 0, 1024), p, s);
        else AscendC::Mmad(c1, a2, b2, p, s);
        hand_over(HardEvent::M_MTE1, s);
        put_barrier(NPU_PIPE_M, s);
    }
    hand_over(HardEvent::M_FIX, s);
    store<C>(j, c1, to, m, n, s);
    hand_over(HardEvent::FIX_M, s);
}

/* Does L0 hold what a base block wants? If not, a smaller k step is taken. */
template <typename A> inline void fit(MatmulJob &j)
{
    uint32_t unit = 32u * 8u / bits_of<A>() < 16 ? 16 : 32u * 8u / bits_of<A>();
    j.base_m = j.base_m ? j.base_m : 128;
    j.base_n = j.base_n ? j.base_n : 128;
    uint32_t wide = up(j.base_m, 32) > up(j.base_n, 32) ? up(j.base_m, 32) : up(j.base_n, 32);
    uint32_t most = 65536u * 8u / bits_of<A>() / wide / unit * unit;
    if (j.base_k == 0 || j.base_k > most) j.base_k = most;
    if (j.base_k % unit) j.base_k = up(j.base_k, unit) <= most ? up(j.base_k, unit) : most;
}

/* The whole product, or block number `only` of it (in rows of blocks) written at c itself. */
template <typename A, typename B, typename C, typename Bias> inline void run(MatmulJob j, int64_t only, bool compact, const Site &s)
{
    fit<A>(j);
    for (uint32_t m0 = 0, i = 0; m0 < j.m; m0 += j.base_m)
        for (uint32_t n0 = 0; n0 < j.n; n0 += j.base_n, i++) {
            if (only >= 0 && i != uint64_t(only)) continue;
            uint64_t offset = j.flags & MATMUL_NZ ? uint64_t(n0) * up(j.m, 16) + uint64_t(m0) * 16 : uint64_t(m0) * j.ldc + n0;
            block<A, B, C, Bias>(j, m0, n0, j.c + (compact ? 0 : offset * sizeof(C)), s);
        }
}

}  // namespace matmul
}  // namespace acraft

#endif
