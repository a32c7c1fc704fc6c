/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
namespace Ops { namespace Base {
template <class T> T FloorDiv(T x, T y) { return y == 0 ? x : x / y; }
template <class T> T FloorAlign(T x, T y) { return y == 0 ? 0 : x / y * y; }
template <class T> T CeilDiv(T x, T y) { return y == 0 ? x : x / y + (x % y != 0); }
template <class T> T CeilAlign(T x, T y) { return y == 0 ? 0 : CeilDiv(x, y) * y; }
} }
