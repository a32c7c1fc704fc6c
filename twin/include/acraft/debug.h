/* printf, PRINTF, DumpTensor, assert: what a kernel says while it runs. Text becomes text records;
 * a dumped tensor is one record, printed by whoever reads the stream. */
#ifndef ACRAFT_DEBUG_H
#define ACRAFT_DEBUG_H

#include "acraft/sys.h"

extern "C" int snprintf(char *, size_t, const char *, ...) noexcept;

namespace acraft {

/* Class types cannot go through "...": 16-bit floats print as the float they are. */
template <typename T> inline T printable(T v) { return v; }
inline float printable(half v) { return v; }
inline float printable(bfloat16_t v) { return v; }
template <typename T, bool g> inline auto printable(const Element<T, g> &v) { return printable(T(v)); }

#ifdef ACRAFT_BINDING /* host code that takes AscendC's names for its own */
extern "C" int printf(const char *, ...);
template <typename... A> inline void print(const char *format, A... args)
{
    if constexpr (sizeof...(A) == 0) printf("%s", format);
    else printf(format, printable(args)...);
}
#else
template <typename... A> inline void print(const char *format, A... args)
{
    char text[2048];
    int n;
    if constexpr (sizeof...(A) == 0) n = snprintf(text, sizeof text, "%s", format);
    else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        n = snprintf(text, sizeof text, format, printable(args)...);
#pragma GCC diagnostic pop
    }
    if (n < 0) return;
    size_t length = size_t(n) < sizeof text ? size_t(n) : sizeof text - 1;
    put_text(REC_TEXT_PRINT, 0, text, length, site_of_last(), last_site.file_id);
}
#endif

inline void dump(const RecordOperand &tensor, uint8_t dtype, uint32_t desc, uint32_t count, const Site &site)
{
    Record &r = put(NPU_DUMP, site);
    r.dtype[1] = dtype;
    r.operand[1] = tensor;
    r.n[0] = count;
    r.n[1] = desc;
}

}  // namespace acraft

#ifndef ACRAFT_BINDING
/* assert of <cassert> in a kernel. */
extern "C" [[noreturn]] inline void __assert_fail(const char *what, const char *file, unsigned line, const char *) noexcept
{
    acraft::print("%s:%u: assertion failed: %s\n", file, line, what);
    AscendC::Trap();
    __builtin_unreachable();
}
#endif
#include <cassert> /* as the vendor's headers do: kernels say assert without it */

namespace AscendC {

template <typename... A> inline void printf(const char *format, A... args) { acraft::print(format, args...); }
template <typename... A> inline void PRINTF(const char *format, A... args) { acraft::print(format, args...); }

template <typename T> inline void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, ACRAFT_SITE)
{
    acraft::dump(tensor.operand(), acraft::dtype_of<T>(), desc, dumpSize, site);
}
template <typename T> inline void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, ACRAFT_SITE)
{
    acraft::dump(tensor.operand(), acraft::dtype_of<T>(), desc, dumpSize, site);
}
template <typename T>
inline void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &, ACRAFT_SITE)
{
    DumpTensor(tensor, desc, dumpSize, site);
}
template <typename T>
inline void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &, ACRAFT_SITE)
{
    DumpTensor(tensor, desc, dumpSize, site);
}
template <typename T, typename P> inline void DumpAccChkPoint(const P &tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize, ACRAFT_SITE)
{
    DumpTensor(tensor[countOff], index, dumpSize, site);
}
inline void PrintTimeStamp(uint32_t) {}
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}

}  // namespace AscendC

#endif
