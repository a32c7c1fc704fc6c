/* Inside the CUDA target: kernels as data, between nests and text. */
#ifndef GEN_CUDA_CUDA_INT_H
#define GEN_CUDA_CUDA_INT_H

#include "gen/cuda/cuda.h"
#include "gen/plan/nest/nest.h"

enum { CUDA_STORES = 16 };

typedef enum CudaShape {
    CUDA_MAP,  /* a thread takes elements of the results */
    CUDA_ROWS, /* a team takes a row: reductions of it, then what they are used for */
    CUDA_SCAN  /* a block takes a row, from its begin to its end */
} CudaShape;

typedef struct CudaKernel {
    CudaShape shape;
    uint32_t n_stores;
    uint32_t store[CUDA_STORES]; /* of the nest */
    uint64_t kept;               /* axes of the stores */
    uint64_t row;                /* ROWS, SCAN: axes of a row */
    /* walked, the outermost first */
    uint32_t n_point, n_row;
    uint32_t point[NEST_MAX_AXES], along[NEST_MAX_AXES];
    int64_t points, length; /* of the row; 1 where there is none */
    uint32_t vector;        /* elements at once along the innermost axis */
    uint32_t tall;          /* MAP: of the second innermost axis that a thread takes; 1: one */
    bool ragged;            /* MAP: of the last ones a thread takes fewer */
    int64_t units;          /* MAP: threads that are wanted */
    uint32_t team;          /* threads of a block that share a row */
    uint32_t cluster;       /* blocks that share a row */
    uint32_t threads;       /* of a block */
    uint32_t items;         /* ROWS: packs that a thread keeps in registers; 0: read again */
    bool shared;            /* ROWS: shared memory holds them instead */
    int64_t shared_bytes;   /* of a block */
    bool columns;           /* ROWS: neighbouring threads take neighbouring rows */
    bool edges;             /* some access is masked */
    bool reverse;           /* SCAN: from the end */
    int64_t blocks;
} CudaKernel;

typedef struct CudaKernels {
    Arena *arena;
    Nest *nest;
    VEC(CudaKernel) at;
} CudaKernels;

/* Puts into memory what kernels do not have in common and groups the stores; changes the nest. */
bool cuda_cut(Arena *arena, Nest *nest, CudaKernels *kernels, Diag *diag);
/* Orders the axes of a kernel and chooses its team, vector and block. */
void cuda_roles(const Nest *nest, CudaKernel *k);
void cuda_write_kernel(const Nest *nest, const CudaKernel *k, const char *name, Buf *out);

/* Values that the stores of a kernel rest on: marked by id. */
void cuda_reach(const Nest *nest, const CudaKernel *k, bool *reached);
int64_t cuda_step(const Nest *nest, NestId id, uint64_t axes);
int64_t cuda_count(const Nest *nest, uint64_t axes);
/* Reductions of a row kernel that its team does together. */
bool cuda_is_team(const CudaKernel *k, const NestValue *v);
const char *cuda_type(DType dtype);
extern const char cuda_prelude[], cuda_prelude_end[];

#endif
