/* The small types around a tensor, as PyTorch's C++ side names them. */
#ifndef ACRAFT_BIND_TYPES_H
#define ACRAFT_BIND_TYPES_H

#include "acraft/bind/runtime.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
#include <cstring>

namespace c10 {

/* NAME, number, bytes */
#define ACRAFT_SCALAR_TYPES(T)                                                                     \
    T(Byte, 0, 1) T(Char, 1, 1) T(Short, 2, 2) T(Int, 3, 4) T(Long, 4, 8) T(Half, 5, 2)            \
    T(Float, 6, 4) T(Double, 7, 8) T(ComplexHalf, 8, 4) T(ComplexFloat, 9, 8)                      \
    T(ComplexDouble, 10, 16) T(Bool, 11, 1) T(BFloat16, 15, 2)

enum class ScalarType : int8_t {
#define T(name, number, bytes) name = number,
    ACRAFT_SCALAR_TYPES(T)
#undef T
    Undefined = 44
};

inline int64_t elementSize(ScalarType t)
{
    switch (t) {
#define T(name, number, bytes) case ScalarType::name: return bytes;
        ACRAFT_SCALAR_TYPES(T)
#undef T
    default: return 0;
    }
}

inline const char *toString(ScalarType t)
{
    switch (t) {
#define T(name, number, bytes) case ScalarType::name: return #name;
        ACRAFT_SCALAR_TYPES(T)
#undef T
    default: return "Undefined";
    }
}

inline std::ostream &operator<<(std::ostream &out, ScalarType t) { return out << toString(t); }

inline bool isFloatingType(ScalarType t)
{
    return t == ScalarType::Float || t == ScalarType::Half || t == ScalarType::Double ||
           t == ScalarType::BFloat16;
}
inline bool isIntegralType(ScalarType t, bool with_bool = false)
{
    return t <= ScalarType::Long || (with_bool && t == ScalarType::Bool);
}

struct TypeMeta {
    ScalarType type = ScalarType::Undefined;
    TypeMeta() = default;
    TypeMeta(ScalarType t) : type(t) {}
    operator ScalarType() const { return type; }
    ScalarType toScalarType() const { return type; }
    size_t itemsize() const { return static_cast<size_t>(elementSize(type)); }
    const char *name() const { return toString(type); }
    friend bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
    friend bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
};
inline ScalarType typeMetaToScalarType(TypeMeta t) { return t.type; }

/* Half floats as host code sees them: bits with a conversion. */
struct Half {
    uint16_t x = 0;
};
struct BFloat16 {
    uint16_t x = 0;
};

template <class T> class ArrayRef {
public:
    using value_type = T;
    using iterator = const T *;
    ArrayRef() = default;
    ArrayRef(const T *at, size_t n) : at_(at), n_(n) {}
    ArrayRef(const T *from, const T *to) : at_(from), n_(static_cast<size_t>(to - from)) {}
    ArrayRef(const T &one) : at_(&one), n_(1) {}
    ArrayRef(const std::vector<T> &v) : at_(v.data()), n_(v.size()) {}
    template <size_t N> ArrayRef(const std::array<T, N> &v) : at_(v.data()), n_(N) {}
    template <size_t N> ArrayRef(const T (&v)[N]) : at_(v), n_(N) {}
    ArrayRef(const std::initializer_list<T> &list) : at_(list.begin()), n_(list.size()) {}
    const T *data() const { return at_; }
    size_t size() const { return n_; }
    bool empty() const { return n_ == 0; }
    const T &operator[](size_t i) const
    {
        if (i >= n_) acraft::bind::fail("index out of range in ArrayRef");
        return at_[i];
    }
    const T &at(size_t i) const { return (*this)[i]; }
    const T &front() const { return (*this)[0]; }
    const T &back() const { return (*this)[n_ - 1]; }
    const T *begin() const { return at_; }
    const T *end() const { return at_ + n_; }
    std::reverse_iterator<const T *> rbegin() const { return std::reverse_iterator<const T *>(end()); }
    std::reverse_iterator<const T *> rend() const { return std::reverse_iterator<const T *>(begin()); }
    std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
    ArrayRef slice(size_t from) const { return slice(from, n_ - from); }
    ArrayRef slice(size_t from, size_t n) const
    {
        if (from > n_ || n > n_ - from) acraft::bind::fail("slice out of range in ArrayRef");
        return ArrayRef(at_ + from, n);
    }
    bool equals(ArrayRef other) const
    {
        return n_ == other.n_ && std::equal(begin(), end(), other.begin());
    }
    operator std::vector<T>() const { return vec(); }

private:
    const T *at_ = nullptr;
    size_t n_ = 0;
};
template <class T> bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T> bool operator!=(ArrayRef<T> a, ArrayRef<T> b) { return !a.equals(b); }
template <class T> bool operator==(ArrayRef<T> a, const std::vector<T> &b) { return a.equals(b); }
template <class T> bool operator==(const std::vector<T> &a, ArrayRef<T> b) { return b.equals(a); }
template <class T> std::ostream &operator<<(std::ostream &out, ArrayRef<T> list)
{
    out << '[';
    for (size_t i = 0; i < list.size(); i++) out << (i ? ", " : "") << list[i];
    return out << ']';
}
using IntArrayRef = ArrayRef<int64_t>;

using std::optional;
using std::nullopt;
using std::nullopt_t;
using std::make_optional;
using string_view = std::string_view;
template <class T> using OptionalRef = std::optional<T>;
template <class T, size_t N = 4> class SmallVector : public std::vector<T> {
public:
    using std::vector<T>::vector;
    operator ArrayRef<T>() const { return ArrayRef<T>(this->data(), this->size()); }
};

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, PrivateUse1 = 20 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA,
                     kPrivateUse1 = DeviceType::PrivateUse1;
struct Device {
    DeviceType type_ = DeviceType::PrivateUse1;
    int index_ = 0;
    Device() = default;
    Device(DeviceType type, int index = 0) : type_(type), index_(index) {}
    Device(const std::string &text) : type_(text.rfind("cpu", 0) == 0 ? kCPU : kPrivateUse1) {}
    Device(const char *text) : Device(std::string(text)) {}
    DeviceType type() const { return type_; }
    int index() const { return index_; }
    bool is_cpu() const { return type_ == kCPU; }
    bool is_privateuseone() const { return type_ == kPrivateUse1; }
    bool is_cuda() const { return false; }
    std::string str() const { return is_cpu() ? "cpu" : "npu:0"; }
    friend bool operator==(Device a, Device b) { return a.type_ == b.type_; }
    friend bool operator!=(Device a, Device b) { return a.type_ != b.type_; }
    friend std::ostream &operator<<(std::ostream &out, Device d) { return out << d.str(); }
};

enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast };

