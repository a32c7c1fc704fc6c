/* Stands in for the header of this name, which the vendor's operators include on the host. */
#pragma once
#include "op_host/tiling_base.h"
#include "op_host/tiling_util.h"
namespace Ops { namespace Transformer { namespace OpTiling {
using optiling::AiCoreParams;
using optiling::TilingBaseClass;
template <class T> bool IsRegbaseSocVersion(const T *) { return false; }
} } }
