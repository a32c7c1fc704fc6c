/* C = A B (+ bias) on one cube core, from GM to GM, over basic calls: the work behind the Matmul
 * object. In: a MatmulJob. Out: copy, load, product and fixpipe records. Copies, loads, products and stores
 * overlap as far as the buffers of the tiling allow (acraft/matmul_stages.h). */
#ifndef ACRAFT_MATMUL_CORE_H
#define ACRAFT_MATMUL_CORE_H

#include "acraft/matmul_stages.h"

namespace acraft {

/* Sizes in elements; addresses are GM pointers as numbers, of operands in L1 byte offsets there. */
struct MatmulJob {
    uint64_t a, b, bias, c, quant;
    uint32_t m, n, k;         /* of the product */
    uint32_t lda, ldb, ldc;   /* row lengths in memory; in NZ format how many rows a column of blocks has */
    uint32_t base_m, base_n, base_k;
    uint32_t flags;           /* MATMUL_* */
    uint64_t user, data;      /* for functions of the user */
    MatmulSteps steps;
};
enum { MATMUL_TRANS_A = 1, MATMUL_TRANS_B = 2, MATMUL_BIAS = 4, MATMUL_ATOMIC = 8, MATMUL_QUANT_VECTOR = 16, MATMUL_ATOMIC_MAX = 32,
       MATMUL_ATOMIC_MIN = 64, MATMUL_ALONG_N = 128 };

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

/* rows x columns of a row-major matrix into NZ with `tall` rows per column of blocks; two elements of 4 bits count
 * as one. */
template <typename T>
inline void to_nz(const LocalTensor<T> &l1, const AscendC::GlobalTensor<T> &from, uint32_t rows, uint32_t columns, uint32_t ld, uint32_t tall,
                  const Site &s)
{
    if constexpr (bits_of<T>() == 4) {
        columns = (columns + 1) / 2;
        ld /= 2;
    }
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

/* The side of the squares that turn elements of at most a byte. */
template <typename T> constexpr uint32_t square() { return 256u / bits_of<T>(); }

/* A block of a matrix in NZ in L1, in fractals: how many a column of them has, where the block begins. */
struct Window {
    uint32_t tall, row, column;
};

/* A block in Zz: k-fractals of a row of 16 follow each other. A block that is transposed by the copy and whose elements
 * are not 2 bytes fills its L1 buffer alone. */
template <typename T>
inline void load_a(const LocalTensor<T> &l0, const LocalTensor<T> &l1, uint32_t m, uint32_t k, bool trans, const Window &w, const Site &s)
{
    constexpr uint32_t c0 = per_block<T>(), fractal = 512u * 8u / bits_of<T>();
    uint32_t mb = up(m, 16) / 16, kb = up(k, c0) / c0;
    if (!trans) {
        for (uint32_t i = 0; i < mb; i++) load_run(l0[i * kb * fractal], l1, w.row + i + w.column * w.tall, kb, w.tall, false, s);
    } else if constexpr (sizeof(T) == 2) {
        for (uint32_t i = 0; i < mb; i++) load_run(l0[i * kb * fractal], l1, w.row + (w.column + i) * w.tall, kb, 1, true, s);
    } else if constexpr (sizeof(T) == 4) {
        for (uint32_t slab = 0; slab < up(k, 16) / 16; slab++)
            AscendC::LoadDataWithTranspose(l0[slab * 2 * fractal], l1[slab * up(m, 16) * 16],
                                           AscendC::LoadData2dTransposeParams(0, uint8_t(mb), 1, uint16_t(kb - 1), 0), s);
    } else if constexpr (bits_of<T>() == 4) {
        unsupported("Matmul that turns A of 4 bits", s);
    } else {
        for (uint32_t j = 0; j < kb; j++)
            AscendC::LoadDataWithTranspose(l0[j * fractal], l1,
                                           AscendC::LoadData2dTransposeParams(uint16_t(j), uint8_t(up(m, 32) / 32), uint16_t(kb),
                                                                              uint16_t(2 * kb - 1), uint16_t(kb - 1)), s);
    }
}

/* B block in Zn: n-fractals of a row of k follow each other. */
template <typename T>
inline void load_b(const LocalTensor<T> &l0, const LocalTensor<T> &l1, uint32_t k, uint32_t n, bool trans, const Window &w, const Site &s)
{
    constexpr uint32_t c0 = per_block<T>(), fractal = 512u * 8u / bits_of<T>();
    uint32_t nb = up(n, 16) / 16, kb = up(k, c0) / c0;
    if (trans && w.tall == nb) {
        load_run(l0, l1, w.row + w.column * w.tall, kb * nb, 1, false, s);
    } else if (trans) {
        for (uint32_t i = 0; i < kb; i++) load_run(l0[i * nb * fractal], l1, w.row + (w.column + i) * w.tall, nb, 1, false, s);
    } else if constexpr (sizeof(T) == 2) {
        for (uint32_t i = 0; i < kb; i++) load_run(l0[i * nb * fractal], l1, w.row + i + w.column * w.tall, nb, w.tall, true, s);
    } else if constexpr (sizeof(T) == 4) {
        for (uint32_t slab = 0; slab < up(k, 16) / 16; slab++)
            AscendC::LoadDataWithTranspose(l0[slab * 2 * nb * fractal], l1[slab * up(n, 16) * 16],
                                           AscendC::LoadData2dTransposeParams(0, uint8_t(nb), 1, 0, uint16_t(nb - 1)), s);
    } else {
        constexpr uint32_t side = square<T>();
        uint32_t wide = up(n, side) / 16;
        for (uint32_t j = 0; j < kb; j++)
            AscendC::LoadDataWithTranspose(l0[j * wide * fractal], l1,
                                           AscendC::LoadData2dTransposeParams(uint16_t(j), uint8_t(up(n, side) / side), uint16_t(kb),
                                                                              uint16_t(side / 16 - 1), 0), s);
    }
}

/* How many rows a column of NZ blocks has in L1, by what the load wants. */
template <typename T> constexpr uint32_t tall_of(uint32_t rows, bool transposing)
{
    return up(rows, transposing && sizeof(T) == 1 ? square<T>() : 16);
}

/* rows x columns at (row, column) of a matrix in NZ with `pitch` rows per column of blocks, as they lie. */
template <typename T>
inline void from_nz(const LocalTensor<T> &l1, uint64_t pointer, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns, uint32_t pitch,
                    uint32_t tall, const Site &s)
{
    constexpr uint32_t c0 = per_block<T>();
    uint32_t whole = up(rows, 16);
    AscendC::DataCopy(l1, gm<T>(pointer + (uint64_t(column / c0) * pitch + row) * 32),
                      AscendC::DataCopyParams(uint16_t(up(columns, c0) / c0), uint16_t(whole), uint16_t(pitch - whole), uint16_t(tall - whole)), s);
}

/* A matrix to be transposed by the copy to L0 is loaded as it is stored; words go in slabs of 16 rows, so
 * that squares are contiguous. */
template <typename T, bool nz>
inline void fetch(const LocalTensor<T> &l1, uint64_t pointer, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns, uint32_t ld,
                  bool transposing, const Site &s)
{
    bool slabs = transposing && sizeof(T) == 4;
    uint32_t step = slabs ? 16 : rows;
    for (uint32_t r = 0; r < rows; r += step) {
        uint32_t part = rows - r < step ? rows - r : step, tall = slabs ? 16 : tall_of<T>(rows, transposing);
        if constexpr (nz) from_nz(l1[r * up(columns, 16)], pointer, row + r, column, part, columns, ld, tall, s);
        else to_nz(l1[r * up(columns, 16)], gm<T>(pointer + (uint64_t(row + r) * ld + column) * bits_of<T>() / 8), part, columns, ld, tall, s);
    }
}

/* Between two pipes, both directions of one hand-over. */
inline void hand_over(HardEvent evt, const Site &s) { sync_inside(evt, s); }

/* The factors of the columns from n0 on stand in L1 when the block is stored. */
inline void fetch_factors(const MatmulJob &j, uint32_t n0, uint32_t n, const Site &s)
{
    LocalTensor<uint64_t> l1 = at<uint64_t>(TPosition::C1, 484 * 1024, 8192);
    hand_over(HardEvent::FIX_MTE2, s);
    AscendC::DataCopy(l1, gm<uint64_t>(j.quant + uint64_t(n0) * 8), up(n, 16), s);
    hand_over(HardEvent::MTE2_FIX, s);
}

template <typename C, typename L0C> constexpr QuantMode_t quant_for(bool columns)
{
    if (std::is_same<L0C, int32_t>::value)
        return std::is_same<C, int32_t>::value ? NoQuant : sizeof(C) == 1 ? (columns ? VREQ8 : REQ8) : columns ? VDEQF16 : DEQF16;
    if (sizeof(C) == 1) return columns ? VQF322B8_PRE : QF322B8_PRE;
    return std::is_same<C, half>::value ? F322F16 : std::is_same<C, bfloat16_t>::value ? F322BF16 : NoQuant;
}
template <typename C> inline void set_atomic(const MatmulJob &j, const Site &s)
{
    using Sum = std::conditional_t<sizeof(C) == 8, float, C>;
    if (j.flags & MATMUL_ATOMIC) AscendC::SetAtomicAdd<Sum>(s);
    if (j.flags & MATMUL_ATOMIC_MAX) AscendC::SetAtomicMax<Sum>(s);
    if (j.flags & MATMUL_ATOMIC_MIN) AscendC::SetAtomicMin<Sum>(s);
}

template <typename C, typename How, typename L0C>
inline void store(const MatmulJob &j, const LocalTensor<L0C> &l0c, uint64_t to, uint32_t m, uint32_t n, uint32_t pitch, const Site &s)
{
    constexpr uint32_t c0 = How::split ? 8 : sizeof(C) == 1 ? 32 : 16;
    AscendC::FixpipeParamsV220 p;
    p.nSize = uint16_t(n);
    p.mSize = uint16_t(m);
    p.srcStride = uint16_t(up(m, 16));
    p.isChannelSplit = How::split;
    p.quantPre = quant_for<C, L0C>(j.flags & MATMUL_QUANT_VECTOR);
    p.deqScalar = j.quant;
    p.unitFlag = uint8_t(j.steps.unit_flag ? 3 : 0);
    p.dstStride = How::c_nz ? uint32_t(pitch * c0 * sizeof(C) / 32) : pitch;
    LocalTensor<uint64_t> factors = at<uint64_t>(TPosition::C1, 484 * 1024, 8192);
    set_atomic<C>(j, s);
    constexpr const AscendC::FixpipeConfig &config = How::c_nz ? AscendC::CFG_NZ : AscendC::CFG_ROW_MAJOR;
    if (j.flags & MATMUL_QUANT_VECTOR) AscendC::Fixpipe<C, L0C, config>(gm<C>(to), l0c, factors, p, s);
    else AscendC::Fixpipe<C, L0C, config>(gm<C>(to), l0c, p, s);
    if (j.flags & (MATMUL_ATOMIC | MATMUL_ATOMIC_MAX | MATMUL_ATOMIC_MIN)) AscendC::SetAtomicNone(s);
}
/* The user's function in place of store; block (row, column) of C. */
template <typename How, typename L0C>
inline void store_by_user(const MatmulJob &j, const LocalTensor<L0C> &l0c, uint64_t to, uint32_t row, uint32_t column, uint32_t m, uint32_t n,
                          uint32_t pitch)
{
    AscendC::DataCopyOutParams p;
    p.cBurstNum = uint16_t(up(n, 16) / 16);
    p.burstLen = uint16_t(m * 16 * sizeof(L0C) / 32);
    p.dstStride = pitch;
    p.oriNSize = uint16_t(n);
    p.quantScalar = j.quant;
    p.curM = int(row);
    p.curN = int(column);
    How::CallBack::DataCopyOutPtr(reinterpret_cast<const void *>(static_cast<uintptr_t>(to)), l0c.template ReinterpretCast<int8_t>(), &p, j.user,
                                  j.data);
}

template <typename Bias, typename L0C> inline void fetch_bias(const MatmulJob &j, uint32_t n0, uint32_t n, const Site &s)
{
    LocalTensor<Bias> l1 = at<Bias>(TPosition::C1, 480 * 1024, 4096);
    LocalTensor<L0C> table = at<L0C>(TPosition::C2, 0, 1024);
    uint32_t units = up(n * uint32_t(sizeof(Bias)), 64) / 64;
    hand_over(HardEvent::MTE1_MTE2, s); /* the bias of the block before has left L1, and its products the table */
    hand_over(HardEvent::M_MTE1, s);
    AscendC::DataCopy(l1, gm<Bias>(j.bias + uint64_t(n0) * sizeof(Bias)), AscendC::DataCopyParams(1, uint16_t(units * 2), 0, 0), s);
    hand_over(HardEvent::MTE2_MTE1, s);
    AscendC::DataCopy(table, l1, AscendC::DataCopyParams(1, uint16_t(units), 0, 0), s);
    hand_over(HardEvent::MTE1_M, s);
}

/* Part of an axis: from the start of the copy that holds `at`, as long as the copy. */
struct Chunk {
    uint32_t from, length, number;
};
inline Chunk chunk_of(uint32_t at, uint32_t step, uint32_t all)
{
    uint32_t number = at / step, from = number * step;
    return {from, all - from < step ? all - from : step, number};
}
inline uint64_t chunk_key(const Chunk &line, const Chunk &k) { return uint64_t(line.number) << 32 | k.number; }

/* Does the copy hold more than this block? Blocks of bytes and words that are turned fill their buffer alone. */
template <typename T> constexpr bool is_alone(bool turned) { return turned && sizeof(T) != 2; }

/* The copy that holds (m0, k0) of A into its buffer, unless it is there. */
template <typename A, typename How>
inline uint32_t fetch_a(Stages &st, const MatmulJob &j, uint32_t m0, uint32_t k0, const Site &s)
{
    bool trans = j.flags & MATMUL_TRANS_A, fresh = false;
    Chunk m = chunk_of(m0, j.steps.m * j.base_m, j.m), k = chunk_of(k0, j.steps.ka * j.base_k, j.k);
    uint32_t row = trans ? k.from : m.from, column = trans ? m.from : k.from, rows = trans ? k.length : m.length,
             columns = trans ? m.length : k.length;
    uint32_t slot = st.a1.take(chunk_key(m, k), fresh, s);
    LocalTensor<A> l1 = at<A>(TPosition::A1, st.a_at + slot * st.a_bytes, st.a_bytes);
    if (!fresh) return slot;
    if constexpr (How::CallBack::in_a)
        How::CallBack::CopyA1Ptr(l1.template ReinterpretCast<int8_t>(), reinterpret_cast<const void *>(static_cast<uintptr_t>(j.a)),
                                 int(m0 / j.base_m), int(k0 / j.base_k), int(m.length), int(k.length), j.user, j.data);
    else fetch<A, How::a_nz>(l1, j.a, row, column, rows, columns, j.lda, trans, s);
    st.a1.fill(slot, s);
    return slot;
}
template <typename B, typename How>
inline uint32_t fetch_b(Stages &st, const MatmulJob &j, uint32_t n0, uint32_t k0, const Site &s)
{
    bool trans = j.flags & MATMUL_TRANS_B, fresh = false;
    Chunk n = chunk_of(n0, j.steps.n * j.base_n, j.n), k = chunk_of(k0, j.steps.kb * j.base_k, j.k);
    uint32_t row = trans ? n.from : k.from, column = trans ? k.from : n.from, rows = trans ? n.length : k.length,
             columns = trans ? k.length : n.length;
    uint32_t slot = st.b1.take(chunk_key(n, k), fresh, s);
    LocalTensor<B> l1 = at<B>(TPosition::B1, st.b_at + slot * st.b_bytes, st.b_bytes);
    if (!fresh) return slot;
    if constexpr (How::CallBack::in_b)
        How::CallBack::CopyB1Ptr(l1.template ReinterpretCast<int8_t>(), reinterpret_cast<const void *>(static_cast<uintptr_t>(j.b)),
                                 int(k0 / j.base_k), int(n0 / j.base_n), int(k.length), int(n.length), j.user, j.data);
    else fetch<B, How::b_nz>(l1, j.b, row, column, rows, columns, j.ldb, !trans, s);
    st.b1.fill(slot, s);
    return slot;
}

/* Is the whole K of a row of blocks kept in L1? `step` elements of K in a copy. */
inline bool is_kept(const Ring &ring, const MatmulJob &j, uint32_t step) { return (j.k + step - 1) / step <= ring.count; }

/* An operand of one step in L1, and how it stands there; the copy after it is already under way where there is a buffer for
 * it. What the user keeps in L1 stands below 240 KB. */
template <typename A, typename How>
inline LocalTensor<A> bring_a(Stages &st, const MatmulJob &j, uint32_t m0, uint32_t k0, uint32_t &slot, Window &w, const Site &s)
{
    constexpr uint32_t c0 = per_block<A>();
    bool trans = j.flags & MATMUL_TRANS_A;
    if constexpr (How::a_l1) {
        if (trans && sizeof(A) != 2) unsupported("Matmul that turns an operand of this dtype in L1", s);
        w = {up(trans ? j.k : j.m, 16) / 16, (trans ? k0 : m0) / 16, (trans ? m0 : k0) / c0};
        return at<A>(TPosition::A1, uint32_t(j.a), 512 * 1024 - uint32_t(j.a));
    }
    uint32_t step = j.steps.ka * j.base_k;
    Chunk m = chunk_of(m0, j.steps.m * j.base_m, j.m), k = chunk_of(k0, step, j.k);
    slot = fetch_a<A, How>(st, j, m0, k0, s);
    if (st.a1.count > 1 && k0 == k.from && k.from + step < j.k) fetch_a<A, How>(st, j, m0, k.from + step, s);
    else if (st.a1.count > 1 && k0 == k.from && st.goes_on && !is_kept(st.a1, j, step)) fetch_a<A, How>(st, j, st.next_m, 0, s);
    st.a1.wait_full(slot, s);
    w = {tall_of<A>(trans ? k.length : m.length, trans) / 16, (trans ? k0 - k.from : m0 - m.from) / 16, (trans ? m0 - m.from : k0 - k.from) / c0};
    return at<A>(TPosition::A1, st.a_at + slot * st.a_bytes, st.a_bytes);
}
template <typename B, typename How>
inline LocalTensor<B> bring_b(Stages &st, const MatmulJob &j, uint32_t n0, uint32_t k0, uint32_t &slot, Window &w, const Site &s)
{
    constexpr uint32_t c0 = per_block<B>();
    bool trans = j.flags & MATMUL_TRANS_B;
    if constexpr (How::b_l1) {
        if (!trans && sizeof(B) != 2) unsupported("Matmul that turns an operand of this dtype in L1", s);
        w = {up(trans ? j.n : j.k, 16) / 16, (trans ? n0 : k0) / 16, (trans ? k0 : n0) / c0};
        return at<B>(TPosition::B1, uint32_t(j.b), 512 * 1024 - uint32_t(j.b));
    }
    uint32_t step = j.steps.kb * j.base_k;
    Chunk n = chunk_of(n0, j.steps.n * j.base_n, j.n), k = chunk_of(k0, step, j.k);
    slot = fetch_b<B, How>(st, j, n0, k0, s);
    if (st.b1.count > 1 && k0 == k.from && k.from + step < j.k) fetch_b<B, How>(st, j, n0, k.from + step, s);
    else if (st.b1.count > 1 && k0 == k.from && st.goes_on && !is_kept(st.b1, j, step)) fetch_b<B, How>(st, j, st.next_n, 0, s);
    st.b1.wait_full(slot, s);
    w = {tall_of<B>(trans ? n.length : k.length, !trans) / 16, (trans ? n0 - n.from : k0 - k.from) / 16, (trans ? k0 - k.from : n0 - n.from) / c0};
    return at<B>(TPosition::B1, st.b_at + slot * st.b_bytes, st.b_bytes);
}

/* A buffer goes back after the last load from it, unless it is kept for the next block. */
inline void let_go(Ring &ring, uint32_t slot, const MatmulJob &j, uint32_t k0, uint32_t step, const Site &s)
{
    bool last = k0 + j.base_k >= j.k || (k0 + j.base_k) % step == 0;
    if (ring.count && last && !is_kept(ring, j, step)) ring.give_back(slot, s);
}

/* One base block of C at (m0, n0) into L0C; `more`: added to what stands there. */
template <typename A, typename B, typename Bias, typename How, typename L0C>
inline void product(Stages &st, const MatmulJob &j, uint32_t m0, uint32_t n0, const LocalTensor<L0C> &c1, bool more, const Site &s)
{
    bool ta = j.flags & MATMUL_TRANS_A, tb = j.flags & MATMUL_TRANS_B;
    uint32_t m = j.m - m0 < j.base_m ? j.m - m0 : j.base_m, n = j.n - n0 < j.base_n ? j.n - n0 : j.base_n;
    st.a1.start_row(1 + m0 / (j.steps.m * j.base_m), s);
    st.b1.start_row(1 + n0 / (j.steps.n * j.base_n), s);
    for (uint32_t k0 = 0; k0 < j.k; k0 += j.base_k) {
        uint32_t k = j.k - k0 < j.base_k ? j.k - k0 : j.base_k, slot_a = 0, slot_b = 0;
        bool first = k0 == 0 && !more;
        Window wa, wb;
        LocalTensor<A> a1 = bring_a<A, How>(st, j, m0, k0, slot_a, wa, s);
        LocalTensor<B> b1 = bring_b<B, How>(st, j, n0, k0, slot_b, wb, s);
        if (first && (j.flags & MATMUL_BIAS)) fetch_bias<Bias, L0C>(j, n0, n, s);
        if (k0 == 0 && (j.flags & MATMUL_QUANT_VECTOR)) fetch_factors(j, n0, n, s);
        uint32_t l0 = st.l0.take(s);
        LocalTensor<A> a2 = at<A>(TPosition::A2, l0 * st.l0_bytes, st.l0_bytes);
        LocalTensor<B> b2 = at<B>(TPosition::B2, l0 * st.l0_bytes, st.l0_bytes);
        load_a(a2, a1, m, k, ta, wa, s);
        load_b(b2, b1, k, n, tb, wb, s);
        st.l0.hand_on(l0, s);
        let_go(st.a1, slot_a, j, k0, j.steps.ka * j.base_k, s);
        let_go(st.b1, slot_b, j, k0, j.steps.kb * j.base_k, s);
        AscendC::MmadParams p;
        p.m = uint16_t(m == 1 ? 16 : m); /* one row alone would be read as a vector, not as fractals */
        p.n = uint16_t(sizeof(B) == 1 && !tb ? up(n, square<B>()) : n); /* whole squares were turned */
        p.k = uint16_t(k);
        p.cmatrixInitVal = first;
        p.unitFlag = uint8_t(j.steps.unit_flag ? (k0 + j.base_k >= j.k ? 3 : 2) : 0);
        if (first && (j.flags & MATMUL_BIAS)) AscendC::Mmad(c1, a2, b2, at<L0C>(TPosition::C2, 0, 1024), p, s);
        else AscendC::Mmad(c1, a2, b2, p, s);
        st.l0.give_back(l0, s);
        if (up(m, 16) / 16 * (up(n, 16) / 16) < 10) put_barrier(NPU_PIPE_M, s); /* products of few fractals do not order themselves */
    }
}

template <typename A, typename B, typename C, typename Bias, typename How>
inline void block(Stages &st, const MatmulJob &j, uint32_t m0, uint32_t n0, uint64_t to, uint32_t pitch, const Site &s)
{
    using L0C = std::conditional_t<std::is_integral<A>::value || bits_of<A>() == 4, int32_t, float>;
    uint32_t m = j.m - m0 < j.base_m ? j.m - m0 : j.base_m, n = j.n - n0 < j.base_n ? j.n - n0 : j.base_n;
    uint32_t slot = st.c.take(s);
    LocalTensor<L0C> c1 = at<L0C>(TPosition::CO1, slot * st.c_bytes, st.c_bytes);
    product<A, B, Bias, How>(st, j, m0, n0, c1, false, s);
    if (!j.steps.unit_flag) st.c.hand_on(slot, s);
    if constexpr (How::CallBack::out) store_by_user<How>(j, c1, to, m0 / j.base_m, n0 / j.base_n, m, n, pitch);
    else store<C, How>(j, c1, to, m, n, pitch, s);
    if (!j.steps.unit_flag) st.c.give_back(slot, s);
}

/* Bytes of a copy in L1, with whole fractals or squares. */
template <typename T> constexpr uint32_t chunk_bytes(uint32_t rows, uint32_t columns)
{
    constexpr uint32_t side = square<T>() < 32 ? 32 : square<T>();
    return up(rows, side) * up(columns, side) * bits_of<T>() / 8;
}

/* Buffers as the tiling says, fewer and smaller ones where they do not fit. */
template <typename A, typename B, typename How> inline Stages open_stages(MatmulJob &j)
{
    using L0C = std::conditional_t<std::is_integral<A>::value || bits_of<A>() == 4, int32_t, float>;
    MatmulSteps &t = j.steps;
    Stages st;
    bool ta = j.flags & MATMUL_TRANS_A, tb = j.flags & MATMUL_TRANS_B;
    if (How::CallBack::in_a || is_alone<A>(ta) || j.base_m % 16) t.m = t.ka = 1;
    if (How::CallBack::in_b || is_alone<B>(!tb) || j.base_n % 16) t.n = t.kb = 1;
    if (How::CallBack::out || sizeof(B) == 1 || j.m % 16 == 1) t.unit_flag = 0;
    bool shared = !How::a_l1 && !How::b_l1;
    uint32_t room = !shared ? 240 * 1024 : j.flags & (MATMUL_BIAS | MATMUL_QUANT_VECTOR) ? 480 * 1024 : 512 * 1024;
    bool single = j.flags & (MATMUL_BIAS | MATMUL_QUANT_VECTOR); /* takes a flag of its own */
    while (t.a1 + t.b1 > 8 - single) --*(t.a1 > t.b1 ? &t.a1 : &t.b1);
    for (;;) {
        st.a_bytes = How::a_l1 ? 0 : chunk_bytes<A>(t.m * j.base_m, t.ka * j.base_k);
        st.b_bytes = How::b_l1 ? 0 : chunk_bytes<B>(t.n * j.base_n, t.kb * j.base_k);
        if (t.a1 * st.a_bytes + t.b1 * st.b_bytes <= room) break;
        uint8_t *more = t.a1 * st.a_bytes > t.b1 * st.b_bytes ? &t.a1 : &t.b1;
        uint8_t *wide = more == &t.a1 ? (t.m > 1 ? &t.m : &t.ka) : t.n > 1 ? &t.n : &t.kb;
        if (*more > 2) --*more;
        else if (*wide > 1) *wide = uint8_t(*wide / 2);
        else if (*more > 1) --*more;
        else break;
    }
    st.a_at = How::b_l1 ? 240 * 1024 : 0;
    st.b_at = How::a_l1 ? 240 * 1024 : st.a_at + t.a1 * st.a_bytes;
    if (!How::a_l1) st.a1.open(HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2, t.a1, 0);
    if (!How::b_l1) st.b1.open(HardEvent::MTE2_MTE1, HardEvent::MTE1_MTE2, t.b1, t.a1);
    bool halves = chunk_bytes<A>(j.base_m, j.base_k) <= 32768 && chunk_bytes<B>(j.base_n, j.base_k) <= 32768;
    st.l0_bytes = halves ? 32768 : 65536;
    st.l0.open(HardEvent::MTE1_M, HardEvent::M_MTE1, halves ? 2 : 1, 0);
    bool two = t.c > 1 && chunk_bytes<L0C>(j.base_m, j.base_n) <= 65536;
    st.c_bytes = two ? 65536 : 131072;
    st.c.open(HardEvent::M_FIX, HardEvent::FIX_M, two ? 2 : 1, 0);
    return st;
}

/* Does L0 hold what a base block wants? If not, a smaller k step is used. */
template <typename A> inline void fit(MatmulJob &j)
{
    uint32_t unit = 32u * 8u / bits_of<A>() < 16 ? 16 : 32u * 8u / bits_of<A>();
    j.base_m = j.base_m ? j.base_m : 128;
    j.base_n = j.base_n ? j.base_n : 128;
    constexpr uint32_t side = sizeof(A) == 1 ? square<A>() : 32;
    uint32_t wide = up(j.base_m, side) > up(j.base_n, side) ? up(j.base_m, side) : up(j.base_n, side);
    uint32_t most = 65536u * 8u / bits_of<A>() / wide / unit * unit;
    if (j.base_k == 0 || j.base_k > most) j.base_k = most;
    if (j.base_k % unit) j.base_k = up(j.base_k, unit) <= most ? up(j.base_k, unit) : most;
}

/* Is block (row, column) of C one that is computed? */
template <typename How> constexpr bool wanted(uint32_t row, uint32_t column)
{
    return How::triangle == 1 ? row <= column : How::triangle == 2 ? row >= column : true;
}

/* The whole product, or block number `only` of it (in rows of blocks), compact: written at c itself. Blocks go along M or
 * N, within what a copy brings first. */
template <typename A, typename B, typename C, typename Bias, typename How> inline void run(MatmulJob j, int64_t only, bool compact, const Site &s)
{
    constexpr uint32_t c0 = How::split ? 8 : sizeof(C) == 1 ? 32 : 16;
    fit<A>(j);
    Stages st = open_stages<A, B, How>(j);
    uint32_t rows = (j.m + j.base_m - 1) / j.base_m, columns = (j.n + j.base_n - 1) / j.base_n;
    bool waits = false; /* a block stands at (m0, n0), done when the one after it is known */
    uint32_t m0 = 0, n0 = 0;
    auto finish = [&] {
        uint32_t height = j.m - m0 < j.base_m ? j.m - m0 : j.base_m, pitch = How::c_nz && compact ? up(height, 16) : j.ldc;
        uint64_t offset = How::c_nz ? uint64_t(n0) * pitch + uint64_t(m0) * c0 : uint64_t(m0) * pitch + n0;
        block<A, B, C, Bias, How>(st, j, m0, n0, j.c + (compact ? 0 : offset * sizeof(C)), pitch, s);
    };
    auto one = [&](uint32_t row, uint32_t column) {
        if ((only >= 0 && uint64_t(row) * columns + column != uint64_t(only)) || !wanted<How>(row, column)) return;
        st.goes_on = true;
        st.next_m = row * j.base_m;
        st.next_n = column * j.base_n;
        if (waits) finish();
        waits = true;
        m0 = st.next_m;
        n0 = st.next_n;
    };
    bool along_n = j.flags & MATMUL_ALONG_N;
    uint32_t outer = along_n ? rows : columns, inner = along_n ? columns : rows;
    uint32_t outer_step = along_n ? j.steps.m : j.steps.n, inner_step = along_n ? j.steps.n : j.steps.m;
    for (uint32_t o = 0; o < outer; o += outer_step)
        for (uint32_t i = 0; i < inner; i += inner_step)
            for (uint32_t oo = o; oo < outer && oo < o + outer_step; oo++)
                for (uint32_t ii = i; ii < inner && ii < i + inner_step; ii++) one(along_n ? oo : ii, along_n ? ii : oo);
    st.goes_on = false;
    if (waits) finish();
    st.close(s);
}

}  // namespace matmul
}  // namespace acraft

#endif
