/* The operator library's tiling class: a tiling function in named steps. In: a context. Out: what
 * the steps put into it, and its tiling key. */
#pragma once
#include "register/tilingdata_base.h"
#include "exe_graph/runtime/tiling_context.h"
#include "log/ops_log.h"
#include "tiling/platform/platform_ascendc.h"

#define ASCENDC_EXTERN_C

namespace optiling {

struct AiCoreParams {
    uint64_t ubSize, blockDim, numBlocks, aicNum, l1Size, l0aSize, l0bSize, l0cSize;
};

class TilingBaseClass {
public:
    TilingBaseClass() = default;
    explicit TilingBaseClass(gert::TilingContext *context) : context_(context) {}
    virtual ~TilingBaseClass() = default;
    virtual void Reset(gert::TilingContext *context) { context_ = context; }

    /* GRAPH_PARAM_INVALID: not for this class, another one may try. */
    ge::graphStatus DoTiling()
    {
        ge::graphStatus status = first_of({&TilingBaseClass::GetShapeAttrsInfo, &TilingBaseClass::GetPlatformInfo});
        if (status != ge::GRAPH_SUCCESS) return status;
        if (!IsCapable()) return ge::GRAPH_PARAM_INVALID;
        status = first_of({&TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling, &TilingBaseClass::GetWorkspaceSize,
                           &TilingBaseClass::PostTiling});
        if (status != ge::GRAPH_SUCCESS) return status;
        context_->SetTilingKey(GetTilingKey());
        DumpTilingInfo();
        return ge::GRAPH_SUCCESS;
    }

protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo() {}

    /* Blocks of a mixed kernel whose work is cut into `slices` for vector cores. */
    static uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv)
    {
        uint32_t each = aic && aic <= aiv ? aiv / aic : 1;
        return (slices + each - 1) / each;
    }
    template <typename T> std::string GetShapeDebugStr(const T &) const { return ""; }
    std::string GetTilingContextDebugStr() { return ""; }
    std::string GetTilingDataDebugStr() const { return ""; }

    gert::TilingContext *context_ = nullptr;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_;
    uint32_t blockDim_ = 0;
    uint64_t workspaceSize_ = 0;
    uint64_t tilingKey_ = 0;
    AiCoreParams aicoreParams_ = {};

private:
    using Step = ge::graphStatus (TilingBaseClass::*)();

    /* Runs the steps in order; the first that is not content decides. */
    ge::graphStatus first_of(std::initializer_list<Step> steps)
    {
        for (Step step : steps) {
            ge::graphStatus status = (this->*step)();
            if (status != ge::GRAPH_SUCCESS) return status;
        }
        return ge::GRAPH_SUCCESS;
    }
};

}  // namespace optiling
