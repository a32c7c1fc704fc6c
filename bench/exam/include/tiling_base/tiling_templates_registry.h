/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include "op_host/tiling_templates_registry.h"
#include "tiling_base/tiling_base.h"
namespace Ops { namespace Transformer { namespace OpTiling {
using optiling::TilingRegistry;
using TilingRegistryNew = optiling::TilingRegistry;
} } }
