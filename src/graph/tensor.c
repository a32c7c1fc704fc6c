/* Tensors on the heap, and the conversions between element types (contract in the header).
 * In: dtype and shape. Out: zeroed or raw elements with a count of owners in front. */
#include "graph/tensor.h"
#include <stdlib.h>
#include <string.h>

struct TensorBlock {
    uint32_t owners;
};

enum { BLOCK_HEAD = 64 };

static Tensor *header_new(DType dtype, Shape shape, int64_t count, TensorBlock *block)
{
    Tensor *t = heap_alloc(sizeof *t);
    *t = (Tensor){.dtype = dtype,
                  .shape = shape,
                  .count = count,
                  .at = (char *)block + BLOCK_HEAD,
                  .block = block};
    return t;
}

static bool shape_valid(Shape shape)
{
    if (shape.rank < 0 || shape.rank > GRAPH_MAX_RANK)
        return false;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] < 0)
            return false;
    return true;
}

static Tensor *make(DType dtype, Shape shape, bool clear)
{
    int64_t count, bytes;
    if (!shape_valid(shape) || !shape_count(shape, &count) || !shape_bytes(shape, dtype, &bytes))
        return NULL;
    size_t size = ((size_t)bytes + 2 * BLOCK_HEAD - 1) / BLOCK_HEAD * BLOCK_HEAD;
    TensorBlock *block = aligned_alloc(BLOCK_HEAD, size);
    if (!block)
        return NULL;
    block->owners = 1;
    if (clear)
        memset((char *)block + BLOCK_HEAD, 0, (size_t)bytes);
    return header_new(dtype, shape, count, block);
}

Tensor *tensor_new(DType dtype, Shape shape) { return make(dtype, shape, true); }
Tensor *tensor_new_raw(DType dtype, Shape shape) { return make(dtype, shape, false); }

Tensor *tensor_alias(const Tensor *t, Shape shape)
{
    int64_t count;
    if (!shape_valid(shape) || !shape_count(shape, &count) || count != t->count)
        return NULL;
    t->block->owners++;
    return header_new(t->dtype, shape, count, t->block);
}

bool tensor_sole_owner(const Tensor *t) { return t->block->owners == 1; }

void tensor_free(Tensor *t)
{
    if (!t)
        return;
    if (--t->block->owners == 0)
        free(t->block);
    heap_free(t);
}

static size_t bytes_of(const Tensor *t) { return (size_t)t->count * dtype_bytes(t->dtype); }

Tensor *tensor_copy(const Tensor *t)
{
    Tensor *copy = tensor_new_raw(t->dtype, t->shape);
    if (copy)
        memcpy(copy->at, t->at, bytes_of(t));
    return copy;
}

bool tensor_equal(const Tensor *a, const Tensor *b)
{
    return a->dtype == b->dtype && shape_equal(a->shape, b->shape) &&
           memcmp(a->at, b->at, bytes_of(a)) == 0;
}

double tensor_get_any(const Tensor *t, int64_t index)
{
    double value;
    tensor_load_f64(t, index, 1, 1, &value);
    return value;
}

void tensor_set(Tensor *t, int64_t index, double value)
{
    tensor_store_f64(t, index, 1, 1, &value);
}

/* --- conversions -------------------------------------------------------------------------- */

