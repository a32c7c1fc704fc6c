/* The tiling structs of the high-level APIs as kernels see them, from acraft/tiling_structs.def. */
#ifndef ACRAFT_TILING_STRUCTS_H
#define ACRAFT_TILING_STRUCTS_H

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

#endif
