/* Stands in for the header of this name, which the vendor's operators include on the host. */
#pragma once
#include "op_host/tiling_templates_registry.h"
#include "tiling_base/tiling_base.h"
namespace Ops { namespace Transformer { namespace OpTiling {
using optiling::TilingRegistry;
using TilingRegistryNew = optiling::TilingRegistry;
} } }
