/* Functions that host code offers to Python: PYBIND11_MODULE and TORCH_LIBRARY put them into a list;
 * a call comes in as values (twin/rt/bind_share.h) and goes out as one. */
#ifndef ACRAFT_BIND_PYTHON_H
#define ACRAFT_BIND_PYTHON_H

#include "acraft/bind/tensor.h"

namespace acraft {
namespace bind {

/* A value of a request. */
struct Value {
    int kind = BIND_NONE;
    int64_t i = 0;
    double f = 0;
    std::string text;
    at::Tensor tensor;
    std::vector<Value> list;
};

struct Argument {
    std::string name; /* empty: by place */
    Value value;
};

struct Parameter {
    std::string name;
    bool has_default = false;
    Value value;
};

struct Function {
    std::string name;
    size_t arity = 0;
    std::vector<Parameter> parameters;
    std::function<void(const std::vector<Value> &)> call;
};

#ifdef ACRAFT_BINDING
void add_function(Function f);
#else
inline void add_function(Function) {}
#endif

[[noreturn]] inline void wrong_type(const char *wanted)
{
    fail(c10::str("incompatible function arguments: a ", wanted, " is wanted").c_str());
}

/* --- values to C++ --------------------------------------------------------------------------- */

template <class T, class = void> struct From {
    static T get(const Value &) { fail("an argument of a type that bindings do not have"); }
};
template <> struct From<at::Tensor> {
    static at::Tensor get(const Value &v)
    {
        if (v.kind != BIND_TENSOR) wrong_type("Tensor");
        return v.tensor;
    }
};
template <class T> struct From<T, std::enable_if_t<std::is_same<T, bool>::value>> {
    static bool get(const Value &v)
    {
        if (v.kind != BIND_BOOL && v.kind != BIND_INT) wrong_type("bool");
        return v.i != 0;
    }
};
template <class T>
struct From<T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value>> {
    static T get(const Value &v)
    {
        if (v.kind == BIND_TENSOR) return v.tensor.item<T>();
        if (v.kind != BIND_INT && v.kind != BIND_BOOL) wrong_type("int");
        return static_cast<T>(v.i);
    }
};
template <class T> struct From<T, std::enable_if_t<std::is_floating_point<T>::value>> {
    static T get(const Value &v)
    {
        if (v.kind == BIND_TENSOR) return v.tensor.item<T>();
        if (v.kind != BIND_FLOAT && v.kind != BIND_INT && v.kind != BIND_BOOL) wrong_type("float");
        return static_cast<T>(v.kind == BIND_FLOAT ? v.f : static_cast<double>(v.i));
    }
};
template <> struct From<c10::Scalar> {
    static c10::Scalar get(const Value &v)
    {
        if (v.kind == BIND_FLOAT) return c10::Scalar(v.f);
        if (v.kind == BIND_BOOL) return c10::Scalar(v.i != 0);
        if (v.kind != BIND_INT) wrong_type("number");
        return c10::Scalar(v.i);
    }
};
template <> struct From<std::string> {
    static std::string get(const Value &v)
    {
        if (v.kind != BIND_TEXT) wrong_type("str");
        return v.text;
    }
};
template <> struct From<c10::ScalarType> {
    static c10::ScalarType get(const Value &v) { return static_cast<c10::ScalarType>(v.i); }
};
template <class T> struct From<std::vector<T>> {
    static std::vector<T> get(const Value &v)
    {
        std::vector<T> all;
        if (v.kind != BIND_LIST) wrong_type("list");
        for (const Value &item : v.list) all.push_back(From<T>::get(item));
        return all;
    }
};
template <class T, size_t N> struct From<std::array<T, N>> {
    static std::array<T, N> get(const Value &v)
    {
        std::array<T, N> all{};
        if (v.kind != BIND_LIST || v.list.size() != N) wrong_type("list of another length");
        for (size_t i = 0; i < N; i++) all[i] = From<T>::get(v.list[i]);
        return all;
    }
};
template <class T> struct From<std::optional<T>> {
    static std::optional<T> get(const Value &v)
    {
        if (v.kind == BIND_NONE) return std::nullopt;
        return From<T>::get(v);
    }
};

/* What holds an argument while the call runs: views need something behind them. */
template <class P> struct Held {
    std::decay_t<P> value;
    explicit Held(const Value &v) : value(From<std::decay_t<P>>::get(v)) {}
    std::decay_t<P> &get() { return value; }
};
template <class T> struct HeldList {
    std::vector<T> value;
    c10::ArrayRef<T> view;
    explicit HeldList(const Value &v) : value(From<std::vector<T>>::get(v)), view(value) {}
    c10::ArrayRef<T> &get() { return view; }
};
template <class T> struct Held<c10::ArrayRef<T>> : HeldList<T> { using HeldList<T>::HeldList; };
template <class T> struct Held<const c10::ArrayRef<T> &> : HeldList<T> { using HeldList<T>::HeldList; };
struct HeldView {
    std::string value;
    std::string_view view;
    explicit HeldView(const Value &v) : value(From<std::string>::get(v)), view(value) {}
    std::string_view &get() { return view; }
};
template <> struct Held<std::string_view> : HeldView { using HeldView::HeldView; };
template <> struct Held<const char *> {
    std::string value;
    const char *view;
    explicit Held(const Value &v) : value(From<std::string>::get(v)), view(value.c_str()) {}
    const char *&get() { return view; }
};

/* --- C++ to values --------------------------------------------------------------------------- */

inline void put_value(const at::Tensor &t) { put_tensor(t); }
inline void put_value(bool v)
{
    put_u8(BIND_BOOL);
    put_u8(v);
}
template <class T>
inline std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value> put_value(T v)
{
    put_u8(BIND_INT);
    put_i64(static_cast<int64_t>(v));
}
template <class T> inline std::enable_if_t<std::is_floating_point<T>::value> put_value(T v)
{
    put_u8(BIND_FLOAT);
    put_f64(static_cast<double>(v));
}
template <class T> inline std::enable_if_t<std::is_enum<T>::value> put_value(T v)
{
    put_value(static_cast<int64_t>(v));
}
inline void put_value(const char *text)
{
    put_u8(BIND_TEXT);
    put_text(text);
}
inline void put_value(const std::string &text)
{
    put_u8(BIND_TEXT);
    put_bytes(text.data(), text.size());
}
inline void put_value(std::string_view text) { put_value(std::string(text)); }
inline void put_value(std::nullptr_t) { put_u8(BIND_NONE); }
inline void put_value(std::nullopt_t) { put_u8(BIND_NONE); }
inline void put_value(const c10::Scalar &s)
{
    if (s.isFloatingPoint()) return put_value(s.toDouble());
    if (s.isBoolean()) return put_value(s.toBool());
    put_value(s.toLong());
}
template <class T> inline void put_value(const std::optional<T> &v);
template <class T> inline void put_value(const std::vector<T> &v);
template <class T> inline void put_value(c10::ArrayRef<T> v)
{
    put_u8(BIND_LIST);
    put_u32(static_cast<uint32_t>(v.size()));
    for (const T &item : v) put_value(item);
}
template <class T> inline void put_value(const std::vector<T> &v)
{
    put_u8(BIND_LIST);
    put_u32(static_cast<uint32_t>(v.size()));
    for (const T &item : v) put_value(item);
}
template <class T, size_t N> inline void put_value(const std::array<T, N> &v) { put_value(c10::ArrayRef<T>(v)); }
template <class T> inline void put_value(const std::optional<T> &v)
{
    if (v.has_value()) put_value(*v);
    else put_u8(BIND_NONE);
}
template <class... T> inline void put_value(const std::tuple<T...> &v)
{
    put_u8(BIND_LIST);
    put_u32(sizeof...(T));
    std::apply([](const T &...item) { (put_value(item), ...); }, v);
}
template <class A, class B> inline void put_value(const std::pair<A, B> &v)
{
    put_value(std::tuple<A, B>(v.first, v.second));
}

/* --- calling --------------------------------------------------------------------------------- */

template <class R, class... P, class F, size_t... I>
inline void call_with(const F &f, const std::vector<Value> &args, std::index_sequence<I...>)
{
    std::tuple<Held<P>...> held{Held<P>(args[I])...};
    if constexpr (std::is_void<R>::value) {
        f(std::get<I>(held).get()...);
        put_u8(BIND_DONE);
        put_u8(BIND_NONE);
    } else {
        auto &&result = f(std::get<I>(held).get()...);
        put_u8(BIND_DONE);
        put_value(result);
    }
}

template <class R, class... P, class F> inline Function make_function(const char *name, F f)
{
    Function made;
    made.name = name;
    made.arity = sizeof...(P);
    made.call = [f](const std::vector<Value> &args) {
        call_with<R, P...>(f, args, std::index_sequence_for<P...>());
    };
    return made;
}
template <class R, class... P> inline Function function_of(const char *name, R (*f)(P...))
{
    return make_function<R, P...>(name, f);
}
template <class F, class R, class... P>
inline Function method_of(const char *name, F f, R (F::*)(P...) const)
{
    return make_function<R, P...>(name, f);
}
template <class F> inline Function function_of(const char *name, F f)
{
    return method_of(name, f, &F::operator());
}

}  // namespace bind
}  // namespace acraft

