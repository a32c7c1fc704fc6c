/* gert: shapes, tensors, attributes and the contexts that tiling and inference functions get.
 * In: a request of acraft/host.h, turned into one Context. Out: what the function set on it. */
#ifndef ACRAFT_HOST_GERT_H
#define ACRAFT_HOST_GERT_H

#include "acraft/host.h"
#include "acraft/host/chip.h"
#include "acraft/host/ge.h"

namespace gert {

class Shape {
public:
    static constexpr size_t kMaxDimNum = ACRAFT_HOST_RANK;
    Shape() = default;
    Shape(const std::initializer_list<int64_t> &dims)
    {
        for (int64_t d : dims) AppendDim(d);
    }
    bool operator==(const Shape &o) const
    {
        if (num_ != o.num_) return false;
        return std::equal(dims_, dims_ + num_, o.dims_);
    }
    bool operator!=(const Shape &o) const { return !(*this == o); }
    int64_t GetShapeSize() const
    {
        int64_t n = 1;
        for (size_t i = 0; i < num_; i++) n *= dims_[i];
        return n;
    }
    bool IsScalar() const { return num_ == 0; }
    size_t GetDimNum() const { return num_; }
    void SetDimNum(size_t n) { num_ = n < kMaxDimNum ? n : kMaxDimNum; }
    int64_t GetDim(size_t i) const { return i < num_ ? dims_[i] : int64_t(-1); }
    void SetDim(size_t i, int64_t v)
    {
        if (i < kMaxDimNum) dims_[i] = v;
    }
    Shape &AppendDim(int64_t v)
    {
        if (num_ < kMaxDimNum) dims_[num_++] = v;
        return *this;
    }
    void SetScalar() { num_ = 0; }
    int64_t operator[](size_t i) const { return dims_[i]; }
    int64_t &operator[](size_t i) { return dims_[i]; }

private:
    size_t num_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

class StorageShape {
public:
    StorageShape() = default;
    StorageShape(const std::initializer_list<int64_t> &origin, const std::initializer_list<int64_t> &storage)
        : origin_(origin), storage_(storage)
    {
    }
    const Shape &GetOriginShape() const { return origin_; }
    const Shape &GetStorageShape() const { return storage_; }
    Shape &MutableOriginShape() { return origin_; }
    Shape &MutableStorageShape() { return storage_; }
    bool operator==(const StorageShape &o) const { return origin_ == o.origin_ && storage_ == o.storage_; }
    bool operator!=(const StorageShape &o) const { return !(*this == o); }

private:
    Shape origin_, storage_;
};

class CompileTimeTensorDesc {
public:
    ge::DataType GetDataType() const { return dtype_; }
    ge::Format GetOriginFormat() const { return format_; }
    ge::Format GetStorageFormat() const { return format_; }
    struct FormatPair {
        ge::Format format;
        ge::Format GetStorageFormat() const { return format; }
        ge::Format GetOriginFormat() const { return format; }
    };
    FormatPair GetFormat() const { return {format_}; }
    void SetDataType(ge::DataType t) { dtype_ = t; }
    void SetFormat(ge::Format f) { format_ = f; }

private:
    ge::DataType dtype_ = ge::DT_UNDEFINED;
    ge::Format format_ = ge::FORMAT_ND;
};

class Tensor {
public:
    int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }
    template <typename T> const T *GetData() const { return static_cast<const T *>(values()); }
    template <typename T> T *GetData() { return static_cast<T *>(const_cast<void *>(values())); }
    const void *GetAddr() const { return data_; }
    /* Host code sees values only of inputs whose definition says ValueDepend. */
    const void *values() const
    {
        if (!data_) std::fputs("acraft: it read values of an input that is not declared with ValueDepend\n", stderr);
        return data_;
    }
    size_t GetSize() const { return bytes_; }
    ge::DataType GetDataType() const { return desc_.GetDataType(); }
    const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
    const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
    ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
    ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }

