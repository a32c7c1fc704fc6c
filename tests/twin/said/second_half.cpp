#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void halves(GM_ADDR x, GM_ADDR y)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> room;
    pipe.InitBuffer(room, 512 * sizeof(half));
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half *)x, 1024);
    gy.SetGlobalBuffer((__gm__ half *)y, 1024);
    LocalTensor<half> a = room.Get<half>();
    LocalTensor<half> low = a[0], high = a[512];
    DataCopy(low, gx, 512);
    DataCopy(high, gx[512], 512);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Adds(high, high, (half)1, 512);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(gy, low, 512);
    DataCopy(gy[512], high, 512);
}
