/* Names that compile only as far as a message: what Atlas A2 lacks, and what we lack. Variadic
 * templates, so that any call and any explicit arguments find them last. */
#ifndef ACRAFT_REFUSED_H
#define ACRAFT_REFUSED_H

#include "acraft/fold.h"
#include "acraft/math_more.h"
#include "acraft/norm_grad.h"
#include "acraft/rearrange.h"
#include "acraft/softmax_flash.h"
#include "acraft/transdata.h"

namespace acraft {
template <typename...> constexpr bool never = false;
}

namespace AscendC {
#define UNSUPPORTED(NAME)                                                                          \
    template <typename... Explicit, typename... Args> inline void NAME(const Args &...)            \
    {                                                                                              \
        static_assert(acraft::never<Args...>, "acraft-unsupported: " #NAME);                       \
    }
#include "acraft/unsupported.def"
#undef UNSUPPORTED
#define UNSUPPORTED_TYPE(NAME)                                                                     \
    template <auto... Values> struct NAME {                                                        \
        static_assert(sizeof...(Values) > 999, "acraft-unsupported: " #NAME);                      \
    };
UNSUPPORTED_TYPE(Hccl)
#undef UNSUPPORTED_TYPE
#define ABSENT(NAME)                                                                               \
    template <typename... Explicit, typename... Args> inline void NAME(const Args &...)            \
    {                                                                                              \
        static_assert(acraft::never<Args...>, "acraft: " #NAME " does not exist on Atlas A2");     \
    }
#include "acraft/absent.def"
#undef ABSENT
}  // namespace AscendC

#define EXTERN_IMPL_BUFPOOL(...) static_assert(false, "acraft-unsupported: EXTERN_IMPL_BUFPOOL")

#endif