    StorageShape shape_;
    CompileTimeTensorDesc desc_;
    const void *data_ = nullptr;
    size_t bytes_ = 0;
};

class ContinuousVectorBase {
public:
    size_t GetSize() const { return size_; }
    const void *GetData() const { return data_; }

    size_t size_ = 0;
    const void *data_ = nullptr;
};
template <typename T> class TypedContinuousVector : public ContinuousVectorBase {
public:
    const T *GetData() const { return static_cast<const T *>(data_); }
};
using ContinuousVector = ContinuousVectorBase;

/* One attribute's value in the form the op definition declares it. */
struct AttrValue {
    int kind = ACRAFT_ATTR_NONE;
    bool b = false;
    int64_t i = 0;
    float f = 0;
    std::string s;
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<uint8_t> bools;
    TypedContinuousVector<int64_t> int_view;
    TypedContinuousVector<float> float_view;
    TypedContinuousVector<bool> bool_view;

    void finish()
    {
        int_view.size_ = ints.size();
        int_view.data_ = ints.data();
        float_view.size_ = floats.size();
        float_view.data_ = floats.data();
        bool_view.size_ = bools.size();
        bool_view.data_ = bools.data();
    }
    const void *raw() const
    {
        switch (kind) {
        case ACRAFT_ATTR_BOOL: return &b;
        case ACRAFT_ATTR_INT: return &i;
        case ACRAFT_ATTR_FLOAT: return &f;
        case ACRAFT_ATTR_STRING: return s.c_str();
        case ACRAFT_ATTR_LIST_INT: return &int_view;
        case ACRAFT_ATTR_LIST_FLOAT: return &float_view;
        case ACRAFT_ATTR_LIST_BOOL: return &bool_view;
        default: return nullptr;
        }
    }
};

class RuntimeAttrs {
public:
    template <typename T> const T *GetAttrPointer(size_t i) const
    {
        return i < values_.size() ? static_cast<const T *>(values_[i].raw()) : nullptr;
    }
    size_t GetAttrNum() const { return values_.size(); }
    const int64_t *GetInt(size_t i) const { return GetAttrPointer<int64_t>(i); }
    const float *GetFloat(size_t i) const { return GetAttrPointer<float>(i); }
    const bool *GetBool(size_t i) const { return GetAttrPointer<bool>(i); }
    const char *GetStr(size_t i) const { return GetAttrPointer<char>(i); }
    const TypedContinuousVector<int64_t> *GetListInt(size_t i) const { return GetAttrPointer<TypedContinuousVector<int64_t>>(i); }
    const TypedContinuousVector<float> *GetListFloat(size_t i) const { return GetAttrPointer<TypedContinuousVector<float>>(i); }

    std::vector<AttrValue> values_;
};

class TilingData {
public:
    size_t GetCapacity() const { return capacity_; }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t n) { size_ = n; }
    void *GetData() { return data_; }
    const void *GetData() const { return data_; }
    template <typename T> ge::graphStatus Append(const T &value)
    {
        if (size_ + sizeof value > capacity_) return ge::GRAPH_FAILED;
        std::memcpy(static_cast<uint8_t *>(data_) + size_, &value, sizeof value);
        size_ += sizeof value;
        return ge::GRAPH_SUCCESS;
    }

    void *data_ = nullptr;
    size_t capacity_ = 0, size_ = 0;
};

struct AnchorInstanceInfo {
    size_t start = 0, num = 0;
    size_t GetInstanceNum() const { return num; }
    size_t GetInstanceStart() const { return start; }
};
class ComputeNodeInfo {
public:
    const AnchorInstanceInfo *GetInputInstanceInfo(size_t i) const { return i < inputs.size() ? &inputs[i] : nullptr; }
    const AnchorInstanceInfo *GetOutputInstanceInfo(size_t i) const { return i < outputs.size() ? &outputs[i] : nullptr; }
    size_t GetIrInputsNum() const { return inputs.size(); }
    size_t GetIrOutputsNum() const { return outputs.size(); }
    size_t GetInputsNum() const { return total(inputs); }
    size_t GetOutputsNum() const { return total(outputs); }
    std::vector<AnchorInstanceInfo> inputs, outputs;

private:
    static size_t total(const std::vector<AnchorInstanceInfo> &all)
    {
        size_t n = 0;
        for (const AnchorInstanceInfo &a : all) n += a.num;
        return n;
    }
};

