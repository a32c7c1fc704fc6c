/* Inside the platforms: operands of a launch as files. */
#ifndef PLATFORM_PLATFORM_INT_H
#define PLATFORM_PLATFORM_INT_H

#include "platform/platform.h"

/* x0.bin, x1.bin, ... of the case's inputs. False: the verdict says why. */
bool platform_write_inputs(Arena *arena, const char *dir, const KernelTask *task,
                           const EvalReference *ref, Verdict *verdict);
/* y0.bin, ... beside the reference's results: the verdict is settled. */
void platform_compare_results(Arena *arena, const char *dir, const KernelTask *task,
                              const EvalReference *ref, Verdict *verdict);

#endif
