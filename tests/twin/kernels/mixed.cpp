/* A cube core and its two vector cores by hand: the vector cores double the rows of A (in two halves),
 * signal, the cube core multiplies by B and signals, the vector cores add one to their rows of C. A 32 x 16,
 * B 16 x 16 of half; x2 and C in the workspace w. */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint16_t M = 32, SIDE = 16;
constexpr uint16_t DOUBLED = 1, MULTIPLIED = 2;

class KernelMixed {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR z, GM_ADDR w)
    {
        aGm.SetGlobalBuffer((__gm__ half *)a, M * SIDE);
        bGm.SetGlobalBuffer((__gm__ half *)b, SIDE * SIDE);
        zGm.SetGlobalBuffer((__gm__ float *)z, M * SIDE);
        doubledGm.SetGlobalBuffer((__gm__ half *)w, M * SIDE);
        productGm.SetGlobalBuffer((__gm__ float *)(w + M * SIDE * sizeof(half)), M * SIDE);
    }
    __aicore__ inline void Process()
    {
        if ASCEND_IS_AIV {
            Vector();
        }
        if ASCEND_IS_AIC {
            Cube();
        }
    }

private:
    __aicore__ inline void Vector()
    {
        uint32_t half_ = M * SIDE / 2, at = GetSubBlockIdx() * half_;
        LocalTensor<half> x(TPosition::VECCALC, 0, half_);
        LocalTensor<float> z(TPosition::VECCALC, 8192, half_);
        DataCopy(x, aGm[at], half_);
        Sync<HardEvent::MTE2_V>();
        Muls(x, x, half(2.0f), half_);
        Sync<HardEvent::V_MTE3>();
        DataCopy(doubledGm[at], x, half_);
        CrossCoreSetFlag<2, PIPE_MTE3>(DOUBLED);
        CrossCoreWaitFlag(MULTIPLIED);
        DataCopy(z, productGm[at], half_);
        Sync<HardEvent::MTE2_V>();
        Adds(z, z, 1.0f, half_);
        Sync<HardEvent::V_MTE3>();
        DataCopy(zGm[at], z, half_);
        SyncAll<false>();
    }
    __aicore__ inline void Cube()
    {
        LocalTensor<half> a1(TPosition::A1, 0, M * SIDE), b1(TPosition::B1, 4096, SIDE * SIDE);
        LocalTensor<half> a2(TPosition::A2, 0, M * SIDE), b2(TPosition::B2, 0, SIDE * SIDE);
        LocalTensor<float> c(TPosition::CO1, 0, M * SIDE);
        wait_flag_dev(DOUBLED);
        DataCopy(a1, doubledGm, Nd2NzParams(1, M, SIDE, 0, SIDE, M, 1, 0));
        DataCopy(b1, bGm, Nd2NzParams(1, SIDE, SIDE, 0, SIDE, SIDE, 1, 0));
        Sync<HardEvent::MTE2_MTE1>();
        LoadData(a2, a1, LoadData2DParams(0, M / 16, 1, 0, 0, false, 0));
        LoadData(b2, b1, LoadData2DParams(0, 1, 1, 0, 0, true, 0));
        Sync<HardEvent::MTE1_M>();
        MmadParams mmad;
        mmad.m = M;
        mmad.n = mmad.k = SIDE;
        Mmad(c, a2, b2, mmad);
        Sync<HardEvent::M_FIX>();
        Fixpipe(productGm, c, FixpipeParamsV220(SIDE, M, M, SIDE, false));
        /* mode 2 in bits 4 and 5, the flag above them */
        ffts_cross_core_sync(PIPE_FIX, 1 | (2 << 4) | (MULTIPLIED << 8));
        SyncAll<false>();
    }
    template <HardEvent event> __aicore__ inline void Sync()
    {
        SetFlag<event>(EVENT_ID0);
        WaitFlag<event>(EVENT_ID0);
    }

    GlobalTensor<half> aGm, bGm, doubledGm;
    GlobalTensor<float> zGm, productGm;
};

extern "C" __global__ __aicore__ void kernel(GM_ADDR a, GM_ADDR b, GM_ADDR z, GM_ADDR w)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    KernelMixed op;
    op.Init(a, b, z, w);
    op.Process();
}
