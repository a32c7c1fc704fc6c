/* Files of sample programs: inputs come from the tool in the order in which they are first read; what
 * is written goes back to it. */
#ifndef ACRAFT_BIND_FILES_H
#define ACRAFT_BIND_FILES_H

#include "acraft/bind/acl.h"
#include <string>
#include <type_traits>

/* The samples pass the size by value or by reference. */
template <class S> inline bool ReadFile(const std::string &path, S &&size, void *buffer, size_t most)
{
    size_t got = acraft::bind::read_file(path.c_str(), buffer, most);
    if constexpr (!std::is_const<std::remove_reference_t<S>>::value && std::is_lvalue_reference<S>::value)
        size = static_cast<std::decay_t<S>>(got);
    return got > 0;
}
inline bool WriteFile(const std::string &path, const void *buffer, size_t size)
{
    using namespace acraft::bind;
    put_u8(BIND_OUTPUT);
    put_text(path.c_str());
    put_bytes(buffer, size);
    return true;
}

#endif
