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
inline errno_t memmove_s(void *to, size_t room, const void *from, size_t n)
{
    if (!to || !from || n > room) return 34;
    std::memmove(to, from, n);
    return EOK;
}
inline errno_t memset_s(void *to, size_t room, int value, size_t n)
{
    if (!to || n > room) return 34;
    std::memset(to, value, n);
    return EOK;
}
inline errno_t strncpy_s(char *to, size_t room, const char *from, size_t n)
{
    if (!to || !from || !room) return 22;
    size_t len = strnlen(from, n);
    to[0] = 0;
    if (len >= room) return 34;
    std::memcpy(to, from, len);
    to[len] = 0;
    return EOK;
}
inline errno_t strcpy_s(char *to, size_t room, const char *from) { return strncpy_s(to, room, from, SIZE_MAX); }
inline errno_t strcat_s(char *to, size_t room, const char *from)
{
    size_t len = to ? strnlen(to, room) : room;
    return len < room ? strcpy_s(to + len, room - len, from) : 22;
}
/* What does not fit is an error: -1, and an empty string. */
inline int vsnprintf_s(char *to, size_t room, size_t most, const char *format, va_list args)
{
    if (!to || !room || !format) return -1;
    size_t space = most < room ? most + 1 : room;
    int n = std::vsnprintf(to, space, format, args);
    if (n >= 0 && size_t(n) < space) return n;
    if (space == room || n < 0) to[0] = 0; /* cut short on request: the text stays */
    return -1;
}
inline int snprintf_s(char *to, size_t room, size_t most, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf_s(to, room, most, format, args);
    va_end(args);
    return n;
}
inline int sprintf_s(char *to, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf_s(to, room, room, format, args);
    va_end(args);
    return n;
}
