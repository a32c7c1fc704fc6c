/* The device compiler's own functions that kernel text calls by their lower-case names: flags,
 * barriers, mask registers, pointer-style vector instructions and copies. Each is one record, like
 * the API call it stands for. */
#ifndef ACRAFT_BUILTINS_H
#define ACRAFT_BUILTINS_H

#include "acraft/math.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

namespace acraft {
/* A pointer into UB as a tensor of unknown size. */
template <typename T> inline LocalTensor<T> raw(const T *pointer)
{
    uint64_t address = address_of_pointer(pointer);
    LocalTensor<T> t;
    t.address_.logicPos = uint8_t(AscendC::TPosition::VECCALC);
    t.address_.bufferAddr = uint32_t(rec_byte(address));
    return t;
}
inline RecordOperand raw_operand(const void *pointer) { return operand(address_of_pointer(static_cast<const uint8_t *>(pointer)), 0, 0, 0); }
}  // namespace acraft

/* ---- synchronisation ---- */

inline void pipe_barrier(pipe_t pipe, ACRAFT_SITE) { acraft::put_barrier(acraft::pipe_of(pipe), site); }
inline void set_flag(pipe_t from, pipe_t to, int32_t id, ACRAFT_SITE)
{
    acraft::put_flag(NPU_SET_FLAG, {acraft::pipe_of(from), acraft::pipe_of(to)}, id, 0, site);
}
inline void wait_flag(pipe_t from, pipe_t to, int32_t id, ACRAFT_SITE)
{
    acraft::put_flag(NPU_WAIT_FLAG, {acraft::pipe_of(from), acraft::pipe_of(to)}, id, 0, site);
}
inline void dsb(mem_dsb_t, ACRAFT_SITE) { acraft::put_barrier(NPU_PIPE_ALL, site); }
template <typename P> inline void dcci(P *address, uint64_t entire, uint64_t = 0, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CACHE_CLEAN, site);
    r.operand[0] = acraft::raw_operand(address);
    r.mode = uint8_t(entire);
}
inline void ffts_cross_core_sync(pipe_t pipe, uint64_t config, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CROSS_SET, acraft::pipe_of(pipe), site);
    r.mode = uint8_t((config >> 4) & 3);
    r.n[0] = uint32_t((config >> 8) & 15);
}
inline void wait_flag_dev(int64_t flag, ACRAFT_SITE)
{
    Record &r = acraft::put(NPU_CROSS_WAIT, NPU_PIPE_S, site);
    r.n[0] = uint32_t(flag);
}

/* ---- system ---- */

inline int64_t get_block_idx() { return acraft_core.block_idx; }
inline int64_t get_block_num() { return acraft_core.block_num; }
inline int64_t get_subblockid() { return acraft_core.sub_block_idx; }
inline int64_t get_subblockdim() { return AscendC::GetSubBlockNum(); }
inline int64_t get_coreid() { return acraft_core.block_idx; }
inline int64_t get_sys_cnt() { return AscendC::GetSystemCycle(); }
/* Variables of the device compiler, not macros: kernels have members of the same names. */
namespace acraft {
struct BlockIdx {
    operator int64_t() const { return acraft_core.block_idx; }
};
struct BlockNum {
    operator int64_t() const { return acraft_core.block_num; }
};
}  // namespace acraft
constexpr acraft::BlockIdx block_idx = {};
constexpr acraft::BlockNum block_num = {};
inline void trap(ACRAFT_SITE) { AscendC::Trap(site); }
inline uint64_t sbitset0(uint64_t value, int64_t i) { return value & ~(1ull << i); }
inline uint64_t sbitset1(uint64_t value, int64_t i) { return value | 1ull << i; }
inline int64_t sff0(uint64_t value) { return ~value ? __builtin_ctzll(~value) : -1; }
inline int64_t sff1(uint64_t value) { return value ? __builtin_ctzll(value) : -1; }
inline int64_t clz(uint64_t value) { return value ? __builtin_clzll(value) : 64; }
inline int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t bcnt0(uint64_t value) { return __builtin_popcountll(~value); }

/* Scalar functions the device has without a header. Not in the global namespace, where an entry
 * function or <cmath> may have the name. */
