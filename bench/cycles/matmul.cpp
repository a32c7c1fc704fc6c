/* C = A B, f16[8192,8192], on 24 cube cores as 4 x 6 parts, after the description of asc-devkit's
 * matmul_high_performance, with basic calls: blocks of 128 x 256 x 64, several of them brought to
 * L1 at a time (STEP_A, STEP_B along k), two sets of buffers in L1 and in L0.
 *
 *   HALVES   the rows of A in so many parts, one after the other, so that B stays in L2
 *   UNIT     the outlet follows the products fractal by fractal */
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t M = 8192, N = 8192, K = 8192, BM = 128, BN = 256, BK = 64;
constexpr uint32_t PART_M = M / 4, PART_N = 1536;
constexpr uint32_t KA = STEP_A * BK, KB = STEP_B * BK;
#ifndef HALVES
#define HALVES 1
#endif
#ifdef UNIT
constexpr uint8_t UNIT_GOES_ON = 2, UNIT_LAST = 3;
#else
constexpr uint8_t UNIT_GOES_ON = 0, UNIT_LAST = 0;
#endif

struct Product {
    GlobalTensor<half> a, b, c;
    uint32_t a_turn = 0, b_turn = 0, l0_turn = 0, a_next = 0, b_next = 0;

    __aicore__ inline LocalTensor<half> l1_a() { return LocalTensor<half>(TPosition::A1, a_turn * BM * KA * 2, BM * KA); }
    __aicore__ inline LocalTensor<half> l1_b()
    {
        return LocalTensor<half>(TPosition::A1, 2 * BM * KA * 2 + b_turn * BN * KB * 2, BN * KB);
    }

    __aicore__ inline void bring(const LocalTensor<half> &to, const GlobalTensor<half> &from, uint32_t rows,
                                 uint32_t columns, uint32_t width)
    {
        Nd2NzParams p;
        p.ndNum = 1;
        p.nValue = rows;
        p.dValue = columns;
        p.srcNdMatrixStride = 0;
        p.srcDValue = width;
        p.dstNzC0Stride = (rows + 15) / 16 * 16;
        p.dstNzNStride = 1;
        p.dstNzMatrixStride = 0;
        DataCopy(to, from, p);
    }

    __aicore__ inline void load(uint32_t ka, uint32_t kb, uint32_t n)
    {
        LocalTensor<half> l0a(TPosition::A2, l0_turn * BM * BK * 2, BM * BK), l0b(TPosition::B2, l0_turn * BK * BN * 2, BK * BN);
        LoadData2DParams p;
        p.repeatTimes = BK / 16;
        p.srcStride = BM / 16;
        for (uint32_t i = 0; i < BM / 16; i++)
            LoadData(l0a[i * BK * 16], l1_a()[ka * BM + i * 256], p);
        p.repeatTimes = (n + 15) / 16;
        p.srcStride = KB / 16;
        p.ifTranspose = true;
        for (uint32_t i = 0; i < BK / 16; i++)
            LoadData(l0b[i * ((n + 15) / 16) * 256], l1_b()[(kb / 16 + i) * 256], p);
    }

    __aicore__ inline void multiply(uint32_t k, uint32_t n)
    {
        LocalTensor<half> l0a(TPosition::A2, l0_turn * BM * BK * 2, BM * BK), l0b(TPosition::B2, l0_turn * BK * BN * 2, BK * BN);
        LocalTensor<float> l0c(TPosition::CO1, 0, BM * BN);
        MmadParams p;
        p.m = BM;
        p.n = n;
        p.k = BK;
        p.cmatrixInitVal = k == 0;
        p.unitFlag = k + BK == K ? UNIT_LAST : UNIT_GOES_ON;
        Mmad(l0c, l0a, l0b, p);
    }

    /* The next part of A or B on its way to L1, while the one before is in use. */
    __aicore__ inline void bring_a(uint32_t row, uint32_t k)
    {
        if (k >= K) return;
        WaitFlag<HardEvent::MTE1_MTE2>(a_next);
        bring(LocalTensor<half>(TPosition::A1, a_next * BM * KA * 2, BM * KA), a[uint64_t(row) * K + k], BM, KA, K);
        SetFlag<HardEvent::MTE2_MTE1>(a_next);
        a_next = 1 - a_next;
    }
    __aicore__ inline void bring_b(uint32_t column, uint32_t n, uint32_t k)
    {
        if (k >= K) return;
        WaitFlag<HardEvent::MTE1_MTE2>(2 + b_next);
        bring(LocalTensor<half>(TPosition::A1, 2 * BM * KA * 2 + b_next * BN * KB * 2, BN * KB), b[uint64_t(k) * N + column], KB, n, N);
        SetFlag<HardEvent::MTE2_MTE1>(2 + b_next);
        b_next = 1 - b_next;
    }

