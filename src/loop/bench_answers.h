/* Answers that exist already, found in the places where the benchmarks leave them.
 *
 *     DIR/.../runK/TASK.txt                                 MultiKernelBench's output tree
 *     DIR/.../TASK[/fixed_case_C]/sampleS/log/...prompt.json  NPUKernelBench's run directories
 *     DIR/.../TASK/answer/S/                                NPUKernelBench's expert answers
 *     FILE.jsonl, DIR/FILE.jsonl                               one object a line: task, sample, answer
 *     DIR/TASK.craft, DIR/TASK.S.cpp, DIR/TASK/             a candidate of any form
 *
 * A file may be compressed: its name then ends with .zst or .gz. */
#ifndef LOOP_BENCH_ANSWERS_H
#define LOOP_BENCH_ANSWERS_H

#include "base/file.h"
#include "loop/bench_suite.h"

typedef struct BenchAnswer {
    uint32_t task; /* of the suite */
    uint32_t sample;
    const char *path; /* of the file or directory it comes from */
    int64_t kase;     /* the listed case it was written for; -1: all */
    bool whole;       /* the path itself is the candidate; else `text` is a raw answer */
    Str text;
    Str prompt;             /* JSON messages, where they were kept; else empty */
    const char *unreadable; /* why there is no text; NULL: there is */
} BenchAnswer;

typedef struct BenchAnswers {
    VEC(BenchAnswer) at; /* in order of task and sample */
    uint32_t unknown;    /* answers to no task of the suite */
    uint32_t
        damaged; /* files that cannot be unpacked; those of one task are answers without text */
} BenchAnswers;

/* False with a diagnostic (B004) when a file cannot be read or nothing fits. Samples without a
 * number of their own are numbered in order of path. */
bool bench_answers(Arena *arena, const char *path, const BenchTasks *tasks, BenchAnswers *answers,
                   Diag *diag);
/* A whole file, unpacked by its name. At most 1 GiB. */
bool bench_read_packed(Arena *arena, const char *path, Str *text, Diag *diag);

#endif
