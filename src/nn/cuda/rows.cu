/* Kernels that work row by row: RMSNorm, the norm and rotation of q and k, SwiGLU, cross entropy. All
 * are bound by memory: numbers move in pieces of 16 bytes, a row is read once from device memory. */
#include "nn/cuda/kernels.cuh"

enum { THREADS = 256, WARPS = THREADS / 32 };

/* A warp per row; the second reading of the row comes from the cache. */
static __global__ void norm_kernel(int rows, int width, float eps, bf16 *y, float *rstd,
                                   const bf16 *x, const float *w)
{
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const bf16 *in = x + (size_t)row * width;
    bf16 *out = y + (size_t)row * width;
    float sum = 0, v[8], k[8];
    for (int i = lane * 8; i < width; i += 256) {
        load8(v, in + i);
        for (int j = 0; j < 8; j++)
            sum += v[j] * v[j];
    }
    float scale = rsqrtf(lane_sum(sum) / width + eps);
    for (int i = lane * 8; i < width; i += 256) {
        load8(v, in + i);
        load8(k, w + i);
        for (int j = 0; j < 8; j++)
            v[j] *= scale * k[j];
        store8(out + i, v);
    }
    if (lane == 0)
        rstd[row] = scale;
}

void k_norm(cudaStream_t s, int rows, int width, float eps, bf16 *y, float *rstd, const bf16 *x,
            const float *w)
{
    norm_kernel<<<(rows + WARPS - 1) / WARPS, THREADS, 0, s>>>(rows, width, eps, y, rstd, x, w);
    CUDA_LAUNCHED("norm");
}

