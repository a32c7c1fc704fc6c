/* Which tasks a bench has: a suite by name, or every model file below a directory. */
#ifndef LOOP_BENCH_SUITE_H
#define LOOP_BENCH_SUITE_H

#include "base/file.h"

typedef struct BenchTask {
    const char *name;     /* of the file; with its category before it where two have the same */
    const char *category; /* of its docstring, else its folder */
    const char *level;    /* of its docstring, else "3" of a folder like level3; "" */
    const char *path;
} BenchTask;

typedef VEC(BenchTask) BenchTasks;

typedef struct BenchPick {
    const char *suite;     /* a name of bench_suite.def, or a directory, or one model file */
    const char *suite_dir; /* the user's clone of the original; NULL: ours */
    const char *home;      /* where our tasks/ is; NULL: not known */
    NameList categories, levels, names; /* names are shell patterns; empty: all */
} BenchPick;

typedef struct BenchSuite {
    const char *name;    /* "ascendcraft", or the directory as it was given */
    const char *wording; /* "original" or "reworded" */
    BenchTasks tasks;    /* in order of category and name */
} BenchSuite;

/* False with a diagnostic (B001) when there is no such suite or no task is left. */
bool bench_suite(Arena *arena, const BenchPick *pick, BenchSuite *suite, Diag *diag);
/* One line for each suite by name. */
void bench_suite_names(Buf *out);

#endif
