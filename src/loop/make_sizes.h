/* The sizes a kernel is made for and tried at: a model file's integers inside stated ranges, and
 * anywhere between two scales. */
#ifndef LOOP_MAKE_SIZES_H
#define LOOP_MAKE_SIZES_H

#include "torch/torch.h"

/* --range N=1..65536: N is one of the file's integers. */
typedef struct MakeRange {
    const char *name;
    int64_t lo, hi;
} MakeRange;

typedef struct MakeRanges {
    const MakeRange *at;
    uint32_t len;
} MakeRanges;

/* "N=1..65536"; false: it is none. */
bool sizes_range(Arena *arena, Str text, MakeRange *range);
/* Values inside the ranges for a case of this scale, to be read with; `draw` counts fuzz cases:
 * the first takes the lower ends, the second large values. */
void sizes_in_ranges(Arena *arena, const MakeRanges *ranges, const TorchTask *own, TorchScale scale,
                     uint64_t seed, uint32_t draw, TorchOptions *options);
/* Sets the which-th of the file's large integers to 1 as well: one row, one column, one channel. Past
 * the last of them nothing is set. */
void sizes_single(Arena *arena, const TorchTask *own, uint32_t which, TorchOptions *options);
/* Keeps sizes as the task has them: the which-th of the file's integers alone, then all but one of
 * them. False: past the last. */
bool sizes_keep(Arena *arena, const TorchTask *own, uint32_t which, TorchOptions *options);
/* All as the task has them but the which-th, which is `few`. False: past the last, or it is no more. */
bool sizes_few(Arena *arena, const TorchTask *own, uint32_t which, int64_t few,
               TorchOptions *options);
/* The task with its i-th integer at small^(1 - share[i]) * large^share[i], where small and large
 * are two readings of the same file. NULL with the reason in diag. */
TorchTask *sizes_between(Arena *arena, const char *path, Str source, const TorchOptions *options,
                         const TorchTask *small, const TorchTask *large, const double *share,
                         Diag *diag);

#endif
