/* Inside the platforms: operands of a launch as files. */
#ifndef PLATFORM_PLATFORM_INT_H
#define PLATFORM_PLATFORM_INT_H

#include "platform/platform.h"

/* x0.bin, x1.bin, ... of the case's inputs. */
bool platform_write_inputs(Arena *arena, const char *dir, const KernelTask *task,
                           const EvalReference *ref, Diag *diag);
/* y0.bin, ... beside the reference's results. */
bool platform_compare_results(Arena *arena, const char *dir, const KernelTask *task,
                              const EvalReference *ref, PlatformRun *run, Diag *diag);

#endif
