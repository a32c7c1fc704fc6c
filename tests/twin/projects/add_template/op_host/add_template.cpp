/* Asks for its kernel by template arguments; logs as operators that stand on opbase do. */
#include "log/log.h"
#include "util/shape_util.h"
#include "util/math_util.h"
#include "util/platform_util.h"
#include "op_host/infershape_elewise_util.h"
#include "graph/operator_reg.h"
#include "register/op_def_registry.h"
#include "../op_kernel/add_template_key.h"
#include "../op_kernel/add_template_tiling.h"

namespace optiling {
static ge::graphStatus Tiling(gert::TilingContext *context)
{
    OP_LOGD(context);
    int64_t tiles = *context->GetAttrs()->GetInt(0);
    OP_CHECK_IF(tiles == 0, OP_LOGE(context, "tiles is %ld, it has to be positive", tiles), return ge::GRAPH_FAILED);
    AddTemplateTiling *data = context->GetTilingData<AddTemplateTiling>();
    OP_CHECK_NULL_WITH_CONTEXT(context, data);
    const gert::Shape &shape = Ops::Base::EnsureNotScalar(context->GetInputShape(0)->GetStorageShape());
    int rank = int(shape.GetDimNum());
    int sizes[rank] = {}; /* g++ takes this, clang does not */
    for (int i = 0; i < rank; i++) sizes[i] = int(shape.GetDim(i));
    data->count = 1;
    for (int i = 0; i < rank; i++) data->count *= sizes[i];
    ASCENDC_TPL_SEL_PARAM(context, context->GetInputDesc(0)->GetDataType(), tiles, tiles == 7);
    context->SetBlockDim(Ops::Base::GetAivCoreNum(context) ? 1 : 0);
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(AddTemplate).Tiling(Tiling);
}  // namespace optiling

namespace ge {
REG_OP(AddTemplate)
    .INPUT(x, TensorType({DT_FLOAT, DT_FLOAT16}))
    .OUTPUT(z, TensorType({DT_FLOAT, DT_FLOAT16}))
    .OP_END_FACTORY_REG(AddTemplate)
}

namespace ops {
static ge::graphStatus Shapes(gert::InferShapeContext *context) { return Ops::Base::InferShape4Elewise(context); }
IMPL_OP_INFERSHAPE(AddTemplate).InferShape(Shapes);

class AddTemplate : public OpDef {
public:
    explicit AddTemplate(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("tiles").AttrType(OPTIONAL).Int(4);
        OpAICoreConfig config;
        config.AsyncFlag(true).DynamicCompileStaticFlag(true).DynamicShapeSupportFlag(true);
        this->AICore().SetTilingParse([](gert::TilingParseContext *) { return ge::GRAPH_SUCCESS; });
        this->AICore().AddConfig("ascend910b", config);
    }
};
OP_ADD(AddTemplate);
}  // namespace ops
