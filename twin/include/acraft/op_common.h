/* What kernels take from opbase (Ops::Base): rounding and sizes of the chip. */
#ifndef ACRAFT_OP_COMMON_H
#define ACRAFT_OP_COMMON_H

#include "kernel_operator.h"

namespace Ops {
namespace Base {

template <typename T> inline T CeilDiv(T a, T b) { return T((uint64_t(a) + uint64_t(b) - 1) / uint64_t(b)); }
template <typename T> inline T FloorDiv(T a, T b) { return a / b; }
template <typename T> inline T CeilAlign(T a, T b) { return T((uint64_t(a) + uint64_t(b) - 1) / uint64_t(b) * uint64_t(b)); }
template <typename T> inline T FloorAlign(T a, T b) { return a / b * b; }
inline constexpr uint32_t GetUbBlockSize() { return 32; }
inline constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Base
}  // namespace Ops

#endif
