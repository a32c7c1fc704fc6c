#include "data_utils.h"
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
struct AddTiling {
    uint32_t total;
    float scale;
};
__global__ __aicore__ void add_k(GM_ADDR x, GM_ADDR y, GM_ADDR z, AddTiling t)
{
    if (GetBlockIdx() >= 8)
        return;
    uint32_t n = t.total / 8, at = n * GetBlockIdx();
    GlobalTensor<float> a, b, c;
    a.SetGlobalBuffer((__gm__ float *)x + at);
    b.SetGlobalBuffer((__gm__ float *)y + at);
    c.SetGlobalBuffer((__gm__ float *)z + at);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> qa, qb;
    TQue<TPosition::VECOUT, 1> qc;
    pipe.InitBuffer(qa, 1, 8192);
    pipe.InitBuffer(qb, 1, 8192);
    pipe.InitBuffer(qc, 1, 8192);
    LocalTensor<float> u = qa.AllocTensor<float>(), v = qb.AllocTensor<float>(),
                       w = qc.AllocTensor<float>();
    DataCopy(u, a, n);
    DataCopy(v, b, n);
    qa.EnQue(u);
    qb.EnQue(v);
    u = qa.DeQue<float>();
    v = qb.DeQue<float>();
    Add(w, u, v, n);
    qc.EnQue(w);
    w = qc.DeQue<float>();
    DataCopy(c, w, n);
    qa.FreeTensor(u);
    qb.FreeTensor(v);
    qc.FreeTensor(w);
}
int32_t main(int32_t argc, char *argv[])
{
    size_t bytes = 8192 * 4;
    CHECK_ACL(aclInit(nullptr));
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    uint8_t *hx, *hy, *hz, *dx, *dy, *dz;
    aclrtMallocHost((void **)&hx, bytes);
    aclrtMallocHost((void **)&hy, bytes);
    aclrtMallocHost((void **)&hz, bytes);
    aclrtMalloc((void **)&dx, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&dy, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&dz, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    ReadFile("./input/x.bin", bytes, hx, bytes);
    ReadFile("./input/y.bin", bytes, hy, bytes);
    aclrtMemcpy(dx, bytes, hx, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(dy, bytes, hy, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    AddTiling t{8192, 1.0f};
    add_k<<<8, nullptr, stream>>>(dx, dy, dz, t);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(hz, bytes, dz, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    WriteFile("./output/z.bin", hz, bytes);
    return 0;
}
