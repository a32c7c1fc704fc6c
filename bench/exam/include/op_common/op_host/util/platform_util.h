/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include "log/log.h"
#include "platform/soc_spec.h"
namespace Ops { namespace Base {
template <class T> uint32_t GetUbBlockSize(const T *) { return 32; }
template <class T> uint32_t GetVRegSize(const T *) { return 256; }
template <class T> uint32_t GetCacheLineSize(const T *) { return 128; }
} }