    __aicore__ inline void block(uint32_t row, uint32_t column, uint32_t n)
    {
#ifndef UNIT
        WaitFlag<HardEvent::FIX_M>(0);
#endif
        bring_a(row, 0);
        bring_b(column, n, 0);
        for (uint32_t k = 0; k < K; k += BK) {
            if (k % KB == 0) { /* its next part is needed sooner */
                bring_b(column, n, k + KB);
                WaitFlag<HardEvent::MTE2_MTE1>(2 + b_turn);
            }
            if (k % KA == 0) {
                bring_a(row, k + KA);
                WaitFlag<HardEvent::MTE2_MTE1>(a_turn);
            }
            WaitFlag<HardEvent::M_MTE1>(l0_turn);
            load(k % KA, k % KB, n);
            SetFlag<HardEvent::MTE1_M>(l0_turn);
            if ((k + BK) % KA == 0) {
                SetFlag<HardEvent::MTE1_MTE2>(a_turn);
                a_turn = 1 - a_turn;
            }
            if ((k + BK) % KB == 0) {
                SetFlag<HardEvent::MTE1_MTE2>(2 + b_turn);
                b_turn = 1 - b_turn;
            }
            WaitFlag<HardEvent::MTE1_M>(l0_turn);
            multiply(k, n);
            SetFlag<HardEvent::M_MTE1>(l0_turn);
            l0_turn = 1 - l0_turn;
        }
        LocalTensor<float> l0c(TPosition::CO1, 0, BM * BN);
        FixpipeParamsV220 out;
        out.nSize = n;
        out.mSize = BM;
        out.srcStride = BM;
        out.dstStride = N;
        out.ndNum = 1;
        out.quantPre = QuantMode_t::F322F16;
        out.unitFlag = UNIT_LAST;
#ifndef UNIT
        SetFlag<HardEvent::M_FIX>(0);
        WaitFlag<HardEvent::M_FIX>(0);
#endif
        Fixpipe<half, float, CFG_ROW_MAJOR>(c[uint64_t(row) * N + column], l0c, out);
#ifndef UNIT
        SetFlag<HardEvent::FIX_M>(0);
#endif
    }
};

extern "C" __global__ __aicore__ void matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Product p;
    p.a.SetGlobalBuffer((__gm__ half *)a);
    p.b.SetGlobalBuffer((__gm__ half *)b);
    p.c.SetGlobalBuffer((__gm__ half *)c);
    uint32_t first_m = GetBlockIdx() % 4 * PART_M, first_n = GetBlockIdx() / 4 * PART_N;
    uint32_t end_n = first_n + PART_N < N ? first_n + PART_N : N;
    for (int i = 0; i < 2; i++) {
        SetFlag<HardEvent::MTE1_MTE2>(i);
        SetFlag<HardEvent::MTE1_MTE2>(2 + i);
        SetFlag<HardEvent::M_MTE1>(i);
    }
#ifndef UNIT
    SetFlag<HardEvent::FIX_M>(0);
#endif
    for (uint32_t half_of = 0; half_of < HALVES; half_of++)
        for (uint32_t n = first_n; n < end_n; n += BN)
            for (uint32_t m = 0; m < PART_M / HALVES; m += BM) {
                uint32_t row = HALVES == 1 ? first_m : half_of * (M / HALVES) + GetBlockIdx() % 4 * (PART_M / HALVES);
                p.block(row + m, n, end_n - n < BN ? end_n - n : BN);
            }
    for (int i = 0; i < 2; i++) {
        WaitFlag<HardEvent::MTE1_MTE2>(i);
        WaitFlag<HardEvent::MTE1_MTE2>(2 + i);
        WaitFlag<HardEvent::M_MTE1>(i);
    }
#ifndef UNIT
    WaitFlag<HardEvent::FIX_M>(0);
#endif
}
