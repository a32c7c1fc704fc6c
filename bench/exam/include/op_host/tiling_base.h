/* Stands in for the header of this name, which the vendor's operators include on the host. Used by bench/exam alone. */
#pragma once
#include "log/log.h"
#include "tiling/tiling_base.h"
#include <mutex>
#define OP_LOGE_IF(condition, value, ...)                                                          \
    do {                                                                                           \
        if (condition)                                                                             \
            return value;                                                                          \
    } while (0)
/* Constants of the device that host code uses by the same names. */
namespace AscendC {
constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t BLOCK_CUBE = 16;
}
namespace ge {
using float32_t = float;
}
namespace Ops { namespace NN { namespace Optiling {
using optiling::AiCoreParams;
using optiling::TilingBaseClass;
} } }
