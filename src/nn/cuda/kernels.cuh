/* The CUDA kernels, one function that launches each. Shapes are those of layer.h; activations are
 * bf16, sums are float. Every sum has a fixed order: the same input gives the same bits. */
#ifndef NN_CUDA_KERNELS_CUH
#define NN_CUDA_KERNELS_CUH

#include "nn/cuda/common.cuh"

/* Blocks that split a sum over rows, each with a row of partial sums of its own. */
enum { NN_PARTS = 528 };

/* y[N, C] = rmsnorm(x) w; rstd[N] */
void k_norm(cudaStream_t s, int rows, int width, float eps, bf16 *y, float *rstd, const bf16 *x,
            const float *w);
/* dx = base + gradient through the norm (base may be dx, or NULL for 0); dw[C] +=; parts[NN_PARTS C] */
void k_norm_back(cudaStream_t s, int rows, int width, bf16 *dx, float *dw, float *parts,
                 const bf16 *base, const bf16 *dy, const bf16 *x, const float *w,
                 const float *rstd);

struct AttnShape {
    int batch, seq, heads, kv_heads, dim; /* dim 64 or 128 */
    float eps;
    const float *cosine, *sine; /* [T, D / 2] */
};
void k_qk(cudaStream_t s, const AttnShape &a, bf16 *qk, float *rstd, const bf16 *qkv,
          const float *wq, const float *wk);
/* The q and k parts of dqkv; dwq[D] +=, dwk[D] +=; parts[NN_PARTS 2 D] */
void k_qk_back(cudaStream_t s, const AttnShape &a, bf16 *dqkv, float *dwq, float *dwk, float *parts,
               const bf16 *dqk, const bf16 *qkv, const float *wq, const float *wk,
               const float *rstd);
/* out[N, H D]; lse[B, H, T] */
void k_attention(cudaStream_t s, const AttnShape &a, bf16 *out, float *lse, const bf16 *qk,
                 const bf16 *qkv);
/* dqk, and the v part of dqkv; delta[B, H, T] is scratch */
void k_attention_back(cudaStream_t s, const AttnShape &a, bf16 *dqk, bf16 *dqkv, float *delta,
                      const bf16 *dout, const bf16 *out, const float *lse, const bf16 *qk,
                      const bf16 *qkv);

void k_swiglu(cudaStream_t s, int rows, int ffn, bf16 *y, const bf16 *gu);
/* dgu may be gu */
void k_swiglu_back(cudaStream_t s, int rows, int ffn, bf16 *dgu, const bf16 *dy, const bf16 *gu);

/* losses[N]; logits become weight times their gradient where `learn`. No probabilities are kept. */
void k_cross_entropy(cudaStream_t s, int rows, int vocab, float *losses, bf16 *logits,
                     const int32_t *targets, float weight, bool learn);

void k_embed(cudaStream_t s, int rows, int width, bf16 *x, const bf16 *table, const int32_t *tokens);
/* Rows of equal tokens, cut into pieces of at most NN_EMBED_PIECE: piece i sums rows
 * order[start[i] .. start[i+1]) of dx; the pieces of one token follow each other, and token[i] is
 * theirs. table[token] += the sum of its pieces. parts[pieces C] */
enum { NN_EMBED_PIECE = 128 };
void k_embed_back(cudaStream_t s, int pieces, int width, float *table, float *parts, const bf16 *dx,
                  const int32_t *order, const int32_t *start, const int32_t *token);

/* sum[0] = sum of x; sum of squares of x; parts[NN_PARTS] */
void k_sum(cudaStream_t s, uint64_t count, float *sum, const float *x, bool add);
void k_square_sum(cudaStream_t s, uint64_t count, float *sum, float *parts, const float *x);

struct AdamArgs {
    float rate, beta1, beta2, eps, decay, clip; /* rate over 1 - beta1^step */
    float root;                                 /* sqrt(1 - beta2^step) */
    float full_rate;                            /* of the decay */
};
/* Scales by clip / norm where the norm (square_sum) is larger, steps, writes w as bf16 too, and zeroes
 * the gradients. */
void k_adam(cudaStream_t s, uint64_t count, const AdamArgs &a, float *w, bf16 *half, float *m,
            float *v, float *g, const uint8_t *decay, const float *square_sum);
void k_to_bf16(cudaStream_t s, uint64_t count, bf16 *half, const float *w);

/* Products through cuBLASLt; `beta` 1 adds to c and writes d. Shapes as nn_linear's. */
struct Gemm;
Gemm *gemm_open(void);
void gemm_close(Gemm *gemm);
/* d[N, out] = x[N, in] w^T (+ c) */
void gemm_forward(Gemm *g, cudaStream_t s, int rows, int in, int out, bf16 *d, const bf16 *x,
                  const bf16 *w, const bf16 *c);
/* dx[N, in] = dy[N, out] w */
void gemm_back_input(Gemm *g, cudaStream_t s, int rows, int in, int out, bf16 *dx, const bf16 *dy,
                     const bf16 *w);
/* dw[out, in] += dy^T x */
void gemm_back_weight(Gemm *g, cudaStream_t s, int rows, int in, int out, float *dw, const bf16 *dy,
                      const bf16 *x);

#endif
