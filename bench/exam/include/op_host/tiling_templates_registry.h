/* Stands in for the header of this name. Only classes for Atlas A2 are registered. */
#pragma once
#include "op_host/tiling_base.h"
#include "tiling/tiling_templates_registry.h"
namespace Ops { namespace NN { namespace Optiling {
using optiling::Register;
using optiling::TilingRegistry;
/* Tiling classes of later chips, none of which is registered here. */
struct TilingRegistryArch {
    static TilingRegistryArch &GetInstance()
    {
        static TilingRegistryArch none;
        return none;
    }
    template <class... A> ge::graphStatus DoTilingImpl(A &&...) { return ge::GRAPH_FAILED; }
};
} } }
#define REGISTER_OPS_TILING_TEMPLATE(op, class_name, priority)                                     \
    static optiling::Register ACRAFT_HOST_JOIN(exam_tiling_template_, __COUNTER__) =                \
        optiling::Register(#op).tiling<class_name>(priority)
