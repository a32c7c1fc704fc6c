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
    const char *dtype; /* of tensors whose file names none; NULL: f32, or what a project takes */
    DType float_type;  /* the same as it was read */
    const char *files; /* of a program with its own main; NULL: it has none */
    NameList args;     /* of such a program */
    NameList inputs, inouts, outputs, attrs, include_dirs, defines;
    int64_t blocks, tiling_key, workspace;
    int64_t kase, ulp; /* ulp: rounds with other last bits; 0: none */
    CompareRule rule;
    double seconds;
    uint64_t seed;
    const NpuChip *chip;
    bool trust, strict, json, time_only, no_memo, explain, blocks_given, hf32;
} RunOptions;

/* A task read for one case: reference values, and what the verdict calls the case. */
typedef struct RunTask {
    TorchCases cases;
    TorchTask *task;
    EvalReference ref; /* given back with eval_reference_free, also when reading failed */
    const char *kase;
} RunTask;

/* Reads the bytes of --tiling, which names a file or lists numbers (cmd_run.c). */
bool run_read_tiling(Arena *arena, const RunOptions *options, Str *tiling, Diag *diag);
/* Reads the task that the options name, at their scale, case, rule and seed. Cases stand beside
 * the model file; without them there is one (run_task.c). */
bool run_task_read(Arena *arena, const RunOptions *options, RunTask *task, Diag *diag);
/* "Relu, small: x f32[16,64]" */
void run_task_show_case(const RunTask *of, const char *scale, Buf *out);
/* Runs a candidate against a task and returns the exit status (run_task.c). */
int run_task(Arena *arena, const char *path, const RunOptions *options);
/* Whether the path holds a program: it has a main that launches, and the options give no launch
 * (run_program.c). */
bool run_is_program(Arena *arena, const char *path, const RunOptions *options,
                    EvalCandidate *program);
int run_program(Arena *arena, const char *path, const EvalCandidate *program,
                const RunOptions *options);
/* Reads what can run without a task as an operator project: a directory, or a Craft file by path
 * of the project that it becomes (run_read.c). */
bool run_read_project(Arena *arena, const char *path, const RunOptions *options,
                      TwinProject *project, Diag *diag);

#endif
