/* Element types and their half-precision arithmetic helpers; rows in dtype.def. */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include "base/str.h"

typedef enum DType {
#define DTYPE(name, ...) DT_##name,
#include "base/dtype.def"
#undef DTYPE
    DT_COUNT
} DType;

typedef enum DTypeClass { DTC_F, DTC_I, DTC_U, DTC_B, DTC_C } DTypeClass;

typedef struct DTypeRow {
    const char *name;  /* "f16": in Craft, in our text forms */
    const char *torch; /* "float16" */
    const char *cxx;   /* "half" */
    uint8_t bytes;
    DTypeClass kind;
} DTypeRow;

extern const DTypeRow dtype_rows[DT_COUNT];

bool dtype_from_name(Str name, DType *dtype);  /* "f16" */
bool dtype_from_torch(Str name, DType *dtype); /* "float16", also the aliases float, half, ... */
static inline const char *dtype_name(DType d) { return dtype_rows[d].name; }
static inline size_t dtype_bytes(DType d) { return dtype_rows[d].bytes; }
static inline bool dtype_is_float(DType d) { return dtype_rows[d].kind == DTC_F; }
static inline bool dtype_is_int(DType d)
{
    return dtype_rows[d].kind == DTC_I || dtype_rows[d].kind == DTC_U;
}

/* Exact widening; narrowing to nearest even, with infinities and NaN kept. */
float half_to_float(uint16_t half);
uint16_t half_from_float(float value);
uint16_t half_from_double(double value); /* one rounding, not two */
float bf16_to_float(uint16_t bf16);
uint16_t bf16_from_float(float value);
uint16_t bf16_from_double(double value);
/* A float with 11 bits after the point (HF32): to the nearest, ties to even or towards zero. */
float hf32_round(float value, bool ties_to_zero);

/* Element `index` of an array of `dtype` as a double (complex: its real part), and back;
 * integers saturate, NaN becomes 0, bool is value != 0. For slow paths and tests. */
double dtype_load(DType dtype, const void *array, size_t index);
void dtype_store(DType dtype, void *array, size_t index, double value);

#endif