/* --- pybind11 -------------------------------------------------------------------------------- */

namespace pybind11 {

struct arg_v {
    std::string name;
    acraft::bind::Value value;
};
struct arg {
    const char *name;
    constexpr explicit arg(const char *n) : name(n) {}
    arg &noconvert(bool = true) { return *this; }
    template <class T> arg_v operator=(const T &v) const
    {
        arg_v made{name, {}};
        acraft::bind::Value &to = made.value;
        if constexpr (std::is_same<T, bool>::value) {
            to.kind = BIND_BOOL;
            to.i = v;
        } else if constexpr (std::is_integral<T>::value) {
            to.kind = BIND_INT;
            to.i = static_cast<int64_t>(v);
        } else if constexpr (std::is_floating_point<T>::value) {
            to.kind = BIND_FLOAT;
            to.f = static_cast<double>(v);
        } else if constexpr (std::is_convertible<T, std::string>::value) {
            to.kind = BIND_TEXT;
            to.text = v;
        }
        return made;
    }
};
struct none {};
struct kw_only {};
template <class... T> struct call_guard {};
struct gil_scoped_release {};
struct return_value_policy {};

struct Ignored {
    template <class T> Ignored &operator=(const T &) { return *this; }
};

class module_ {
public:
    template <class F, class... Extra> module_ &def(const char *name, F f, const Extra &...extra)
    {
        acraft::bind::Function made = acraft::bind::function_of(name, f);
        (note(made, extra), ...);
        acraft::bind::add_function(std::move(made));
        return *this;
    }
    Ignored doc() { return {}; }
    Ignored attr(const char *) { return {}; }

private:
    template <class T> static void note(acraft::bind::Function &, const T &) {}
    static void note(acraft::bind::Function &f, const arg &a) { f.parameters.push_back({a.name, false, {}}); }
    static void note(acraft::bind::Function &f, const arg_v &a) { f.parameters.push_back({a.name, true, a.value}); }
};
using module = module_;

namespace literals {
constexpr arg operator"" _a(const char *name, size_t) { return arg(name); }
}  // namespace literals

}  // namespace pybind11
namespace py = pybind11;

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME custom_ops_lib
#endif
#define ACRAFT_JOIN_(a, b) a##b
#define ACRAFT_JOIN(a, b) ACRAFT_JOIN_(a, b)
/* A body that runs before main, with a module or library of its own. */
#define ACRAFT_AT_START(body, type, variable)                                                      \
    static void body(type &);                                                                      \
    namespace {                                                                                    \
    struct ACRAFT_JOIN(body, _run) {                                                               \
        ACRAFT_JOIN(body, _run)()                                                                  \
        {                                                                                          \
            type made;                                                                             \
            body(made);                                                                            \
        }                                                                                          \
    } ACRAFT_JOIN(body, _instance);                                                                \
    }                                                                                              \
    static void body([[maybe_unused]] type &variable)
