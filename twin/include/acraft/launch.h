/* How the tool calls a kernel entry whose parameter list it does not know: a trampoline file that
 * includes the kernel and then says ACRAFT_ENTRY(name). */
#ifndef ACRAFT_LAUNCH_H
#define ACRAFT_LAUNCH_H

#include "acraft/core.h"

#include <cstring>
#include <tuple>
#include <type_traits>

namespace acraft {

template <typename P> inline P launch_arg(const AcraftArg &arg)
{
    using V = std::remove_cv_t<std::remove_reference_t<P>>;
    if constexpr (std::is_pointer<V>::value) {
        return reinterpret_cast<V>(static_cast<uintptr_t>(arg.value));
    } else {
        V value;
        std::memset(static_cast<void *>(&value), 0, sizeof value);
        const void *from = arg.data ? arg.data : static_cast<const void *>(&arg.value);
        size_t bytes = arg.data ? arg.bytes : sizeof arg.value;
        std::memcpy(static_cast<void *>(&value), from, bytes < sizeof value ? bytes : sizeof value);
        return value;
    }
}

template <typename... P, size_t... I>
inline void launch(void (*entry)(P...), const AcraftArg *args, std::index_sequence<I...>)
{
    entry(launch_arg<P>(args[I])...);
}

template <typename... P> inline int launch(void (*entry)(P...), const AcraftArg *args, int count)
{
    if (args && count >= int(sizeof...(P))) launch(entry, args, std::index_sequence_for<P...>());
    return int(sizeof...(P));
}

}  // namespace acraft

#define ACRAFT_ENTRY(...)                                                                          \
    extern "C" int acraft_entry(const AcraftArg *args, int count)                                  \
    {                                                                                              \
        return acraft::launch(&__VA_ARGS__, args, count);                                            \
    }

#endif
