/* Several tiling classes for one operator, tried from the smallest priority number upwards. */
#pragma once
#include "error/ops_error.h"
#include "tiling/tiling_base.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace optiling {

using TilingClassCase = std::unique_ptr<TilingBaseClass> (*)(gert::TilingContext *);

class TilingRegistry {
public:
    static TilingRegistry &GetInstance()
    {
        static TilingRegistry all;
        return all;
    }
    const std::map<int32_t, TilingClassCase> &GetTilingTemplates(const std::string &op) { return cases_[op]; }
    void acraft_add(const std::string &op, int32_t priority, TilingClassCase make) { cases_[op].emplace(priority, make); }

    ge::graphStatus DoTilingImpl(gert::TilingContext *context)
    {
        for (const auto &one : GetTilingTemplates(context->GetNodeType())) {
            ge::graphStatus status = one.second(context)->DoTiling();
            if (status != ge::GRAPH_PARAM_INVALID) return status;
        }
        return ge::GRAPH_FAILED;
    }
    /* Only these, in this order, until one succeeds. */
    ge::graphStatus DoTilingImpl(gert::TilingContext *context, const std::vector<int32_t> &priorities)
    {
        const auto &cases = GetTilingTemplates(context->GetNodeType());
        for (int32_t priority : priorities) {
            auto one = cases.find(priority);
            if (one != cases.end() && one->second(context)->DoTiling() == ge::GRAPH_SUCCESS) return ge::GRAPH_SUCCESS;
        }
        return ge::GRAPH_FAILED;
    }

private:
    std::map<std::string, std::map<int32_t, TilingClassCase>> cases_;
};

class Register {
public:
    explicit Register(std::string op) : op_(std::move(op)) {}
    template <typename T> Register &tiling(int32_t priority)
    {
        TilingRegistry::GetInstance().acraft_add(
            op_, priority, [](gert::TilingContext *context) { return std::unique_ptr<TilingBaseClass>(new T(context)); });
        return *this;
    }

private:
    std::string op_;
};

}  // namespace optiling

/* As a statement of a file inside namespace optiling. */
#define REGISTER_TILING_TEMPLATE(op, class_name, priority) \
    static Register ACRAFT_HOST_JOIN(acraft_tiling_template_, __COUNTER__) = Register(op).tiling<class_name>(priority)