/* Each warp sums its part of dw in shared memory; a block writes the sum of its warps. */
static __global__ void norm_back_kernel(int rows, int width, bf16 *dx, float *parts,
                                        const bf16 *base, const bf16 *dy, const bf16 *x,
                                        const float *w, const float *rstd)
{
    extern __shared__ float shared[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *dw = shared + (size_t)warp * width;
    for (int i = lane; i < width; i += 32)
        dw[i] = 0;
    __syncwarp();
    for (int row = blockIdx.x * WARPS + warp; row < rows; row += gridDim.x * WARPS) {
        size_t at = (size_t)row * width;
        float sum = 0, a[8], b[8], k[8], c[8];
        for (int i = lane * 8; i < width; i += 256) {
            load8(a, dy + at + i);
            load8(b, x + at + i);
            load8(k, w + i);
            for (int j = 0; j < 8; j++)
                sum += a[j] * b[j] * k[j];
        }
        float r = rstd[row], mean = lane_sum(sum) * r / width;
        for (int i = lane * 8; i < width; i += 256) {
            load8(a, dy + at + i);
            load8(b, x + at + i);
            load8(k, w + i);
            if (base)
                load8(c, base + at + i);
            for (int j = 0; j < 8; j++) {
                float unit = b[j] * r;
                dw[i + j] += a[j] * unit;
                c[j] = (base ? c[j] : 0) + r * (a[j] * k[j] - unit * mean);
            }
            store8(dx + at + i, c);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += THREADS) {
        float sum = 0;
        for (int j = 0; j < WARPS; j++)
            sum += shared[(size_t)j * width + i];
        parts[(size_t)blockIdx.x * width + i] = sum;
    }
}

/* The kernel for rows of 256 IT numbers, which the registers of a warp hold: each row is read
 * once. */
template <int IT>
static __global__ void norm_back_short(int rows, bf16 *dx, float *parts, const bf16 *base,
                                       const bf16 *dy, const bf16 *x, const float *w,
                                       const float *rstd)
{
    __shared__ float shared[WARPS][256 * IT];
    const int width = 256 * IT;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float dw[IT][8] = {}, k[IT][8];
    for (int i = 0; i < IT; i++)
        load8(k[i], w + i * 256 + lane * 8);
    for (int row = blockIdx.x * WARPS + warp; row < rows; row += gridDim.x * WARPS) {
        size_t at = (size_t)row * width + lane * 8;
        float a[IT][8], b[IT][8], c[IT][8] = {}, sum = 0, r = rstd[row];
#pragma unroll
        for (int i = 0; i < IT; i++) {
            load8(a[i], dy + at + i * 256);
            load8(b[i], x + at + i * 256);
            if (base)
                load8(c[i], base + at + i * 256);
        }
#pragma unroll
        for (int i = 0; i < IT; i++)
            for (int j = 0; j < 8; j++) {
                b[i][j] *= r;
                dw[i][j] += a[i][j] * b[i][j];
                a[i][j] *= k[i][j];
                sum += a[i][j] * b[i][j];
            }
        float mean = lane_sum(sum) / width;
#pragma unroll
        for (int i = 0; i < IT; i++) {
            for (int j = 0; j < 8; j++)
                c[i][j] += r * (a[i][j] - b[i][j] * mean);
            store8(dx + at + i * 256, c[i]);
        }
    }
    for (int i = 0; i < IT; i++)
        for (int j = 0; j < 8; j++)
            shared[warp][i * 256 + lane * 8 + j] = dw[i][j];
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += THREADS) {
        float sum = 0;
        for (int j = 0; j < WARPS; j++)
            sum += shared[j][i];
        parts[(size_t)blockIdx.x * width + i] = sum;
    }
}

/* out[i] += sum of parts[p][i]: 32 columns a block, 8 threads share a column. */
static __global__ void add_parts_kernel(int parts_count, int width, float *out, const float *parts)
{
    __shared__ float sums[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (column < width)
        for (int p = threadIdx.y; p < parts_count; p += 8)
            sum += parts[(size_t)p * width + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < width) {
        for (int i = 1; i < 8; i++)
            sum += sums[i][threadIdx.x];
        out[column] += sum;
    }
}

static void add_parts(cudaStream_t s, int width, float *out, const float *parts)
{
    add_parts_kernel<<<(width + 31) / 32, dim3(32, 8), 0, s>>>(NN_PARTS, width, out, parts);
    CUDA_LAUNCHED("add_parts");
}

void k_norm_back(cudaStream_t s, int rows, int width, bf16 *dx, float *dw, float *parts,
                 const bf16 *base, const bf16 *dy, const bf16 *x, const float *w, const float *rstd)
{
    size_t shared = (size_t)WARPS * width * sizeof(float);
    if (width == 512) {
        norm_back_short<2><<<NN_PARTS, THREADS, 0, s>>>(rows, dx, parts, base, dy, x, w, rstd);
        CUDA_LAUNCHED("norm_back");
        add_parts(s, width, dw, parts);
        return;
    }
    if (shared > 48 * 1024)
        CUDA_OK(cudaFuncSetAttribute(norm_back_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)shared));
    norm_back_kernel<<<NN_PARTS, THREADS, shared, s>>>(rows, width, dx, parts, base, dy, x, w, rstd);
    CUDA_LAUNCHED("norm_back");
    add_parts(s, width, dw, parts);
}

/* D / 8 lanes hold a head, 8 neighbours each; the other half of a pair is D / 16 lanes away. */
template <int D> struct Head {
    enum { LANES = D / 8, PER_WARP = 32 / LANES };
};

template <int D>
static __global__ void qk_kernel(AttnShape a, bf16 *qk, float *rstd, const bf16 *qkv,
                                 const float *wq, const float *wk)
{
    const int lanes = Head<D>::LANES, heads = a.heads + a.kv_heads;
    int item = (blockIdx.x * THREADS + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    int count = a.batch * a.seq * heads;
    bool inside = item < count;
    int row = inside ? item / heads : 0, h = inside ? item % heads : 0;
    float v[8], k[8], sum = 0;
    load8(v, qkv + ((size_t)row * (heads + a.kv_heads) + h) * D + lane * 8);
    load8(k, (h < a.heads ? wq : wk) + lane * 8);
    for (int j = 0; j < 8; j++)
        sum += v[j] * v[j];
    float scale = rsqrtf(lane_sum(sum, lanes) / D + a.eps), c[8], s[8];
    size_t angle = (size_t)(row % a.seq) * (D / 2) + lane % (lanes / 2) * 8;
    load8(c, a.cosine + angle);
    load8(s, a.sine + angle);
    float sign = lane < lanes / 2 ? -1.f : 1.f;
    for (int j = 0; j < 8; j++)
        v[j] *= scale * k[j];
    for (int j = 0; j < 8; j++) {
        float other = __shfl_xor_sync(0xffffffffu, v[j], lanes / 2);
        k[j] = v[j] * c[j] + sign * other * s[j];
    }
    if (!inside)
        return;
    store8(qk + (size_t)item * D + lane * 8, k);
    if (lane == 0)
        rstd[item] = scale;
}

void k_qk(cudaStream_t s, const AttnShape &a, bf16 *qk, float *rstd, const bf16 *qkv,
          const float *wq, const float *wk)
{
    int threads = a.batch * a.seq * (a.heads + a.kv_heads) * (a.dim / 8);
    int blocks = (threads + THREADS - 1) / THREADS;
    if (a.dim == 64)
        qk_kernel<64><<<blocks, THREADS, 0, s>>>(a, qk, rstd, qkv, wq, wk);
    else
        qk_kernel<128><<<blocks, THREADS, 0, s>>>(a, qk, rstd, qkv, wq, wk);
    CUDA_LAUNCHED("qk");
}

template <int D>
static __global__ void qk_back_kernel(AttnShape a, bf16 *dqkv, float *parts, const bf16 *dqk,
                                      const bf16 *qkv, const float *wq, const float *wk,
                                      const float *rstd)
{
    const int lanes = Head<D>::LANES, heads = a.heads + a.kv_heads, groups = THREADS / lanes;
    int group = threadIdx.x / lanes, lane = threadIdx.x % lanes, count = a.batch * a.seq * heads;
    float sum_q[8] = {0}, sum_k[8] = {0};
    for (int first = blockIdx.x * groups; first < count; first += gridDim.x * groups) {
        int item = first + group;
        bool inside = item < count;
        int row = inside ? item / heads : 0, h = inside ? item % heads : 0;
        size_t at = ((size_t)row * (heads + a.kv_heads) + h) * D + lane * 8;
        float d[8], x[8], k[8], c[8], s[8], sum = 0;
        load8(d, dqk + ((size_t)row * heads + h) * D + lane * 8);
        load8(x, qkv + at);
        load8(k, (h < a.heads ? wq : wk) + lane * 8);
        size_t angle = (size_t)(row % a.seq) * (D / 2) + lane % (lanes / 2) * 8;
        load8(c, a.cosine + angle);
        load8(s, a.sine + angle);
        float sign = lane < lanes / 2 ? 1.f : -1.f, turned[8];
        for (int j = 0; j < 8; j++) {
            float other = __shfl_xor_sync(0xffffffffu, d[j], lanes / 2);
            turned[j] = d[j] * c[j] + sign * other * s[j];
            sum += turned[j] * k[j] * x[j];
        }
        float r = inside ? rstd[item] : 0, mean = lane_sum(sum, lanes) * r / D;
        for (int j = 0; j < 8; j++) {
            float unit = x[j] * r, w = inside ? turned[j] * unit : 0;
            sum_q[j] += h < a.heads ? w : 0;
            sum_k[j] += h < a.heads ? 0 : w;
            d[j] = r * (turned[j] * k[j] - unit * mean);
        }
        if (inside)
            store8(dqkv + at, d);
    }
    __shared__ float sums[THREADS / Head<D>::LANES][2 * D];
    for (int j = 0; j < 8; j++) {
        sums[group][lane * 8 + j] = sum_q[j];
        sums[group][D + lane * 8 + j] = sum_k[j];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * D; i += THREADS) {
        float sum = 0;
        for (int g = 0; g < groups; g++)
            sum += sums[g][i];
        parts[(size_t)(i / D) * NN_PARTS * D + (size_t)blockIdx.x * D + i % D] = sum;
    }
}

void k_qk_back(cudaStream_t s, const AttnShape &a, bf16 *dqkv, float *dwq, float *dwk, float *parts,
               const bf16 *dqk, const bf16 *qkv, const float *wq, const float *wk, const float *rstd)
{
    if (a.dim == 64)
        qk_back_kernel<64><<<NN_PARTS, THREADS, 0, s>>>(a, dqkv, parts, dqk, qkv, wq, wk, rstd);
    else
        qk_back_kernel<128><<<NN_PARTS, THREADS, 0, s>>>(a, dqkv, parts, dqk, qkv, wq, wk, rstd);
    CUDA_LAUNCHED("qk_back");
    add_parts(s, a.dim, dwq, parts);
    add_parts(s, a.dim, dwk, parts + (size_t)NN_PARTS * a.dim);
}

static __device__ inline float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }

/* Where piece i of [N, F] begins in [N, 2 F]. 64-bit division would cost more than the rest. */
static __device__ inline size_t gate_at(uint32_t i, uint32_t row_pieces)
{
    uint32_t row = i / row_pieces;
    return ((size_t)row * 2 * row_pieces + (i - row * row_pieces)) * 8;
}

static __global__ void swiglu_kernel(uint32_t pieces, int ffn, bf16 *y, const bf16 *gu)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pieces)
        return;
    size_t at = gate_at(i, ffn / 8);
    float g[8], u[8];
    load8(g, gu + at);
    load8(u, gu + at + ffn);
    for (int j = 0; j < 8; j++)
        g[j] = g[j] * sigmoid(g[j]) * u[j];
    store8(y + (size_t)i * 8, g);
}

