/* ops::OpDef and the registries. In: the fluent definition of an operator, IMPL_OP_* statements.
 * Out: tables of definitions and functions that entry.cpp reads. */
#ifndef ACRAFT_HOST_OP_DEF_H
#define ACRAFT_HOST_OP_DEF_H

#include "acraft/host/gert.h"
#include "acraft/host/platform.h"
#include "acraft/host/tiling_def.h"
#include "common/util/error_manager/error_manager.h"

namespace gert {

using TilingFunc = ge::graphStatus (*)(TilingContext *);
using TilingParseFunc = ge::graphStatus (*)(TilingParseContext *);
using InferShapeFunc = ge::graphStatus (*)(InferShapeContext *);
using InferDataTypeFunc = ge::graphStatus (*)(InferDataTypeContext *);

/* What IMPL_OP_OPTILING and IMPL_OP_INFERSHAPE leave behind for one op type. */
struct OpFunctions {
    TilingFunc tiling = nullptr;
    TilingParseFunc parse = nullptr;
    std::shared_ptr<void> (*make_compile_info)() = nullptr;
    InferShapeFunc infer_shape = nullptr;
    InferDataTypeFunc infer_dtype = nullptr;
    std::vector<size_t> read_by_value; /* inputs whose values the functions read */
};
inline std::map<std::string, OpFunctions> &op_functions()
{
    static std::map<std::string, OpFunctions> all;
    return all;
}

class OpImplRegisterV2 {
public:
    explicit OpImplRegisterV2(const char *type) : f_(&op_functions()[type]) {}
    OpImplRegisterV2 &Tiling(TilingFunc fn, size_t = 2048)
    {
        f_->tiling = fn;
        return *this;
    }
    template <typename T> OpImplRegisterV2 &TilingParse(TilingParseFunc fn)
    {
        f_->parse = fn;
        f_->make_compile_info = [] { return std::shared_ptr<void>(std::make_shared<T>()); };
        return *this;
    }
    template <typename T, typename F> OpImplRegisterV2 &TilingParse(F fn)
    {
        return TilingParse<T>(TilingParseFunc(fn));
    }
    OpImplRegisterV2 &InferShape(InferShapeFunc fn)
    {
        f_->infer_shape = fn;
        return *this;
    }
    OpImplRegisterV2 &InferDataType(InferDataTypeFunc fn)
    {
        f_->infer_dtype = fn;
        return *this;
    }
    template <typename F> OpImplRegisterV2 &InferShapeRange(F) { return *this; }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t> inputs)
    {
        f_->read_by_value.insert(f_->read_by_value.end(), inputs.begin(), inputs.end());
        return *this;
    }
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t> inputs) { return InputsDataDependency(inputs); }

private:
    OpFunctions *f_;
};

}  // namespace gert

#define IMPL_OP(op_type)                                                                           \
    static ::gert::OpImplRegisterV2 ACRAFT_HOST_JOIN(acraft_impl_op_, __COUNTER__) = ::gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope { ALL, TILING };
enum class FormatCheckOption { DEFAULT, STRICT };
enum class ItemFindStatus { ITEM_FIND, ITEM_NOEXIST };

class OpParamDef {
public:
    explicit OpParamDef(const char *name) : name_(name) {}
    OpParamDef &ParamType(Option o)
    {
        option_ = o;
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> types)
    {
        types_ = std::move(types);
        return *this;
    }
    OpParamDef &DataTypeList(std::vector<ge::DataType> types) { return DataType(std::move(types)); }
    OpParamDef &Format(std::vector<ge::Format> formats)
    {
        formats_ = std::move(formats);
        return *this;
    }
    OpParamDef &FormatList(std::vector<ge::Format> formats) { return Format(std::move(formats)); }
    OpParamDef &UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef &DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
    OpParamDef &FormatForBinQuery(std::vector<ge::Format>) { return *this; }
    OpParamDef &Follow(const char *) { return *this; }
    OpParamDef &ValueDepend(Option)
    {
        depend_ = true;
        return *this;
    }
    OpParamDef &ValueDepend(Option, DependScope) { return ValueDepend(REQUIRED); }
    OpParamDef &IgnoreContiguous() { return *this; }
    OpParamDef &AutoContiguous() { return *this; }
    OpParamDef &Scalar() { return *this; }
    OpParamDef &ScalarList() { return *this; }
    OpParamDef &To(const ge::DataType) { return *this; }
    OpParamDef &To(const char *) { return *this; }
    OpParamDef &Version(uint32_t) { return *this; }
    OpParamDef &InitValue(uint64_t) { return *this; }
    template <typename T> OpParamDef &InitValue(const T &) { return *this; }
    OpParamDef &OutputShapeDependOnCompute() { return *this; }

