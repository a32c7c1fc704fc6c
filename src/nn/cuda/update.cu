/* The embedding and its gradient, sums, AdamW, and the first error of the process. */
#include "nn/cuda/kernels.cuh"

#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <time.h>

enum { THREADS = 256 };

static char failure[512];

void cuda_fail(const char *what, const char *file, int line)
{
    if (!failure[0])
        snprintf(failure, sizeof failure, "%s:%d: %s", file, line, what);
}

void cuda_check(cudaError_t status, const char *what, const char *file, int line)
{
    char text[400];
    if (status == cudaSuccess)
        return;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(status));
    cuda_fail(text, file, line);
}

const char *cuda_failure(void) { return failure[0] ? failure : NULL; }
void cuda_clear_failure(void) { failure[0] = 0; }

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct ProfileRow {
    double seconds;
    long calls;
};

static std::map<std::string, ProfileRow> &profile_rows(void)
{
    static std::map<std::string, ProfileRow> rows;
    return rows;
}

void cuda_launched(const char *name, const char *file, int line)
{
    static const bool profile = getenv("ACRAFT_CUDA_PROFILE") != NULL;
    static double last = seconds_now();
    cuda_check(cudaGetLastError(), name, file, line);
    if (!profile)
        return;
    cudaDeviceSynchronize();
    double now = seconds_now();
    ProfileRow &row = profile_rows()[name];
    row.seconds += now - last;
    row.calls++;
    last = now;
}

void cuda_profile_print(void)
{
    for (auto &row : profile_rows())
        fprintf(stderr, "%-44s %8ld calls %10.3f ms\n", row.first.c_str(), row.second.calls,
                1e3 * row.second.seconds);
    profile_rows().clear();
}

static __global__ void embed_kernel(size_t pieces, int width, bf16 *x, const bf16 *table,
                                    const int32_t *tokens)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x, row_pieces = width / 8;
    if (i >= pieces)
        return;
    uint32_t row = i / row_pieces, column = (i - row * row_pieces) * 8;
    reinterpret_cast<Bf8 *>(x)[i] =
        *reinterpret_cast<const Bf8 *>(table + (size_t)tokens[row] * width + column);
}

void k_embed(cudaStream_t s, int rows, int width, bf16 *x, const bf16 *table, const int32_t *tokens)
{
    size_t pieces = (size_t)rows * width / 8;
    embed_kernel<<<(unsigned)((pieces + THREADS - 1) / THREADS), THREADS, 0, s>>>(pieces, width, x,
                                                                                table, tokens);
    CUDA_LAUNCHED("embed");
}

static __global__ void embed_piece_kernel(int width, float *parts, const bf16 *dx,
                                          const int32_t *order, const int32_t *start)
{
    int from = start[blockIdx.x], to = start[blockIdx.x + 1];
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        float sum[8] = {0}, v[8];
        for (int k = from; k < to; k++) {
            load8(v, dx + (size_t)order[k] * width + i);
            for (int j = 0; j < 8; j++)
                sum[j] += v[j];
        }
        for (int j = 0; j < 8; j++)
            parts[(size_t)blockIdx.x * width + i + j] = sum[j];
    }
}

/* The first piece of a token adds up all of them. */
static __global__ void embed_join_kernel(int pieces, int width, float *table, const float *parts,
                                         const int32_t *token)
{
    int first = blockIdx.x, mine = token[first];
    if (first && token[first - 1] == mine)
        return;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0;
        for (int p = first; p < pieces && token[p] == mine; p++)
            sum += parts[(size_t)p * width + i];
        table[(size_t)mine * width + i] += sum;
    }
}

void k_embed_back(cudaStream_t s, int pieces, int width, float *table, float *parts, const bf16 *dx,
                  const int32_t *order, const int32_t *start, const int32_t *token)
{
    embed_piece_kernel<<<pieces, 64, 0, s>>>(width, parts, dx, order, start);
    CUDA_LAUNCHED("embed_piece");
    embed_join_kernel<<<pieces, 128, 0, s>>>(pieces, width, table, parts, token);
    CUDA_LAUNCHED("embed_join");
}

static __device__ float sum_block(float x)
{
    __shared__ float warps[32];
    x = lane_sum(x);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
    return lane_sum(x); /* right in the first warp */
}

static __global__ void sum_kernel(uint64_t count, float *sum, const float *x, bool add)
{
    float mine = 0;
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        mine += x[i];
    mine = sum_block(mine);
    if (threadIdx.x == 0)
        *sum = mine + (add ? *sum : 0);
}

void k_sum(cudaStream_t s, uint64_t count, float *sum, const float *x, bool add)
{
    sum_kernel<<<1, 1024, 0, s>>>(count, sum, x, add);
    CUDA_LAUNCHED("sum");
}

static __global__ void square_kernel(uint64_t quads, float *parts, const float *x)
{
    float mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < quads;
         i += (uint64_t)gridDim.x * blockDim.x) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        mine += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    mine = sum_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

void k_square_sum(cudaStream_t s, uint64_t count, float *sum, float *parts, const float *x)
{
    square_kernel<<<NN_PARTS, 1024, 0, s>>>(count / 4, parts, x);
    CUDA_LAUNCHED("square");
    k_sum(s, NN_PARTS, sum, parts, false);
}

static __global__ void adam_kernel(uint64_t count, AdamArgs a, float *w, bf16 *half, float *m,
                                   float *v, float *g, const uint8_t *decay, const float *square_sum)
{
    uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count)
        return;
    float norm = sqrtf(*square_sum);
    float scale = a.clip > 0 && norm > a.clip ? a.clip / norm : 1;
    float grad = scale * g[i];
    float first = a.beta1 * m[i] + (1 - a.beta1) * grad;
    float second = a.beta2 * v[i] + (1 - a.beta2) * grad * grad;
    float keep = decay[i / 64] ? 1 - a.full_rate * a.decay : 1;
    float weight = keep * w[i] - a.rate * first / (sqrtf(second) / a.root + a.eps);
    m[i] = first;
    v[i] = second;
    w[i] = weight;
    half[i] = __float2bfloat16(weight);
    g[i] = 0;
}

void k_adam(cudaStream_t s, uint64_t count, const AdamArgs &a, float *w, bf16 *half, float *m,
            float *v, float *g, const uint8_t *decay, const float *square_sum)
{
    adam_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, s>>>(
        count, a, w, half, m, v, g, decay, square_sum);
    CUDA_LAUNCHED("adam");
}

static __global__ void to_bf16_kernel(uint64_t count, bf16 *half, const float *w)
{
    uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        half[i] = __float2bfloat16(w[i]);
}

void k_to_bf16(cudaStream_t s, uint64_t count, bf16 *half, const float *w)
{
    to_bf16_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, s>>>(count, half, w);
    CUDA_LAUNCHED("to_bf16");
}
