/* Stands in for the header of this name, which the vendor's operators include on the host. */
#pragma once
#include "log/log.h"
#include "platform/soc_spec.h"
#include "register/op_impl_registry.h"
namespace Ops { namespace NN { namespace OpTiling {
template <class T> bool IsRegbaseSocVersion(const T *) { return false; }
inline bool IsRegbaseNpuArch(NpuArch arch) { return arch == NpuArch::DAV_3510; }
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape)
{
    static const gert::Shape one = {1};
    return shape.IsScalar() ? one : shape;
}
} } }