    std::string name_;
    Option option_ = REQUIRED;
    std::vector<ge::DataType> types_;
    std::vector<ge::Format> formats_;
    bool depend_ = false;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *name) : name_(name) {}
    OpAttrDef &AttrType(Option o)
    {
        option_ = o;
        return *this;
    }
    OpAttrDef &Bool() { return kind(ACRAFT_ATTR_BOOL); }
    OpAttrDef &Bool(bool v)
    {
        value_.b = v;
        return kind(ACRAFT_ATTR_BOOL);
    }
    OpAttrDef &Float() { return kind(ACRAFT_ATTR_FLOAT); }
    OpAttrDef &Float(float v)
    {
        value_.f = v;
        return kind(ACRAFT_ATTR_FLOAT);
    }
    OpAttrDef &Int() { return kind(ACRAFT_ATTR_INT); }
    OpAttrDef &Int(int64_t v)
    {
        value_.i = v;
        return kind(ACRAFT_ATTR_INT);
    }
    OpAttrDef &String() { return kind(ACRAFT_ATTR_STRING); }
    OpAttrDef &String(const char *v)
    {
        value_.s = v;
        return kind(ACRAFT_ATTR_STRING);
    }
    OpAttrDef &ListInt() { return kind(ACRAFT_ATTR_LIST_INT); }
    OpAttrDef &ListInt(std::vector<int64_t> v)
    {
        value_.ints = std::move(v);
        return kind(ACRAFT_ATTR_LIST_INT);
    }
    OpAttrDef &ListFloat() { return kind(ACRAFT_ATTR_LIST_FLOAT); }
    OpAttrDef &ListFloat(std::vector<float> v)
    {
        value_.floats = std::move(v);
        return kind(ACRAFT_ATTR_LIST_FLOAT);
    }
    OpAttrDef &ListBool() { return kind(ACRAFT_ATTR_LIST_BOOL); }
    OpAttrDef &ListBool(std::vector<bool> v)
    {
        value_.bools.assign(v.begin(), v.end());
        return kind(ACRAFT_ATTR_LIST_BOOL);
    }
    OpAttrDef &Version(uint32_t) { return *this; }

    std::string name_;
    Option option_ = REQUIRED;
    gert::AttrValue value_;

private:
    OpAttrDef &kind(int k)
    {
        value_.kind = k;
        return *this;
    }
};

class OpAICoreConfig {
public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char *) {}
    OpParamDef &Input(const char *name) { return extra(name); }
    OpParamDef &Output(const char *name) { return extra(name); }
    OpAICoreConfig &AsyncFlag(bool) { return *this; }
    OpAICoreConfig &DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig &DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig &DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig &DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig &NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig &PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig &ExtendCfgInfo(const char *, const char *) { return *this; }

private:
    OpParamDef &extra(const char *name)
    {
        params_.push_back(std::make_shared<OpParamDef>(name));
        return *params_.back();
    }
    std::vector<std::shared_ptr<OpParamDef>> params_;
};

class OpAICoreDef {
public:
    OpAICoreDef &SetTiling(gert::TilingFunc fn)
    {
        tiling_ = fn;
        return *this;
    }
    template <typename F> OpAICoreDef &SetTilingParse(F) { return *this; } /* no compile information is needed */
    template <typename F> OpAICoreDef &SetCheckSupport(F) { return *this; }
    template <typename F> OpAICoreDef &SetOpSelectFormat(F) { return *this; }
    template <typename F> OpAICoreDef &SetOpSupportInfo(F) { return *this; }
    template <typename F> OpAICoreDef &SetOpSpecInfo(F) { return *this; }
    template <typename F> OpAICoreDef &SetParamGeneralize(F) { return *this; }
    OpAICoreDef &AddConfig(const char *soc)
    {
        socs_.push_back(soc);
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig &) { return AddConfig(soc); }

    gert::TilingFunc tiling_ = nullptr;
    std::vector<std::string> socs_;
};

class OpMC2Def {
public:
    OpMC2Def &HcclGroup(const char *) { return *this; }
    OpMC2Def &HcclGroup(std::vector<const char *>) { return *this; }
};

/* Definitions live in shared pointers so that the references handed out stay good. */
class OpDef {
public:
    explicit OpDef(const char *type) : type_(type) {}
    virtual ~OpDef() = default;
    OpParamDef &Input(const char *name)
    {
        inputs_.push_back(std::make_shared<OpParamDef>(name));
        return *inputs_.back();
    }
    OpParamDef &Output(const char *name)
    {
        outputs_.push_back(std::make_shared<OpParamDef>(name));
        return *outputs_.back();
    }
    OpAttrDef &Attr(const char *name)
    {
        attrs_.push_back(std::make_shared<OpAttrDef>(name));
        return *attrs_.back();
    }
    OpDef &SetInferShape(gert::InferShapeFunc fn)
    {
        infer_shape_ = fn;
        return *this;
    }
    OpDef &SetInferDataType(gert::InferDataTypeFunc fn)
    {
        infer_dtype_ = fn;
        return *this;
    }
    template <typename F> OpDef &SetInferShapeRange(F) { return *this; }
    OpDef &EnableFallBack() { return *this; }
    OpDef &Comment(const char *) { return *this; }
    OpAICoreDef &AICore() { return aicore_; }
    OpMC2Def &MC2() { return mc2_; }

    std::string type_;
    std::vector<std::shared_ptr<OpParamDef>> inputs_, outputs_;
    std::vector<std::shared_ptr<OpAttrDef>> attrs_;
    gert::InferShapeFunc infer_shape_ = nullptr;
    gert::InferDataTypeFunc infer_dtype_ = nullptr;
    OpAICoreDef aicore_;
    OpMC2Def mc2_;
};

inline std::vector<std::shared_ptr<OpDef>> &op_defs()
{
    static std::vector<std::shared_ptr<OpDef>> all;
    return all;
}
inline int add_op(std::shared_ptr<OpDef> def)
{
    op_defs().push_back(std::move(def));
    return 0;
}

}  // namespace ops

#define OP_ADD(op_type, ...)                                                                       \
    static int ACRAFT_HOST_JOIN(acraft_op_add_, __COUNTER__) = ::ops::add_op(std::make_shared<op_type>(#op_type));

#endif
