/* ge: data types, formats, status words and the small string class, as op_host code names them. */
#ifndef ACRAFT_HOST_GE_H
#define ACRAFT_HOST_GE_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <unordered_map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#ifdef ACRAFT_DT_H /* a kernel file with host code: enumerators take the place of macros */
#undef DT_FLOAT
#undef DT_FLOAT16
#undef DT_INT8
#undef DT_INT32
#undef DT_UINT8
#undef DT_INT16
#undef DT_UINT16
#undef DT_UINT32
#undef DT_INT64
#undef DT_UINT64
#undef DT_DOUBLE
#undef DT_BOOL
#undef DT_COMPLEX64
#undef DT_BF16
#undef DT_INT4
#undef FORMAT_NCHW
#undef FORMAT_NHWC
#undef FORMAT_ND
#undef FORMAT_NC1HWC0
#undef FORMAT_FRACTAL_Z
#undef FORMAT_NDHWC
#undef FORMAT_FRACTAL_ZZ
#undef FORMAT_FRACTAL_NZ
#undef FORMAT_NCDHW
#undef FORMAT_NDC1HWC0
#undef FORMAT_FRACTAL_Z_3D
#endif

namespace ge {

using graphStatus = uint32_t;
using Status = uint32_t;
using char_t = char;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_NOT_CHANGED = 1343242304;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;
constexpr int64_t UNKNOWN_DIM = -1;
constexpr int64_t UNKNOWN_DIM_NUM = -2;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFF;

enum DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_DUAL_SUB_INT8 = 14,
    DT_DUAL_SUB_UINT8 = 15,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_QINT8 = 18,
    DT_QINT16 = 19,
    DT_QINT32 = 20,
    DT_QUINT8 = 21,
    DT_QUINT16 = 22,
    DT_RESOURCE = 23,
    DT_STRING_REF = 24,
    DT_DUAL = 25,
    DT_VARIANT = 26,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT6_E3M2 = 38,
    DT_FLOAT6_E2M3 = 39,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
    DT_MAX
};

enum Format {
    FORMAT_NCHW = 0,
    FORMAT_NHWC,
    FORMAT_ND,
    FORMAT_NC1HWC0,
    FORMAT_FRACTAL_Z,
    FORMAT_NC1C0HWPAD,
    FORMAT_NHWC1C0,
    FORMAT_FSR_NCHW,
    FORMAT_FRACTAL_DECONV,
    FORMAT_C1HWNC0,
    FORMAT_FRACTAL_DECONV_TRANSPOSE,
    FORMAT_FRACTAL_DECONV_SP_STRIDE_TRANS,
    FORMAT_NC1HWC0_C04,
    FORMAT_FRACTAL_Z_C04,
    FORMAT_CHWN,
    FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS,
    FORMAT_HWCN,
    FORMAT_NC1KHKWHWC0,
    FORMAT_BN_WEIGHT,
    FORMAT_FILTER_HWCK,
    FORMAT_NDHWC = 27,
    FORMAT_FRACTAL_ZZ = 28,
    FORMAT_FRACTAL_NZ = 29,
    FORMAT_NCDHW = 30,
    FORMAT_DHWCN = 31,
    FORMAT_NDC1HWC0 = 32,
    FORMAT_FRACTAL_Z_3D = 33,
    FORMAT_CN = 34,
    FORMAT_NC = 35,
    FORMAT_DHWNC = 36,
    FORMAT_RESERVED = 40,
    FORMAT_ALL = 41,
    FORMAT_NULL = 42,
    FORMAT_ND_RNN_BIAS = 43,
    FORMAT_NCL = 47,
    FORMAT_END,
    FORMAT_MAX = 0xff
};