namespace AscendC {
inline float sqrt(float value) { return __builtin_sqrtf(value); }
inline float abs(float value) { return __builtin_fabsf(value); }
/* A template, so that the library's abs(int) goes first where the text includes it. */
template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0> constexpr T abs(T value) { return value < 0 ? T(-value) : value; }
}  // namespace AscendC

/* ---- registers ---- */

inline void set_vector_mask(uint64_t high, uint64_t low, ACRAFT_SITE)
{
    AscendC::acraft_mask::set(high, low, acraft::mask_register.counter, site);
}
inline void set_mask_norm(ACRAFT_SITE) { AscendC::SetMaskNorm(site); }
inline void set_mask_count(ACRAFT_SITE) { AscendC::SetMaskCount(site); }
inline int64_t get_acc_val()
{
    acraft::flush();
    return int64_t(acraft_core.view->accumulated);
}
inline int64_t get_max_min_cnt()
{
    acraft::flush();
    return int64_t(acraft_core.view->max_min_count);
}
inline int64_t get_rsvd_cnt()
{
    acraft::flush();
    return int64_t(acraft_core.view->kept);
}
inline int64_t get_ctrl()
{
    acraft::flush();
    return int64_t(acraft_core.view->control);
}
inline void set_ctrl(uint64_t value, ACRAFT_SITE) { acraft::put_register(REC_REG_CONTROL, value, site); }
inline void set_deqscale(half scale, ACRAFT_SITE) { AscendC::SetDeqScale(scale, site); }
inline void set_atomic_none(ACRAFT_SITE) { AscendC::SetAtomicNone(site); }
inline void set_atomic_add(ACRAFT_SITE) { AscendC::acraft_atomic::set_kind(REC_ATOMIC_ADD, site); }
inline void set_atomic_max(ACRAFT_SITE) { AscendC::acraft_atomic::set_kind(REC_ATOMIC_MAX, site); }
inline void set_atomic_min(ACRAFT_SITE) { AscendC::acraft_atomic::set_kind(REC_ATOMIC_MIN, site); }
inline void set_atomic_f32(ACRAFT_SITE) { AscendC::SetAtomicType<float>(site); }
inline void set_atomic_f16(ACRAFT_SITE) { AscendC::SetAtomicType<half>(site); }
inline void set_atomic_bf16(ACRAFT_SITE) { AscendC::SetAtomicType<bfloat16_t>(site); }
inline void set_atomic_s32(ACRAFT_SITE) { AscendC::SetAtomicType<int32_t>(site); }
inline void set_atomic_s16(ACRAFT_SITE) { AscendC::SetAtomicType<int16_t>(site); }
inline void set_atomic_s8(ACRAFT_SITE) { AscendC::SetAtomicType<int8_t>(site); }
template <typename T> inline void set_mov_pad_val(T value, ACRAFT_SITE) { acraft::put_register(REC_REG_PAD_VALUE, acraft::scalar_bits(value), site); }

/* ---- vector instructions ---- */

#define ACRAFT_V_BINARY(NAME, OP)                                                                  \
    template <typename T>                                                                          \
    inline void NAME(__ubuf__ T *dst, __ubuf__ T *src0, __ubuf__ T *src1, uint8_t repeat, uint8_t dstBlk, uint8_t s0Blk, uint8_t s1Blk, \
                     uint8_t dstRep, uint8_t s0Rep, uint8_t s1Rep, ACRAFT_SITE)                    \
    {                                                                                              \
        acraft::put_binary(NPU_##OP, acraft::raw(dst), acraft::raw(src0), acraft::raw(src1), acraft::mask_register, repeat, \
                           AscendC::BinaryRepeatParams(dstBlk, s0Blk, s1Blk, dstRep, s0Rep, s1Rep), site); \
    }
ACRAFT_V_BINARY(vadd, ADD)
ACRAFT_V_BINARY(vsub, SUB)
ACRAFT_V_BINARY(vmul, MUL)
ACRAFT_V_BINARY(vdiv, DIV)
ACRAFT_V_BINARY(vmax, MAX)
ACRAFT_V_BINARY(vmin, MIN)
ACRAFT_V_BINARY(vand, AND)
ACRAFT_V_BINARY(vor, OR)
ACRAFT_V_BINARY(vmadd, FUSED_MUL_ADD)
ACRAFT_V_BINARY(vmla, MUL_ADD_DST)
#undef ACRAFT_V_BINARY

