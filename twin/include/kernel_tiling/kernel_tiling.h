/* Kernel-side structs of the high-level APIs' tilings, from acraft/tiling_structs.def. */
#ifndef KERNEL_TILING_H
#define KERNEL_TILING_H

#include <cstdint>

namespace AscendC {
namespace tiling {
#define F(type, name) type name;
#define ACRAFT_STRUCT(name, fields) \
    struct alignas(8) name {        \
        fields                      \
    };
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F
}  // namespace tiling
}  // namespace AscendC

#define F(type, name)
#define ACRAFT_STRUCT(name, fields) using AscendC::tiling::name;
#include "acraft/tiling_structs.def"
#undef ACRAFT_STRUCT
#undef F

#endif
