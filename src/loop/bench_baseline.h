/* Measured times to be held against: one row a task, with the sizes they were measured at.
 *
 *     task<TAB>us<TAB>sizes                       # lines that begin with '#' say where from
 *     softmax<TAB>31.4<TAB>ROWS=16 COLS=16384
 *
 * In: a file of tab-separated lines. Out: rows by task name. */
#ifndef LOOP_BENCH_BASELINE_H
#define LOOP_BENCH_BASELINE_H

#include "base/file.h"
#include "torch/torch.h"

typedef struct BenchBaselineRow {
    const char *task;
    double us;
    TorchSet *sets;
    uint32_t set_count;
} BenchBaselineRow;

typedef struct BenchBaseline {
    const char *name; /* of the file */
    VEC(BenchBaselineRow) rows;
} BenchBaseline;

/* False with the line in diag (B002). */
bool bench_baseline_read(Arena *arena, const char *path, BenchBaseline *baseline, Diag *diag);
const BenchBaselineRow *bench_baseline_find(const BenchBaseline *baseline, const char *task);

#endif
