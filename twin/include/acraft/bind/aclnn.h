/* Operators called through their C interface: tensors, lists and numbers as ACL has them, and the two phases of
 * a call. The first makes an executor and says how much workspace the second must be given; the second is the
 * event that EXEC_NPU_CMD is too. The tool writes ACRAFT_ACLNN(aclnnXxx) for each operator that a text names in
 * place of the header that a build generates. */
#ifndef ACRAFT_BIND_ACLNN_H
#define ACRAFT_BIND_ACLNN_H

#include "acraft/bind/npu.h"

typedef int aclnnStatus;

typedef enum {
    ACL_DT_UNDEFINED = -1, ACL_FLOAT = 0, ACL_FLOAT16 = 1, ACL_INT8 = 2, ACL_INT32 = 3, ACL_UINT8 = 4, ACL_INT16 = 6,
    ACL_UINT16 = 7, ACL_UINT32 = 8, ACL_INT64 = 9, ACL_UINT64 = 10, ACL_DOUBLE = 11, ACL_BOOL = 12, ACL_STRING = 13,
    ACL_COMPLEX64 = 16, ACL_COMPLEX128 = 17, ACL_BF16 = 27, ACL_INT4 = 29, ACL_UINT1 = 30, ACL_COMPLEX32 = 33
} aclDataType;

typedef enum {
    ACL_FORMAT_UNDEFINED = -1, ACL_FORMAT_NCHW = 0, ACL_FORMAT_NHWC = 1, ACL_FORMAT_ND = 2, ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4, ACL_FORMAT_NDHWC = 27, ACL_FORMAT_FRACTAL_NZ = 29, ACL_FORMAT_NCDHW = 30, ACL_FORMAT_NCL = 47
} aclFormat;

struct aclTensor {
    at::Tensor tensor;
};
struct aclTensorList {
    std::vector<aclTensor *> items;
};
struct aclScalar {
    c10::Scalar value;
};
struct aclBoolArray {
    std::vector<int64_t> items;
};
/* What the second phase does. */
struct aclOpExecutor {
    std::string name;
    uint64_t workspace;
    std::vector<std::function<void()>> args;
};

namespace acraft {
namespace bind {

inline c10::ScalarType scalar_type(aclDataType type)
{
    static const struct {
        aclDataType acl;
        c10::ScalarType torch;
    } rows[] = {{ACL_FLOAT, at::kFloat}, {ACL_FLOAT16, at::kHalf}, {ACL_BF16, at::kBFloat16}, {ACL_DOUBLE, at::kDouble},
                {ACL_INT8, at::kChar}, {ACL_UINT8, at::kByte}, {ACL_INT16, at::kShort}, {ACL_INT32, at::kInt},
                {ACL_INT64, at::kLong}, {ACL_BOOL, at::kBool}, {ACL_COMPLEX64, at::kComplexFloat}};
    for (const auto &row : rows)
        if (row.acl == type) return row.torch;
    unsupported("aclCreateTensor of this element type");
}

/* Arguments are kept as they are at the first phase: the caller may destroy them before the second. */
inline std::function<void()> kept(const aclTensor *t)
{
    at::Tensor copy = t ? t->tensor : at::Tensor();
    return [copy] { put_value(copy); };
}
inline std::function<void()> kept(const aclTensorList *l)
{
    std::vector<at::Tensor> copy;
    for (const aclTensor *t : l->items) copy.push_back(t->tensor);
    return [copy] { put_value(copy); };
}
template <class T> inline std::function<void()> kept_list(const T *l)
{
    auto copy = l ? l->items : decltype(l->items)();
    return [copy] { put_value(copy); };
}
inline std::function<void()> kept(const aclIntArray *l) { return kept_list(l); }
inline std::function<void()> kept(const aclFloatArray *l)
{
    std::vector<double> copy;
    if (l) copy.assign(l->items.begin(), l->items.end());
    return [copy] { put_value(copy); };
}
inline std::function<void()> kept(const aclBoolArray *l) { return kept_list(l); }
inline std::function<void()> kept(const aclScalar *s)
{
    c10::Scalar copy = s->value;
    return [copy] { put_value(copy); };
}
inline std::function<void()> kept(const char *text)
{
    std::string copy = text;
    return [copy] { put_value(copy); };
}
inline std::function<void()> kept(std::nullptr_t)
{
    return [] { put_u8(BIND_NONE); };
}
template <class T> inline std::enable_if_t<std::is_arithmetic<T>::value, std::function<void()>> kept(T number)
{
    return [number] { put_value(number); };
}

/* How much is really wanted the operator's tiling decides later; some is always asked for, so that it is given. */
constexpr uint64_t asked_workspace = 64;

template <class Arguments, size_t... I>
inline aclnnStatus prepare(const char *name, const Arguments &args, uint64_t *bytes, aclOpExecutor **executor, std::index_sequence<I...>)
{
    if (!bytes || !executor) return 161001; /* ACLNN_ERR_PARAM_NULLPTR */
    *bytes = asked_workspace;
    *executor = new aclOpExecutor{name, asked_workspace, {kept(std::get<I>(args))...}};
    return 0;
}
template <class... A> inline aclnnStatus get_workspace_size(const char *name, A... args)
{
    static_assert(sizeof...(A) >= 2, "acraft: GetWorkspaceSize gives back a size and an executor");
    auto all = std::make_tuple(args...);
    constexpr size_t own = sizeof...(A) - 2;
    return prepare(name, all, std::get<own>(all), std::get<own + 1>(all), std::make_index_sequence<own>());
}
inline aclnnStatus start(const char *name, void *workspace, uint64_t bytes, aclOpExecutor *executor)
{
    if (!executor || executor->name != name) fail(c10::str(name, " is given no executor of its own GetWorkspaceSize").c_str());
    if (!workspace || bytes < executor->workspace)
        fail(c10::str(name, " is given less workspace than its GetWorkspaceSize asked for").c_str());
    put_u8(BIND_OPERATOR);
    put_text(name);
    put_u32(static_cast<uint32_t>(executor->args.size()));
    for (const auto &arg : executor->args) arg();
    delete executor;
    return 0;
}

}  // namespace bind
}  // namespace acraft

