/* z[i] = x[n - 1 - i] by the scalar unit: elements read, written, and an operator() on each side. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    TPipe pipe;
    TQue<QuePosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, LEN * sizeof(TYPE));
    GlobalTensor<TYPE> xGm, zGm;
    xGm.SetGlobalBuffer((__gm__ TYPE *)gx, LEN);
    zGm.SetGlobalBuffer((__gm__ TYPE *)gz, LEN);
    LocalTensor<TYPE> z = queue.AllocTensor<TYPE>();
    for (int32_t i = 0; i < LEN; i += 2) {
        z.SetValue(i, xGm.GetValue(LEN - 1 - i));
        z(i + 1) = xGm(LEN - 2 - i);
    }
    TEventID id = GetTPipePtr()->AllocEventID<HardEvent::S_MTE3>();
    SetFlag<HardEvent::S_MTE3>(id);
    WaitFlag<HardEvent::S_MTE3>(id);
    GetTPipePtr()->ReleaseEventID<HardEvent::S_MTE3>(id);
    queue.EnQue(z);
    z = queue.DeQue<TYPE>();
    DataCopy(zGm, z, LEN);
    queue.FreeTensor(z);
}
