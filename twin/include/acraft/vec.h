/* Elementwise vector calls: two tensors, one tensor, tensor and scalar, fills and casts. Each API
 * has the vendor's three forms: bit mask and repeats, lane count and repeats, element count. One
 * call is one record; the count form is one record in Counter mode.
 *
 * Every API takes its source position as a last, defaulted parameter. So that kernels can still
 * name an API where a function pointer of the vendor's type is wanted, each form has a twin
 * without it whose return type is a template parameter: a direct call cannot deduce that one, a
 * conversion to a pointer can. */
#ifndef ACRAFT_VEC_H
#define ACRAFT_VEC_H

#include "acraft/sync.h"

namespace acraft {

using AscendC::BinaryRepeatParams;
using AscendC::LocalTensor;
using AscendC::UnaryRepeatParams;

/* The part that does not depend on types; dtypes packed dst | src0 << 8 | src1 << 16. */
ACRAFT_OWN inline Record &put_vector(NpuOp op, uint32_t dtypes, const RecordOperand &dst, const RecordOperand &src0,
                                         const RecordOperand &src1, const Mask &m, uint32_t repeat, const Site &site)
{
    Record &r = put(op, site);
    r.dtype[0] = uint8_t(dtypes);
    r.dtype[1] = uint8_t(dtypes >> 8);
    r.dtype[2] = uint8_t(dtypes >> 16);
    r.operand[0] = dst;
    r.operand[1] = src0;
    r.operand[2] = src1;
    r.n[0] = repeat;
    use_mask(r, m);
    return r;
}
template <typename D, typename S0, typename S1> constexpr uint32_t dtypes_of()
{
    return dtype_of<D>() | uint32_t(dtype_of<S0>()) << 8 | uint32_t(dtype_of<S1>()) << 16;
}

template <typename D, typename S0, typename S1>
ACRAFT_OUTLINE inline Record &put_binary(NpuOp op, const LocalTensor<D> &dst, const LocalTensor<S0> &src0, const LocalTensor<S1> &src1,
                                         const Mask &m, uint32_t repeat, const BinaryRepeatParams &p, const Site &site)
{
    return put_vector(op, dtypes_of<D, S0, S1>(), dst.operand(p.dstBlkStride, p.dstRepStride), src0.operand(p.src0BlkStride, p.src0RepStride),
                      src1.operand(p.src1BlkStride, p.src1RepStride), m, repeat, site);
}

template <typename D, typename S>
ACRAFT_OUTLINE inline Record &put_unary(NpuOp op, const LocalTensor<D> &dst, const LocalTensor<S> &src, const Mask &m, uint32_t repeat,
                                        const UnaryRepeatParams &p, const Site &site)
{
    return put_vector(op, dtypes_of<D, S, S>(), dst.operand(p.dstBlkStride, p.dstRepStride), src.operand(p.srcBlkStride, p.srcRepStride),
                      RecordOperand{}, m, repeat, site);
}

}  // namespace acraft

namespace AscendC {

#define ACRAFT_HAS(OP) acraft::has_dtype<T>(NPU_##OP)

/* ---- two tensors of one type ---- */

#define ACRAFT_BINARY_PARAMS const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1
#define ACRAFT_BINARY(NAME, OP, OK)                                                                \
    namespace need {                                                                               \
    ACRAFT_NEED(NAME, OK);                                                                         \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_BINARY_PARAMS, uint64_t mask[], const uint8_t repeatTime,              \
                     const BinaryRepeatParams &repeatParams, ACRAFT_SITE)                          \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_BINARY_PARAMS, uint64_t mask, const uint8_t repeatTime,                \
                     const BinaryRepeatParams &repeatParams, ACRAFT_SITE)                          \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T> inline void NAME(ACRAFT_BINARY_PARAMS, const int32_t &count, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_count(count), 1, BinaryRepeatParams(), site); \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_BINARY_PARAMS, uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, acraft::site_of_last()); \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_BINARY_PARAMS, uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src0, src1, mask, repeatTime, repeatParams, acraft::site_of_last()); \
    }                                                                                              \
    template <typename T, typename R> inline R NAME(ACRAFT_BINARY_PARAMS, const int32_t &count)    \
    {                                                                                              \
        NAME<T>(dst, src0, src1, count, acraft::site_of_last());                                   \
    }

