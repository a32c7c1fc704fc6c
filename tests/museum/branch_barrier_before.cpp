/* A barrier that stands only in a branch is taken to hold after it: when the branch is not taken,
 * Add reads what Duplicate may still be writing. The kernel is built with the compiler's own
 * insertion switched off, hence --strict. Source: tilelang-ascend #1824. The device gives old values
 * now and then.
 * run: --strict --in n=i32[8] --out z=f32[64] */
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void branches(GM_ADDR n, GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 4 * 256);
    LocalTensor<float> a = room.Get<float>();
    LocalTensor<float> b = a[64], c = a[128], d = a[192];
    GlobalTensor<float> zGm;
    zGm.SetGlobalBuffer((__gm__ float *)z, 64);
    Duplicate(a, 1.0f, 64);
    if (n == nullptr) {
        Duplicate(b, 2.0f, 64);
        PipeBarrier<PIPE_V>();
        Add(c, b, b, 64);
    }
    Add(d, a, a, 64); // <-- S053
    PipeBarrier<PIPE_ALL>();
    DataCopy(zGm, d, 64);
}
