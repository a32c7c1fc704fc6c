/* Inside the kernels of a task. */
#ifndef GEN_KERNEL_KERNEL_INT_H
#define GEN_KERNEL_KERNEL_INT_H

#include "gen/kernel/kernel.h"

void kernel_order(const Nest *nest, Kernel *k);
/* Which values of a task are in memory between its parts: those that a product reads, those of products that are not
 * read element by element, and those that several parts read. By value; results are not among them unless they are read. */
bool *kernel_roots(Arena *arena, const Graph *graph);

#endif