#define PYBIND11_MODULE(name, variable)                                                            \
    ACRAFT_AT_START(ACRAFT_JOIN(acraft_module_, __COUNTER__), pybind11::module_, variable)

/* --- TORCH_LIBRARY --------------------------------------------------------------------------- */

namespace torch {

class Library {
public:
    template <class F> Library &impl(const char *name, F f)
    {
        if (for_device_) acraft::bind::add_function(acraft::bind::function_of(name, f));
        return *this;
    }
    template <class F> Library &def(const char *schema, F f)
    {
        std::string name(schema);
        return impl(name.substr(0, name.find('(')).c_str(), f);
    }
    Library &def(const char *) { return *this; }

protected:
    bool for_device_ = true;
};

/* Tensors here are on the device: what is registered for others (Meta: shapes alone) is compiled and not called. */
constexpr bool is_for_device(std::string_view key) { return key != "Meta" && key != "CPU"; }
template <bool device> struct LibraryFor : Library {
    LibraryFor() { for_device_ = device; }
};

namespace autograd {
struct AutogradContext;
using variable_list = std::vector<at::Tensor>;
template <class T> struct Function {
    template <class... A> static auto apply(A &&...args)
    {
        return T::forward(static_cast<AutogradContext *>(nullptr), std::forward<A>(args)...);
    }
};
}  // namespace autograd

}  // namespace torch

#define TORCH_FN(f) (&f)
#define TORCH_LIBRARY(space, variable)                                                             \
    ACRAFT_AT_START(ACRAFT_JOIN(acraft_library_, __COUNTER__), torch::Library, variable)
#define TORCH_LIBRARY_IMPL(space, key, variable)                                                   \
    ACRAFT_AT_START(ACRAFT_JOIN(acraft_library_, __COUNTER__),                                     \
                    torch::LibraryFor<torch::is_for_device(#key)>, variable)
#define TORCH_LIBRARY_FRAGMENT(space, variable) TORCH_LIBRARY(space, variable)

#endif
