/* What host code of a binding reports, and through which functions (twin/rt/bind_rt.cpp). In a
 * kernel's own compilation host code comes along but never runs: there the functions are empty. */
#ifndef ACRAFT_BIND_RUNTIME_H
#define ACRAFT_BIND_RUNTIME_H

#include "twin/rt/bind_share.h"

#include <cstddef>
#include <cstdint>

namespace acraft {
namespace bind {

#ifdef ACRAFT_BINDING
void put(const void *bytes, size_t count); /* appends to the events */
uint64_t alloc(uint64_t bytes);            /* a new address of device memory */
void read(uint64_t address, uint64_t bytes, void *to);
size_t read_file(const char *path, void *to, size_t most);
[[noreturn]] void fail(const char *text);
[[noreturn]] void unsupported(const char *name);
#else
inline void put(const void *, size_t) {}
inline uint64_t alloc(uint64_t) { return 0; }
inline void read(uint64_t, uint64_t, void *) {}
inline size_t read_file(const char *, void *, size_t) { return 0; }
[[noreturn]] inline void fail(const char *) { __builtin_trap(); }
[[noreturn]] inline void unsupported(const char *) { __builtin_trap(); }
#endif

inline void put_u8(uint8_t v) { put(&v, sizeof v); }
inline void put_u32(uint32_t v) { put(&v, sizeof v); }
inline void put_u64(uint64_t v) { put(&v, sizeof v); }
inline void put_i64(int64_t v) { put(&v, sizeof v); }
inline void put_f64(double v) { put(&v, sizeof v); }
inline void put_bytes(const void *at, size_t count)
{
    put_u32(static_cast<uint32_t>(count));
    put(at, count);
}
inline size_t text_length(const char *s)
{
    size_t n = 0;
    while (s && s[n]) n++;
    return n;
}
inline void put_text(const char *s) { put_bytes(s, text_length(s)); }

}  // namespace bind
}  // namespace acraft

#endif
