// What generated kernels use: loads and stores of several elements, functions, reductions of a team.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cstdint>

#pragma nv_diag_suppress 177 // what a kernel does not use

namespace {

struct as_f32 {};
struct as_f16 {};
struct as_bf16 {};
struct as_i32 {};
struct as_rint {};

template <class T> __device__ __forceinline__ float to_float(T x) { return float(x); }
template <> __device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
template <> __device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T> __device__ __forceinline__ T from_float(float x) { return T(x); }
template <> __device__ __forceinline__ __half from_float(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ __nv_bfloat16 from_float(float x) { return __float2bfloat16_rn(x); }
template <> __device__ __forceinline__ bool from_float(float x) { return x != 0.0f; }

// V elements at once, in accesses of up to 16 bytes.
template <class T, int V> struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Pack {
    T e[V];
};
template <int V, class T> __device__ __forceinline__ void load_pack(float (&x)[V], const T *p)
{
    const Pack<T, V> pack = *reinterpret_cast<const Pack<T, V> *>(p);
#pragma unroll
    for (int i = 0; i < V; i++)
        x[i] = to_float(pack.e[i]);
}
template <int V, class T> __device__ __forceinline__ void store_pack(T *p, const float (&x)[V])
{
    Pack<T, V> pack;
#pragma unroll
    for (int i = 0; i < V; i++)
        pack.e[i] = from_float<T>(x[i]);
    *reinterpret_cast<Pack<T, V> *>(p) = pack;
}

// From memory into shared memory, without waiting; each thread reads only what it copied itself.
template <int V, class T> __device__ __forceinline__ void copy_pack(T *to, const T *from)
{
    constexpr int bytes = sizeof(T) * V;
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else if constexpr (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
    else if constexpr (bytes == 4)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
    else
        for (int i = 0; i < V; i++)
            to[i] = from[i];
}
// One element, or zero.
__device__ __forceinline__ void copy_element(float *to, const float *from, bool in)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(in ? 4 : 0) : "memory");
}
__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All but the last N groups of copies have arrived.
template <int N> __device__ __forceinline__ void wait_copies_but() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Functions. Maxima and minima give NaN where an operand is NaN, as PyTorch's do.
__device__ __forceinline__ float op_max(float a, float b)
{
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
__device__ __forceinline__ float op_min(float a, float b)
{
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
__device__ __forceinline__ float op_abs(float x) { return fabsf(x); }
__device__ __forceinline__ float op_sign(float x) { return float((x > 0.0f) - (x < 0.0f)); }
__device__ __forceinline__ float op_exp(float x) { return expf(x); }
__device__ __forceinline__ float op_log(float x) { return logf(x); }
__device__ __forceinline__ float op_log2(float x) { return log2f(x); }
__device__ __forceinline__ float op_log10(float x) { return log10f(x); }
__device__ __forceinline__ float op_sqrt(float x) { return sqrtf(x); }
__device__ __forceinline__ float op_rsqrt(float x) { return rsqrtf(x); }
__device__ __forceinline__ float op_recip(float x) { return 1.0f / x; }
__device__ __forceinline__ float op_sin(float x) { return sinf(x); }
__device__ __forceinline__ float op_cos(float x) { return cosf(x); }
__device__ __forceinline__ float op_tan(float x) { return tanf(x); }
__device__ __forceinline__ float op_asin(float x) { return asinf(x); }
__device__ __forceinline__ float op_acos(float x) { return acosf(x); }
__device__ __forceinline__ float op_atan(float x) { return atanf(x); }
__device__ __forceinline__ float op_sinh(float x) { return sinhf(x); }
__device__ __forceinline__ float op_cosh(float x) { return coshf(x); }
__device__ __forceinline__ float op_tanh(float x) { return tanhf(x); }
__device__ __forceinline__ float op_erf(float x) { return erff(x); }
__device__ __forceinline__ float op_floor(float x) { return floorf(x); }
__device__ __forceinline__ float op_ceil(float x) { return ceilf(x); }
__device__ __forceinline__ float op_trunc(float x) { return truncf(x); }
__device__ __forceinline__ float op_round(float x) { return rintf(x); }
__device__ __forceinline__ float op_pow(float x, float y) { return powf(x, y); }
__device__ __forceinline__ float op_relu(float x) { return op_max(x, 0.0f); }
__device__ __forceinline__ float op_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ __forceinline__ float op_silu(float x) { return x / (1.0f + expf(-x)); }
__device__ __forceinline__ float op_gelu(float x)
{
    return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
}
__device__ __forceinline__ float op_softplus(float x)
{
    return op_max(x, 0.0f) + log1pf(expf(-fabsf(x)));
}
__device__ __forceinline__ float op_mish(float x) { return x * tanhf(op_softplus(x)); }
__device__ __forceinline__ float op_where(bool c, float a, float b) { return c ? a : b; }
__device__ __forceinline__ float op_cast(float x, as_f32) { return x; }
__device__ __forceinline__ float op_cast(float x, as_f16) { return __half2float(__float2half_rn(x)); }
__device__ __forceinline__ float op_cast(float x, as_bf16)
{
    return __bfloat162float(__float2bfloat16_rn(x));
}
__device__ __forceinline__ float op_cast(float x, as_i32, as_rint) { return rintf(x); }

// How partial results are joined, and what joins without effect.
struct Sum {
    static constexpr float none = 0.0f;
    __device__ static __forceinline__ float join(float a, float b) { return a + b; }
};
struct Prod {
    static constexpr float none = 1.0f;
    __device__ static __forceinline__ float join(float a, float b) { return a * b; }
};
struct Max {
    static constexpr float none = -__builtin_huge_valf();
    __device__ static __forceinline__ float join(float a, float b) { return op_max(a, b); }
};
struct Min {
    static constexpr float none = __builtin_huge_valf();
    __device__ static __forceinline__ float join(float a, float b) { return op_min(a, b); }
};
// An extreme with its first place, and one more element. A NaN counts as the extreme.
template <class J> __device__ __forceinline__ void join_place(float &x, float &at, float y, float by)
{
    const float most = J::join(x, y);
    const bool none = x != x, gone = y != y;
    const bool first = none ? gone && by < at : gone || (y == most && (x != most || by < at));
    x = most;
    at = first ? by : at;
}
struct Logsumexp {
    static constexpr float none = -__builtin_huge_valf();
    __device__ static __forceinline__ float join(float a, float b)
    {
        const float most = op_max(a, b), least = op_min(a, b);
        return least == none ? most : most + log1pf(expf(least - most));
    }
};

// The result of a team's threads in all of them. A team is a part of a warp, a block, or the blocks of
// a cluster; `shared` has room for one number of each warp.
template <class J, int TEAM> __device__ __forceinline__ float join_lanes(float x)
{
#pragma unroll
    for (int step = TEAM / 2; step > 0; step /= 2)
        x = J::join(x, __shfl_xor_sync(0xffffffffu, x, step, 32));
    return x;
}
template <class J, int TEAM, int BLOCKS> __device__ __forceinline__ float join_team(float x)
{
    if constexpr (TEAM <= 32) {
        return join_lanes<J, TEAM>(x);
    } else {
        __shared__ float shared[33];
        constexpr int WARPS = TEAM / 32;
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        x = join_lanes<J, 32>(x);
        __syncthreads();
        if (lane == 0)
            shared[warp] = x;
        __syncthreads();
        x = join_lanes<J, 32>(lane < WARPS ? shared[lane] : J::none);
        if constexpr (BLOCKS > 1) {
            namespace cg = cooperative_groups;
            cg::cluster_group cluster = cg::this_cluster();
            if (threadIdx.x == 0)
                shared[32] = x;
            cluster.sync();
            x = join_lanes<J, 32>(lane < BLOCKS ? *cluster.map_shared_rank(&shared[32], lane) : J::none);
            cluster.sync();
        }
        return x;
    }
}

// Where an element of a piece lies in shared memory, so that threads that take several in a row meet no bank twice.
__device__ __forceinline__ int spread(int e) { return e + e / 32; }

// The join of what the threads of a block before this one hold, and of all of them.
template <class J, int TEAM> __device__ __forceinline__ float scan_team(float x, float &all)
{
    __shared__ float shared[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = x;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, sum, step);
        sum = lane >= step ? J::join(before, sum) : sum;
    }
    __syncthreads();
    if (lane == 31)
        shared[warp] = sum;
    __syncthreads();
    float part = lane < TEAM / 32 ? shared[lane] : J::none;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, part, step);
        part = lane >= step ? J::join(before, part) : part;
    }
    all = __shfl_sync(0xffffffffu, part, 31);
    const float warps = __shfl_sync(0xffffffffu, part, warp > 0 ? warp - 1 : 0);
    const float own = __shfl_up_sync(0xffffffffu, sum, 1);
    const float before = lane > 0 ? own : J::none;
    return warp > 0 ? J::join(warps, before) : before;
}

