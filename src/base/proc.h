/* Child processes: run a command, give it input, collect its output under limits. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/diag.h"

typedef struct ProcSpec {
    const char *const *argv; /* ends with NULL; argv[0] is looked up in PATH, from our directory */
    const char *dir;         /* working directory; NULL: ours */
    const char *const *env;  /* "NAME=value"..., NULL-terminated, added to ours; NULL: none */
    Str input;               /* its standard input */
    double seconds;          /* wall-clock limit; 0: none. Past it the whole group is killed */
    size_t output_limit;     /* bytes kept of each stream; 0: 16 MiB; the rest is dropped */
} ProcSpec;

typedef enum ProcEnd { PROC_EXITED, PROC_SIGNALED, PROC_TIMEOUT, PROC_NOT_STARTED } ProcEnd;

typedef struct ProcResult {
    ProcEnd end;
    int status; /* exit status, or the signal's number */
    Str out, err;
    bool cut; /* a stream was longer than output_limit */
    double seconds;
} ProcResult;

/* False only when the process could not be started (P001 in diag). */
bool proc_run(Arena *arena, const ProcSpec *spec, ProcResult *result, Diag *diag);
/* Path of a program in PATH, or NULL. */
const char *proc_find(Arena *arena, const char *program);

#endif
