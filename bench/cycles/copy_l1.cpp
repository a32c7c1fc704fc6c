/* Into L1 as fractals, on cube cores; see copy.h. */
#include "copy.h"

__aicore__ inline void read_tile(const GlobalTensor<half> &from, uint32_t columns)
{
    LocalTensor<half> to(TPosition::A1, 0, 262144);
    Nd2NzParams p;
    p.ndNum = 1;
    p.nValue = TILE_M;
    p.dValue = columns;
    p.srcNdMatrixStride = 0;
    p.srcDValue = COLUMNS;
    p.dstNzC0Stride = (TILE_M + 15) / 16 * 16;
    p.dstNzNStride = 1;
    p.dstNzMatrixStride = 0;
    DataCopy(to, from, p);
}

extern "C" __global__ __aicore__ void copy(GM_ADDR x)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    read_all(x);
}
