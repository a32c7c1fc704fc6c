/* A dense tensor: element type, shape, and elements in row-major order without gaps.
 *
 *     Tensor *t = tensor_new(DT_F32, shape);     header ──▶ block: count of owners, elements
 *     TENSOR_AT(t, float)[5] = 1;
 *     tensor_free(t);
 *
 * Elements live on the heap, not in an arena: they are large, and evaluation gives them back one
 * by one. A size that overflows or that the system cannot give is `NULL`, never an abort.
 */
#ifndef GRAPH_TENSOR_H
#define GRAPH_TENSOR_H

#include "base/dtype.h"
#include "graph/graph.h"

typedef struct TensorBlock TensorBlock; /* elements, counted */

typedef struct Tensor {
    DType dtype;
    Shape shape;
    int64_t count; /* number of elements */
    void *at;      /* aligned to 64 bytes; never NULL, also when count is 0 */
    TensorBlock *block;
} Tensor;

#define TENSOR_AT(t, type) ((type *)(t)->at)

static inline Shape shape_make(int rank, const int64_t *dims)
{
    Shape s = {.rank = rank};
    for (int i = 0; i < rank && i < GRAPH_MAX_RANK; i++)
        s.dim[i] = dims[i];
    return s;
}

/* Zeroed; NULL when the size overflows, a dimension is negative, or memory is short. */
Tensor *tensor_new(DType dtype, Shape shape);
/* Makes a tensor without clearing it, for callers that write every element. */
Tensor *tensor_new_raw(DType dtype, Shape shape);
/* Another header for the tensor's elements, with another shape of the same count; NULL where the
 * counts differ. Both headers own the elements, and a write through one is seen through the
 * other. */
Tensor *tensor_alias(const Tensor *t, Shape shape);
bool tensor_sole_owner(const Tensor *t); /* no alias of it is alive */
void tensor_free(Tensor *t);             /* NULL is fine */
Tensor *tensor_copy(const Tensor *t);
/* A copy with the elements converted: to integers toward zero (outside the range: the lowest
 * 64-bit integer, cut to size), to bool by != 0, to half types with one rounding. */
Tensor *tensor_cast(const Tensor *t, DType dtype);

/* Elements as doubles (complex: the real part), one by one. */
double tensor_get_any(const Tensor *t, int64_t index);
static inline double tensor_get(const Tensor *t, int64_t index)
{
    return t->dtype == DT_F32 ? (double)TENSOR_AT(t, const float)[index] : tensor_get_any(t, index);
}
void tensor_set(Tensor *t, int64_t index, double value);
bool tensor_equal(const Tensor *a, const Tensor *b); /* same dtype, shape, bytes */

/* Runs of n elements from `from`, every `step`-th, converted. Complex: the real part. */
void tensor_load_f64(const Tensor *t, int64_t from, int64_t step, int64_t n, double *out);
void tensor_load_f32(const Tensor *t, int64_t from, int64_t step, int64_t n, float *out);
void tensor_load_i64(const Tensor *t, int64_t from, int64_t step, int64_t n, int64_t *out);
void tensor_store_f64(Tensor *t, int64_t from, int64_t step, int64_t n, const double *in);
void tensor_store_f32(Tensor *t, int64_t from, int64_t step, int64_t n, const float *in);
void tensor_store_i64(Tensor *t, int64_t from, int64_t step, int64_t n, const int64_t *in);

#endif
