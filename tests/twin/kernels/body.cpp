/* Whatever -DBODY says, between the queues of the frame: out, x, y, w and 32 KB of tmp. */
#include "frame.h"

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    Frame<INPUTS> frame(gx, gy, gw, gz);
    frame.Run([](Out out, In x, In y, In w, Tmp tmp) {
        (void)x, (void)y, (void)w, (void)tmp;
        BODY;
    });
}
