/* torch_npu as bindings use it: operators by aclnn name, streams, guards. */
#ifndef ACRAFT_BIND_NPU_H
#define ACRAFT_BIND_NPU_H

#include "acraft/bind/acl.h"
#include "acraft/bind/launch.h"
#include "acraft/bind/python.h"

namespace acraft {
namespace bind {

/* aclIntArray and its kin: a list that an aclnn function takes by pointer. */
template <class T> struct AclArray {
    std::vector<T> items;
};
template <class T> inline void put_value(const AclArray<T> *v) { put_value(v->items); }
template <class T> inline void put_value(AclArray<T> *v) { put_value(v->items); }

template <class... A> inline void run_operator(const char *name, const A &...args)
{
    put_u8(BIND_OPERATOR);
    put_text(name);
    put_u32(sizeof...(A));
    (put_value(args), ...);
}

}  // namespace bind
}  // namespace acraft

using aclIntArray = acraft::bind::AclArray<int64_t>;
using aclFloatArray = acraft::bind::AclArray<float>;
inline aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) { return new aclIntArray{{value, value + size}}; }
inline aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    return new aclFloatArray{{value, value + size}};
}
inline int aclDestroyIntArray(const aclIntArray *v) { return delete v, 0; }
inline int aclDestroyFloatArray(const aclFloatArray *v) { return delete v, 0; }
inline aclIntArray *ConvertType(const at::IntArrayRef &v) { return new aclIntArray{{v.begin(), v.end()}}; }

#define EXEC_NPU_CMD(api, ...) acraft::bind::run_operator(#api, ##__VA_ARGS__)
#define EXEC_NPU_NO_FORMAT_CHECK_CMD(api, ...) EXEC_NPU_CMD(api, ##__VA_ARGS__)

namespace c10_npu {
struct NPUStream {
    aclrtStream stream(bool = true) const { return nullptr; }
    operator aclrtStream() const { return nullptr; }
    int64_t id() const { return 0; }
};
inline NPUStream getCurrentNPUStream(int = -1) { return {}; }
inline NPUStream getDefaultNPUStream(int = -1) { return {}; }
inline int current_device() { return 0; }
struct NPUGuard {
    template <class T> explicit NPUGuard(const T &) {}
};
struct OptionalNPUGuard {
    OptionalNPUGuard() = default;
    template <class T> explicit OptionalNPUGuard(const T &) {}
};
}  // namespace c10_npu

/* NPUKernelBench's helpers. A scalar input of an operator is a tensor of one element here too. */
inline at::Tensor ConvertTensorToAclScaler(const at::Tensor &t) { return t; }
inline at::Scalar ConvertTensorToScalar(const at::Tensor &t) { return t.item(); }

namespace at_npu {
namespace native {
class OpCommand {
public:
    OpCommand &Name(const std::string &name)
    {
        name_ = name;
        return *this;
    }
    OpCommand &Input(const at::Tensor &t)
    {
        tensors_.push_back(t);
        return *this;
    }
    OpCommand &Output(at::Tensor &t)
    {
        tensors_.push_back(t);
        return *this;
    }
    template <class... A> OpCommand &Attr(A &&...) { return *this; }
    OpCommand &SetCustomHandler(std::function<int()> f)
    {
        handler_ = std::move(f);
        return *this;
    }
    void Run()
    {
        if (handler_) handler_();
        else acraft::bind::run_operator(("aclnn" + name_).c_str(), tensors_);
    }
    static void RunOpApi(const std::string &, const std::function<int()> &f, bool = false) { f(); }
    static void RunOpApiV2(const std::string &, const std::function<int()> &f, bool = false) { f(); }

private:
    std::string name_;
    std::vector<at::Tensor> tensors_;
    std::function<int()> handler_;
};
inline at::Tensor empty_with_format(at::IntArrayRef sizes, at::TensorOptions o, ...) { return at::empty(sizes, o); }
}  // namespace native
}  // namespace at_npu

#endif