#define ACRAFT_ACLNN(name)                                                                                                   \
    template <class... A> inline aclnnStatus name##GetWorkspaceSize(A... args)                                                \
    {                                                                                                                         \
        return acraft::bind::get_workspace_size(#name, args...);                                                              \
    }                                                                                                                         \
    inline aclnnStatus name(void *workspace, uint64_t bytes, aclOpExecutor *executor, aclrtStream)                            \
    {                                                                                                                         \
        return acraft::bind::start(#name, workspace, bytes, executor);                                                        \
    }

inline aclTensor *aclCreateTensor(const int64_t *sizes, uint64_t rank, aclDataType type, const int64_t *strides, int64_t offset,
                                  aclFormat, const int64_t *, uint64_t, void *data)
{
    aclTensor *t = new aclTensor;
    t->tensor.there = true;
    t->tensor.room.address = reinterpret_cast<uint64_t>(data);
    t->tensor.offset = offset;
    t->tensor.type = acraft::bind::scalar_type(type);
    t->tensor.size_.assign(sizes, sizes + rank);
    t->tensor.stride_.assign(rank, 1);
    for (uint64_t d = rank; d-- > 0;)
        t->tensor.stride_[d] = strides ? strides[d] : d + 1 < rank ? t->tensor.stride_[d + 1] * sizes[d + 1] : 1;
    return t;
}
inline aclTensorList *aclCreateTensorList(aclTensor *const *items, uint64_t count) { return new aclTensorList{{items, items + count}}; }
inline aclBoolArray *aclCreateBoolArray(const bool *items, uint64_t count) { return new aclBoolArray{{items, items + count}}; }
inline aclScalar *aclCreateScalar(void *value, aclDataType type)
{
    switch (type) {
    case ACL_FLOAT: return new aclScalar{c10::Scalar(static_cast<double>(*static_cast<float *>(value)))};
    case ACL_DOUBLE: return new aclScalar{c10::Scalar(*static_cast<double *>(value))};
    case ACL_INT32: return new aclScalar{c10::Scalar(static_cast<int64_t>(*static_cast<int32_t *>(value)))};
    case ACL_INT64: return new aclScalar{c10::Scalar(*static_cast<int64_t *>(value))};
    case ACL_BOOL: return new aclScalar{c10::Scalar(*static_cast<bool *>(value))};
    default: acraft::bind::unsupported("aclCreateScalar of this element type");
    }
}
template <class T> inline aclnnStatus acraft_aclnn_destroy(T *what)
{
    delete what;
    return 0;
}
inline aclnnStatus aclDestroyTensor(const aclTensor *t) { return acraft_aclnn_destroy(t); }
inline aclnnStatus aclDestroyScalar(const aclScalar *s) { return acraft_aclnn_destroy(s); }
inline aclnnStatus aclDestroyBoolArray(const aclBoolArray *l) { return acraft_aclnn_destroy(l); }
inline aclnnStatus aclDestroyTensorList(const aclTensorList *l)
{
    for (aclTensor *t : l->items) delete t;
    return acraft_aclnn_destroy(l);
}

#endif
