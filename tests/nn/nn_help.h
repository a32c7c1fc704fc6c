/* What the tests of src/nn share: small models, golden files, comparisons. */
#ifndef TESTS_NN_HELP_H
#define TESTS_NN_HELP_H

#include "nn/nn.h"
#include "nn/safetensors.h"

/* Odd sizes on purpose: no multiple of a vector, head_dim that is not width / heads. */
NnConfig help_config(void);
NnConfig help_golden_config(void); /* of tests/nn/golden/training.safetensors */
/* The largest difference of two arrays, divided by the largest value of `want` where that is
 * larger than 1. Not-a-number is infinitely far away. */
double help_distance(const float *got, const float *want, uint64_t count);
/* A tensor of a golden file as floats on the heap; the test stops where it is missing. */
float *help_load(const StFile *file, const char *name, uint64_t *count);
int32_t *help_load_ints(const StFile *file, const char *name, uint64_t *count);
/* Every tensor PREFIX/NAME of a golden file into a block of the table. */
void help_load_block(const StFile *file, const char *prefix, const NnTable *table, float *block);

#endif
