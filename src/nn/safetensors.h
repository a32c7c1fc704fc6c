/* safetensors files, in and out.
 *
 *     +--------------+---------------------------------------+----------------------------+
 *     | u64 LE: len  | JSON: name -> dtype, shape, offsets   | data, packed, row-major    |
 *     +--------------+---------------------------------------+----------------------------+
 *
 * A file is mapped, not read; a header is hostile until it is checked: at most 100 MB, no name
 * twice, every byte of the data belongs to exactly one tensor, sizes follow from dtype and shape.
 * What is wrong becomes one error (N002). A set is one file, or shards named by an index file. */
#ifndef NN_SAFETENSORS_H
#define NN_SAFETENSORS_H

#include "base/diag.h"
#include "base/map.h"

#define ST_DTYPES(X) \
    X(F64, 8)        \
    X(F32, 4) X(F16, 2) X(BF16, 2) X(I64, 8) X(I32, 4) X(I16, 2) X(I8, 1) X(U8, 1) X(BOOL, 1)

typedef enum StDtype {
#define ST_ENUM(name, bytes) ST_##name,
    ST_DTYPES(ST_ENUM)
#undef ST_ENUM
        ST_DTYPE_COUNT
} StDtype;

enum { ST_MOST_RANK = 8 };

typedef struct StTensor {
    Str name;
    StDtype dtype;
    uint32_t rank;
    uint64_t shape[ST_MOST_RANK];
    uint64_t count, bytes; /* elements, bytes */
    const void *data;      /* not aligned */
} StTensor;

typedef struct StPair {
    Str key, value;
} StPair;

typedef struct StFile {
    VEC(StTensor) tensors; /* in order of their data */
    VEC(StPair) metadata;  /* of __metadata__, in order */
    Map names;             /* index in tensors */
    void *map;
    size_t mapped;
} StFile;

const char *st_dtype_name(StDtype dtype);
size_t st_dtype_bytes(StDtype dtype);

/* Bytes in memory that outlive the file. */
bool st_parse(Arena *arena, Str bytes, StFile *file, Diag *diag);
bool st_open(Arena *arena, const char *path, StFile *file, Diag *diag);
void st_close(StFile *file);
const StTensor *st_find(const StFile *file, Str name); /* NULL: none */
Str st_metadata(const StFile *file, const char *key);  /* empty: none */
/* Elements from .. from+count-1 as floats; false where the dtype has no exact float meaning here
 * (64-bit types and bool). */
bool st_floats(const StTensor *tensor, uint64_t from, uint64_t count, float *out);

/* Written through a temporary file and a rename. */
bool st_write(const char *path, const StTensor *tensors, uint32_t count, const StPair *metadata,
              uint32_t metadata_count, Diag *diag);
/* DIR/model.safetensors, or shards of at most `most` bytes and their index where more is needed
 * (0: one file). */
bool st_write_set(Arena *arena, const char *dir, const StTensor *tensors, uint32_t count,
                  uint64_t most, Diag *diag);

typedef struct StSet {
    VEC(StFile) files;
    Map names; /* index in all */
    VEC(const StTensor *) all;
} StSet;

/* `path`: a .safetensors file, an index file (.json), or a directory with either. */
bool st_set_open(Arena *arena, const char *path, StSet *set, Diag *diag);
void st_set_close(StSet *set);
const StTensor *st_set_find(const StSet *set, Str name);

#endif
