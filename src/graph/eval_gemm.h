/* Matrix product for reference values: C[m, n] = sum over k of A[m, k] * B[n, k] (+ bias).
 *
 * Operands come through packers, so that a convolution reads its input in place instead of
 * building the unfolded matrix. f32: products are summed in f32 over runs of GEMM_KC and the runs
 * in double, with one rounding at the end; f64: all in double. The split of the work depends on
 * the sizes only, so the result is the same for any number of threads. Instruction sets are chosen
 * at run time; those with fused multiply-add agree bit for bit.
 */
#ifndef GRAPH_EVAL_GEMM_H
#define GRAPH_EVAL_GEMM_H

#include "base/dtype.h"

enum { GEMM_KC = 256 };

/* Writes rows row0 .. row0+rows-1, columns k0 .. k0+kc-1 of an operand as panels of `lanes` rows:
 * panel p holds kc groups of `lanes` elements; rows past the end of the last panel are zero. */
typedef void GemmPack(const void *operand, int64_t row0, int64_t rows, int64_t k0, int64_t kc,
                      int64_t lanes, void *panels);

/* An operand in memory: element (row, k) at `at[row * row_stride + k * k_stride]`. */
typedef struct GemmMatrix {
    const void *at;
    int64_t row_stride, k_stride;
} GemmMatrix;

GemmPack gemm_pack_f32, gemm_pack_f64; /* the operand is a GemmMatrix */

typedef struct GemmItem {
    const void *a, *b;               /* operands, as the packers read them */
    void *c;                         /* element (i, j) at c[i * c_row + j] */
    const void *row_bias, *col_bias; /* [m], [n] in the element type, or NULL */
} GemmItem;

typedef struct Gemm {
    DType dtype; /* DT_F32 or DT_F64: of operands and result */
    int64_t m, n, k, c_row;
    GemmPack *pack_a, *pack_b;
    const GemmItem *items;
    int64_t batch;
} Gemm;

void gemm_run(const Gemm *g);

#endif
