/* CUDA C++ for a task, from its nests.
 *
 *     graph ─nest_derive_kind─▶ nest ─kernel_cut─▶ kernels ─cuda_roles─▶ roles ─write─▶ NAME.cu
 *
 * Every kernel is a set of stores over the same axes. Axes have roles: points are walked by threads or by
 * teams of threads, the axes of a row by the threads of a team; the innermost axis is taken several
 * elements at once where every access allows 16 bytes. All operations between two exchanges of a team
 * are one loop over registers. What no row or scan needs in common is put into memory by a kernel of its
 * own. Sizes are those of the task. */
#ifndef GEN_CUDA_CUDA_H
#define GEN_CUDA_CUDA_H

#include "emit/emit.h"
#include "gen/kernel/kernel.h"
#include "graph/graph.h"

/* What a kernel of the plan is, for reports. */
typedef struct CudaStage {
    const char *role; /* "stream", "rows", "columns", "scan" */
    int64_t blocks;
    uint32_t threads, cluster, vector,
        items; /* items: elements of a row that a thread keeps; 0: none */
} CudaStage;

typedef struct CudaPlan {
    const char *name; /* of the launcher */
    Str source;       /* NAME.cu */
    Str header;       /* NAME.h */
    KernelTask task;  /* operands, workspace */
    VEC(CudaStage) stages;
} CudaPlan;

typedef struct CudaOptions {
    bool tf32; /* factors of products may be rounded to tf32 (10 bits after the point) */
} CudaOptions;

/* False with a diagnostic that names the operator when the task is out of reach. */
bool cuda_plan(Arena *arena, const Graph *graph, const char *name, CudaOptions options,
               CudaPlan *plan, Diag *diag);
/* NAME.cu, NAME.h, NAME.json (operands and kernels), CMakeLists.txt and NAME_cuda.py, MultiKernelBench's form of an answer, of which
 * `model` is the text of the model file. */
void cuda_files(Arena *arena, const CudaPlan *plan, const Graph *graph, Str model,
                EmitFiles *files);

#endif