ACRAFT_BINARY(Add, ADD, ACRAFT_HAS(ADD))
ACRAFT_BINARY(Sub, SUB, ACRAFT_HAS(SUB))
ACRAFT_BINARY(Mul, MUL, ACRAFT_HAS(MUL))
ACRAFT_BINARY(Div, DIV, ACRAFT_HAS(DIV))
ACRAFT_BINARY(Max, MAX, ACRAFT_HAS(MAX))
ACRAFT_BINARY(Min, MIN, ACRAFT_HAS(MIN))
ACRAFT_BINARY(And, AND, ACRAFT_HAS(AND))
ACRAFT_BINARY(Or, OR, ACRAFT_HAS(OR))
ACRAFT_BINARY(AddRelu, ADD_RELU, ACRAFT_HAS(ADD_RELU))
ACRAFT_BINARY(SubRelu, SUB_RELU, ACRAFT_HAS(SUB_RELU))
ACRAFT_BINARY(FusedMulAdd, FUSED_MUL_ADD, ACRAFT_HAS(FUSED_MUL_ADD))
ACRAFT_BINARY(MulAddRelu, MUL_ADD_RELU, ACRAFT_HAS(MUL_ADD_RELU))
ACRAFT_BINARY(FusedMulAddRelu, MUL_ADD_RELU, ACRAFT_HAS(MUL_ADD_RELU))

/* ---- two tensors, another result type ---- */

#define ACRAFT_MIXED_PARAMS const LocalTensor<T> &dst, const LocalTensor<U> &src0, const LocalTensor<U> &src1
#define ACRAFT_MIXED(NAME, OP, COUNT, OK)                                                          \
    template <typename T, typename U, bool isSetMask = true>                                       \
    inline void NAME(ACRAFT_MIXED_PARAMS, const uint64_t mask[], const uint8_t repeatTime,         \
                     const BinaryRepeatParams &repeatParams, ACRAFT_SITE)                          \
    {                                                                                              \
        static_assert(OK, "acraft: " #NAME " does not exist for these dtypes on Atlas A2");        \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                       \
    inline void NAME(ACRAFT_MIXED_PARAMS, uint64_t mask, const uint8_t repeatTime,                 \
                     const BinaryRepeatParams &repeatParams, ACRAFT_SITE)                          \
    {                                                                                              \
        static_assert(OK, "acraft: " #NAME " does not exist for these dtypes on Atlas A2");        \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T, typename U> inline void NAME(ACRAFT_MIXED_PARAMS, COUNT count, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(OK, "acraft: " #NAME " does not exist for these dtypes on Atlas A2");        \
        BinaryRepeatParams p;                                                                      \
        p.dstRepStride = uint8_t(8 * sizeof(T) / (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U))); \
        p.src0RepStride = p.src1RepStride = uint8_t(8 * sizeof(U) / (sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U))); \
        acraft::put_binary(NPU_##OP, dst, src0, src1, acraft::mask_count(count), 1, p, site);      \
    }

#define ACRAFT_PAIR(A, B) (std::is_same<T, A>::value && std::is_same<U, B>::value)
ACRAFT_MIXED(MulAddDst, MUL_ADD_DST, const int32_t &,
             ACRAFT_PAIR(half, half) || ACRAFT_PAIR(float, float) || ACRAFT_PAIR(float, half))
ACRAFT_MIXED(MulCast, MUL_CAST, const uint32_t, ACRAFT_PAIR(int8_t, half) || ACRAFT_PAIR(uint8_t, half))
ACRAFT_MIXED(AddReluCast, ADD_RELU_CAST, const uint32_t,
             ACRAFT_PAIR(int8_t, half) || ACRAFT_PAIR(half, float) || ACRAFT_PAIR(int8_t, int16_t))
ACRAFT_MIXED(SubReluCast, SUB_RELU_CAST, const uint32_t,
             ACRAFT_PAIR(int8_t, half) || ACRAFT_PAIR(half, float) || ACRAFT_PAIR(int8_t, int16_t))
ACRAFT_MIXED(AddDeqRelu, ADD_DEQ_RELU, const int32_t &, ACRAFT_PAIR(half, int32_t))

/* ---- one tensor ---- */

#define ACRAFT_UNARY_PARAMS const LocalTensor<T> &dst, const LocalTensor<T> &src
#define ACRAFT_UNARY(NAME, OP, OK)                                                                 \
    namespace need {                                                                               \
    ACRAFT_NEED(NAME, OK);                                                                         \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_UNARY_PARAMS, uint64_t mask[], const uint8_t repeatTime,               \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_UNARY_PARAMS, uint64_t mask, const uint8_t repeatTime,                 \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site); \
    }                                                                                              \
    template <typename T> inline void NAME(ACRAFT_UNARY_PARAMS, const int32_t &count, ACRAFT_SITE) \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_count(count), 1, UnaryRepeatParams(), site); \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_UNARY_PARAMS, uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src, mask, repeatTime, repeatParams, acraft::site_of_last());      \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_UNARY_PARAMS, uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src, mask, repeatTime, repeatParams, acraft::site_of_last());      \
    }                                                                                              \
    template <typename T, typename R> inline R NAME(ACRAFT_UNARY_PARAMS, const int32_t &count)     \
    {                                                                                              \
        NAME<T>(dst, src, count, acraft::site_of_last());                                          \
    }

