/* C = A B on one cube core, 32 x 64 by 64 x 48, A and B half, C float: copies with ND to NZ, loads
 * with and without transposing, one product, fixpipe. A is x, B is the first rows of y. */
#include "frame.h"

constexpr uint16_t M = 32, K = 64, COLS = 48;

extern "C" __global__ __aicore__ void kernel(GM_ADDR gx, GM_ADDR gy, GM_ADDR gw, GM_ADDR gz)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TQue<QuePosition::A1, 1> a1;
    TQue<QuePosition::B1, 1> b1;
    TQue<QuePosition::A2, 1> a2;
    TQue<QuePosition::B2, 1> b2;
    TQue<QuePosition::CO1, 1> c1;
    pipe.InitBuffer(a1, 1, M * K * sizeof(half));
    pipe.InitBuffer(b1, 1, K * COLS * sizeof(half));
    pipe.InitBuffer(a2, 1, M * K * sizeof(half));
    pipe.InitBuffer(b2, 1, K * COLS * sizeof(half));
    pipe.InitBuffer(c1, 1, M * COLS * sizeof(float));
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm;
    aGm.SetGlobalBuffer((__gm__ half *)gx);
    bGm.SetGlobalBuffer((__gm__ half *)gy);
    cGm.SetGlobalBuffer((__gm__ float *)gz);

    LocalTensor<half> la = a1.AllocTensor<half>();
    LocalTensor<half> lb = b1.AllocTensor<half>();
    DataCopy(la, aGm, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(lb, bGm, Nd2NzParams(1, K, COLS, 0, COLS, K, 1, 0));
    a1.EnQue(la);
    b1.EnQue(lb);
    la = a1.DeQue<half>();
    lb = b1.DeQue<half>();

    LocalTensor<half> ra = a2.AllocTensor<half>();
    LocalTensor<half> rb = b2.AllocTensor<half>();
    LoadData2DParams load;
    for (uint16_t i = 0; i < M / 16; i++) {
        load.startIndex = i;
        load.repeatTimes = K / 16;
        load.srcStride = M / 16;
        load.ifTranspose = false;
        LoadData(ra[i * 16 * K], la, load);
    }
    for (uint16_t i = 0; i < K / 16; i++) {
        load.startIndex = i;
        load.repeatTimes = COLS / 16;
        load.srcStride = K / 16;
        load.ifTranspose = true;
        LoadData(rb[i * 16 * COLS], lb, load);
    }
    a2.EnQue(ra);
    b2.EnQue(rb);
    a1.FreeTensor(la);
    b1.FreeTensor(lb);
    ra = a2.DeQue<half>();
    rb = b2.DeQue<half>();

    LocalTensor<float> lc = c1.AllocTensor<float>();
    MmadParams mmad;
    mmad.m = M;
    mmad.n = COLS;
    mmad.k = K;
    Mmad(lc, ra, rb, mmad);
    c1.EnQue(lc);
    a2.FreeTensor(ra);
    b2.FreeTensor(rb);
    lc = c1.DeQue<float>();
    FixpipeParamsV220 fix;
    fix.nSize = COLS;
    fix.mSize = M;
    fix.srcStride = M;
    fix.dstStride = COLS;
    Fixpipe(cGm, lc, fix);
    c1.FreeTensor(lc);
}
