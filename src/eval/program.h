/* A program with its own main, run as it stands: host code in the box, device memory and launches on
 * the twin, no task to compare with.
 *
 *     EvalProgram program = {.files = "."};
 *     eval_program(arena, &candidate, &config, &program, &verdict, &diag);
 *
 * The verdict is ok when every launch is and main gives back 0. */
#ifndef EVAL_PROGRAM_H
#define EVAL_PROGRAM_H

#include "eval/candidate.h"

typedef struct EvalProgram {
    const NameList *args; /* in: what main is given behind its name; NULL: nothing */
    const char *files;    /* in: what it reads and writes lies below this directory; NULL: none */
    Str by_kernels;       /* out: what kernels printed, launch after launch */
    Str by_main;
    NameList written; /* files */
    uint32_t launches;
} EvalProgram;

/* A file or the sources of a directory, with what they include of their own directory or of
 * `include_dirs` (NULL: none), in this order. */
bool eval_program_read(Arena *arena, const char *path, const NameList *defines,
                       const NameList *include_dirs, EvalCandidate *candidate, Diag *diag);
bool eval_is_program(const EvalCandidate *candidate); /* it launches, and has a main */
bool eval_program(Arena *arena, const EvalCandidate *candidate, const EvalConfig *config,
                  EvalProgram *program, Verdict *verdict, Diag *diag);

#endif
