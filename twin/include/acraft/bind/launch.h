/* A kernel launch in host code: name<<<blocks, l2, stream>>>(args), rewritten by the tool to
 * ACRAFT_START(full name, decltype(&name), blocks, l2, stream)(args), becomes an event. */
#ifndef ACRAFT_BIND_LAUNCH_H
#define ACRAFT_BIND_LAUNCH_H

#include "acraft/bind/runtime.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <type_traits>
#include <typeinfo>

namespace acraft {
namespace bind {

template <class T> inline void put_kernel_arg(T value)
{
    if constexpr (std::is_pointer<T>::value) {
        put_u8('p');
        put_u64(reinterpret_cast<uint64_t>(value));
    } else if constexpr (std::is_null_pointer<T>::value) {
        put_u8('p');
        put_u64(0);
    } else {
        put_u8('v');
        put_bytes(&value, sizeof value);
    }
}

inline void put_start(const char *name, uint32_t blocks, uint32_t count)
{
    put_u8(BIND_KERNEL);
    put_text(name);
    put_u32(blocks);
    put_u32(count);
}

/* A function that nobody declared here: arguments go as they are. */
template <class F> struct Start {
    const char *name;
    uint32_t blocks;
    template <class... A> void operator()(A... args) const
    {
        put_start(name, blocks, sizeof...(A));
        (put_kernel_arg(args), ...);
    }
};

/* Arguments are converted as a call would. */
template <class... P> struct Start<void (*)(P...)> {
    const char *name;
    uint32_t blocks;
    void operator()(std::decay_t<P>... args) const
    {
        put_start(name, blocks, sizeof...(P));
        (put_kernel_arg(args), ...);
    }
};

template <class F, class B, class... Rest> inline Start<F> start(const char *name, B blocks, Rest &&...)
{
    return {name, static_cast<uint32_t>(blocks)};
}

/* What the compiler calls a template argument: the text after "X = " up to "]" or ";". */
inline void copy_spelling(const char *text, char *to, size_t most)
{
    size_t n = 0, depth = 0;
    while (*text && !(text[0] == 'X' && text[1] == ' ' && text[2] == '=')) text++;
    text += *text ? 3 : 0;
    while (*text == ' ' || *text == '&') text++;
    for (; *text && n + 1 < most; text++) {
        if (!depth && (*text == ']' || *text == ';')) break;
        depth += *text == '[' || *text == '(';
        depth -= *text == ']' || *text == ')';
        to[n++] = *text;
    }
    to[n] = 0;
}

/* A kernel by its full name, a type or a value as template argument. */
template <auto X> inline const char *name_of()
{
    static char name[512];
    copy_spelling(__PRETTY_FUNCTION__, name, sizeof name);
    return name;
}
template <class X> inline const char *name_of()
{
    static char name[512];
    copy_spelling(__PRETTY_FUNCTION__, name, sizeof name);
    return name;
}

/* A kernel by its address: the symbol's own name has the template arguments, the compiler's spelling may not. */
template <auto X> struct Kernel {};
template <auto X> inline const char *kernel_name()
{
    static char name[2048];
    int failed = 0, depth = 0;
    size_t n = 0;
    char *text = abi::__cxa_demangle(typeid(Kernel<X>).name(), nullptr, nullptr, &failed);
    const char *at = failed || !text ? nullptr : strstr(text, "&(");
    if (at && strncmp(at += 2, "void ", 5) == 0) at += 5;
    for (; at && *at && (depth || *at != '(') && n + 1 < sizeof name; at++) {
        depth += (*at == '<') - (*at == '>');
        name[n++] = *at;
    }
    free(text);
    return n ? name : name_of<X>();
}

/* Some compilers leave the arguments of a function template out of its name. */
template <class... A> inline const char *instance_name(const char *name, A... args)
{
    static char full[2048];
    size_t n = 0;
    bool first = true;
    auto add = [&n](const char *text) {
        for (; *text && n + 4 < sizeof full; text++) full[n++] = *text;
    };
    add(name);
    full[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (full[i] == '<') return full;
    add("<");
    ((add(first ? "" : ", "), add(args), first = false), ...);
    add(">");
    full[n] = 0;
    return full;
}

/* ACLRT_LAUNCH_KERNEL(name)(blocks, stream, args...) */
struct Named {
    const char *name;
    template <class B, class... A> int operator()(B blocks, const void *, A... args) const
    {
        put_start(name, static_cast<uint32_t>(blocks), sizeof...(A));
        (put_kernel_arg(args), ...);
        return 0;
    }
};

}  // namespace bind
}  // namespace acraft

#define ACRAFT_TYPE(...) __VA_ARGS__ /* keeps the commas of template arguments together */
#define ACRAFT_START(name, type, ...) acraft::bind::start<type>(name, __VA_ARGS__)
#define ACLRT_LAUNCH_KERNEL(name) (acraft::bind::Named{#name})

#endif