/* Everything that any of the vendor's contexts provides; each context is a name for it. */
class Context {
public:
    const char *GetNodeName() const { return node.c_str(); }
    const char *GetNodeType() const { return type.c_str(); }
    size_t GetComputeNodeInputNum() const { return inputs.size(); }
    size_t GetComputeNodeOutputNum() const { return outputs.size(); }
    const ComputeNodeInfo *GetComputeNodeInfo() const { return &info; }
    const RuntimeAttrs *GetAttrs() const { return &attrs; }
    int32_t GetDeterministic() const { return 0; }
    int32_t GetDeterministicLevel() const { return 0; }

    const AnchorInstanceInfo *GetIrInputInstanceInfo(size_t ir) const { return info.GetInputInstanceInfo(ir); }
    const CompileTimeTensorDesc *GetInputDesc(size_t i) const { return i < inputs.size() ? &inputs[i].desc_ : nullptr; }
    const CompileTimeTensorDesc *GetOutputDesc(size_t i) const { return i < outputs.size() ? &outputs[i].desc_ : nullptr; }
    const CompileTimeTensorDesc *GetOptionalInputDesc(size_t ir) const { return desc(in(ir, 0)); }
    const CompileTimeTensorDesc *GetRequiredInputDesc(size_t ir) const { return desc(in(ir, 0)); }
    const CompileTimeTensorDesc *GetDynamicInputDesc(size_t ir, size_t k) const { return desc(in(ir, k)); }
    const Tensor *GetInputTensor(size_t i) const { return i < inputs.size() ? &inputs[i] : nullptr; }
    const Tensor *GetOptionalInputTensor(size_t ir) const { return in(ir, 0); }
    const Tensor *GetRequiredInputTensor(size_t ir) const { return in(ir, 0); }
    const Tensor *GetDynamicInputTensor(size_t ir, size_t k) const { return in(ir, k); }
    ge::DataType GetInputDataType(size_t i) const { return i < inputs.size() ? inputs[i].GetDataType() : ge::DT_UNDEFINED; }
    ge::DataType GetOptionalInputDataType(size_t ir) const { return in(ir, 0) ? in(ir, 0)->GetDataType() : ge::DT_UNDEFINED; }
    ge::DataType GetDynamicInputDataType(size_t ir, size_t k) const { return in(ir, k) ? in(ir, k)->GetDataType() : ge::DT_UNDEFINED; }

    std::string node, type;
    std::vector<Tensor> inputs, outputs;
    ComputeNodeInfo info;
    RuntimeAttrs attrs;
    const AcraftHostChip *chip = nullptr;

protected:
    const Tensor *in(size_t ir, size_t k) const
    {
        const AnchorInstanceInfo *a = info.GetInputInstanceInfo(ir);
        return a && k < a->num ? &inputs[a->start + k] : nullptr;
    }
    static const CompileTimeTensorDesc *desc(const Tensor *t) { return t ? &t->desc_ : nullptr; }
    static const StorageShape *shape(const Tensor *t) { return t ? &t->shape_ : nullptr; }
};

}  // namespace gert

namespace gert {

class TilingContext : public Context {
public:
    const StorageShape *GetInputShape(size_t i) const { return i < inputs.size() ? &inputs[i].shape_ : nullptr; }
    const StorageShape *GetOutputShape(size_t i) const { return i < outputs.size() ? &outputs[i].shape_ : nullptr; }
    const StorageShape *GetOptionalInputShape(size_t ir) const { return shape(in(ir, 0)); }
    const StorageShape *GetRequiredInputShape(size_t ir) const { return shape(in(ir, 0)); }
    const StorageShape *GetDynamicInputShape(size_t ir, size_t k) const { return shape(in(ir, k)); }

