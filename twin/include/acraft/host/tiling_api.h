/* tiling/tiling_api.h: all that tiling functions ask of the high-level kernel APIs: bytes of scratch
 * (tmp_size*.h), tilings (tiling_*.h, matmul_tiling.h) and the structs that carry them. */
#ifndef ACRAFT_HOST_TILING_API_H
#define ACRAFT_HOST_TILING_API_H

#include "acraft/host/op_def.h"
#include "acraft/host/tiling_move.h"
#include "acraft/host/tiling_norm.h"
#include "acraft/host/tiling_softmax.h"
#include "acraft/host/tiling_welford.h"
#include "acraft/host/tmp_size.h"
#include "acraft/host/tmp_size_order.h"

#include "acraft/host/matmul_tiling.h"

/* Older operator code names these without the namespace; a file that holds kernels, too, has names of its own. */
#if !defined(ACRAFT_BASE_H) && !defined(ACRAFT_BIND_NPU_H)
using namespace AscendC;
#endif

#endif