// Tensor cores: tiles of 16 x 8 of a product, 8 places of k. Rows and columns of the factors as the threads of a warp
// hold them.
__device__ __forceinline__ void load_rows(float (&a)[4], const float *p, int stride)
{
    a[0] = p[0];
    a[1] = p[8];
    a[2] = p[4 * stride];
    a[3] = p[4 * stride + 8];
}
__device__ __forceinline__ void load_columns(float (&b)[2], const float *p, int stride)
{
    b[0] = p[0];
    b[1] = p[4 * stride];
}
__device__ __forceinline__ unsigned round_tf32(float x)
{
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}
// x is high + low, of which tensor cores leave out the last two bits. An infinite x gives NaN.
__device__ __forceinline__ void split_tf32(float x, unsigned &high, unsigned &low)
{
    high = __float_as_uint(x) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));
}
__device__ __forceinline__ void multiply_tile(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <int PRODUCTS, int M, int N>
__device__ __forceinline__ void multiply_tiles(float (&sums)[M][N][4], const float (&a)[M][4], const float (&b)[N][2])
{
    unsigned rows[M][4], columns[N][2];
    [[maybe_unused]] unsigned low_rows[M][4], low_columns[N][2];
#pragma unroll
    for (int i = 0; i < M * 4; i++)
        if constexpr (PRODUCTS == 3)
            split_tf32(a[i / 4][i % 4], rows[i / 4][i % 4], low_rows[i / 4][i % 4]);
        else
            rows[i / 4][i % 4] = round_tf32(a[i / 4][i % 4]);
#pragma unroll
    for (int i = 0; i < N * 2; i++)
        if constexpr (PRODUCTS == 3)
            split_tf32(b[i / 2][i % 2], columns[i / 2][i % 2], low_columns[i / 2][i % 2]);
        else
            columns[i / 2][i % 2] = round_tf32(b[i / 2][i % 2]);
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int c = 0; c < N; c++) {
            if constexpr (PRODUCTS == 3) {
                multiply_tile(sums[r][c], low_rows[r], columns[c]);
                multiply_tile(sums[r][c], rows[r], low_columns[c]);
            }
            multiply_tile(sums[r][c], rows[r], columns[c]);
        }
}
template <int M, int N> __device__ __forceinline__ void add_tiles(float (&sums)[M][N][4], const float (&part)[M][N][4])
{
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int c = 0; c < N; c++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sums[r][c][i] += part[r][c][i];
}

} // namespace
