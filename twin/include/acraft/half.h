/* half, bfloat16_t and int4b_t as scalars. In: C++ numbers. Out: 16-bit classes that round to
 * nearest even when built from a number and widen exactly; sums and products of two of them round
 * once, like the device's scalar unit. Only the bits travel into records. */
#ifndef ACRAFT_HALF_H
#define ACRAFT_HALF_H

#include "acraft/base.h"

namespace acraft {

constexpr uint32_t float_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float float_of_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/* Shift right by n (1..31), rounding to nearest even. */
constexpr uint32_t shift_round(uint32_t value, int n)
{
    uint32_t half = 1u << (n - 1), rest = value & ((1u << n) - 1), kept = value >> n;
    return kept + ((rest > half || (rest == half && (kept & 1))) ? 1u : 0u);
}

constexpr uint16_t half_bits(float value)
{
    uint32_t bits = float_bits(value), sign = (bits >> 16) & 0x8000u, mag = bits & 0x7fffffffu;
    if (mag > 0x7f800000u) return uint16_t(sign | 0x7e00u);
    if (mag >= 0x47800000u) return uint16_t(sign | 0x7c00u);
    int exp = int(mag >> 23) - 127;
    if (exp < -25) return uint16_t(sign);
    uint32_t frac = (mag & 0x7fffffu) | 0x800000u;
    if (exp < -14) return uint16_t(sign | shift_round(frac, 13 + (-14 - exp)));
    return uint16_t(sign | shift_round(mag - (112u << 23), 13));
}

constexpr float half_value(uint16_t bits)
{
    uint32_t sign = uint32_t(bits & 0x8000u) << 16, exp = (bits >> 10) & 31u, frac = bits & 0x3ffu;
    if (exp == 31) return float_of_bits(sign | 0x7f800000u | (frac << 13));
    if (exp != 0) return float_of_bits(sign | ((exp + 112u) << 23) | (frac << 13));
    float tiny = float(frac) * float_of_bits(0x33800000u);
    return sign ? -tiny : tiny;
}

constexpr uint16_t bf16_bits(float value)
{
    uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t((bits >> 16) | 0x40u);
    return uint16_t(shift_round(bits, 16));
}

constexpr float bf16_value(uint16_t bits) { return float_of_bits(uint32_t(bits) << 16); }

template <typename T> using if_number = std::enable_if_t<std::is_arithmetic<T>::value, int>;

/* Round an integer or double to float so that a second rounding to 16 bits cannot go wrong:
 * keep a sticky last bit instead of rounding to nearest (round to odd). */
constexpr float sticky_float(double value)
{
    float near = float(value);
    if (double(near) == value || near - near != 0) return near;
    uint32_t bits = float_bits(near);
    bool away = (value > 0) == (double(near) > value) && near != 0;
    if (away) bits -= 1;
    return float_of_bits(bits | 1u);
}

}  // namespace acraft

#define ACRAFT_SMALL_FLOAT(NAME, TO_BITS, TO_VALUE)                                                \
    class NAME {                                                                                   \
    public:                                                                                        \
        uint16_t val;                                                                              \
        NAME() = default;                                                                          \
        constexpr NAME(float v) : val(acraft::TO_BITS(v)) {}                                                 \
        template <typename T, acraft::if_number<T> = 0>                                            \
        constexpr NAME(T v) : val(acraft::TO_BITS(acraft::sticky_float(double(v)))) {}                       \
        constexpr operator float() const { return acraft::TO_VALUE(val); }                                   \
        constexpr float ToFloat() const { return acraft::TO_VALUE(val); }                                    \
        constexpr NAME operator-() const { return NAME(-acraft::TO_VALUE(val)); }              \
        template <typename U> NAME& operator+=(U o) { return *this = NAME(float(*this) + float(o)); } \
        template <typename U> NAME& operator-=(U o) { return *this = NAME(float(*this) - float(o)); } \
        template <typename U> NAME& operator*=(U o) { return *this = NAME(float(*this) * float(o)); } \
        template <typename U> NAME& operator/=(U o) { return *this = NAME(float(*this) / float(o)); } \
    };                                                                                             \
    ACRAFT_SMALL_ARITH(NAME, +)                                                                    \
    ACRAFT_SMALL_ARITH(NAME, -)                                                                    \
    ACRAFT_SMALL_ARITH(NAME, *)                                                                    \
    ACRAFT_SMALL_ARITH(NAME, /)                                                                    \
    ACRAFT_SMALL_COMPARE(NAME, ==)                                                                 \
    ACRAFT_SMALL_COMPARE(NAME, !=)                                                                 \
    ACRAFT_SMALL_COMPARE(NAME, <)                                                                  \
    ACRAFT_SMALL_COMPARE(NAME, >)                                                                  \
    ACRAFT_SMALL_COMPARE(NAME, <=)                                                                 \
    ACRAFT_SMALL_COMPARE(NAME, >=)

/* With float or double the result is float, with an integer it stays 16 bits wide, as in C. */
#define ACRAFT_SMALL_ARITH(NAME, OP)                                                               \
    constexpr NAME operator OP(NAME a, NAME b) { return NAME(float(a) OP float(b)); }                 \
    template <typename T, acraft::if_number<T> = 0>                                                \
    constexpr std::conditional_t<std::is_integral<T>::value, NAME, float> operator OP(NAME a, T b)    \
    {                                                                                              \
        return float(a) OP float(b);                                                               \
    }                                                                                              \
    template <typename T, acraft::if_number<T> = 0>                                                \
    constexpr std::conditional_t<std::is_integral<T>::value, NAME, float> operator OP(T a, NAME b)    \
    {                                                                                              \
        return float(a) OP float(b);                                                               \
    }

#define ACRAFT_SMALL_COMPARE(NAME, OP)                                                             \
    constexpr bool operator OP(NAME a, NAME b) { return float(a) OP float(b); }                       \
    template <typename T, acraft::if_number<T> = 0> constexpr bool operator OP(NAME a, T b)           \
    {                                                                                              \
        return float(a) OP float(b);                                                               \
    }                                                                                              \
    template <typename T, acraft::if_number<T> = 0> constexpr bool operator OP(T a, NAME b)           \
    {                                                                                              \
        return float(a) OP float(b);                                                               \
    }

ACRAFT_SMALL_FLOAT(half, half_bits, half_value)
ACRAFT_SMALL_FLOAT(bfloat16_t, bf16_bits, bf16_value)
#undef ACRAFT_SMALL_FLOAT
#undef ACRAFT_SMALL_ARITH
#undef ACRAFT_SMALL_COMPARE

using float16_t = half;

namespace AscendC {

/* Two 4-bit numbers share a byte in memory; a scalar of this type exists only to name the dtype. */
struct int4b_t {
    uint8_t storage;
    int4b_t() = default;
    int4b_t(int value) : storage(uint8_t(value & 15)) {}
    operator int8_t() const { return int8_t(int8_t(storage << 4) >> 4); }
};

inline float ToFloat(const bfloat16_t& value) { return value; }
inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }

}  // namespace AscendC

namespace std {
template <typename T> struct common_type<::half, T> { using type = std::conditional_t<std::is_floating_point<T>::value, float, ::half>; };
template <typename T> struct common_type<T, ::half> { using type = std::conditional_t<std::is_floating_point<T>::value, float, ::half>; };
template <> struct common_type<::half, ::half> { using type = ::half; };
}  // namespace std

#endif
