/* Measured times of PyTorch eager for tasks at stated sizes.
 *
 * tasks/kernelbench.tsv says which KernelBench problem is which of our tasks at which sizes, and
 * how long PyTorch eager took for it on a board:
 *
 *     problem                    task                    sets                eager_us  note
 *     level2/76_Gemm_Add_ReLU    fuse/gemm_add_relu      BATCH=128 IN_F...   24.08
 *     level3/5_AlexNet                                                       1656.68   a network
 *
 * Columns are parted by tabs; lines that start with # are comments. A task read with the sets of a
 * row has that row's time; at any other size nothing was measured. */
#ifndef TORCH_EAGER_H
#define TORCH_EAGER_H

#include "torch/torch.h"

typedef struct TorchEager {
    const char *problem; /* "level2/76_Gemm_Add_ReLU" */
    const char *task;    /* "fuse/gemm_add_relu"; empty: none of ours, see note */
    const TorchSet *sets;
    uint32_t n_sets;
    double us; /* measured, never predicted */
    const char *note;
} TorchEager;

typedef VEC(TorchEager) TorchEagerTable;

/* False with the first bad line in diag. */
bool torch_eager_read(Arena *arena, const char *path, TorchEagerTable *table, Diag *diag);

/* The table that belongs to a model file: DIR/kernelbench.tsv for DIR/CATEGORY/NAME.py. Stays empty
 * where there is none. */
bool torch_eager_beside(Arena *arena, const char *model_path, TorchEagerTable *table, Diag *diag);

/* The row of this task at these sizes; NULL: not measured. */
const TorchEager *torch_eager_find(const TorchEagerTable *table, const TorchTask *task);

#endif
