/* C with OpenMP for a task, from its nests.
 *
 *     graph ─kernel_task─▶ kernels ─cpu_write─▶ NAME.c
 *
 * Threads take shares of a kernel's points. The innermost loop of everything is one over lanes, at most some
 * hundred neighbouring elements of one axis: straight code that a compiler turns into vector instructions.
 * Reductions are arrays of one number a lane, folded at the end where the lanes themselves are reduced. Sizes
 * are those of the task. */
#ifndef GEN_CPU_CPU_H
#define GEN_CPU_CPU_H

#include "emit/emit.h"
#include "gen/kernel/kernel.h"

typedef struct CpuPlan {
    const char *name;          /* of the launcher */
    Str source;                /* NAME.c */
    Str header;                /* NAME.h */
    KernelTask task;           /* operands, workspace */
    VEC(const char *) kernels; /* one line each */
} CpuPlan;

/* False with a diagnostic that names the operator when the task is out of reach. */
bool cpu_plan(Arena *arena, const Graph *graph, const char *name, CpuPlan *plan, Diag *diag);
/* NAME.c, NAME.h, NAME_run.c (a program that reads the operands from files, launches, writes the results and
 * prints seconds), NAME.json (operands and kernels), CMakeLists.txt, NAME_cpu.py (the model file, and a class
 * ModelNew that compiles and calls the kernel). */
void cpu_files(Arena *arena, const CpuPlan *plan, const Graph *graph, Str model, EmitFiles *files);

#endif
