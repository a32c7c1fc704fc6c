#include "add_custom_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    AddCustomTiling tiling;
    gert::TilingData *raw = context->GetRawTilingData();
    /* Both ways to hand the values over: at once, or all at the end. */
    bool at_once = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT;
    if (at_once)
        tiling.SetDataPtr(raw->GetData());
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint32_t total = context->GetInputShape(0)->GetOriginShape().GetShapeSize();
    uint32_t cores = platform.GetCoreNumAiv();
    const float *scale = context->GetAttrs()->GetAttrPointer<float>(0);
    uint32_t tile = 1024;
    if (total % tile != 0)
        return ge::GRAPH_FAILED;
    uint32_t blocks = total / tile < cores ? total / tile : cores;
    while (total / tile % blocks != 0)
        blocks--;
    tiling.set_perCore(total / blocks);
    tiling.set_tile(tile);
    tiling.set_scale(*scale);
    context->SetBlockDim(blocks);
    if (!at_once)
        tiling.SaveToBuffer(raw->GetData(), raw->GetCapacity());
    raw->SetDataSize(tiling.GetDataSize());
    size_t *workspace = context->GetWorkspaceSizes(1);
    workspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext *context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}
} // namespace ge

namespace ops {
class AddCustom : public OpDef {
public:
    explicit AddCustom(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("scale").AttrType(OPTIONAL).Float(1.0);
        this->SetInferShape(ge::InferShape);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(AddCustom);
} // namespace ops
