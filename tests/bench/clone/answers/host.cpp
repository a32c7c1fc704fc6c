#include "halve_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext *context)
{
    TilingData tiling;
    tiling.set_each(uint32_t(context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 48));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(48);
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class Halve : public OpDef {
public:
    explicit Halve(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(Halve);
} // namespace ops