/* Bytes of an element; 1000 and its bits where it has less than a byte (graph/types.h). */
constexpr int kDataTypeSizeBitOffset = 1000;
struct DataTypeRow {
    DataType type;
    int size;
    const char *name;
};
inline constexpr DataTypeRow data_type_rows[] = {
    {DT_FLOAT, 4, "DT_FLOAT"}, {DT_FLOAT16, 2, "DT_FLOAT16"}, {DT_BF16, 2, "DT_BF16"}, {DT_DOUBLE, 8, "DT_DOUBLE"},
    {DT_INT8, 1, "DT_INT8"}, {DT_INT16, 2, "DT_INT16"}, {DT_INT32, 4, "DT_INT32"}, {DT_INT64, 8, "DT_INT64"},
    {DT_UINT8, 1, "DT_UINT8"}, {DT_UINT16, 2, "DT_UINT16"}, {DT_UINT32, 4, "DT_UINT32"}, {DT_UINT64, 8, "DT_UINT64"},
    {DT_BOOL, 1, "DT_BOOL"}, {DT_QINT8, 1, "DT_QINT8"}, {DT_QINT16, 2, "DT_QINT16"}, {DT_QINT32, 4, "DT_QINT32"},
    {DT_QUINT8, 1, "DT_QUINT8"}, {DT_QUINT16, 2, "DT_QUINT16"}, {DT_COMPLEX32, 4, "DT_COMPLEX32"},
    {DT_COMPLEX64, 8, "DT_COMPLEX64"}, {DT_COMPLEX128, 16, "DT_COMPLEX128"}, {DT_HIFLOAT8, 1, "DT_HIFLOAT8"},
    {DT_FLOAT8_E5M2, 1, "DT_FLOAT8_E5M2"}, {DT_FLOAT8_E4M3FN, 1, "DT_FLOAT8_E4M3FN"}, {DT_FLOAT8_E8M0, 1, "DT_FLOAT8_E8M0"},
    {DT_FLOAT6_E3M2, kDataTypeSizeBitOffset + 6, "DT_FLOAT6_E3M2"}, {DT_FLOAT6_E2M3, kDataTypeSizeBitOffset + 6, "DT_FLOAT6_E2M3"},
    {DT_FLOAT4_E2M1, kDataTypeSizeBitOffset + 4, "DT_FLOAT4_E2M1"}, {DT_FLOAT4_E1M2, kDataTypeSizeBitOffset + 4, "DT_FLOAT4_E1M2"},
    {DT_INT4, kDataTypeSizeBitOffset + 4, "DT_INT4"}, {DT_INT2, kDataTypeSizeBitOffset + 2, "DT_INT2"},
    {DT_UINT2, kDataTypeSizeBitOffset + 2, "DT_UINT2"}, {DT_UINT1, kDataTypeSizeBitOffset + 1, "DT_UINT1"},
};
inline int GetSizeByDataType(DataType type)
{
    for (const DataTypeRow &row : data_type_rows)
        if (row.type == type) return row.size;
    return -1;
}
inline std::string GetSizeNameOf(DataType type)
{
    for (const DataTypeRow &row : data_type_rows)
        if (row.type == type) return row.name;
    return "DT_UNDEFINED";
}

/* A format word carries sub-formats in its upper bits. */
inline int32_t GetPrimaryFormat(int32_t format) { return format & 0xff; }

class AscendString {
public:
    AscendString() = default;
    AscendString(const char *s) : text_(s ? s : "") {}
    AscendString(const std::string &s) : text_(s) {}
    const char *GetString() const { return text_.c_str(); }
    bool operator==(const AscendString &o) const { return text_ == o.text_; }
    bool operator<(const AscendString &o) const { return text_ < o.text_; }

private:
    std::string text_;
};

struct TypeUtils {
    static bool GetDataTypeLength(DataType type, uint32_t &length)
    {
        int n = GetSizeByDataType(type);
        length = n > 0 ? uint32_t(n) : 0;
        return n > 0;
    }
    static std::string DataTypeToSerialString(DataType type) { return GetSizeNameOf(type); }
    static std::string DataTypeToAscendString(DataType type) { return GetSizeNameOf(type); }
    static std::string FormatToSerialString(Format format)
    {
        return format == FORMAT_ND ? "ND" : format == FORMAT_NCHW ? "NCHW" : format == FORMAT_FRACTAL_NZ ? "FRACTAL_NZ" : "FORMAT";
    }
};

class Shape {
public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims) : dims_(dims) {}
    size_t GetDimNum() const { return dims_.size(); }
    int64_t GetDim(size_t i) const { return i < dims_.size() ? dims_[i] : 0; }
    std::vector<int64_t> GetDims() const { return dims_; }
    graphStatus SetDim(size_t i, int64_t v)
    {
        if (i >= dims_.size()) return GRAPH_FAILED;
        dims_[i] = v;
        return GRAPH_SUCCESS;
    }
    int64_t GetShapeSize() const
    {
        int64_t n = 1;
        for (int64_t d : dims_) n *= d;
        return n;
    }

private:
    std::vector<int64_t> dims_;
};

/* Graph-side descriptors: only support checks use them; nothing here runs those. */
class TensorDesc {
public:
    DataType GetDataType() const { return type_; }
    Format GetFormat() const { return FORMAT_ND; }
    Shape GetShape() const { return Shape(); }
    DataType type_ = DT_UNDEFINED;
};
class Operator {
public:
    TensorDesc GetInputDescByName(const char *) const { return {}; }
    TensorDesc GetOutputDescByName(const char *) const { return {}; }
    TensorDesc GetInputDesc(uint32_t) const { return {}; }
    template <typename T> graphStatus GetAttr(const char *, T &) const { return GRAPH_FAILED; }
};

}  // namespace ge

/* The vendor's headers leak these, and operator code has come to rely on it. */
using std::map;
using std::set;
using std::string;
using std::unordered_map;
using std::vector;

#endif
