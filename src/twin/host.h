/* The host side of an operator project: its op definitions and tiling functions, compiled and run
 * in the box. In: op_host texts. Out: what the definitions say, tiling bytes for given shapes, the
 * tiling structs as C++ for the kernel. */
#ifndef TWIN_HOST_H
#define TWIN_HOST_H

#include "twin/twin.h"

typedef struct TwinHost TwinHost;

typedef struct TwinHostFile {
    const char *path;
    Str text;
} TwinHostFile;

typedef struct TwinHostSource {
    const TwinHostFile *files;
    uint32_t file_count;
    const char *const *include_dirs; /* ends with NULL */
    const char *const *defines;      /* "M=V" or "M"; ends with NULL; NULL: none */
} TwinHostSource;

typedef enum TwinNeed { TWIN_REQUIRED, TWIN_OPTIONAL, TWIN_DYNAMIC } TwinNeed;

typedef struct TwinOpTensor {
    const char *name;
    TwinNeed need;
    VEC(int32_t) dtypes, formats; /* ge numbers; entry i of all tensors is one combination */
    bool by_value;                /* the tiling function reads its values */
} TwinOpTensor;

typedef struct TwinOpAttr {
    const char *name, *type, *value; /* value: the default, "" when there is none */
    bool required;
} TwinOpAttr;

typedef VEC(TwinOpTensor) TwinOpTensors;

typedef struct TwinOp {
    const char *name;
    TwinOpTensors inputs, outputs;
    VEC(TwinOpAttr) attrs;
    bool has_tiling;
} TwinOp;

typedef VEC(TwinOp) TwinOps;

TwinHost *twin_host_compile(Arena *arena, const TwinHostSource *source, const TwinOptions *options,
                            Verdict *verdict, Diag *diag);
void twin_host_release(TwinHost *host);
const TwinOps *twin_host_ops(const TwinHost *host);

/* Tensors in the order of the op definition; several with the same `declared` are one list. */
typedef struct TwinHostTensor {
    uint32_t declared;
    const TwinTensor *tensor;
} TwinHostTensor;

typedef struct TwinTilingRequest {
    const TwinOp *op;
    const TwinHostTensor *inputs, *outputs;
    uint32_t input_count, output_count;
    const NameList *attrs; /* "NAME=VALUE"; the others keep their default */
} TwinTilingRequest;

typedef struct TwinTiling {
    Str bytes;
    uint64_t key;
    uint32_t blocks;
    uint64_t workspace; /* bytes of the user's part */
    /* What the tiling key stands for where the kernel is a template; "": not given. */
    const char *template_args, *tiling_struct;
    int32_t kernel_type; /* number of ASCENDC_TPL_AIV_ONLY and so on; -1: not given */
} TwinTiling;

bool twin_host_tiling(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                      const TwinOptions *options, TwinTiling *tiling, Verdict *verdict);
/* Adds to options->scan. */
void twin_host_scan(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                    const TwinOptions *options);
/* Fills dtype, rank and shape of `count` tensors from the op's own inference; entry i is output i. */
bool twin_host_infer(Arena *arena, const TwinHost *host, const TwinTilingRequest *request,
                     const TwinOptions *options, TwinTensor *outputs, uint32_t count,
                     Verdict *verdict);
/* The tiling structs as the kernel sees them: TwinSource.prelude. */
bool twin_host_header(Arena *arena, const TwinHost *host, const TwinOp *op,
                      const TwinOptions *options, Str *text, Verdict *verdict);

/* Numbers of ge::DataType. -1, false: none. */
int32_t twin_ge_dtype(DType dtype);
bool twin_from_ge_dtype(int32_t number, DType *dtype);
const char *twin_ge_dtype_name(int32_t number); /* "DT_FLOAT16" */

#endif
