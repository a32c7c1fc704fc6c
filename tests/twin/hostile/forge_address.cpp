// A copy that reads and writes far outside every tensor.
// want: not-compiled no AscendC header
// open: hazard
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void attack(GM_ADDR x, GM_ADDR y)
{
    Record r = {};
    r.op = NPU_COPY_UB_GM;
    r.pipe = NPU_PIPE_MTE3;
    r.dtype[0] = r.dtype[1] = NPU_DT_F32;
    r.operand[0].address = rec_address(NPU_GM, 0x7fffffff0000ull);
    r.operand[1].address = rec_address(NPU_UB, 0xfffffffff000ull);
    r.n[0] = 4095;
    r.n[1] = 2000000000;
    *acraft_core.cursor++ = r;
}
