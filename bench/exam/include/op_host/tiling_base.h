/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include "log/log.h"
#include "tiling/tiling_base.h"
namespace Ops { namespace NN { namespace Optiling {
using optiling::AiCoreParams;
using optiling::TilingBaseClass;
} } }
