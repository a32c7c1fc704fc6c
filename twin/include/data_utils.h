/* The helpers that sample programs read inputs and write outputs with. Inputs come from the tool in
 * the order in which they are first read; what is written goes back to it. */
#pragma once
#include "acraft/bind/acl.h"
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

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
/* Seconds between two readings of a clock. */
template <class T> inline double ReportTime(const T &start, const T &end)
{
    return std::chrono::duration<double>(end - start).count();
}
#define INFO_LOG(fmt, ...) fprintf(stdout, "[INFO]  " fmt "\n", ##__VA_ARGS__)
#define WARN_LOG(fmt, ...) fprintf(stdout, "[WARN]  " fmt "\n", ##__VA_ARGS__)
#define ERROR_LOG(fmt, ...) fprintf(stdout, "[ERROR]  " fmt "\n", ##__VA_ARGS__)
#define CHECK_ACL(x) ((void)(x))
