/* The arithmetic of the vector unit: array conversions between half and float, and the functions
 * whose last bits no document fixes. The same bits on every machine: only IEEE add, subtract,
 * multiply, divide and square root, no contraction, no library function. */
#ifndef SIM_MATH_H
#define SIM_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t math_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float math_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void math_half_to_float(float *to, const uint16_t *from, size_t n);
/* Nearest even. saturate: infinities become the largest finite half, NaN becomes 0. */
void math_float_to_half(uint16_t *to, const float *from, size_t n, bool saturate);

/* Within 1 unit in the last place of float. */
float math_exp(float x);
float math_ln(float x);
/* sum[i] += factor * line[i], each product and sum rounded to double. */
void math_add_scaled(double *sum, const double *line, double factor, size_t n);
void math_exp_array(float *to, const float *from, size_t n);
void math_ln_array(float *to, const float *from, size_t n);

#endif