ACRAFT_UNARY(Abs, ABS, ACRAFT_HAS(ABS))
ACRAFT_UNARY(Exp, EXP, ACRAFT_HAS(EXP))
ACRAFT_UNARY(Ln, LN, ACRAFT_HAS(LN))
ACRAFT_UNARY(Sqrt, SQRT, ACRAFT_HAS(SQRT))
ACRAFT_UNARY(Rsqrt, RSQRT, ACRAFT_HAS(RSQRT))
ACRAFT_UNARY(Reciprocal, RECIPROCAL, ACRAFT_HAS(RECIPROCAL))
ACRAFT_UNARY(Relu, RELU, ACRAFT_HAS(RELU))
ACRAFT_UNARY(Not, NOT, ACRAFT_HAS(NOT))

/* ---- a tensor and a scalar ---- */

#define ACRAFT_SCALAR_PARAMS const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue
#define ACRAFT_SCALAR(NAME, OP, OK)                                                                \
    namespace need {                                                                               \
    ACRAFT_NEED(NAME, OK);                                                                         \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_SCALAR_PARAMS, uint64_t mask[], const uint8_t repeatTime,              \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site).scalar = \
            acraft::scalar_bits(scalarValue);                                                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_SCALAR_PARAMS, uint64_t mask, const uint8_t repeatTime,                \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site).scalar = \
            acraft::scalar_bits(scalarValue);                                                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true>                                                   \
    inline void NAME(ACRAFT_SCALAR_PARAMS, const int32_t &count, ACRAFT_SITE)                      \
    {                                                                                              \
        static_assert(need::need_##NAME<T>::value, "acraft: no such dtype");                       \
        acraft::put_unary(NPU_##OP, dst, src, acraft::mask_count(count), 1, UnaryRepeatParams(), site).scalar = \
            acraft::scalar_bits(scalarValue);                                                      \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_SCALAR_PARAMS, uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src, scalarValue, mask, repeatTime, repeatParams, acraft::site_of_last()); \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R>                                       \
    inline R NAME(ACRAFT_SCALAR_PARAMS, uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams &repeatParams) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src, scalarValue, mask, repeatTime, repeatParams, acraft::site_of_last()); \
    }                                                                                              \
    template <typename T, bool isSetMask = true, typename R> inline R NAME(ACRAFT_SCALAR_PARAMS, const int32_t &count) \
    {                                                                                              \
        NAME<T, isSetMask>(dst, src, scalarValue, count, acraft::site_of_last());                  \
    }

ACRAFT_SCALAR(Adds, ADDS, ACRAFT_HAS(ADDS))
ACRAFT_SCALAR(Muls, MULS, ACRAFT_HAS(MULS))
ACRAFT_SCALAR(Maxs, MAXS, ACRAFT_HAS(MAXS))
ACRAFT_SCALAR(Mins, MINS, ACRAFT_HAS(MINS))
ACRAFT_SCALAR(LeakyRelu, LEAKY_RELU, ACRAFT_HAS(LEAKY_RELU))
ACRAFT_SCALAR(ShiftLeft, SHIFT_LEFT, ACRAFT_HAS(SHIFT_LEFT))