struct TensorOptions {
    ScalarType type = ScalarType::Float;
    bool typed = false;
    Device on;
    TensorOptions() = default;
    TensorOptions(ScalarType t) : type(t), typed(true) {}
    TensorOptions(TypeMeta t) : type(t.type), typed(true) {}
    TensorOptions(Device d) : on(d) {}
    TensorOptions(DeviceType d) : on(d) {}
    TensorOptions dtype(ScalarType t) const
    {
        TensorOptions o = *this;
        o.type = t;
        o.typed = true;
        return o;
    }
    TensorOptions dtype(TypeMeta t) const { return dtype(t.type); }
    TensorOptions device(Device d) const
    {
        TensorOptions o = *this;
        o.on = d;
        return o;
    }
    TensorOptions device(DeviceType d, int = 0) const { return device(Device(d)); }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions memory_format(MemoryFormat) const { return *this; }
    TensorOptions requires_grad(bool = true) const { return *this; }
    TensorOptions pinned_memory(bool = true) const { return *this; }
    TypeMeta dtype() const { return type; }
    Device device() const { return on; }
};
inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions device(Device d) { return TensorOptions(d); }

class Scalar {
public:
    Scalar(double v = 0) : f(v), i(static_cast<int64_t>(v)), kind(BIND_FLOAT) {}
    Scalar(float v) : Scalar(static_cast<double>(v)) {}
    Scalar(int64_t v) : f(static_cast<double>(v)), i(v), kind(BIND_INT) {}
    Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
    Scalar(bool v) : f(v), i(v), kind(BIND_BOOL) {}
    double toDouble() const { return f; }
    float toFloat() const { return static_cast<float>(f); }
    int64_t toLong() const { return i; }
    int toInt() const { return static_cast<int>(i); }
    bool toBool() const { return i != 0; }
    template <class T> T to() const
    {
        return std::is_floating_point<T>::value ? static_cast<T>(f) : static_cast<T>(i);
    }
    bool isFloatingPoint() const { return kind == BIND_FLOAT; }
    bool isIntegral(bool = false) const { return kind == BIND_INT; }
    bool isBoolean() const { return kind == BIND_BOOL; }
    double f;
    int64_t i;
    int kind;
};

class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class... A> inline std::string str(const A &...args)
{
    std::ostringstream out;
    (void)(out << ... << args);
    return out.str();
}

struct DeviceGuard {
    explicit DeviceGuard(Device) {}
};
struct OptionalDeviceGuard {
    OptionalDeviceGuard() = default;
    template <class T> explicit OptionalDeviceGuard(const T &) {}
};

}  // namespace c10

namespace acraft {
namespace bind {
template <class... A> [[noreturn]] inline void check_failed(const char *condition, const A &...args)
{
    fail((sizeof...(A) ? c10::str(args...) : c10::str("expected ", condition)).c_str());
}
}  // namespace bind
}  // namespace acraft

#define TORCH_CHECK(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) acraft::bind::check_failed(#condition, ##__VA_ARGS__);                   \
    } while (0)
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ERROR(...) acraft::bind::fail(c10::str(__VA_ARGS__).c_str())
#define TORCH_WARN(...) ((void)0)

#endif
