/* at::Tensor for host code: a storage (an address of device memory), a dtype, sizes and strides; no
 * elements. Allocating, viewing, copying and casting work; what computes is reported by name. */
#ifndef ACRAFT_BIND_TENSOR_H
#define ACRAFT_BIND_TENSOR_H

#include "acraft/bind/types.h"

#include <memory>

namespace at {

using namespace c10;

class Tensor;
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;

struct Storage {
    uint64_t address = 0;
    uint64_t bytes = 0;
    void *data() const { return reinterpret_cast<void *>(address); }
    void *mutable_data() const { return data(); }
    const void *data_ptr() const { return data(); }
    size_t nbytes() const { return bytes; }
};

/* Elements of a tensor on the host: read once, all of them. */
template <class T, size_t N> struct TensorAccessor {
    std::shared_ptr<std::vector<T>> all;
    std::vector<int64_t> sizes;
    int64_t at;
    int64_t size(int64_t d) const { return sizes[sizes.size() - N + static_cast<size_t>(d)]; }
    decltype(auto) operator[](int64_t i) const
    {
        int64_t step = 1;
        for (size_t d = sizes.size() - N + 1; d < sizes.size(); d++) step *= sizes[d];
        if constexpr (N == 1)
            return ((*all)[static_cast<size_t>(at + i)]);
        else
            return TensorAccessor<T, N - 1>{all, sizes, at + i * step};
    }
};

class Tensor {
public:
    Storage room;
    int64_t offset = 0;
    ScalarType type = ScalarType::Undefined;
    std::vector<int64_t> size_, stride_;
    bool there = false;

    bool defined() const { return there; }
    bool has_storage() const { return there; }
    int64_t dim() const { return static_cast<int64_t>(size_.size()); }
    int64_t ndimension() const { return dim(); }
    int64_t numel() const
    {
        int64_t n = 1;
        for (int64_t d : size_) n *= d;
        return n;
    }
    IntArrayRef sizes() const { return size_; }
    IntArrayRef strides() const { return stride_; }
    int64_t size(int64_t d) const { return size_[axis(d)]; }
    int64_t stride(int64_t d) const { return stride_[axis(d)]; }
    int64_t storage_offset() const { return offset; }
    const Storage &storage() const { return room; }
    ScalarType scalar_type() const { return type; }
    TypeMeta dtype() const { return type; }
    int64_t element_size() const { return elementSize(type); }
    int64_t itemsize() const { return elementSize(type); }
    size_t nbytes() const { return static_cast<size_t>(numel() * element_size()); }
    Device device() const { return Device(kPrivateUse1); }
    Layout layout() const { return kStrided; }
    TensorOptions options() const { return TensorOptions(type); }
    bool is_cpu() const { return false; }
    bool is_cuda() const { return false; }
    bool is_npu() const { return true; }
    bool is_privateuseone() const { return true; }
    bool is_sparse() const { return false; }
    bool is_floating_point() const { return isFloatingType(type); }
    bool requires_grad() const { return false; }
    bool is_same(const Tensor &o) const { return room.address == o.room.address && offset == o.offset; }
    const Tensor &requires_grad_(bool = true) const { return *this; }
    Tensor detach() const { return *this; }
    Tensor alias() const { return *this; }
    const Tensor &tensor_data() const { return *this; }

    void *data_ptr() const
    {
        return reinterpret_cast<void *>(room.address + static_cast<uint64_t>(offset * element_size()));
    }
    void *mutable_data_ptr() const { return data_ptr(); }
    const void *const_data_ptr() const { return data_ptr(); }
    template <class T> T *data_ptr() const { return static_cast<T *>(data_ptr()); }
    template <class T> T *mutable_data_ptr() const { return static_cast<T *>(data_ptr()); }
    template <class T> const T *const_data_ptr() const { return static_cast<const T *>(data_ptr()); }
    template <class T> T *data() const { return static_cast<T *>(data_ptr()); }
    template <class T> T item() const;
    Scalar item() const;
    template <class T, size_t N> TensorAccessor<T, N> accessor() const;

    bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const
    {
        int64_t want = 1;
        for (size_t d = size_.size(); d-- > 0; want *= size_[d])
            if (size_[d] != 1 && stride_[d] != want) return false;
        return true;
    }
    Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return is_contiguous() ? *this : clone(); }
    Tensor clone(MemoryFormat = MemoryFormat::Contiguous) const;
    Tensor to(ScalarType t, bool = false, bool copy = false) const;
    Tensor to(TypeMeta t, bool = false, bool copy = false) const { return to(t.type, false, copy); }
    Tensor to(Device, bool = false, bool = false) const { return *this; }
    Tensor to(DeviceType, bool = false, bool = false) const { return *this; }
    Tensor to(Device, ScalarType t, bool = false, bool copy = false) const { return to(t, false, copy); }
    Tensor to(const TensorOptions &o, bool = false, bool copy = false) const
    {
        return o.typed ? to(o.type, false, copy) : *this;
    }
    Tensor to(const Tensor &like) const { return to(like.type); }
    Tensor toType(ScalarType t) const { return to(t); }
    Tensor type_as(const Tensor &like) const { return to(like.type); }
    Tensor cpu() const { return *this; }
    Tensor npu() const { return *this; }

    const Tensor &copy_(const Tensor &from, bool = false) const;
    const Tensor &fill_(Scalar value) const;
    const Tensor &zero_() const { return fill_(0.0); }

    Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, int64_t at = 0) const
    {
        Tensor t = *this;
        t.size_ = sizes.vec();
        t.stride_ = strides.vec();
        t.offset = at;
        return t;
    }
    Tensor view(IntArrayRef sizes) const
    {
        if (!is_contiguous()) acraft::bind::fail("view of a tensor that is not contiguous");
        return shaped(sizes);
    }
    Tensor reshape(IntArrayRef sizes) const { return contiguous().shaped(sizes); }
    Tensor view_as(const Tensor &like) const { return view(like.size_); }
    Tensor reshape_as(const Tensor &like) const { return reshape(like.size_); }
    Tensor flatten(int64_t from = 0, int64_t to = -1) const
    {
        std::vector<int64_t> sizes;
        if (size_.empty()) return reshape({1});
        size_t a = axis(from), b = axis(to);
        for (size_t d = 0; d < size_.size(); d++) {
            if (d > a && d <= b) sizes.back() *= size_[d];
            else sizes.push_back(size_[d]);
        }
        return reshape(sizes);
    }
    Tensor unsqueeze(int64_t d) const
    {
        Tensor t = *this;
        int64_t at = d < 0 ? d + dim() + 1 : d;
        if (at < 0 || at > dim()) acraft::bind::fail("dimension out of range in unsqueeze");
        t.size_.insert(t.size_.begin() + at, 1);
        t.stride_.insert(t.stride_.begin() + at, 1);
        return t;
    }
    Tensor squeeze() const
    {
        Tensor t = *this;
        for (size_t d = t.size_.size(); d-- > 0;)
            if (t.size_[d] == 1) t.drop(d);
        return t;
    }
    Tensor squeeze(int64_t d) const
    {
        Tensor t = *this;
        if (t.size_[axis(d)] == 1) t.drop(axis(d));
        return t;
    }
    Tensor transpose(int64_t a, int64_t b) const
    {
        Tensor t = *this;
        std::swap(t.size_[axis(a)], t.size_[axis(b)]);
        std::swap(t.stride_[axis(a)], t.stride_[axis(b)]);
        return t;
    }
    Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
    Tensor permute(IntArrayRef order) const
    {
        Tensor t = *this;
        if (order.size() != size_.size()) acraft::bind::fail("permute with another number of dimensions");
        for (size_t d = 0; d < order.size(); d++) {
            t.size_[d] = size_[axis(order[d])];
            t.stride_[d] = stride_[axis(order[d])];
        }
        return t;
    }
    Tensor expand(IntArrayRef sizes, bool = false) const
    {
        Tensor t = *this;
        size_t more = sizes.size() - size_.size();
        if (sizes.size() < size_.size()) acraft::bind::fail("expand to fewer dimensions");
        t.size_ = sizes.vec();
        t.stride_.assign(sizes.size(), 0);
        for (size_t d = 0; d < size_.size(); d++) {
            int64_t want = sizes[d + more];
            if (want == -1) t.size_[d + more] = want = size_[d];
            if (size_[d] != 1 && size_[d] != want) acraft::bind::fail("expand to a size that does not fit");
            t.stride_[d + more] = size_[d] == want ? stride_[d] : 0;
        }
        return t;
    }
    Tensor expand_as(const Tensor &like) const { return expand(like.size_); }
    Tensor narrow(int64_t d, int64_t from, int64_t length) const
    {
        Tensor t = *this;
        if (from < 0 || length < 0 || from + length > size_[axis(d)]) acraft::bind::fail("narrow out of range");
        t.offset += from * stride_[axis(d)];
        t.size_[axis(d)] = length;
        return t;
    }
    Tensor slice(int64_t d = 0, optional<int64_t> from = nullopt, optional<int64_t> to = nullopt,
                 int64_t step = 1) const
    {
        int64_t n = size_[axis(d)], a = from.value_or(0), b = to.value_or(n);
        a = std::clamp(a < 0 ? a + n : a, int64_t(0), n);
        b = std::clamp(b < 0 ? b + n : b, a, n);
        Tensor t = narrow(d, a, b - a);
        t.size_[axis(d)] = (b - a + step - 1) / step;
        t.stride_[axis(d)] *= step;
        return t;
    }
    Tensor select(int64_t d, int64_t index) const
    {
        int64_t at = index < 0 ? index + size_[axis(d)] : index;
        Tensor t = narrow(d, at, 1);
        t.drop(axis(d));
        return t;
    }
    Tensor operator[](int64_t index) const { return select(0, index); }
    std::vector<Tensor> unbind(int64_t d = 0) const
    {
        std::vector<Tensor> all;
        for (int64_t i = 0; i < size(d); i++) all.push_back(select(d, i));
        return all;
    }
    std::vector<Tensor> split(int64_t length, int64_t d = 0) const
    {
        std::vector<Tensor> all;
        for (int64_t i = 0; length > 0 && i < size(d); i += length)
            all.push_back(narrow(d, i, std::min(length, size(d) - i)));
        return all;
    }
    std::vector<Tensor> chunk(int64_t parts, int64_t d = 0) const
    {
        return split((size(d) + parts - 1) / parts, d);
    }
    Tensor new_empty(IntArrayRef sizes, TensorOptions o = {}) const;
    Tensor new_zeros(IntArrayRef sizes, TensorOptions o = {}) const;
    Tensor new_ones(IntArrayRef sizes, TensorOptions o = {}) const;
    Tensor new_full(IntArrayRef sizes, Scalar value, TensorOptions o = {}) const;

    Tensor computed(const char *name) const;