/* As cvttsd2si: what does not fit becomes the lowest integer. */
static inline int64_t integer_of(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

#define AS_IS(x) (x)
#define AS_F64(x) ((double)(x))
#define AS_F32(x) ((float)(x))
#define AS_I64(x) ((int64_t)(x))
#define AS_BOOL(x) ((uint8_t)((x) != 0))
#define F64_F16(x) half_from_double(x)
#define F32_F16(x) half_from_float(x)
#define F64_BF16(x) bf16_from_double(x)
#define F32_BF16(x) bf16_from_float(x)
#define I64_F16(x) half_from_double((double)(x))
#define I64_BF16(x) bf16_from_double((double)(x))

#define RUN(T, convert)                         \
    do {                                        \
        const T *at = TENSOR_AT(t, T) + from;   \
        if (step == 1)                          \
            for (int64_t i = 0; i < n; i++)     \
                out[i] = convert(at[i]);        \
        else                                    \
            for (int64_t i = 0; i < n; i++)     \
                out[i] = convert(at[i * step]); \
    } while (0)

#define F32_OF_HALF(x) half_to_float(x)
#define F32_OF_BF16(x) bf16_to_float(x)
#define F64_OF_HALF(x) ((double)half_to_float(x))
#define F64_OF_BF16(x) ((double)bf16_to_float(x))
#define I64_OF_HALF(x) integer_of((double)half_to_float(x))
#define I64_OF_BF16(x) integer_of((double)bf16_to_float(x))
#define I64_OF_FLOAT(x) integer_of((double)(x))

#define LOADER(name, D, number, floating, of_half, of_bf16)                   \
    void name(const Tensor *t, int64_t from, int64_t step, int64_t n, D *out) \
    {                                                                         \
        switch (t->dtype) {                                                   \
        case DT_F32: RUN(float, floating); break;                             \
        case DT_F64: RUN(double, floating); break;                            \
        case DT_F16: RUN(uint16_t, of_half); break;                           \
        case DT_BF16: RUN(uint16_t, of_bf16); break;                          \
        case DT_I8: RUN(int8_t, number); break;                               \
        case DT_I16: RUN(int16_t, number); break;                             \
        case DT_I32: RUN(int32_t, number); break;                             \
        case DT_I64: RUN(int64_t, number); break;                             \
        case DT_U8: RUN(uint8_t, number); break;                              \
        case DT_U16: RUN(uint16_t, number); break;                            \
        case DT_U32: RUN(uint32_t, number); break;                            \
        case DT_U64: RUN(uint64_t, number); break;                            \
        case DT_BOOL: RUN(uint8_t, number); break;                            \
        case DT_C64:                                                          \
            from *= 2;                                                        \
            step *= 2;                                                        \
            RUN(float, floating);                                             \
            break;                                                            \
        case DT_COUNT: break;                                                 \
        }                                                                     \
    }
LOADER(tensor_load_f64, double, AS_F64, AS_F64, F64_OF_HALF, F64_OF_BF16)
LOADER(tensor_load_f32, float, AS_F32, AS_F32, F32_OF_HALF, F32_OF_BF16)
LOADER(tensor_load_i64, int64_t, AS_I64, I64_OF_FLOAT, I64_OF_HALF, I64_OF_BF16)

#define STORE_RUN(T, convert)                     \
    do {                                          \
        T *at = TENSOR_AT(t, T) + from;           \
        if (step == 1)                            \
            for (int64_t i = 0; i < n; i++)       \
                at[i] = (T)convert(in[i]);        \
        else                                      \
            for (int64_t i = 0; i < n; i++)       \
                at[i * step] = (T)convert(in[i]); \
    } while (0)

static void store_complex(Tensor *t, int64_t from, int64_t step, int64_t i, float real)
{
    float *at = TENSOR_AT(t, float) + 2 * (from + i * step);
    at[0] = real;
    at[1] = 0;
}

#define STORER(name, S, integer, to_half, to_bf16)                           \
    void name(Tensor *t, int64_t from, int64_t step, int64_t n, const S *in) \
    {                                                                        \
        switch (t->dtype) {                                                  \
        case DT_F32: STORE_RUN(float, AS_IS); break;                         \
        case DT_F64: STORE_RUN(double, AS_IS); break;                        \
        case DT_F16: STORE_RUN(uint16_t, to_half); break;                    \
        case DT_BF16: STORE_RUN(uint16_t, to_bf16); break;                   \
        case DT_I8: STORE_RUN(int8_t, integer); break;                       \
        case DT_I16: STORE_RUN(int16_t, integer); break;                     \
        case DT_I32: STORE_RUN(int32_t, integer); break;                     \
        case DT_I64: STORE_RUN(int64_t, integer); break;                     \
        case DT_U8: STORE_RUN(uint8_t, integer); break;                      \
        case DT_U16: STORE_RUN(uint16_t, integer); break;                    \
        case DT_U32: STORE_RUN(uint32_t, integer); break;                    \
        case DT_U64: STORE_RUN(uint64_t, integer); break;                    \
        case DT_BOOL: STORE_RUN(uint8_t, AS_BOOL); break;                    \
        case DT_C64:                                                         \
            for (int64_t i = 0; i < n; i++)                                  \
                store_complex(t, from, step, i, (float)in[i]);               \
            break;                                                           \
        case DT_COUNT: break;                                                \
        }                                                                    \
    }
STORER(tensor_store_f64, double, integer_of, F64_F16, F64_BF16)
STORER(tensor_store_f32, float, I64_OF_FLOAT, F32_F16, F32_BF16)
STORER(tensor_store_i64, int64_t, AS_IS, I64_F16, I64_BF16)

enum { RUN_LEN = 512 };

static void cast_run(const Tensor *t, Tensor *out, int64_t from, int64_t n)
{
    double number[RUN_LEN];
    int64_t integer[RUN_LEN];
    if (!dtype_is_float(t->dtype) && t->dtype != DT_C64) {
        tensor_load_i64(t, from, 1, n, integer);
        tensor_store_i64(out, from, 1, n, integer);
    } else {
        tensor_load_f64(t, from, 1, n, number);
        tensor_store_f64(out, from, 1, n, number);
    }
}

Tensor *tensor_cast(const Tensor *t, DType dtype)
{
    if (t->dtype == dtype)
        return tensor_copy(t);
    Tensor *out = tensor_new_raw(dtype, t->shape);
    int64_t runs = out ? (t->count + RUN_LEN - 1) / RUN_LEN : 0;
#pragma omp parallel for schedule(static) if (runs > 16)
    for (int64_t r = 0; r < runs; r++) {
        int64_t from = r * RUN_LEN;
        cast_run(t, out, from, t->count - from < RUN_LEN ? t->count - from : RUN_LEN);
    }
    return out;
}
