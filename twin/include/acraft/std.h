/* AscendC::Std, the parts of the standard library that kernels name by the vendor's namespace, and shapes,
 * strides and coordinates as tuples. In: nothing. Out: names; a layout takes a coordinate to an offset. */
#ifndef ACRAFT_STD_H
#define ACRAFT_STD_H

#include "acraft/base.h"

#include <tuple>

/* Constants written as bytes, for tilings known at compile time. */
template <typename T> constexpr T convert_from_bytes(const uint8_t *bytes)
{
    struct Bytes {
        uint8_t at[sizeof(T)];
    } all = {};
    for (size_t i = 0; i < sizeof(T); i++) all.at[i] = bytes[i];
    return __builtin_bit_cast(T, all);
}

namespace AscendC {
namespace Std {

using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::declval;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::get;
using std::index_sequence;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_floating_point;
using std::is_floating_point_v;
using std::is_function;
using std::is_function_v;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_union;
using std::is_union_v;
using std::is_void;
using std::is_void_v;
using std::make_index_sequence;
using std::make_integer_sequence;
using std::make_tuple;
using std::move;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;

template <typename T> struct remove_cvref {
    using type = std::remove_cv_t<std::remove_reference_t<T>>;
};
template <typename T> using remove_cvref_t = typename remove_cvref<T>::type;
template <size_t v> using Int = std::integral_constant<size_t, v>;

template <typename T, typename U> constexpr auto min(const T &a, const U &b) { return b < a ? b : a; }
template <typename T, typename U> constexpr auto max(const T &a, const U &b) { return a < b ? b : a; }
template <typename T> constexpr T abs(const T v) { return v < T(0) ? T(-v) : v; }
template <typename T> inline T sqrt(const T v) { return T(__builtin_sqrt(double(v))); }
template <typename T, typename U> constexpr auto ceil_division(const T a, const U b) { return b == 0 ? 0 : (a + b - 1) / b; }
template <typename T, typename U> constexpr auto ceil_align(const T a, const U b) { return ceil_division(a, b) * b; }

}  // namespace Std

template <typename... T> using Shape = std::tuple<T...>;
template <typename... T> using Stride = std::tuple<T...>;
template <typename... T> using Coord = std::tuple<T...>;
template <typename... T> constexpr Shape<std::decay_t<T>...> MakeShape(T &&...v) { return {std::forward<T>(v)...}; }
template <typename... T> constexpr Stride<std::decay_t<T>...> MakeStride(T &&...v) { return {std::forward<T>(v)...}; }
template <typename... T> constexpr Coord<std::decay_t<T>...> MakeCoord(T &&...v) { return {std::forward<T>(v)...}; }

template <typename ShapeType, typename StrideType> struct Layout {
    constexpr Layout(const ShapeType &s = {}, const StrideType &t = {}) : shape_(s), stride_(t) {}
    constexpr decltype(auto) layout() { return *this; }
    constexpr auto GetShape() const { return shape_; }
    constexpr auto GetStride() const { return stride_; }
    template <typename CoordType> constexpr auto operator()(const CoordType &at) const
    {
        return sum(at, std::make_index_sequence<std::tuple_size_v<CoordType>>());
    }

private:
    template <typename CoordType, size_t... I> constexpr auto sum(const CoordType &at, std::index_sequence<I...>) const
    {
        return ((std::get<I>(at) * std::get<I>(stride_)) + ... + 0);
    }
    ShapeType shape_;
    StrideType stride_;
};
template <typename ShapeType, typename StrideType> constexpr Layout<ShapeType, StrideType> MakeLayout(const ShapeType &shape, const StrideType &stride)
{
    return {shape, stride};
}
template <typename CoordType, typename ShapeType, typename StrideType>
constexpr auto Crd2Idx(const CoordType &at, const Layout<ShapeType, StrideType> &layout)
{
    return layout(at);
}

}  // namespace AscendC

#endif
