/* Inside the kernels of a task. */
#ifndef GEN_KERNEL_KERNEL_INT_H
#define GEN_KERNEL_KERNEL_INT_H

#include "gen/kernel/kernel.h"

void kernel_order(const Nest *nest, Kernel *k);

#endif
