/* The operator library's log calls: only the first error is kept, to be reported with the verdict, but their
 * conditions and what follows from them hold. The first argument of each names the operator. */
#pragma once
#include "toolchain/slog.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

template <typename... Words> inline void acraft_ops_log(const Words &...) {}

inline std::string &acraft_ops_first_error()
{
    static std::string text;
    return text;
}

inline const char *acraft_ops_word(const std::string &text) { return text.c_str(); }
template <typename T> inline auto acraft_ops_word(const T &word)
{
    if constexpr (std::is_array_v<T>) return &word[0];
    else if constexpr (std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_enum_v<T>) return word;
    else return "?";
}

inline void acraft_ops_keep(const char *text)
{
    if (acraft_ops_first_error().empty()) acraft_ops_first_error() = text;
}

template <typename Name, typename... Words> inline void acraft_ops_error(const Name &, const char *format, const Words &...words)
{
    char text[200];
    std::snprintf(text, sizeof text, format, acraft_ops_word(words)...);
    acraft_ops_keep(text);
}
template <typename Name> inline void acraft_ops_error(const Name &, const std::string &text) { acraft_ops_keep(text.c_str()); }

template <typename Name> inline void acraft_ops_error(const Name &) {}

/* "bad shape: x, [3], [4]" */
inline std::string acraft_ops_text(const std::string &word) { return word; }
inline std::string acraft_ops_text(const char *word) { return word ? word : "?"; }
template <typename T> inline auto acraft_ops_text(const T &word) -> std::enable_if_t<std::is_arithmetic_v<T>, std::string>
{
    return std::to_string(word);
}
template <typename Name, typename... Words> inline void acraft_ops_invalid(const char *what, const Name &, const Words &...words)
{
    std::string text = std::string("bad ") + what;
    const char *between = ": ";
    ((text += between + acraft_ops_text(words), between = ", "), ...);
    acraft_ops_keep(text.c_str());
}

#define OPS_LOG_D(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_I(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_W(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_E(name, ...) acraft_ops_error(name, __VA_ARGS__)
#define OPS_LOG_E_WITHOUT_REPORT(name, ...) acraft_ops_error(name, __VA_ARGS__)
#define OPS_LOG_EVENT(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_FULL(level, name, ...) acraft_ops_log(level, name, __VA_ARGS__)
#define OPS_LOG_D_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_I_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_W_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)

/* Say something and do something, if. */
#define OPS_CHECK(condition, say, act) \
    do {                               \
        if (condition) {               \
            say;                       \
            act;                       \
        }                              \
    } while (0)
#define OPS_LOG_D_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_D(name, __VA_ARGS__), act)
#define OPS_LOG_I_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_I(name, __VA_ARGS__), act)
#define OPS_LOG_W_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_W(name, __VA_ARGS__), act)
#define OPS_LOG_E_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_E(name, __VA_ARGS__), act)
#define OPS_LOG_EVENT_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_EVENT(name, __VA_ARGS__), act)
#define OPS_LOG_E_IF_NULL(name, pointer, act) OPS_CHECK((pointer) == nullptr, (void)0, act)
