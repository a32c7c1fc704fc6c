/* The bounded memory and string calls that operator code takes from the toolkit. */
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

using errno_t = int;
#ifndef EOK
#define EOK 0
#endif

inline errno_t memcpy_s(void *to, size_t room, const void *from, size_t n)
{
    if (!to || !from || n > room) return 34;
    std::memcpy(to, from, n);
    return EOK;
}
inline errno_t memset_s(void *to, size_t room, int value, size_t n)
{
    if (!to || n > room) return 34;
    std::memset(to, value, n);
    return EOK;
}
inline errno_t strcpy_s(char *to, size_t room, const char *from) { return memcpy_s(to, room, from, std::strlen(from) + 1); }
inline int snprintf_s(char *to, size_t room, size_t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = std::vsnprintf(to, room, format, args);
    va_end(args);
    return n;
}
inline int sprintf_s(char *to, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = std::vsnprintf(to, room, format, args);
    va_end(args);
    return n;
}