void k_swiglu(cudaStream_t s, int rows, int ffn, bf16 *y, const bf16 *gu)
{
    uint32_t pieces = (uint32_t)((size_t)rows * ffn / 8);
    swiglu_kernel<<<(pieces + THREADS - 1) / THREADS, THREADS, 0, s>>>(pieces, ffn, y, gu);
    CUDA_LAUNCHED("swiglu");
}

static __global__ void swiglu_back_kernel(uint32_t pieces, int ffn, bf16 *dgu, const bf16 *dy,
                                          const bf16 *gu)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= pieces)
        return;
    size_t at = gate_at(i, ffn / 8);
    float g[8], u[8], d[8];
    load8(g, gu + at);
    load8(u, gu + at + ffn);
    load8(d, dy + (size_t)i * 8);
    for (int j = 0; j < 8; j++) {
        float s = sigmoid(g[j]), up = d[j] * g[j] * s;
        g[j] = d[j] * u[j] * s * (1 + g[j] * (1 - s));
        u[j] = up;
    }
    store8(dgu + at, g);
    store8(dgu + at + ffn, u);
}

void k_swiglu_back(cudaStream_t s, int rows, int ffn, bf16 *dgu, const bf16 *dy, const bf16 *gu)
{
    uint32_t pieces = (uint32_t)((size_t)rows * ffn / 8);
    swiglu_back_kernel<<<(pieces + THREADS - 1) / THREADS, THREADS, 0, s>>>(pieces, ffn, dgu, dy, gu);
    CUDA_LAUNCHED("swiglu_back");
}

