/* Flash attention with bf16 matrix units: causal, grouped heads, forward and backward. No matrix of
 * scores reaches device memory. The backward pass is two kernels, one that owns keys (dk, dv, summed
 * over the query heads that share them) and one that owns queries (dq): scores are computed twice, no
 * sum depends on the order of blocks.
 *
 * A warp owns 16 rows. Tiles of 64 rows lie in shared memory, pieces of 16 bytes exchanged within a
 * row by row number, so that ldmatrix meets no bank twice; the next tile is copied meanwhile. */
#include "nn/cuda/kernels.cuh"

enum { TILE = 64 };

static __device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ inline void matrices(uint32_t r[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

static __device__ inline void matrices_transposed(uint32_t r[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

/* c[16, 8] += a[16, 16] b[16, 8] */
static __device__ inline void multiply(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ inline uint32_t pack(float low, float high)
{
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

/* A tile of rows of D numbers in shared memory. */
template <int D> struct Tile {
    enum { PIECES = D / 8 };

    static __device__ inline uint32_t at(const bf16 *tile, int row, int piece)
    {
        return shared_address(tile) + (uint32_t)(row * D * 2 + ((piece ^ (row & 7)) << 4));
    }

    /* Starts copying `rows` rows, of which `valid` exist; the others become 0. */
    static __device__ inline void copy(bf16 *tile, const bf16 *from, size_t stride, int rows,
                                       int valid)
    {
        for (int i = threadIdx.x; i < rows * PIECES; i += blockDim.x) {
            int row = i / PIECES, piece = i % PIECES, bytes = row < valid ? 16 : 0;
            const bf16 *source = from + (size_t)(row < valid ? row : 0) * stride + piece * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(tile, row, piece)),
                         "l"(source), "r"(bytes));
        }
    }

    /* Rows first .. first+15 as left operands, all of D. */
    static __device__ inline void left(uint32_t out[D / 16][4], const bf16 *tile, int first)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int k = 0; k < D / 16; k++)
            matrices(out[k], at(tile, first + (lane & 15), 2 * k + (lane >> 4)));
    }

    /* b for c[16, 16 rows of the tile]: the rows are columns of the product, step k of D. */
    static __device__ inline void rows_as_columns(uint32_t b[4], const bf16 *tile, int first, int k)
    {
        int lane = threadIdx.x % 32;
        matrices(b, at(tile, first + (lane & 7) + ((lane >> 4) << 3), 2 * k + ((lane >> 3) & 1)));
    }

    /* b for c[16, 16 columns of the tile from piece 2 n on], summed over its rows first .. +15. */
    static __device__ inline void rows_as_sum(uint32_t b[4], const bf16 *tile, int first, int n)
    {
        int lane = threadIdx.x % 32;
        matrices_transposed(b, at(tile, first + (lane & 15), 2 * n + (lane >> 4)));
    }
};

static __device__ inline void copies_started() { asm volatile("cp.async.commit_group;"); }
template <int LEFT> static __device__ inline void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT));
}

/* s[16, TILE] = left rows x tile rows^T, columns from `first` on, COLUMNS of them. */
template <int D, int COLUMNS>
static __device__ inline void scores(float s[COLUMNS / 8][4], const uint32_t left[D / 16][4],
                                     const bf16 *tile, int first)
{
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; n++)
        s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; n++) {
            uint32_t b[4];
            Tile<D>::rows_as_columns(b, tile, first + n * 16, k);
            multiply(s[2 * n], left[k], b[0], b[1]);
            multiply(s[2 * n + 1], left[k], b[2], b[3]);
        }
}

/* out[16, D] += p[16, ROWS] x tile rows from `first` on; p is rounded to bf16. */
template <int D, int ROWS>
static __device__ inline void accumulate(float out[D / 8][4], const float p[ROWS / 8][4],
                                         const bf16 *tile, int first)
{
#pragma unroll
    for (int k = 0; k < ROWS / 16; k++) {
        uint32_t a[4] = {pack(p[2 * k][0], p[2 * k][1]), pack(p[2 * k][2], p[2 * k][3]),
                         pack(p[2 * k + 1][0], p[2 * k + 1][1]),
                         pack(p[2 * k + 1][2], p[2 * k + 1][3])};
#pragma unroll
        for (int n = 0; n < D / 16; n++) {
            uint32_t b[4];
            Tile<D>::rows_as_sum(b, tile, first + k * 16, n);
            multiply(out[2 * n], a, b[0], b[1]);
            multiply(out[2 * n + 1], a, b[2], b[3]);
        }
    }
}

