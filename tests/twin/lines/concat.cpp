/* z = [x | y] along the columns: every core moves its rows of both, through one queue from GM to GM. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t LEFT = 48, RIGHT = 80, BOTH = LEFT + RIGHT, AT_ONCE = 16;

class Beside {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> bind;
    GlobalTensor<float> x, y, z;
    uint32_t from, to;

    __aicore__ inline void Part(const GlobalTensor<float> &src, uint32_t width, uint32_t column,
                                uint32_t row, uint32_t rows)
    {
        LocalTensor<float> t = bind.AllocTensor<float>();
        DataCopy(t, src[row * width], rows * width);
        bind.EnQue(t);
        t = bind.DeQue<float>();
        DataCopyParams rowsOut;
        rowsOut.blockCount = rows;
        rowsOut.blockLen = width / 8;
        rowsOut.srcStride = 0;
        rowsOut.dstStride = (BOTH - width) / 8;
        DataCopy(z[row * BOTH + column], t, rowsOut);
        bind.FreeTensor(t);
    }

public:
    __aicore__ inline void Init(__gm__ uint8_t *px, __gm__ uint8_t *py, __gm__ uint8_t *pz,
                                uint32_t rows)
    {
        uint32_t share = (rows + GetBlockNum() - 1) / GetBlockNum();
        from = GetBlockIdx() * share;
        to = from + share < rows ? from + share : rows;
        x.SetGlobalBuffer((__gm__ float *)px, rows * LEFT);
        y.SetGlobalBuffer((__gm__ float *)py, rows * RIGHT);
        z.SetGlobalBuffer((__gm__ float *)pz, rows * BOTH);
        pipe.InitBuffer(bind, 2, AT_ONCE * RIGHT * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = from; row < to; row += AT_ONCE) {
            uint32_t rows = to - row > AT_ONCE ? AT_ONCE : to - row;
            Part(x, LEFT, 0, row, rows);
            Part(y, RIGHT, LEFT, row, rows);
        }
    }
};

extern "C" __global__ __aicore__ void concat(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows)
{
    Beside op;
    op.Init(x, y, z, rows);
    op.Process();
}