/* One number of the block from one of every warp, in a fixed order. */
template <bool MAX> static __device__ float block_reduce(float x)
{
    __shared__ float warps[WARPS];
    x = MAX ? lane_max(x) : lane_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = warps[0];
    for (int i = 1; i < WARPS; i++)
        x = MAX ? fmaxf(x, warps[i]) : x + warps[i];
    return x;
}

static __global__ void cross_entropy_kernel(int vocab, float *losses, bf16 *logits,
                                            const int32_t *targets, float weight, bool learn)
{
    bf16 *row = logits + (size_t)blockIdx.x * vocab;
    int target = targets[blockIdx.x];
    float v[8], most = -INFINITY, sum = 0;
    for (int i = threadIdx.x * 8; i < vocab; i += THREADS * 8) {
        load8(v, row + i);
        for (int j = 0; j < 8; j++)
            most = fmaxf(most, v[j]);
    }
    most = block_reduce<true>(most);
    for (int i = threadIdx.x * 8; i < vocab; i += THREADS * 8) {
        load8(v, row + i);
        for (int j = 0; j < 8; j++)
            sum += __expf(v[j] - most);
    }
    sum = block_reduce<false>(sum);
    if (threadIdx.x == 0)
        losses[blockIdx.x] = target < 0 ? 0 : most + logf(sum) - __bfloat162float(row[target]);
    __syncthreads();
    float scale = target < 0 ? 0 : weight / sum;
    for (int i = threadIdx.x * 8; learn && i < vocab; i += THREADS * 8) {
        load8(v, row + i);
        for (int j = 0; j < 8; j++)
            v[j] = scale * __expf(v[j] - most) - (i + j == target ? weight : 0);
        store8(row + i, v);
    }
}

void k_cross_entropy(cudaStream_t s, int rows, int vocab, float *losses, bf16 *logits,
                     const int32_t *targets, float weight, bool learn)
{
    cross_entropy_kernel<<<rows, THREADS, 0, s>>>(vocab, losses, logits, targets, weight, learn);
    CUDA_LAUNCHED("cross_entropy");
}
