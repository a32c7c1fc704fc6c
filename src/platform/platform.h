/* A platform: what a kernel is written for, as data.
 *
 *     ascend   AscendC from Craft; checked by the twin, predicted by the cycle model
 *     cuda     CUDA C++ from nests; compiled by nvcc, measured on a GPU
 *     cpu      C with OpenMP from nests; compiled by cc, compared and measured on this machine
 *     pallas   Python with Pallas kernels from nests; run by JAX's interpreter, never by a TPU from here
 *
 * A row says which memories there are, what an axis of a task may become, who compiles and who runs, and
 * how files are written. One task, one reference and one tolerance serve all. A further platform is one row
 * of platform.c and its `write`. */
#ifndef PLATFORM_PLATFORM_H
#define PLATFORM_PLATFORM_H

#include "emit/emit.h"
#include "eval/eval.h"
#include "gen/kernel/kernel.h"

enum { PLATFORM_MEMORIES = 4, PLATFORM_CHIPS = 4 };

typedef struct PlatformMemory {
    const char *name;
    int64_t
        bytes; /* bytes of one core's memory (`cores` of the chip have one each), or of the chip's */
    const char *held; /* what a kernel keeps there */
} PlatformMemory;

typedef struct PlatformChip {
    const char *name;
    uint32_t cores;
    double copy_gbs; /* read and written together, measured; 0: nobody measured it for us */
} PlatformChip;

/* What was written, for whoever asked. */
typedef struct PlatformMade {
    const char *name; /* of the operator */
    EmitFiles files;
    VEC(const char *) kernels; /* one line each: role, blocks, threads */
    const KernelTask *task;    /* operands; bytes that have to move at least */
    const char *compiled;      /* the file that the compiler takes */
} PlatformMade;

/* What whoever asked leaves to the platform. */
typedef struct PlatformWish {
    bool tf32; /* factors of products may be rounded to tf32 */
} PlatformWish;

typedef bool PlatformWrite(Arena *arena, const Graph *graph, const char *name, Str model,
                           PlatformWish wish, PlatformMade *made, Diag *diag);
/* Compiles what was written in the directory. *said: what the compiler printed. False, with *lacks set, when
 * the compiler is not on this machine. */
typedef bool PlatformCompile(Arena *arena, const char *dir, const PlatformMade *made, Str *said,
                             bool *lacks);
/* Runs what was compiled in the directory on the inputs of the case and compares; then `repeats` times more, for
 * the time. *seconds: of a launch, the median; 0: not timed. The verdict is ok or says why not. */
typedef void PlatformJudge(Arena *arena, const char *dir, const PlatformMade *made,
                           const EvalReference *ref, uint32_t repeats, double *seconds,
                           Verdict *verdict);

typedef struct Platform {
    const char *name, *language;
    PlatformChip chips[PLATFORM_CHIPS];
    PlatformMemory memories[PLATFORM_MEMORIES];
    const char *roles;    /* what an axis may become, the outermost first */
    const char *compiler; /* program that `doctor` looks for; NULL: none */
    const char *runner;   /* the program that shows that the machine is there */
    PlatformWrite *write; /* files of a task; NULL: see `instead` */
    PlatformCompile *compile;
    PlatformJudge *judge;        /* NULL: nothing of it runs from here */
    bool tf32;                   /* the machine multiplies tf32 */
    bool (*ready)(Arena *arena); /* whether what `judge` needs is there; NULL: it is */
    const char *needs;           /* what that is, in a word */
    const char *judged_by;       /* ", in JAX's interpreter"; NULL: by the machine itself */
    const char *not_measured;    /* why no time is taken; NULL: it is */
    int64_t own_most;            /* bytes of operands up to which the task's own size is run */
    const char *target;          /* what the compiler compiles for, in words */
    const char *instead;         /* what to do where `write` is missing */
} Platform;

extern const Platform platforms[];
extern const uint32_t platform_count;
const Platform *platform_find(Str name); /* NULL: there is none */

PlatformWrite platform_cuda_write, platform_cpu_write, platform_pallas_write;
PlatformCompile platform_cuda_compile, platform_cpu_compile, platform_pallas_compile;
PlatformJudge platform_cpu_judge, platform_pallas_judge;
bool platform_pallas_ready(Arena *arena); /* JAX is there */
/* Bytes a second that this machine's threads copy, read and written together: of arrays of so many bytes, the
 * median of five. 0: there is no memory for them. */
double platform_cpu_copy_rate(Arena *arena, int64_t bytes);

#endif
