/* Inside the CUDA target: kernels as data, between nests and text. */
#ifndef GEN_CUDA_CUDA_INT_H
#define GEN_CUDA_CUDA_INT_H

#include "gen/cuda/cuda.h"
#include "gen/plan/nest/nest.h"

/* A kernel and the roles of its axes. */
typedef struct CudaKernel {
    Kernel loops;
    uint32_t vector;      /* elements at once along the innermost axis */
    uint32_t tall;        /* MAP: of the second innermost axis that a thread takes; 1: one */
    bool ragged;          /* MAP: the last thread takes fewer than `tall` */
    int64_t units;        /* MAP: threads that are wanted */
    uint32_t team;        /* threads of a block that share a row */
    uint32_t cluster;     /* blocks that share a row */
    uint32_t threads;     /* of a block */
    uint32_t items;       /* ROWS: packs that a thread keeps in registers; 0: read again */
    bool shared;          /* ROWS: shared memory holds them instead */
    int64_t shared_bytes; /* of a block */
    int64_t blocks;
    int64_t tile; /* PRODUCT: rows and columns of a block */
} CudaKernel;

typedef struct CudaKernels {
    Arena *arena;
    const Nest *nest;
    VEC(CudaKernel) at;
} CudaKernels;

/* Chooses team, vector and block of a kernel. */
void cuda_roles(const Nest *nest, CudaKernel *k);
void cuda_product_roles(CudaKernel *k);
void cuda_write_kernel(const Nest *nest, const CudaKernel *k, const char *name, Buf *out);

const char *cuda_type(DType dtype); /* NULL: none */
extern const char cuda_prelude[], cuda_prelude_end[];

#endif