/* Writes rows row, row+8 of a warp's sum, those below `limit`. */
template <int D>
static __device__ inline void write_rows(bf16 *out, size_t stride, const float x[D / 8][4], int row,
                                         int limit, float scale0, float scale1)
{
    int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        if (row < limit)
            *reinterpret_cast<uint32_t *>(out + (size_t)row * stride + n * 8 + column) =
                pack(x[n][0] * scale0, x[n][1] * scale0);
        if (row + 8 < limit)
            *reinterpret_cast<uint32_t *>(out + (size_t)(row + 8) * stride + n * 8 + column) =
                pack(x[n][2] * scale1, x[n][3] * scale1);
    }
}

#define LOG2E 1.4426950408889634f

/* 2^x in one instruction; results below the normal range become 0. */
static __device__ inline float power2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Hides scores whose column lies behind their row; for tiles that the diagonal crosses. */
template <int COLUMNS>
static __device__ inline void hide_future(float s[COLUMNS / 8][4], int row, int first_column)
{
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int column = first_column + n * 8 + threadIdx.x % 4 * 2 + (i & 1);
            if (column > row + (i >> 1) * 8)
                s[n][i] = -INFINITY;
        }
}

/* --- forward ------------------------------------------------------------------------------------- */

enum { FORWARD_WARPS = 8, FORWARD_ROWS = 16 * FORWARD_WARPS };

static __device__ inline float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

