/* Products with int8 matrices: rows of integers with one float scale per group of columns. The
 * inputs are rounded to int8 too, with a scale per group, so that a group is an exact sum of integers;
 * the AVX-512, AVX2 and plain C versions give the same bits. */
#ifndef NN_INT8_H
#define NN_INT8_H

#include "nn/pool.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct NnInt8 {
    uint32_t rows, cols, group; /* group divides cols */
    int8_t *q;                  /* [rows, cols], -127 .. 127 */
    float *scale;               /* [rows, cols / group] */
} NnInt8;

/* Columns that share a scale: 64, or all where 64 does not divide them. */
uint32_t nn_int8_group(uint32_t cols);
/* Rounds rows of floats into rows first .. of the matrix, to nearest; the largest becomes 127. */
void nn_int8_round(NnInt8 *m, uint32_t first, const float *w, uint32_t rows);
void nn_int8_row(const NnInt8 *m, uint32_t row, float *out); /* as floats */
/* y[n, rows] = x[n, cols] m^T; an element does not depend on n or on the threads. */
void nn_int8_multiply(NnPool *pool, const NnInt8 *m, float *y, const float *x, uint32_t n);
/* Which version runs: "avx512", "avx2", "plain C". */
const char *nn_int8_version(void);
/* Forces a version for tests: 0 the best, 1 AVX2, 2 plain C; false where the processor lacks it. */
bool nn_int8_force(int version);

#endif
