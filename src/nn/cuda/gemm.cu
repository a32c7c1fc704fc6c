/* Matrix products through cuBLASLt: bf16 in, float sums, bf16 or float out. The first algorithm that
 * its heuristic names is taken and kept for the shape, so that a run repeats bit by bit. */
#include "nn/cuda/kernels.cuh"

#include <cublasLt.h>
#include <map>
#include <stdio.h>
#include <tuple>

static const size_t WORKSPACE = 64u << 20;

/* What a product needs besides its pointers; made once per shape. */
struct Plan {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c, d;
    cublasLtMatmulAlgo_t algorithm;
    char name[64]; /* for the profile */
};

typedef std::tuple<int, int, int, int, int, int> PlanKey; /* m, n, k, transposes, float out, add */

struct Gemm {
    cublasLtHandle_t handle;
    void *workspace;
    std::map<PlanKey, Plan> plans;
};

static void blas_check(cublasStatus_t status, const char *what, int line)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        cuda_fail(what, __FILE__, line);
}
#define BLAS_OK(call) blas_check((call), #call, __LINE__)

Gemm *gemm_open(void)
{
    Gemm *g = new Gemm();
    BLAS_OK(cublasLtCreate(&g->handle));
    CUDA_OK(cudaMalloc(&g->workspace, WORKSPACE));
    return g;
}

void gemm_close(Gemm *g)
{
    for (auto &entry : g->plans) {
        Plan &p = entry.second;
        cublasLtMatrixLayoutDestroy(p.a);
        cublasLtMatrixLayoutDestroy(p.b);
        cublasLtMatrixLayoutDestroy(p.c);
        cublasLtMatrixLayoutDestroy(p.d);
        cublasLtMatmulDescDestroy(p.product);
    }
    cudaFree(g->workspace);
    cublasLtDestroy(g->handle);
    delete g;
}

/* d[m, n] = op(a) op(b), column-major, as cuBLAS counts. */
struct Product {
    int m, n, k;
    bool transpose_a, transpose_b, float_out, add;
};

static Plan make_plan(Gemm *g, const Product &s)
{
    Plan p = {};
    cublasOperation_t a = s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t b = s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cudaDataType_t out = s.float_out ? CUDA_R_32F : CUDA_R_16BF;
    BLAS_OK(cublasLtMatmulDescCreate(&p.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS_OK(cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a));
    BLAS_OK(cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b));
    int a_rows = s.transpose_a ? s.k : s.m, a_cols = s.transpose_a ? s.m : s.k;
    int b_rows = s.transpose_b ? s.n : s.k, b_cols = s.transpose_b ? s.k : s.n;
    BLAS_OK(cublasLtMatrixLayoutCreate(&p.a, CUDA_R_16BF, a_rows, a_cols, a_rows));
    BLAS_OK(cublasLtMatrixLayoutCreate(&p.b, CUDA_R_16BF, b_rows, b_cols, b_rows));
    BLAS_OK(cublasLtMatrixLayoutCreate(&p.c, out, s.m, s.n, s.m));
    BLAS_OK(cublasLtMatrixLayoutCreate(&p.d, out, s.m, s.n, s.m));
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    BLAS_OK(cublasLtMatmulPreferenceCreate(&preference));
    BLAS_OK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WORKSPACE, sizeof WORKSPACE));
    BLAS_OK(cublasLtMatmulAlgoGetHeuristic(g->handle, p.product, p.a, p.b, p.c, p.d, preference, 1,
                                           &found, &count));
    cublasLtMatmulPreferenceDestroy(preference);
    if (!count)
        cuda_fail("cuBLASLt has no algorithm for this shape", __FILE__, __LINE__);
    p.algorithm = found.algo;
    snprintf(p.name, sizeof p.name, "product %d x %d x %d %c%c%s", s.m, s.n, s.k, "NT"[s.transpose_a],
             "NT"[s.transpose_b], s.add ? " add" : "");
    return p;
}

static void multiply(Gemm *g, cudaStream_t stream, const Product &s, void *d, const bf16 *a,
                     const bf16 *b, const void *c)
{
    PlanKey key(s.m, s.n, s.k, s.transpose_a * 2 + s.transpose_b, s.float_out, s.add);
    auto found = g->plans.find(key);
    if (found == g->plans.end())
        found = g->plans.emplace(key, make_plan(g, s)).first;
    if (cuda_failure())
        return;
    const Plan &p = found->second;
    float alpha = 1, beta = s.add ? 1.f : 0.f;
    BLAS_OK(cublasLtMatmul(g->handle, p.product, &alpha, a, p.a, b, p.b, &beta, c, p.c, d, p.d,
                           &p.algorithm, g->workspace, WORKSPACE, stream));
    CUDA_LAUNCHED(p.name);
}

void gemm_forward(Gemm *g, cudaStream_t s, int rows, int in, int out, bf16 *d, const bf16 *x,
                  const bf16 *w, const bf16 *c)
{
    multiply(g, s, {out, rows, in, true, false, false, c != NULL}, d, w, x, c ? c : d);
}

void gemm_back_input(Gemm *g, cudaStream_t s, int rows, int in, int out, bf16 *dx, const bf16 *dy,
                     const bf16 *w)
{
    multiply(g, s, {in, rows, out, false, false, false, false}, dx, w, dy, dx);
}

void gemm_back_weight(Gemm *g, cudaStream_t s, int rows, int in, int out, float *dw, const bf16 *dy,
                      const bf16 *x)
{
    multiply(g, s, {in, out, rows, false, true, true, true}, dw, x, dy, dw);
}