#define COMPUTE(name)                                                                              \
    template <class... A> Tensor name(A &&...) const { return computed(#name); }
#include "acraft/bind/compute.def"
#undef COMPUTE
    Tensor operator-() const { return computed("neg"); }

    size_t axis(int64_t d) const
    {
        int64_t n = dim() ? dim() : 1, at = d < 0 ? d + n : d;
        if (at < 0 || at >= dim()) acraft::bind::fail("dimension out of range");
        return static_cast<size_t>(at);
    }
    void drop(size_t d)
    {
        size_.erase(size_.begin() + static_cast<long>(d));
        stride_.erase(stride_.begin() + static_cast<long>(d));
    }
    void set_dense()
    {
        stride_.assign(size_.size(), 1);
        for (size_t d = size_.size(); d-- > 1;) stride_[d - 1] = stride_[d] * std::max<int64_t>(size_[d], 1);
    }
    Tensor shaped(IntArrayRef sizes) const
    {
        Tensor t = *this;
        t.size_ = sizes.vec();
        int64_t known = 1, open = -1, n = numel();
        for (size_t d = 0; d < t.size_.size(); d++) {
            if (t.size_[d] == -1) open = static_cast<int64_t>(d);
            else known *= t.size_[d];
        }
        if (open >= 0) t.size_[static_cast<size_t>(open)] = known ? n / known : 0;
        if (t.numel() != n)
            acraft::bind::fail(c10::str("shape ", sizes, " is invalid for ", n, " elements").c_str());
        t.set_dense();
        return t;
    }
};

inline std::ostream &operator<<(std::ostream &out, const Tensor &t) { return out << "tensor" << t.sizes(); }

/* --- events ---------------------------------------------------------------------------------- */

}  // namespace at

