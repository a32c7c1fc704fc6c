/* The versions of the int8 product; for int8*.c only. */
#ifndef NN_INT8_INT_H
#define NN_INT8_INT_H

#include "nn/int8.h"

enum { NN_LANES = 16 };

typedef struct NnInt8Version {
    const char *name;
    /* y[0..3]: outputs o .. o+3 of the row x */
    void (*four_outputs)(const NnInt8 *m, uint32_t o, const float *x, float *y);
    /* y[0], y[stride], ...: output o of the four rows at x */
    void (*four_rows)(const NnInt8 *m, uint32_t o, const float *x, float *y, size_t stride);
} NnInt8Version;

/* The best version of this processor (0), the AVX2 one (1), or NULL; groups are of whole lanes. */
const NnInt8Version *nn_int8_fast(int version);

static inline float nn_lane_sum(float *sum)
{
    for (int half = NN_LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

#endif
