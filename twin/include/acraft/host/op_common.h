/* What op_host code takes from opbase (Ops::Base): logging, rounding, shapes, the chip, values of constant
 * inputs, shape inference of elementwise operators. The last error that is logged ends in the verdict. */
#ifndef ACRAFT_HOST_OP_COMMON_H
#define ACRAFT_HOST_OP_COMMON_H

#include "acraft/host/op_def.h"
#include "acraft/host/platform.h"
#include "log/ops_log.h"
#include "securec.h"

#include <cinttypes>
#include <cmath>
#include <limits>
#include <type_traits>

#ifndef OP_SUBMOD_NAME
#define OP_SUBMOD_NAME "OPS_BASE"
#endif

#define OP_LOGD(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define OP_LOGI(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define OP_LOGW(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define OP_LOGE(name, ...) acraft_ops_error(name, ##__VA_ARGS__)
#define D_OP_LOGD(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define D_OP_LOGI(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define D_OP_LOGW(name, ...) acraft_ops_log(name, ##__VA_ARGS__)
#define D_OP_LOGE(name, ...) acraft_ops_error(name, ##__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(name, ...) acraft_ops_error(name, ##__VA_ARGS__)
#define OP_LOGE_LIBOPAPI_REPORT(name, ...) acraft_ops_error(name, ##__VA_ARGS__)
#define OP_CHECK_IF(condition, say, act) \
    do {                                 \
        if (condition) {                 \
            say;                         \
            act;                         \
        }                                \
    } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                     \
    do {                                                                 \
        if ((pointer) == nullptr) {                                      \
            acraft_ops_error(context, "%s is nullptr", #pointer);        \
            return ge::GRAPH_FAILED;                                     \
        }                                                                \
    } while (0)

/* The predefined messages: an operator, then what is wrong in words of their own. */
#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(name, ...) acraft_ops_invalid("input shape", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(name, ...) acraft_ops_invalid("input shape size", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(name, ...) acraft_ops_invalid("input format", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(name, ...) acraft_ops_invalid("input dtype", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT(name, ...) acraft_ops_invalid("input", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(name, ...) acraft_ops_invalid("attribute", name, __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(name, ...) acraft_ops_invalid("attribute size", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(name, ...) acraft_ops_invalid("shape", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(name, ...) acraft_ops_invalid("shape", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(name, ...) acraft_ops_invalid("shapes", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(name, ...) acraft_ops_invalid("rank", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(name, ...) acraft_ops_invalid("rank", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(name, ...) acraft_ops_invalid("ranks", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(name, ...) acraft_ops_invalid("shape size", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(name, ...) acraft_ops_invalid("shape size", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(name, ...) acraft_ops_invalid("shape sizes", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(name, ...) acraft_ops_invalid("format", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(name, ...) acraft_ops_invalid("format", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(name, ...) acraft_ops_invalid("formats", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(name, ...) acraft_ops_invalid("dtype", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(name, ...) acraft_ops_invalid("dtype", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(name, ...) acraft_ops_invalid("dtypes", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(name, ...) acraft_ops_invalid("number of tensors", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(name, ...) acraft_ops_invalid("numbers of tensors", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE(name, ...) acraft_ops_invalid("value", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(name, ...) acraft_ops_invalid("value", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(name, ...) acraft_ops_invalid("values", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(name, ...) acraft_ops_invalid("list size", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE_WITH_REASON(name, ...) acraft_ops_invalid("list size", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_STRIDE(name, ...) acraft_ops_invalid("stride", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG(name, ...) acraft_ops_invalid("configuration", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(name, ...) acraft_ops_invalid("configuration", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIGS_WITH_REASON(name, ...) acraft_ops_invalid("configurations", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(name, ...) acraft_ops_invalid("argument", name, __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_GRAPH_NODE(name, ...) acraft_ops_invalid("node", name, __VA_ARGS__)
#define OP_LOGE_FOR_FILE_PATH(name, ...) acraft_ops_invalid("path", name, __VA_ARGS__)
#define OP_LOGE_FOR_FILE_OPEN(name, ...) acraft_ops_invalid("file", name, __VA_ARGS__)
#define OP_LOGE_FOR_FILE_PARSE(name, ...) acraft_ops_invalid("file", name, __VA_ARGS__)

namespace Ops {
namespace Base {

inline std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
inline std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }
inline std::string ToString(const gert::Shape &shape)
{
    std::string s = "[";
    for (size_t i = 0; i < shape.GetDimNum(); i++) s += (i ? ", " : "") + std::to_string(shape.GetDim(i));
    return s + "]";
}

/* ---- whole numbers; what a divisor of 0 gives is opbase's answer ---- */

template <typename T> auto FloorDiv(T x, T y) -> std::enable_if_t<std::is_integral_v<T>, T> { return y == 0 ? x : x / y; }
template <typename T> auto FloorAlign(T x, T unit) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    return unit == 0 ? 0 : x / unit * unit;
}
template <typename T> auto CeilDiv(T x, T y) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    if (y == 0 || x == 0) return x;
    bool up = x % y != 0 && (std::is_unsigned_v<T> || (x < 0) == (y < 0));
    return x / y + (up ? 1 : 0);
}
template <typename T> auto CeilAlign(T x, T unit) -> std::enable_if_t<std::is_integral_v<T>, T>
{
    if (unit == 0) return 0;
    T units = CeilDiv(x, unit);
    return units > std::numeric_limits<T>::max() / unit ? std::numeric_limits<T>::max() : T(units * unit);
}
template <typename T> auto IsFloatEqual(T a, T b) -> std::enable_if_t<std::is_floating_point_v<T>, bool>
{
    if (std::isnan(a) || std::isnan(b)) return false;
    if (std::isinf(a) || std::isinf(b)) return std::signbit(a) == std::signbit(b);
    return std::fabs(a - b) <= std::numeric_limits<T>::epsilon();
}
/* The largest power of two that is not above n; 0 of 0. */
inline uint64_t LastPow2(uint64_t n)
{
    uint64_t power = n ? 1 : 0;
    while (power && power <= n / 2) power *= 2;
    return power;
}

