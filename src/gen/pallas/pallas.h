/* Pallas text (JAX, for TPUs) for a task, from its nests.
 *
 *     graph ─kernel_task─▶ kernels ─pallas_roles─▶ blocks ─pallas_write_kernel─▶ NAME.py
 *
 * Every kernel is one pallas_call. Its grid walks blocks of the points, and of rows that are too long for VMEM: then
 * once for each pass over the row, with results of the passes in scratch memory. Arrays of a kernel have one dimension
 * for each axis of its blocks; an axis that a value does not vary along has size 1. Each access of a tensor is an
 * operand of its own: a view of the tensor whose dimensions are axes. Sizes are those of the task. */
#ifndef GEN_PALLAS_PALLAS_H
#define GEN_PALLAS_PALLAS_H

#include "emit/emit.h"
#include "gen/kernel/kernel.h"

typedef struct PallasPlan {
    const char *name;          /* of the function */
    Str source;                /* NAME.py */
    KernelTask task;           /* operands */
    VEC(const char *) kernels; /* one line each */
} PallasPlan;

/* False with a diagnostic that names the operator when the task is out of reach. */
bool pallas_plan(Arena *arena, const Graph *graph, const char *name, PallasPlan *plan, Diag *diag);
/* NAME.py, NAME_run.py (reads the operands from files, calls, writes the results), NAME.json (operands and
 * kernels), NAME_pallas.py (MultiKernelBench's form of an answer). */
void pallas_files(Arena *arena, const PallasPlan *plan, const Graph *graph, Str model,
                  EmitFiles *files);

#endif