namespace acraft {
namespace bind {

inline void put_tensor(const at::Tensor &t)
{
    if (!t.defined()) return put_u8(BIND_NONE);
    if (t.size_.size() > BIND_MOST_RANK) fail("a tensor of more than 16 dimensions");
    put_u8(BIND_TENSOR);
    put_u64(t.room.address);
    put_i64(t.offset);
    put_u32(static_cast<uint32_t>(t.type));
    put_u32(static_cast<uint32_t>(t.size_.size()));
    for (int64_t d : t.size_) put_i64(d);
    for (int64_t d : t.stride_) put_i64(d);
}

inline at::Tensor make_tensor(c10::IntArrayRef sizes, c10::ScalarType type)
{
    at::Tensor t;
    t.size_ = sizes.vec();
    t.type = type;
    t.there = true;
    for (int64_t d : t.size_)
        if (d < 0) fail(c10::str("a tensor of negative size ", sizes).c_str());
    t.set_dense();
    t.room.bytes = t.nbytes();
    t.room.address = alloc(t.room.bytes);
    return t;
}

}  // namespace bind
}  // namespace acraft

namespace at {

inline Tensor empty(IntArrayRef sizes, TensorOptions o = {}, optional<MemoryFormat> = nullopt)
{
    return acraft::bind::make_tensor(sizes, o.type);
}
inline Tensor full(IntArrayRef sizes, Scalar value, TensorOptions o = {})
{
    Tensor t = empty(sizes, o.typed ? o : value.isFloatingPoint() ? o : o.dtype(ScalarType::Long));
    t.fill_(value);
    return t;
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions o = {})
{
    Tensor t = empty(sizes, o);
    t.fill_(0.0);
    return t;
}
inline Tensor ones(IntArrayRef sizes, TensorOptions o = {})
{
    Tensor t = empty(sizes, o);
    t.fill_(1.0);
    return t;
}
inline TensorOptions like(const Tensor &t, TensorOptions o) { return o.typed ? o : o.dtype(t.type); }
inline Tensor empty_like(const Tensor &t, TensorOptions o = {}, optional<MemoryFormat> = nullopt)
{
    return empty(t.size_, like(t, o));
}
inline Tensor zeros_like(const Tensor &t, TensorOptions o = {}) { return zeros(t.size_, like(t, o)); }
inline Tensor ones_like(const Tensor &t, TensorOptions o = {}) { return ones(t.size_, like(t, o)); }
inline Tensor full_like(const Tensor &t, Scalar value, TensorOptions o = {})
{
    return full(t.size_, value, like(t, o));
}
inline Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions o = {})
{
    Tensor t = empty(sizes, o);
    t.stride_ = strides.vec();
    return t;
}
inline Tensor scalar_tensor(Scalar value, TensorOptions o = {}) { return full({}, value, o.typed ? o : o.dtype(ScalarType::Float)); }

inline Tensor Tensor::clone(MemoryFormat) const
{
    Tensor t = empty(size_, type);
    t.copy_(*this);
    return t;
}
inline Tensor Tensor::to(ScalarType t, bool, bool copy) const
{
    if (t == type && !copy) return *this;
    Tensor other = empty(size_, t);
    other.copy_(*this);
    return other;
}
inline const Tensor &Tensor::copy_(const Tensor &from, bool) const
{
    acraft::bind::put_u8(BIND_COPY);
    acraft::bind::put_tensor(*this);
    acraft::bind::put_tensor(from.expand(size_));
    return *this;
}
inline const Tensor &Tensor::fill_(Scalar value) const
{
    acraft::bind::put_u8(BIND_FILL);
    acraft::bind::put_tensor(*this);
    acraft::bind::put_f64(value.toDouble());
    return *this;
}
inline Tensor Tensor::new_empty(IntArrayRef sizes, TensorOptions o) const { return empty(sizes, like(*this, o)); }
inline Tensor Tensor::new_zeros(IntArrayRef sizes, TensorOptions o) const { return zeros(sizes, like(*this, o)); }
inline Tensor Tensor::new_ones(IntArrayRef sizes, TensorOptions o) const { return ones(sizes, like(*this, o)); }
inline Tensor Tensor::new_full(IntArrayRef sizes, Scalar value, TensorOptions o) const
{
    return full(sizes, value, like(*this, o));
}