/* ---- shapes ---- */

template <typename T1, typename T2> bool CheckAxisBounds(T1 rank, T2 axis)
{
    int64_t n = int64_t(rank), at = int64_t(axis);
    return n == 0 ? at == 0 : at >= -n && at < n;
}
inline void SetUnknownRank(gert::Shape &shape)
{
    shape.SetDimNum(0);
    shape.AppendDim(ge::UNKNOWN_DIM_NUM);
}
inline bool IsUnknownRank(const gert::Shape &shape) { return shape.GetDimNum() == 1 && shape.GetDim(0) == ge::UNKNOWN_DIM_NUM; }
inline void SetUnknownShape(int64_t rank, gert::Shape &shape)
{
    shape.SetDimNum(0);
    for (int64_t i = 0; i < rank; i++) shape.AppendDim(ge::UNKNOWN_DIM);
}
inline bool IsUnknownShape(const gert::Shape &shape)
{
    for (size_t i = 0; i < shape.GetDimNum(); i++)
        if (shape.GetDim(i) < 0) return true;
    return false;
}
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape)
{
    static const gert::Shape one = {1};
    return shape.GetDimNum() == 0 ? one : shape;
}
inline bool BroadcastShape(const gert::Shape *a, const gert::Shape *b, gert::Shape *out)
{
    size_t na = a->GetDimNum(), nb = b->GetDimNum(), n = na > nb ? na : nb;
    gert::Shape joint;
    for (size_t i = 0; i < n; i++) {
        int64_t da = i + na < n ? 1 : a->GetDim(i + na - n), db = i + nb < n ? 1 : b->GetDim(i + nb - n);
        if (da != db && da != 1 && db != 1) return false;
        joint.AppendDim(da == 1 ? db : da);
    }
    *out = joint;
    return true;
}
inline bool BroadcastShape(const std::vector<const gert::Shape *> &shapes, gert::Shape *out)
{
    if (shapes.empty()) return false;
    *out = *shapes[0];
    for (size_t i = 1; i < shapes.size(); i++)
        if (!BroadcastShape(out, shapes[i], out)) return false;
    return true;
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context, size_t inputs)
{
    std::vector<const gert::Shape *> shapes;
    for (size_t i = 0; i < inputs; i++) {
        shapes.push_back(context->GetInputShape(i));
        if (!shapes.back()) return ge::GRAPH_FAILED;
    }
    gert::Shape *out = context->GetOutputShape(0);
    return out && BroadcastShape(shapes, out) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context) { return InferShape4Broadcast(context, 2); }
inline ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context)
{
    const gert::Shape *in = context->GetInputShape(0);
    gert::Shape *out = context->GetOutputShape(0);
    if (!in || !out) return ge::GRAPH_FAILED;
    *out = *in;
    return ge::GRAPH_SUCCESS;
}

/* ---- the chip ---- */

