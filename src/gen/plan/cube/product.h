/* Matrix products on the cube.
 *
 *     graph ─product_read─▶ Product: y[z, i, j] = sum over t of a[z, i, t] * b[z, t, j] (+ bias[j])
 *           ─product_list─▶ Blocks: tiles of L1 and L0, slices of k, by predicted cycles
 *           ─plan_product─▶ Craft text, of those that stand first the one that the clock finds fastest
 *
 * What follows a product is computed by the vector role of its kernel (tail.h), where rows and columns of the product
 * are rows and lanes of the rest. A product that is cut into slices of k has its bias only.
 *
 * A transposed operand is not moved: its tile is loaded as it lies and turned on the way to L0. */
#ifndef GEN_PLAN_CUBE_PRODUCT_H
#define GEN_PLAN_CUBE_PRODUCT_H

#include "gen/plan/plan.h"

typedef struct ProductOperand {
    ValueId value;
    bool turned;  /* it lies as [k, m] or [n, k] */
    bool batched; /* its first axis is the batch */
} ProductOperand;

/* Where the tiles of L0C go. */
typedef enum ProductEnd {
    PRODUCT_STORED, /* to memory */
    PRODUCT_SENT,   /* to the vector role */
    PRODUCT_ROWS    /* as above, and a tile has whole rows */
} ProductEnd;

typedef struct Product {
    ProductOperand a, b;
    ValueId bias, y; /* bias VALUE_NONE: none */
    int64_t batch, m, n, k;
    DType dtype, out, bias_dtype; /* of the factors; of what is stored: theirs, or f32 */
    bool hf32;                    /* f32 is rounded to HF32 */
    ProductEnd end;
} Product;

/* False: the graph is something else than one product, its operands perhaps transposed. */
bool product_read(const Graph *graph, Product *p);

typedef struct Blocks {
    int64_t m, n; /* of a tile of L0C */
    int64_t k1;   /* of tiles of L1 */
    int64_t k0;   /* of tiles of L0 */
    int64_t c_depth;
    int64_t slices; /* parts of k on cores of their own; 1: none */
    bool kept;      /* L2 holds both factors: a core takes one tile of its slice after the other */
    bool
        staggered; /* tiles begin at different places of k, so that each core reads a part of what they share */
    double cycles; /* predicted, of the slowest core */
} Blocks;

/* Up to `most`, the fastest by predicted cycles first; of each size of tiles one without slices, one with, and
 * one with a slice for each core. */
uint32_t product_list(const Product *p, const NpuChip *chip, Blocks *out, uint32_t most);

/* Products a cycle: f32 at a quarter of the rate of f16, in HF32 at half of it. */
double product_rate(const NpuChip *chip, DType dtype, bool hf32);

/* Cycles of the scalar unit for so many steps through L0 and L1: the calls of the queues that two tiles pass through in each,
 * and those of one tile of L0C. */
double product_scalar(int64_t steps, int64_t loads);

bool plan_product(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                  const char *name, Plan *plan, Diag *diag);

#endif
