/* Offsets computed in 32 bits: right until a tensor has 2^32 elements, where they start again at the
 * front. At small sizes nothing is wrong, with or without values; at full size the run without
 * values refuses it. A pattern of the issue trackers rather than one bug (tilelang-ascend #1263: a
 * stride of 1073741824). The device writes the first rows twice and the last ones never.
 * run: --in x=f16[64,16384] --out y=f16[64,16384] --attr rows=64 --blocks 40
 * run: --time-only --in x=f16[262184,16384] --out y=f16[262184,16384] --attr rows=262184 --blocks 40 */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t N = 16384;

extern "C" __global__ __aicore__ void rows_of(GM_ADDR x, GM_ADDR y, uint32_t rows)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> queue;
    pipe.InitBuffer(queue, 2, N * sizeof(half));
    GlobalTensor<half> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ half *)x);
    yGm.SetGlobalBuffer((__gm__ half *)y);
    for (uint32_t row = GetBlockIdx(); row < rows; row += GetBlockNum()) {
        LocalTensor<half> t = queue.AllocTensor<half>();
        DataCopy(t, xGm[row * N], N);
        queue.EnQue(t);
        t = queue.DeQue<half>();
        DataCopy(yGm[row * N], t, N); // <-- S054 S019
        queue.FreeTensor(t);
    }
}