#define ACRAFT_V_UNARY(NAME, OP)                                                                   \
    template <typename T>                                                                          \
    inline void NAME(__ubuf__ T *dst, __ubuf__ T *src, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep, uint16_t srcRep, \
                     ACRAFT_SITE)                                                                  \
    {                                                                                              \
        acraft::put_unary(NPU_##OP, acraft::raw(dst), acraft::raw(src), acraft::mask_register, repeat, \
                          AscendC::UnaryRepeatParams(dstBlk, srcBlk, uint8_t(dstRep), uint8_t(srcRep)), site); \
    }
ACRAFT_V_UNARY(vexp, EXP)
ACRAFT_V_UNARY(vln, LN)
ACRAFT_V_UNARY(vabs, ABS)
ACRAFT_V_UNARY(vrec, RECIPROCAL)
ACRAFT_V_UNARY(vsqrt, SQRT)
ACRAFT_V_UNARY(vrsqrt, RSQRT)
ACRAFT_V_UNARY(vrelu, RELU)
ACRAFT_V_UNARY(vnot, NOT)
#undef ACRAFT_V_UNARY

#define ACRAFT_V_SCALAR(NAME, OP)                                                                  \
    template <typename T>                                                                          \
    inline void NAME(__ubuf__ T *dst, __ubuf__ T *src, T scalar, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep, \
                     uint16_t srcRep, ACRAFT_SITE)                                                 \
    {                                                                                              \
        acraft::put_unary(NPU_##OP, acraft::raw(dst), acraft::raw(src), acraft::mask_register, repeat, \
                          AscendC::UnaryRepeatParams(dstBlk, srcBlk, uint8_t(dstRep), uint8_t(srcRep)), site) \
            .scalar = acraft::scalar_bits(scalar);                                                 \
    }
ACRAFT_V_SCALAR(vadds, ADDS)
ACRAFT_V_SCALAR(vmuls, MULS)
ACRAFT_V_SCALAR(vmaxs, MAXS)
ACRAFT_V_SCALAR(vmins, MINS)
ACRAFT_V_SCALAR(vlrelu, LEAKY_RELU)
ACRAFT_V_SCALAR(vaxpy, AXPY)
#undef ACRAFT_V_SCALAR

template <typename T>
inline void vector_dup(__ubuf__ T *dst, T value, uint8_t repeat, uint16_t dstBlk, uint16_t, uint16_t dstRep, uint16_t, ACRAFT_SITE)
{
    AscendC::acraft_dup::put(acraft::raw(dst), value, acraft::mask_register, repeat, dstBlk, dstRep, site);
}

#define ACRAFT_V_CONV(NAME, TO, FROM, MODE)                                                        \
    inline void NAME(__ubuf__ TO *dst, __ubuf__ FROM *src, uint8_t repeat, uint16_t dstBlk, uint16_t srcBlk, uint16_t dstRep, uint16_t srcRep, \
                     ACRAFT_SITE)                                                                  \
    {                                                                                              \
        acraft::put_unary(NPU_CAST, acraft::raw(dst), acraft::raw(src), acraft::mask_register, repeat, \
                          AscendC::UnaryRepeatParams(dstBlk, srcBlk, uint8_t(dstRep), uint8_t(srcRep)), site) \
            .mode = uint8_t(AscendC::RoundMode::MODE);                                             \
    }
ACRAFT_V_CONV(vconv_f162f32, float, half, CAST_NONE)
ACRAFT_V_CONV(vconv_f322f16, half, float, CAST_NONE)
ACRAFT_V_CONV(vconv_f322f16r, half, float, CAST_RINT)
ACRAFT_V_CONV(vconv_bf162f32, float, bfloat16_t, CAST_NONE)
ACRAFT_V_CONV(vconv_f322bf16r, bfloat16_t, float, CAST_RINT)
ACRAFT_V_CONV(vconv_s322f32, float, int32_t, CAST_NONE)
ACRAFT_V_CONV(vconv_f322s32r, int32_t, float, CAST_RINT)
ACRAFT_V_CONV(vconv_f322s32f, int32_t, float, CAST_FLOOR)
ACRAFT_V_CONV(vconv_f322s32c, int32_t, float, CAST_CEIL)
ACRAFT_V_CONV(vconv_f322s32z, int32_t, float, CAST_TRUNC)
#undef ACRAFT_V_CONV

