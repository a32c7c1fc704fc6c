/* The options of acraft run, as its files share them. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "base/file.h"
#include "eval/candidate.h"
#include "twin/observe.h"
#include "twin/project.h"

typedef struct RunOptions {
    const char *kernel, *tiling;
    const char *trace; /* where the picture goes; NULL: nowhere */
    const char *task, *scale;
    NameList inputs, inouts, outputs, attrs, include_dirs, defines;
    int64_t blocks, tiling_key, workspace;
    int64_t kase, ulp; /* ulp: rounds with other last bits; 0: none */
    CompareRule rule;
    double seconds;
    uint64_t seed;
    const NpuChip *chip;
    bool trust, strict, json, time_only, no_memo, explain, blocks_given;
} RunOptions;

/* run_task.c: against a task. Gives the exit status. */
int run_task(Arena *arena, const char *path, const RunOptions *options);
/* run_read.c: what can run without a task as an operator project: a directory, or a Craft file by
 * way of the project it becomes. */
bool run_read_project(Arena *arena, const char *path, const RunOptions *options,
                      TwinProject *project, Diag *diag);

#endif
