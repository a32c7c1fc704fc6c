/* What a kernel prints: both spellings of printf, tensors with and without a shape, a check point. */
#include "kernel_operator.h"
#include "utils/debug/asc_dump.h"
#include "utils/debug/asc_printf.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gz)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 64 * sizeof(float));
    GlobalTensor<float> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)gx, 64);
    zGm.SetGlobalBuffer((__gm__ float *)gz, 64);
    LocalTensor<float> t = queue.AllocTensor<float>();
    DataCopy(t, xGm, 64);
    queue.EnQue(t);
    t = queue.DeQue<float>();
    PRINTF("core %d: %u elements, %f and %f\n", int32_t(GetBlockIdx()), t.GetSize(), half(1.5f), bfloat16_t(2.5f));
    AscendC::printf("a line without values\n");
    DumpTensor(t, 1, 8);
    DumpTensor(xGm, 2, 8);
    const uint32_t dims[] = {2, 4};
    DumpTensor(t, 3, 8, ShapeInfo(2, dims));
    DumpAccChkPoint<float>(t, 4, 60, 4);
    asc_dump_gm<float>((__gm__ float *)gx + 40, 5, 4);
    asc_dump_ubuf((__ubuf__ float *)t.GetPhyAddr(), 6, 4);
    DataCopy(zGm, t, 64);
    queue.FreeTensor(t);
    pipe.DestroyWithoutPipeAll();
}