template <typename T> bool IsRegbaseSocVersion(const T *) { return false; } /* chips with vector registers */
template <typename T> platform_ascendc::PlatformAscendC chip_of(const T *context)
{
    return platform_ascendc::PlatformAscendC(context ? context->GetPlatformInfo() : nullptr);
}
template <typename T> uint32_t GetAivCoreNum(const T *context) { return chip_of(context).GetCoreNumAiv(); }
template <typename T> uint32_t GetAicCoreNum(const T *context) { return chip_of(context).GetCoreNumAic(); }
template <typename T> uint32_t GetWorkspaceSize(const T *context) { return chip_of(context).GetLibApiWorkSpaceSize(); }
template <typename T> uint32_t GetUbSize(const T *context)
{
    uint64_t bytes = 0;
    chip_of(context).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return uint32_t(bytes);
}
template <typename T> uint32_t GetUbBlockSize(const T *) { return 32; }
template <typename T> uint32_t GetVRegSize(const T *) { return 256; }
template <typename T> uint32_t GetCacheLineSize(const T *) { return 256; }
template <typename T> uint32_t GetSectorCacheLineSize(const T *) { return 128; }
template <typename T> uint32_t GetSimtMaxThreadNum(const T *) { return 2048; }
template <typename T> uint32_t GetSimtMaxDCacheSize(const T *) { return 131072; }
template <typename T> uint32_t GetNddmaDcacheSize(const T *) { return 8192; }

/* ---- values of constant inputs ---- */

template <typename From, typename Take> bool each_number(const gert::Tensor *tensor, Take take)
{
    const From *values = tensor->template GetData<From>();
    for (int64_t i = 0; values && i < tensor->GetShapeSize(); i++) take(int64_t(values[i]));
    return values != nullptr;
}
template <typename Take> bool each_integer(const gert::Tensor *tensor, Take take)
{
    switch (tensor ? tensor->GetDataType() : ge::DT_UNDEFINED) {
    case ge::DT_INT32: return each_number<int32_t>(tensor, take);
    case ge::DT_INT64: return each_number<int64_t>(tensor, take);
    case ge::DT_UINT32: return each_number<uint32_t>(tensor, take);
    case ge::DT_UINT64: return each_number<uint64_t>(tensor, take);
    default: return false;
    }
}
template <typename Context, typename T> bool GetConstInt(const Context *context, int64_t input, T &value)
{
    bool first = true;
    return each_integer(context->GetInputTensor(size_t(input)), [&](int64_t n) {
               if (first) value = T(n);
               first = false;
           }) && !first;
}
template <typename T> bool GetValueToShape(const gert::Tensor *tensor, gert::Shape &shape)
{
    shape.SetDimNum(0);
    return each_number<T>(tensor, [&](int64_t n) { shape.AppendDim(n); });
}
template <typename T1, typename T2> bool GetValueToInteger(const gert::Tensor *tensor, T2 &value)
{
    const T1 *values = tensor->template GetData<T1>();
    if (values) value = T2(values[0]);
    return values != nullptr;
}
template <typename Context> bool GetConstIntToShape(const Context *context, int64_t input, gert::Shape &shape)
{
    shape.SetDimNum(0);
    return each_integer(context->GetInputTensor(size_t(input)), [&](int64_t n) { shape.AppendDim(n); });
}

/* Shapes of reductions along constant axes: kept as 1, or left out. */
inline ge::graphStatus ReduceShape(const gert::Shape *in, const std::vector<int64_t> &axes, bool keep, gert::Shape *out)
{
    size_t rank = in->GetDimNum();
    std::vector<bool> reduced(rank, false);
    for (int64_t axis : axes) {
        if (!CheckAxisBounds(rank, axis)) return ge::GRAPH_FAILED;
        if (rank) reduced[size_t(axis < 0 ? axis + int64_t(rank) : axis)] = true;
    }
    gert::Shape left;
    for (size_t i = 0; i < rank; i++)
        if (!reduced[i] || keep) left.AppendDim(reduced[i] ? 1 : in->GetDim(i));
    *out = left;
    return ge::GRAPH_SUCCESS;
}
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape *in, const gert::Tensor *axes, int32_t count, bool keep, gert::Shape *out)
{
    const T *values = axes->GetData<T>();
    if (!values) return ge::GRAPH_FAILED;
    return ReduceShape(in, std::vector<int64_t>(values, values + count), keep, out);
}
inline ge::graphStatus InferShape4Reduce(gert::InferShapeContext *context)
{
    const gert::Shape *in = context->GetInputShape(0);
    gert::Shape *out = context->GetOutputShape(0);
    const bool *keep = context->GetAttrs() ? context->GetAttrs()->GetAttrPointer<bool>(0) : nullptr;
    std::vector<int64_t> axes;
    if (!in || !out || !each_integer(context->GetInputTensor(1), [&](int64_t n) { axes.push_back(n); })) return ge::GRAPH_FAILED;
    return ReduceShape(in, axes, keep && *keep, out);
}

}  // namespace Base
}  // namespace Ops

#endif
