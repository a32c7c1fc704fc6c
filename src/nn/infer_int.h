/* The int8 model; for infer.c and session.c only. */
#ifndef NN_INFER_INT_H
#define NN_INFER_INT_H

#include "nn/infer.h"
#include "nn/int8.h"

typedef struct InferLayer {
    NnInt8 qkv, o, gu, down;
} InferLayer;

struct NnInfer {
    Arena arena;
    NnTable table; /* `at` of a vector is its place in vectors; of a matrix, nothing */
    float *vectors;
    NnInt8 embed, head; /* head only where it is not tied */
    InferLayer *layers;
};

#endif