#define ACRAFT_V_REDUCE(NAME, OP, MODE_TYPE, MODE)                                                 \
    template <typename T>                                                                          \
    inline void NAME(__ubuf__ T *dst, __ubuf__ T *src, int32_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep, MODE_TYPE mode, \
                     ACRAFT_SITE)                                                                  \
    {                                                                                              \
        acraft::put_reduce(NPU_##OP, acraft::raw(dst), acraft::raw(src), acraft::mask_register, repeat, dstRep, srcBlk, srcRep, MODE, site); \
    }
ACRAFT_V_REDUCE(vcadd, REPEAT_SUM, int, uint8_t(mode ? 1 : 0))
ACRAFT_V_REDUCE(vcmax, REPEAT_MAX, Order_t, uint8_t(mode))
ACRAFT_V_REDUCE(vcmin, REPEAT_MIN, Order_t, uint8_t(mode))
#undef ACRAFT_V_REDUCE
/* No destination: the sum stays in the accumulator register. */
template <typename T>
inline void vcadd(std::nullptr_t, __ubuf__ T *src, int32_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep, int mode, ACRAFT_SITE)
{
    acraft::put_reduce(NPU_REPEAT_SUM, acraft::raw(src), acraft::raw(src), acraft::mask_register, repeat, dstRep, srcBlk, srcRep,
                       uint8_t(mode ? 1 : 0), site)
        .operand[0] = RecordOperand{};
}

#define ACRAFT_V_GROUP(NAME, OP)                                                                   \
    template <typename T>                                                                          \
    inline void NAME(__ubuf__ T *dst, __ubuf__ T *src, int32_t repeat, uint16_t dstRep, uint16_t srcBlk, uint16_t srcRep, ACRAFT_SITE) \
    {                                                                                              \
        acraft::put_reduce(NPU_##OP, acraft::raw(dst), acraft::raw(src), acraft::mask_register, repeat, dstRep, srcBlk, srcRep, 0, site); \
    }
ACRAFT_V_GROUP(vcgadd, BLOCK_SUM)
ACRAFT_V_GROUP(vcgmax, BLOCK_MAX)
ACRAFT_V_GROUP(vcgmin, BLOCK_MIN)
ACRAFT_V_GROUP(vcpadd, PAIR_SUM)
#undef ACRAFT_V_GROUP

template <typename T> inline void vtranspose(__ubuf__ T *dst, __ubuf__ T *src, ACRAFT_SITE)
{
    AscendC::Transpose(acraft::raw(dst), acraft::raw(src), site);
}

/* Eight addresses per register; a pair of neighbouring registers names the sixteen rows. */
namespace acraft {
inline ACRAFT_KEPT uint64_t va_registers[8][8];
template <typename T> inline void vnchwconv(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstRep, uint16_t srcRep, const Site &site)
{
    uint64_t d[16], s[16];
    for (int i = 0; i < 16; i++) {
        d[i] = va_registers[(dst + i / 8) % 8][i % 8];
        s[i] = va_registers[(src + i / 8) % 8][i % 8];
    }
    AscendC::TransDataTo5HDParams p(false, false, repeat, dstRep, srcRep);
    AscendC::to_5hd::from_numbers<T>(d, s, p, site);
}
}  // namespace acraft
inline void set_va_reg_sb(ub_addr8_t reg, uint64_t addresses[8])
{
    for (int i = 0; i < 8; i++) acraft::va_registers[reg][i] = addresses[i];
}
inline void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstRep, uint16_t srcRep, ACRAFT_SITE)
{
    acraft::vnchwconv<half>(dst, src, repeat, dstRep, srcRep, site);
}
inline void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dstRep, uint16_t srcRep, ACRAFT_SITE)
{
    acraft::vnchwconv<float>(dst, src, repeat, dstRep, srcRep, site);
}

/* ---- copies: lengths and gaps in 32-byte units; the align forms in bytes on the GM side ---- */

