/* C = A B on one cube core, 32 x 64 by 64 x 32 halves, with events written by hand. */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint16_t M = 32, K = 64, N = 32;


extern "C" __global__ __aicore__ void matmul_tile(GM_ADDR a, GM_ADDR b, GM_ADDR c)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm;
    aGm.SetGlobalBuffer((__gm__ half *)a, M * K);
    bGm.SetGlobalBuffer((__gm__ half *)b, K * N);
    cGm.SetGlobalBuffer((__gm__ float *)c, M * N);

    LocalTensor<half> a1(TPosition::A1, 0, M * K);
    LocalTensor<half> b1(TPosition::B1, M * K * sizeof(half), K * N);
    LocalTensor<half> a2(TPosition::A2, 0, M * K);
    LocalTensor<half> b2(TPosition::B2, 0, K * N);
    LocalTensor<float> c1(TPosition::CO1, 0, M * N);

    DataCopy(a1, aGm, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, bGm, Nd2NzParams(1, K, N, 0, N, K, 1, 0));
    SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);

    for (uint16_t i = 0; i < M / 16; i++) {
        LoadData2DParams load;
        load.startIndex = i;
        load.repeatTimes = K / 16;
        load.srcStride = M / 16;
        load.ifTranspose = false;
        LoadData(a2[i * 16 * K], a1, load);
    }
    for (uint16_t i = 0; i < K / 16; i++) {
        LoadData2DParams load;
        load.startIndex = i;
        load.repeatTimes = N / 16;
        load.srcStride = K / 16;
        load.ifTranspose = true;
        LoadData(b2[i * 16 * N], b1, load);
    }
    SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
    WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);

    MmadParams mmad;
    mmad.m = M;
    mmad.n = N;
    mmad.k = K;
    Mmad(c1, a2, b2, mmad);
    SetFlag<HardEvent::M_FIX>(EVENT_ID0);
    WaitFlag<HardEvent::M_FIX>(EVENT_ID0);

    FixpipeParamsV220 fix;
    fix.nSize = N;
    fix.mSize = M;
    fix.srcStride = M;
    fix.dstStride = N;
    Fixpipe(cGm, c1, fix);
}