namespace need {
ACRAFT_NEED(ShiftRight, ACRAFT_HAS(SHIFT_RIGHT));
}
template <typename T, bool isSetMask = true>
inline void ShiftRight(ACRAFT_SCALAR_PARAMS, uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams &repeatParams,
                       bool roundEn = false, ACRAFT_SITE)
{
    static_assert(need::need_ShiftRight<T>::value, "acraft: no such dtype");
    Record &r = acraft::put_unary(NPU_SHIFT_RIGHT, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
    r.scalar = acraft::scalar_bits(scalarValue);
    r.mode = roundEn;
}
template <typename T, bool isSetMask = true>
inline void ShiftRight(ACRAFT_SCALAR_PARAMS, uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams &repeatParams,
                       bool roundEn = false, ACRAFT_SITE)
{
    static_assert(need::need_ShiftRight<T>::value, "acraft: no such dtype");
    Record &r = acraft::put_unary(NPU_SHIFT_RIGHT, dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
    r.scalar = acraft::scalar_bits(scalarValue);
    r.mode = roundEn;
}
template <typename T, bool isSetMask = true> inline void ShiftRight(ACRAFT_SCALAR_PARAMS, const int32_t &count, ACRAFT_SITE)
{
    static_assert(need::need_ShiftRight<T>::value, "acraft: no such dtype");
    acraft::put_unary(NPU_SHIFT_RIGHT, dst, src, acraft::mask_count(count), 1, UnaryRepeatParams(), site).scalar =
        acraft::scalar_bits(scalarValue);
}

/* dst += src * scalar; float += half is the one mixed form. */
namespace acraft_axpy {
template <typename T, typename U>
inline void put(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalar, const acraft::Mask &m, uint32_t repeat,
                const UnaryRepeatParams &p, const acraft::Site &site)
{
    static_assert(ACRAFT_PAIR(half, half) || ACRAFT_PAIR(float, float) || ACRAFT_PAIR(float, half),
                  "acraft: Axpy does not exist for these dtypes on Atlas A2");
    acraft::put_unary(NPU_AXPY, dst, src, m, repeat, p, site).scalar = acraft::scalar_bits(scalar);
}
}  // namespace acraft_axpy
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_axpy::put(dst, src, scalarValue, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_axpy::put(dst, src, scalarValue, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count, ACRAFT_SITE)
{
    UnaryRepeatParams p;
    if (sizeof(U) < sizeof(T)) p.srcRepStride = 4;
    acraft_axpy::put(dst, src, scalarValue, acraft::mask_count(count), 1, p, site);
}
template <typename T, typename U, bool isReuseSource = false>
inline void Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U scalarValue, const LocalTensor<uint8_t> &, const uint32_t calCount,
                 ACRAFT_SITE)
{
    Axpy<T, U>(dst, src, scalarValue, int32_t(calCount), site);
}
template <typename T, typename U, typename R>
inline R Axpy(const LocalTensor<T> &dst, const LocalTensor<U> &src, const U &scalarValue, const int32_t &count)
{
    Axpy<T, U>(dst, src, scalarValue, count, acraft::site_of_last());
}

/* ---- filling ---- */

namespace need {
ACRAFT_NEED(Duplicate, ACRAFT_HAS(DUPLICATE));
}
namespace acraft_dup {
template <typename T>
inline void put(const LocalTensor<T> &dst, const T &value, const acraft::Mask &m, uint32_t repeat, uint32_t block,
                uint32_t stride, const acraft::Site &site)
{
    static_assert(need::need_Duplicate<T>::value, "acraft: no such dtype");
    Record &r = acraft::put(NPU_DUPLICATE, site);
    r.dtype[0] = r.dtype[1] = r.dtype[2] = acraft::dtype_of<T>();
    r.operand[0] = dst.operand(block, stride);
    r.scalar = acraft::scalar_bits(value);
    r.n[0] = repeat;
    acraft::use_mask(r, m);
}
}  // namespace acraft_dup
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask, const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, ACRAFT_SITE)
{
    acraft_dup::put(dst, scalarValue, acraft::mask_for<isSetMask>(mask), repeatTime, dstBlockStride, dstRepeatStride, site);
}
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, uint64_t mask[], const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, ACRAFT_SITE)
{
    acraft_dup::put(dst, scalarValue, acraft::mask_for<isSetMask>(mask), repeatTime, dstBlockStride, dstRepeatStride, site);
}
template <typename T>
inline void Duplicate(const LocalTensor<T> &dst, const T &scalarValue, const int32_t &count, ACRAFT_SITE)
{
    acraft_dup::put(dst, scalarValue, acraft::mask_count(count), 1, 1, 8, site);
}