#define ACRAFT_COPY(NAME, OP)                                                                      \
    template <typename T>                                                                          \
    inline void NAME(T *dst, T *src, uint8_t, uint16_t bursts, uint16_t length, uint16_t srcGap, uint16_t dstGap, ACRAFT_SITE) \
    {                                                                                              \
        acraft::put_copy<std::conditional_t<std::is_void<T>::value, uint8_t, T>>(NPU_##OP, acraft::raw_operand(dst), acraft::raw_operand(src), \
                                                                                  {bursts, length * 32u, srcGap * 32u, dstGap * 32u}, 0, site); \
    }
ACRAFT_COPY(copy_gm_to_ubuf, COPY_GM_UB)
ACRAFT_COPY(copy_ubuf_to_gm, COPY_UB_GM)
ACRAFT_COPY(copy_ubuf_to_ubuf, COPY_UB_UB)
#undef ACRAFT_COPY

#define ACRAFT_ALIGN_COPY(BITS)                                                                    \
    template <typename T>                                                                          \
    inline void copy_gm_to_ubuf_align_b##BITS(T *dst, T *src, uint8_t, uint16_t bursts, uint32_t length, uint8_t left, uint8_t right, \
                                              uint32_t srcGap, uint32_t dstGap, ACRAFT_SITE)       \
    {                                                                                              \
        acraft::put_copy<T>(NPU_PAD_GM_UB, acraft::raw_operand(dst), acraft::raw_operand(src), {bursts, length, srcGap, dstGap * 32u}, 0, site) \
            .n[4] = left | uint32_t(right) << 16;                                                  \
    }                                                                                              \
    template <typename T>                                                                          \
    inline void copy_ubuf_to_gm_align_b##BITS(T *dst, T *src, uint8_t, uint16_t bursts, uint32_t length, uint8_t, uint8_t, uint32_t srcGap, \
                                              uint32_t dstGap, ACRAFT_SITE)                        \
    {                                                                                              \
        acraft::put_copy<T>(NPU_PAD_UB_GM, acraft::raw_operand(dst), acraft::raw_operand(src), {bursts, length, srcGap * 32u, dstGap}, 0, site); \
    }
ACRAFT_ALIGN_COPY(8)
ACRAFT_ALIGN_COPY(16)
ACRAFT_ALIGN_COPY(32)
#undef ACRAFT_ALIGN_COPY

/* Internal functions of the device headers that kernels call. */
namespace AscendC {
#define ACRAFT_GROUP_IMPL(NAME, INSTRUCTION)                                                       \
    template <typename T>                                                                          \
    inline void NAME##IntrinsicsImpl(__ubuf__ T *dst, __ubuf__ T *src, const int32_t repeat, const int32_t dstRep, const int32_t srcBlk, \
                                     const int32_t srcRep, ACRAFT_SITE)                            \
    {                                                                                              \
        INSTRUCTION(dst, src, repeat, uint16_t(dstRep), uint16_t(srcBlk), uint16_t(srcRep), site); \
    }
ACRAFT_GROUP_IMPL(BlockReduceSum, vcgadd)
ACRAFT_GROUP_IMPL(BlockReduceMax, vcgmax)
ACRAFT_GROUP_IMPL(BlockReduceMin, vcgmin)
ACRAFT_GROUP_IMPL(PairReduceSum, vcpadd)
#undef ACRAFT_GROUP_IMPL
template <typename T> inline void DuplicateImpl(__ubuf__ T *dst, const T &value, const int32_t &count, ACRAFT_SITE)
{
    Duplicate(acraft::raw(dst), value, count, site);
}
template <typename T> inline void DataCopyUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyParams &p, ACRAFT_SITE)
{
    acraft::put_copy<T>(NPU_COPY_UB_GM, acraft::raw_operand(dst), acraft::raw_operand(src), acraft::burst_of(p), 0, site);
}
template <typename T> inline void DataCopyGM2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyParams &p, ACRAFT_SITE)
{
    acraft::put_copy<T>(NPU_COPY_GM_UB, acraft::raw_operand(dst), acraft::raw_operand(src), acraft::burst_of(p), 0, site);
}
}  // namespace AscendC

#endif
