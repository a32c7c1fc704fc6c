/* The kernel-side structs of the high-level APIs' tilings by their short names. */
#ifndef ACRAFT_KERNEL_TILING_H
#define ACRAFT_KERNEL_TILING_H

#include "acraft/tiling_structs.h"

#define ACRAFT_STRUCT(name, fields) using AscendC::tiling::name;
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT

#endif
