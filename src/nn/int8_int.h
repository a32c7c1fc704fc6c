/* The versions of the int8 product; for int8*.c only. A group of 64 columns is sixteen lanes of four
 * neighbours: the four products of a lane are added as integers, the lane times both scales is added
 * to its float sum, and the sixteen sums are added at the end in halves. */
#ifndef NN_INT8_INT_H
#define NN_INT8_INT_H

#include "nn/int8.h"

enum { NN_LANES = 16, NN_GROUP = 64 };

/* A row of inputs: integers and a scale per group. */
typedef struct NnInt8Row {
    const int8_t *q;
    const float *scale;
} NnInt8Row;

/* y[0..3]: outputs o .. o+3 of the row x. Groups are of NN_GROUP columns. */
typedef void NnInt8Four(const NnInt8 *m, uint32_t o, NnInt8Row x, float *y);

typedef struct NnInt8Version {
    const char *name;
    NnInt8Four *four;
} NnInt8Version;

/* The best version of this processor (0), the AVX2 one (1), or NULL. */
const NnInt8Version *nn_int8_fast(int version);

static inline float nn_lane_sum(float *sum)
{
    for (int half = NN_LANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

#endif