template <class T> inline T Tensor::item() const
{
    if (numel() != 1) acraft::bind::fail("item() of a tensor that has not one element");
    uint8_t bytes[16] = {0};
    acraft::bind::read(reinterpret_cast<uint64_t>(data_ptr()), static_cast<uint64_t>(element_size()), bytes);
    double value = 0;
    int64_t whole = 0;
    switch (type) {
    case ScalarType::Float: { float f; memcpy(&f, bytes, 4); return static_cast<T>(f); }
    case ScalarType::Double: memcpy(&value, bytes, 8); return static_cast<T>(value);
    case ScalarType::Long: memcpy(&whole, bytes, 8); return static_cast<T>(whole);
    case ScalarType::Int: { int32_t i; memcpy(&i, bytes, 4); return static_cast<T>(i); }
    case ScalarType::Short: { int16_t i; memcpy(&i, bytes, 2); return static_cast<T>(i); }
    case ScalarType::Char: return static_cast<T>(static_cast<int8_t>(bytes[0]));
    case ScalarType::Byte: case ScalarType::Bool: return static_cast<T>(bytes[0]);
    default: acraft::bind::unsupported("item() of a half float");
    }
}
template <class T, size_t N> inline TensorAccessor<T, N> Tensor::accessor() const
{
    if (size_.size() != N) acraft::bind::fail("accessor() of a tensor of another rank");
    Tensor dense = contiguous();
    size_t n = static_cast<size_t>(numel());
    auto all = std::make_shared<std::vector<T>>(n);
    acraft::bind::read(reinterpret_cast<uint64_t>(dense.data_ptr()), n * sizeof(T), all->data());
    return {all, size_, 0};
}

inline Scalar Tensor::item() const
{
    return isFloatingType(type) ? Scalar(item<double>()) : Scalar(item<int64_t>());
}

inline Tensor Tensor::computed(const char *name) const
{
    acraft::bind::put_u8(BIND_COMPUTE);
    acraft::bind::put_text(name);
    return empty(size_, type);
}
#define COMPUTE(name)                                                                              \
    template <class... A> inline Tensor name(const Tensor &t, A &&...) { return t.computed(#name); }
#include "acraft/bind/compute.def"
#undef COMPUTE
#define ACRAFT_TENSOR_OPERATOR(op, name)                                                           \
    inline Tensor operator op(const Tensor &a, const Tensor &) { return a.computed(name); }        \
    inline Tensor operator op(const Tensor &a, Scalar) { return a.computed(name); }                \
    inline Tensor operator op(Scalar, const Tensor &b) { return b.computed(name); }
ACRAFT_TENSOR_OPERATOR(+, "add")
ACRAFT_TENSOR_OPERATOR(-, "sub")
ACRAFT_TENSOR_OPERATOR(*, "mul")
ACRAFT_TENSOR_OPERATOR(/, "div")
#undef ACRAFT_TENSOR_OPERATOR

inline Tensor cat(TensorList list, int64_t d = 0)
{
    if (list.empty()) acraft::bind::fail("cat of no tensors");
    size_t axis = list[0].axis(d);
    std::vector<int64_t> sizes = list[0].size_;
    sizes[axis] = 0;
    for (const Tensor &t : list) sizes[axis] += t.size(static_cast<int64_t>(axis));
    Tensor all = empty(sizes, list[0].type);
    int64_t from = 0;
    for (const Tensor &t : list) {
        int64_t n = t.size(static_cast<int64_t>(axis));
        all.narrow(static_cast<int64_t>(axis), from, n).copy_(t);
        from += n;
    }
    return all;
}
inline Tensor stack(TensorList list, int64_t d = 0)
{
    std::vector<Tensor> wide;
    for (const Tensor &t : list) wide.push_back(t.unsqueeze(d));
    return cat(wide, d);
}

#define ACRAFT_KINDS(K)                                                                            \
    K(kByte, Byte) K(kChar, Char) K(kShort, Short) K(kInt, Int) K(kLong, Long) K(kHalf, Half)      \
    K(kFloat, Float) K(kDouble, Double) K(kBool, Bool) K(kBFloat16, BFloat16) K(kUInt8, Byte)      \
    K(kInt8, Char) K(kInt16, Short) K(kInt32, Int) K(kInt64, Long) K(kFloat16, Half)               \
    K(kFloat32, Float) K(kFloat64, Double) K(kComplexFloat, ComplexFloat)
#define K(name, type) constexpr ScalarType name = ScalarType::type;
ACRAFT_KINDS(K)
#undef K

namespace indexing {}

}  // namespace at

namespace torch {
using namespace at;
using at::Tensor;
struct NoGradGuard {};
namespace indexing {}
}  // namespace torch

#endif