    fe::PlatFormInfos *GetPlatformInfo() const
    {
        platform.chip = chip;
        return &platform;
    }
    const void *GetCompileInfo() const { return compile_info; }
    template <typename T> const T *GetCompileInfo() const { return static_cast<const T *>(compile_info); }

    ge::graphStatus SetTilingKey(uint64_t k)
    {
        key = k;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return key; }
    ge::graphStatus SetBlockDim(uint32_t n)
    {
        block_dim = n;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const { return block_dim; }
    ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetTilingCond(int32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetScheduleMode(uint32_t m)
    {
        schedule_mode = m;
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetLocalMemorySize(uint32_t) { return ge::GRAPH_SUCCESS; }
    TilingData *GetRawTilingData() { return &tiling; }
    template <typename T> T *GetTilingData()
    {
        if (tiling.capacity_ < sizeof(T)) return nullptr;
        tiling.size_ = sizeof(T);
        return static_cast<T *>(tiling.data_);
    }
    size_t *GetWorkspaceSizes(size_t n)
    {
        if (n > ACRAFT_HOST_WORKSPACES) return nullptr;
        workspace_count = n;
        return workspace;
    }
    size_t GetWorkspaceNum() const { return workspace_count; }

    mutable fe::PlatFormInfos platform;
    void *compile_info = nullptr;
    uint64_t key = 0;
    uint32_t block_dim = 0;
    uint32_t schedule_mode = 0;
    TilingData tiling;
    size_t workspace[ACRAFT_HOST_WORKSPACES] = {};
    size_t workspace_count = 0;
};

class TilingParseContext : public TilingContext {
public:
    template <typename T> T *GetCompiledInfo() { return static_cast<T *>(compile_info); }
    const char *GetCompiledJson() const { return "{}"; }
};

class InferShapeContext : public Context {
public:
    const Shape *GetInputShape(size_t i) const { return i < inputs.size() ? &inputs[i].shape_.GetStorageShape() : nullptr; }
    const Shape *GetOptionalInputShape(size_t ir) const { return in(ir, 0) ? &in(ir, 0)->shape_.GetStorageShape() : nullptr; }
    const Shape *GetRequiredInputShape(size_t ir) const { return GetOptionalInputShape(ir); }
    const Shape *GetDynamicInputShape(size_t ir, size_t k) const { return in(ir, k) ? &in(ir, k)->shape_.GetStorageShape() : nullptr; }
    Shape *GetOutputShape(size_t i) { return i < outputs.size() ? &outputs[i].shape_.MutableStorageShape() : nullptr; }
};

class InferDataTypeContext : public Context {
public:
    ge::graphStatus SetOutputDataType(size_t i, const ge::DataType t)
    {
        if (i >= outputs.size()) return ge::GRAPH_FAILED;
        outputs[i].desc_.SetDataType(t);
        return ge::GRAPH_SUCCESS;
    }
    ge::DataType GetOutputDataType(size_t i) const { return i < outputs.size() ? outputs[i].GetDataType() : ge::DT_UNDEFINED; }
};

template <typename T> class Range {
public:
    T *GetMin() const { return min_; }
    T *GetMax() const { return max_; }
    void SetMin(T *v) { min_ = v; }
    void SetMax(T *v) { max_ = v; }
    T *min_ = nullptr, *max_ = nullptr;
};
class InferShapeRangeContext : public Context {
public:
    const Range<Shape> *GetInputShapeRange(size_t) const { return nullptr; }
    Range<Shape> *GetOutputShapeRange(size_t) { return nullptr; }
};
using KernelContext = Context;
using ExtendedKernelContext = Context;

}  // namespace gert

#endif
