/* Inside the CUDA target: kernels as data, between nests and text. */
#ifndef GEN_CUDA_CUDA_INT_H
#define GEN_CUDA_CUDA_INT_H

#include "gen/cuda/cuda.h"
#include "gen/plan/nest/nest.h"

/* A kernel and the roles of its axes. */
typedef struct CudaKernel {
    Kernel loops;
    uint32_t vector;  /* elements at once along the innermost axis */
    uint32_t tall;    /* MAP: of the second innermost axis that a thread takes; 1: one */
    bool ragged;      /* MAP: the last thread takes fewer than `tall` */
    int64_t units;    /* MAP: threads that are wanted */
    uint32_t team;    /* threads of a block that share a row */
    uint32_t cluster; /* blocks that share a row */
    uint32_t threads; /* of a block */
    uint32_t
        items; /* ROWS: packs that a thread keeps in registers; 0: read again. SCAN: elements that it takes of
                             a piece that shared memory turns around; 0: packs as they are */
    uint32_t
        again; /* ROWS: axis of the row that a thread walks itself, as something it reads stays the same
                             along it; 0: none */
    bool shared; /* ROWS: shared memory holds them instead. PRODUCT: factors are copied there */
    int64_t shared_bytes; /* of a block */
    int64_t blocks;
    int64_t tile;      /* PRODUCT: rows of a block; MEET: places of a block */
    int64_t wide;      /* PRODUCT: columns of a block */
    uint32_t products; /* PRODUCT: of tf32 for one of f32, on tensor cores; 0: without them */
    bool promoted;     /* PRODUCT: sums of a slice are added to those before in f32 */
    bool even;         /* PRODUCT: a slice has one place along all axes of k but the last */
    bool tf32;         /* PRODUCT: factors may be rounded to tf32 */
} CudaKernel;

typedef struct CudaKernels {
    Arena *arena;
    const Nest *nest;
    VEC(CudaKernel) at;
} CudaKernels;

/* Chooses team, vector and block of a kernel. */
void cuda_roles(const Nest *nest, CudaKernel *k);
void cuda_product_roles(const Nest *nest, CudaKernel *k);
void cuda_meet_roles(CudaKernel *k);
void cuda_write_kernel(const Nest *nest, const CudaKernel *k, const char *name, Buf *out);

/* A reduction that finds the first place of an extreme of the same row: the reduction that is the extreme, with which
 * it is computed in one pass; 0: it is none. */
NestId cuda_extreme_of(const Nest *nest, NestId id);
/* The reduction in whose pass over a row the value is computed: itself, or the extreme whose place it is. */
NestId cuda_pass_of(const Nest *nest, NestId id);

const char *cuda_type(DType dtype); /* NULL: none */
extern const char cuda_prelude[], cuda_prelude_end[];

#endif
