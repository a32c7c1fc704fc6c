/* The helpers that sample programs read inputs and write outputs with. Inputs come from the tool in
 * the order in which they are first read; what is written goes back to it. */
#pragma once
#include "acraft/bind/acl.h"
#include <cstdio>
#include <string>

inline bool ReadFile(const std::string &path, size_t &size, void *buffer, size_t most)
{
    size = acraft::bind::read_file(path.c_str(), buffer, most);
    return size > 0;
}
inline bool ReadFile(const std::string &path, size_t size, void *buffer, size_t most)
{
    return acraft::bind::read_file(path.c_str(), buffer, most < size ? most : size) > 0;
}
inline bool WriteFile(const std::string &path, const void *buffer, size_t size)
{
    using namespace acraft::bind;
    put_u8(BIND_OUTPUT);
    put_text(path.c_str());
    put_bytes(buffer, size);
    return true;
}
#define INFO_LOG(fmt, ...) ((void)0)
#define WARN_LOG(fmt, ...) ((void)0)
#define ERROR_LOG(fmt, ...) ((void)0)
#define CHECK_ACL(x) ((void)(x))