/* ---- casts ---- */

namespace acraft_cast {
struct Pair {
    NpuDType to, from;
};
/* Atlas A2's conversions (docs: 类型转换/Cast.md). */
constexpr Pair pairs[] = {
    {NPU_DT_F16, NPU_DT_I4},  {NPU_DT_F16, NPU_DT_I8},  {NPU_DT_F16, NPU_DT_U8},  {NPU_DT_F16, NPU_DT_I16},
    {NPU_DT_F16, NPU_DT_I32}, {NPU_DT_F16, NPU_DT_F32}, {NPU_DT_F32, NPU_DT_F16}, {NPU_DT_F32, NPU_DT_BF16},
    {NPU_DT_F32, NPU_DT_I16}, {NPU_DT_F32, NPU_DT_I32}, {NPU_DT_F32, NPU_DT_I64}, {NPU_DT_F32, NPU_DT_F32},
    {NPU_DT_I4, NPU_DT_F16},  {NPU_DT_I8, NPU_DT_F16},  {NPU_DT_U8, NPU_DT_F16},  {NPU_DT_I16, NPU_DT_F16},
    {NPU_DT_I32, NPU_DT_F16}, {NPU_DT_I32, NPU_DT_BF16}, {NPU_DT_BF16, NPU_DT_F32}, {NPU_DT_I16, NPU_DT_F32},
    {NPU_DT_I32, NPU_DT_F32}, {NPU_DT_I64, NPU_DT_F32}, {NPU_DT_I32, NPU_DT_I64}, {NPU_DT_I64, NPU_DT_I32},
    {NPU_DT_I16, NPU_DT_I32},
};
constexpr bool exists(uint8_t to, uint8_t from)
{
    for (const Pair &p : pairs)
        if (p.to == to && p.from == from) return true;
    return false;
}
/* `false_for` keeps the assertion dependent; the types stand in the compiler's own note. */
template <typename T, typename U> struct Need {
    static_assert(exists(acraft::dtype_of<T>(), acraft::dtype_of<U>()),
                  "acraft: Cast does not exist between these dtypes on Atlas A2");
};
template <typename T, typename U>
inline void put(const LocalTensor<T> &dst, const LocalTensor<U> &src, RoundMode mode, const acraft::Mask &m, uint32_t repeat,
                const UnaryRepeatParams &p, const acraft::Site &site)
{
    (void)sizeof(Need<T, U>);
    acraft::put_unary(NPU_CAST, dst, src, m, repeat, p, site).mode = uint8_t(mode);
}
}  // namespace acraft_cast

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_cast::put(dst, src, roundMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams &repeatParams, ACRAFT_SITE)
{
    acraft_cast::put(dst, src, roundMode, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, site);
}
template <typename T, typename U>
inline void Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint32_t count,
                 ACRAFT_SITE)
{
    constexpr uint32_t wide = acraft::bits_of<T>() > acraft::bits_of<U>() ? acraft::bits_of<T>() : acraft::bits_of<U>();
    UnaryRepeatParams p;
    p.dstRepStride = uint8_t(8 * acraft::bits_of<T>() / wide);
    p.srcRepStride = uint8_t(8 * acraft::bits_of<U>() / wide);
    acraft_cast::put(dst, src, roundMode, acraft::mask_count(count), 1, p, site);
}
template <typename T, typename U, typename R>
inline R Cast(const LocalTensor<T> &dst, const LocalTensor<U> &src, const RoundMode &roundMode, const uint32_t count)
{
    Cast<T, U>(dst, src, roundMode, count, acraft::site_of_last());
}

