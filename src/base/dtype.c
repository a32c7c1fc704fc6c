/* Element types: the table, names, half-precision conversions, slow loads and stores. */
#include "base/dtype.h"
#include <math.h>
#include <string.h>

const DTypeRow dtype_rows[DT_COUNT] = {
#define DTYPE(name, craft, torch, cxx, ctype, bytes, kind) {craft, torch, cxx, bytes, DTC_##kind},
#include "base/dtype.def"
#undef DTYPE
};

bool dtype_from_name(Str name, DType *dtype)
{
    for (int d = 0; d < DT_COUNT; d++)
        if (str_is(name, dtype_rows[d].name)) {
            *dtype = (DType)d;
            return true;
        }
    return false;
}

static bool from_alias(Str name, DType *dtype)
{
    static const struct {
        const char *name;
        DType dtype;
    } alias[] = {
        {"float", DT_F32}, {"half", DT_F16}, {"double", DT_F64}, {"short", DT_I16},
        {"int", DT_I32},   {"long", DT_I64}, {"cfloat", DT_C64}, {"char", DT_I8},
    };
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (str_is(name, alias[i].name)) {
            *dtype = alias[i].dtype;
            return true;
        }
    return false;
}

bool dtype_from_torch(Str name, DType *dtype)
{
    for (int d = 0; d < DT_COUNT; d++)
        if (str_is(name, dtype_rows[d].torch)) {
            *dtype = (DType)d;
            return true;
        }
    return from_alias(name, dtype);
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7FFF;
    if (rest >= 0x7C00) /* infinity, NaN */
        return bits_float(sign | 0x7F800000 | (rest & 0x3FF) << 13);
    if (rest >= 0x0400)
        return bits_float(sign | ((rest << 13) + (112u << 23)));
    float subnormal = (float)rest * 0x1p-24f;
    return bits_float(sign | float_bits(subnormal));
}

uint16_t half_from_float(float value)
{
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7FFFFFFF;
    if (rest > 0x7F800000)
        return (uint16_t)(sign | 0x7E00 | (rest >> 13 & 0x3FF));
    if (rest >= 0x477FF000) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7C00);
    if (rest < 0x38800000) {
        /* Adding 1/2 makes the float unit round at 2^-24, the unit of a subnormal half. */
        float shifted = bits_float(rest) + 0.5f;
        return (uint16_t)(sign | (float_bits(shifted) - 0x3F000000));
    }
    rest += 0xFFF + (rest >> 13 & 1);
    return (uint16_t)(sign | ((rest >> 13) - (112u << 10)));
}

float bf16_to_float(uint16_t bf16) { return bits_float((uint32_t)bf16 << 16); }

uint16_t bf16_from_float(float value)
{
    uint32_t bits = float_bits(value);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* To float by truncation, the last bit set when something was lost ("round to odd"). Rounding
 * that once more to a type with at least two bits less gives what one rounding would. */
static float to_odd(double value)
{
    float nearest = (float)value;
    if (isnan(value) || (double)nearest == value)
        return nearest;
    uint32_t bits = float_bits(nearest);
    bool too_big = fabs((double)nearest) > fabs(value);
    return bits_float((too_big ? bits - 1 : bits) | 1);
}

uint16_t half_from_double(double value) { return half_from_float(to_odd(value)); }

uint16_t bf16_from_double(double value) { return bf16_from_float(to_odd(value)); }

float hf32_round(float value, bool ties_to_zero)
{
    uint32_t bits = float_bits(value), half = 1u << 11, odd = bits >> 12 & 1;
    if ((bits & 0x7F800000) == 0x7F800000)
        return value;
    bits += ties_to_zero ? half - 1 : half - 1 + odd;
    return bits_float(bits & ~0xFFFu);
}

double dtype_load(DType dtype, const void *array, size_t index)
{
    switch (dtype) {
    case DT_F32: return (double)((const float *)array)[index];
    case DT_F16: return (double)half_to_float(((const uint16_t *)array)[index]);
    case DT_BF16: return (double)bf16_to_float(((const uint16_t *)array)[index]);
    case DT_F64: return ((const double *)array)[index];
    case DT_I8: return ((const int8_t *)array)[index];
    case DT_I16: return ((const int16_t *)array)[index];
    case DT_I32: return ((const int32_t *)array)[index];
    case DT_I64: return (double)((const int64_t *)array)[index];
    case DT_U8: return ((const uint8_t *)array)[index];
    case DT_U16: return ((const uint16_t *)array)[index];
    case DT_U32: return ((const uint32_t *)array)[index];
    case DT_U64: return (double)((const uint64_t *)array)[index];
    case DT_BOOL: return ((const uint8_t *)array)[index] != 0;
    case DT_C64: return (double)((const float *)array)[2 * index];
    case DT_COUNT: break;
    }
    return 0;
}

/* Towards zero, saturating; the bounds are powers of two, so exact as doubles. */
static int64_t to_signed(double value, int bits)
{
    double bound = ldexp(1, bits - 1);
    if (isnan(value))
        return 0;
    if (value >= bound)
        return (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    if (value < -bound)
        return -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1;
    return (int64_t)value;
}

static uint64_t to_unsigned(double value, int bits)
{
    if (!(value > 0))
        return 0;
    if (value >= ldexp(1, bits))
        return UINT64_MAX >> (64 - bits);
    return (uint64_t)value;
}

void dtype_store(DType dtype, void *array, size_t index, double value)
{
    switch (dtype) {
    case DT_F32: ((float *)array)[index] = (float)value; break;
    case DT_F16: ((uint16_t *)array)[index] = half_from_double(value); break;
    case DT_BF16: ((uint16_t *)array)[index] = bf16_from_double(value); break;
    case DT_F64: ((double *)array)[index] = value; break;
    case DT_I8: ((int8_t *)array)[index] = (int8_t)to_signed(value, 8); break;
    case DT_I16: ((int16_t *)array)[index] = (int16_t)to_signed(value, 16); break;
    case DT_I32: ((int32_t *)array)[index] = (int32_t)to_signed(value, 32); break;
    case DT_I64: ((int64_t *)array)[index] = to_signed(value, 64); break;
    case DT_U8: ((uint8_t *)array)[index] = (uint8_t)to_unsigned(value, 8); break;
    case DT_U16: ((uint16_t *)array)[index] = (uint16_t)to_unsigned(value, 16); break;
    case DT_U32: ((uint32_t *)array)[index] = (uint32_t)to_unsigned(value, 32); break;
    case DT_U64: ((uint64_t *)array)[index] = to_unsigned(value, 64); break;
    case DT_BOOL: ((uint8_t *)array)[index] = value != 0; break;
    case DT_C64:
        ((float *)array)[2 * index] = (float)value;
        ((float *)array)[2 * index + 1] = 0;
        break;
    case DT_COUNT: break;
    }
}
