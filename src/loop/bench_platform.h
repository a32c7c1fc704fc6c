/* An operator on a platform other than Ascend. In: a model file and how it is read. Out: its files; or what judging
 * gives everywhere, from kernels that this machine compiled and ran, with a measured time.
 *
 *     small, fuzz0, fuzz1 ...   a kernel of each case's sizes: values
 *     full                      the operator's own sizes: values, then the time where there is one to take
 *
 * The kernels have their sizes written in, so that every case has files of its own. */
#ifndef LOOP_BENCH_PLATFORM_H
#define LOOP_BENCH_PLATFORM_H

#include "loop/bench_judge.h"
#include "platform/platform.h"

typedef struct PlatformOp {
    const Platform *platform;
    const char *path;     /* of the model file */
    Str model;            /* its text */
    TorchOptions options; /* how it is read */
    TorchScale scale;     /* of its own sizes */
    PlatformWish wish;
    bool edited; /* the texts in `made` are somebody's: they are judged at their own sizes only */
    const char *
        name; /* of the operator; NULL: the model file's. platform_op_write makes it an identifier */
    /* platform_op_write fills these */
    TorchTask *task;
    PlatformMade made;
} PlatformOp;

enum { PLATFORM_REPEATS = 9 };

/* Reads the model file and writes the kernel for its own sizes. False with a diagnostic; *unread: the file itself
 * cannot be read, else the platform's planner refuses it. */
bool platform_op_write(Arena *arena, PlatformOp *op, bool *unread, Diag *diag);
/* Whether its kernels run on this machine, now. */
bool platform_runs(Arena *arena, const Platform *platform);
/* True when every case is ok. judged->refused counts odd sizes that the platform's planner cannot plan; judged->not_run
 * says why the own sizes were not run. */
bool judge_platform(Arena *arena, const JudgeSpec *spec, const PlatformOp *op, Judged *judged);

#endif
