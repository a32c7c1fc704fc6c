/* What the CUDA files share: bf16 vectors of 16 bytes, sums over a warp, the first error. */
#ifndef NN_CUDA_COMMON_CUH
#define NN_CUDA_COMMON_CUH

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

typedef __nv_bfloat16 bf16;

/* Eight bf16 numbers, moved at once. */
struct alignas(16) Bf8 {
    bf16 v[8];
};

__device__ inline void load8(float *out, const bf16 *in)
{
    Bf8 x = *reinterpret_cast<const Bf8 *>(in);
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] = __bfloat162float(x.v[i]);
}

__device__ inline void store8(bf16 *out, const float *in)
{
    Bf8 x;
#pragma unroll
    for (int i = 0; i < 8; i++)
        x.v[i] = __float2bfloat16(in[i]);
    *reinterpret_cast<Bf8 *>(out) = x;
}

__device__ inline void load8(float *out, const float *in)
{
    *reinterpret_cast<float4 *>(out) = *reinterpret_cast<const float4 *>(in);
    *reinterpret_cast<float4 *>(out + 4) = *reinterpret_cast<const float4 *>(in + 4);
}

/* Sum over groups of `lanes` neighbouring lanes, in every lane. */
__device__ inline float lane_sum(float x, int lanes = 32)
{
    for (int step = lanes / 2; step; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

__device__ inline float lane_max(float x)
{
    for (int step = 16; step; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
}

/* Keeps the first failure of the process; cuda_failure() is its text, NULL where there is none. */
void cuda_check(cudaError_t status, const char *what, const char *file, int line);
void cuda_fail(const char *what, const char *file, int line);
const char *cuda_failure(void);
void cuda_clear_failure(void);
#define CUDA_OK(call) cuda_check((call), #call, __FILE__, __LINE__)
/* After a launch. With ACRAFT_CUDA_PROFILE set, waits for the kernel and adds up its time by name;
 * cuda_profile_print writes the table to standard error. */
void cuda_launched(const char *name, const char *file, int line);
void cuda_profile_print(void);
#define CUDA_LAUNCHED(name) cuda_launched(name, __FILE__, __LINE__)

#endif