/* By the scale register: int32 -> half as Cast does it; int16 -> 8 bit with one scale or one per place
 * of a block, each block of 16 results in the upper or lower half of a block. */
namespace acraft_cast {
template <bool isVecDeq, bool halfBlock, typename T, typename U>
inline void dequantise(const LocalTensor<T> &dst, const LocalTensor<U> &src, const acraft::Mask &m, uint32_t repeat, UnaryRepeatParams p,
                       bool dense, const acraft::Site &site)
{
    constexpr bool wide = std::is_same<T, half>::value && std::is_same<U, int32_t>::value;
    static_assert(wide || (std::is_same<U, int16_t>::value && SupportType<T, int8_t, uint8_t>()),
                  "acraft: CastDequant does not exist between these dtypes on Atlas A2");
    if (wide && dense) p.dstRepStride = 4;
    acraft::put_unary(wide ? NPU_CAST : NPU_CAST_DEQ, dst, src, m, repeat, p, site).mode =
        wide ? uint8_t(RoundMode::CAST_RINT) : uint8_t((isVecDeq ? 1 : 0) | (halfBlock ? 2 : 0));
}
}  // namespace acraft_cast
#define ACRAFT_DEQUANT(NAME)                                                                       \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true> \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint64_t mask[], uint8_t repeatTime, \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        acraft_cast::dequantise<isVecDeq, halfBlock>(dst, src, acraft::mask_for<isSetMask>(mask), repeatTime, repeatParams, false, \
                                                     site.in(#NAME));                              \
    }                                                                                              \
    template <typename T, typename U, bool isSetMask = true, bool isVecDeq = true, bool halfBlock = true> \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src, const int32_t mask, uint8_t repeatTime, \
                     const UnaryRepeatParams &repeatParams, ACRAFT_SITE)                           \
    {                                                                                              \
        acraft_cast::dequantise<isVecDeq, halfBlock>(dst, src, acraft::mask_for<isSetMask>(uint64_t(mask)), repeatTime, repeatParams, \
                                                     false, site.in(#NAME));                       \
    }                                                                                              \
    template <typename T, typename U, bool isVecDeq = true, bool halfBlock = true>                 \
    inline void NAME(const LocalTensor<T> &dst, const LocalTensor<U> &src, const uint32_t count, ACRAFT_SITE) \
    {                                                                                              \
        acraft_cast::dequantise<isVecDeq, halfBlock>(dst, src, acraft::mask_count(count), 1, UnaryRepeatParams(), true, site.in(#NAME)); \
    }
ACRAFT_DEQUANT(CastDequant)
ACRAFT_DEQUANT(CastDeq)
#undef ACRAFT_DEQUANT

inline void SetDeqScale(half scale, ACRAFT_SITE) { acraft::put_register(REC_REG_DEQ_SCALE, scale.val, site); }
inline void SetDeqScale(float scale, int16_t offset, bool signMode, ACRAFT_SITE)
{
    uint64_t packed = acraft::float_bits(scale) | uint64_t(uint16_t(offset) & 0x1ff) << 37 | uint64_t(signMode) << 46;
    acraft::put_register(REC_REG_DEQ_SCALE, packed, site);
}
/* The vector form writes one 64-bit word per column and points the register at it. */
template <typename T> inline void SetDeqScale(const LocalTensor<T> &vdeq, const VdeqInfo &info, ACRAFT_SITE)
{
    LocalTensor<uint64_t> words = vdeq.template ReinterpretCast<uint64_t>();
    for (uint32_t i = 0; i < uint32_t(VDEQ_TENSOR_SIZE); i++)
        words.SetValue(i,
                       uint64_t(acraft::float_bits(info.vdeqScale[i])) | uint64_t(uint16_t(info.vdeqOffset[i]) & 0x1ff) << 37 |
                           uint64_t(info.vdeqSignMode[i]) << 46,
                       site);
    acraft::put_register(REC_REG_DEQ_SCALE, rec_byte(vdeq.record_address()), site);
}

}  // namespace AscendC

#endif
