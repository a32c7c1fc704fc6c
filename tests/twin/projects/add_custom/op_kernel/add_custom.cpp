#include "kernel_operator.h"

using namespace AscendC;

/* z = x + y * scale */
class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t perCore, uint32_t tile,
                                float scale)
    {
        this->tile = tile;
        this->scale = scale;
        loops = perCore / tile;
        uint32_t offset = perCore * GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + offset, perCore);
        yGm.SetGlobalBuffer((__gm__ DTYPE_Y *)y + offset, perCore);
        zGm.SetGlobalBuffer((__gm__ DTYPE_Z *)z + offset, perCore);
        pipe.InitBuffer(inX, 2, tile * sizeof(DTYPE_X));
        pipe.InitBuffer(inY, 2, tile * sizeof(DTYPE_Y));
        pipe.InitBuffer(outZ, 2, tile * sizeof(DTYPE_Z));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < loops; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t i)
    {
        LocalTensor<DTYPE_X> a = inX.AllocTensor<DTYPE_X>();
        LocalTensor<DTYPE_Y> b = inY.AllocTensor<DTYPE_Y>();
        DataCopy(a, xGm[i * tile], tile);
        DataCopy(b, yGm[i * tile], tile);
        inX.EnQue(a);
        inY.EnQue(b);
    }
    __aicore__ inline void Compute()
    {
        LocalTensor<DTYPE_X> a = inX.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_Y> b = inY.DeQue<DTYPE_Y>();
        LocalTensor<DTYPE_Z> c = outZ.AllocTensor<DTYPE_Z>();
        Muls(b, b, (DTYPE_Y)scale, tile);
        Add(c, a, b, tile);
        outZ.EnQue(c);
        inX.FreeTensor(a);
        inY.FreeTensor(b);
    }
    __aicore__ inline void CopyOut(uint32_t i)
    {
        LocalTensor<DTYPE_Z> c = outZ.DeQue<DTYPE_Z>();
        DataCopy(zGm[i * tile], c, tile);
        outZ.FreeTensor(c);
    }
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 2> outZ;
    GlobalTensor<DTYPE_X> xGm;
    GlobalTensor<DTYPE_Y> yGm;
    GlobalTensor<DTYPE_Z> zGm;
    uint32_t tile, loops;
    float scale;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace,
                                                 GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    KernelAdd op;
    op.Init(x, y, z, data.perCore, data.tile, data.scale);
    op.Process();
}
