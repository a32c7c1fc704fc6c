/* z = a x + b y with tensors at fixed addresses and flags by hand; plain functions, no class. */
#include "kernel_operator.h"
using namespace AscendC;

static constexpr uint32_t CHUNK = 1024; // floats at a time

struct Job {
    GlobalTensor<float> x, y, z;
    float a, b;
};

__aicore__ inline void load(const Job &job, LocalTensor<float> xs, LocalTensor<float> ys,
                            uint32_t at, uint32_t n)
{
    DataCopy(xs, job.x[at], n);
    DataCopy(ys, job.y[at], n);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID2);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID2);
}

__aicore__ inline void combine(const Job &job, LocalTensor<float> xs, LocalTensor<float> ys,
                               uint32_t n)
{
    Muls(xs, xs, job.a, n);
    PipeBarrier<PIPE_V>();
    Axpy(xs, ys, job.b, n);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID3);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID3);
}

__aicore__ inline void save(const Job &job, LocalTensor<float> xs, uint32_t at, uint32_t n)
{
    DataCopy(job.z[at], xs, n);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID4);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID4);
}

extern "C" __global__ __aicore__ void axpby(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total,
                                            float a, float b)
{
    Job job;
    job.a = a;
    job.b = b;
    job.x.SetGlobalBuffer((__gm__ float *)x, total);
    job.y.SetGlobalBuffer((__gm__ float *)y, total);
    job.z.SetGlobalBuffer((__gm__ float *)z, total);

    LocalTensor<float> xs(TPosition::VECCALC, 0, CHUNK);
    LocalTensor<float> ys(TPosition::VECCALC, CHUNK * sizeof(float), CHUNK);

    uint32_t share = total / GetBlockNum();
    uint32_t begin = GetBlockIdx() * share;
    uint32_t end = begin + share;
    if (GetBlockIdx() == GetBlockNum() - 1) {
        end = total;
    }

    for (uint32_t at = begin; at < end; at += CHUNK) {
        uint32_t n = end - at;
        if (n > CHUNK) {
            n = CHUNK;
        }
        load(job, xs, ys, at, n);
        combine(job, xs, ys, n);
        save(job, xs, at, n);
    }
}