static __device__ inline float quad_sum(float x)
{
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

template <int D>
static __global__ void __launch_bounds__(FORWARD_WARPS * 32, D == 64 ? 2 : 1)
    forward_kernel(AttnShape a, bf16 *out, float *lse, const bf16 *qk, const bf16 *qkv)
{
    extern __shared__ bf16 shared[];
    bf16 *q_tile = shared, *k_tile = q_tile + FORWARD_ROWS * D, *v_tile = k_tile + 2 * TILE * D;
    int b = blockIdx.z, h = blockIdx.y, g = h / (a.heads / a.kv_heads);
    int q0 = (gridDim.x - 1 - blockIdx.x) * FORWARD_ROWS; /* the longest rows first */
    size_t qk_stride = (size_t)(a.heads + a.kv_heads) * D;
    size_t v_stride = (size_t)(a.heads + 2 * a.kv_heads) * D;
    const bf16 *q = qk + (size_t)b * a.seq * qk_stride + (size_t)h * D;
    const bf16 *k = qk + (size_t)b * a.seq * qk_stride + (size_t)(a.heads + g) * D;
    const bf16 *v = qkv + (size_t)b * a.seq * v_stride + (size_t)(a.heads + a.kv_heads + g) * D;
    int end = min(q0 + FORWARD_ROWS, a.seq), tiles = (end + TILE - 1) / TILE;
    Tile<D>::copy(q_tile, q + q0 * qk_stride, qk_stride, FORWARD_ROWS, a.seq - q0);
    Tile<D>::copy(k_tile, k, qk_stride, TILE, a.seq);
    Tile<D>::copy(v_tile, v, v_stride, TILE, a.seq);
    copies_started();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = q0 + warp * 16 + lane / 4;
    float o[D / 8][4] = {}, most0 = -INFINITY, most1 = -INFINITY, sum0 = 0, sum1 = 0;
    float scale = LOG2E * rsqrtf((float)D);
    uint32_t left[D / 16][4];
    for (int j = 0; j < tiles; j++) {
        int now = j & 1, t0 = j * TILE;
        if (j + 1 < tiles) {
            Tile<D>::copy(k_tile + (now ^ 1) * TILE * D, k + (t0 + TILE) * qk_stride, qk_stride, TILE,
                          a.seq - t0 - TILE);
            Tile<D>::copy(v_tile + (now ^ 1) * TILE * D, v + (t0 + TILE) * v_stride, v_stride, TILE,
                          a.seq - t0 - TILE);
            copies_started();
            copies_wait<1>();
        } else {
            copies_wait<0>();
        }
        __syncthreads();
        if (j == 0)
            Tile<D>::left(left, q_tile, warp * 16);
        if (t0 <= q0 + warp * 16 + 15) {
            float s[TILE / 8][4];
            scores<D, TILE>(s, left, k_tile + now * TILE * D, 0);
            if (t0 + TILE - 1 > q0 + warp * 16)
                hide_future<TILE>(s, row, t0);
            float new0 = most0, new1 = most1;
#pragma unroll
            for (int n = 0; n < TILE / 8; n++) {
                new0 = fmaxf(new0, fmaxf(s[n][0], s[n][1]));
                new1 = fmaxf(new1, fmaxf(s[n][2], s[n][3]));
            }
            new0 = quad_max(new0);
            new1 = quad_max(new1);
            float shrink0 = power2((most0 - new0) * scale), shrink1 = power2((most1 - new1) * scale);
            float low0 = new0 * scale, low1 = new1 * scale;
            most0 = new0;
            most1 = new1;
            sum0 *= shrink0;
            sum1 *= shrink1;
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                o[n][0] *= shrink0;
                o[n][1] *= shrink0;
                o[n][2] *= shrink1;
                o[n][3] *= shrink1;
            }
#pragma unroll
            for (int n = 0; n < TILE / 8; n++) {
                s[n][0] = power2(s[n][0] * scale - low0);
                s[n][1] = power2(s[n][1] * scale - low0);
                s[n][2] = power2(s[n][2] * scale - low1);
                s[n][3] = power2(s[n][3] * scale - low1);
                sum0 += s[n][0] + s[n][1];
                sum1 += s[n][2] + s[n][3];
            }
            accumulate<D, TILE>(o, s, v_tile + now * TILE * D, 0);
        }
        __syncthreads();
    }
    sum0 = quad_sum(sum0);
    sum1 = quad_sum(sum1);
    size_t o_stride = (size_t)a.heads * D;
    write_rows<D>(out + (size_t)b * a.seq * o_stride + (size_t)h * D, o_stride, o, row, a.seq,
                  1 / sum0, 1 / sum1);
    float *l = lse + ((size_t)b * a.heads + h) * a.seq;
    if (lane % 4 == 0 && row < a.seq)
        l[row] = most0 * scale / LOG2E + logf(sum0);
    if (lane % 4 == 0 && row + 8 < a.seq)
        l[row + 8] = most1 * scale / LOG2E + logf(sum1);
}

template <int D> static void launch_forward(cudaStream_t s, const AttnShape &a, bf16 *out, float *lse,
                                            const bf16 *qk, const bf16 *qkv)
{
    int shared = (FORWARD_ROWS + 4 * TILE) * D * 2;
    dim3 grid((a.seq + FORWARD_ROWS - 1) / FORWARD_ROWS, a.heads, a.batch);
    CUDA_OK(cudaFuncSetAttribute(forward_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 shared));
    forward_kernel<D><<<grid, FORWARD_WARPS * 32, shared, s>>>(a, out, lse, qk, qkv);
    CUDA_LAUNCHED("attention forward");
}

void k_attention(cudaStream_t s, const AttnShape &a, bf16 *out, float *lse, const bf16 *qk,
                 const bf16 *qkv)
{
    if (a.dim == 64)
        launch_forward<64>(s, a, out, lse, qk, qkv);
    else
        launch_forward<128>(s, a, out, lse, qk, qkv);
}

/* --- backward ------------------------------------------------------------------------------------ */

enum { BACK_WARPS = 4, BACK_THREADS = BACK_WARPS * 32 };

/* delta[B, H, T] = sum of dout out over a head; D / 8 lanes a head. */
template <int D>
static __global__ void delta_kernel(AttnShape a, float *delta, const bf16 *dout, const bf16 *out)
{
    const int lanes = D / 8;
    int item = (blockIdx.x * 256 + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    int count = a.batch * a.seq * a.heads;
    float x[8], y[8], sum = 0;
    size_t at = (size_t)min(item, count - 1) * D + lane * 8;
    load8(x, dout + at);
    load8(y, out + at);
    for (int j = 0; j < 8; j++)
        sum += x[j] * y[j];
    sum = lane_sum(sum, lanes);
    int row = item / a.heads, h = item % a.heads;
    if (lane == 0 && item < count)
        delta[((size_t)(row / a.seq) * a.heads + h) * a.seq + row % a.seq] = sum;
}

/* What both kernels read of one query head. */
struct BackHead {
    const bf16 *q, *dout;
    const float *lse, *delta;
};

template <int D>
static __device__ inline BackHead back_head(const AttnShape &a, int b, int h, const bf16 *qk,
                                            const bf16 *dout, const float *lse, const float *delta)
{
    size_t rows = (size_t)b * a.seq;
    return {qk + rows * (a.heads + a.kv_heads) * D + (size_t)h * D,
            dout + rows * a.heads * D + (size_t)h * D, lse + ((size_t)b * a.heads + h) * a.seq,
            delta + ((size_t)b * a.heads + h) * a.seq};
}

template <int D>
static __global__ void __launch_bounds__(BACK_THREADS)
    dq_kernel(AttnShape a, bf16 *dqk, const float *delta, const bf16 *dout, const float *lse,
              const bf16 *qk, const bf16 *qkv)
{
    extern __shared__ bf16 shared[];
    bf16 *k_tile = shared, *v_tile = shared + 2 * TILE * D;
    int b = blockIdx.z, h = blockIdx.y, g = h / (a.heads / a.kv_heads);
    int q0 = (gridDim.x - 1 - blockIdx.x) * TILE;
    size_t qk_stride = (size_t)(a.heads + a.kv_heads) * D, o_stride = (size_t)a.heads * D;
    size_t v_stride = (size_t)(a.heads + 2 * a.kv_heads) * D;
    BackHead head = back_head<D>(a, b, h, qk, dout, lse, delta);
    const bf16 *k = qk + (size_t)b * a.seq * qk_stride + (size_t)(a.heads + g) * D;
    const bf16 *v = qkv + (size_t)b * a.seq * v_stride + (size_t)(a.heads + a.kv_heads + g) * D;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = q0 + warp * 16 + lane / 4;
    /* q and dout pass through the tiles into registers, then k and v take their place. */
    Tile<D>::copy(k_tile, head.q + q0 * qk_stride, qk_stride, TILE, a.seq - q0);
    Tile<D>::copy(v_tile, head.dout + q0 * o_stride, o_stride, TILE, a.seq - q0);
    copies_started();
    copies_wait<0>();
    __syncthreads();
    uint32_t q_left[D / 16][4], d_left[D / 16][4];
    Tile<D>::left(q_left, k_tile, warp * 16);
    Tile<D>::left(d_left, v_tile, warp * 16);
    __syncthreads();
    float lse0 = row < a.seq ? head.lse[row] * LOG2E : INFINITY;
    float lse1 = row + 8 < a.seq ? head.lse[row + 8] * LOG2E : INFINITY;
    float delta0 = row < a.seq ? head.delta[row] : 0, delta1 = row + 8 < a.seq ? head.delta[row + 8] : 0;
    float dq[D / 8][4] = {}, scale = LOG2E * rsqrtf((float)D);
    int tiles = (min(q0 + TILE, a.seq) + TILE - 1) / TILE;
    Tile<D>::copy(k_tile, k, qk_stride, TILE, a.seq);
    Tile<D>::copy(v_tile, v, v_stride, TILE, a.seq);
    copies_started();
    for (int j = 0; j < tiles; j++) {
        int now = j & 1, t0 = j * TILE;
        if (j + 1 < tiles) {
            Tile<D>::copy(k_tile + (now ^ 1) * TILE * D, k + (t0 + TILE) * qk_stride, qk_stride, TILE,
                          a.seq - t0 - TILE);
            Tile<D>::copy(v_tile + (now ^ 1) * TILE * D, v + (t0 + TILE) * v_stride, v_stride, TILE,
                          a.seq - t0 - TILE);
            copies_started();
            copies_wait<1>();
        } else {
            copies_wait<0>();
        }
        __syncthreads();
        float s[TILE / 8][4], dp[TILE / 8][4];
        scores<D, TILE>(s, q_left, k_tile + now * TILE * D, 0);
        scores<D, TILE>(dp, d_left, v_tile + now * TILE * D, 0);
        if (t0 + TILE - 1 > q0 + warp * 16)
            hide_future<TILE>(s, row, t0);
#pragma unroll
        for (int n = 0; n < TILE / 8; n++) {
            s[n][0] = power2(s[n][0] * scale - lse0) * (dp[n][0] - delta0);
            s[n][1] = power2(s[n][1] * scale - lse0) * (dp[n][1] - delta0);
            s[n][2] = power2(s[n][2] * scale - lse1) * (dp[n][2] - delta1);
            s[n][3] = power2(s[n][3] * scale - lse1) * (dp[n][3] - delta1);
        }
        accumulate<D, TILE>(dq, s, k_tile + now * TILE * D, 0);
        __syncthreads();
    }
    float unit = rsqrtf((float)D);
    write_rows<D>(dqk + (size_t)b * a.seq * qk_stride + (size_t)h * D, qk_stride, dq, row, a.seq,
                  unit, unit);
}

/* Rows are keys here, columns queries: p and ds come out transposed, as dv and dk need them. */
template <int D>
static __global__ void __launch_bounds__(BACK_THREADS)
    dkv_kernel(AttnShape a, bf16 *dqk, bf16 *dqkv, const float *delta, const bf16 *dout,
               const float *lse, const bf16 *qk, const bf16 *qkv)
{
    enum { HALF = 32 }; /* queries at a time, to have registers for all */
    extern __shared__ bf16 shared[];
    bf16 *q_tile = shared, *d_tile = shared + 2 * TILE * D;
    float *row_lse = reinterpret_cast<float *>(shared + 4 * TILE * D), *row_delta = row_lse + 2 * TILE;
    int b = blockIdx.z, g = blockIdx.y, share = a.heads / a.kv_heads, k0 = blockIdx.x * TILE;
    size_t qk_stride = (size_t)(a.heads + a.kv_heads) * D, o_stride = (size_t)a.heads * D;
    size_t v_stride = (size_t)(a.heads + 2 * a.kv_heads) * D;
    size_t k_at = (size_t)b * a.seq * qk_stride + (size_t)(a.heads + g) * D;
    size_t v_at = (size_t)b * a.seq * v_stride + (size_t)(a.heads + a.kv_heads + g) * D;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = k0 + warp * 16 + lane / 4;
    Tile<D>::copy(q_tile, qk + k_at + k0 * qk_stride, qk_stride, TILE, a.seq - k0);
    Tile<D>::copy(d_tile, qkv + v_at + k0 * v_stride, v_stride, TILE, a.seq - k0);
    copies_started();
    copies_wait<0>();
    __syncthreads();
    uint32_t k_left[D / 16][4], v_left[D / 16][4];
    Tile<D>::left(k_left, q_tile, warp * 16);
    Tile<D>::left(v_left, d_tile, warp * 16);
    __syncthreads();
    float dk[D / 8][4] = {}, dv[D / 8][4] = {}, scale = LOG2E * rsqrtf((float)D);
    int query_tiles = (a.seq - k0 + TILE - 1) / TILE, steps = query_tiles * share;
    auto start = [&](int step) {
        BackHead head = back_head<D>(a, b, g * share + step / query_tiles, qk, dout, lse, delta);
        int q0 = k0 + step % query_tiles * TILE, into = step & 1;
        Tile<D>::copy(q_tile + into * TILE * D, head.q + q0 * qk_stride, qk_stride, TILE, a.seq - q0);
        Tile<D>::copy(d_tile + into * TILE * D, head.dout + q0 * o_stride, o_stride, TILE,
                      a.seq - q0);
        if (threadIdx.x < TILE) {
            int t = q0 + threadIdx.x;
            row_lse[into * TILE + threadIdx.x] = t < a.seq ? head.lse[t] * LOG2E : INFINITY;
            row_delta[into * TILE + threadIdx.x] = t < a.seq ? head.delta[t] : 0;
        }
        copies_started();
    };
    start(0);
    for (int step = 0; step < steps; step++) {
        int now = step & 1, q0 = k0 + step % query_tiles * TILE;
        if (step + 1 < steps) {
            start(step + 1);
            copies_wait<1>();
        } else {
            copies_wait<0>();
        }
        __syncthreads();
        const bf16 *q = q_tile + now * TILE * D, *d = d_tile + now * TILE * D;
#pragma unroll
        for (int half = 0; half < TILE; half += HALF) {
            float p[HALF / 8][4], ds[HALF / 8][4];
            scores<D, HALF>(p, k_left, q, half);
            scores<D, HALF>(ds, v_left, d, half);
            if (q0 == k0) /* keys behind the query */
#pragma unroll
                for (int n = 0; n < HALF / 8; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        if (row + (i >> 1) * 8 > q0 + half + n * 8 + lane % 4 * 2 + (i & 1))
                            p[n][i] = -INFINITY;
#pragma unroll
            for (int n = 0; n < HALF / 8; n++) {
                int column = now * TILE + half + n * 8 + lane % 4 * 2;
                float2 low = *reinterpret_cast<const float2 *>(row_lse + column);
                float2 all = *reinterpret_cast<const float2 *>(row_delta + column);
                p[n][0] = power2(p[n][0] * scale - low.x);
                p[n][1] = power2(p[n][1] * scale - low.y);
                p[n][2] = power2(p[n][2] * scale - low.x);
                p[n][3] = power2(p[n][3] * scale - low.y);
                ds[n][0] = p[n][0] * (ds[n][0] - all.x);
                ds[n][1] = p[n][1] * (ds[n][1] - all.y);
                ds[n][2] = p[n][2] * (ds[n][2] - all.x);
                ds[n][3] = p[n][3] * (ds[n][3] - all.y);
            }
            accumulate<D, HALF>(dv, p, d, half);
            accumulate<D, HALF>(dk, ds, q, half);
        }
        __syncthreads();
    }
    float unit = rsqrtf((float)D);
    write_rows<D>(dqk + k_at, qk_stride, dk, row, a.seq, unit, unit);
    write_rows<D>(dqkv + v_at, v_stride, dv, row, a.seq, 1, 1);
}

template <int D>
static void launch_back(cudaStream_t s, const AttnShape &a, bf16 *dqk, bf16 *dqkv, float *delta,
                        const bf16 *dout, const bf16 *out, const float *lse, const bf16 *qk,
                        const bf16 *qkv)
{
    int tiles = (a.seq + TILE - 1) / TILE, shared = 4 * TILE * D * 2;
    int keys = shared + 4 * TILE * (int)sizeof(float);
    int lanes = a.batch * a.seq * a.heads * (D / 8);
    delta_kernel<D><<<(lanes + 255) / 256, 256, 0, s>>>(a, delta, dout, out);
    CUDA_LAUNCHED("attention delta");
    CUDA_OK(cudaFuncSetAttribute(dq_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CUDA_OK(cudaFuncSetAttribute(dkv_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, keys));
    dkv_kernel<D><<<dim3(tiles, a.kv_heads, a.batch), BACK_THREADS, keys, s>>>(a, dqk, dqkv, delta,
                                                                              dout, lse, qk, qkv);
    CUDA_LAUNCHED("attention dk dv");
    dq_kernel<D><<<dim3(tiles, a.heads, a.batch), BACK_THREADS, shared, s>>>(a, dqk, delta, dout, lse,
                                                                            qk, qkv);
    CUDA_LAUNCHED("attention dq");
}

void k_attention_back(cudaStream_t s, const AttnShape &a, bf16 *dqk, bf16 *dqkv, float *delta,
                      const bf16 *dout, const bf16 *out, const float *lse, const bf16 *qk,
                      const bf16 *qkv)
{
    if (a.dim == 64)
        launch_back<64>(s, a, dqk, dqkv, delta, dout, out, lse, qk, qkv);
    else
        launch_back<128>(s, a, dqk, dqkv, delta, dout, out, lse, qk, qkv);
}
